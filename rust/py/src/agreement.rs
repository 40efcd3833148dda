//! Agreement of scores with ratings. Arrays are little-endian float64 and u32.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use sacrecap_core::agreement as core;
use sacrecap_core::engine::resample::Draw;
use sacrecap_core::numeric::generator::Generator;

use crate::convert::{floats, to_bytes, whole_numbers};
use crate::errors::refuse;
use crate::interrupt::detach;

/// Correlations of points (float64, float64, u32): a row for all, then one per bootstrap sample over images; float64.
#[pyfunction]
#[pyo3(signature = (scores, ratings, images, samples, seed, threads=0))]
pub(crate) fn correlations(
    py: Python<'_>,
    scores: PyBackedBytes,
    ratings: PyBackedBytes,
    images: PyBackedBytes,
    samples: usize,
    seed: u64,
    threads: usize,
) -> PyResult<Bound<'_, PyBytes>> {
    let (scores, ratings, images) = points(&scores, &ratings, &images)?;
    let all = detach(py, || {
        let scatter = core::Scatter::new(&scores, &ratings, &images);
        let mut all = vec![scatter.correlations()];
        all.extend(scatter.bootstrap(samples, seed, threads));
        all
    })?;
    Ok(to_bytes(py, all.into_iter().flatten()))
}

/// The correlations of the points of each image, float64; NaN where scores or ratings are constant.
#[pyfunction]
pub(crate) fn correlations_by_image(
    py: Python<'_>,
    scores: PyBackedBytes,
    ratings: PyBackedBytes,
    images: PyBackedBytes,
) -> PyResult<Bound<'_, PyBytes>> {
    let (scores, ratings, images) = points(&scores, &ratings, &images)?;
    let by_image = py.detach(|| core::by_image(&scores, &ratings, &images));
    Ok(to_bytes(py, by_image.into_iter().flatten()))
}

/// How often each of `count` things is drawn in each sample, u16: the draws of every bootstrap here.
#[pyfunction]
pub(crate) fn draws(py: Python<'_>, count: usize, samples: usize, seed: u64) -> Bound<'_, PyBytes> {
    let drawn = py.detach(|| {
        let sample = |sample| Draw::Bootstrap.weights(count, Generator::new(seed, sample));
        (0..samples as u64).flat_map(sample).flat_map(u16::to_le_bytes).collect::<Vec<u8>>()
    });
    PyBytes::new(py, &drawn)
}

type Points = (Vec<f64>, Vec<f64>, Vec<u32>);

fn points(scores: &[u8], ratings: &[u8], images: &[u8]) -> PyResult<Points> {
    let points = (floats(scores)?, floats(ratings)?, whole_numbers(images)?);
    let same = points.0.len() == points.1.len() && points.1.len() == points.2.len();
    if !same || points.0.iter().chain(&points.1).any(|value| !value.is_finite()) {
        refuse!("correlations need as many finite scores as ratings and images");
    }
    Ok(points)
}
