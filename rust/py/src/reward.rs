//! CIDEr-D on token ids.

use std::sync::Arc;

use capeval_core::reward as core;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::convert::{check_index, check_sizes, sequences, to_bytes, whole_numbers};
use crate::document_frequency::DocumentFrequency;
use crate::errors::UsageError;

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
    ) -> PyResult<EncodedReferences> {
        let ids = whole_numbers(&ids)?;
        let references = sequences(&ids, &lengths)?;
        check_sizes(&sizes, references.len())?;
        let groups = py.detach(|| self.0.encode(&references, &sizes, threads));
        Ok(EncodedReferences(groups.into_iter().map(Arc::new).collect()))
    }

    /// Rewards of the samples as float64; `references` has one group per sample, or one for several samples in a row.
    fn score<'py>(
        &self,
        py: Python<'py>,
        ids: PyBackedBytes,
        lengths: Vec<usize>,
        references: &Bound<'_, EncodedReferences>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let ids = whole_numbers(&ids)?;
        let samples = sequences(&ids, &lengths)?;
        let groups: Vec<&core::Group> = references.get().0.iter().map(AsRef::as_ref).collect();
        if groups.is_empty() || samples.len() % groups.len() != 0 {
            let message =
                format!("{} samples cannot be shared by the references of {} images", samples.len(), groups.len());
            return Err(UsageError::new_err(message));
        }
        let scores = py.detach(|| self.0.score(&samples, &groups, threads));
        Ok(to_bytes(py, scores.into_iter()))
    }
}

#[pymethods]
impl EncodedReferences {
    /// The references of these images, in this order.
    fn select(&self, images: Vec<usize>) -> PyResult<Self> {
        images.iter().try_for_each(|&image| check_index("image", image, self.0.len()))?;
        Ok(Self(images.into_iter().map(|image| self.0[image].clone()).collect()))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }
}
