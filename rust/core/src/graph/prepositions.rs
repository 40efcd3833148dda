//! Prepositions of several words.

use super::links::Phrase;
use super::tree::Tree;
use crate::parse::Relation;

/// Pairs that make one preposition where both depend on the noun: `a cigarette out of a box`.
const BEFORE_NOUN: [(&str, &str); 19] = [
    ("across", "from"),
    ("along", "with"),
    ("apart", "from"),
    ("as", "for"),
    ("as", "from"),
    ("as", "of"),
    ("as", "per"),
    ("as", "to"),
    ("aside", "from"),
    ("based", "on"),
    ("compared", "to"),
    ("compared", "with"),
    ("except", "for"),
    ("far", "from"),
    ("inside", "of"),
    ("near", "to"),
    ("off", "of"),
    ("out", "of"),
    ("together", "with"),
];

/// Pairs that make one preposition where the noun depends on the first word: `a dog sits next to a cat`.
const WITH_NOUN: [(&str, &str); 14] = [
    ("across", "from"),
    ("apart", "from"),
    ("as", "from"),
    ("aside", "from"),
    ("away", "from"),
    ("close", "by"),
    ("close", "to"),
    ("contrary", "to"),
    ("far", "from"),
    ("inside", "of"),
    ("near", "to"),
    ("next", "to"),
    ("outside", "of"),
    ("regardless", "of"),
];

/// Triples that make one preposition: `a dog sits in front of a cat`.
const TRIPLES: [(&str, &str, &str); 13] = [
    ("by", "means", "of"),
    ("in", "accordance", "with"),
    ("in", "addition", "to"),
    ("in", "case", "of"),
    ("in", "front", "of"),
    ("in", "lieu", "of"),
    ("in", "place", "of"),
    ("in", "spite", "of"),
    ("on", "account", "of"),
    ("on", "behalf", "of"),
    ("on", "top", "of"),
    ("with", "regard", "to"),
    ("with", "respect", "to"),
];

/// The preposition that ends with `case`, a dependent of `word`, and the word that it links `word` with: the head,
/// unless the head is part of the preposition, as `next` of `sits next to a cat` is.
pub(super) fn of(tree: &Tree, head: usize, word: usize, case: usize) -> (usize, Phrase) {
    if let (Some(outer), Some(phrase)) = (tree.head(head), headed(tree, head, case)) {
        return (outer, phrase);
    }
    (head, paired(tree, word, case))
}

/// The first preposition of a noun that is said to be where a subject is: `on` of `the lamp is on in a house`.
pub(super) fn before(tree: &Tree, word: usize) -> Option<Phrase> {
    let case = tree.by(word, Relation::Case).next()?;
    let next = tree.by(word, Relation::Case).nth(1).filter(|&next| next == case + 1);
    Some(match next {
        Some(next) if BEFORE_NOUN.contains(&(tree.text(case), tree.text(next))) => [case, next].into_iter().collect(),
        _ => paired(tree, word, case),
    })
}

/// The preposition that a predicate opens, and the noun after: `next to` and `cat` of `a dog is next to a cat`.
pub(super) fn after_copula(tree: &Tree, predicate: usize) -> Option<(Phrase, usize)> {
    tree.by(predicate, Relation::Nmod).find_map(|noun| {
        let case = tree.by(noun, Relation::Case).next_back()?;
        Some((headed(tree, predicate, case)?, noun))
    })
}

/// A case with what it makes one preposition with: `out of`, `because of`.
fn paired(tree: &Tree, word: usize, case: usize) -> Phrase {
    let is_pair = |&before: &usize| {
        tree.head(before) == Some(word) && BEFORE_NOUN.contains(&(tree.text(before), tree.text(case)))
    };
    let before = case.checked_sub(1).filter(is_pair);
    before.into_iter().chain([case]).chain(tree.by(case, Relation::Mwe)).collect()
}

/// The preposition that `head` and the word after make: `next to`, `in front of`.
fn headed(tree: &Tree, head: usize, case: usize) -> Option<Phrase> {
    if head + 1 != case {
        return None;
    }
    if !tree.is_noun(head) && WITH_NOUN.contains(&(tree.text(head), tree.text(case))) {
        return Some([head, case].into_iter().collect());
    }
    let first = head.checked_sub(1).filter(|&first| tree.head(first) == Some(head))?;
    let triple = (tree.text(first), tree.text(head), tree.text(case));
    TRIPLES.contains(&triple).then(|| [first, head, case].into_iter().collect())
}

/// Whether a word is part of a preposition: `front` of `in front of a car`, `next` of `is next to a car`.
pub(super) fn opens(tree: &Tree, word: usize) -> bool {
    let case = word + 1;
    case < tree.len()
        && tree.relation(case) == Relation::Case
        && tree.head(case).is_some_and(|noun| tree.head(noun) == Some(word))
        && headed(tree, word, case).is_some()
}
