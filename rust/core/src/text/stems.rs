//! Stems of words.

use rust_stemmers::{Algorithm, Stemmer};

use super::vocabulary::{Vocabulary, Word};

/// The stems of a vocabulary's words, by Snowball English (Porter 2), as the CIDEr paper asks.
#[derive(Debug)]
pub struct Stems {
    /// For each word, the number of its stem. Stems are numbered by first appearance, so a vocabulary that extends
    /// another keeps the other's stem numbers.
    pub numbers: Vec<Word>,
    /// The stems.
    pub vocabulary: Vocabulary,
}

impl Stems {
    /// Stems every word.
    pub fn of(vocabulary: &Vocabulary) -> Self {
        let stemmer = Stemmer::create(Algorithm::English);
        let mut stems = Vocabulary::default();
        let numbers = vocabulary.words().map(|word| stems.intern(&stemmer.stem(word))).collect();
        Self { numbers, vocabulary: stems }
    }
}
