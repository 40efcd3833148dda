//! Relations between two objects.

use super::builder::{Builder, Predicate};
use super::links::{Link, Phrase};
use super::prepositions;
use super::tree::Tree;
use crate::parse::{Relation, Tag};

pub(super) fn read(tree: &Tree, links: &[Link], builder: &mut Builder) {
    let subjects = subjects(tree, links);
    for link in links {
        match link.relation {
            Relation::Dobj | Relation::Iobj => action(tree, &subjects, link, Phrase::default(), None, builder),
            Relation::Nmod if is_agent(tree, link) => agent(tree, links, &subjects, link, builder),
            Relation::Nmod | Relation::NmodTmod | Relation::NmodNpmod => modifier(tree, &subjects, link, builder),
            Relation::NmodPoss => possession(link, builder),
            _ => {}
        }
    }
    for subject in &subjects {
        copula(tree, subject, builder);
    }
}

/// A word and what is said of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject {
    /// Who does or is something.
    pub(super) word: usize,
    /// What it does or is.
    pub(super) head: usize,
    /// Whether a clause describes the word: `dog` of `a dog wearing a hat`.
    pub(super) is_described: bool,
}

/// Who does what: each subject with its verb or predicate, in the order of the verbs.
///
/// `a dog barks` → dog, barks; `a dog sits and barks` → dog, sits; dog, barks; `a dog wearing a hat` → dog, wearing.
pub(super) fn subjects(tree: &Tree, links: &[Link]) -> Vec<Subject> {
    let mut subjects = Vec::new();
    for link in links {
        match link.relation {
            Relation::Nsubj => subjects.push(Subject { word: link.word, head: link.head, is_described: false }),
            Relation::Acl if tree.is_verb(link.word) => {
                subjects.push(Subject { word: link.head, head: link.word, is_described: true });
            }
            _ => {}
        }
    }
    // A word without subject that is joined to another has the other's.
    for head in 0..tree.len() {
        let joins = tree.relation(head) == Relation::Conj && (tree.is_verb(head) || tree.is_adjective(head));
        if let Some(first) = tree.head(head).filter(|_| joins && !has_subject(tree, head) && !tree.has(head, Relation::Auxpass)) {
            let is_active = matches!(tree.tag(head), Tag::Vb | Tag::Vbp | Tag::Vbz) || tree.is_adjective(head);
            let shared = tree.dependents(first).filter(|&word| match tree.relation(word) {
                Relation::Nsubj => true,
                Relation::Nsubjpass => is_active,
                _ => false,
            });
            subjects.extend(shared.map(|word| Subject { word, head, is_described: false }));
        }
    }
    subjects
}

fn has_subject(tree: &Tree, verb: usize) -> bool {
    tree.has(verb, Relation::Nsubj) || tree.has(verb, Relation::Nsubjpass)
}

/// Where, when, with what: of a thing, or of what a subject does.
fn modifier(tree: &Tree, subjects: &[Subject], link: &Link, builder: &mut Builder) {
    let measure = match link.relation {
        Relation::NmodTmod => Some("tmod"),
        Relation::NmodNpmod => Some("npmod"),
        _ => None,
    };
    if measure.is_none() && link.preposition.is_empty() {
        return;
    }
    if !tree.is_verb(link.head) {
        place(link, measure.map_or(Predicate::Preposition(link.preposition), Predicate::Bare), builder);
    }
    action(tree, subjects, link, link.preposition, measure, builder);
}

/// `a man rides a horse` → man – ride – horse; `a dog runs along a beach` → dog – run along – beach.
fn action(tree: &Tree, subjects: &[Subject], link: &Link, preposition: Phrase, measure: Option<&'static str>, builder: &mut Builder) {
    let Some(object) = builder.thing(link.word).filter(|_| !tree.has(link.head, Relation::Cop)) else { return };
    let has_own_preposition = tree.relation(link.word) == Relation::Conj && tree.has(link.word, Relation::Case);
    let particles = tree.by(link.head, Relation::CompoundPrt).filter(|_| !has_own_preposition);
    let phrase = particles.collect::<Phrase>().with(preposition);
    for subject in subjects.iter().filter(|subject| subject.head == link.head) {
        if has_own_preposition && tree.relation(subject.word) == Relation::Conj {
            continue;
        }
        let predicate = match tree.lemma(link.head) {
            "be" if !preposition.is_empty() => Predicate::Preposition(phrase),
            _ => Predicate::Word(link.head, phrase, measure),
        };
        if let Some(acting) = actor(builder, subject) {
            builder.relation(acting, predicate, object);
        }
    }
}

/// Who acts: a noun or its pronoun; any word that a clause describes.
fn actor(builder: &Builder, subject: &Subject) -> Option<usize> {
    if subject.is_described { Some(builder.referent(subject.word)) } else { builder.thing(subject.word) }
}

fn is_agent(tree: &Tree, link: &Link) -> bool {
    tree.has(link.head, Relation::Auxpass) && link.preposition.words().map(|word| tree.text(word)).eq(["by"])
}

/// `a ball is thrown by a man`, `a ball being thrown by a man` → man – throw – ball, ball – throw – man.
fn agent(tree: &Tree, links: &[Link], subjects: &[Subject], link: &Link, builder: &mut Builder) {
    let Some(agent) = builder.thing(link.word) else { return };
    let phrase: Phrase = tree.by(link.head, Relation::CompoundPrt).collect();
    for passive in links.iter().filter(|other| other.head == link.head && other.relation == Relation::Nsubjpass) {
        if let Some(patient) = builder.thing(passive.word) {
            builder.relation(agent, Predicate::Word(link.head, phrase, None), patient);
        }
    }
    for subject in subjects.iter().filter(|subject| subject.head == link.head) {
        if let Some(subject) = actor(builder, subject) {
            builder.relation(subject, Predicate::Word(link.head, phrase, None), agent);
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

/// `a girl is in the background` → girl – in – background; `a girl is next to a dog` → girl – next to – dog.
///
/// What a pronoun says of its noun counts, too: `the man is a cook with a flag behind him` → man – behind – cook.
fn copula(tree: &Tree, subject: &Subject, builder: &mut Builder) {
    let Some(word) = builder.thing(subject.word) else { return };
    let is_copula = tree.has(subject.head, Relation::Cop);
    let by_pronoun = builder.pronouns(subject.head).filter(|_| is_copula);
    let by_pronoun = by_pronoun.filter_map(|pronoun| prepositions::first(tree, pronoun)).last();
    if let Some(preposition) = by_pronoun.or_else(|| prepositions::first(tree, subject.head)) {
        if is_copula || preposition.words().count() > 1 {
            let object = builder.referent(subject.head);
            let object = if object == word { subject.head } else { object };
            builder.relation(word, Predicate::Preposition(preposition), object);
            builder.relate(subject.head);
        }
    }
}
