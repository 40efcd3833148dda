//! The sentences at hand, as the matchers read them: token numbers, and the places of phrases that have paraphrases.

use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};
use rustc_hash::FxHashMap;

use super::resources::{Resources, is_plain, split};
use crate::corpus::Corpus;
use crate::numeric::hash_table::{HashTable, Key};
use crate::numeric::parallel::{check, map_each, map_parts};
use crate::numeric::part;
use crate::text::sentences::Arena;
use crate::text::vocabulary::{Vocabulary, Word};

/// Sentences as numbers of their tokens.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    pub(super) vocabulary: Vocabulary,
    pub(super) arena: Arena,
}

impl Tokens {
    /// Adds a sentence.
    pub(super) fn push<'a>(&mut self, tokens: impl Iterator<Item = &'a str>) {
        self.arena.push(tokens.map(|token| self.vocabulary.intern(token)));
    }
}

/// A place of a phrase in a sentence.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) length: u8,
    pub(super) phrase: u32,
}

/// A sentence to be matched.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sentence<'a> {
    pub(super) words: &'a [Word],
    /// By start, then by length.
    pub(super) spans: &'a [Span],
}

/// Sentences with all that is known of their words and phrases.
///
/// Of the paraphrase table it keeps what these sentences can use: phrases that occur in some sentence, numbered anew,
/// with those of their paraphrases that occur in some sentence too.
#[derive(Debug)]
pub(super) struct Sentences {
    arena: Arena,
    pub(super) lexicon: Lexicon,
    spans: Vec<Span>,
    span_ends: Vec<usize>,
    paraphrases: Vec<u32>,
    paraphrase_ends: Vec<usize>,
    /// Number of words of each phrase.
    pub(super) lengths: Vec<u8>,
}

impl Sentences {
    pub(super) fn new(tokens: Tokens, resources: &Resources, threads: usize) -> Self {
        let Tokens { vocabulary, arena } = tokens;
        let lexicon = Lexicon::new(&vocabulary, resources, threads);
        let parts = map_parts(arena.ends.len(), threads, |range| {
            let mut spans = Vec::new();
            let mut walker = Walker::new(&lexicon, resources);
            let ends: Vec<usize> = range
                .map(|sentence| {
                    check();
                    walker.find(arena.get(sentence), &mut spans);
                    spans.len()
                })
                .collect();
            (spans, ends)
        });
        let mut all = Self {
            arena,
            lexicon,
            spans: Vec::new(),
            span_ends: Vec::new(),
            paraphrases: Vec::new(),
            paraphrase_ends: Vec::new(),
            lengths: Vec::new(),
        };
        for (spans, ends) in parts {
            let shift = all.spans.len();
            all.spans.extend(spans);
            all.span_ends.extend(ends.into_iter().map(|end| end + shift));
        }
        all.select_paraphrases(resources);
        all
    }

    pub(super) fn get(&self, sentence: usize) -> Sentence<'_> {
        Sentence { words: self.arena.get(sentence), spans: &self.spans[part(&self.span_ends, sentence)] }
    }

    /// Paraphrases of a phrase, in the order of the table.
    pub(super) fn paraphrases(&self, phrase: u32) -> &[u32] {
        &self.paraphrases[part(&self.paraphrase_ends, phrase as usize)]
    }

    /// Drops the spans of phrases that neither have paraphrases here nor are any, and numbers the others.
    fn select_paraphrases(&mut self, resources: &Resources) {
        const PRESENT: u32 = 1;
        /// That of the first phrase with a use; the next follow.
        const USED: u32 = 2;
        let mut states = PerPhrase::new(resources.phrase_count(), self.spans.len());
        let mut present = Vec::new();
        for span in &self.spans {
            if states.get(span.phrase) != PRESENT {
                states.set(span.phrase, PRESENT);
                present.push((span.phrase, span.length));
            }
        }
        for &(phrase, _) in &present {
            for paraphrase in resources.paraphrases(phrase) {
                if states.get(paraphrase) != ABSENT {
                    states.set(paraphrase, USED);
                    states.set(phrase, USED);
                }
            }
        }
        present.retain(|&(phrase, _)| states.get(phrase) == USED);
        for (state, &(phrase, _)) in (USED..).zip(&present) {
            states.set(phrase, state);
        }
        let number = |phrase: u32| states.get(phrase).checked_sub(USED);
        for &(phrase, length) in &present {
            self.paraphrases.extend(resources.paraphrases(phrase).filter_map(number));
            self.paraphrase_ends.push(self.paraphrases.len());
            self.lengths.push(length);
        }
        let (mut start, mut count) = (0, 0);
        for end in &mut self.span_ends {
            for at in std::mem::replace(&mut start, *end)..*end {
                let span = self.spans[at];
                if let Some(phrase) = number(span.phrase) {
                    self.spans[count] = Span { phrase, ..span };
                    count += 1;
                }
            }
            *end = count;
        }
        self.spans.truncate(count);
    }
}

/// The initial value of [`PerPhrase`] for a phrase.
const ABSENT: u32 = 0;

/// A number for each phrase of the table, of which there are millions.
/// An array is fastest to look up, but its pages take milliseconds to allocate: too long for two sentences.
enum PerPhrase {
    Array(Vec<u32>),
    Table(FxHashMap<u32, u32>),
}

impl PerPhrase {
    /// `phrases` in all, of which at most `present` are in the sentences.
    fn new(phrases: usize, present: usize) -> Self {
        if present > phrases / 64 { Self::Array(vec![ABSENT; phrases]) } else { Self::Table(FxHashMap::default()) }
    }

    fn get(&self, phrase: u32) -> u32 {
        match self {
            Self::Array(numbers) => numbers[phrase as usize],
            Self::Table(numbers) => numbers.get(&phrase).copied().unwrap_or(ABSENT),
        }
    }

    fn set(&mut self, phrase: u32, number: u32) {
        match self {
            Self::Array(numbers) => numbers[phrase as usize] = number,
            Self::Table(numbers) => {
                numbers.insert(phrase, number);
            }
        }
    }
}

/// The start of a phrase: no phrase has this number.
const ROOT: u32 = u32::MAX;

/// Finds phrases, with the steps from phrase to phrase that it has made.
struct Walker<'a> {
    lexicon: &'a Lexicon,
    resources: &'a Resources,
    steps: HashTable<Step, u32>,
}

/// A word behind a phrase. No step is 0, since no phrase is [`ROOT`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Step(u64);

impl Key for Step {
    fn hash(self) -> u64 {
        let product = self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        product ^ product >> 32
    }
}

impl<'a> Walker<'a> {
    /// The value of a step that was not made yet. It is the number of a word, to which no step leads.
    const UNKNOWN: u32 = 0;
    /// The value of a step that leads nowhere.
    const NOWHERE: u32 = ROOT;

    fn new(lexicon: &'a Lexicon, resources: &'a Resources) -> Self {
        Self { lexicon, resources, steps: HashTable::with_capacity(0) }
    }

    /// Every phrase of the table, and every beginning of one, in the sentence.
    fn find(&mut self, words: &[Word], spans: &mut Vec<Span>) {
        for start in 0..words.len() {
            let mut phrase = ROOT;
            for (length, &word) in (1..=u8::MAX).zip(&words[start..]) {
                let next = self.lexicon.paraphrase_word(word).and_then(|word| self.step(phrase, word));
                let Some(next) = next else { break };
                phrase = next;
                spans.push(Span { start: start as u32, length, phrase });
            }
        }
    }

    fn step(&mut self, phrase: u32, word: u32) -> Option<u32> {
        if phrase == ROOT {
            return Some(word);
        }
        let step = Step(u64::from(phrase + 1) << 32 | u64::from(word));
        let next = self.steps.entry(step, step.hash());
        if *next == Self::UNKNOWN {
            *next = self.resources.child(phrase, word).unwrap_or(Self::NOWHERE);
        }
        (*next != Self::NOWHERE).then_some(*next)
    }
}

// Properties of a token that the matchers need, computed once for each distinct token.

/// The distinct tokens of the sentences at hand.
///
/// Two tokens match when they have a *trait* in common: the same word, the same stem, a synonym set. Traits are
/// numbered from 0 through all three kinds. Words and stems are told apart by hash, as the original does: `or` and `q4`
/// are the same word.
#[derive(Debug, Default)]
pub(super) struct Lexicon {
    tokens: Vec<Token>,
    sets: Vec<u32>,
    /// Number of traits.
    pub(super) traits: usize,
}

#[derive(Debug)]
struct Token {
    word: u32,
    stem: u32,
    /// Its synonym sets, in the lexicon's pool.
    sets: Range<usize>,
    is_function_word: bool,
    /// Its number in the paraphrase table.
    paraphrase_word: Option<u32>,
}

impl Lexicon {
    pub(super) fn new(vocabulary: &Vocabulary, resources: &Resources, threads: usize) -> Self {
        let words: Vec<&str> = vocabulary.words().collect();
        let parts = map_parts(words.len(), threads, |range| {
            let mut part = Self::default();
            let stemmer = Stemmer::create(Algorithm::English);
            for word in &words[range] {
                check();
                part.push(word, &stemmer, resources);
            }
            part
        });
        let mut lexicon = Self::default();
        for part in parts {
            let shift = lexicon.sets.len();
            lexicon.sets.extend(part.sets);
            let moved = |sets: Range<usize>| sets.start + shift..sets.end + shift;
            lexicon
                .tokens
                .extend(part.tokens.into_iter().map(|token| Token { sets: moved(token.sets.clone()), ..token }));
        }
        lexicon.number_traits();
        lexicon
    }

    /// Adds a token with hashes of its word and stem, and synonym sets as the resources number them.
    fn push(&mut self, word: &str, stemmer: &Stemmer, resources: &Resources) {
        let start = self.sets.len();
        self.sets.extend(resources.synonym_sets(word));
        self.tokens.push(Token {
            word: java_hash(word),
            stem: java_hash(&stemmer.stem(word)),
            sets: start..self.sets.len(),
            is_function_word: resources.is_function_word(word),
            paraphrase_word: resources.paraphrase_word(word),
        });
    }

    /// Numbers the traits, and forgets the synonym sets that a single token has: most are such, and match nothing here.
    fn number_traits(&mut self) {
        let (mut words, mut stems) = (FxHashMap::default(), FxHashMap::default());
        let mut counts: FxHashMap<u32, u32> = FxHashMap::default();
        for &set in &self.sets {
            *counts.entry(set).or_default() += 1;
        }
        let mut next = 0..;
        let mut fresh = || next.next().expect("fewer than 2^32 traits");
        let mut sets = FxHashMap::default();
        let pool = std::mem::take(&mut self.sets);
        for token in &mut self.tokens {
            token.word = *words.entry(token.word).or_insert_with(&mut fresh);
            token.stem = *stems.entry(token.stem).or_insert_with(&mut fresh);
            let start = self.sets.len();
            let shared = pool[token.sets.clone()].iter().filter(|set| counts[set] > 1);
            self.sets.extend(shared.map(|&set| *sets.entry(set).or_insert_with(&mut fresh)));
            token.sets = start..self.sets.len();
        }
        self.traits = words.len() + stems.len() + sets.len();
    }

    fn token(&self, word: Word) -> &Token {
        &self.tokens[word as usize]
    }

    /// The trait of being this word.
    pub(super) fn same_word(&self, word: Word) -> &[u32] {
        std::slice::from_ref(&self.token(word).word)
    }

    /// The trait of having this stem.
    pub(super) fn same_stem(&self, word: Word) -> &[u32] {
        std::slice::from_ref(&self.token(word).stem)
    }

    /// The traits of having a meaning in a synonym set.
    pub(super) fn synonyms(&self, word: Word) -> &[u32] {
        &self.sets[self.token(word).sets.clone()]
    }

    pub(super) fn is_function_word(&self, word: Word) -> bool {
        self.token(word).is_function_word
    }

    /// The word's number in the paraphrase table.
    pub(super) fn paraphrase_word(&self, word: Word) -> Option<u32> {
        self.token(word).paraphrase_word
    }
}

/// Java's hash of a string: h = 31·h + unit over UTF-16 code units.
fn java_hash(text: &str) -> u32 {
    text.encode_utf16().fold(0, |hash: u32, unit| hash.wrapping_mul(31).wrapping_add(u32::from(unit)))
}

// A corpus' captions as METEOR's sentences.
//
// The original is sent a caption's tokens joined by blanks, and normalises that line. Most captions consist of plain
// words, which normalising leaves as they are: their word numbers are translated, and no text is looked at.

/// All candidates and references of a corpus.
pub(super) struct Encoded {
    pub(super) sentences: Sentences,
    /// METEOR's references for reference sentence `i` of the corpus are sentences `first[i]..first[i + 1]`.
    first: Vec<usize>,
}

impl Encoded {
    pub(super) fn new(corpus: &Corpus, resources: &Resources, threads: usize) -> Self {
        let (candidates, references) = (&corpus.candidates, &corpus.references.sentences);
        let vocabulary = &corpus.vocabulary;
        let (plain, numbers) = (vocabulary.words().map(is_plain).collect(), vec![None; vocabulary.len()]);
        let mut encoder = Encoder { vocabulary, plain, numbers, tokens: Tokens::default() };
        let captions = |sentence: usize| candidates.tokens(sentence);
        encoder.encode(candidates.sentence_count(), captions, resources, threads, hypothesis_lines, |_| ());
        let mut first = vec![encoder.tokens.arena.ends.len()];
        let captions = |sentence: usize| references.tokens(sentence);
        encoder
            .encode(references.sentence_count(), captions, resources, threads, reference_lines, |end| first.push(end));
        Self { sentences: Sentences::new(encoder.tokens, resources, threads), first }
    }

    /// METEOR's references for the reference sentences of the corpus.
    pub(super) fn references(&self, sentences: Range<usize>) -> Range<usize> {
        self.first[sentences.start]..self.first[sentences.end]
    }
}

struct Encoder<'a> {
    vocabulary: &'a Vocabulary,
    plain: Vec<bool>,
    /// METEOR's number of each plain word of the corpus, once met.
    numbers: Vec<Option<Word>>,
    tokens: Tokens,
}

impl Encoder<'_> {
    /// Adds captions, each of which `lines` cuts into one or more lines; `finish` is told the number of sentences after
    /// each caption.
    fn encode<'s>(
        &mut self,
        count: usize,
        words: impl Fn(usize) -> &'s [Word] + Sync,
        resources: &Resources,
        threads: usize,
        lines: fn(&str) -> Vec<String>,
        mut finish: impl FnMut(usize),
    ) {
        let is_plain = |sentence: usize| words(sentence).iter().all(|&word| self.plain[word as usize]);
        let to_normalize: Vec<usize> = (0..count).filter(|&sentence| !is_plain(sentence)).collect();
        let normalized: Vec<Vec<String>> = map_each(
            to_normalize.len(),
            threads,
            || (),
            |(), number| {
                let words = words(to_normalize[number]).iter().map(|&word| self.vocabulary.word(word));
                lines(&words.collect::<Vec<_>>().join(" ")).iter().map(|line| resources.normalize(line)).collect()
            },
        );
        let mut normalized = to_normalize.iter().zip(normalized).peekable();
        for sentence in 0..count {
            if let Some((_, lines)) = normalized.next_if(|(other, _)| **other == sentence) {
                for line in lines {
                    self.tokens.push(split(&line));
                }
            } else {
                let Self { vocabulary, numbers, tokens, .. } = self;
                tokens.arena.push(words(sentence).iter().map(|&word| {
                    let number = &mut numbers[word as usize];
                    *number.get_or_insert_with(|| tokens.vocabulary.intern(vocabulary.word(word)))
                }));
            }
            finish(self.tokens.arena.ends.len());
        }
    }
}

/// The one line that the COCO suite sends for a candidate: without `|||`, and with every two blanks made one.
fn hypothesis_lines(text: &str) -> Vec<String> {
    vec![text.replace("|||", "").replace("  ", " ")]
}

/// The lines that METEOR sees for a reference: `|||` separates references, so one that holds it is several.
fn reference_lines(text: &str) -> Vec<String> {
    text.split("|||").map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_phrases_and_many_are_kept_alike() {
        let mut few = PerPhrase::new(1000, 3);
        let mut many = PerPhrase::new(1000, 300);
        assert!(matches!((&few, &many), (PerPhrase::Table(_), PerPhrase::Array(_))));
        for (phrase, number) in [(0, 5), (999, 1), (7, 2), (7, 3), (0, ABSENT)] {
            few.set(phrase, number);
            many.set(phrase, number);
        }
        for phrase in 0..1000 {
            assert_eq!(few.get(phrase), many.get(phrase));
        }
    }
}

#[cfg(test)]
mod lexicon_tests {
    use super::*;

    #[test]
    fn hashes_collide_where_javas_do() {
        for (one, other) in [("c0", "an"), ("or", "q4"), ("20s", "225"), ("men's", "meles")] {
            assert_eq!(java_hash(one), java_hash(other));
        }
        assert_eq!(java_hash("hello"), 99_162_322);
        assert_ne!(java_hash("dog"), java_hash("cat"));
    }
}

#[cfg(test)]
mod corpus_tests {
    use super::*;

    #[test]
    fn separators_of_the_protocol_are_dealt_with_as_the_suite_does() {
        assert_eq!(hypothesis_lines("a ||| b |  c    d"), ["a b | c  d"]);
        assert_eq!(reference_lines("a dog ||| a cat"), ["a dog ", " a cat"]);
        assert_eq!(reference_lines(""), [""]);
    }
}
