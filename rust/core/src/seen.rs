//! What one look at the captions finds: counts with an example each, which add up over parts of a corpus.
//!
//! The counts say what is there, and judge nothing: whoever reads them knows how much is too much.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rustc_hash::FxHashMap;

use crate::corpus::{Corpus, threads_for_sentences};
use crate::named::named;
use crate::numeric::parallel::map_parts;
use crate::text::captions::{Captions, looks_written};
use crate::text::vocabulary::Word;

/// Parts of 1 in a ratio of lengths.
pub const RATIO_PARTS: usize = 20;
/// The largest ratio that is told from larger ones.
pub const LARGEST_RATIO: usize = 10;
/// Characters of a caption that an example shows.
const SHOWN: usize = 200;

/// What is counted: the part that has it (`candidates`, `references` or nothing), its name, and a number for lengths.
pub type Name = (&'static str, &'static str, usize);

/// How many captions or images are so, and the one of the smallest id: the same whatever their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of captions, or of images.
    pub count: u64,
    /// Image id and caption.
    pub example: Option<(Box<str>, Box<str>)>,
}

impl Tally {
    fn add(&mut self, id: &str, caption: &str) {
        self.count += 1;
        if self.example.as_ref().is_none_or(|(least, _)| id < &**least) {
            let end = caption.char_indices().nth(SHOWN).map_or(caption.len(), |(place, _)| place);
            self.example = Some((id.into(), caption[..end].into()));
        }
    }

    fn merge(&mut self, other: Self) {
        self.count += other.count;
        if let Some(example) = other.example
            && self.example.as_ref().is_none_or(|least| example.0 < least.0)
        {
            self.example = Some(example);
        }
    }
}

/// Counts by name.
pub type Tallies = BTreeMap<Name, Tally>;

/// Looks at every image of a corpus.
///
/// `described` and `captions` hold the references and the candidates as they were given, by image id.
pub fn seen(corpus: &Corpus, described: &Captions, captions: &Captions, threads: usize) -> Tallies {
    let images = &corpus.references.images;
    let threads = threads_for_sentences(threads, corpus.sentence_count());
    let parts = map_parts(images.len(), threads, |range| {
        let mut look = Look { corpus, described, captions, tallies: FxHashMap::default() };
        for image in range {
            look.at(image, &images[image]);
        }
        look.tallies
    });
    let mut all = Tallies::new();
    for (name, tally) in parts.into_iter().flatten() {
        all.entry(name).or_default().merge(tally);
    }
    all
}

struct Look<'a> {
    corpus: &'a Corpus,
    described: &'a Captions,
    captions: &'a Captions,
    tallies: FxHashMap<Name, Tally>,
}

/// The captions of an image as they were given.
fn texts_of<'a>(captions: &'a Captions, id: &str) -> Vec<&'a str> {
    let numbers = captions.image(id).map(|image| captions.captions_of(image)).unwrap_or_default();
    numbers.map(|caption| captions.caption(caption)).collect()
}

impl Look<'_> {
    fn count(&mut self, name: Name, id: &str, caption: &str) {
        self.tallies.entry(name).or_default().add(id, caption);
    }

    fn at(&mut self, image: usize, id: &str) {
        let corpus = self.corpus;
        let (candidate_sentences, reference_sentences) = (&corpus.candidates, &corpus.references.sentences);
        let references: Vec<&[Word]> =
            reference_sentences.of_image(image).map(|sentence| reference_sentences.tokens(sentence)).collect();
        let candidates: Vec<&[Word]> =
            candidate_sentences.of_image(image).map(|sentence| candidate_sentences.tokens(sentence)).collect();
        let (described, captions) = (texts_of(self.described, id), texts_of(self.captions, id));
        self.part("references", id, &references, &described);
        self.part("candidates", id, &candidates, &captions);
        if references.iter().all(|reference| reference.is_empty()) {
            return;
        }
        let words: usize = references.iter().map(|reference| reference.len()).sum();
        for (place, candidate) in candidates.iter().enumerate().filter(|(_, candidate)| !candidate.is_empty()) {
            let caption = captions.get(place).copied().unwrap_or_default();
            let ratio = candidate.len() * references.len() * RATIO_PARTS / words;
            self.count(("", "ratio", ratio.min(LARGEST_RATIO * RATIO_PARTS)), id, caption);
            if references.contains(candidate) {
                self.count(("", "own reference", 0), id, caption);
            }
        }
    }

    fn part(&mut self, part: &'static str, id: &str, sentences: &[&[Word]], captions: &[&str]) {
        for (place, words) in sentences.iter().enumerate() {
            let caption = captions.get(place).copied().unwrap_or_default();
            self.count((part, "words", words.len()), id, caption);
            if caption.trim().is_empty() {
                self.count((part, "empty", 0), id, caption);
            }
            for mark in marks(caption) {
                self.count((part, mark.name(), 0), id, caption);
            }
        }
        if let [first, rest @ ..] = sentences
            && !rest.is_empty()
        {
            self.count((part, "several", 0), id, "");
            if rest.iter().all(|other| other == first) {
                self.count((part, "all equal", 0), id, captions.first().copied().unwrap_or_default());
            }
        }
    }
}

// What in a caption's text is no description of what is there: what models, tokenizers and writers of files leave, and
// words that deny.

named! {
    /// A trace of something else than a description of what is there.
    pub enum Mark {
        /// Captions as the text of a list or the like: `['a dog', 'a red dog']`, `[a dog]`, `a dog ||| a red dog`.
        List "list",
        /// An object of JSON, `{"caption": "a dog"}`, also between fences.
        Json "json",
        /// A block of thoughts before the answer: `<think>`.
        Thoughts "think",
        /// A token of a model or a sign of its tokenizer: `<s>`, `<|im_end|>`, `[SEP]`, `UNK`, `startseq`, `▁dog`,
        /// `Ġdog`, `play ##ing`.
        Token "token",
        /// Markdown: headings, bold type, bullets, fences.
        Markdown "markdown",
        /// Several lines, each as long as a caption: `a dog runs` and below it `two cats sleep`.
        Lines "lines",
        /// Words that deny something: `no`, `without`.
        Denial "denied",
    }
}

/// The marks of a caption.
fn marks(text: &str) -> impl Iterator<Item = Mark> {
    let text = text.trim();
    // Nearly every caption has none of the characters that begin one.
    let begins = |byte| matches!(byte, b'[' | b'{' | b'<' | b'|' | b'*' | b'#' | b'`' | b'\n' | b'\t' | b'\r' | 0x80..);
    let suspect = text.bytes().any(begins) || looks_written(text) || text.contains("seq") || text.contains("UNK");
    Mark::ALL.into_iter().filter(move |&mark| (suspect || mark == Mark::Denial) && has(text, mark))
}

fn has(text: &str, mark: Mark) -> bool {
    match mark {
        Mark::List => looks_written(text) && !has(text, Mark::Json) || text.contains("|||"),
        Mark::Json => is_json(text) || text.contains("```json"),
        Mark::Thoughts => tags(text).any(is_thought),
        Mark::Token => tags(text).any(|tag| !is_thought(tag)) || bracketed(text) || is_of_tokenizer(text),
        Mark::Markdown => is_markdown(text) && !has(text, Mark::Json),
        Mark::Lines => are_captions(text) && !has(text, Mark::Markdown) && !has(text, Mark::Json),
        Mark::Denial => denies(text),
    }
}

/// Whether `no` or `without` stands in the text: what English captions mostly deny with.
fn denies(text: &str) -> bool {
    let bytes = text.as_bytes();
    // Nearly every word begins otherwise, so the text is not cut into words.
    (0..bytes.len()).any(|place| {
        let word = match bytes[place] {
            b'n' | b'N' => "no",
            b'w' | b'W' => "without",
            _ => return false,
        };
        let end = place + word.len();
        bytes.get(place..end).is_some_and(|written| written.eq_ignore_ascii_case(word.as_bytes()))
            && !text[..place].ends_with(char::is_alphanumeric)
            && !text[end..].starts_with(char::is_alphanumeric)
    })
}

/// Longest tag, in characters.
const LONGEST_TAG: usize = 40;

/// What stands between `<` and `>` without a blank.
fn tags(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('<').filter_map(|(place, _)| {
        let inside = &text[place + 1..];
        let (end, _) = inside
            .char_indices()
            .take(LONGEST_TAG)
            .find(|(_, character)| *character == '>' || *character == '<' || character.is_whitespace())?;
        let tag = &inside[..end];
        let begins =
            tag.starts_with(|character: char| character.is_alphabetic() || matches!(character, '|' | '/' | '｜'));
        (inside[end..].starts_with('>') && begins).then_some(tag)
    })
}

fn is_thought(tag: &str) -> bool {
    let name = tag.trim_matches(|character: char| !character.is_alphanumeric());
    ["think", "thinking", "thought", "reasoning"].iter().any(|thought| name.eq_ignore_ascii_case(thought))
}

/// A token of BERT and its kin: capitals in brackets.
fn bracketed(text: &str) -> bool {
    text.match_indices('[').any(|(place, _)| {
        let inside = text[place + 1..].trim_start_matches('/');
        let length = inside.bytes().take_while(u8::is_ascii_uppercase).count();
        (2..=6).contains(&length) && inside[length..].starts_with(']')
    })
}

/// An object as text, also between fences.
fn is_json(text: &str) -> bool {
    let inside = text.strip_prefix("```").map_or(text, |rest| rest.trim_end_matches('`')).trim();
    inside.starts_with('{') && inside.ends_with('}') && inside.contains(':')
}

/// Words that tokenizers put in, and signs by which they mark where words begin or go on: SentencePiece's, GPT-2's (also
/// a letter of Maltese, with which at most one word of few begins), BERT's.
fn is_of_tokenizer(text: &str) -> bool {
    let words = || text.split(|character: char| !character.is_alphanumeric());
    let goes_on = |word: &str| word.strip_prefix("##").is_some_and(|rest| rest.starts_with(char::is_lowercase));
    words().any(|word| matches!(word, "UNK" | "startseq" | "endseq"))
        || text.contains('\u{2581}')
        || text.matches('Ġ').count() > 1
        || text
            .split('Ġ')
            .next()
            .is_some_and(|before| before.len() < text.len() && before.ends_with(char::is_alphanumeric))
        || text.split_whitespace().any(goes_on)
}

/// Words of a line that may be a caption.
const WORDS_OF_CAPTION: std::ops::RangeInclusive<usize> = 3..=25;

/// Whether each of several lines, or of what tabs divide, may be a caption, and no item of a numbered list.
fn are_captions(text: &str) -> bool {
    let mut lines = text.split(['\n', '\r', '\t']).map(str::trim).filter(|line| !line.is_empty());
    let is_caption = |line: &str| {
        !line.starts_with(|character: char| character.is_ascii_digit() || matches!(character, '-' | '*' | '•'))
            && !line.ends_with(':')
            && WORDS_OF_CAPTION.contains(&line.split_whitespace().count())
    };
    lines.next().is_some_and(is_caption) && lines.clone().next().is_some() && lines.all(is_caption)
}

fn is_markdown(text: &str) -> bool {
    let heading = |line: &str| {
        let rest = line.trim_start_matches('#');
        (1..=6).contains(&(line.len() - rest.len())) && rest.starts_with(' ')
    };
    let bullet = |line: &&str| line.starts_with("- ") || line.starts_with("* ");
    text.contains("```")
        || text.matches("**").count() > 1
        || text.lines().any(heading)
        || text.lines().filter(bullet).count() > 1
}

// What takes captions of several images: counted in a sample of them, those of the smallest hashes of their ids, which
// is the same whatever the order and the parts.

/// Most words of a common beginning.
const LONGEST_BEGINNING: usize = 6;
/// A word's weight, ln(images / images with it), in parts of 1, so that sums are exact.
const WEIGHT_PARTS: f64 = 1_000.0;

/// Looks at a sample of `size` images, and counts:
///
/// - `images` of the sample;
/// - `same caption`: the images that have the caption which the most images have;
/// - `beginning` of n words: the captions that begin as more than half of all do, by as many words as nearly all of
///   these share; `long beginning`: the same of a longer one that fewer, but more than half, share;
/// - `matched`: the images whose caption can be told to belong somewhere; of these, `other image`: those whose own
///   references match worse than those of three quarters of the other images; `next image` and `previous image`: those whose
///   neighbour's references, in the order of ids, match better than their own.
pub fn sampled(corpus: &Corpus, captions: &Captions, size: usize) -> Tallies {
    let images = chosen(corpus, size);
    let ids = &corpus.references.images;
    let mut tallies = Tallies::new();
    // An image that the system left out has an empty caption.
    let texts: Vec<(&str, &str)> = images
        .iter()
        .flat_map(|&image| {
            let texts = texts_of(captions, &ids[image]);
            let count = corpus.candidates.of_image(image).len();
            (0..count).map(move |place| (&*ids[image], texts.get(place).copied().unwrap_or_default()))
        })
        .collect();
    for &image in &images {
        tallies.entry(("", "images", 0)).or_default().add(&ids[image], "");
    }
    for &(id, caption) in &texts {
        tallies.entry(("", "captions", 0)).or_default().add(id, caption);
    }
    let mut once = BTreeSet::new();
    let of_images = texts.iter().filter(|(id, caption)| once.insert((*id, caption.trim())));
    if let Some(same) = commonest(of_images.map(|&(id, caption)| (caption.trim(), id, caption))) {
        tallies.insert(("", "same caption", 0), same);
    }
    let mut begun = beginnings(&texts).into_iter();
    for (name, tally) in [("beginning", begun.next()), ("long beginning", begun.next_back())] {
        if let Some((words, tally)) = tally {
            tallies.insert(("", name, words), tally);
        }
    }
    pairing(corpus, captions, &images, &mut tallies);
    tallies
}

/// The sampled images, in the order of their ids: by number where all are numbers.
fn chosen(corpus: &Corpus, size: usize) -> Vec<usize> {
    let ids = &corpus.references.images;
    let mut images: Vec<usize> = (0..ids.len()).collect();
    if images.len() > size {
        images.sort_by_cached_key(|&image| (sample_order(&ids[image]), &ids[image]));
        images.truncate(size);
    }
    images.sort_by_cached_key(|&image| (ids[image].parse::<u64>().unwrap_or(u64::MAX), &ids[image]));
    images
}

/// The number by which images are ordered: FNV-1a of their ids, with its bits mixed, since those of ids that look alike are
/// close to each other (`SplitMix64`'s end).
pub fn sample_order(id: &str) -> u64 {
    let key = id
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3_u64));
    let mixed = key.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// The tally of the commonest text, which is not empty; of equally common ones, that of the first in the alphabet.
fn commonest<'a>(texts: impl Iterator<Item = (&'a str, &'a str, &'a str)>) -> Option<Tally> {
    let mut all: BTreeMap<&str, Tally> = BTreeMap::new();
    for (text, id, caption) in texts.filter(|(text, ..)| !text.is_empty()) {
        all.entry(text).or_default().add(id, caption);
    }
    all.into_values().rev().max_by_key(|tally| tally.count)
}

/// The beginnings that more than half of the captions have, and their tallies: each as long as nearly all of those share
/// that begin so.
fn beginnings(texts: &[(&str, &str)]) -> Vec<(usize, Tally)> {
    let mut shared: Vec<(usize, Tally)> = Vec::new();
    for words in 1..=LONGEST_BEGINNING {
        // The first words, in small letters; none of a caption that has no more than them.
        let begins = |text: &str| {
            let mut all = text.split_whitespace();
            let first: Vec<String> = all.by_ref().take(words).map(str::to_lowercase).collect();
            (first.len() == words && all.next().is_some()).then(|| first.join(" "))
        };
        let begun: Vec<_> = texts.iter().filter_map(|&(id, text)| Some((begins(text)?, id, text))).collect();
        let Some(tally) = commonest(begun.iter().map(|(begun, id, text)| (begun.as_str(), *id, *text))) else { break };
        if 2 * tally.count as usize <= texts.len() {
            break;
        }
        if shared.last().is_some_and(|(_, before)| 10 * tally.count >= 9 * before.count) {
            shared.pop();
        }
        shared.push((words, tally));
    }
    shared
}

/// Whether captions match their own images: those of each image against the references of every sampled image, by their
/// words, of which rare ones weigh more.
fn pairing(corpus: &Corpus, captions: &Captions, images: &[usize], tallies: &mut Tallies) {
    let references = &corpus.references.sentences;
    let mut with: HashMap<Word, Vec<usize>> = HashMap::new();
    for (place, &image) in images.iter().enumerate() {
        for sentence in references.of_image(image) {
            for &word in references.words(sentence) {
                let places = with.entry(word).or_default();
                if places.last() != Some(&place) {
                    places.push(place);
                }
            }
        }
    }
    for (place, &image) in images.iter().enumerate() {
        let candidates = &corpus.candidates;
        let mut words: Vec<Word> =
            candidates.of_image(image).flat_map(|sentence| candidates.words(sentence)).copied().collect();
        words.sort_unstable();
        words.dedup();
        let mut matches = vec![0_u64; images.len()];
        for places in words.iter().filter_map(|word| with.get(word)) {
            let weight = ((images.len() as f64 / places.len() as f64).ln() * WEIGHT_PARTS).round() as u64;
            for &other in places {
                matches[other] += weight;
            }
        }
        if matches.iter().all(|&matched| matched == 0) || images.len() < 2 {
            continue;
        }
        let id = &corpus.references.images[image];
        let own_match = matches[place];
        let caption = texts_of(captions, id).first().copied().unwrap_or_default();
        let mut count = |name| tallies.entry(("", name, 0)).or_default().add(id, caption);
        count("matched");
        // Twice the number of other images that match less, and once of those that match as well.
        let less: usize = matches
            .iter()
            .map(|other| usize::from(*other < own_match) + usize::from(*other <= own_match))
            .sum::<usize>()
            - 1;
        if 2 * less < images.len() {
            count("other image");
        }
        if matches.get(place + 1).is_some_and(|&next| next > own_match) {
            count("next image");
        }
        if place > 0 && matches[place - 1] > own_match {
            count("previous image");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::corpus::References;
    use crate::text::captions::CaptionsBuilder;
    use crate::text::tokenize::Tokenizer;

    fn captions(images: &[(&str, &[&str])]) -> Captions {
        let mut builder = CaptionsBuilder::default();
        for (id, captions) in images {
            builder.image(id);
            for caption in *captions {
                builder.caption(id, caption);
            }
        }
        builder.finish()
    }

    fn corpus(described: &Captions, own: &Captions) -> Corpus {
        let images: Vec<u32> = (0..described.image_count() as u32).collect();
        let references = Arc::new(References::encode(described, &images, Tokenizer::Ptb, 1));
        let places: Vec<_> = described.images().map(|id| own.image(id).map(|place| place as u32)).collect();
        Corpus::encode(references, own, &places, 1)
    }

    #[test]
    fn counts_add_up_whatever_the_parts() {
        let described = captions(&[("b", &["a dog", "a dog"]), ("a", &["a cat runs", "one cat"]), ("c", &["a bus"])]);
        let own = captions(&[("b", &["<s> a dog"]), ("a", &["A cat runs!"]), ("c", &["ein Hund"])]);
        let corpus = corpus(&described, &own);
        let found = seen(&corpus, &described, &own, 1);
        let count = |part, name, number| found.get(&(part, name, number)).map_or(0, |tally| tally.count);
        assert_eq!(count("candidates", "token", 0), 1);
        assert_eq!(count("references", "several", 0), 2);
        assert_eq!(count("references", "all equal", 0), 1);
        assert_eq!(count("", "own reference", 0), 1);
        assert_eq!(count("", "ratio", 3 * 2 * RATIO_PARTS / 5), 1);
        assert_eq!(found[&("references", "words", 2)].example, Some(("a".into(), "one cat".into())));
        for threads in 2..5 {
            assert_eq!(seen(&corpus, &described, &own, threads), found);
        }
    }
}

#[cfg(test)]
mod marks_tests {
    use super::*;

    #[test]
    fn marks_are_seen_and_prose_has_none() {
        let cases: [(&str, &[&str]); 63] = [
            ("No dogs are there.", &["denied"]),
            ("a street without-cars", &["denied"]),
            ("a snow-covered nose", &[]),
            ("a dog with no", &["denied"]),
            ("éno noé no2 withoutx", &[]),
            ("é no", &["denied"]),
            ("a dog—NO—cat", &["denied"]),
            ("['a dog', 'a red dog']", &["list"]),
            (" [\"a dog\"] ", &["list"]),
            ("a dog ||| a red dog", &["list"]),
            ("('a dog',)", &["list"]),
            ("[a dog]", &["list"]),
            ("a (red) dog's \"toy\"", &[]),
            ("a || b | c", &[]),
            ("{\"caption\": \"a dog\"}", &["json"]),
            ("{'caption': 'a dog'}", &["json"]),
            ("<think>It may be a dog.</think> a dog", &["think"]),
            ("</think> a dog", &["think"]),
            ("<s> a dog </s>", &["token"]),
            ("a <unk> dog", &["token"]),
            ("a dog<|im_end|>", &["token"]),
            ("a dog<｜end▁of▁sentence｜>", &["token"]),
            ("[CLS] a dog [SEP]", &["token"]),
            ("[/INST] a dog", &["token"]),
            ("startseq a dog runs endseq", &["token"]),
            ("a UNK dog", &["token"]),
            ("\u{2581}a\u{2581}dog", &["token"]),
            ("a dog\u{2581}runs", &["token"]),
            ("aĠdog", &["token"]),
            ("Ġa Ġdog", &["token"]),
            ("a dog play ##ing", &["token"]),
            ("##s of a dog", &["token"]),
            ("Ġorġ runs", &[]),
            ("a sequence of JUNK", &[]),
            ("an Unk and a unk", &[]),
            ("a sign with ##12 and ## on it", &[]),
            ("A sign that says \"Ġ\"", &[]),
            ("a café", &[]),
            ("```json\n{\"caption\": \"a dog\"}\n```", &["json"]),
            ("```\n{\"caption\": \"a dog\"}\n```", &["json"]),
            ("```json {\"caption\": \"a dog\"} ``` is it", &["json"]),
            ("a dog runs\ntwo cats sleep", &["lines"]),
            ("a dog runs\n\n  two cats sleep \n", &["lines"]),
            ("a dog runs\ttwo cats sleep", &["lines"]),
            ("a dog runs\r\ntwo cats sleep", &["lines"]),
            ("a dog runs\n", &[]),
            ("a sign that says\nSTOP", &[]),
            ("1. a red dog\n2. a black cat", &[]),
            ("The dog is:\na red one", &[]),
            ("a dog\na cat", &[]),
            (
                "one two three four five six seven eight nine ten one two three four five six seven eight nine ten one two \
              three four five six\nand a dog runs",
                &[],
            ),
            ("- a dog runs\n- a cat sleeps", &["markdown"]),
            ("**A dog** runs", &["markdown"]),
            ("# Picture\nA dog runs.", &["markdown"]),
            ("- a dog\n- a cat", &["markdown"]),
            ("```\na dog\n```", &["markdown"]),
            ("1. a dog\n2. a cat", &[]),
            ("a dog <3 a cat > a bird", &[]),
            ("a dog [with a ball] and a {red} cat", &[]),
            ("a sign that says #1", &[]),
            ("a * b", &[]),
            ("a < b", &[]),
            ("", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(marks(text).map(Mark::name).collect::<Vec<_>>(), expected, "{text:?}");
        }
    }
}
