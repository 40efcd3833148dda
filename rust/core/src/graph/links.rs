//! Collapsed dependencies: prepositions are part of the link between two words, and what holds of one conjunct holds of
//! all.

use super::phrase::Phrase;
use super::tree::Tree;
use super::{prepositions, quantities};
use crate::parse::Relation;

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
