//! Quantities of several words: in `a couple of dogs run` and in `one of the dogs runs`, the dogs run.

use super::phrase::Phrase;
use super::tree::{Count, Tree};
use crate::parse::{Relation, Tag};

/// Nouns that are quantities after an article: `a couple of dogs`.
const AFTER_ARTICLE: &str = "
    array assortment bit bunch clutch couple dozen form handful heap kind litany lot mountain multitude number pair
    plethora range series sheaf slew sort spate string ton total triple type variety version wad wave";

/// Words that are quantities without article: `lots of dogs`.
const ALONE: &str = "
    dozens hundreds loads lots many millions mountains multitudes pairs plenty several thousands tons";

/// Words that are quantities before `of the` and `of them`: `some of the dogs`. Numbers are too.
const BEFORE_OF_THE: [&str; 3] = ["all", "both", "some"];

/// Replaces a quantity by the word that is counted.
///
/// `a bunch of kids run` → `kids` is the subject. What is said of their number is the first word of the quantity: `a` here,
/// `lots` of `lots of dogs run`, but `with` of `with lots of dogs`.
pub(super) fn turn(tree: &mut Tree) {
    let mut turned = false;
    for quantity in 0..tree.len().saturating_sub(2) {
        let of = quantity + 1;
        if tree.text(of) != "of" || tree.relation(of) != Relation::Case {
            continue;
        }
        let Some(counted) = tree.head(of).filter(|&counted| tree.head(counted) == Some(quantity)) else { continue };
        if tree.relation(counted) != Relation::Nmod || !is_quantity(tree, quantity) {
            continue;
        }
        let first = match tree.by(quantity, Relation::Det).next() {
            Some(article) => article,
            None => tree.dependents(quantity).next().filter(|&first| first < quantity).unwrap_or(quantity),
        };
        replace(tree, quantity, counted, first);
        turned = true;
    }
    if turned {
        tree.index();
    }
}

fn is_quantity(tree: &Tree, quantity: usize) -> bool {
    let text = tree.text(quantity);
    let article = tree.by(quantity, Relation::Det).next();
    match article.map(|article| tree.lemma(article)) {
        Some("a" | "an") => is_listed(AFTER_ARTICLE, text),
        Some(_) => false,
        None => {
            let is_partial = BEFORE_OF_THE.contains(&text) || tree.tag(quantity) == Tag::Cd;
            is_listed(ALONE, text)
                || (is_partial && (tree.text(quantity + 2) == "the" || tree.tag(quantity + 2) == Tag::Prp))
        }
    }
}

/// Whether a list of words has the word.
fn is_listed(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

/// The `of` that still links a quantity with a word: in `a bunch of apples and pears` the apples take the place of the
/// bunch, but the pears stay in it.
pub(super) fn of(tree: &Tree, word: usize) -> Option<Phrase> {
    let quantity = tree.head(word).filter(|_| tree.relation(word) == Relation::Nmod)?;
    let is_part = |number: usize| number < tree.len() && tree.relation(number) == Relation::Mwe;
    let is_quantity = is_part(quantity) && is_part(quantity + 1) && tree.text(quantity + 1) == "of";
    is_quantity.then(|| std::iter::once(quantity + 1).collect())
}

/// Attaches what is counted to the head of the quantity, and the quantity to what is counted.
fn replace(tree: &mut Tree, quantity: usize, counted: usize, said: usize) {
    let (head, relation) = (tree.head(quantity), tree.relation(quantity));
    let dependents: Vec<usize> = tree.dependents(quantity).collect();
    let joined: Vec<usize> = tree.by(counted, Relation::Conj).collect();
    for word in joined {
        tree.attach(word, Some(quantity), Relation::Nmod);
    }
    for word in dependents {
        match tree.relation(word) {
            relation @ (Relation::Case | Relation::Advmod | Relation::Conj) => {
                tree.attach(word, Some(counted), relation);
            }
            Relation::Amod | Relation::Compound | Relation::Nummod => tree.attach(word, Some(counted), Relation::Mwe),
            _ => {}
        }
    }
    tree.attach(counted, head, relation);
    tree.attach(quantity, Some(counted), Relation::Mwe);
    tree.attach(quantity + 1, Some(counted), Relation::Mwe);
    tree.count(Count { counted, said });
}
