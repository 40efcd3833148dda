//! A sentence as a row of items: mentions, verbs, prepositions and what joins them.

use super::entity::Entity;
use super::lexicon::{self, Class, is};
use super::sentence::{ADJECTIVES, Sentence, noun_phrases};
use crate::parse::Tag;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    /// A mention, by its number.
    Entity(usize),
    /// A personal pronoun, by its place.
    Pronoun(usize),
    Verb(Verb),
    Preposition(Predicate),
    /// `and`, `or`.
    And,
    /// An adjective that stands in no noun phrase, by its place.
    Adjective(usize),
    /// A comma or another mark.
    Break,
    /// `there` of `there is`.
    There,
    /// `which`, `who`, `that`.
    Relative,
    /// The `'s` behind an owner.
    Owner,
}

/// What relates two things: its words in base forms, and their numbers in the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Predicate {
    pub(super) name: String,
    pub(super) words: Vec<usize>,
}

impl Predicate {
    /// Both one after the other: `stand` and `on`.
    pub(super) fn with(&self, preposition: &Self) -> Self {
        let words = self.words.iter().chain(&preposition.words).copied().collect();
        Self { name: format!("{} {}", self.name, preposition.name), words }
    }

    /// The same words by another name.
    pub(super) fn renamed(&self, name: &str) -> Self {
        Self { name: name.to_owned(), words: self.words.clone() }
    }
}

/// A verb with its auxiliaries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Verb {
    pub(super) lemma: String,
    /// Place of its last word.
    word: usize,
    pub(super) form: Form,
    /// Whether a form of `be` is among its words.
    has_be: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `stands`, `is standing`.
    Finite,
    /// `is covered`.
    Passive,
    /// `standing`.
    Present,
    /// `covered`.
    Past,
}

impl Verb {
    /// Whether it says how something is in its place: `on the table stands a cup`.
    pub(super) fn places(&self) -> bool {
        let says_less = [Class::Place, Class::Be, Class::NoRelation, Class::Show];
        !says_less.iter().any(|&class| lexicon::is(&self.lemma, class))
    }

    pub(super) fn predicate(&self, sentence: &Sentence) -> Predicate {
        Predicate { name: self.lemma.clone(), words: vec![sentence.first + self.word] }
    }

    fn new(sentence: &Sentence, word: usize) -> Self {
        let lemma = sentence.lemma(word).to_owned();
        let is_past = lexicon::is(&lemma, Class::Surround) || lexicon::is(&lemma, Class::Clothe);
        let form = match sentence.tag(word) {
            Some(Tag::Vbd) if is_past => Form::Past,
            Some(Tag::Vbg) => Form::Present,
            Some(Tag::Vbn) => Form::Past,
            _ => Form::Finite,
        };
        Self { has_be: lemma == "be", lemma, word, form }
    }

    /// This verb as the auxiliary of the next one; None if it is none.
    fn with(&self, sentence: &Sentence, next: Self) -> Option<Self> {
        const AUXILIARIES: [&str; 7] = ["be", "have", "do", "can", "could", "seem", "appear"];
        let is_auxiliary =
            AUXILIARIES.contains(&&*self.lemma) || self.lemma == "get" || sentence.tag(self.word) == Some(Tag::Md);
        let is_passive = self.has_be && sentence.tag(next.word) == Some(Tag::Vbn);
        let form = if is_passive { Form::Passive } else { Form::Finite };
        is_auxiliary.then_some(Self { form, has_be: self.has_be || next.has_be, ..next })
    }
}

/// The items of a sentence. Its mentions are added to `entities`.
pub(super) fn of(sentence: &Sentence, entities: &mut Vec<Entity>) -> Vec<Item> {
    let phrases = noun_phrases(sentence);
    let mut phrases = phrases.iter().peekable();
    let mut items = Vec::new();
    let mut at = 0;
    while at < sentence.len() {
        if sentence.is_break(at) {
            items.push(Item::Break);
        }
        while phrases.next_if(|phrase| phrase.start < at).is_some() {}
        let word = |behind: usize| (at + behind < sentence.len()).then(|| sentence.text(at + behind));
        let longer = lexicon::preposition(word).filter(|(count, name)| *count > 1 || *name == "and");
        if let Some((count, "and")) = longer {
            items.pop_if(|last| *last == Item::Break);
            items.push(Item::And);
            at += count;
        } else if let Some((count, name)) = longer {
            items.push(Item::Preposition(preposition(sentence, at..at + count, name)));
            at += count;
        } else if let Some(phrase) = phrases.next_if(|phrase| phrase.start == at) {
            items.push(Item::Entity(entities.len()));
            entities.push(Entity::of(sentence, *phrase));
            at = phrase.noun + 1;
        } else {
            push(&mut items, sentence, at);
            at += 1;
        }
    }
    items
}

fn preposition(sentence: &Sentence, words: std::ops::Range<usize>, name: &str) -> Predicate {
    Predicate { name: name.to_owned(), words: words.map(|at| sentence.first + at).collect() }
}

/// Adds the item that a word is, if it is one.
fn push(items: &mut Vec<Item>, sentence: &Sentence, at: usize) {
    const PRONOUNS: [&str; 6] = ["it", "they", "he", "she", "them", "him"];
    let text = sentence.text(at);
    let is_pronoun = sentence.has_tag(at, &[Tag::Prp, Tag::PrpPossessive]);
    let listed = lexicon::preposition(|behind| (behind == 0).then_some(text));
    match sentence.tag(at) {
        _ if text == "there" && sentence.lemma(at + 1) == "be" => items.push(Item::There),
        Some(Tag::Pos) if matches!(text, "'s" | "'") => items.push(Item::Owner),
        _ if is_pronoun && PRONOUNS.contains(&text) => items.push(Item::Pronoun(at)),
        Some(Tag::Wdt | Tag::Wp | Tag::In) if matches!(text, "that" | "which" | "who") => items.push(Item::Relative),
        Some(Tag::Vb | Tag::Vbd | Tag::Vbg | Tag::Vbn | Tag::Vbp | Tag::Vbz | Tag::Md) => {
            let next = Verb::new(sentence, at);
            match items.pop() {
                Some(Item::Verb(verb)) => match verb.with(sentence, next.clone()) {
                    Some(both) => items.push(Item::Verb(both)),
                    None => items.extend([Item::Verb(verb), Item::Verb(next)]),
                },
                last => items.extend(last.into_iter().chain([Item::Verb(next)])),
            }
        }
        Some(Tag::In | Tag::To) => {
            let name = listed.map_or(text, |(_, name)| name);
            items.push(Item::Preposition(preposition(sentence, at..at + 1, name)));
        }
        _ if listed.is_some() => {
            let (_, name) = listed.expect("a preposition");
            items.push(Item::Preposition(preposition(sentence, at..at + 1, name)));
        }
        Some(Tag::Cc) => items.push(Item::And),
        _ if sentence.has_tag(at, &ADJECTIVES) => items.push(Item::Adjective(at)),
        _ => {}
    }
}

// How a verb or a preposition brings a mention into a sentence.

/// How something comes into a sentence. What is joined to it with `and` comes in alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Link {
    /// The other one relates to it.
    To(usize, Predicate),
    /// It relates to the other one.
    From(usize, Predicate),
    /// If it is a colour, the other one has it.
    Colours(usize),
}

/// How a verb with something behind it, as its object or behind a preposition, brings it in.
pub(super) fn links(subject: usize, verb: &Verb, predicate: &Predicate, preposition: Option<&Predicate>) -> Vec<Link> {
    let lemma = &*verb.lemma;
    let is_a = |class| is(lemma, class);
    let to = |name: &str| Link::To(subject, predicate.renamed(name));
    let is_past = matches!(verb.form, Form::Passive | Form::Past);
    let is_object = preposition.is_none();
    let by = preposition.map_or("", |preposition| &preposition.name);
    let with_preposition = || preposition.map_or_else(|| predicate.clone(), |preposition| predicate.with(preposition));
    if is_a(Class::Be) && !(lemma == "look" && by == "at") {
        return match preposition {
            None => vec![Link::Colours(subject)],
            Some(with) if by == "with" => vec![Link::To(subject, with.renamed("have"))],
            Some(_) if is(by, Class::VaguePreposition) => Vec::new(),
            Some(place) => vec![Link::To(subject, place.clone()), Link::Colours(subject)],
        };
    }
    if lemma == "paint" {
        return vec![Link::Colours(subject)];
    }
    if is_object && is_a(Class::Wear) {
        return vec![to("wear")];
    }
    if is_a(Class::Clothe) && matches!(by, "in" | "with") {
        return vec![to("wear"), Link::Colours(subject)];
    }
    if is_object && is_a(Class::Have) {
        return vec![to("have"), Link::Colours(subject)];
    }
    if is_past && matches!(by, "with" | "by" | "in") {
        return match by {
            _ if is_a(Class::Dot) => vec![Link::From(subject, predicate.renamed("in")), to("have")],
            _ if is_a(Class::Surround) => vec![Link::From(subject, predicate.clone()), Link::Colours(subject)],
            "by" if is_a(Class::Mark) => vec![to("have")],
            "by" => vec![Link::From(subject, predicate.clone())],
            "with" => vec![to("have"), Link::Colours(subject)],
            _ => vec![Link::To(subject, with_preposition()), Link::Colours(subject)],
        };
    }
    if is_a(Class::NoRelation) {
        return Vec::new();
    }
    if is_object {
        let has_object = matches!(verb.form, Form::Finite | Form::Present) && !is_a(Class::Still);
        return if has_object { vec![to(lemma)] } else { Vec::new() };
    }
    if by == "with" {
        let has = matches!(lemma, "stand" | "be").then(|| to("have"));
        return has.into_iter().chain([Link::Colours(subject)]).collect();
    }
    if is(by, Class::VaguePreposition) && !(by == "to" && is_a(Class::Attach)) {
        return Vec::new();
    }
    vec![Link::To(subject, with_preposition())]
}
