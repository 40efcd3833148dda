//! Captions as coverage and precision read them, and the two explained.

use std::sync::Arc;

use pyo3::prelude::*;
use sacrecap_core::metrics::statements as core;

use crate::convert::check_index;
use crate::corpus::Corpus;
use crate::english::{Parser, Synonyms};

/// Captions of a corpus as coverage and precision read them: a resource of the two.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct Paragraphs(pub(crate) Arc<core::Paragraphs>);

/// A statement: kind, parts, the caption and the place of each word that says it, weight, support.
type Statement = (&'static str, Vec<String>, Vec<(usize, usize)>, f64, f64);

/// The tokens of each caption with the places behind its sentences but the last, and what the captions say.
type Side = (Vec<(Vec<String>, Vec<usize>)>, Vec<Statement>);

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

    /// What an image's first candidate and its references say, and how far the other side says it: of each side, captions
    /// as tokens with the places behind sentences but the last, and statements.
    fn explain(
        &self,
        py: Python<'_>,
        synonyms: &Bound<'_, Synonyms>,
        corpus: &Bound<'_, Corpus>,
        image: usize,
        worth: f64,
    ) -> PyResult<(Side, Side)> {
        let (synonyms, corpus) = (&synonyms.get().0, &corpus.get().0);
        check_index("image", image, corpus.candidates.image_count())?;
        let found = py.detach(|| core::explain(&self.0, synonyms, corpus, image, worth));
        Ok((side(found.candidate), side(found.references)))
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

fn side((captions, statements): (Vec<core::Read>, Vec<core::Explained>)) -> Side {
    let statement = |one: core::Explained| (one.kind.name(), one.parts, one.words, one.weight, one.support);
    (
        captions.into_iter().map(|read| (read.tokens, read.ends)).collect(),
        statements.into_iter().map(statement).collect(),
    )
}
