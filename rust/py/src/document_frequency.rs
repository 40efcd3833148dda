//! Document frequencies: build, take over, merge, save, load (memory-mapped).

use std::fs::File;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use sacrecap_core::document_frequency as core;
use sacrecap_core::tables::SharedBytes;
use sacrecap_core::text::ngram::{MAX_ORDER, Ngram};

use crate::convert::{check_sizes, held, map_file, sequences, whole_numbers};
use crate::corpus::References;
use crate::errors::{DataError, data_error, usage_error};
use crate::interrupt::detach;

/// Counts of n-grams over documents, by words.
#[pyclass(frozen, eq, module = "sacrecap._core")]
pub(crate) struct DocumentFrequency(pub(crate) Arc<core::DocumentFrequency>);

impl From<core::DocumentFrequency> for DocumentFrequency {
    fn from(counted: core::DocumentFrequency) -> Self {
        Self(Arc::new(counted))
    }
}

impl PartialEq for DocumentFrequency {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bytes() == other.0.to_bytes()
    }
}

/// N-grams of 1 to `MAX_ORDER` words with their counts; `None` where the arrays do not fit each other.
fn ngrams(words: usize, mut ids: &[u32], lengths: &[u8], counts: &[u32]) -> Option<Vec<(Ngram, u32)>> {
    let mut entries = Vec::with_capacity(counts.len());
    if lengths.len() != counts.len() || ids.iter().any(|&id| id as usize >= words) {
        return None;
    }
    for (&length, &count) in lengths.iter().zip(counts) {
        let (ngram, rest) = ids.split_at_checked(usize::from(length))?;
        if !(1..=MAX_ORDER).contains(&ngram.len()) {
            return None;
        }
        entries.push((Ngram::new(ngram), count));
        ids = rest;
    }
    ids.is_empty().then_some(entries)
}

#[pymethods]
impl DocumentFrequency {
    #[staticmethod]
    #[pyo3(signature = (references, stem, n, threads=0))]
    fn build(
        py: Python<'_>,
        references: &Bound<'_, References>,
        stem: bool,
        n: usize,
        threads: usize,
    ) -> PyResult<Self> {
        let references = references.get().0.clone();
        detach(py, || {
            let references = if stem { references.stemmed() } else { references };
            core::DocumentFrequency::build(references.documents(), n, threads)
        })
        .map(Self::from)
    }

    /// References of images one after the other: little-endian u32 ids, the length of each, the number of each image.
    #[staticmethod]
    #[pyo3(signature = (ids, lengths, sizes, n, threads=0))]
    fn from_token_ids(
        py: Python<'_>,
        ids: PyBackedBytes,
        lengths: Vec<usize>,
        sizes: Vec<usize>,
        n: usize,
        threads: usize,
    ) -> PyResult<Self> {
        let ids = whole_numbers(&ids)?;
        let references = sequences(&ids, &lengths)?;
        check_sizes(&sizes, references.len())?;
        detach(py, || core::DocumentFrequency::from_token_ids(&references, &sizes, n, threads)).map(Self::from)
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: std::path::PathBuf) -> PyResult<Self> {
        let loaded = py.detach(|| -> std::io::Result<_> {
            Ok(core::DocumentFrequency::from_bytes(&map_file(&File::open(&path)?)?))
        })?;
        loaded.map(Self::from).map_err(|error| DataError::new_err(format!("{}: {error}", path.display())))
    }

    /// Counts made elsewhere: distinct words; the word numbers of distinct n-grams, one after the other, and their counts,
    /// both little-endian u32; the length of each n-gram, one byte.
    #[staticmethod]
    fn from_counts(
        py: Python<'_>,
        words: Vec<String>,
        ids: PyBackedBytes,
        lengths: PyBackedBytes,
        counts: PyBackedBytes,
        documents: u64,
    ) -> PyResult<Self> {
        let (ids, counts) = (whole_numbers(&ids)?, whole_numbers(&counts)?);
        let built = py.detach(|| {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let entries = ngrams(words.len(), &ids, &lengths, &counts)?;
            let order = entries.iter().map(|(ngram, _)| ngram.order()).max()?;
            Some(core::DocumentFrequency::from_counts(&words, entries, documents, order))
        });
        built.map(Self::from).ok_or_else(|| DataError::new_err("these are not n-grams with their counts"))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| self.0.to_bytes());
        PyBytes::new(py, &bytes)
    }

    /// What `to_bytes` made, in any object with a buffer, which is used in place.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &Bound<'_, PyAny>) -> PyResult<Self> {
        let shared: SharedBytes = held(bytes)?;
        let read = py.detach(|| core::DocumentFrequency::from_bytes(&shared));
        read.map(Self::from).map_err(data_error)
    }

    /// For `pickle` and `copy`; from protocol 5 on, processes of a machine may share the bytes.
    fn __reduce_ex__<'py>(
        &self,
        py: Python<'py>,
        protocol: u32,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyAny>,))> {
        let bytes = self.to_bytes(py).into_any();
        let bytes = if protocol < 5 { bytes } else { py.import("pickle")?.getattr("PickleBuffer")?.call1((bytes,))? };
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (bytes,)))
    }

    fn merge(&self, py: Python<'_>, other: &Bound<'_, Self>) -> PyResult<Self> {
        let other = other.get();
        py.detach(|| self.0.merge(&other.0)).map(Self::from).map_err(usage_error)
    }

    fn count(&self, words: Vec<String>) -> u32 {
        self.0.count(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    #[getter]
    fn documents(&self) -> u64 {
        self.0.documents()
    }

    #[getter]
    fn ngrams(&self) -> usize {
        self.0.ngram_count()
    }

    #[getter]
    fn words(&self) -> usize {
        self.0.word_count()
    }

    #[getter]
    fn n(&self) -> usize {
        self.0.order
    }

    #[getter]
    fn tokenizer(&self) -> &str {
        &self.0.tokenizer
    }

    #[getter]
    fn stem(&self) -> bool {
        self.0.stem
    }
}
