//! How a verb or a preposition brings a mention into a sentence.

use super::items::{Form, Predicate, Verb};
use super::lexicon::{Class, is};

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
pub(super) fn links(subject: usize, verb: &Verb, said: &Predicate, preposition: Option<&Predicate>) -> Vec<Link> {
    let lemma = &*verb.lemma;
    let is_a = |class| is(lemma, class);
    let to = |name: &str| Link::To(subject, said.renamed(name));
    let is_past = matches!(verb.form, Form::Passive | Form::Past);
    let is_object = preposition.is_none();
    let by = preposition.map_or("", |preposition| &preposition.name);
    let with_preposition = || preposition.map_or_else(|| said.clone(), |preposition| said.with(preposition));
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
            _ if is_a(Class::Dot) => vec![Link::From(subject, said.renamed("in")), to("have")],
            _ if is_a(Class::Surround) => vec![Link::From(subject, said.clone()), Link::Colours(subject)],
            "by" if is_a(Class::Mark) => vec![to("have")],
            "by" => vec![Link::From(subject, said.clone())],
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
