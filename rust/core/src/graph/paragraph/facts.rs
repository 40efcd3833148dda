//! What is said of the things of a text, and the graph of it.

use rustc_hash::FxHashMap;

use super::entity::{Entity, Quality};
use super::items::Predicate;
use super::lexicon::{Class, is, is_clothes, is_person};
use crate::graph::{Attribute, Object, Relation, SceneGraph, Status};

/// What sentences say, by the numbers of mentions.
#[derive(Default)]
pub(super) struct Facts {
    pub(super) attributes: Vec<(usize, Quality)>,
    relations: Vec<(usize, Predicate, usize)>,
}

impl Facts {
    /// Two things are related. How people mostly say it stands for other words for the same.
    pub(super) fn relate(&mut self, entities: &[Entity], subject: usize, predicate: &Predicate, object: usize) {
        let (one, other) = (&entities[subject], &entities[object]);
        if !one.is_thing() || !other.is_thing() || one.name == other.name {
            return;
        }
        let Some((name, is_turned)) = usual(one, &predicate.name, other) else { return };
        let (subject, object) = if is_turned { (object, subject) } else { (subject, object) };
        self.relations.push((subject, predicate.renamed(&name), object));
    }

    /// The graph. Mentions of the same name are one object, and so are facts about them.
    pub(super) fn graph(self, entities: &[Entity], statuses: &[Status]) -> SceneGraph {
        let mut graph = SceneGraph::default();
        let objects = objects(entities, &mut graph);
        let of_words = |words: &[usize]| words.iter().map(|&word| statuses[word]).max().unwrap_or_default();
        let own = |number: usize| entities[number].attributes.iter().map(move |quality| (number, quality));
        let given = self.attributes.iter().map(|(number, quality)| (*number, quality));
        for (number, Quality { name, words }) in (0..entities.len()).flat_map(own).chain(given) {
            let Some(object) = objects[number] else { continue };
            let status = of_words(words).max(entities[number].status);
            let same = graph.attributes.iter_mut().find(|one| one.object == object && one.name == *name);
            match same {
                Some(same) => merge(&mut same.words, words, &mut same.status, status),
                None => {
                    graph.attributes.push(Attribute { object, name: name.clone(), words: words.clone(), status });
                }
            }
        }
        graph.attributes.sort_by_key(|one| one.object);
        for (subject, Predicate { name, words }, object) in &self.relations {
            let status = of_words(words).max(entities[*subject].status).max(entities[*object].status);
            let (Some(subject), Some(object)) = (objects[*subject], objects[*object]) else { continue };
            let is_same = |one: &&mut Relation| (one.subject, one.object, &one.predicate) == (subject, object, name);
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
    let mut known: FxHashMap<(&str, bool), usize> = FxHashMap::default();
    let mut numbers = Vec::with_capacity(entities.len());
    for entity in entities {
        if entity.is_colour() || entity.is_part {
            numbers.push(None);
            continue;
        }
        let key = (&*entity.name, entity.status == Status::Denied);
        let same = known.get(&key).copied().filter(|_| !entity.is_other);
        let number = same.unwrap_or(graph.objects.len());
        if let Some(object) = graph.objects.get_mut(number) {
            merge(&mut object.words, &entity.words, &mut object.status, entity.status);
        } else {
            let (name, words, status) = (entity.name.clone(), entity.words.clone(), entity.status);
            graph.objects.push(Object { name, words, status });
        }
        known.insert(key, number);
        numbers.push(Some(number));
    }
    numbers
}

/// How people mostly say that two things are related, and whether they say it the other way round; None if it says
/// nothing of the picture.
fn usual(one: &Entity, predicate: &str, other: &Entity) -> Option<(String, bool)> {
    let (first, last) = (predicate.split(' ').next()?, predicate.rsplit(' ').next()?);
    let mut name = predicate;
    if other.lemma == "background" && (last == "in" || is(first, Class::Surround)) {
        name = "in";
    }
    if one.lemma == "background" {
        match name {
            "have" | "feature" | "fill with" => return Some(("in".to_owned(), true)),
            "in" | "on" => return None,
            _ => {}
        }
    }
    if other.lemma == "sky" && last == "in" && first != "fly" {
        name = "in";
    }
    if other.lemma == "hand" && last == "in" {
        return None;
    }
    let is_worn = is_clothes(&other.lemma) || is_clothes(&other.full);
    if is_worn && matches!(name, "in" | "have" | "sport" | "adorn") && is_person(&one.lemma) {
        return Some(("wear".to_owned(), false));
    }
    if name == "adorn" && is_clothes(&one.lemma) && is_person(&other.lemma) {
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
