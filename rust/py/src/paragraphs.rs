//! Captions as coverage and precision read them, and the two explained.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use sacrecap_core::metrics::statements as core;

use crate::convert::check_index;
use crate::corpus::{Corpus, References};
use crate::english::{Parser, Synonyms};
use crate::errors::UsageError;
use crate::interrupt::detach;

/// Captions of a corpus as coverage and precision read them: a resource of the two.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct Paragraphs(pub(crate) Arc<core::Paragraphs>);

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
    fn new(
        parser: &Bound<'_, Parser>,
        tokenizer: &str,
        candidates: Vec<String>,
        references: Vec<String>,
    ) -> PyResult<Self> {
        let (parser, tokenizer) = (parser.get().0.clone(), crate::corpus::tokenizer(tokenizer)?);
        Ok(Self(Arc::new(core::Paragraphs { parser, tokenizer, candidates, references })))
    }

    /// What an image's first candidate and its references say, and how far the other side says it, if a match by a synonym
    /// is worth so much: of each side, captions as tokens with the places behind sentences but the last, and statements;
    /// and the scores.
    fn explain(
        &self,
        py: Python<'_>,
        synonyms: &Bound<'_, Synonyms>,
        frequencies: &Bound<'_, StatementFrequencies>,
        corpus: &Bound<'_, Corpus>,
        image: (usize, f64),
    ) -> PyResult<(Side, Side, Scores)> {
        let (synonyms, frequencies, corpus) = (&synonyms.get().0, &frequencies.get().0, &corpus.get().0);
        check_index("image", image.0, corpus.candidates.image_count())?;
        let explained = py.detach(|| core::explain(&self.0, synonyms, frequencies, corpus, image));
        Ok((side(explained.candidate), side(explained.references), explained.scores))
    }

    /// How far a candidate, by the numbers of its image and in it, says each of the image's references.
    fn said(
        &self,
        py: Python<'_>,
        synonyms: &Bound<'_, Synonyms>,
        corpus: &Bound<'_, Corpus>,
        candidate: (usize, usize),
        worth: f64,
    ) -> PyResult<Vec<Option<f64>>> {
        let (synonyms, corpus) = (&synonyms.get().0, &corpus.get().0);
        check_index("image", candidate.0, corpus.candidates.image_count())?;
        Ok(py.detach(|| core::said_of_items(&self.0, synonyms, corpus, candidate, worth)))
    }
}

/// How many images have references that say each statement.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct StatementFrequencies(pub(crate) Arc<core::Frequencies>);

#[pymethods]
impl StatementFrequencies {
    /// Of references, which are those of the paragraphs.
    #[new]
    #[pyo3(signature = (paragraphs, synonyms, references, threads=0))]
    fn new(
        py: Python<'_>,
        paragraphs: &Bound<'_, Paragraphs>,
        synonyms: &Bound<'_, Synonyms>,
        references: &Bound<'_, References>,
        threads: usize,
    ) -> PyResult<Self> {
        let (paragraphs, synonyms, references) = (&paragraphs.get().0, &synonyms.get().0, &references.get().0);
        detach(py, || {
            let mut counted = core::Frequencies::default();
            counted.add(paragraphs, &references.sentences, synonyms, threads);
            Self(Arc::new(counted))
        })
    }

    /// These together with those of other images.
    fn merged(&self, other: &Self) -> Self {
        let mut merged = core::Frequencies::default();
        merged.merge(&self.0);
        merged.merge(&other.0);
        Self(Arc::new(merged))
    }

    fn __len__(&self) -> usize {
        self.0.key_count()
    }

    #[staticmethod]
    fn from_bytes(bytes: PyBackedBytes) -> PyResult<Self> {
        let read = core::Frequencies::from_bytes(&bytes);
        Ok(Self(Arc::new(read.ok_or_else(|| UsageError::new_err("these bytes are no frequencies of statements"))?)))
    }

    /// For `pickle` and `copy`.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (PyBytes::new(py, &self.0.to_bytes()),)))
    }
}

fn side((captions, statements): (Vec<core::Read>, Vec<core::Explained>)) -> Side {
    let statement = |one: core::Explained| (one.kind.name(), one.parts, one.words, one.weight, one.support, one.chance);
    (
        captions.into_iter().map(|read| (read.tokens, read.ends)).collect(),
        statements.into_iter().map(statement).collect(),
    )
}
