//! Attributes of objects.

use super::builder::Builder;
use super::links::Link;
use super::subjects::{Subject, Subjects};
use super::tree::Tree;
use crate::parse::Relation;

pub(super) fn read(tree: &Tree, links: &[Link], subjects: &Subjects, builder: &mut Builder) {
    for link in links {
        match link.relation {
            Relation::Amod => modifier(link, builder),
            Relation::Compound if tree.is_noun(link.head) && tree.is_noun(link.word) => modifier(link, builder),
            Relation::Nummod if counts(tree, link) => modifier(link, builder),
            _ => {}
        }
    }
    for count in tree.counts() {
        if tree.is_plural(count.counted) {
            builder.attribute(count.counted, count.said);
        }
    }
    for subject in subjects.all() {
        predicate(tree, subject, builder);
    }
}

/// `a brown dog`, `a police car`, `two dogs` → dog, brown; car, police; dog, two.
fn modifier(link: &Link, builder: &mut Builder) {
    builder.attribute(builder.referent(link.head), builder.referent(link.word));
}

/// Only the first number before a plural counts: not in `one dog`.
fn counts(tree: &Tree, link: &Link) -> bool {
    let is_first = tree.by(link.head, Relation::Nummod).next().is_none_or(|first| first == link.word);
    tree.is_plural(link.head) && link.word < link.head && (is_first || tree.relation(link.word) == Relation::Conj)
}

/// `a dog is brown` → dog, brown; `a dog sleeps` → dog, sleep; `a dog is a poodle` → dog, poodle.
fn predicate(tree: &Tree, subject: &Subject, builder: &mut Builder) {
    let head = subject.head;
    let word = builder.referent(subject.word);
    let is_adjective = tree.is_adjective(head);
    let is_passive = tree.has(head, Relation::Nsubjpass) || tree.has(head, Relation::Auxpass);
    if subject.is_described || is_passive || tree.lemma(head) == "be" {
        return;
    }
    if is_adjective || (!builder.relates(head) && !tree.has(head, Relation::Case) && tree.is_noun(word)) {
        builder.attribute(word, head);
    }
}
