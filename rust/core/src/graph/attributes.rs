//! Attributes of objects.

use super::builder::Builder;
use super::links::Link;
use super::relations::subjects;
use super::tree::Tree;
use crate::parse::Relation;

pub(super) fn read(tree: &Tree, links: &[Link], builder: &mut Builder) {
    for link in links {
        match link.relation {
            Relation::Amod | Relation::Compound => modifier(link, builder),
            Relation::Nummod if tree.lemma(link.word) != "one" => modifier(link, builder),
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
    if tree.is_verb(head) && !builder.relates(head) {
        if let Some(subject) = builder.thing(subject).filter(|_| tree.relation(head) != Relation::Acl) {
            builder.attribute(subject, head);
        }
    } else if tree.has(head, Relation::Cop) && !tree.has(head, Relation::Case) {
        builder.attribute(builder.referent(subject), head);
    }
}
