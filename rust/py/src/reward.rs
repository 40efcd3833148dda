//! CIDEr-D on token ids.

use std::sync::Arc;

use capeval_core::reward as core;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::document_frequency::DocumentFrequency;
use crate::errors::UsageError;
use crate::statistics::to_bytes;

#[pyclass(frozen, module = "capeval._core")]
pub(crate) struct Reward(core::Reward);

/// References of several images, ready to be compared with again and again.
#[pyclass(frozen, module = "capeval._core")]
pub(crate) struct EncodedReferences(Vec<Arc<core::Group>>);

#[pymethods]
impl Reward {
    #[new]
    fn new(frequencies: &Bound<'_, DocumentFrequency>, n: usize, sigma: f64) -> PyResult<Self> {
        core::Reward::new(&frequencies.get().0, n, sigma)
            .map(Self)
            .map_err(|error| UsageError::new_err(error.to_string()))
    }

    /// References of images one after the other: little-endian u32 ids, the length of each, the number of each image.
    fn encode(
        &self,
        py: Python<'_>,
        ids: PyBackedBytes,
        lengths: Vec<usize>,
        sizes: Vec<usize>,
        threads: usize,
    ) -> EncodedReferences {
        let groups = py.detach(|| {
            let ids = numbers(&ids);
            self.0.encode(&sequences(&ids, &lengths), &sizes, threads)
        });
        EncodedReferences(groups.into_iter().map(Arc::new).collect())
    }

    /// Rewards of the samples as float64; `references` has one group a sample, or one for several samples in a row.
    fn score<'py>(
        &self,
        py: Python<'py>,
        ids: PyBackedBytes,
        lengths: Vec<usize>,
        references: &Bound<'_, EncodedReferences>,
        threads: usize,
    ) -> Bound<'py, PyBytes> {
        let groups = references.get();
        let scores = py.detach(|| {
            let ids = numbers(&ids);
            self.0.score(&sequences(&ids, &lengths), &groups.0.iter().map(AsRef::as_ref).collect::<Vec<_>>(), threads)
        });
        to_bytes(py, scores.into_iter())
    }
}

#[pymethods]
impl EncodedReferences {
    /// The references of these images, in this order.
    fn select(&self, images: Vec<usize>) -> Self {
        Self(images.into_iter().map(|image| self.0[image].clone()).collect())
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }
}

/// Little-endian u32 ids.
pub(crate) fn numbers(ids: &[u8]) -> Vec<u32> {
    ids.chunks_exact(4).map(|id| u32::from_le_bytes(id.try_into().expect("four bytes"))).collect()
}

/// Cuts ids into sequences of these lengths.
pub(crate) fn sequences<'a>(mut ids: &'a [u32], lengths: &[usize]) -> Vec<&'a [u32]> {
    let mut sequences = Vec::with_capacity(lengths.len());
    for &length in lengths {
        let (sequence, rest) = ids.split_at(length);
        sequences.push(sequence);
        ids = rest;
    }
    sequences
}
