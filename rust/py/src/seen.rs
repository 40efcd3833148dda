//! One look at the captions of a corpus.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyBytes;
use sacrecap_core::seen as core;

use crate::captions::Captions;
use crate::corpus::Corpus;
use crate::interrupt::detach;

/// Part, name and number of what was counted; how many; the image id and the caption of an example.
type Row = (&'static str, &'static str, usize, u64, String, String);

fn rows(found: core::Tallies) -> Vec<Row> {
    let row = |((part, name, number), tally): (core::Name, core::Tally)| {
        let (id, caption) = tally.example.unwrap_or_default();
        (part, name, number, tally.count, id.into(), caption.into())
    };
    found.into_iter().map(row).collect()
}

/// The order in which images belong to the sample, little-endian u64, for their ids.
#[pyfunction]
pub(crate) fn sample_order(py: Python<'_>, ids: Vec<PyBackedStr>) -> Bound<'_, PyBytes> {
    PyBytes::new(py, &ids.iter().flat_map(|id| core::mixed(core::key(id)).to_le_bytes()).collect::<Vec<u8>>())
}

/// Looks at every image: part, name and number of what was counted, how many, image id and caption of an example.
#[pyfunction]
#[pyo3(signature = (corpus, references, candidates, threads=0))]
pub(crate) fn seen(
    py: Python<'_>,
    corpus: &Bound<'_, Corpus>,
    references: &Bound<'_, Captions>,
    candidates: &Bound<'_, Captions>,
    threads: usize,
) -> PyResult<Vec<Row>> {
    let (corpus, references, candidates) = (&corpus.get().0, &references.get().inner, &candidates.get().inner);
    detach(py, || rows(core::seen(corpus, references, candidates, threads)))
}

/// Looks at a sample of the images; the same columns.
#[pyfunction]
pub(crate) fn seen_in_sample(
    py: Python<'_>,
    corpus: &Bound<'_, Corpus>,
    candidates: &Bound<'_, Captions>,
    size: usize,
) -> PyResult<Vec<Row>> {
    let (corpus, candidates) = (&corpus.get().0, &candidates.get().inner);
    detach(py, || rows(core::sampled(corpus, candidates, size)))
}
