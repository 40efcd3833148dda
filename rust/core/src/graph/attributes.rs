//! Attributes of objects.

use super::builder::Builder;
use super::links::Link;
use super::prepositions;
use super::relations::subjects;
use super::tree::Tree;
use crate::parse::{Relation, Tag};

pub(super) fn read(tree: &Tree, links: &[Link], builder: &mut Builder) {
    for link in links {
        match link.relation {
            Relation::Amod => modifier(link, builder),
            Relation::Compound if tree.is_noun(link.head) && tree.is_noun(link.word) => modifier(link, builder),
            Relation::Nummod if matches!(tree.tag(link.head), Tag::Nns | Tag::Nnps) => modifier(link, builder),
            _ => {}
        }
    }
    for (subject, head) in subjects(tree, links) {
        predicate(tree, subject, head, builder);
    }
}

/// `a brown dog`, `a police car`, `two dogs` → dog, brown; car, police; dog, two.
fn modifier(link: &Link, builder: &mut Builder) {
    builder.attribute(builder.referent(link.head), link.word);
}

/// `a dog is brown` → dog, brown; `a dog sleeps` → dog, sleep; `a dog is a poodle` → dog, poodle.
fn predicate(tree: &Tree, subject: usize, head: usize, builder: &mut Builder) {
    if tree.is_verb(head) {
        let is_plain = tree.lemma(head) != "be" && !builder.relates(head) && !tree.has(head, Relation::Nsubjpass);
        if let Some(subject) = builder.thing(subject).filter(|_| is_plain && tree.relation(head) != Relation::Acl) {
            builder.attribute(subject, head);
        }
    } else if !tree.has(head, Relation::Case) && tree.relation(head) != Relation::Acl {
        let subject = builder.referent(subject);
        if (tree.is_noun(subject) || tree.is_pronoun(subject)) && !prepositions::opens_pair(tree, head) {
            builder.attribute(subject, head);
        }
    }
}
