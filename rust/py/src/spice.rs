//! Scene graphs, and SPICE explained.

use std::collections::HashMap;
use std::sync::Arc;

use pyo3::prelude::*;
use sacrecap_core::corpus::threads_for_sentences;
use sacrecap_core::graph::{Attribute, Object, Relation, SceneGraph, Status, paragraph};
use sacrecap_core::metrics::spice as core;
use sacrecap_core::numeric::interrupt::check;
use sacrecap_core::numeric::parallel::map_parts;

use crate::convert::check_index;
use crate::corpus::Corpus;
use crate::english::{Parser, Synonyms};
use crate::errors::UsageError;
use crate::interrupt::detach;

/// The source of captions' scene graphs: a resource of SPICE.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct SceneGraphs(pub(crate) Arc<core::Graphs>);

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
    fn parsed(
        parser: &Bound<'_, Parser>,
        candidates: HashMap<usize, Vec<usize>>,
        references: HashMap<usize, Vec<usize>>,
    ) -> Self {
        let parser = parser.get().0.clone();
        let (candidates, references) = (candidates.into_iter().collect(), references.into_iter().collect());
        Self(Arc::new(core::Graphs::Parsed { parser, candidates, references }))
    }

    /// Graphs that were made elsewhere, by caption (tokens joined by blanks); every other caption has an empty one.
    #[staticmethod]
    fn given(graphs: Vec<(String, Graph)>) -> PyResult<Self> {
        let checked = graphs.into_iter().map(|(caption, graph)| Ok((caption.into(), of_python(graph)?)));
        Ok(Self(Arc::new(core::Graphs::Given(checked.collect::<PyResult<_>>()?))))
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
            let parts = map_parts(captions.len(), threads, |range| {
                let mut reader = self.0.reader();
                let made = captions[range].iter().map(|(tokens, ends)| {
                    check();
                    let tokens = tokens.iter().map(String::as_str).collect();
                    let (words, graph) = reader.marked_graph(&core::Caption { tokens, ends });
                    (words, to_python(graph))
                });
                made.collect::<Vec<_>>()
            });
            parts.into_iter().flatten().collect()
        })
    }

    /// The tokens of each text, its graph by the rules for paragraphs, and the status of each token.
    #[staticmethod]
    #[pyo3(signature = (parser, texts, tokenizer, threads=0))]
    fn paragraphs(
        py: Python<'_>,
        parser: &Bound<'_, Parser>,
        texts: Vec<String>,
        tokenizer: &str,
        threads: usize,
    ) -> PyResult<Vec<ReadText>> {
        let (parser, tokenizer) = (parser.get().0.clone(), crate::corpus::tokenizer(tokenizer)?);
        detach(py, || {
            let cut = |text: &String| paragraph::Text::of(text, tokenizer);
            let cut =
                map_parts(texts.len(), threads, |range| texts[range].iter().map(cut).collect::<Vec<_>>()).concat();
            let graphs = paragraph::graphs(&parser, &cut, threads);
            let read = cut.into_iter().zip(graphs);
            let named = |statuses: Vec<Status>| statuses.into_iter().map(Status::name).collect();
            read.map(|(text, (graph, statuses))| (text.tokens, to_python(graph), named(statuses))).collect()
        })
    }

    /// Compares what an image's first candidate says with what its references say.
    fn explain(
        &self,
        py: Python<'_>,
        synonyms: &Bound<'_, Synonyms>,
        corpus: &Bound<'_, Corpus>,
        image: usize,
    ) -> PyResult<Comparison> {
        let (synonyms, corpus) = (&synonyms.get().0, &corpus.get().0);
        check_index("image", image, corpus.candidates.image_count())?;
        let found = py.detach(|| core::explain(&self.0, synonyms, corpus, image));
        let side = |side: Vec<core::Explained>| {
            side.into_iter().map(|one| (one.parts, one.matched.map(|(at, rule)| (at, rule.name())))).collect()
        };
        let core::Counts { matched, candidate, references, .. } = found.counts;
        Ok((side(found.candidate), side(found.references), (matched, candidate, references)))
    }
}

fn of_python((objects, attributes, relations): Graph) -> PyResult<SceneGraph> {
    let known = |object: usize| {
        if object < objects.len() {
            return Ok(object);
        }
        Err(UsageError::new_err(format!("a scene graph of {} objects has no object {object}", objects.len())))
    };
    let status = Status::Stated;
    let attributes = attributes
        .into_iter()
        .map(|(object, name, words)| Ok(Attribute { object: known(object)?, name, words, status }))
        .collect::<PyResult<_>>()?;
    let relations = relations
        .into_iter()
        .map(|(subject, predicate, object, words)| {
            Ok(Relation { subject: known(subject)?, predicate, object: known(object)?, words, status })
        })
        .collect::<PyResult<_>>()?;
    let objects = objects.into_iter().map(|(name, words)| Object { name, words, status }).collect();
    Ok(SceneGraph { objects, attributes, relations })
}

fn to_python(graph: SceneGraph) -> StatusGraph {
    let SceneGraph { objects, attributes, relations } = graph;
    (
        objects.into_iter().map(|one| (one.name, one.words, one.status.name())).collect(),
        attributes.into_iter().map(|one| (one.object, one.name, one.words, one.status.name())).collect(),
        relations
            .into_iter()
            .map(|one| (one.subject, one.predicate, one.object, one.words, one.status.name()))
            .collect(),
    )
}
