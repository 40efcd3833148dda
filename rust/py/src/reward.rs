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

    /// `groups`: for each image, its references as little-endian u32 ids and their lengths.
    fn encode(&self, py: Python<'_>, groups: Vec<(PyBackedBytes, Vec<usize>)>) -> EncodedReferences {
        EncodedReferences(py.detach(|| {
            groups
                .iter()
                .map(|(ids, lengths)| Arc::new(self.0.encode(sequences(ids, lengths).iter().map(Vec::as_slice))))
                .collect()
        }))
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
            let samples = sequences(&ids, &lengths);
            let samples: Vec<&[u32]> = samples.iter().map(Vec::as_slice).collect();
            self.0.score(&samples, &groups.0.iter().map(AsRef::as_ref).collect::<Vec<_>>(), threads)
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

/// Cuts little-endian u32 ids into sequences of these lengths.
pub(crate) fn sequences(ids: &[u8], lengths: &[usize]) -> Vec<Vec<u32>> {
    let mut ids = ids.chunks_exact(4).map(|id| u32::from_le_bytes(id.try_into().expect("four bytes")));
    lengths.iter().map(|&length| ids.by_ref().take(length).collect()).collect()
}
