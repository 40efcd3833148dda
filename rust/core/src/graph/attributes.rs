//! Attributes of objects.

use super::builder::Builder;
use super::links::Link;
use super::prepositions;
use super::relations::{Subject, subjects};
use super::tree::Tree;
use crate::parse::{Relation, Tag};

pub(super) fn read(tree: &Tree, links: &[Link], builder: &mut Builder) {
    for link in links {
        match link.relation {
            Relation::Amod => modifier(link, builder),
            Relation::Compound if tree.is_noun(link.head) && tree.is_noun(link.word) => modifier(link, builder),
            Relation::Nummod if counts(tree, link) => modifier(link, builder),
            _ => {}
        }
    }
    for &(counted, quantity) in tree.counts() {
        if tree.is_plural(counted) {
            builder.attribute(counted, quantity);
        }
    }
    for subject in subjects(tree, links) {
        predicate(tree, &subject, builder);
    }
}

/// `a brown dog`, `a police car`, `two dogs` → dog, brown; car, police; dog, two.
fn modifier(link: &Link, builder: &mut Builder) {
    builder.attribute(builder.referent(link.head), link.word);
}

/// Only the first number counts, and only where there are several: not in `one dog`.
fn counts(tree: &Tree, link: &Link) -> bool {
    let is_first = tree.by(link.head, Relation::Nummod).next().is_none_or(|first| first == link.word);
    tree.is_plural(link.head) && (is_first || tree.relation(link.word) == Relation::Conj)
}

/// `a dog is brown` → dog, brown; `a dog sleeps` → dog, sleep; `a dog is a poodle` → dog, poodle.
fn predicate(tree: &Tree, subject: &Subject, builder: &mut Builder) {
    let head = subject.head;
    let word = builder.referent(subject.word);
    if subject.is_described || builder.relates(head) || tree.lemma(head) == "be" {
        return;
    }
    if tree.has(head, Relation::Case) && !tree.is_adjective(head) {
        return;
    }
    let fits = if tree.is_verb(head) {
        tree.is_noun(word) && !tree.has(head, Relation::Nsubjpass) && !tree.has(head, Relation::Auxpass)
    } else {
        (tree.is_noun(word) || tree.is_pronoun(word) || tree.tag(word) == Tag::Wp) && !prepositions::opens(tree, head)
    };
    if fits {
        builder.attribute(word, head);
    }
}
