//! Quantities that are nouns by form: in `a couple of dogs run` it is the dogs that run.

use super::tree::Tree;
use crate::parse::Relation;

/// Nouns that count as quantities in `a … of`.
const QUANTITIES: [&str; 5] = ["bunch", "couple", "lot", "number", "pair"];

/// Puts the counted noun in the place of its quantity. Whether there was one.
///
/// `a bunch of kids run` → `kids` is the subject; `a` is what is said of their number, as `two` would be.
pub(super) fn turn(tree: &mut Tree) -> bool {
    let mut turned = false;
    for quantity in 1..tree.len() {
        let Some(article) = quantity.checked_sub(1).filter(|&number| tree.text(number) == "a") else { continue };
        if tree.head(article) != Some(quantity) || !QUANTITIES.contains(&tree.text(quantity)) {
            continue;
        }
        let Some(counted) = tree.by(quantity, Relation::Nmod).find(|&number| number > quantity) else { continue };
        let Some(of) = tree.by(counted, Relation::Case).next() else { continue };
        if of != quantity + 1 || tree.text(of) != "of" {
            continue;
        }
        let (head, relation) = (tree.head(quantity), tree.relation(quantity));
        let others: Vec<usize> =
            tree.dependents(quantity).filter(|&other| other != article && other != counted).collect();
        tree.attach(counted, head, relation);
        tree.attach(article, Some(counted), Relation::Nummod);
        tree.attach(quantity, Some(article), Relation::Mwe);
        tree.attach(of, Some(article), Relation::Mwe);
        for other in others {
            let relation = tree.relation(other);
            tree.attach(other, Some(counted), relation);
        }
        turned = true;
    }
    turned
}
