//! Language models of references that come part by part.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use sacrecap_core::Refused;
use sacrecap_core::metrics::fluency as core;
use sacrecap_core::text::ngram::MAX_ORDER;
use sacrecap_core::text::tokenize::Tokenizer;

use crate::corpus::References;
use crate::errors::{UsageError, data_error, refuse};
use crate::interrupt::detach;

/// The function that makes counts again, and what it takes: their bytes and the memory that they may take.
type Pickled<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, usize));

/// Counts of n-grams, of which a language model is made. Any parts of a corpus, in any order, give the same scores.
#[pyclass(module = "sacrecap._core")]
pub(crate) struct LanguageCounts {
    /// None after the end, or an interruption.
    counts: Option<core::LanguageCounts>,
    memory: usize,
}

#[pymethods]
impl LanguageCounts {
    /// No counts yet. The model may take `memory` bytes, apart from its distinct words.
    #[new]
    #[pyo3(signature = (n, *, memory))]
    fn new(n: usize, memory: usize) -> PyResult<Self> {
        if !(1..=MAX_ORDER).contains(&n) {
            refuse!("n-grams have 1 to {MAX_ORDER} words, not {n}");
        }
        Ok(Self { counts: Some(core::LanguageCounts::new(n)), memory })
    }

    /// Learns from the references of other images.
    #[pyo3(signature = (references, threads=0))]
    fn add(&mut self, py: Python<'_>, references: &Bound<'_, References>, threads: usize) -> PyResult<()> {
        let (references, memory) = (references.get().0.clone(), self.memory);
        self.during(py, |counts| counts.add(&references, memory, threads))
    }

    /// Adds what was counted elsewhere, in the references of other images.
    #[pyo3(signature = (other, threads=0))]
    fn merge(&mut self, py: Python<'_>, other: &Self, threads: usize) -> PyResult<()> {
        let (other, memory) = (other.counts.as_ref().ok_or_else(ended)?, self.memory);
        self.during(py, |counts| counts.merge(other, memory, threads))
    }

    /// The language model; the counts have ended.
    #[pyo3(signature = (threads=0))]
    fn finish(&mut self, py: Python<'_>, threads: usize) -> PyResult<LanguageModel> {
        let counts = self.counts.take().ok_or_else(ended)?;
        Ok(LanguageModel(Arc::new(detach(py, || counts.finish(threads))?)))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: PyBackedBytes, memory: usize) -> PyResult<Self> {
        Ok(Self { counts: Some(read(py, &bytes)?), memory })
    }

    /// For `pickle` and `copy`.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        let counts = self.counts.as_ref().ok_or_else(ended)?;
        let bytes = PyBytes::new(py, &py.detach(|| counts.to_bytes()));
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (bytes, self.memory)))
    }
}

impl LanguageCounts {
    fn during(
        &mut self,
        py: Python<'_>,
        work: impl FnOnce(&mut core::LanguageCounts) -> Result<(), Refused> + Send,
    ) -> PyResult<()> {
        let mut counts = self.counts.take().ok_or_else(ended)?;
        // What is interrupted counted some sentences and not others: nothing is left.
        let counts = detach(py, move || work(&mut counts).map(|()| counts))?;
        self.counts = Some(counts.map_err(data_error)?);
        Ok(())
    }
}

/// The model that scores captions.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct LanguageModel(pub(crate) Arc<core::LanguageModel>);

#[pymethods]
impl LanguageModel {
    /// The model of captions of other images than those to score.
    #[staticmethod]
    #[pyo3(signature = (references, n, threads=0))]
    fn build(py: Python<'_>, references: &Bound<'_, References>, n: usize, threads: usize) -> PyResult<Self> {
        let references = references.get().0.clone();
        let built = detach(py, || {
            let mut counts = core::LanguageCounts::new(n).kept(references.tokenizer);
            counts.add(&references, usize::MAX, threads).map(|()| counts.finish(threads))
        })?;
        built.map(|model| Self(Arc::new(model))).map_err(data_error)
    }

    /// Number of images that it learnt from.
    #[getter]
    fn images(&self) -> u64 {
        self.0.images()
    }

    /// The longest n-gram.
    #[getter]
    fn n(&self) -> usize {
        self.0.order()
    }

    #[getter]
    fn words(&self) -> usize {
        self.0.words()
    }

    /// What cut the captions that it learnt from; None if they are the references being scored.
    #[getter]
    fn tokenizer(&self) -> Option<&'static str> {
        self.0.tokenizer.map(Tokenizer::name)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| self.0.to_bytes()))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: PyBackedBytes) -> PyResult<Self> {
        let counts = read(py, &bytes)?;
        Ok(Self(Arc::new(detach(py, || counts.finish(0))?)))
    }

    /// For `pickle` and `copy`.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (self.to_bytes(py),)))
    }
}

fn read(py: Python<'_>, bytes: &[u8]) -> PyResult<core::LanguageCounts> {
    py.detach(|| core::LanguageCounts::from_bytes(bytes)).map_err(data_error)
}

fn ended() -> PyErr {
    UsageError::new_err("these counts have ended, by finish() or by an error; make others")
}
