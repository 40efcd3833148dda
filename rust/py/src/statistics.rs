//! Evaluation: rows of statistics, their scores and the bootstrap.

use std::collections::BTreeMap;
use std::sync::Arc;

use capeval_core::engine::kernel::{self, Context, Formula as _, Kernel, Member, Parameters, Table, Value, mean};
use capeval_core::engine::paired::Systems;
use capeval_core::engine::resample::{Panel, percentile_interval};
use capeval_core::metrics::diversity::{Pool, f_measure, grouped};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::corpus::Corpus;
use crate::document_frequency::DocumentFrequency;
use crate::embedded::Embedded;
use crate::errors::UsageError;
use crate::meteor::MeteorTables;

/// What makes a score of a sum of rows.
#[derive(Clone)]
enum Formula {
    /// The metric's own.
    Metric(Arc<dyn Kernel>),
    /// The mean of (score, 1).
    Mean,
    /// F with this β² of two means, diversity and accuracy.
    F(f64),
}

impl kernel::Formula for Formula {
    fn score(&self, sums: &[f64]) -> f64 {
        match self {
            Self::Metric(kernel) => kernel.score(sums),
            Self::Mean => mean(sums),
            Self::F(beta2) => f_measure(mean(sums), mean(&sums[2..]), *beta2),
        }
    }
}

impl Formula {
    fn row_score(&self, row: &[f64]) -> f64 {
        match self {
            Self::Metric(kernel) => kernel.row_score(row),
            _ => self.score(row),
        }
    }
}

/// Statistics of one metric: a row a candidate, or an image, and the formula that makes a score of a sum of rows.
#[pyclass(frozen, module = "capeval._core")]
pub(crate) struct Statistics {
    name: String,
    formula: Formula,
    table: Arc<Table>,
}

#[pymethods]
impl Statistics {
    #[getter]
    fn rows(&self) -> usize {
        self.table.rows().len()
    }

    #[getter]
    fn width(&self) -> usize {
        self.table.width
    }

    /// Score of all rows together.
    fn score(&self) -> f64 {
        self.formula.score(&self.table.sums())
    }

    /// Score of all rows but one, for each row, float64: what the jackknife is made of.
    fn scores_without_each<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let sums = self.table.sums();
        let without = |row: &[f64]| sums.iter().zip(row).map(|(sum, value)| sum - value).collect::<Vec<_>>();
        to_bytes(py, self.table.rows().map(|row| self.formula.score(&without(row))))
    }

    /// Sums of the columns.
    fn sums(&self) -> Vec<f64> {
        self.table.sums()
    }

    /// Score of each row, float64.
    fn row_scores<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        to_bytes(py, self.row_values())
    }

    /// All rows, float64, row by row.
    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        to_bytes(py, self.table.values.iter().copied())
    }

    /// The rows of these numbers, in this order, as often as they are named.
    fn select(&self, rows: Vec<usize>) -> PyResult<Self> {
        if let Some(row) = rows.iter().find(|&&row| row >= self.rows()) {
            return Err(UsageError::new_err(format!("there is no row {row} among {}", self.rows())));
        }
        let width = self.table.width;
        let values = rows.iter().flat_map(|row| &self.table.values[row * width..(row + 1) * width]).copied().collect();
        Ok(Self { name: self.name.clone(), formula: self.formula.clone(), table: Arc::new(Table { values, width }) })
    }

    /// These rows, then the other's: shards of a corpus put together.
    fn merge(&self, other: &Bound<'_, Self>) -> PyResult<Self> {
        let other = other.get();
        if self.name != other.name {
            let message = format!("statistics of {} cannot be added to those of {}", other.name, self.name);
            return Err(UsageError::new_err(message));
        }
        let values = [&self.table.values[..], &other.table.values].concat();
        Ok(Self {
            name: self.name.clone(),
            formula: self.formula.clone(),
            table: Arc::new(Table { values, width: self.table.width }),
        })
    }

    /// A row a group of so many consecutive rows: the mean of their scores, or the best; empty groups have none.
    fn grouped(&self, sizes: Vec<usize>, best: bool) -> PyResult<Self> {
        let scores: Vec<f64> = self.row_values().collect();
        if sizes.iter().sum::<usize>() != scores.len() {
            return Err(UsageError::new_err(format!("the groups do not add up to {} rows", scores.len())));
        }
        let table = grouped(&scores, &sizes, if best { Pool::Best } else { Pool::Mean });
        Ok(Self { name: self.name.clone(), formula: Formula::Mean, table: Arc::new(table) })
    }

    /// F of this diversity and an accuracy, both means over the same images.
    fn f(&self, accuracy: &Bound<'_, Self>, beta2: f64) -> PyResult<Self> {
        let accuracy = accuracy.get();
        if self.rows() != accuracy.rows() {
            return Err(UsageError::new_err("F needs diversity and accuracy of the same images"));
        }
        let rows = self.table.rows().zip(accuracy.table.rows());
        let values = rows.flat_map(|(a, b)| [a[0], a[1], b[0], b[1]]).collect();
        Ok(Self { name: "F".to_owned(), formula: Formula::F(beta2), table: Arc::new(Table { values, width: 4 }) })
    }
}

impl Statistics {
    /// Of scores that are means over rows.
    pub(crate) fn of_means(name: &str, scores: impl IntoIterator<Item = f64>) -> Self {
        let values = scores.into_iter().flat_map(|score| [score, 1.0]).collect();
        Self { name: name.to_owned(), formula: Formula::Mean, table: Arc::new(Table { values, width: 2 }) }
    }

    fn row_values(&self) -> impl Iterator<Item = f64> {
        self.table.rows().map(|row| self.formula.row_score(row))
    }
}

impl Statistics {
    fn parts(&self) -> (&dyn kernel::Formula, &Table) {
        (&self.formula, &self.table)
    }
}

/// A metric's parameter as Python holds it.
#[derive(FromPyObject)]
pub(crate) enum Parameter {
    Flag(bool),
    Number(f64),
    Text(String),
    Members(Vec<(f64, String, BTreeMap<String, Parameter>)>),
}

/// Statistics of every candidate for each metric: (printed name, kernel name, parameters).
#[pyfunction]
#[pyo3(signature = (corpus, metrics, document_frequency=None, meteor=None, embedded=None, threads=0))]
pub(crate) fn evaluate(
    py: Python<'_>,
    corpus: &Bound<'_, Corpus>,
    metrics: Vec<(String, String, BTreeMap<String, Parameter>)>,
    document_frequency: Option<&Bound<'_, DocumentFrequency>>,
    meteor: Option<&Bound<'_, MeteorTables>>,
    embedded: Option<&Bound<'_, Embedded>>,
    threads: usize,
) -> PyResult<Vec<Statistics>> {
    let mut kernels: Vec<(String, Arc<dyn Kernel>)> = Vec::new();
    for (name, kernel, parameters) in metrics {
        let kernel = kernel::kernel(&kernel, &core_parameters(parameters))
            .map_err(|error| UsageError::new_err(format!("{name}: {error}")))?;
        kernels.push((name, kernel.into()));
    }
    let document_frequency = document_frequency.map(|given| given.get().0.clone());
    let meteor = meteor.map(|tables| tables.get().0.clone());
    let embedded = embedded.map(|embedded| embedded.get().0.clone());
    let context = Context { document_frequency, meteor, embedded, threads };
    let corpus = corpus.get();
    let tables = py.detach(|| {
        let kernels: Vec<&dyn Kernel> = kernels.iter().map(|(_, kernel)| &**kernel).collect();
        kernel::evaluate(&corpus.0, &kernels, &context)
    });
    Ok(kernels
        .into_iter()
        .zip(tables)
        .map(|((name, kernel), table)| Statistics { name, formula: Formula::Metric(kernel), table })
        .collect())
}

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
    Ok(py.detach(|| {
        let panel = Panel::new(statistics.iter().map(|statistics| statistics.parts()));
        let sampled = panel.bootstrap(samples, seed, threads);
        (0..panel.len())
            .map(|place| {
                let mut scores: Vec<f64> = sampled.iter().map(|scores| scores[place]).collect();
                percentile_interval(&mut scores, level)
            })
            .collect()
    }))
}

type Interval = (f64, f64);

/// Intervals of scores; interval and p of differences.
type Bootstrapped = (Vec<Interval>, Vec<(Interval, f64)>);

/// Of several systems, metric by metric: intervals of their scores, and, pair by pair, interval and p of differences.
#[pyfunction]
#[pyo3(signature = (systems, samples, level, seed, threads=0))]
pub(crate) fn paired_bootstrap(
    py: Python<'_>,
    systems: Vec<Vec<Bound<'_, Statistics>>>,
    samples: usize,
    level: f64,
    seed: u64,
    threads: usize,
) -> PyResult<Bootstrapped> {
    let systems = comparable(samples, &systems)?;
    Ok(py.detach(|| {
        let found = parts(&systems).bootstrap(samples, level, seed, threads);
        let differences = found.differences.into_iter().map(|difference| (difference.interval, difference.p));
        (found.intervals, differences.collect())
    }))
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
    Ok(py.detach(|| parts(&systems).permutation(samples, seed, threads)))
}

fn parts<'a>(systems: &[Vec<&'a Statistics>]) -> Systems<'a> {
    let systems: Vec<Vec<_>> =
        systems.iter().map(|system| system.iter().map(|statistics| statistics.parts()).collect()).collect();
    Systems::new(&systems)
}

fn comparable<'a>(samples: usize, systems: &'a [Vec<Bound<'_, Statistics>>]) -> PyResult<Vec<Vec<&'a Statistics>>> {
    let systems: Vec<Vec<&Statistics>> = systems.iter().map(|system| system.iter().map(Bound::get).collect()).collect();
    check_rows(samples, &systems.concat())?;
    let names = |system: &[&Statistics]| system.iter().map(|statistics| statistics.name.clone()).collect::<Vec<_>>();
    if systems.iter().any(|system| names(system) != names(&systems[0])) {
        return Err(UsageError::new_err("systems are compared by the same metrics in the same order"));
    }
    Ok(systems)
}

fn check_rows(samples: usize, statistics: &[&Statistics]) -> PyResult<()> {
    let rows = statistics.first().map_or(0, |first| first.rows());
    if samples == 0 || rows == 0 || statistics.iter().any(|other| other.rows() != rows) {
        return Err(UsageError::new_err(
            "the bootstrap needs at least one sample, and one row per image in every table",
        ));
    }
    Ok(())
}

/// Parameters as the core takes them.
pub(crate) fn core_parameters(parameters: BTreeMap<String, Parameter>) -> Parameters {
    Parameters(parameters.into_iter().map(|(key, value)| (key, value.into())).collect())
}

impl From<Parameter> for Value {
    fn from(parameter: Parameter) -> Self {
        match parameter {
            Parameter::Flag(flag) => Self::Flag(flag),
            Parameter::Number(number) => Self::Number(number),
            Parameter::Text(text) => Self::Text(text),
            Parameter::Members(members) => Self::Members(
                members
                    .into_iter()
                    .map(|(weight, kernel, parameters)| Member {
                        weight,
                        kernel,
                        parameters: core_parameters(parameters),
                    })
                    .collect(),
            ),
        }
    }
}

/// Little-endian float64 as NumPy gives them.
pub(crate) fn from_bytes(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(8).map(|number| f64::from_le_bytes(number.try_into().unwrap_or_default())).collect()
}

pub(crate) fn to_bytes(py: Python<'_>, numbers: impl Iterator<Item = f64>) -> Bound<'_, PyBytes> {
    PyBytes::new(py, &numbers.flat_map(f64::to_le_bytes).collect::<Vec<u8>>())
}
