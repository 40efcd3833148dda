//! The graph while it is built.

use super::tree::{Link, Phrase, Subject, Subjects, Tree, first_preposition};
use super::{Attribute, Object, Relation, SceneGraph, Status};
use crate::parse::Relation as Dependency;

pub(super) struct Builder<'a> {
    tree: &'a Tree<'a>,
    /// What each word stands for.
    referents: &'a [usize],
    is_object: Vec<bool>,
    /// Whether a relation was read off the word: a verb of which none was read is an attribute of its subject.
    relates: Vec<bool>,
    attributes: Vec<(usize, usize)>,
    relations: Vec<(usize, Predicate, usize)>,
}

/// The words that a relation consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Predicate {
    /// `his dog`: nothing says "have".
    Have,
    /// `on`, `in front of`.
    Preposition(Phrase),
    /// A verb or adjective with its particles and prepositions, or the name of its bare modifier.
    Word(usize, Phrase, Option<&'static str>),
    /// The name of a bare modifier, one without preposition: of time, of measure.
    Measure(&'static str),
}

impl<'a> Builder<'a> {
    /// Every noun is an object, unless it is part of another one.
    pub(super) fn new(tree: &'a Tree<'a>, links: &[Link], referents: &'a [usize]) -> Self {
        let mut is_object: Vec<bool> = (0..tree.len()).map(|word| tree.is_noun(word)).collect();
        for link in links.iter().filter(|link| link.relation == Dependency::Compound) {
            is_object[link.word] = false;
        }
        Self {
            tree,
            referents,
            is_object,
            relates: vec![false; tree.len()],
            attributes: Vec::new(),
            relations: Vec::new(),
        }
    }

    /// The object that a word names or stands for, if it is a noun or its pronoun.
    pub(super) fn thing(&self, word: usize) -> Option<usize> {
        let word = self.referents[word];
        self.tree.is_noun(word).then_some(word)
    }

    pub(super) fn attribute(&mut self, object: usize, word: usize) {
        self.is_object[object] = true;
        self.attributes.push((object, word));
    }

    pub(super) fn relation(&mut self, subject: usize, predicate: Predicate, object: usize) {
        self.is_object[subject] = true;
        self.is_object[object] = true;
        if let Predicate::Word(word, ..) = predicate {
            self.relates[word] = true;
        }
        self.relations.push((subject, predicate, object));
    }

    /// Adds what was read to the graph of a text, in which the sentence begins with the word `first`.
    pub(super) fn add_to(mut self, graph: &mut SceneGraph, first: usize) {
        let tree = self.tree;
        let mut numbers = vec![usize::MAX; tree.len()];
        for (word, number) in numbers.iter_mut().enumerate() {
            if self.is_object[word] {
                *number = graph.objects.len();
                let (name, words) = (tree.lemma(word).to_owned(), vec![first + word]);
                graph.objects.push(Object { name, words, status: Status::Stated });
            }
        }
        for (word, &referent) in self.referents.iter().enumerate() {
            if word != referent && self.is_object[referent] {
                graph.objects[numbers[referent]].words.push(first + word);
            }
        }
        self.attributes.sort_unstable();
        self.attributes.dedup();
        for (object, word) in self.attributes {
            let (name, words) = (tree.lemma(word).to_owned(), vec![first + word]);
            graph.attributes.push(Attribute { object: numbers[object], name, words, status: Status::Stated });
        }
        for (subject, predicate, object) in self.relations {
            let (predicate, words) = spell(tree, predicate);
            let words = words.into_iter().map(|word| first + word).collect();
            let (subject, object) = (numbers[subject], numbers[object]);
            graph.relations.push(Relation { subject, predicate, object, words, status: Status::Stated });
        }
    }
}

/// The predicate in words, and their numbers.
fn spell(tree: &Tree, predicate: Predicate) -> (String, Vec<usize>) {
    let (mut text, mut words) = (String::new(), Vec::new());
    let (phrase, measure) = match predicate {
        Predicate::Have => return ("have".to_owned(), words),
        Predicate::Measure(name) => return (name.to_owned(), words),
        Predicate::Preposition(phrase) => (phrase, None),
        Predicate::Word(word, phrase, measure) => {
            text.push_str(tree.lemma(word));
            words.push(word);
            (phrase, measure)
        }
    };
    for word in phrase.words() {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(tree.text(word));
        words.push(word);
    }
    if let Some(measure) = measure {
        text.push(' ');
        text.push_str(measure);
    }
    (text, words)
}

// Relations between two objects.

pub(super) fn read_relations(tree: &Tree, links: &[Link], subjects: &Subjects, builder: &mut Builder) {
    for link in links {
        match link.relation {
            Dependency::Dobj | Dependency::Iobj => action(tree, subjects, link, None, builder),
            Dependency::Nmod
                if tree.has(link.head, Dependency::Auxpass)
                    && link.preposition.words().map(|word| tree.text(word)).eq(["by"]) =>
            {
                agent(tree, subjects, link, builder);
            }
            Dependency::Nmod if link.preposition.is_empty() => {}
            Dependency::Nmod => modifier(tree, subjects, link, None, builder),
            Dependency::NmodTmod => modifier(tree, subjects, link, Some("tmod"), builder),
            Dependency::NmodNpmod => modifier(tree, subjects, link, Some("npmod"), builder),
            // `his dog`, `a man's dog` → man – have – dog.
            Dependency::NmodPoss => {
                if let (Some(owner), Some(thing)) = (builder.thing(link.word), builder.thing(link.head)) {
                    builder.relation(owner, Predicate::Have, thing);
                }
            }
            _ => {}
        }
    }
    for subject in &subjects.0 {
        copula(tree, subject, builder);
    }
}

/// Where, when, with what: `a man in a boat` → man – in – boat, or what a subject does there, see [`action`].
fn modifier(tree: &Tree, subjects: &Subjects, link: &Link, measure: Option<&'static str>, builder: &mut Builder) {
    if let Some(subject) = builder.thing(link.head) {
        let predicate = measure.map_or(Predicate::Preposition(link.preposition), Predicate::Measure);
        builder.relation(subject, predicate, builder.referents[link.word]);
    }
    action(tree, subjects, link, measure, builder);
}

/// `a man rides a horse` → man – ride – horse; `a dog runs along a beach` → dog – run along – beach.
fn action(tree: &Tree, subjects: &Subjects, link: &Link, measure: Option<&'static str>, builder: &mut Builder) {
    let Some(object) = builder.thing(link.word).filter(|_| !tree.has(link.head, Dependency::Cop)) else { return };
    // `they run away from rain and towards fire` has the verb twice: bare and with its first subject in the second half.
    let is_repeated = tree.relation(link.word) == Dependency::Conj && tree.has(link.word, Dependency::Case);
    let particles = tree.by(link.head, Dependency::CompoundPrt).filter(|_| !is_repeated);
    let phrase = particles.collect::<Phrase>().with(link.preposition);
    let predicate = match tree.lemma(link.head) {
        "be" if !link.preposition.is_empty() => Predicate::Preposition(phrase),
        _ => Predicate::Word(link.head, phrase, measure),
    };
    for subject in subjects.of(link.head) {
        if !(is_repeated && tree.relation(subject.word) == Dependency::Conj) {
            relate(subject, predicate, object, builder);
        }
    }
}

/// A subject must be a noun or stand for one; what a clause describes may be any word.
fn relate(subject: &Subject, predicate: Predicate, object: usize, builder: &mut Builder) {
    let word = if subject.is_described { Some(builder.referents[subject.word]) } else { builder.thing(subject.word) };
    if let Some(word) = word {
        builder.relation(word, predicate, object);
    }
}

/// `a ball is thrown by a man` → man – throw – ball; `a ball being thrown by a man` → ball – throw – man.
fn agent(tree: &Tree, subjects: &Subjects, link: &Link, builder: &mut Builder) {
    let Some(agent) = builder.thing(link.word) else { return };
    let predicate = Predicate::Word(link.head, tree.by(link.head, Dependency::CompoundPrt).collect(), None);
    for first in tree.by(link.head, Dependency::Nsubjpass) {
        for patient in std::iter::once(first).chain(tree.by(first, Dependency::Conj)) {
            if let Some(patient) = builder.thing(patient) {
                builder.relation(agent, predicate, patient);
            }
        }
    }
    for subject in subjects.of(link.head) {
        relate(subject, predicate, agent, builder);
    }
}

/// `a girl is in the background` → girl – in – background; `a girl is next to a dog` → girl – next to – dog.
///
/// What a pronoun says of its noun counts, too: `the man is a cook with a flag behind him` → man – behind – cook.
fn copula(tree: &Tree, subject: &Subject, builder: &mut Builder) {
    let Some(word) = builder.thing(subject.word) else { return };
    let is_copula = tree.has(subject.head, Dependency::Cop);
    let is_pronoun = |&word: &usize| is_copula && word != subject.head && builder.referents[word] == subject.head;
    let mut by_pronoun = (0..tree.len()).filter(is_pronoun).filter_map(|pronoun| first_preposition(tree, pronoun));
    let preposition = by_pronoun.next_back().or_else(|| first_preposition(tree, subject.head));
    if let Some(preposition) = preposition.filter(|preposition| is_copula || preposition.words().count() > 1) {
        let object = builder.referents[subject.head];
        let object = if object == word { subject.head } else { object };
        builder.relation(word, Predicate::Preposition(preposition), object);
        builder.relates[subject.head] = true;
    }
}

// Attributes of objects.

pub(super) fn read_attributes(tree: &Tree, links: &[Link], subjects: &Subjects, builder: &mut Builder) {
    for link in links {
        // `a brown dog`, `a police car`, `two dogs` → dog, brown; car, police; dog, two.
        let is_attribute = match link.relation {
            Dependency::Amod => true,
            Dependency::Compound => tree.is_noun(link.head) && tree.is_noun(link.word),
            Dependency::Nummod => counts(tree, link),
            _ => false,
        };
        if is_attribute {
            builder.attribute(builder.referents[link.head], builder.referents[link.word]);
        }
    }
    for count in &tree.counts {
        if tree.is_plural(count.counted) {
            builder.attribute(count.counted, count.amount);
        }
    }
    for subject in &subjects.0 {
        predicate(tree, subject, builder);
    }
}

/// Only the first number before a plural counts: not in `one dog`.
fn counts(tree: &Tree, link: &Link) -> bool {
    let is_first = tree.by(link.head, Dependency::Nummod).next().is_none_or(|first| first == link.word);
    tree.is_plural(link.head) && link.word < link.head && (is_first || tree.relation(link.word) == Dependency::Conj)
}

/// `a dog is brown` → dog, brown; `a dog sleeps` → dog, sleep; `a dog is a poodle` → dog, poodle.
fn predicate(tree: &Tree, subject: &Subject, builder: &mut Builder) {
    let head = subject.head;
    let word = builder.referents[subject.word];
    let is_passive = tree.has(head, Dependency::Nsubjpass) || tree.has(head, Dependency::Auxpass);
    if subject.is_described || is_passive || tree.lemma(head) == "be" {
        return;
    }
    if tree.is_adjective(head) || (!builder.relates[head] && !tree.has(head, Dependency::Case) && tree.is_noun(word)) {
        builder.attribute(word, head);
    }
}
