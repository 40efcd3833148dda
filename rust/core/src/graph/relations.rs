//! Relations between two objects.

use super::builder::{Builder, Predicate};
use super::links::{Link, Phrase};
use super::tree::Tree;
use crate::parse::Relation;

pub(super) fn read(tree: &Tree, links: &[Link], builder: &mut Builder) {
    let subjects = subjects(tree, links);
    for link in links {
        match link.relation {
            Relation::Dobj => action(tree, &subjects, link, Phrase::default(), builder),
            Relation::Nmod if tree.is_verb(link.head) || tree.is_adjective(link.head) => {
                action(tree, &subjects, link, link.preposition, builder);
            }
            Relation::Nmod => place(link, Predicate::Preposition(link.preposition), builder),
            Relation::NmodTmod => place(link, Predicate::Bare("tmod"), builder),
            Relation::NmodNpmod => place(link, Predicate::Bare("npmod"), builder),
            Relation::NmodPoss => possession(link, builder),
            _ => {}
        }
    }
    for &(subject, head) in &subjects {
        copula(tree, links, subject, head, builder);
    }
}

/// Who does what: each subject with its verb or predicate, in the order of the verbs.
///
/// `a dog barks` → dog, barks; `a dog sits and barks` → dog, sits; dog, barks; `a dog wearing a hat` → dog, wearing.
pub(super) fn subjects(tree: &Tree, links: &[Link]) -> Vec<(usize, usize)> {
    let mut subjects = Vec::new();
    for link in links {
        match link.relation {
            Relation::Nsubj | Relation::Nsubjpass => subjects.push((link.word, link.head)),
            Relation::Acl => subjects.push((link.head, link.word)),
            _ => {}
        }
    }
    // A verb without subject that is joined to another has the other's.
    for verb in 0..tree.len() {
        if tree.relation(verb) == Relation::Conj && !has_subject(tree, verb) {
            if let Some(first) = tree.head(verb).filter(|_| tree.is_verb(verb)) {
                let shared = subjects.iter().filter(|&&(_, head)| head == first && has_subject(tree, first));
                let shared: Vec<_> = shared.map(|&(subject, _)| (subject, verb)).collect();
                subjects.extend(shared);
            }
        }
    }
    subjects
}

fn has_subject(tree: &Tree, verb: usize) -> bool {
    tree.has(verb, Relation::Nsubj) || tree.has(verb, Relation::Nsubjpass)
}

/// `a man rides a horse` → man – ride – horse; `a dog runs along a beach` → dog – run along – beach.
fn action(tree: &Tree, subjects: &[(usize, usize)], link: &Link, preposition: Phrase, builder: &mut Builder) {
    let Some(object) = builder.thing(link.word) else { return };
    let phrase = tree.by(link.head, Relation::CompoundPrt).collect::<Phrase>().with(preposition);
    for &(subject, verb) in subjects {
        if verb == link.head {
            if let Some(subject) = builder.thing(subject) {
                builder.relation(subject, Predicate::Word(verb, phrase), object);
            }
        }
    }
}

/// `a man in a boat` → man – in – boat.
fn place(link: &Link, predicate: Predicate, builder: &mut Builder) {
    let (subject, object) = (builder.thing(link.head), builder.referent(link.word));
    if let Some(subject) = subject {
        builder.relation(subject, predicate, object);
    }
}

/// `his dog`, `a man's dog` → man – have – dog.
fn possession(link: &Link, builder: &mut Builder) {
    if let (Some(owner), Some(thing)) = (builder.thing(link.word), builder.thing(link.head)) {
        builder.relation(owner, Predicate::Have, thing);
    }
}

/// `a girl is in the background` → girl – in – background.
fn copula(tree: &Tree, links: &[Link], subject: usize, head: usize, builder: &mut Builder) {
    let preposition: Phrase = tree.by(head, Relation::Case).collect();
    let _ = links;
    if tree.has(head, Relation::Cop) && !preposition.is_empty() {
        if let (Some(subject), Some(object)) = (builder.thing(subject), builder.thing(head)) {
            builder.relation(subject, Predicate::Preposition(preposition), object);
        }
    }
}
