//! What one caption, or all references of an image together, say: distinct propositions.

use super::Counted;
use super::concept::{Concept, Lexicon, Rule, place};
use crate::graph::{Category, SceneGraph};

/// Scene graphs merged into one, in the order in which they come.
#[derive(Debug, Default)]
pub(super) struct Scene {
    objects: Vec<Concept>,
    /// Of each object.
    attributes: Vec<Vec<Concept>>,
    relations: Vec<Relations>,
}

/// The relations of an ordered pair of objects.
#[derive(Debug)]
struct Relations {
    subject: usize,
    object: usize,
    predicates: Vec<Concept>,
}

/// What a scene says: that an object is there, that it has an attribute, or that it is related to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proposition<'a> {
    Object(&'a Concept),
    Attribute(&'a Concept, &'a Concept),
    Relation(&'a Concept, &'a Concept, &'a Concept),
}

impl Scene {
    /// Adds what a caption says.
    pub(super) fn add(&mut self, graph: &SceneGraph, lexicon: &mut Lexicon<'_>) {
        let numbers: Vec<usize> = graph
            .objects
            .iter()
            .map(|object| {
                let name = lexicon.number(&object.name);
                place(&mut self.objects, name, lexicon)
            })
            .collect();
        self.attributes.resize_with(self.objects.len(), Vec::new);
        for attribute in &graph.attributes {
            let name = lexicon.number(&attribute.name);
            place(&mut self.attributes[numbers[attribute.object]], name, lexicon);
        }
        for relation in &graph.relations {
            let name = lexicon.number(&relation.predicate);
            place(self.predicates(numbers[relation.subject], numbers[relation.object]), name, lexicon);
        }
    }

    /// The relations of an ordered pair of objects.
    fn predicates(&mut self, subject: usize, object: usize) -> &mut Vec<Concept> {
        let same = |known: &Relations| (known.subject, known.object) == (subject, object);
        let at = self.relations.iter().position(same).unwrap_or_else(|| {
            self.relations.push(Relations { subject, object, predicates: Vec::new() });
            self.relations.len() - 1
        });
        &mut self.relations[at].predicates
    }

    /// Objects, then attributes object by object, then relations.
    pub(super) fn propositions(&self) -> impl Iterator<Item = Proposition<'_>> {
        let objects = self.objects.iter().map(Proposition::Object);
        let owners = self.objects.iter().zip(&self.attributes);
        let attributes = owners.flat_map(|(object, attributes)| {
            attributes.iter().map(move |attribute| Proposition::Attribute(object, attribute))
        });
        let relations = self.relations.iter().flat_map(|Relations { subject, object, predicates }| {
            let (subject, object) = (&self.objects[*subject], &self.objects[*object]);
            predicates.iter().map(move |predicate| Proposition::Relation(subject, predicate, object))
        });
        objects.chain(attributes).chain(relations)
    }
}

impl<'a> Proposition<'a> {
    /// Its parts in the order of a tuple: object; object and attribute; subject, predicate and object.
    pub(super) fn parts(self) -> impl Iterator<Item = &'a Concept> {
        let parts = match self {
            Self::Object(object) => [Some(object), None, None],
            Self::Attribute(object, attribute) => [Some(object), Some(attribute), None],
            Self::Relation(subject, predicate, object) => [Some(subject), Some(predicate), Some(object)],
        };
        parts.into_iter().flatten()
    }

    /// Whether the two say the same, part by part, and by which rule: by lemma where all parts have one in common.
    pub(super) fn matches(self, other: Proposition<'_>) -> Option<Rule> {
        match (self, other) {
            (Self::Object(a), Proposition::Object(b)) => a.matches(b),
            (Self::Attribute(a, x), Proposition::Attribute(b, y)) => Some(a.matches(b)?.max(x.matches(y)?)),
            (Self::Relation(a, x, c), Proposition::Relation(b, y, d)) => {
                Some(a.matches(b)?.max(x.matches(y)?).max(c.matches(d)?))
            }
            _ => None,
        }
    }

    /// Whether it counts.
    pub(super) fn is_counted(self, counted: Counted, lexicon: &Lexicon<'_>) -> bool {
        match (counted, self) {
            (Counted::All, _)
            | (Counted::Objects, Self::Object(_))
            | (Counted::Attributes, Self::Attribute(..))
            | (Counted::Relations, Self::Relation(..)) => true,
            (Counted::Of(category), Self::Attribute(_, attribute)) => match attribute.names() {
                [name] => Category::of(lexicon.name(*name)) == Some(category),
                // The original looks for `big/large` in its lists, which have no such word.
                _ => false,
            },
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Attribute, Object, Status};
    use crate::wordnet::tests::small;

    #[test]
    fn an_attribute_of_merged_names_is_in_no_category() {
        let synonyms = small();
        let mut lexicon = Lexicon::new(&synonyms);
        let (words, status) = (Vec::new(), Status::Stated);
        let object = |name: &str| Object { name: name.to_owned(), words: words.clone(), status };
        let attribute = |object, name: &str| Attribute { object, name: name.to_owned(), words: words.clone(), status };
        let graph = SceneGraph {
            objects: vec![object("dog"), object("cat")],
            attributes: vec![attribute(0, "big"), attribute(1, "big"), attribute(1, "large")],
            relations: Vec::new(),
        };
        let mut scene = Scene::default();
        scene.add(&graph, &mut lexicon);
        let counted = |counted| scene.propositions().filter(|said| said.is_counted(counted, &lexicon)).count();
        assert_eq!(counted(Counted::Attributes), 2);
        assert_eq!(counted(Counted::Of(Category::Size)), 1);
    }
}
