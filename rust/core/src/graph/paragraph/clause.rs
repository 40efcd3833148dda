//! Who does what with whom: reads the items of a sentence from left to right.

use std::iter;

use super::entity::{Entity, Kind, Quality};
use super::items::{Form, Item, Predicate, Verb};
use super::lexicon::{Class, is, is_clothes, is_person};
use super::sentence::Sentence;
use crate::graph::Status;
use crate::graph::paragraph::entity::Facts;
use crate::graph::paragraph::items::{Link, links};

/// The verb that a clause has reached.
#[derive(Debug, Clone)]
struct Reached {
    verb: Verb,
    /// Whether its subject is still to come: `there is a dog`, `on the table stands a cup`.
    is_inverted: bool,
}

/// Reads sentences of a text, one after the other.
pub(super) struct Clause<'a> {
    pub(super) sentence: &'a Sentence<'a>,
    pub(super) items: &'a [Item],
    pub(super) entities: &'a mut Vec<Entity>,
    pub(super) facts: &'a mut Facts,
    pub(super) referents: &'a mut Referents,
    pub(super) state: State,
}

/// What a clause has said so far.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is one thing that was read")]
pub(super) struct State {
    subject: Option<usize>,
    /// The first subject of the sentence, to which participles behind a comma belong.
    main: Option<usize>,
    last: Option<usize>,
    /// Those that are subjects together with another one, each with that one: `a man and a woman`.
    together: Vec<(usize, usize)>,
    /// What a verb before the subject says: `sitting on a bench, a man reads`.
    pending: Vec<(Verb, Option<Predicate>, usize)>,
    verb: Option<Reached>,
    preposition: Option<Predicate>,
    /// What stands before the subject with a preposition: `on the table, a cup stands`.
    front: Vec<(Predicate, usize)>,
    /// Whether the verb has its object, or a place.
    has_object: bool,
    /// Whether `and` was read, or a comma in a list.
    is_joined: bool,
    /// Whether that joins mentions.
    joins_mentions: bool,
}

impl Clause<'_> {
    pub(super) fn read(mut self) {
        for at in 0..self.items.len() {
            match &self.items[at] {
                Item::Entity(number) => self.mention(at, *number),
                Item::Pronoun(word) => self.pronoun(at, *word),
                Item::Verb(verb) => self.verb(at, verb),
                Item::Preposition(preposition) => self.state.preposition = Some(preposition.clone()),
                Item::Adjective(word) => self.adjective(at, *word),
                Item::And => self.and(at),
                Item::Break => self.mark(at),
                Item::Relative => {
                    self.state.subject = self.state.last;
                    (self.state.verb, self.state.preposition) = (None, None);
                }
                Item::There => (self.state.verb, self.state.subject) = (None, None),
                Item::Owner => {}
            }
        }
        if let Some(remembered) = self.state.main.and_then(|main| self.theme(main)) {
            self.referents.remember(remembered, &self.entities[remembered]);
        }
    }

    /// What a sentence is about: its subject, or the first thing that it names where the subject is the picture.
    fn theme(&self, main: usize) -> Option<usize> {
        let is_own = |number: &usize| self.items.contains(&Item::Entity(*number));
        if self.is_there(main) {
            return Some(main).filter(is_own);
        }
        (main..self.entities.len()).find(|number| self.is_there(*number) && is_own(number))
    }

    fn item(&self, at: usize) -> Option<&Item> {
        self.items.get(at)
    }

    fn before(&self, at: usize) -> Option<&Item> {
        self.items.get(at.checked_sub(1)?)
    }

    fn is_there(&self, number: usize) -> bool {
        self.entities[number].is_there()
    }

    fn follows_mention(&self, at: usize) -> bool {
        matches!(self.before(at), Some(Item::Entity(_) | Item::Pronoun(_)))
    }

    fn is_finite(item: Option<&Item>) -> bool {
        matches!(item, Some(Item::Verb(verb)) if matches!(verb.form, Form::Finite | Form::Passive))
    }

    fn pronoun(&mut self, at: usize, word: usize) {
        let Some(number) = self.referents.of(self.sentence.text(word)) else {
            self.state.preposition = None;
            return;
        };
        self.entities[number].words.push(self.sentence.first + word);
        self.enter(at, number);
    }

    fn mention(&mut self, at: usize, number: usize) {
        if self.entities[number].owner.is_some() || self.entities[number].possessive.is_some() {
            self.give_to_owner(at, number);
        }
        // What covers or lines something in one word with its name is a thing by itself: `a tree-lined street`.
        for (Quality { name: thing, words }, verb) in self.entities[number].take_covers() {
            let status = if self.sentence.is_summary() {
                Status::Aside
            } else {
                self.sentence.statuses[words[0] - self.sentence.first]
            };
            let name = if is(&verb, Class::Dot) { "in".to_owned() } else { verb };
            self.entities.push(Entity::named(thing, words.clone(), status));
            self.relate(self.entities.len() - 1, &Predicate { name, words }, number);
        }
        self.enter(at, number);
    }

    /// Something has an owner: what is a thing is the owner's, and what is none is said of the owner.
    fn give_to_owner(&mut self, at: usize, number: usize) {
        let Some(owner) = self.owner(at, number) else { return };
        self.relate(owner, &Predicate { name: "have".to_owned(), words: Vec::new() }, number);
        if !self.entities[number].is_thing() {
            let mut qualities = self.entities[number].qualities();
            qualities.retain(|quality| quality.is_colour() || self.entities[number].is_colour());
            self.give(owner, qualities);
        }
    }

    fn owner(&self, at: usize, number: usize) -> Option<usize> {
        if self.entities[number].owner.is_some() {
            return self.entities[number].owner;
        }
        let possessive = self.entities[number].possessive.as_deref()?;
        let follows_mark = matches!(self.before(at), Some(Item::Break));
        // What stands behind a mark is mostly of what stands before it: `a lamp on a table, its legs`.
        let is_near = |&last: &usize| {
            let last = &self.entities[last];
            let agrees = if possessive == "its" { !last.is_plural } else { last.is_plural || is_person(&last.lemma) };
            follows_mark && matches!(possessive, "its" | "their") && agrees && last.is_there()
        };
        if let Some(last) = self.state.last.filter(is_near) {
            return Some(last);
        }
        let referent = self.referents.of(possessive);
        match self.state.subject.filter(|_| self.state.verb.is_some()) {
            Some(subject) if matches!(possessive, "his" | "her") && !is_person(&self.entities[subject].lemma) => {
                referent
            }
            Some(subject) => Some(subject),
            None if follows_mark => self.state.main.or(referent),
            None => referent,
        }
    }

    /// A mention takes its part in the clause.
    fn enter(&mut self, at: usize, number: usize) {
        if let Some(preposition) = self.state.preposition.take() {
            let entity = &mut self.entities[number];
            // Behind `for` a plural by itself names whom something is for: `a shelter for visitors`.
            if preposition.name == "for" && preposition.words.len() == 1 && entity.is_plural && entity.is_bare {
                entity.status = entity.status.max(Status::Aside);
            }
            self.place(&preposition, number);
            (self.state.last, self.state.has_object) = (Some(number), true);
        } else if let Some(coloured) = self.coloured(at, number) {
            self.give(coloured, self.entities[number].qualities());
        } else if let Some(named) = self.apposed(at, number) {
            self.give(named, self.entities[number].qualities());
            self.state.last = Some(number);
        } else if let (true, true, Some(last)) = (self.state.is_joined, self.state.joins_mentions, self.state.last) {
            self.join(last, number);
            self.state.last = Some(number);
        } else {
            // A mention without preposition is the subject, or the object of the verb.
            match self.state.verb.clone() {
                Some(reached) if !reached.is_inverted => {
                    self.say(reached.verb, None, number);
                    self.state.has_object = true;
                }
                _ => self.set_subject(number),
            }
            self.state.last = Some(number);
        }
        self.state.is_joined = false;
    }

    /// What has a colour that stands right behind it, or behind a comma: `its leaves a lush green`.
    fn coloured(&self, at: usize, number: usize) -> Option<usize> {
        match self.before(at) {
            _ if !self.entities[number].is_colour() => None,
            Some(&Item::Entity(before)) => Some(before),
            Some(Item::Break) => self.state.subject.or(self.state.main),
            _ => None,
        }
    }

    /// What an aside behind a comma is another name for: `the gate, a tall structure,`.
    fn apposed(&self, at: usize, number: usize) -> Option<usize> {
        let [.., Item::Entity(named), Item::Break] = self.items[..at] else { return None };
        let entity = &self.entities[number];
        let is_name = entity.kind == Kind::Aside && entity.is_indefinite && !self.state.is_joined;
        (is_name && !Self::is_finite(self.item(at + 1))).then_some(named)
    }

    fn set_subject(&mut self, number: usize) {
        self.state.subject = Some(number);
        let verb = self.state.verb.take().map(|reached| reached.verb).filter(Verb::places);
        if self.state.main.is_some() {
            return;
        }
        self.state.main = Some(number);
        let front = std::mem::take(&mut self.state.front);
        let place = |(preposition, other): (Predicate, usize)| {
            if self.entities[other].lemma == "background" {
                return Some(Link::From(other, preposition));
            }
            let verb = verb.as_ref().map(|verb| verb.predicate(self.sentence));
            let places = is(&preposition.name, Class::FrontPreposition) || preposition.name.ends_with(" of");
            places.then(|| Link::From(other, verb.map_or(preposition.clone(), |verb| verb.with(&preposition))))
        };
        let links = front.into_iter().filter_map(place).collect();
        self.attach(links, number);
        for (verb, preposition, other) in std::mem::take(&mut self.state.pending) {
            self.complement(number, &verb, preposition.as_ref(), other);
        }
    }

    /// The subject that something is part of: the man of `a man and a woman`.
    fn leader(&self, number: usize) -> usize {
        self.state.together.iter().find(|(_, member)| *member == number).map_or(number, |(leader, _)| *leader)
    }

    /// Something is joined to the last mention: it comes in as that did, and shares its adjectives if it has none.
    fn join(&mut self, last: usize, number: usize) {
        let leader = self.leader(last);
        if self.state.subject == Some(leader) {
            self.state.together.push((leader, number));
        }
        let links = self.entities[last].links.clone();
        self.attach(links, number);
        if self.entities[number].is_bare && self.is_there(last) && self.is_there(number) {
            let shared = self.entities[last].attributes.clone();
            self.entities[number].attributes.extend(shared);
        }
    }

    /// A mention behind a preposition.
    fn place(&mut self, preposition: &Predicate, number: usize) {
        let name = &*preposition.name;
        let reached = self.state.verb.clone();
        match (self.state.last, reached) {
            _ if name == "of" => {}
            (_, None) if self.state.subject.is_none() => self.state.front.push((preposition.clone(), number)),
            (last, Some(reached)) if last.is_none() || !self.is_at_object(&reached.verb, name) => {
                self.say(reached.verb, Some(preposition.clone()), number);
            }
            (Some(last), _) if name == "with" => {
                self.attach(vec![Link::To(last, preposition.renamed("have")), Link::Colours(last)], number);
            }
            (Some(last), _) if !is(name, Class::VaguePreposition) => {
                let mut links = vec![Link::To(last, preposition.clone())];
                links.extend((name == "in").then_some(Link::Colours(last)));
                self.attach(links, number);
            }
            _ => {}
        }
    }

    /// Whether a preposition behind an object says more of the object: `has a dog on a leash`, `sees a dog with a ball`.
    fn is_at_object(&self, verb: &Verb, preposition: &str) -> bool {
        let classes = [Class::Be, Class::Have, Class::Wear, Class::NoRelation];
        self.state.has_object && (preposition == "with" || classes.iter().any(|&class| is(&verb.lemma, class)))
    }

    /// A verb says something of the subject, or of the one to come.
    fn say(&mut self, verb: Verb, preposition: Option<Predicate>, number: usize) {
        match self.state.subject {
            Some(subject) => self.complement(subject, &verb, preposition.as_ref(), number),
            None if verb.form == Form::Finite => {}
            None => self.state.pending.push((verb, preposition, number)),
        }
    }

    /// A verb has something as its object, or as the place that a preposition names.
    fn complement(&mut self, subject: usize, verb: &Verb, preposition: Option<&Predicate>, number: usize) {
        let predicate = verb.predicate(self.sentence);
        let members = self.state.together.iter().filter(|(leader, _)| *leader == subject).map(|(_, member)| *member);
        let links = iter::once(subject)
            .chain(members)
            .flat_map(|member| links(member, verb, &predicate, preposition))
            .collect();
        self.attach(links, number);
    }

    fn attach(&mut self, links: Vec<Link>, number: usize) {
        for link in &links {
            match link {
                Link::To(other, predicate) => self.relate(*other, predicate, number),
                Link::From(other, predicate) => self.relate(number, predicate, *other),
                Link::Colours(other) if self.entities[number].is_colour() => {
                    self.give(*other, self.entities[number].qualities());
                }
                Link::Colours(_) => {}
            }
        }
        self.entities[number].links = links;
    }

    fn give(&mut self, number: usize, qualities: Vec<Quality>) {
        if self.is_there(number) {
            self.facts.attributes.extend(qualities.into_iter().map(|quality| (number, quality)));
        }
    }

    fn relate(&mut self, subject: usize, predicate: &Predicate, object: usize) {
        self.facts.relate(self.entities, subject, predicate, object);
    }

    fn verb(&mut self, at: usize, verb: &Verb) {
        let before_is_mark = matches!(self.before(at), Some(Item::Break));
        let follows_mention = self.follows_mention(at);
        let follows_there = matches!(self.before(at), Some(Item::There));
        let last = self.state.last.map(|last| self.leader(last));
        let theme = self.state.main.and_then(|main| self.theme(main));
        let state = &mut self.state;
        if matches!(verb.form, Form::Present | Form::Past) {
            if (state.subject.is_some() || state.last.is_some()) && before_is_mark {
                state.subject = theme.or(state.last);
            } else if follows_mention && state.last.is_some() {
                state.subject = last;
            }
        } else if before_is_mark && (state.main.is_some() || verb.form == Form::Finite) {
            state.subject = state.main;
        }
        let is_late =
            state.subject.is_none() && (!state.front.is_empty() || !state.pending.is_empty() || follows_there);
        let is_inverted = verb.form == Form::Finite && is_late || is(&verb.lemma, Class::Be) && follows_there;
        state.verb = Some(Reached { verb: verb.clone(), is_inverted });
        state.has_object = false;
        state.preposition = None;
    }

    /// An adjective behind `is`, or behind a comma after the subject.
    fn adjective(&mut self, at: usize, word: usize) {
        let Some(subject) = self.state.subject else { return };
        if self.sentence.is(word, Class::NoAttribute) {
            return;
        }
        let before = self.before(at);
        let is_said = match &self.state.verb {
            Some(reached) => {
                let lemma = &*reached.verb.lemma;
                let is_copula = is(lemma, Class::Be) || matches!(lemma, "stand" | "lie" | "sit" | "paint");
                is_copula && matches!(before, Some(Item::Verb(_) | Item::And | Item::Adjective(_) | Item::Break))
            }
            None => matches!(before, Some(Item::Break)),
        };
        if is_said {
            let words = vec![self.sentence.first + word];
            self.give(subject, vec![Quality { name: self.sentence.text(word).to_owned(), words }]);
        }
    }

    fn and(&mut self, at: usize) {
        self.state.is_joined = true;
        // A comma before `and` ends a list: `a dog, a cat, and`.
        let ends_list = matches!(self.items[..at], [.., Item::Break, Item::Entity(_), Item::Break]);
        self.state.joins_mentions = self.follows_mention(at) || ends_list;
        let is_clause = matches!(self.item(at + 1), Some(Item::Entity(_))) && Self::is_finite(self.item(at + 2));
        if is_clause && self.state.verb.is_some() {
            self.state.is_joined = false;
            (self.state.subject, self.state.main) = (None, None);
            (self.state.verb, self.state.preposition) = (None, None);
        }
    }

    /// A comma: a list goes on, a new clause begins, or the subject comes at last.
    fn mark(&mut self, at: usize) {
        self.state.preposition = None;
        let Some(Item::Entity(next)) = self.item(at + 1) else { return };
        let behind = self.item(at + 2);
        let begins_clause = Self::is_finite(behind);
        let has_and = self.items[at + 1..].iter().take(5).any(|item| *item == Item::And);
        let is_list = has_and && matches!(self.before(at), Some(Item::Entity(_))) && !begins_clause;
        let goes_on =
            matches!(behind, Some(Item::Verb(_) | Item::Adjective(_) | Item::Preposition(_) | Item::Entity(_)));
        let is_owned = self.entities[*next].possessive.is_some() || self.entities[*next].owner.is_some();
        let state = &mut self.state;
        let waits = !state.front.is_empty() || !state.pending.is_empty() || state.verb.is_some();
        if state.subject.is_none() && waits {
            state.verb = state.verb.take().filter(|reached| matches!(reached.verb.form, Form::Finite | Form::Passive));
            state.is_joined = false;
        } else if is_list {
            (state.is_joined, state.joins_mentions) = (true, true);
        } else if goes_on {
            (state.verb, state.subject, state.is_joined) = (None, None, false);
            if !is_owned && begins_clause {
                state.main = None;
            }
        }
    }
}

/// What pronouns stand for: the last subjects of sentences.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Referents {
    single: Option<usize>,
    several: Option<usize>,
    person: Option<usize>,
}

impl Referents {
    /// Whom or what a pronoun stands for.
    pub(super) fn of(self, pronoun: &str) -> Option<usize> {
        match pronoun {
            "he" | "she" | "his" | "her" | "him" => self.person,
            "they" | "their" | "them" => self.several.or(self.person),
            _ => self.single,
        }
    }

    fn remember(&mut self, number: usize, entity: &Entity) {
        if is_person(&entity.lemma) {
            self.person = Some(number);
        }
        if !entity.is_plural {
            self.single = Some(number);
        } else if !is_clothes(&entity.lemma) {
            self.several = Some(number);
        }
    }
}
