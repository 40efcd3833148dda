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
            Relation::Nmod if is_agent(tree, link) => agent(tree, links, &subjects, link, builder),
            Relation::Nmod if tree.is_verb(link.head) => {
                action(tree, &subjects, link, link.preposition, builder);
            }
            Relation::Nmod => {
                place(link, Predicate::Preposition(link.preposition), builder);
                if !tree.has(link.head, Relation::Cop) {
                    action(tree, &subjects, link, link.preposition, builder);
                }
            }
            Relation::NmodTmod | Relation::NmodNpmod if tree.is_verb(link.head) => {}
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
            Relation::Nsubj => subjects.push((link.word, link.head)),
            Relation::Acl => subjects.push((link.head, link.word)),
            _ => {}
        }
    }
    // A word without subject that is joined to another has the other's.
    for verb in 0..tree.len() {
        if tree.relation(verb) == Relation::Conj && !has_subject(tree, verb) {
            if let Some(first) = tree.head(verb) {
                subjects.extend(tree.by(first, Relation::Nsubj).map(|subject| (subject, verb)));
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
            if tree.lemma(verb) == "be" {
                builder.relation(builder.referent(subject), Predicate::Preposition(phrase), object);
            } else if let Some(subject) = actor(tree, builder, subject, verb) {
                builder.relation(subject, Predicate::Word(verb, phrase), object);
            }
        }
    }
}

/// Who acts: a noun or its pronoun; any word that a clause describes.
fn actor(tree: &Tree, builder: &Builder, subject: usize, verb: usize) -> Option<usize> {
    if tree.relation(verb) == Relation::Acl { Some(builder.referent(subject)) } else { builder.thing(subject) }
}

fn is_agent(tree: &Tree, link: &Link) -> bool {
    tree.has(link.head, Relation::Auxpass) && link.preposition.words().map(|word| tree.text(word)).eq(["by"])
}

/// `a ball is thrown by a man`, `a ball being thrown by a man` → man – throw – ball, ball – throw – man.
fn agent(tree: &Tree, links: &[Link], subjects: &[(usize, usize)], link: &Link, builder: &mut Builder) {
    let Some(agent) = builder.thing(link.word) else { return };
    let phrase: Phrase = tree.by(link.head, Relation::CompoundPrt).collect();
    for passive in links.iter().filter(|other| other.head == link.head && other.relation == Relation::Nsubjpass) {
        if let Some(patient) = builder.thing(passive.word) {
            builder.relation(agent, Predicate::Word(link.head, phrase), patient);
        }
    }
    for &(subject, verb) in subjects {
        if verb == link.head {
            if let Some(subject) = actor(tree, builder, subject, verb) {
                builder.relation(subject, Predicate::Word(verb, phrase), agent);
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
