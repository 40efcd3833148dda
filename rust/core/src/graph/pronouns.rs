//! What pronouns stand for.

use super::tree::Tree;
use crate::parse::Relation;

/// Pronouns that may stand for several; all others stand for nouns in the singular only.
const PLURAL: [&str; 12] = [
    "they", "them", "their", "theirs", "themselves", "we", "us", "our", "ourselves", "you", "your", "yourselves",
];

/// For each word the word that it stands for: itself, unless it is a pronoun with a noun before it.
pub(super) fn referents(tree: &Tree) -> Vec<usize> {
    let mut referents: Vec<usize> = (0..tree.len()).collect();
    if !(0..tree.len()).any(|word| tree.is_pronoun(word)) {
        return referents;
    }
    let depths = depths(tree);
    for word in 0..tree.len() {
        if tree.is_pronoun(word) {
            let nouns = (0..tree.len()).filter(|&noun| can_stand_for(tree, noun, word));
            if let Some(noun) = nouns.min_by_key(|&noun| depths[noun]).filter(|&noun| noun < word) {
                referents[word] = noun;
            }
        }
    }
    referents
}

fn can_stand_for(tree: &Tree, noun: usize, pronoun: usize) -> bool {
    let singular = !PLURAL.contains(&tree.text(pronoun));
    tree.is_noun(noun) && !(singular && tree.is_plural(noun))
}

/// How many links lead from the root to each word.
fn depths(tree: &Tree) -> Vec<usize> {
    let mut depths = vec![usize::MAX; tree.len()];
    let mut reached: Vec<usize> = (0..tree.len()).filter(|&word| tree.head(word).is_none()).collect();
    reached.iter().for_each(|&root| depths[root] = 0);
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
