//! What noun phrases name: things, colours, and what is said aside.

use rustc_hash::FxHashMap;

use super::items::{Item, Link, Predicate};
use super::lexicon::{Class, is, is_clothes, is_name, is_person, is_thing};
use super::sentence::{NounPhrase, Sentence};
use crate::graph::{Attribute, Object, Relation, SceneGraph, Status};
use crate::parse::Tag;

/// What a noun phrase names.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// What can be seen.
    #[default]
    Thing,
    /// A colour by itself: `shades of red`.
    Colour,
    /// What is said about the picture, a place in it or an impression.
    Aside,
}

/// Words that are said of something, and their numbers in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Quality {
    pub(super) name: String,
    pub(super) words: Vec<usize>,
}

/// A mention of something in a text.
#[derive(Debug, Default, Clone)]
#[allow(clippy::struct_excessive_bools, reason = "each is one property of a mention")]
pub(super) struct Entity {
    /// As it stands in the text: `tennis rackets`.
    pub(super) name: String,
    /// Base form of its noun: `racket`.
    pub(super) lemma: String,
    /// The name, with base forms.
    pub(super) full: String,
    pub(super) kind: Kind,
    pub(super) is_plural: bool,
    /// Whether the noun stands alone.
    pub(super) is_bare: bool,
    /// Whether `the` or the like begins it: it may be one that was named before.
    is_definite: bool,
    /// Whether `a` begins it.
    pub(super) is_indefinite: bool,
    /// Whether `another` begins it: it is none that was named before.
    is_other: bool,
    pub(super) attributes: Vec<Quality>,
    /// Colours that it names, if it is one.
    colours: Vec<Quality>,
    /// `his`.
    pub(super) possessive: Option<String>,
    /// The number of the one whose it is: `the man's`.
    pub(super) owner: Option<usize>,
    /// Whether it is but the quantity or the form of another: `a group of`.
    is_part: bool,
    /// Numbers in the text of the words of its name, and of pronouns for it.
    pub(super) words: Vec<usize>,
    pub(super) status: Status,
    /// How it was brought into its sentence: what is joined to it with `and` comes in alike.
    pub(super) links: Vec<Link>,
}

/// Numbers that are attributes, from 2 on.
const NUMBERS: [&str; 9] = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/// Words that begin the mention of what was named before.
const DEFINITE: [&str; 5] = ["the", "this", "that", "these", "those"];

/// Words that begin the mention of one more of a kind.
const OTHER: [&str; 5] = ["another", "other", "second", "third", "fourth"];

impl Entity {
    pub(super) fn of(sentence: &Sentence, phrase: NounPhrase) -> Self {
        let NounPhrase { start, noun } = phrase;
        let (first, mut name, mut full) = name(sentence, phrase);
        let mut lemma = sentence.lemma(noun).to_owned();
        // WordNet has `shades` and `colors` as nouns of their own.
        if let Some(singular) =
            lemma.strip_suffix('s').filter(|singular| is(singular, Class::Aside) || is(singular, Class::Part))
        {
            lemma.truncate(singular.len());
        }
        let modifiers = start..first;
        let possessive = modifiers.clone().find(|&at| sentence.is(at, Class::Possessive));
        let is_plural = sentence.has_tag(noun, &[Tag::Nns, Tag::Nnps]);
        let is_of = sentence.text(noun + 1) == "of";
        if matches!(&*lemma, "individual" | "figure") && possessive.is_none() && !is_of {
            for text in [&mut lemma, &mut name, &mut full] {
                if is_plural { "people" } else { "person" }.clone_into(text);
            }
        }
        let is_lamp = lemma == "light" && (is_plural || full.contains(' '));
        let is_thing = is_lamp || is_thing(&lemma) || full.contains(' ') && is_thing(&full);
        let mut entity = Self {
            kind: if is_thing { Kind::Thing } else { Kind::Aside },
            is_plural,
            is_bare: modifiers.is_empty(),
            is_definite: modifiers.clone().any(|at| DEFINITE.contains(&sentence.text(at))),
            is_indefinite: modifiers.clone().any(|at| matches!(sentence.text(at), "a" | "an")),
            is_other: modifiers.clone().any(|at| OTHER.contains(&sentence.text(at))),
            attributes: attributes(sentence, modifiers.clone()),
            possessive: possessive.map(|at| sentence.text(at).to_owned()),
            words: (first..=noun).map(|at| sentence.first + at).collect(),
            status: sentence.statuses[noun],
            name,
            lemma,
            full,
            ..Self::default()
        };
        entity.find_colours(sentence.first + noun);
        // What those who look at the picture have: `our attention`, `the eye`.
        let is_ours = modifiers.clone().any(|at| matches!(sentence.text(at), "our" | "your" | "my"));
        if is_ours || entity.lemma == "eye" && !is_plural && entity.possessive.is_none() {
            entity.kind = Kind::Aside;
        }
        if sentence.is_summary() || entity.kind == Kind::Aside {
            entity.status = entity.status.max(Status::Aside);
        }
        entity
    }

    /// `red` and `vivid red hues` are colours, not things: they are for what has them.
    fn find_colours(&mut self, noun: usize) {
        if is(&self.lemma, Class::ColourNoun) && self.attributes.iter().any(Quality::is_colour) {
            self.colours = self.attributes.extract_if(.., |quality| quality.is_colour()).collect();
            self.kind = Kind::Colour;
        } else if is(&self.lemma, Class::Colour) && !self.is_plural {
            let mut colour = Quality { name: self.lemma.clone(), words: vec![noun] };
            if let Some(tint) = self.attributes.pop_if(|last| is(&last.name, Class::Tint)) {
                colour.name = format!("{} {}", tint.name, colour.name);
                colour.words.insert(0, tint.words[0]);
            }
            self.attributes.retain(|quality| !is(&quality.name, Class::Tint));
            self.colours = self.attributes.extract_if(.., |quality| quality.is_colour()).collect();
            self.colours.insert(0, colour);
            self.kind = Kind::Colour;
        }
    }

    /// A thing of that name, of which nothing else is said.
    pub(super) fn named(name: String, words: Vec<usize>, status: Status) -> Self {
        let (lemma, full) = (name.clone(), name.clone());
        Self { name, lemma, full, is_bare: true, words, status, ..Self::default() }
    }

    /// The things that its attributes name together with how they cover it, each with the verb: `snow-covered`.
    pub(super) fn take_covers(&mut self) -> Vec<(Quality, String)> {
        let cover = |quality: &Quality| {
            let (thing, participle) = quality.name.split_once('-')?;
            let verb = covering(participle).filter(|_| is_thing(thing))?;
            Some((Quality { name: thing.to_owned(), words: quality.words.clone() }, verb.to_owned()))
        };
        let covers = self.attributes.iter().filter_map(cover).collect();
        self.attributes.retain(|quality| cover(quality).is_none());
        covers
    }

    pub(super) fn is_thing(&self) -> bool {
        self.kind == Kind::Thing
    }

    pub(super) fn is_colour(&self) -> bool {
        self.kind == Kind::Colour
    }

    /// Whether it is a thing that the text does not deny.
    pub(super) fn is_there(&self) -> bool {
        self.is_thing() && self.status != Status::Denied
    }

    /// What it says of another thing, if it is none itself: `his vivid red colours`.
    pub(super) fn qualities(&self) -> Vec<Quality> {
        [&self.attributes[..], &self.colours].concat()
    }
}

impl Quality {
    /// Whether it is a colour, or a shade of one.
    pub(super) fn is_colour(&self) -> bool {
        self.name.rsplit(' ').next().is_some_and(|last| is(last, Class::Colour))
    }
}

/// The verb of a participle, if it is one of covering, lining and the like: `line` of `lined`, `dot` of `dotted`.
fn covering(participle: &str) -> Option<&str> {
    let stem = participle.strip_suffix("ed")?;
    let undoubled = stem.get(..stem.len().saturating_sub(1)).unwrap_or(stem);
    [stem, &participle[..=stem.len()], undoubled].into_iter().find(|form| is(form, Class::Surround))
}

/// Whether two nouns name a thing together, also where WordNet does not know them: `a train car`.
fn is_compound(first: &str, noun: &str) -> bool {
    let is_said_of = is(first, Class::Material) || is(first, Class::Colour);
    is(noun, Class::Compound) && !is_said_of && is_thing(first)
}

/// Where the name of a phrase begins, and the name as it stands and with base forms. Nouns before a noun are part of
/// the name if WordNet knows them together.
fn name(sentence: &Sentence, NounPhrase { start, noun }: NounPhrase) -> (usize, String, String) {
    let (mut first, mut name, mut full) = (noun, sentence.text(noun).to_owned(), sentence.lemma(noun).to_owned());
    while first > start && sentence.has_tag(first - 1, &[Tag::Nn, Tag::Nns, Tag::Nnp, Tag::Vbg]) {
        let longer = format!("{} {full}", sentence.lemma(first - 1));
        if !is_compound(sentence.lemma(first - 1), &full) && !is_name(&longer) {
            break;
        }
        first -= 1;
        name = format!("{} {name}", sentence.text(first));
        full = longer;
    }
    (first, name, full)
}

/// What the words before a noun say of it.
fn attributes(sentence: &Sentence, modifiers: std::ops::Range<usize>) -> Vec<Quality> {
    let mut qualities = Vec::new();
    let mut places = modifiers.clone();
    while let Some(at) = places.next() {
        let text = sentence.text(at);
        let quality = |name: &str, words| Quality { name: name.to_owned(), words };
        // What tells limbs apart: `his left hand`.
        let is_side = matches!(text, "left" | "right") && is(sentence.lemma(modifiers.end), Class::Limb);
        if is(text, Class::Tint) && modifiers.contains(&(at + 1)) && sentence.is(at + 1, Class::Colour) {
            places.next();
            let name = format!("{text} {}", sentence.text(at + 1));
            qualities.push(quality(&name, vec![sentence.first + at, sentence.first + at + 1]));
        } else if let Some(number) = NUMBERS.iter().position(|&word| word == text) {
            qualities.push(quality(&(number + 2).to_string(), vec![sentence.first + at]));
        } else if sentence.has_tag(at, &[Tag::Jj, Tag::Nn, Tag::Nnp, Tag::Nns, Tag::Vbn, Tag::Vbg])
            && (!is(text, Class::NoAttribute) || is_side)
        {
            qualities.push(quality(text, vec![sentence.first + at]));
        }
    }
    qualities
}

// Mentions that are parts of others: `a group of people` is people, `shades of red` colours, `the man's` an owner.

/// A name of two words that is later said by its noun alone is that noun, and the first word is said of it: `a cruise
/// ship … the ship`.
pub(super) fn shorten(entities: &mut [Entity]) {
    for at in 0..entities.len() {
        let again = &entities[at];
        if !again.is_definite || !again.is_thing() || again.name.contains(' ') {
            continue;
        }
        let short = again.name.clone();
        if entities[..at].iter().any(|entity| entity.name == short) {
            continue;
        }
        for longer in &mut entities[..at] {
            if let Some(first) = longer.name.strip_suffix(&*short).and_then(|first| first.strip_suffix(' ')) {
                let words = longer.words.drain(..1).collect();
                longer.attributes.push(Quality { name: first.to_owned(), words });
                longer.name.clone_from(&short);
            }
        }
    }
}

/// The items in which each mention that stands is one by itself.
pub(super) fn fold(items: Vec<Item>, entities: &mut [Entity]) -> Vec<Item> {
    let mut folded: Vec<Item> = Vec::with_capacity(items.len());
    // A colour was just given to this mention: one behind `and` is for it too.
    let mut coloured = None;
    for item in items {
        let Item::Entity(this) = item else {
            folded.push(item);
            continue;
        };
        if let [.., Item::Entity(owner), Item::Owner] = folded[..] {
            entities[this].owner = Some(owner);
            if is(&entities[owner].lemma, Class::Viewer) {
                (entities[this].kind, entities[this].status) = (Kind::Aside, Status::Aside);
            }
            folded.truncate(folded.len() - 2);
        }
        match folded[..] {
            [.., Item::Entity(before), Item::Preposition(ref of)] if of.name == "of" => {
                if let Some(stays) = of_another(entities, before, this) {
                    folded.truncate(folded.len() - 2);
                    folded.push(Item::Entity(stays));
                    coloured = (stays == before).then_some(before);
                    continue;
                }
            }
            [.., Item::Entity(before), Item::Break] | [.., Item::Entity(before), Item::Break, Item::And]
                if entities[this].is_colour() && entities[before].is_colour() =>
            {
                let colours = entities[this].colours.clone();
                entities[before].colours.extend(colours);
                while folded.last() != Some(&Item::Entity(before)) {
                    folded.pop();
                }
                continue;
            }
            [.., Item::Entity(before), Item::And] if entities[this].is_colour() => {
                let colours = entities[this].colours.clone();
                if entities[before].is_colour() {
                    entities[before].colours.extend(colours);
                } else if coloured == Some(before) {
                    entities[before].attributes.extend(colours);
                } else {
                    folded.push(item);
                    continue;
                }
                folded.pop();
                continue;
            }
            _ => {}
        }
        folded.push(item);
    }
    folded
}

/// Of two mentions with `of` between them the one that stays, if the other is part of it.
fn of_another(entities: &mut [Entity], before: usize, this: usize) -> Option<usize> {
    let part = entities[before].clone();
    entities[before].is_part = is(&part.lemma, Class::Part);
    let whole = &mut entities[this];
    if is(&part.lemma, Class::Part) || is(&part.lemma, Class::Aside) {
        if part.status == Status::Denied {
            whole.status = Status::Denied;
        }
        let is_colours = is(&part.lemma, Class::ColourNoun);
        if is_colours && whole.is_colour() || whole.is_there() && is(&part.lemma, Class::Part) && !is_colours {
            whole.attributes.splice(0..0, part.attributes);
        }
        if is_colours {
            whole.attributes.extend(part.colours);
        }
        if whole.is_there() && is(&part.lemma, Class::KeptPart) {
            let name = if part.lemma == "group" { "group of".to_owned() } else { part.lemma };
            whole.attributes.push(Quality { name, words: part.words });
        }
        if whole.owner.is_none() && whole.possessive.is_none() {
            (whole.possessive, whole.owner) = (part.possessive, part.owner);
        }
        return Some(this);
    }
    if part.is_colour() && whole.is_there() {
        whole.attributes.extend(part.colours);
        return Some(this);
    }
    if entities[this].is_colour() && part.is_there() {
        let colours = entities[this].colours.clone();
        entities[before].attributes.extend(colours);
        return Some(before);
    }
    None
}

// What is said of the things of a text, and the graph of it.

/// What sentences say, by the numbers of mentions.
#[derive(Default)]
pub(super) struct Facts {
    pub(super) attributes: Vec<(usize, Quality)>,
    relations: Vec<(usize, Predicate, usize)>,
}

impl Facts {
    /// Two things are related. How people mostly say it stands for other words for the same.
    pub(super) fn relate(&mut self, entities: &[Entity], subject: usize, predicate: &Predicate, object: usize) {
        let (first, second) = (&entities[subject], &entities[object]);
        if !first.is_thing() || !second.is_thing() || first.name == second.name {
            return;
        }
        let Some((name, is_turned)) = usual(first, &predicate.name, second) else { return };
        let (subject, object) = if is_turned { (object, subject) } else { (subject, object) };
        self.relations.push((subject, predicate.renamed(&name), object));
    }

    /// The graph. Mentions of the same name are one object, and so are facts about them.
    pub(super) fn graph(self, entities: &[Entity], statuses: &[Status]) -> SceneGraph {
        let mut graph = SceneGraph::default();
        let objects = objects(entities, &mut graph);
        let of_words = |words: &[usize]| words.iter().map(|&word| statuses[word]).max().unwrap_or_default();
        let attributes_of = |number: usize| entities[number].attributes.iter().map(move |quality| (number, quality));
        let later = self.attributes.iter().map(|(number, quality)| (*number, quality));
        for (number, Quality { name, words }) in (0..entities.len()).flat_map(attributes_of).chain(later) {
            let Some(object) = objects[number] else { continue };
            let status = of_words(words).max(entities[number].status);
            let same =
                graph.attributes.iter_mut().find(|attribute| attribute.object == object && attribute.name == *name);
            match same {
                Some(same) => merge(&mut same.words, words, &mut same.status, status),
                None => {
                    graph.attributes.push(Attribute { object, name: name.clone(), words: words.clone(), status });
                }
            }
        }
        graph.attributes.sort_by_key(|attribute| attribute.object);
        for (subject, Predicate { name, words }, object) in &self.relations {
            let status = of_words(words).max(entities[*subject].status).max(entities[*object].status);
            let (Some(subject), Some(object)) = (objects[*subject], objects[*object]) else { continue };
            let is_same =
                |same: &&mut Relation| (same.subject, same.object, &same.predicate) == (subject, object, name);
            if let Some(same) = graph.relations.iter_mut().find(is_same) {
                merge(&mut same.words, words, &mut same.status, status);
            } else {
                let (predicate, words) = (name.clone(), words.clone());
                graph.relations.push(Relation { subject, predicate, object, words, status });
            }
        }
        graph
    }
}

/// Adds another mention of the same: it is as sure as the surest of them.
fn merge(words: &mut Vec<usize>, more: &[usize], status: &mut Status, other: Status) {
    words.extend(more);
    words.sort_unstable();
    words.dedup();
    *status = other.min(*status);
}

/// Adds the objects to the graph; the number of each mention's object, if it has one.
fn objects(entities: &[Entity], graph: &mut SceneGraph) -> Vec<Option<usize>> {
    let mut numbers_by_name: FxHashMap<(&str, bool), usize> = FxHashMap::default();
    let mut numbers = Vec::with_capacity(entities.len());
    for entity in entities {
        if entity.is_colour() || entity.is_part {
            numbers.push(None);
            continue;
        }
        let key = (&*entity.name, entity.status == Status::Denied);
        let same = numbers_by_name.get(&key).copied().filter(|_| !entity.is_other);
        let number = same.unwrap_or(graph.objects.len());
        if let Some(object) = graph.objects.get_mut(number) {
            merge(&mut object.words, &entity.words, &mut object.status, entity.status);
        } else {
            let (name, words, status) = (entity.name.clone(), entity.words.clone(), entity.status);
            graph.objects.push(Object { name, words, status });
        }
        numbers_by_name.insert(key, number);
        numbers.push(Some(number));
    }
    numbers
}

/// How people mostly say that two things are related, and whether they say it the other way round; None if it says
/// nothing of the picture.
fn usual(subject: &Entity, predicate: &str, object: &Entity) -> Option<(String, bool)> {
    let (first, last) = (predicate.split(' ').next()?, predicate.rsplit(' ').next()?);
    let mut name = predicate;
    if object.lemma == "background" && (last == "in" || is(first, Class::Surround)) {
        name = "in";
    }
    if subject.lemma == "background" {
        match name {
            "have" | "feature" | "fill with" => return Some(("in".to_owned(), true)),
            "in" | "on" => return None,
            _ => {}
        }
    }
    if object.lemma == "sky" && last == "in" && first != "fly" {
        name = "in";
    }
    if object.lemma == "hand" && last == "in" {
        return None;
    }
    let is_worn = is_clothes(&object.lemma) || is_clothes(&object.full);
    if is_worn && matches!(name, "in" | "have" | "sport" | "adorn") && is_person(&subject.lemma) {
        return Some(("wear".to_owned(), false));
    }
    if name == "adorn" && is_clothes(&subject.lemma) && is_person(&object.lemma) {
        return Some(("wear".to_owned(), true));
    }
    let (verb, preposition) = name.split_once(' ').unwrap_or((name, ""));
    if is(verb, Class::Place) && !preposition.is_empty() {
        name = preposition;
    }
    if is(verb, Class::Hold) {
        name = "hold";
    }
    (!is(verb, Class::NeverRelation)).then(|| (name.to_owned(), false))
}
