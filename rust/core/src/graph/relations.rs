//! Relations between two objects.

use super::builder::{Builder, Predicate};
use super::links::Link;
use super::phrase::Phrase;
use super::prepositions;
use super::subjects::{Subject, Subjects};
use super::tree::Tree;
use crate::parse::Relation;

pub(super) fn read(tree: &Tree, links: &[Link], subjects: &Subjects, builder: &mut Builder) {
    for link in links {
        match link.relation {
            Relation::Dobj | Relation::Iobj => action(tree, subjects, link, None, builder),
            Relation::Nmod if is_agent(tree, link) => agent(tree, subjects, link, builder),
            Relation::Nmod if link.preposition.is_empty() => {}
            Relation::Nmod => modifier(tree, subjects, link, None, builder),
            Relation::NmodTmod => modifier(tree, subjects, link, Some("tmod"), builder),
            Relation::NmodNpmod => modifier(tree, subjects, link, Some("npmod"), builder),
            Relation::NmodPoss => possession(link, builder),
            _ => {}
        }
    }
    for subject in subjects.all() {
        copula(tree, subject, builder);
    }
}

/// Where, when, with what: `a man in a boat` → man – in – boat, or what a subject does there, see [`action`].
fn modifier(tree: &Tree, subjects: &Subjects, link: &Link, measure: Option<&'static str>, builder: &mut Builder) {
    if let Some(subject) = builder.thing(link.head) {
        let predicate = measure.map_or(Predicate::Preposition(link.preposition), Predicate::Measure);
        builder.relation(subject, predicate, builder.referent(link.word));
    }
    action(tree, subjects, link, measure, builder);
}

/// `a man rides a horse` → man – ride – horse; `a dog runs along a beach` → dog – run along – beach.
fn action(tree: &Tree, subjects: &Subjects, link: &Link, measure: Option<&'static str>, builder: &mut Builder) {
    let Some(object) = builder.thing(link.word).filter(|_| !tree.has(link.head, Relation::Cop)) else { return };
    // `they run away from rain and towards fire` has the verb twice: bare and with its first subject in the second half.
    let is_repeated = tree.relation(link.word) == Relation::Conj && tree.has(link.word, Relation::Case);
    let particles = tree.by(link.head, Relation::CompoundPrt).filter(|_| !is_repeated);
    let phrase = particles.collect::<Phrase>().with(link.preposition);
    let predicate = match tree.lemma(link.head) {
        "be" if !link.preposition.is_empty() => Predicate::Preposition(phrase),
        _ => Predicate::Word(link.head, phrase, measure),
    };
    for subject in subjects.of(link.head) {
        if !(is_repeated && tree.relation(subject.word) == Relation::Conj) {
            relate(subject, predicate, object, builder);
        }
    }
}

/// A subject must be a noun or stand for one; what a clause describes may be any word.
fn relate(subject: &Subject, predicate: Predicate, object: usize, builder: &mut Builder) {
    let word = if subject.is_described { Some(builder.referent(subject.word)) } else { builder.thing(subject.word) };
    if let Some(word) = word {
        builder.relation(word, predicate, object);
    }
}

fn is_agent(tree: &Tree, link: &Link) -> bool {
    tree.has(link.head, Relation::Auxpass) && link.preposition.words().map(|word| tree.text(word)).eq(["by"])
}

/// `a ball is thrown by a man` → man – throw – ball; `a ball being thrown by a man` → ball – throw – man.
fn agent(tree: &Tree, subjects: &Subjects, link: &Link, builder: &mut Builder) {
    let Some(agent) = builder.thing(link.word) else { return };
    let predicate = Predicate::Word(link.head, tree.by(link.head, Relation::CompoundPrt).collect(), None);
    for first in tree.by(link.head, Relation::Nsubjpass) {
        for patient in std::iter::once(first).chain(tree.by(first, Relation::Conj)) {
            if let Some(patient) = builder.thing(patient) {
                builder.relation(agent, predicate, patient);
            }
        }
    }
    for subject in subjects.of(link.head) {
        relate(subject, predicate, agent, builder);
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
    let by_pronoun = by_pronoun.filter_map(|pronoun| prepositions::first(tree, pronoun)).next_back();
    let preposition = by_pronoun.or_else(|| prepositions::first(tree, subject.head));
    if let Some(preposition) = preposition.filter(|preposition| is_copula || preposition.words().count() > 1) {
        let object = builder.referent(subject.head);
        let object = if object == word { subject.head } else { object };
        builder.relation(word, Predicate::Preposition(preposition), object);
        builder.relate(subject.head);
    }
}
