//! Names and words with their stems and synonym sets, each looked up once.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use rust_stemmers::{Algorithm, Stemmer};
use rustc_hash::FxHashMap;

use crate::wordnet::Synonyms;

/// A hash of a stem, the same in every process; of a name of several words, of their stems together.
pub(super) type Stem = u64;

/// The names that a thread has met.
pub(super) struct Lexicon<'a> {
    synonyms: &'a Synonyms,
    stemmer: Stemmer,
    /// Of each name as it stands.
    known: FxHashMap<Box<str>, (Stem, Box<[u32]>)>,
}

impl<'a> Lexicon<'a> {
    pub(super) fn new(synonyms: &'a Synonyms) -> Self {
        let stemmer = Stemmer::create(Algorithm::English);
        Self { synonyms, stemmer, known: FxHashMap::default() }
    }

    /// The stem and the synonym sets, sorted, of a name: `tennis racket` is looked up as WordNet writes it.
    pub(super) fn of(&mut self, name: &str) -> (Stem, &[u32]) {
        if !self.known.contains_key(name) {
            let lower = name.to_lowercase();
            let stems: Vec<_> = lower.split(' ').map(|word| self.stemmer.stem(word)).collect();
            let mut hasher = DefaultHasher::new();
            stems.hash(&mut hasher);
            let sets = self.synonyms.sets(&lower.replace(' ', "_"));
            self.known.insert(name.into(), (hasher.finish(), sets.into()));
        }
        let (stem, sets) = &self.known[name];
        (*stem, sets)
    }
}
