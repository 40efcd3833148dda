//! The bootstrap and the permutation test.

use pyo3::prelude::*;
use sacrecap_core::agreement;
use sacrecap_core::engine::paired::{Bootstrap, Systems, exact};
use sacrecap_core::engine::resample::{Draw, Panel, percentile_intervals};
use sacrecap_core::engine::{Formula, Table};
use sacrecap_core::numeric::Generator;
use sacrecap_core::numeric::parallel::{check, map_parts};
use sacrecap_core::numeric::transport::Transport;

use crate::convert::{Array, detach, refuse};
use crate::statistics::{Raised, Statistics};

/// Percentile intervals of the metrics' scores over images drawn with replacement, the same draws for all.
#[pyfunction]
#[pyo3(signature = (statistics, samples, level, seed, threads=0))]
pub(crate) fn bootstrap_intervals(
    py: Python<'_>,
    statistics: Vec<Bound<'_, Statistics>>,
    samples: usize,
    level: f64,
    seed: u64,
    threads: usize,
) -> PyResult<Vec<(f64, f64)>> {
    compared(py, samples, &[statistics], |systems| {
        let panel = Panel::new(systems[0].iter().copied());
        let sampled = panel.bootstrap(samples, seed, threads);
        percentile_intervals(&sampled, panel.scores.len(), level)
    })
}

/// Of several systems, metric by metric: intervals of their scores, and, pair by pair (0 and 1, 0 and 2, … 1 and 2, …),
/// interval and p of differences.
#[pyfunction]
#[pyo3(signature = (systems, samples, level, seed, threads=0))]
pub(crate) fn paired_bootstrap(
    py: Python<'_>,
    systems: Vec<Vec<Bound<'_, Statistics>>>,
    samples: usize,
    level: f64,
    seed: u64,
    threads: usize,
) -> PyResult<Bootstrap> {
    compared(py, samples, &systems, |systems| Systems::new(systems).bootstrap(samples, level, seed, threads))
}

/// Of several systems, pair by pair and metric by metric: p by all swaps, without drawing.
#[pyfunction]
#[pyo3(signature = (systems, threads=0))]
pub(crate) fn paired_exact(
    py: Python<'_>,
    systems: Vec<Vec<Bound<'_, Statistics>>>,
    threads: usize,
) -> PyResult<Vec<f64>> {
    compared(py, 1, &systems, |systems| exact(systems, threads))
}

/// Of several systems, pair by pair and metric by metric: p by approximate randomisation.
#[pyfunction]
#[pyo3(signature = (systems, samples, seed, threads=0))]
pub(crate) fn paired_permutation(
    py: Python<'_>,
    systems: Vec<Vec<Bound<'_, Statistics>>>,
    samples: usize,
    seed: u64,
    threads: usize,
) -> PyResult<Vec<f64>> {
    compared(py, samples, &systems, |systems| Systems::new(systems).permutation(samples, seed, threads))
}

/// What the work makes, without the GIL, of systems with the same metrics and rows, whose formulas are watched.
fn compared<T: Send>(
    py: Python<'_>,
    samples: usize,
    systems: &[Vec<Bound<'_, Statistics>>],
    work: impl FnOnce(&[Vec<(&dyn Formula, &Table)>]) -> T + Send,
) -> PyResult<T> {
    let systems: Vec<Vec<&Statistics>> = systems.iter().map(|system| system.iter().map(Bound::get).collect()).collect();
    let all = || systems.iter().flatten();
    let rows = all().next().map_or(0, |first| first.rows());
    if samples == 0 || rows == 0 || all().any(|other| other.rows() != rows) {
        refuse!("the bootstrap needs at least one sample, and one row per image in every table");
    }
    let names = |system: &[&Statistics]| system.iter().map(|statistics| statistics.name.clone()).collect::<Vec<_>>();
    if systems.iter().any(|system| names(system) != names(&systems[0])) {
        refuse!("systems are compared by the same metrics in the same order");
    }
    Raised::during(|raised| {
        let watched: Vec<Vec<_>> =
            systems.iter().map(|system| system.iter().map(|metric| metric.watched(raised)).collect()).collect();
        let mut formulas: Vec<Vec<(&dyn Formula, &Table)>> = Vec::new();
        for system in &watched {
            formulas.push(system.iter().map(|(formula, table)| (formula as &dyn Formula, *table)).collect());
        }
        detach(py, || work(&formulas))
    })
}

// Agreement of scores with ratings. Arrays are little-endian float64 and u32.

/// Correlations of points (float64, float64, u32): a row for all, then one per bootstrap sample over images; float64.
#[pyfunction]
#[pyo3(signature = (scores, ratings, images, samples, seed, threads=0))]
pub(crate) fn correlations(
    py: Python<'_>,
    scores: Array<f64>,
    ratings: Array<f64>,
    images: Array<u32>,
    samples: usize,
    seed: u64,
    threads: usize,
) -> PyResult<Array<f64>> {
    check_points(&scores, &ratings, &images)?;
    detach(py, || {
        let scatter = agreement::Scatter::new(&scores.0, &ratings.0, &images.0);
        let all = [vec![scatter.correlations()], scatter.bootstrap(samples, seed, threads)];
        Array(all.into_iter().flatten().flatten().collect())
    })
}

/// The correlations of the points of each image, float64; NaN where scores or ratings are constant.
#[pyfunction]
pub(crate) fn correlations_by_image(
    py: Python<'_>,
    scores: Array<f64>,
    ratings: Array<f64>,
    images: Array<u32>,
) -> PyResult<Array<f64>> {
    check_points(&scores, &ratings, &images)?;
    Ok(Array(py.detach(|| agreement::by_image(&scores.0, &ratings.0, &images.0)).into_flattened()))
}

/// How often each of `count` things is drawn in each sample, u16: the draws of every bootstrap here.
#[pyfunction]
pub(crate) fn draws(py: Python<'_>, count: usize, samples: usize, seed: u64) -> Array<u16> {
    let sample = |sample| Draw::Bootstrap.weights(count, Generator::new(seed, sample));
    py.detach(|| Array((0..samples as u64).flat_map(sample).collect()))
}

fn check_points(scores: &Array<f64>, ratings: &Array<f64>, images: &Array<u32>) -> PyResult<()> {
    let same = scores.0.len() == ratings.0.len() && ratings.0.len() == images.0.len();
    if !same || scores.0.iter().chain(&ratings.0).any(|value| !value.is_finite()) {
        refuse!("correlations need as many finite scores as ratings and images");
    }
    Ok(())
}

// Optimal transport of many problems at once.

/// Solves each problem of `sizes` (rows, columns); all supplies, demands and costs are float64, one after the other.
/// Returns values, plans (row by row), and duals of rows and columns.
#[pyfunction]
#[pyo3(signature = (sizes, supplies, demands, costs, plans=true, threads=0))]
pub(crate) fn transport(
    py: Python<'_>,
    sizes: Vec<(usize, usize)>,
    supplies: Array<f64>,
    demands: Array<f64>,
    costs: Array<f64>,
    plans: bool,
    threads: usize,
) -> PyResult<(Array<f64>, Array<f64>, Array<f64>)> {
    let (mut supply, mut demand, mut cost) = (&supplies.0[..], &demands.0[..], &costs.0[..]);
    let problem = |(rows, columns): (usize, usize)| {
        Some((supply.split_off(..rows)?, demand.split_off(..columns)?, cost.split_off(..rows * columns)?))
    };
    let problems: Option<Vec<_>> = sizes.into_iter().map(problem).collect();
    let Some(problems) = problems.filter(|_| [supply, demand, cost].iter().all(|rest| rest.is_empty())) else {
        refuse!("the numbers of masses and costs are not those of the sizes");
    };
    let bad = |value: &f64| !value.is_finite() || *value < 0.0;
    if supplies.0.iter().chain(&demands.0).chain(&costs.0).any(bad) {
        refuse!("masses and costs must be finite and not negative");
    }
    let parts = detach(py, || {
        map_parts(problems.len(), threads, |range| {
            let mut transport = Transport::default();
            let (mut values, mut moved, mut duals) = (Vec::with_capacity(range.len()), Vec::new(), Vec::new());
            for &(supply, demand, cost) in &problems[range] {
                check();
                values.push(transport.solve(supply, demand, cost));
                if plans {
                    let cells = (0..supply.len()).flat_map(|i| (0..demand.len()).map(move |j| (i, j)));
                    moved.extend(cells.map(|(i, j)| transport.moved(i, j)));
                    let (u, v) = transport.duals();
                    duals.extend(u.into_iter().chain(v));
                }
            }
            [values, moved, duals]
        })
    })?;
    let joined = |kind: usize| Array(parts.iter().flat_map(|part| &part[kind]).copied().collect());
    Ok([0, 1, 2].map(joined).into())
}
