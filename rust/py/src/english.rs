//! English: the parser, synonyms, and forms of words.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use sacrecap_core::corpus::threads_for_sentences;
use sacrecap_core::numeric::interrupt::check;
use sacrecap_core::numeric::parallel::map_parts;
use sacrecap_core::tables::SharedBytes;
use sacrecap_core::text::word_forms;
use sacrecap_core::{graph, parse, wordnet};

use crate::errors::data_error;
use crate::interrupt::detach;

/// WordNet's synonym sets by word.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct Synonyms(pub(crate) Arc<wordnet::Synonyms>);

#[pymethods]
impl Synonyms {
    /// Reads the bytes of a table, which stay where they are.
    #[new]
    fn new(py: Python<'_>, table: PyBackedBytes) -> PyResult<Self> {
        let read = py.detach(|| wordnet::Synonyms::from_bytes(&SharedBytes::new(table)));
        read.map(|table| Self(Arc::new(table))).map_err(data_error)
    }

    #[getter]
    fn checksum(&self) -> u32 {
        self.0.checksum()
    }

    /// Numbers of the synonym sets of a word and its base forms.
    fn sets(&self, word: &str) -> Vec<u32> {
        self.0.sets(word)
    }
}

/// Words, tags and dependencies of English captions.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct Parser(pub(crate) Arc<parse::Parser>);

#[pymethods]
impl Parser {
    /// Reads the bytes of a model.
    #[new]
    fn new(py: Python<'_>, model: PyBackedBytes) -> PyResult<Self> {
        let read = py.detach(|| parse::Parser::read(&model));
        read.map(|parser| Self(Arc::new(parser))).map_err(data_error)
    }

    #[getter]
    fn checksum(&self) -> u32 {
        self.0.checksum()
    }

    /// The tokens of each text, and the places of those that it denies: `no dog`.
    #[pyo3(signature = (texts, tokenizer, threads=0))]
    fn denied(
        &self,
        py: Python<'_>,
        texts: Vec<String>,
        tokenizer: &str,
        threads: usize,
    ) -> PyResult<Vec<(Vec<String>, Vec<usize>)>> {
        let tokenizer = crate::corpus::tokenizer(tokenizer)?;
        detach(py, || {
            let parts = map_parts(texts.len(), threads_for_sentences(threads, texts.len()), |range| {
                let mut memory = self.0.worker();
                let read = |text: &String| {
                    check();
                    graph::denied(&self.0, &mut memory, text, tokenizer)
                };
                texts[range].iter().map(read).collect::<Vec<_>>()
            });
            parts.concat()
        })
    }
}

/// The plural forms of a lower-case word, the usual one first.
#[pyfunction]
pub(crate) fn plurals(word: &str) -> Vec<String> {
    word_forms::plurals(word)
}

/// Possible singulars of a lower-case word, likeliest first; none if the word is no plural.
#[pyfunction]
pub(crate) fn singulars(word: &str) -> Vec<String> {
    word_forms::singulars(word)
}

/// The base form of a lower-case noun among the words of COCO's objects, as WordNet's lemmatiser finds it.
#[pyfunction]
pub(crate) fn noun_base(word: &str) -> String {
    word_forms::noun_base(word)
}
