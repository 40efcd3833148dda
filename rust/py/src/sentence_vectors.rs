//! Vectors of captions.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sacrecap_core::sentence_vectors as core;
use sacrecap_core::tables::SharedBytes;
use sacrecap_core::text::vocabulary::Vocabulary;

use crate::convert::map_file;
use crate::errors::data_error;

/// Vectors of word pieces, of which those of captions are made.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct SentenceVectors(pub(crate) Arc<core::SentenceVectors>);

#[pymethods]
impl SentenceVectors {
    /// Maps the file of a table.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let shared: SharedBytes = map_file(&File::open(path)?)?;
        let read = py.detach(|| core::SentenceVectors::from_bytes(&shared));
        read.map(|table| Self(Arc::new(table))).map_err(data_error)
    }

    #[getter]
    fn checksum(&self) -> u32 {
        self.0.checksum()
    }

    /// Numbers of a vector.
    #[getter]
    fn width(&self) -> usize {
        self.0.width()
    }

    /// The pieces of a text that have a vector.
    fn pieces(&self, text: &str) -> Vec<&str> {
        self.0.pieces(text).into_iter().map(|piece| self.0.piece(piece)).collect()
    }

    /// The unit vector of each text, float32; of zeros for one without a known piece.
    fn read<'py>(&self, py: Python<'py>, texts: Vec<String>) -> Bound<'py, PyBytes> {
        let read = py.detach(|| {
            let mut vocabulary = Vocabulary::default();
            let numbers: Vec<_> = texts.iter().map(|text| vocabulary.intern(text)).collect();
            let spelled = core::Spelled::of(&self.0, &vocabulary);
            let (mut memory, mut vector, mut bytes) = (core::Memory::default(), Vec::new(), Vec::new());
            for number in numbers {
                spelled.read(&[number], &mut memory, &mut vector);
                bytes.extend(vector.iter().flat_map(|&number| (number as f32).to_le_bytes()));
            }
            bytes
        });
        PyBytes::new(py, &read)
    }
}
