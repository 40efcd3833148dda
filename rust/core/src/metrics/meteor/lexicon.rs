//! Properties of a token that the matchers need, computed once for each distinct token.

use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};
use rustc_hash::FxHashMap;

use super::resources::Resources;
use crate::numeric::interrupt::check;
use crate::numeric::parallel::map_parts;
use crate::text::vocabulary::{Vocabulary, Word};

/// The distinct tokens of the sentences at hand.
///
/// Two tokens match when they have a *trait* in common: the same word, the same stem, a synonym set. Traits are
/// numbered from 0 through all three kinds. Words and stems are told apart by hash, as the original does: `or` and `q4`
/// are the same word.
#[derive(Debug, Default)]
pub(super) struct Lexicon {
    tokens: Vec<Token>,
    sets: Vec<u32>,
    traits: usize,
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

    /// Number of traits.
    pub(super) fn trait_count(&self) -> usize {
        self.traits
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

#[cfg(test)]
mod tests {
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
