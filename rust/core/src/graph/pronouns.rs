//! What pronouns stand for.

use super::tree::Tree;
use crate::parse::Relation;

/// For each word the word that it stands for: itself, unless it is a pronoun with a noun before it.
pub(super) fn referents(tree: &Tree) -> Vec<usize> {
    let mut referents: Vec<usize> = (0..tree.len()).collect();
    if !(0..tree.len()).any(|word| tree.is_pronoun(word)) {
        return referents;
    }
    let depths = depths(tree);
    for word in 0..tree.len() {
        if tree.is_pronoun(word) {
            let owned = tree.head(word).filter(|&owned| tree.relation(word) == Relation::NmodPoss && owned > word);
            let nouns = (0..word).chain(owned).filter(|&noun| can_stand_for(tree, noun, word));
            match nouns.min_by_key(|&noun| depths[noun]) {
                Some(noun) if Some(noun) != owned => referents[word] = noun,
                _ => {}
            }
        }
    }
    referents
}

fn can_stand_for(tree: &Tree, noun: usize, pronoun: usize) -> bool {
    let singular = !["they", "them", "their", "themselves"].contains(&tree.text(pronoun));
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
            depths[word] = depths[head] + 1;
            reached.push(word);
        }
    }
    depths
}
