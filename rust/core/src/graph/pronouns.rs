//! What pronouns stand for.

use super::tree::Tree;
use crate::parse::Relation;

/// Pronouns that may stand for several; all others stand for nouns in the singular only.
const PLURAL: [&str; 12] =
    ["they", "them", "their", "theirs", "themselves", "we", "us", "our", "ourselves", "you", "your", "yourselves"];

/// For each word the word that it stands for: itself, unless it is a pronoun.
///
/// A pronoun stands for the noun that is nearest to the root of the tree, and is left alone where that noun comes after it:
/// `a man sits on a bench with his dog` → `his` is the man's; `a man is on his bike` → nobody's, as `bike` is the root.
pub(super) fn referents(tree: &Tree) -> Vec<usize> {
    let mut referents: Vec<usize> = (0..tree.len()).collect();
    if !(0..tree.len()).any(|word| tree.is_pronoun(word)) {
        return referents;
    }
    let depths = depths(tree);
    let nouns = || (0..tree.len()).filter(|&word| tree.is_noun(word));
    let any = nouns().min_by_key(|&noun| depths[noun]);
    let singular = nouns().filter(|&noun| !tree.is_plural(noun)).min_by_key(|&noun| depths[noun]);
    for (word, referent) in referents.iter_mut().enumerate().filter(|(word, _)| tree.is_pronoun(*word)) {
        let noun = if PLURAL.contains(&tree.text(word)) { any } else { singular };
        *referent = noun.filter(|&noun| noun < word).unwrap_or(word);
    }
    referents
}

/// How many links lead from the root to each word. Words that are joined are as deep as the first of them.
fn depths(tree: &Tree) -> Vec<usize> {
    let mut depths = vec![usize::MAX; tree.len()];
    let mut reached: Vec<usize> = (0..tree.len()).filter(|&word| tree.head(word).is_none()).collect();
    for &root in &reached {
        depths[root] = 0;
    }
    let mut next = 0;
    while next < reached.len() {
        let head = reached[next];
        next += 1;
        for word in tree.dependents(head) {
            let is_joined = tree.relation(word) == Relation::Conj && depths[head] > 0;
            depths[word] = depths[head] + usize::from(!is_joined);
            reached.push(word);
        }
    }
    depths
}
