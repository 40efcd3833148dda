//! The graph while it is built.

use super::links::Link;
use super::phrase::Phrase;
use super::tree::Tree;
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

    /// The word that a word stands for.
    pub(super) fn referent(&self, word: usize) -> usize {
        self.referents[word]
    }

    /// The pronouns that stand for a word.
    pub(super) fn pronouns(&self, noun: usize) -> impl DoubleEndedIterator<Item = usize> + '_ {
        let stands = move |&word: &usize| word != noun && self.referents[word] == noun;
        (0..self.referents.len()).filter(stands)
    }

    pub(super) fn relates(&self, word: usize) -> bool {
        self.relates[word]
    }

    /// Notes that a word is part of a relation.
    pub(super) fn relate(&mut self, word: usize) {
        self.relates[word] = true;
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

    pub(super) fn finish(mut self) -> SceneGraph {
        let tree = self.tree;
        let mut graph = SceneGraph::default();
        let mut numbers = vec![usize::MAX; tree.len()];
        for (word, number) in numbers.iter_mut().enumerate() {
            if self.is_object[word] {
                *number = graph.objects.len();
                graph.objects.push(Object {
                    name: tree.lemma(word).to_owned(),
                    words: vec![word],
                    status: Status::Stated,
                });
            }
        }
        for (word, &referent) in self.referents.iter().enumerate() {
            if word != referent && self.is_object[referent] {
                graph.objects[numbers[referent]].words.push(word);
            }
        }
        self.attributes.sort_unstable();
        self.attributes.dedup();
        for (object, word) in self.attributes {
            let name = tree.lemma(word).to_owned();
            graph.attributes.push(Attribute {
                object: numbers[object],
                name,
                words: vec![word],
                status: Status::Stated,
            });
        }
        for (subject, predicate, object) in self.relations {
            let (predicate, words) = spell(tree, predicate);
            graph.relations.push(Relation {
                subject: numbers[subject],
                predicate,
                object: numbers[object],
                words,
                status: Status::Stated,
            });
        }
        graph
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
