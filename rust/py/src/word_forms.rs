//! Forms of English words.

use pyo3::prelude::*;
use sacrecap_core::text::word_forms;

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
