//! Collapsed dependencies: prepositions are part of the link between two words, and what holds of one conjunct holds of
//! all.

use super::tree::Tree;
use super::{prepositions, quantities};
use crate::parse::Relation;

/// A few words of the caption, in order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Phrase {
    words: [u32; Self::MOST],
    count: u8,
}

impl Phrase {
    const MOST: usize = 6;

    /// Adds a word; a phrase that is full stays as it is.
    pub(super) fn push(&mut self, word: usize) {
        if usize::from(self.count) < Self::MOST {
            self.words[usize::from(self.count)] = word as u32;
            self.count += 1;
        }
    }

    /// The words of this phrase, then those of another.
    pub(super) fn with(mut self, other: Self) -> Self {
        other.words().for_each(|word| self.push(word));
        self
    }

    pub(super) fn words(&self) -> impl Iterator<Item = usize> + '_ {
        self.words[..usize::from(self.count)].iter().map(|&word| word as usize)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl FromIterator<usize> for Phrase {
    fn from_iter<T: IntoIterator<Item = usize>>(words: T) -> Self {
        let mut phrase = Self::default();
        words.into_iter().for_each(|word| phrase.push(word));
        phrase
    }
}

/// A collapsed dependency.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    pub(super) head: usize,
    pub(super) word: usize,
    pub(super) relation: Relation,
    /// The prepositions of a modifier: `in front of`.
    pub(super) preposition: Phrase,
}

/// Every collapsed dependency, in the order of the words that depend.
pub(super) fn of(tree: &Tree) -> Vec<Link> {
    let mut links = Vec::with_capacity(tree.len() + 4);
    for number in 0..tree.len() {
        let Some(head) = tree.head(number) else { continue };
        let relation = tree.relation(number);
        if relation == Relation::Conj {
            continue;
        }
        for word in std::iter::once(number).chain(tree.by(number, Relation::Conj)) {
            let marked = if tree.has(word, Relation::Case) { word } else { number };
            let preposition = prepositions::last(tree, marked).or_else(|| quantities::of(tree, word));
            let link = Link { head, word, relation, preposition: preposition.unwrap_or_default() };
            links.push(link);
            for other in tree.by(marked, Relation::Case).flat_map(|case| tree.by(case, Relation::Conj)) {
                links.push(Link { preposition: [other].into_iter().collect(), ..link });
            }
        }
    }
    links
}
