//! The bootstrap and the permutation test.

use pyo3::prelude::*;
use sacrecap_core::engine::paired::{Bootstrap, Systems, exact};
use sacrecap_core::engine::resample::{Panel, percentile_intervals};
use sacrecap_core::engine::{Formula, Table};

use crate::errors::refuse;
use crate::formula::{Raised, Watched};
use crate::interrupt::detach;
use crate::statistics::Statistics;

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
    let statistics: Vec<&Statistics> = statistics.iter().map(Bound::get).collect();
    check_rows(samples, &statistics)?;
    Raised::during(|raised| {
        let watched = watch(&statistics, raised);
        detach(py, || {
            let panel = Panel::new(parts(&watched));
            let sampled = panel.bootstrap(samples, seed, threads);
            percentile_intervals(&sampled, panel.score_count(), level)
        })
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
    let systems = comparable(samples, &systems)?;
    together(&systems, |systems| detach(py, || Systems::new(systems).bootstrap(samples, level, seed, threads)))
}

/// Of several systems, pair by pair and metric by metric: p by all swaps, without drawing.
#[pyfunction]
#[pyo3(signature = (systems, threads=0))]
pub(crate) fn paired_exact(
    py: Python<'_>,
    systems: Vec<Vec<Bound<'_, Statistics>>>,
    threads: usize,
) -> PyResult<Vec<f64>> {
    let systems = comparable(1, &systems)?;
    together(&systems, |systems| detach(py, || exact(systems, threads)))
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
    let systems = comparable(samples, &systems)?;
    together(&systems, |systems| detach(py, || Systems::new(systems).permutation(samples, seed, threads)))
}

/// Formulas with the tables that they are applied to.
fn watch<'a>(statistics: &[&'a Statistics], raised: &'a Raised) -> Vec<(Watched<'a>, &'a Table)> {
    statistics.iter().map(|statistics| statistics.watched(raised)).collect()
}

fn parts<'a>(watched: &'a [(Watched<'a>, &'a Table)]) -> impl Iterator<Item = (&'a dyn Formula, &'a Table)> + use<'a> {
    watched.iter().map(|(formula, table)| (formula as &dyn Formula, *table))
}

/// What the work finds of systems, whose formulas are watched.
fn together<T>(
    systems: &[Vec<&Statistics>],
    work: impl FnOnce(&[Vec<(&dyn Formula, &Table)>]) -> PyResult<T>,
) -> PyResult<T> {
    Raised::during(|raised| {
        let watched: Vec<_> = systems.iter().map(|system| watch(system, raised)).collect();
        work(&watched.iter().map(|system| parts(system).collect()).collect::<Vec<_>>())
    })
}

fn comparable<'a>(samples: usize, systems: &'a [Vec<Bound<'_, Statistics>>]) -> PyResult<Vec<Vec<&'a Statistics>>> {
    let systems: Vec<Vec<&Statistics>> = systems.iter().map(|system| system.iter().map(Bound::get).collect()).collect();
    check_rows(samples, &systems.concat())?;
    let names = |system: &[&Statistics]| system.iter().map(|statistics| statistics.name.clone()).collect::<Vec<_>>();
    if systems.iter().any(|system| names(system) != names(&systems[0])) {
        refuse!("systems are compared by the same metrics in the same order");
    }
    Ok(systems)
}

fn check_rows(samples: usize, statistics: &[&Statistics]) -> PyResult<()> {
    let rows = statistics.first().map_or(0, |first| first.rows());
    if samples == 0 || rows == 0 || statistics.iter().any(|other| other.rows() != rows) {
        refuse!("the bootstrap needs at least one sample, and one row per image in every table");
    }
    Ok(())
}
