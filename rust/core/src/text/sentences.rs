//! Captions as word numbers: tokenised once, interned once.

use std::ops::Range;

use crate::numeric::parallel::map_parts;
use crate::text::captions::Captions;
use crate::text::tokenize::{Tokenizer, tokenize_stream};
use crate::text::vocabulary::{Vocabulary, Word};

/// Sentences of many images in one arena of word numbers.
///
/// The COCO suite sees a caption in two ways: BLEU and CIDEr split it at any white space, ROUGE at U+0020 only. They
/// differ where a token holds a no-break space (`1\u{a0}1/2`): `words` is the first view, `tokens` the second.
#[derive(Debug, Default, Clone)]
pub struct Sentences {
    /// Sentences of image `i` are numbers `first[i]..first[i + 1]`.
    first: Vec<u32>,
    words: Arena,
    /// Absent while both views are the same, which is nearly always.
    tokens: Option<Arena>,
}

#[derive(Debug, Default, Clone)]
struct Arena {
    words: Vec<Word>,
    ends: Vec<usize>,
}

impl Arena {
    fn span(&self, sentence: usize) -> Range<usize> {
        let start = if sentence == 0 { 0 } else { self.ends[sentence - 1] };
        start..self.ends[sentence]
    }

    fn push(&mut self, words: &[Word]) {
        self.words.extend_from_slice(words);
        self.ends.push(self.words.len());
    }

    fn get(&self, sentence: usize) -> &[Word] {
        &self.words[self.span(sentence)]
    }
}

impl Sentences {
    /// Tokenises and interns all captions of the chosen images, in that order; `None` stands for an empty caption.
    pub fn encode(
        captions: &Captions,
        images: &[Option<u32>],
        tokenizer: Tokenizer,
        vocabulary: &mut Vocabulary,
        threads: usize,
    ) -> Self {
        let mut first = vec![0];
        let mut texts: Vec<&str> = Vec::new();
        for image in images {
            match image {
                Some(image) => texts.extend(captions.captions_of(*image as usize).map(|k| captions.caption(k))),
                None => texts.push(""),
            }
            first.push(texts.len() as u32);
        }
        // In one stream a caption's tokens can depend on the next caption: there is nothing to cut into parts.
        let parts = if tokenizer == Tokenizer::PtbStream {
            vec![Part::of_stream(&texts)]
        } else {
            map_parts(texts.len(), threads, |range| Part::of_each(&texts[range], tokenizer))
        };
        let (words, tokens) = join(parts, vocabulary, threads);
        Self { first, words, tokens }
    }

    /// Sentences of the same grouping with ready word numbers, as training code has them.
    pub fn from_words(groups: impl Iterator<Item = usize>, words: Vec<Word>, ends: Vec<usize>) -> Self {
        let mut first = vec![0];
        let mut total = 0;
        for size in groups {
            total += size as u32;
            first.push(total);
        }
        Self { first, words: Arena { words, ends }, tokens: None }
    }

    /// The sentences of these numbers, in new groups.
    #[must_use]
    pub fn select(&self, groups: impl Iterator<Item = Vec<usize>>) -> Self {
        let mut selected = Self { first: vec![0], words: Arena::default(), tokens: None };
        let mut tokens = Arena::default();
        for sentence_numbers in groups {
            for sentence in sentence_numbers {
                selected.words.push(self.words(sentence));
                tokens.push(self.tokens(sentence));
            }
            selected.first.push(selected.words.ends.len() as u32);
        }
        selected.tokens = self.tokens.is_some().then_some(tokens);
        selected
    }

    /// Number of images.
    pub fn image_count(&self) -> usize {
        self.first.len().saturating_sub(1)
    }

    /// Number of sentences over all images.
    pub fn sentence_count(&self) -> usize {
        self.words.ends.len()
    }

    /// Numbers of the sentences of an image.
    pub fn of_image(&self, image: usize) -> Range<usize> {
        self.first[image] as usize..self.first[image + 1] as usize
    }

    /// Words of all sentences, one after the other.
    pub fn all_words(&self) -> &[Word] {
        &self.words.words
    }

    /// Where the words of a sentence are among all words.
    pub fn span(&self, sentence: usize) -> Range<usize> {
        self.words.span(sentence)
    }

    /// Words of a sentence, split at any white space.
    pub fn words(&self, sentence: usize) -> &[Word] {
        self.words.get(sentence)
    }

    /// Tokens of a sentence, split at U+0020 only.
    pub fn tokens(&self, sentence: usize) -> &[Word] {
        self.tokens.as_ref().unwrap_or(&self.words).get(sentence)
    }
}

/// What one thread encodes: words with numbers of its own.
#[derive(Default)]
struct Part {
    vocabulary: Vocabulary,
    words: Arena,
    joined: Vec<Joined>,
}

/// A token that white space other than U+0020 cuts into several words.
struct Joined {
    words: Range<usize>,
    token: Word,
}

impl Part {
    fn of_each(texts: &[&str], tokenizer: Tokenizer) -> Self {
        let mut part = Self::default();
        for text in texts {
            tokenizer.tokenize(text, |token: &str| part.push(token));
            part.words.ends.push(part.words.words.len());
        }
        part
    }

    fn of_stream(texts: &[&str]) -> Self {
        let mut part = Self::default();
        tokenize_stream(texts.iter().copied(), |caption, token| {
            part.words.ends.resize(caption, part.words.words.len());
            part.push(token);
        });
        part.words.ends.resize(texts.len(), part.words.words.len());
        part
    }

    fn push(&mut self, token: &str) {
        let plain = token.bytes().all(|byte| byte.is_ascii_graphic());
        if plain || !token.contains(char::is_whitespace) {
            let word = self.vocabulary.intern(token);
            self.words.words.push(word);
            return;
        }
        let start = self.words.words.len();
        for piece in token.split_whitespace() {
            let word = self.vocabulary.intern(piece);
            self.words.words.push(word);
        }
        let token = self.vocabulary.intern(token);
        self.joined.push(Joined { words: start..self.words.words.len(), token });
    }

    /// The view in which joined tokens are whole.
    fn tokens(&self) -> Arena {
        let mut joined = self.joined.iter().peekable();
        let mut arena = Arena::default();
        let mut at = 0;
        for &end in &self.words.ends {
            while at < end {
                if let Some(token) = joined.next_if(|token| token.words.start == at) {
                    arena.words.push(token.token);
                    at = token.words.end;
                } else {
                    arena.words.push(self.words.words[at]);
                    at += 1;
                }
            }
            arena.ends.push(arena.words.len());
        }
        arena
    }
}

/// One arena with common numbers. Parts come in text order and each numbers its words by first appearance, so the
/// common numbers are those of a single pass, however the text was cut.
fn join(parts: Vec<Part>, vocabulary: &mut Vocabulary, threads: usize) -> (Arena, Option<Arena>) {
    let numbers: Vec<Vec<Word>> =
        parts.iter().map(|part| part.vocabulary.words().map(|word| vocabulary.intern(word)).collect()).collect();
    let tokens = parts
        .iter()
        .any(|part| !part.joined.is_empty())
        .then(|| concatenate(parts.iter().map(Part::tokens).collect(), &numbers, threads));
    let words = concatenate(parts.into_iter().map(|part| part.words).collect(), &numbers, threads);
    (words, tokens)
}

fn concatenate(mut parts: Vec<Arena>, numbers: &[Vec<Word>], threads: usize) -> Arena {
    let renumbered = map_parts(parts.len(), threads, |range| {
        range.map(|k| parts[k].words.iter().map(|&word| numbers[k][word as usize]).collect()).collect::<Vec<Vec<_>>>()
    });
    let mut whole = Arena::default();
    for (part, words) in parts.iter_mut().zip(renumbered.into_iter().flatten()) {
        let shift = whole.words.len();
        if shift == 0 {
            whole.words = words;
        } else {
            whole.words.extend(words);
        }
        whole.ends.extend(std::mem::take(&mut part.ends).into_iter().map(|end| end + shift));
    }
    whole
}
