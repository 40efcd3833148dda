//! Collapsed dependencies: prepositions are part of the link between two words, and what holds of one conjunct holds of
//! all.

use super::tree::Tree;
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
    let mut conjuncts = Vec::new();
    for number in 0..tree.len() {
        let Some(head) = tree.head(number) else { continue };
        let relation = tree.relation(number);
        if relation == Relation::Conj {
            continue;
        }
        gather(tree, number, &mut conjuncts);
        for &word in &conjuncts {
            let mut link = Link { head, word, relation, preposition: preposition(tree, word) };
            if link.preposition.is_empty() {
                link.preposition = preposition(tree, number);
            }
            widen(tree, &mut link, number);
            links.push(link);
        }
    }
    links
}

/// The word itself and what is joined to it: `red`, `white` and `blue` of `red, white and blue`.
fn gather(tree: &Tree, word: usize, conjuncts: &mut Vec<usize>) {
    conjuncts.clear();
    conjuncts.push(word);
    let mut next = 0;
    while next < conjuncts.len() {
        conjuncts.extend(tree.by(conjuncts[next], Relation::Conj));
        next += 1;
    }
}

/// The prepositions of a word: `on` of `on a table`, `out of` of `out of a box`.
fn preposition(tree: &Tree, word: usize) -> Phrase {
    let mut phrase = Phrase::default();
    for case in tree.by(word, Relation::Case) {
        if phrase.is_empty() && tree.text(case) == "of" {
            if let Some(out) = case.checked_sub(1).filter(|&out| tree.head(out) == Some(word) && tree.text(out) == "out") {
                phrase.push(out);
            }
        }
        phrase.push(case);
        tree.by(case, Relation::Mwe).for_each(|part| phrase.push(part));
    }
    phrase
}

/// Nouns that make one preposition of `… of`: in `sits in front of a car` the car is what is linked with the sitting.
const OF_PHRASES: [(&str, &str); 2] = [("in", "front"), ("on", "top")];

/// Adverbs that make one preposition of `… to`.
const TO_PHRASES: [&str; 2] = ["next", "close"];

/// Makes one link of `in front of`, `on top of`, `next to` and the word after.
fn widen(tree: &Tree, link: &mut Link, first: usize) {
    let Some(outer) = tree.head(link.head) else { return };
    if link.relation != Relation::Nmod {
        return;
    }
    let inner = link.head;
    let Some(last) = tree.by(first, Relation::Case).next().map(|case| tree.text(case)) else { return };
    if last == "of" && tree.relation(inner) == Relation::Nmod {
        let Some(before) = tree.by(inner, Relation::Case).next() else { return };
        if OF_PHRASES.contains(&(tree.text(before), tree.text(inner))) {
            let phrase: Phrase = [before, inner].into_iter().collect();
            *link = Link { head: outer, preposition: phrase.with(link.preposition), ..*link };
        }
    } else if last == "to" && TO_PHRASES.contains(&tree.text(inner)) {
        let phrase: Phrase = [inner].into_iter().collect();
        *link = Link { head: outer, preposition: phrase.with(link.preposition), ..*link };
    }
}
