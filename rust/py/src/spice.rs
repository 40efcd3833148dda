//! Scene graphs, and SPICE explained.

use std::collections::HashMap;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use sacrecap_core::corpus::threads_for_sentences;
use sacrecap_core::graph::{Attribute, Object, Relation, SceneGraph, Status, paragraph};
use sacrecap_core::metrics::{spice, statements};
use sacrecap_core::numeric::parallel::map_each;

use crate::convert::{UsageError, check_index, detach};
use crate::corpus::{Corpus, References};
use crate::resources::{Parser, Synonyms};

/// The source of captions' scene graphs: a resource of SPICE.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct SceneGraphs(pub(crate) Arc<spice::Graphs>);

/// Objects: name and words. Attributes: object, name and words. Relations: subject, predicate, object and words.
type Graph = (Vec<(String, Vec<usize>)>, Vec<(usize, String, Vec<usize>)>, Vec<(usize, String, usize, Vec<usize>)>);

/// The same, each with the name of its status.
type StatusGraph = (
    Vec<(String, Vec<usize>, &'static str)>,
    Vec<(usize, String, Vec<usize>, &'static str)>,
    Vec<(usize, String, usize, Vec<usize>, &'static str)>,
);

/// The tokens of a text, its graph, and the names of the tokens' statuses.
type ReadText = (Vec<String>, StatusGraph, Vec<&'static str>);

/// A proposition: its parts, each with its names; the number of the one that it matches, and the rule.
type Proposition = (Vec<Vec<String>>, Option<(usize, &'static str)>);

/// The propositions of a candidate and of its references; the numbers of those that match, of the candidate's, and of
/// the references'.
type Comparison = (Vec<Proposition>, Vec<Proposition>, (usize, usize, usize));

#[pymethods]
impl SceneGraphs {
    /// Graphs that the parser makes, with the ends of the sentences of a corpus' candidates and references, by the
    /// number of the caption among all.
    #[staticmethod]
    fn parsed(parser: &Parser, candidates: HashMap<usize, Vec<usize>>, references: HashMap<usize, Vec<usize>>) -> Self {
        let parser = parser.0.clone();
        let (candidates, references) = (candidates.into_iter().collect(), references.into_iter().collect());
        Self(Arc::new(spice::Graphs::Parsed { parser, candidates, references }))
    }

    /// Graphs that were made elsewhere, by caption (tokens joined by blanks); every other caption has an empty one.
    #[staticmethod]
    #[pyo3(name = "given")]
    fn of_graphs(graphs: Vec<(String, Graph)>) -> PyResult<Self> {
        let checked = graphs.into_iter().map(|(caption, graph)| Ok((caption.into(), of_python(graph)?)));
        Ok(Self(Arc::new(spice::Graphs::Given(checked.collect::<PyResult<_>>()?))))
    }

    /// The graph of each caption, with the words that it counts by: captions as tokens with the ends of their sentences.
    #[pyo3(signature = (captions, threads=0))]
    fn graphs(
        &self,
        py: Python<'_>,
        captions: Vec<(Vec<String>, Vec<usize>)>,
        threads: usize,
    ) -> PyResult<Vec<(Vec<String>, StatusGraph)>> {
        detach(py, || {
            let threads = threads_for_sentences(threads, captions.len());
            map_each(
                captions.len(),
                threads,
                || self.0.reader(),
                |reader, number| {
                    let (tokens, ends) = &captions[number];
                    let tokens = tokens.iter().map(String::as_str).collect();
                    let (words, graph) = reader.words_and_graph(&spice::Caption { tokens, ends }, true);
                    (words, to_python(graph))
                },
            )
        })
    }

    /// The tokens of each text, its graph by the rules for paragraphs, and the status of each token.
    #[staticmethod]
    #[pyo3(signature = (parser, texts, tokenizer, threads=0))]
    fn paragraphs(
        py: Python<'_>,
        parser: &Parser,
        texts: Vec<String>,
        tokenizer: &str,
        threads: usize,
    ) -> PyResult<Vec<ReadText>> {
        let (parser, tokenizer) = (parser.0.clone(), crate::corpus::tokenizer(tokenizer)?);
        detach(py, || {
            let texts =
                map_each(texts.len(), threads, || (), |(), number| paragraph::Text::of(&texts[number], tokenizer));
            let graphs = paragraph::graphs(&parser, &texts, threads);
            let read = texts.into_iter().zip(graphs);
            let named = |statuses: Vec<Status>| statuses.into_iter().map(Status::name).collect();
            read.map(|(text, (graph, statuses))| (text.tokens, to_python(graph), named(statuses))).collect()
        })
    }

    /// Compares what an image's first candidate says with what its references say.
    fn explain(&self, py: Python<'_>, synonyms: &Synonyms, corpus: &Corpus, image: usize) -> PyResult<Comparison> {
        check_index("image", image, corpus.0.candidates.image_count())?;
        let compared = py.detach(|| spice::explain(&self.0, &synonyms.0, &corpus.0, image));
        let side = |side: Vec<spice::Explained>| {
            side.into_iter()
                .map(|proposition| (proposition.parts, proposition.matched.map(|(at, rule)| (at, rule.name()))))
                .collect()
        };
        let spice::Counts { matched, candidate, references, .. } = compared.counts;
        Ok((side(compared.candidate), side(compared.references), (matched, candidate, references)))
    }
}

fn of_python((objects, attributes, relations): Graph) -> PyResult<SceneGraph> {
    let existing = |object: usize| {
        if object < objects.len() {
            return Ok(object);
        }
        Err(UsageError::new_err(format!("a scene graph of {} objects has no object {object}", objects.len())))
    };
    let status = Status::Stated;
    let attributes = attributes
        .into_iter()
        .map(|(object, name, words)| Ok(Attribute { object: existing(object)?, name, words, status }))
        .collect::<PyResult<_>>()?;
    let relations = relations
        .into_iter()
        .map(|(subject, predicate, object, words)| {
            Ok(Relation { subject: existing(subject)?, predicate, object: existing(object)?, words, status })
        })
        .collect::<PyResult<_>>()?;
    let objects = objects.into_iter().map(|(name, words)| Object { name, words, status }).collect();
    Ok(SceneGraph { objects, attributes, relations })
}

fn to_python(graph: SceneGraph) -> StatusGraph {
    let SceneGraph { objects, attributes, relations } = graph;
    let object = |Object { name, words, status }: Object| (name, words, status.name());
    let attribute = |Attribute { object, name, words, status }: Attribute| (object, name, words, status.name());
    let relation = |Relation { subject, predicate, object, words, status }: Relation| {
        (subject, predicate, object, words, status.name())
    };
    (
        objects.into_iter().map(object).collect(),
        attributes.into_iter().map(attribute).collect(),
        relations.into_iter().map(relation).collect(),
    )
}

// Captions as coverage and precision read them, and the two explained.

/// Captions of a corpus as coverage and precision read them: a resource of the two.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct Paragraphs(pub(crate) Arc<statements::Paragraphs>);

/// A statement: kind, parts, the caption and the place of each word that says it, weight, support, chance.
type Statement = (&'static str, Vec<String>, Vec<(usize, usize)>, f64, f64, f64);

/// The tokens of each caption with the places behind its sentences but the last, and what the captions say.
type Side = (Vec<(Vec<String>, Vec<usize>)>, Vec<Statement>);

/// Coverage, precision and long-f1 of all statements and of each kind.
type Scores = Vec<(&'static str, [f64; 3])>;

#[pymethods]
impl Paragraphs {
    /// All candidates and all references of a corpus, as they were given.
    #[new]
    fn new(parser: &Parser, tokenizer: &str, candidates: Vec<String>, references: Vec<String>) -> PyResult<Self> {
        let (parser, tokenizer) = (parser.0.clone(), crate::corpus::tokenizer(tokenizer)?);
        Ok(Self(Arc::new(statements::Paragraphs { parser, tokenizer, candidates, references })))
    }

    /// What an image's first candidate and its references say, and how far the other side says it, if a match by a synonym
    /// is worth so much: of each side, captions as tokens with the places behind sentences but the last, and statements;
    /// and the scores.
    fn explain(
        &self,
        py: Python<'_>,
        synonyms: &Synonyms,
        frequencies: &StatementFrequencies,
        corpus: &Corpus,
        image: (usize, f64),
    ) -> PyResult<(Side, Side, Scores)> {
        check_index("image", image.0, corpus.0.candidates.image_count())?;
        let explained = py.detach(|| statements::explain(&self.0, &synonyms.0, &frequencies.0, &corpus.0, image));
        Ok((side(explained.candidate), side(explained.references), explained.scores))
    }

    /// How far a candidate, by the numbers of its image and in it, says each of the image's references.
    #[pyo3(name = "said")]
    fn support_of_items(
        &self,
        py: Python<'_>,
        synonyms: &Synonyms,
        corpus: &Corpus,
        candidate: (usize, usize),
        worth: f64,
    ) -> PyResult<Vec<Option<f64>>> {
        check_index("image", candidate.0, corpus.0.candidates.image_count())?;
        Ok(py.detach(|| statements::said_of_items(&self.0, &synonyms.0, &corpus.0, candidate, worth)))
    }
}

/// How many images have references that say each statement.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct StatementFrequencies(pub(crate) Arc<statements::Frequencies>);

#[pymethods]
impl StatementFrequencies {
    /// Of references, which are those of the paragraphs.
    #[new]
    #[pyo3(signature = (paragraphs, synonyms, references, threads=0))]
    fn new(
        py: Python<'_>,
        paragraphs: &Paragraphs,
        synonyms: &Synonyms,
        references: &References,
        threads: usize,
    ) -> PyResult<Self> {
        detach(py, || {
            let mut counted = statements::Frequencies::default();
            counted.add(&paragraphs.0, &references.0.sentences, &synonyms.0, threads);
            Self(Arc::new(counted))
        })
    }

    /// These together with those of other images.
    fn merged(&self, other: &Self) -> Self {
        let mut merged = statements::Frequencies::default();
        merged.merge(&self.0);
        merged.merge(&other.0);
        Self(Arc::new(merged))
    }

    fn __len__(&self) -> usize {
        self.0.key_count()
    }

    #[staticmethod]
    fn from_bytes(bytes: PyBackedBytes) -> PyResult<Self> {
        let read = statements::Frequencies::from_bytes(&bytes);
        Ok(Self(Arc::new(read.ok_or_else(|| UsageError::new_err("these bytes are no frequencies of statements"))?)))
    }

    /// For `pickle` and `copy`.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<impl IntoPyObject<'py>> {
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (self.0.to_bytes(),)))
    }
}

fn side((captions, statements): (Vec<statements::Read>, Vec<statements::Explained>)) -> Side {
    let statement = |statement: statements::Explained| {
        (statement.kind.name(), statement.parts, statement.words, statement.weight, statement.support, statement.chance)
    };
    (
        captions.into_iter().map(|read| (read.tokens, read.ends)).collect(),
        statements.into_iter().map(statement).collect(),
    )
}
