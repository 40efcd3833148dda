//! Names that mean one thing: `motorcycle` and `motorbike`.

use rustc_hash::FxHashMap;

use crate::engine::Resource;
use crate::named::named;
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

/// One name, or several that were merged since they share synonym sets.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Concept {
    names: Vec<Name>,
    /// The synonym sets of all its names, sorted.
    sets: Vec<u32>,
}

named! {
    /// Why two names count as one.
    pub enum Rule {
        /// They have a base form in common.
        Lemma "lemma",
        /// They share a synonym set of WordNet.
        Synset "synset",
    }
}

impl Concept {
    /// Whether the two have a meaning in common, and by which rule.
    pub(super) fn matches(&self, other: &Self) -> Option<Rule> {
        if self.names.iter().any(|name| other.names.contains(name)) {
            return Some(Rule::Lemma);
        }
        shares(&self.sets, &other.sets).then_some(Rule::Synset)
    }

    /// Its names, the first that was met first.
    pub(super) fn names(&self) -> &[Name] {
        &self.names
    }

    fn join(&mut self, name: Name, lexicon: &Lexicon<'_>) {
        self.names.push(name);
        self.sets.extend(lexicon.sets(name));
        self.sets.sort_unstable();
        self.sets.dedup();
    }
}

/// The number of the concept that the name belongs to, after it was added to it: the one that has the name; else the one
/// whose synonym sets are most like the name's, the earliest of equals; else a new one.
///
/// So names are merged as they come, and two concepts, once made, stay two, whatever comes later: as in the original.
pub(super) fn place(concepts: &mut Vec<Concept>, name: Name, lexicon: &Lexicon<'_>) -> usize {
    if let Some(at) = concepts.iter().position(|concept| concept.names.contains(&name)) {
        return at;
    }
    let sets = lexicon.sets(name);
    let mut best = (0.0, concepts.len());
    for (at, concept) in concepts.iter().enumerate() {
        let alike = likeness(&concept.sets, sets);
        if alike > best.0 {
            best = (alike, at);
        }
    }
    if best.1 == concepts.len() {
        concepts.push(Concept::default());
    }
    concepts[best.1].join(name, lexicon);
    best.1
}

/// Jaccard's coefficient of two sorted lists; 0 where either is empty.
fn likeness(a: &[u32], b: &[u32]) -> f64 {
    let common = common(a, b).count();
    if common == 0 { 0.0 } else { common as f64 / (a.len() + b.len() - common) as f64 }
}

fn shares(a: &[u32], b: &[u32]) -> bool {
    common(a, b).next().is_some()
}

/// What two sorted lists have in common.
fn common<'a>(mut a: &'a [u32], mut b: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
    std::iter::from_fn(move || {
        while let (Some((&x, rest_a)), Some((&y, rest_b))) = (a.split_first(), b.split_first()) {
            if x <= y {
                a = rest_a;
            }
            if y <= x {
                b = rest_b;
            }
            if x == y {
                return Some(x);
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wordnet::tests::small;

    #[test]
    fn of_equally_alike_concepts_the_earliest_gets_the_name() {
        let synonyms = small();
        let mut lexicon = Lexicon::new(&synonyms);
        let mut concepts = Vec::new();
        let places = ["jog", "flow", "red", "run", "red"].map(|word| {
            let name = lexicon.number(word);
            place(&mut concepts, name, &lexicon)
        });
        assert_eq!(places, [0, 1, 2, 0, 2]);
        assert_eq!(concepts.iter().map(|concept| concept.names().len()).collect::<Vec<_>>(), [2, 1, 1]);
    }
}
