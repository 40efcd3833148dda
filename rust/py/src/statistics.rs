//! Evaluation: rows of statistics, their scores and the bootstrap.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use capeval_core::diversity::{Pool, f_measure, grouped};
use capeval_core::kernel::{self, Context, Kernel, Parameters, Table, Value, mean};
use capeval_core::resample::{percentile_interval, resampled_sums};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::corpus::Corpus;
use crate::document_frequency::DocumentFrequency;
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

impl Formula {
    fn score(&self, sums: &[f64]) -> f64 {
        match self {
            Self::Metric(kernel) => kernel.score(sums),
            Self::Mean => mean(sums),
            Self::F(beta2) => f_measure(mean(sums), mean(&sums[2..]), *beta2),
        }
    }

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

    /// Score of each row, float64.
    fn row_scores<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        to_bytes(py, self.row_values())
    }

    /// All rows, float64, row by row.
    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        to_bytes(py, self.table.values.iter().copied())
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

/// A metric's parameter as Python holds it.
#[derive(FromPyObject)]
pub(crate) enum Parameter {
    Flag(bool),
    Number(f64),
    Text(String),
}

/// Statistics of every candidate for each metric: (printed name, kernel name, parameters).
#[pyfunction]
#[pyo3(signature = (corpus, metrics, document_frequency=None, meteor=None, threads=0))]
pub(crate) fn evaluate(
    py: Python<'_>,
    corpus: &Bound<'_, Corpus>,
    metrics: Vec<(String, String, BTreeMap<String, Parameter>)>,
    document_frequency: Option<&Bound<'_, DocumentFrequency>>,
    meteor: Option<&Bound<'_, MeteorTables>>,
    threads: usize,
) -> PyResult<Vec<Statistics>> {
    let mut kernels: Vec<(String, Arc<dyn Kernel>)> = Vec::new();
    for (name, kernel, parameters) in metrics {
        let parameters = parameters.into_iter().map(|(key, value)| (key, value.into())).collect();
        let kernel = kernel::kernel(&kernel, &Parameters(parameters))
            .map_err(|error| UsageError::new_err(format!("{name}: {error}")))?;
        kernels.push((name, kernel.into()));
    }
    let document_frequency = document_frequency.map(|given| given.get().0.clone());
    let context = Context { document_frequency, meteor: meteor.map(|tables| tables.get().0.clone()), threads };
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
    let rows = statistics.first().map_or(0, |first| first.rows());
    if samples == 0 || rows == 0 || statistics.iter().any(|other| other.rows() != rows) {
        return Err(UsageError::new_err(
            "the bootstrap needs at least one sample, and one row per image in every table",
        ));
    }
    Ok(py.detach(|| {
        let mut scores = resampled_scores(&statistics, samples, seed, threads);
        scores.iter_mut().map(|scores| percentile_interval(scores, level)).collect()
    }))
}

/// Of each pair (a, b) of these statistics, over the same draws of images: the interval of the difference of scores
/// a − b, and the two-sided p of no difference.
#[pyfunction]
#[pyo3(signature = (statistics, pairs, samples, level, seed, threads=0))]
pub(crate) fn paired_bootstrap(
    py: Python<'_>,
    statistics: Vec<Bound<'_, Statistics>>,
    pairs: Vec<(usize, usize)>,
    samples: usize,
    level: f64,
    seed: u64,
    threads: usize,
) -> PyResult<Vec<((f64, f64), f64)>> {
    let statistics: Vec<&Statistics> = statistics.iter().map(Bound::get).collect();
    let rows = statistics.first().map_or(0, |first| first.rows());
    let known = pairs.iter().all(|&(a, b)| a.max(b) < statistics.len());
    if samples == 0 || rows == 0 || !known || statistics.iter().any(|other| other.rows() != rows) {
        return Err(UsageError::new_err("pairs are compared over the same images, with at least one sample"));
    }
    Ok(py.detach(|| {
        let scores = resampled_scores(&statistics, samples, seed, threads);
        pairs
            .into_iter()
            .map(|(a, b)| {
                let mut differences: Vec<f64> = scores[a].iter().zip(&scores[b]).map(|(a, b)| a - b).collect();
                let p = bootstrap_p(&differences);
                (percentile_interval(&mut differences, level), p)
            })
            .collect()
    }))
}

/// Twice the share of samples on the rarer side of 0, the observed data counted among them (Davison and Hinkley 1997).
fn bootstrap_p(differences: &[f64]) -> f64 {
    let side = |beyond: fn(f64) -> bool| differences.iter().filter(|&&difference| beyond(difference)).count() + 1;
    let rarer = side(|difference| difference <= 0.0).min(side(|difference| difference >= 0.0));
    (2.0 * rarer as f64 / (differences.len() + 1) as f64).min(1.0)
}

/// The scores of each sample, metric by metric.
fn resampled_scores(statistics: &[&Statistics], samples: usize, seed: u64, threads: usize) -> Vec<Vec<f64>> {
    let mut tables: Vec<&Table> = Vec::new();
    let mut columns: Vec<Range<usize>> = Vec::new();
    for table in statistics.iter().map(|statistics| &*statistics.table) {
        // Metrics that share their statistics are resampled once.
        let place = tables.iter().position(|known| std::ptr::eq(*known, table)).unwrap_or_else(|| {
            tables.push(table);
            tables.len() - 1
        });
        let start = tables[..place].iter().map(|known| known.width).sum();
        columns.push(start..start + table.width);
    }
    let sums = resampled_sums(&tables, samples, seed, threads);
    let scores = |(statistics, columns): (&&Statistics, Range<usize>)| {
        sums.iter().map(|sums| statistics.formula.score(&sums[columns.clone()])).collect()
    };
    statistics.iter().zip(columns).map(scores).collect()
}

impl From<Parameter> for Value {
    fn from(parameter: Parameter) -> Self {
        match parameter {
            Parameter::Flag(flag) => Self::Flag(flag),
            Parameter::Number(number) => Self::Number(number),
            Parameter::Text(text) => Self::Text(text),
        }
    }
}

/// Little-endian float64 numbers.
pub(crate) fn floats(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(8).map(|number| f64::from_le_bytes(number.try_into().expect("eight bytes"))).collect()
}

pub(crate) fn to_bytes(py: Python<'_>, numbers: impl Iterator<Item = f64>) -> Bound<'_, PyBytes> {
    PyBytes::new(py, &numbers.flat_map(f64::to_le_bytes).collect::<Vec<u8>>())
}
