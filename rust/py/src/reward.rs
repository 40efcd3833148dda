//! CIDEr-D on token ids.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyType};
use sacrecap_core::reward as core;

use crate::convert::{check_index, check_sizes, sequences, to_bytes, whole_numbers};
use crate::document_frequency::DocumentFrequency;
use crate::errors::{refuse, usage_error};
use crate::interrupt::detach;

/// CIDEr-D on token ids.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct Reward {
    core: core::Reward,
    /// What it was made of, for `pickle` and `copy`.
    made_of: (Py<DocumentFrequency>, usize, f64),
}

/// References of several images, ready to be compared with again and again.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct EncodedReferences {
    groups: Vec<Arc<core::Group>>,
    reward: Py<Reward>,
}

/// Arguments of `Reward.encode`.
type Encoding<'py> = (Bound<'py, PyBytes>, Vec<usize>, Vec<usize>, usize);

#[pymethods]
impl Reward {
    #[new]
    fn new(frequencies: &Bound<'_, DocumentFrequency>, n: usize, sigma: f64) -> PyResult<Self> {
        let core = core::Reward::new(&frequencies.get().0, n, sigma);
        let core = core.map_err(usage_error)?;
        Ok(Self { core, made_of: (frequencies.clone().unbind(), n, sigma) })
    }

    /// For `pickle` and `copy`.
    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, (Py<DocumentFrequency>, usize, f64)) {
        let (frequencies, n, sigma) = &self.made_of;
        (py.get_type::<Self>(), (frequencies.clone_ref(py), *n, *sigma))
    }

    /// References of images one after the other: little-endian u32 ids, the length of each, the number of each image.
    fn encode(
        slf: &Bound<'_, Self>,
        ids: PyBackedBytes,
        lengths: Vec<usize>,
        sizes: Vec<usize>,
        threads: usize,
    ) -> PyResult<EncodedReferences> {
        let ids = whole_numbers(&ids)?;
        let references = sequences(&ids, &lengths)?;
        check_sizes(&sizes, references.len())?;
        let reward = slf.get();
        let groups = detach(slf.py(), || reward.core.encode(&references, &sizes, threads))?;
        Ok(EncodedReferences { groups: groups.into_iter().map(Arc::new).collect(), reward: slf.clone().unbind() })
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
        let groups: Vec<&core::Group> = references.get().groups.iter().map(AsRef::as_ref).collect();
        if groups.is_empty() || samples.len() % groups.len() != 0 {
            refuse!("{} samples cannot be shared by the references of {} images", samples.len(), groups.len());
        }
        let scores = detach(py, || self.core.score(&samples, &groups, threads))?;
        Ok(to_bytes(py, scores.into_iter()))
    }
}

#[pymethods]
impl EncodedReferences {
    /// The references of these images, in this order.
    fn select(&self, py: Python<'_>, images: Vec<usize>) -> PyResult<Self> {
        images.iter().try_for_each(|&image| check_index("image", image, self.groups.len()))?;
        let groups = images.into_iter().map(|image| self.groups[image].clone()).collect();
        Ok(Self { groups, reward: self.reward.clone_ref(py) })
    }

    /// For `pickle` and `copy`: they are encoded again from their token ids.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Encoding<'py>)> {
        let references = || self.groups.iter().flat_map(|group| group.references());
        let ids: Vec<u8> = references().flatten().flat_map(|id| id.to_le_bytes()).collect();
        let lengths = references().map(<[_]>::len).collect();
        let sizes = self.groups.iter().map(|group| group.references().len()).collect();
        Ok((self.reward.bind(py).getattr("encode")?, (PyBytes::new(py, &ids), lengths, sizes, 0)))
    }

    fn __len__(&self) -> usize {
        self.groups.len()
    }
}
