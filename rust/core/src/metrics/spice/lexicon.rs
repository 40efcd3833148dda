//! Names of objects, attributes and relations with their synonym sets, each looked up once.

use rustc_hash::FxHashMap;

use crate::engine::Resource;
use crate::wordnet::Synonyms;

impl Resource for Synonyms {
    const NAME: &'static str = "synonyms";
}

/// A number for a name.
pub(super) type Name = u32;

/// The names met so far.
pub(super) struct Lexicon<'a> {
    synonyms: &'a Synonyms,
    numbers: FxHashMap<Box<str>, Name>,
    names: Vec<Box<str>>,
    sets: Vec<Vec<u32>>,
}

impl<'a> Lexicon<'a> {
    pub(super) fn new(synonyms: &'a Synonyms) -> Self {
        Self { synonyms, numbers: FxHashMap::default(), names: Vec::new(), sets: Vec::new() }
    }

    /// The number of the name. A name of several words is looked up as WordNet writes it: `climb_up`.
    pub(super) fn number(&mut self, name: &str) -> Name {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.names.len() as Name;
        self.numbers.insert(name.into(), number);
        self.names.push(name.into());
        self.sets.push(if name.contains(' ') {
            self.synonyms.sets(&name.replace(' ', "_"))
        } else {
            self.synonyms.sets(name)
        });
        number
    }

    pub(super) fn name(&self, number: Name) -> &str {
        &self.names[number as usize]
    }

    /// The synonym sets of the name, sorted.
    pub(super) fn sets(&self, number: Name) -> &[u32] {
        &self.sets[number as usize]
    }
}
