//! Prepositions of several words.

use super::links::Phrase;
use super::tree::Tree;
use crate::parse::Relation;

/// Pairs of words that make one preposition: `a dog next to a cat`, `a cigarette out of a box`.
const PAIRS: [(&str, &str); 43] = [
    ("according", "to"),
    ("across", "from"),
    ("ahead", "of"),
    ("along", "with"),
    ("alongside", "of"),
    ("apart", "from"),
    ("as", "for"),
    ("as", "from"),
    ("as", "of"),
    ("as", "per"),
    ("as", "to"),
    ("aside", "from"),
    ("away", "from"),
    ("based", "on"),
    ("because", "of"),
    ("close", "by"),
    ("close", "to"),
    ("contrary", "to"),
    ("compared", "to"),
    ("compared", "with"),
    ("due", "to"),
    ("depending", "on"),
    ("except", "for"),
    ("exclusive", "of"),
    ("far", "from"),
    ("followed", "by"),
    ("inside", "of"),
    ("instead", "of"),
    ("irrespective", "of"),
    ("next", "to"),
    ("near", "to"),
    ("off", "of"),
    ("out", "of"),
    ("outside", "of"),
    ("owing", "to"),
    ("previous", "to"),
    ("prior", "to"),
    ("regardless", "of"),
    ("subsequent", "to"),
    ("such", "as"),
    ("thanks", "to"),
    ("together", "with"),
    ("preliminary", "to"),
];

/// Triples of words that make one preposition: `a dog sits in front of a cat`.
const TRIPLES: [(&str, &str, &str); 2] = [("in", "front", "of"), ("on", "top", "of")];

/// The preposition that ends with `case`, a dependent of `word`, and the word that it links `word` with: the head,
/// unless the head is part of the preposition, as `next` of `sits next to a cat` is.
pub(super) fn of(tree: &Tree, head: usize, word: usize, case: usize) -> (usize, Phrase) {
    let alone: Phrase = std::iter::once(case).chain(tree.by(case, Relation::Mwe)).collect();
    let Some(before) = case.checked_sub(1) else { return (head, alone) };
    if PAIRS.contains(&(tree.text(before), tree.text(case))) {
        let pair = [before, case].into_iter().collect();
        if tree.head(before) == Some(word) {
            return (head, pair);
        }
        if let Some(outer) = tree.head(before).filter(|_| before == head) {
            return (outer, pair);
        }
    }
    if let (Some(first), Some(outer)) = (triple(tree, before), tree.head(before)) {
        if before == head {
            return (outer, [first, before, case].into_iter().collect());
        }
    }
    (head, alone)
}

/// The `in` of `in front of`, given `front`.
fn triple(tree: &Tree, noun: usize) -> Option<usize> {
    let first = noun.checked_sub(1)?;
    let last = (noun + 1 < tree.len()).then_some(noun + 1)?;
    let found = TRIPLES.contains(&(tree.text(first), tree.text(noun), tree.text(last)));
    (found && tree.head(first) == Some(noun)).then_some(first)
}

/// Whether a noun is part of a preposition: `front` of `in front of a car`.
pub(super) fn opens_phrase(tree: &Tree, noun: usize) -> bool {
    triple(tree, noun).is_some() && tree.head(noun + 1).is_some_and(|modifier| tree.head(modifier) == Some(noun))
}

/// Whether an adjective or adverb is part of a preposition: `next` of `is next to a cat`.
pub(super) fn opens_pair(tree: &Tree, word: usize) -> bool {
    let case = word + 1;
    case < tree.len()
        && tree.relation(case) == Relation::Case
        && PAIRS.contains(&(tree.text(word), tree.text(case)))
        && tree.head(case).is_some_and(|modifier| tree.head(modifier) == Some(word))
}
