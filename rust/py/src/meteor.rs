//! METEOR's tables, and alignments to look at.

use std::fs::File;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use sacrecap_core::metrics::meteor as core;
use sacrecap_core::metrics::meteor::{Module, Weights};
use sacrecap_core::tables::SharedBytes;

use crate::convert::map_file;
use crate::errors::{DataError, data_error};

/// A task, and its parameters by their names.
type Task = (&'static str, Vec<(&'static str, f64)>);

/// The tasks that parameters were tuned for, the default first.
pub(crate) fn tasks() -> Vec<Task> {
    core::TASKS.iter().map(|(task, weights)| (*task, parameters(weights))).collect()
}

fn parameters(weights: &Weights) -> Vec<(&'static str, f64)> {
    let formula =
        [("alpha", weights.alpha), ("beta", weights.beta), ("gamma", weights.gamma), ("delta", weights.delta)];
    formula.into_iter().chain(Module::ALL.iter().map(|module| module.name()).zip(weights.modules)).collect()
}

/// Function words, abbreviations, synonym sets and paraphrases of English.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct MeteorTables(pub(crate) Arc<core::Resources>);

/// A match: reference number; tokens of candidate and reference; links (module, candidate span, reference
/// span); precision, recall, F, penalty, score; chunks.
type Explanation = (usize, Vec<String>, Vec<String>, Vec<Link>, [f64; 5], u32);
type Link = (&'static str, (usize, usize), (usize, usize));

#[pymethods]
impl MeteorTables {
    /// The version of the file's format.
    #[classattr]
    const VERSION: u32 = core::Resources::VERSION;

    /// Reads the bytes of a file, which stay where they are.
    #[new]
    fn new(py: Python<'_>, file: PyBackedBytes) -> PyResult<Self> {
        let read = py.detach(|| core::Resources::from_bytes(&SharedBytes::new(file)));
        read.map(|tables| Self(Arc::new(tables))).map_err(data_error)
    }

    /// Maps a file; one that is known to be good is not read whole.
    #[staticmethod]
    #[pyo3(signature = (path, *, known_good=false))]
    fn load(py: Python<'_>, path: std::path::PathBuf, known_good: bool) -> PyResult<Self> {
        let read = if known_good { core::Resources::from_checked } else { core::Resources::from_bytes };
        let loaded = py.detach(|| -> std::io::Result<_> { Ok(read(&map_file(&File::open(&path)?)?)) })?;
        loaded
            .map(|tables| Self(Arc::new(tables)))
            .map_err(|error| DataError::new_err(format!("{}: {error}", path.display())))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.as_bytes())
    }

    #[getter]
    fn checksum(&self) -> u32 {
        self.0.checksum()
    }

    /// The alignment with the best reference; None without references. `weights`: alpha, beta, gamma, delta, and the
    /// modules' in their order.
    fn explain(&self, candidate: &str, references: Vec<String>, weights: [f64; 8]) -> Option<Explanation> {
        let [alpha, beta, gamma, delta, exact, stem, synonym, paraphrase] = weights;
        let weights = Weights { alpha, beta, gamma, delta, modules: [exact, stem, synonym, paraphrase] };
        let references: Vec<&str> = references.iter().map(String::as_str).collect();
        let (number, alignment, parts) = core::align_best(&self.0, &weights, candidate, &references)?;
        let span = |range: &std::ops::Range<usize>| (range.start, range.end);
        let links = alignment
            .links
            .iter()
            .map(|link| (link.module.name(), span(&link.hypothesis), span(&link.reference)))
            .collect();
        let numbers = [parts.precision, parts.recall, parts.mean, parts.penalty, parts.score];
        Some((number, alignment.hypothesis, alignment.reference, links, numbers, alignment.counts[core::CHUNKS]))
    }
}
