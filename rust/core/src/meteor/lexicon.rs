//! What the matchers ask of a token, worked out once for each distinct one.

use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};
use rustc_hash::FxHashMap;

use super::resources::Resources;
use crate::parallel::map_parts;
use crate::vocabulary::{Vocabulary, Word};

/// A distinct token.
#[derive(Debug, Clone)]
pub(super) struct Token {
    /// Words and stems are compared by hash, as the original does: `or` and `q4` are the same word.
    pub(super) hash: u32,
    pub(super) stem: u32,
    pub(super) is_function_word: bool,
    /// Its number in the paraphrase table.
    pub(super) paraphrase_word: Option<u32>,
    /// Its synonym sets in the lexicon's pool, sorted.
    sets: Range<usize>,
    /// A bit for each of its synonym sets: tokens without a common bit have no common set.
    pub(super) signature: u128,
}

/// The distinct tokens of the sentences at hand.
#[derive(Debug, Clone, Default)]
pub(super) struct Lexicon {
    tokens: Vec<Token>,
    sets: Vec<u32>,
}

impl Lexicon {
    pub(super) fn new(vocabulary: &Vocabulary, resources: &Resources, threads: usize) -> Self {
        let words: Vec<&str> = vocabulary.words().collect();
        let mut lexicon = Self::default();
        let parts = map_parts(words.len(), threads, |range| {
            let mut part = Self::default();
            let stemmer = Stemmer::create(Algorithm::English);
            words[range].iter().for_each(|word| part.push(word, &stemmer, resources));
            part
        });
        for part in parts {
            let shift = lexicon.sets.len();
            lexicon.sets.extend(part.sets);
            let moved = |sets: Range<usize>| sets.start + shift..sets.end + shift;
            lexicon
                .tokens
                .extend(part.tokens.into_iter().map(|token| Token { sets: moved(token.sets.clone()), ..token }));
        }
        lexicon.drop_lone_sets();
        lexicon
    }

    /// Forgets the sets that a single token has: they make no synonyms here, and most are such.
    fn drop_lone_sets(&mut self) {
        let mut counts: FxHashMap<u32, u32> = FxHashMap::default();
        for &set in &self.sets {
            *counts.entry(set).or_default() += 1;
        }
        let sets = std::mem::take(&mut self.sets);
        for token in &mut self.tokens {
            let start = self.sets.len();
            self.sets.extend(sets[token.sets.clone()].iter().filter(|set| counts[set] > 1));
            token.sets = start..self.sets.len();
            token.signature =
                self.sets[start..].iter().fold(0, |bits, set| bits | 1 << (set.wrapping_mul(0x9e37_79b9) >> 25));
        }
    }

    fn push(&mut self, word: &str, stemmer: &Stemmer, resources: &Resources) {
        let start = self.sets.len();
        self.sets.extend(resources.synonym_sets(word));
        self.tokens.push(Token {
            hash: java_hash(word),
            stem: java_hash(&stemmer.stem(word)),
            is_function_word: resources.is_function_word(word),
            paraphrase_word: resources.paraphrase_word(word),
            sets: start..self.sets.len(),
            signature: 0,
        });
    }

    pub(super) fn token(&self, word: Word) -> &Token {
        &self.tokens[word as usize]
    }

    /// Whether the tokens have a synonym set in common.
    pub(super) fn have_common_set(&self, one: Word, other: Word) -> bool {
        let sets = |word: Word| &self.sets[self.token(word).sets.clone()];
        let (mut left, mut right) = (sets(one), sets(other));
        while let (Some((a, rest_left)), Some((b, rest_right))) = (left.split_first(), right.split_first()) {
            match a.cmp(b) {
                std::cmp::Ordering::Less => left = rest_left,
                std::cmp::Ordering::Greater => right = rest_right,
                std::cmp::Ordering::Equal => return true,
            }
        }
        false
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
