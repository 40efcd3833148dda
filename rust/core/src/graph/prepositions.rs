//! Prepositions of several words.

use super::phrase::Phrase;
use super::tree::Tree;
use crate::parse::Relation;

/// Pairs that make one preposition where both depend on the noun: `a cigarette out of a box`.
const BEFORE_NOUN: &str = "
    across from, along with, apart from, as for, as from, as of, as per, as to, aside from, based on, compared to,
    compared with, except for, far from, inside of, near to, next to, off of, out of, together with";

/// Pairs that make one preposition where the noun depends on the first word, which may be a noun itself, except for
/// `inside`: `a dog sits next to a cat`, `a dog outside of a house`.
const WITH_NOUN: &str = "
    across from, apart from, as from, aside from, away from, close by, close to, contrary to, far from, inside of,
    near to, next to, outside of, regardless of";

/// Triples that make one preposition: `a dog sits in front of a cat`.
const TRIPLES: &str = "
    by means of, in accordance with, in addition to, in case of, in front of, in lieu of, in place of, in spite of,
    on account of, on behalf of, on top of, with regard to, with respect to";

/// Whether a list has these words together.
pub(super) fn is_listed(list: &str, words: &[&str]) -> bool {
    list.split(',').any(|listed| listed.split_ascii_whitespace().eq(words.iter().copied()))
}

/// Puts the noun after a preposition of several words in the place of the word that it depended on, with all that
/// depended there.
///
/// `a dog sits next to a cat` → `cat` depends on `sits`; `a dog is in front of a cat` → `cat` is what the dog is said to be.
pub(super) fn turn(tree: &mut Tree) {
    let mut turned = false;
    for inner in 0..tree.len().saturating_sub(1) {
        let case = inner + 1;
        let Some(noun) = tree.head(case).filter(|_| tree.relation(case) == Relation::Case) else { continue };
        if tree.head(noun) != Some(inner) || tree.relation(noun) != Relation::Nmod {
            continue;
        }
        let first = inner.checked_sub(1).filter(|&first| tree.head(first) == Some(inner));
        let triple = first.filter(|&first| is_listed(TRIPLES, &[tree.text(first), tree.text(inner), tree.text(case)]));
        let is_pair = is_listed(WITH_NOUN, &[tree.text(inner), tree.text(case)])
            && !(tree.is_noun(inner) && tree.text(inner) == "inside");
        if triple.is_some() || is_pair {
            replace(tree, inner, noun);
            for part in triple.into_iter().chain([inner]) {
                tree.attach(part, Some(case), Relation::Mwe);
            }
            turned = true;
        }
    }
    if turned {
        tree.index();
    }
}

fn replace(tree: &mut Tree, inner: usize, noun: usize) {
    let is_clause = tree.has(inner, Relation::Nsubj) || tree.head(inner).is_none();
    let relation = match tree.relation(inner) {
        Relation::Conj if !tree.head(inner).is_some_and(|head| tree.is_verb(head)) => Relation::Conj,
        relation if is_clause => relation,
        _ => Relation::Nmod,
    };
    let moved: Vec<usize> = tree.dependents(inner).filter(|&word| word != noun).collect();
    tree.attach(noun, tree.head(inner), relation);
    for word in moved {
        tree.attach(word, Some(noun), tree.relation(word));
    }
}

/// The last preposition of a noun, with what it makes one preposition with: `out of`, `because of`, `in front of`.
pub(super) fn last(tree: &Tree, noun: usize) -> Option<Phrase> {
    tree.by(noun, Relation::Case).next_back().map(|case| paired(tree, noun, case))
}

/// The first one: `on` of `the lamp is on in a house`.
pub(super) fn first(tree: &Tree, noun: usize) -> Option<Phrase> {
    let mut cases = tree.by(noun, Relation::Case);
    let case = cases.next()?;
    let is_pair = |&next: &usize| is_listed(BEFORE_NOUN, &[tree.text(case), tree.text(next)]) && next == case + 1;
    Some(cases.next().filter(is_pair).map_or_else(|| paired(tree, noun, case), |next| paired(tree, noun, next)))
}

fn paired(tree: &Tree, noun: usize, case: usize) -> Phrase {
    let is_pair = |&before: &usize| {
        tree.head(before) == Some(noun) && is_listed(BEFORE_NOUN, &[tree.text(before), tree.text(case)])
    };
    let before = case.checked_sub(1).filter(is_pair);
    let parts = || tree.by(case, Relation::Mwe);
    let opening = parts().filter(|&part| part < case);
    before.into_iter().chain(opening).chain([case]).chain(parts().filter(|&part| part > case)).collect()
}
