//! English resources of the package: the parser, and synonyms.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use sacrecap_core::tables::SharedBytes;
use sacrecap_core::{parse, wordnet};

use crate::errors::DataError;

#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct Synonyms(pub(crate) Arc<wordnet::Synonyms>);

#[pymethods]
impl Synonyms {
    /// Reads the bytes of a table, which stay where they are.
    #[new]
    fn new(py: Python<'_>, table: PyBackedBytes) -> PyResult<Self> {
        let shared: SharedBytes = Arc::new(table);
        let read = py.detach(|| wordnet::Synonyms::from_bytes(&shared));
        read.map(|table| Self(Arc::new(table))).map_err(|error| DataError::new_err(error.to_string()))
    }

    /// Builds the table from WordNet's texts, as METEOR 1.5 has them.
    #[staticmethod]
    fn build(synsets: &str, exceptions: &str) -> PyResult<Self> {
        let built = wordnet::Synonyms::build(synsets, exceptions);
        built.map(|table| Self(Arc::new(table))).map_err(|error| DataError::new_err(error.to_string()))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.as_bytes())
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

#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct Parser(pub(crate) Arc<parse::Parser>);

#[pymethods]
impl Parser {
    /// Reads the bytes of a model.
    #[new]
    fn new(py: Python<'_>, model: PyBackedBytes) -> PyResult<Self> {
        let read = py.detach(|| parse::Parser::read(&model));
        read.map(|parser| Self(Arc::new(parser))).map_err(|error| DataError::new_err(error.to_string()))
    }

    #[getter]
    fn checksum(&self) -> u32 {
        self.0.checksum()
    }
}
