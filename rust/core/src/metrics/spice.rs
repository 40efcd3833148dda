//! SPICE: compares the candidate's propositions with those of all references together.
//!
//! Anderson, Fernando, Johnson, Gould, *SPICE: Semantic Propositional Image Caption Evaluation* (ECCV 2016). F of the
//! candidate's propositions and those of the references, as the authors' program counts them:
//! * Names that share a synonym set of WordNet are one concept, merged in their order: see [`place`].
//! * A candidate's proposition is true if it matches *any* of the references'. Two may match the same one, so that recall,
//!   true propositions over those of the references, and F can exceed 1.
//! * A category has no score where the references say nothing of the kind.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::corpus::Corpus;
use crate::engine::{Built, Kernel, Parameters, Prepared, Resource, Resources, with_memory};
use crate::graph::paragraph::Text;
use crate::graph::{Category, SceneGraph, statuses};
use crate::named::named;
use crate::parse::{Memory, Parser};
use crate::text::vocabulary::Word;
use crate::wordnet::Synonyms;

/// The propositions that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// All.
    All,
    /// That an object is there.
    Objects,
    /// That an object has an attribute.
    Attributes,
    /// That an object is related to another.
    Relations,
    /// That an object has an attribute of that category.
    Of(Category),
}

/// SPICE of all propositions, or of those of one category.
#[derive(Debug, Clone, Copy)]
pub struct Spice {
    counted: Counted,
}

/// Builds SPICE: `category` is `all` or the name of one.
pub(crate) fn build(parameters: &mut Parameters) -> Built {
    let categories = [
        ("all", Counted::All),
        ("object", Counted::Objects),
        ("attribute", Counted::Attributes),
        ("relation", Counted::Relations),
        ("color", Counted::Of(Category::Color)),
        ("count", Counted::Of(Category::Cardinality)),
        ("size", Counted::Of(Category::Size)),
    ];
    Ok(Box::new(Spice { counted: parameters.choice("category", &categories)? }))
}

/// Columns of a row: the score and the 1 of a mean; the numbers of propositions behind it; of the candidate's words,
/// those that the parser knows, and all.
const WIDTH: usize = 7;

impl Kernel for Spice {
    fn width(&self) -> usize {
        WIDTH
    }

    fn prepare<'a>(&'a self, corpus: &'a Corpus, resources: &'a Resources) -> Prepared<'a> {
        let (graphs, synonyms) = (resources.need::<Graphs>()?, resources.need::<Synonyms>()?);
        // With the scene of an image's references, by the image's number: the next candidate is often of the same image.
        let memory = || (graphs.reader(), Lexicon::new(synonyms), None::<(usize, Scene)>);
        Ok(with_memory(memory, |(reader, lexicon, last), image, candidate, row| {
            let number = image.number;
            let references = match last {
                Some((image, scene)) if *image == number => scene,
                _ => {
                    let scene = reader.scene(&graphs.references(corpus, number), lexicon);
                    &mut last.insert((number, scene)).1
                }
            };
            let captions = [graphs.candidate(corpus, corpus.candidates.of_image(number).start + candidate)];
            let counts = Counts::of(&reader.scene(&captions, lexicon), references, self.counted, lexicon);
            // How many of the tokens the parser knows; none where captions were parsed elsewhere.
            let [Caption { tokens, .. }] = &captions;
            let (words_known, words) = match graphs {
                Graphs::Parsed { parser, .. } => {
                    (tokens.iter().filter(|token| parser.knows(token)).count(), tokens.len())
                }
                Graphs::Given(_) => (0, 0),
            };
            if let Some(score) = counts.f() {
                row[..2].copy_from_slice(&[score, 1.0]);
            }
            let numbers = [counts.matched, counts.candidate, counts.references, words_known, words];
            row[2..].copy_from_slice(&numbers.map(|number| number as f64));
        }))
    }

    /// The mean over the images whose references say something of the category; none if there is no such image.
    fn score(&self, sums: &[f64]) -> f64 {
        if sums[1] > 0.0 { sums[0] / sums[1] } else { f64::NAN }
    }
}

/// Numbers of propositions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Of the candidate's, those that match one of the references'.
    pub matched: usize,
    /// The candidate's.
    pub candidate: usize,
    /// The references'.
    pub references: usize,
    of_all: bool,
}

impl Counts {
    fn of(candidate: &Scene, references: &Scene, counted: Counted, lexicon: &Lexicon<'_>) -> Self {
        let is_counted = |proposition: &Proposition<'_>| proposition.is_counted(counted, lexicon);
        let expected: Vec<Proposition<'_>> = references.propositions().filter(is_counted).collect();
        let mut counts = Self { matched: 0, candidate: 0, references: expected.len(), of_all: counted == Counted::All };
        for proposition in candidate.propositions().filter(is_counted) {
            counts.candidate += 1;
            counts.matched += usize::from(expected.iter().any(|other| proposition.matches(*other).is_some()));
        }
        counts
    }

    /// Share of the candidate's propositions that match.
    pub fn precision(&self) -> f64 {
        share(self.matched, self.candidate)
    }

    /// Matches over the references' propositions; above 1 where several match the same one.
    pub fn recall(&self) -> f64 {
        share(self.matched, self.references)
    }

    /// The harmonic mean of the two; None for a category of which the references have nothing.
    pub fn f(&self) -> Option<f64> {
        if self.references == 0 && !self.of_all {
            return None;
        }
        let (precision, recall) = (self.precision(), self.recall());
        Some(if self.matched > 0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 })
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole > 0 { part as f64 / whole as f64 } else { 0.0 }
}

// Where scene graphs come from.

/// The ends of the sentences of captions that have several, by the caption's number: see [`Parser::parse_sentences`].
pub type Ends = FxHashMap<usize, Vec<usize>>;

/// A caption as its tokens, and the ends of its sentences.
pub struct Caption<'a> {
    /// The tokens.
    pub tokens: Vec<&'a str>,
    /// The places behind the last token of each sentence but the last.
    pub ends: &'a [usize],
}

/// Scene graphs of captions: by the parser here, or computed elsewhere.
pub enum Graphs {
    /// Parsed as they are asked for.
    Parsed {
        /// The parser.
        parser: Arc<Parser>,
        /// Of the corpus' candidates.
        candidates: Ends,
        /// Of the corpus' references.
        references: Ends,
    },
    /// A graph per caption, by its tokens joined by blanks.
    Given(FxHashMap<Box<str>, SceneGraph>),
}

impl Resource for Graphs {
    const NAME: &'static str = "scene graphs";
}

impl Graphs {
    /// A reader of them for one thread.
    pub fn reader(&self) -> Reader<'_> {
        let memory = match self {
            Self::Parsed { parser, .. } => Some(Box::new(parser.worker())),
            Self::Given(_) => None,
        };
        Reader { graphs: self, memory }
    }

    /// A candidate of a corpus, by the number of its sentence.
    fn candidate<'a>(&'a self, corpus: &'a Corpus, number: usize) -> Caption<'a> {
        let ends = if let Self::Parsed { candidates, .. } = self { candidates.get(&number) } else { None };
        caption(corpus, corpus.candidates.words(number), ends)
    }

    /// The references of an image of a corpus.
    fn references<'a>(&'a self, corpus: &'a Corpus, image: usize) -> Vec<Caption<'a>> {
        let reference_ends = if let Self::Parsed { references, .. } = self { Some(references) } else { None };
        let sentences = &corpus.references.sentences;
        let ends = |number: usize| reference_ends.and_then(|ends| ends.get(&number));
        sentences.of_image(image).map(|number| caption(corpus, sentences.words(number), ends(number))).collect()
    }
}

fn caption<'a>(corpus: &'a Corpus, words: &[Word], ends: Option<&'a Vec<usize>>) -> Caption<'a> {
    let tokens = words.iter().map(|&word| corpus.vocabulary.word(word)).collect();
    Caption { tokens, ends: ends.map_or(&[], Vec::as_slice) }
}

/// Scene graphs with the working memory of a thread.
pub struct Reader<'a> {
    graphs: &'a Graphs,
    memory: Option<Box<Memory>>,
}

impl Reader<'_> {
    /// The words that a caption's graph counts, and the graph, in which what the caption denies or hedges is `marked`; an
    /// unknown caption has an empty graph.
    pub fn words_and_graph(
        &mut self,
        Caption { tokens, ends }: &Caption<'_>,
        marked: bool,
    ) -> (Vec<String>, SceneGraph) {
        match (self.graphs, &mut self.memory) {
            (Graphs::Parsed { parser, .. }, Some(memory)) => {
                let words = parser.parse_sentences(memory, tokens, ends);
                let mut graph = SceneGraph::of_sentences(&words, ends);
                if marked {
                    graph.mark(&statuses(&words, &Text { ends: ends.to_vec(), ..Text::default() }));
                }
                (words.into_iter().map(|word| word.text).collect(), graph)
            }
            (Graphs::Given(graphs), _) => {
                let words = tokens.iter().map(|&token| token.to_owned()).collect();
                (words, graphs.get(&*tokens.join(" ")).cloned().unwrap_or_default())
            }
            _ => Default::default(),
        }
    }

    /// The scene of all captions of one side together.
    fn scene(&mut self, captions: &[Caption<'_>], lexicon: &mut Lexicon<'_>) -> Scene {
        let mut scene = Scene::default();
        for caption in captions {
            scene.add(&self.words_and_graph(caption, false).1, lexicon);
        }
        scene
    }
}

// What one caption, or all references of an image together, say: distinct propositions.

/// Scene graphs merged into one, in the order in which they come.
#[derive(Debug, Default)]
struct Scene {
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
enum Proposition<'a> {
    Object(&'a Concept),
    Attribute(&'a Concept, &'a Concept),
    Relation(&'a Concept, &'a Concept, &'a Concept),
}

impl Scene {
    /// Adds what a caption says.
    fn add(&mut self, graph: &SceneGraph, lexicon: &mut Lexicon<'_>) {
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
        let same = |relations: &Relations| (relations.subject, relations.object) == (subject, object);
        let at = self.relations.iter().position(same).unwrap_or_else(|| {
            self.relations.push(Relations { subject, object, predicates: Vec::new() });
            self.relations.len() - 1
        });
        &mut self.relations[at].predicates
    }

    /// Objects, then attributes object by object, then relations.
    fn propositions(&self) -> impl Iterator<Item = Proposition<'_>> {
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
    fn parts(self) -> impl Iterator<Item = &'a Concept> {
        let parts = match self {
            Self::Object(object) => [Some(object), None, None],
            Self::Attribute(object, attribute) => [Some(object), Some(attribute), None],
            Self::Relation(subject, predicate, object) => [Some(subject), Some(predicate), Some(object)],
        };
        parts.into_iter().flatten()
    }

    /// Whether the two say the same, part by part, and by which rule: by lemma where all parts have one in common.
    fn matches(self, other: Proposition<'_>) -> Option<Rule> {
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
    fn is_counted(self, counted: Counted, lexicon: &Lexicon<'_>) -> bool {
        match (counted, self) {
            (Counted::All, _)
            | (Counted::Objects, Self::Object(_))
            | (Counted::Attributes, Self::Attribute(..))
            | (Counted::Relations, Self::Relation(..)) => true,
            (Counted::Of(category), Self::Attribute(_, attribute)) => match attribute.names[..] {
                [name] => Category::of(lexicon.name(name)) == Some(category),
                // The original looks for `big/large` in its lists, which have no such word.
                _ => false,
            },
            _ => false,
        }
    }
}

// Names that mean one thing: `motorcycle` and `motorbike`.

impl Resource for Synonyms {
    const NAME: &'static str = "synonyms";
}

/// A number for a name.
type Name = u32;

/// The names met so far.
struct Lexicon<'a> {
    synonyms: &'a Synonyms,
    numbers: FxHashMap<Box<str>, Name>,
    names: Vec<Box<str>>,
    sets: Vec<Vec<u32>>,
}

impl<'a> Lexicon<'a> {
    fn new(synonyms: &'a Synonyms) -> Self {
        Self { synonyms, numbers: FxHashMap::default(), names: Vec::new(), sets: Vec::new() }
    }

    /// The number of the name. A name of several words is looked up as WordNet writes it: `climb_up`.
    fn number(&mut self, name: &str) -> Name {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.names.len() as Name;
        self.numbers.insert(name.into(), number);
        self.names.push(name.into());
        self.sets.push(if name.contains(' ') {
            self.synonyms.sets(&name.replace(' ', "_"))
        } else {
            self.synonyms.sets(name)
        });
        number
    }

    fn name(&self, number: Name) -> &str {
        &self.names[number as usize]
    }

    /// The synonym sets of the name, sorted.
    fn sets(&self, number: Name) -> &[u32] {
        &self.sets[number as usize]
    }
}

/// One name, or several that were merged since they share synonym sets.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Concept {
    /// Its names, the first that was met first.
    names: Vec<Name>,
    /// The synonym sets of all its names, sorted.
    sets: Vec<u32>,
}

named! {
    /// Why two names count as one.
    pub enum Rule {
        /// They have a base form in common.
        Lemma "lemma",
        /// They share a synonym set of WordNet.
        Synset "synset",
    }
}

impl Concept {
    /// Whether the two have a meaning in common, and by which rule.
    fn matches(&self, other: &Self) -> Option<Rule> {
        if self.names.iter().any(|name| other.names.contains(name)) {
            return Some(Rule::Lemma);
        }
        shares(&self.sets, &other.sets).then_some(Rule::Synset)
    }

    fn join(&mut self, name: Name, lexicon: &Lexicon<'_>) {
        self.names.push(name);
        self.sets.extend(lexicon.sets(name));
        self.sets.sort_unstable();
        self.sets.dedup();
    }
}

/// The number of the concept that the name belongs to, after it was added to it: the one that has the name; else the one
/// whose synonym sets are most like the name's, the earliest of equals; else a new one.
///
/// So names are merged as they come, and two concepts, once made, stay two, whatever comes later: as in the original.
fn place(concepts: &mut Vec<Concept>, name: Name, lexicon: &Lexicon<'_>) -> usize {
    if let Some(at) = concepts.iter().position(|concept| concept.names.contains(&name)) {
        return at;
    }
    let sets = lexicon.sets(name);
    let mut best = (0.0, concepts.len());
    for (at, concept) in concepts.iter().enumerate() {
        let alike = likeness(&concept.sets, sets);
        if alike > best.0 {
            best = (alike, at);
        }
    }
    if best.1 == concepts.len() {
        concepts.push(Concept::default());
    }
    concepts[best.1].join(name, lexicon);
    best.1
}

/// Jaccard's coefficient of two sorted lists; 0 where either is empty.
fn likeness(a: &[u32], b: &[u32]) -> f64 {
    let common = common(a, b).count();
    if common == 0 { 0.0 } else { common as f64 / (a.len() + b.len() - common) as f64 }
}

fn shares(a: &[u32], b: &[u32]) -> bool {
    common(a, b).next().is_some()
}

/// What two sorted lists have in common.
fn common<'a>(mut a: &'a [u32], mut b: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
    std::iter::from_fn(move || {
        while let (Some((&x, rest_a)), Some((&y, rest_b))) = (a.split_first(), b.split_first()) {
            if x <= y {
                a = rest_a;
            }
            if y <= x {
                b = rest_b;
            }
            if x == y {
                return Some(x);
            }
        }
        None
    })
}

// SPICE of one image, for inspection: both sides' propositions, and which of them match.

/// A proposition of one side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained {
    /// Its parts: object; object and attribute; subject, predicate and object. A part that was merged has several names,
    /// the first that was met first.
    pub parts: Vec<Vec<String>>,
    /// The number of the first proposition of the other side that it matches, one by lemma before one by synonyms, and
    /// the rule.
    pub matched: Option<(usize, Rule)>,
}

/// The explanation of an image's score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// What the candidate says.
    pub candidate: Vec<Explained>,
    /// What the references together say.
    pub references: Vec<Explained>,
    /// Numbers of all propositions.
    pub counts: Counts,
}

/// Explains the score of an image's first candidate.
pub fn explain(graphs: &Graphs, synonyms: &Synonyms, corpus: &Corpus, image: usize) -> Explanation {
    let (mut reader, mut lexicon) = (graphs.reader(), Lexicon::new(synonyms));
    let candidate = graphs.candidate(corpus, corpus.candidates.of_image(image).start);
    let candidate = reader.scene(&[candidate], &mut lexicon);
    let references = reader.scene(&graphs.references(corpus, image), &mut lexicon);
    Explanation {
        candidate: side(&candidate, &references, &lexicon),
        references: side(&references, &candidate, &lexicon),
        counts: Counts::of(&candidate, &references, Counted::All, &lexicon),
    }
}

fn side(scene: &Scene, other: &Scene, lexicon: &Lexicon<'_>) -> Vec<Explained> {
    let propositions: Vec<Proposition<'_>> = other.propositions().collect();
    let names = |concept: &Concept| concept.names.iter().map(|&name| lexicon.name(name).to_owned()).collect();
    let matched = |proposition: Proposition<'_>| {
        let matches =
            propositions.iter().enumerate().filter_map(|(at, other)| Some((at, proposition.matches(*other)?)));
        matches.min_by_key(|&(at, rule)| (rule, at))
    };
    scene
        .propositions()
        .map(|proposition| Explained { parts: proposition.parts().map(names).collect(), matched: matched(proposition) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_nothing_has_no_share() {
        let counts = |candidate, references| Counts { matched: 0, candidate, references, of_all: true };
        for (candidate, references) in [(0, 0), (0, 3), (3, 0)] {
            let counts = counts(candidate, references);
            assert_eq!((counts.precision(), counts.recall(), counts.f()), (0.0, 0.0, Some(0.0)));
        }
        assert_eq!(Counts { of_all: false, ..counts(3, 0) }.f(), None);
    }
}

#[cfg(test)]
mod scene_tests {
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

#[cfg(test)]
mod concept_tests {
    use super::*;
    use crate::wordnet::tests::small;

    #[test]
    fn of_equally_alike_concepts_the_earliest_gets_the_name() {
        let synonyms = small();
        let mut lexicon = Lexicon::new(&synonyms);
        let mut concepts = Vec::new();
        let places = ["jog", "flow", "red", "run", "red"].map(|word| {
            let name = lexicon.number(word);
            place(&mut concepts, name, &lexicon)
        });
        assert_eq!(places, [0, 1, 2, 0, 2]);
        assert_eq!(concepts.iter().map(|concept| concept.names.len()).collect::<Vec<_>>(), [2, 1, 1]);
    }
}
