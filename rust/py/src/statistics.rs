//! Statistics: rows of numbers, and the formula that computes scores from them.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use pyo3::types::PyMemoryView;
use sacrecap_core::engine::{self, Formula as _, Kernel, Table, mean};
use sacrecap_core::metrics::{self, diversity::grouped};
use sacrecap_core::numeric::f_measure;

use crate::convert::{Array, NamedParameters, UsageError, as_bytes, check_index, core_parameters, detach, refuse};
use crate::corpus::Corpus;
use crate::resources::gather;

/// Statistics of one metric: a row per candidate, or per image, and the formula that makes a score of a sum of rows.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct Statistics {
    pub(crate) name: String,
    pub(crate) formula: Formula,
    pub(crate) table: Arc<Table>,
}

#[pymethods]
impl Statistics {
    /// Statistics made in Python: `values` are rows of `width` float64 each; `formula` takes the list of the columns' sums
    /// and returns the score, `row_formula` the same for a single row where that differs. Without a formula the score is
    /// the mean, and a row is (score, 1). Formulas are called from any thread, one call at a time.
    #[staticmethod]
    #[pyo3(signature = (name, values, width, formula=None, row_formula=None))]
    fn of_rows(
        name: String,
        values: &Bound<'_, PyAny>,
        width: usize,
        formula: Option<Bound<'_, PyAny>>,
        row_formula: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        // A buffer of another type of number would be read as nonsense; bytes say nothing of theirs.
        let format: String = PyMemoryView::from(values)?.getattr("format")?.extract()?;
        if !["d", "<d", "B"].contains(&&*format) {
            refuse!("{name}: values must be float64, not of the buffer format {format:?}");
        }
        let values = as_bytes(values)?.extract::<Array<f64>>()?.0;
        if width == 0 || values.len() % width != 0 {
            refuse!("{name}: {} values cannot be cut into rows of {width}", values.len());
        }
        if let Some(place) = values.iter().position(|value| !value.is_finite()) {
            let (row, column, value) = (place / width, place % width, values[place]);
            refuse!("{name}: row {row}, column {column} is {value}; statistics must be finite");
        }
        if let Some(callable) = [&formula, &row_formula].into_iter().flatten().find(|callable| !callable.is_callable())
        {
            refuse!("{name}: a formula must be callable, and {} is not", callable.get_type().name()?);
        }
        let formula = match (formula, row_formula) {
            (Some(sums), row) => {
                let (sums, row) = (sums.unbind(), row.map(Bound::unbind));
                Formula::Python(Arc::new(Callables { name: name.clone(), sums, row }))
            }
            (None, None) if width == 2 => Formula::Mean,
            (None, None) => {
                refuse!("{name}: without a formula a row is (score, 1), of width 2 and not {width}");
            }
            (None, Some(_)) => return Err(UsageError::new_err(format!("{name}: a row_formula needs a formula"))),
        };
        Ok(Self::new(name, formula, width, values))
    }

    /// The weighted mean of metrics' scores of the same rows: (weight, statistics) of each, with weights above 0.
    #[staticmethod]
    fn combined(name: String, members: Vec<(f64, Bound<'_, Self>)>) -> PyResult<Self> {
        let total: f64 = members.iter().map(|(weight, _)| weight).sum();
        let rows = members.first().map_or(0, |(_, first)| first.get().rows());
        if !(members.iter().all(|(weight, member)| *weight > 0.0 && member.get().rows() == rows) && total.is_finite()) {
            refuse!("{name}: its members have other rows, or weights that are not above 0");
        }
        let mut parts: Vec<Member> = Vec::new();
        for (weight, member) in &members {
            let (start, member) = (parts.last().map_or(0, |part| part.columns.end), member.get());
            let columns = start..start + member.table.width;
            parts.push(Member { share: weight / total, zero: 0.0, formula: member.formula.clone(), columns });
        }
        let tables: Vec<_> = members.iter().map(|(_, member)| member.get().table.clone()).collect();
        let row = |row: usize| tables.iter().map(move |table| table.row(row));
        let values = (0..rows).flat_map(row).flatten().copied().collect();
        let width = parts.last().map_or(0, |part| part.columns.end);
        Ok(Self::new(name, Formula::Combined(parts.into()), width, values))
    }

    /// The same with scores as distances from a mean, in deviations; a deviation below 0 turns the direction.
    fn standardised(&self, name: String, mean: f64, deviation: f64) -> PyResult<Self> {
        let share = 1.0 / deviation;
        if !(share.is_finite() && share != 0.0 && mean.is_finite()) {
            refuse!("{name}: no deviation of {deviation} around {mean}");
        }
        let member = Member { share, zero: mean, formula: self.formula.clone(), columns: 0..self.table.width };
        Ok(Self { name, formula: Formula::Combined([member].into()), table: self.table.clone() })
    }

    /// What `__reduce__` took apart: rows of `width` float64 each, and the kind of formula with what it is made of.
    #[staticmethod]
    fn restored(
        name: String,
        values: Array<f64>,
        width: usize,
        kind: &str,
        made_of: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let formula = restored_formula(&name, kind, made_of)?;
        Ok(Self::new(name, formula, width, values.0))
    }

    /// For `pickle` and `copy`.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<impl IntoPyObject<'py>> {
        let (kind, made_of) = apart(py, &self.formula)?;
        let restored = py.get_type::<Self>().getattr("restored")?;
        Ok((restored, (self.name.clone(), self.values(), self.table.width, kind, made_of)))
    }

    #[getter]
    pub(crate) fn rows(&self) -> usize {
        self.table.rows().len()
    }

    #[getter]
    pub(crate) fn width(&self) -> usize {
        self.table.width
    }

    /// Number of rows whose score is not a number.
    #[getter]
    fn unscored(&self) -> PyResult<usize> {
        Ok(self.row_values()?.into_iter().filter(|score| score.is_nan()).count())
    }

    /// Score of all rows together. What a formula in Python raises is raised here.
    fn score(&self) -> PyResult<f64> {
        self.watching(|formula| formula.score(&self.table.sums()))
    }

    /// Score of these sums of the columns.
    fn formula(&self, sums: Vec<f64>) -> PyResult<f64> {
        if sums.len() != self.table.width {
            refuse!("{}: the formula takes {} sums, got {}", self.name, self.table.width, sums.len());
        }
        self.watching(|formula| formula.score(&sums))
    }

    /// Score of all rows but one, for each row, float64: what the jackknife is made of.
    fn scores_without_each(&self) -> PyResult<Array<f64>> {
        let sums = self.table.sums();
        let without = |row: &[f64]| sums.iter().zip(row).map(|(sum, value)| sum - value).collect::<Vec<_>>();
        self.watching(|formula| Array(self.table.rows().map(|row| formula.score(&without(row))).collect()))
    }

    /// Sums of the columns.
    fn sums(&self) -> Vec<f64> {
        self.table.sums()
    }

    /// Score of each row, float64.
    fn row_scores(&self) -> PyResult<Array<f64>> {
        self.row_values().map(Array)
    }

    /// All rows, float64, row by row.
    fn values(&self) -> Array<f64> {
        Array(self.table.values.clone())
    }

    /// The rows of these numbers, in this order; repeats are allowed.
    fn select(&self, rows: Vec<usize>) -> PyResult<Self> {
        rows.iter().try_for_each(|&row| check_index("row", row, self.rows()))?;
        Ok(self.with_rows(rows.iter().flat_map(|&row| self.table.row(row)).copied().collect()))
    }

    /// These rows, then the other's: shards of a corpus put together.
    fn merge(&self, other: &Self) -> PyResult<Self> {
        if self.name != other.name || self.table.width != other.table.width {
            refuse!("statistics of {} cannot be added to those of {}", other.name, self.name);
        }
        Ok(self.with_rows([&self.table.values[..], &other.table.values].concat()))
    }

    /// A row for each group of so many consecutive rows: the mean of their scores, or the best. Empty groups have no row.
    fn grouped(&self, sizes: Vec<usize>, best: bool) -> PyResult<Self> {
        let scores = self.row_values()?;
        if sizes.iter().sum::<usize>() != scores.len() {
            refuse!("the groups do not add up to {} rows", scores.len());
        }
        let table = grouped(&scores, &sizes, best);
        Ok(Self { name: self.name.clone(), formula: Formula::Mean, table: Arc::new(table) })
    }

    /// F of this diversity and an accuracy, both means over the same images.
    fn f(&self, accuracy: &Self, beta2: f64) -> PyResult<Self> {
        if self.rows() != accuracy.rows() {
            refuse!("F needs diversity and accuracy of the same images");
        }
        let rows = self.row_values()?.into_iter().zip(accuracy.row_values()?);
        let values = rows.flat_map(|(diversity, accuracy)| [diversity, 1.0, accuracy, 1.0]).collect();
        Ok(Self::new("F".to_owned(), Formula::F(beta2), 4, values))
    }
}

impl Statistics {
    /// Rows of that width.
    pub(crate) fn new(name: String, formula: Formula, width: usize, values: Vec<f64>) -> Self {
        Self { name, formula, table: Arc::new(Table { width, values }) }
    }

    /// Of scores that are means over rows.
    pub(crate) fn of_means(name: &str, scores: impl IntoIterator<Item = f64>) -> Self {
        let values = scores.into_iter().flat_map(|score| [score, 1.0]).collect();
        Self::new(name.to_owned(), Formula::Mean, 2, values)
    }

    /// The same metric with other rows.
    pub(crate) fn with_rows(&self, values: Vec<f64>) -> Self {
        Self::new(self.name.clone(), self.formula.clone(), self.table.width, values)
    }

    /// The formula, with its exceptions kept in `raised`, and the rows.
    pub(crate) fn watched<'a>(&'a self, raised: &'a Raised) -> (Watched<'a>, &'a Table) {
        (raised.watch(&self.formula), &self.table)
    }

    fn row_values(&self) -> PyResult<Vec<f64>> {
        self.watching(|formula| self.table.rows().map(|row| formula.row_score(row)).collect())
    }

    /// What the work makes with the formula, unless it raises.
    fn watching<T>(&self, work: impl FnOnce(Watched<'_>) -> T) -> PyResult<T> {
        Raised::during(|raised| Ok(work(raised.watch(&self.formula))))
    }
}

/// A formula as its kind and what it is made of, for `pickle`.
fn apart<'py>(py: Python<'py>, formula: &Formula) -> PyResult<(&'static str, Bound<'py, PyAny>)> {
    Ok(match formula {
        Formula::Metric(metric) => ("metric", (&metric.name, metric.parameters.clone()).into_pyobject(py)?.into_any()),
        Formula::Mean => ("mean", py.None().into_bound(py)),
        Formula::F(beta_squared) => ("f", beta_squared.into_pyobject(py)?.into_any()),
        Formula::Python(callables) => ("python", (&callables.sums, &callables.row).into_pyobject(py)?.into_any()),
        Formula::Combined(members) => {
            let parts = members.iter().map(|member| {
                let (kind, made_of) = apart(py, &member.formula)?;
                Ok((member.share, member.zero, member.columns.start, member.columns.end, kind, made_of))
            });
            ("combined", parts.collect::<PyResult<Vec<_>>>()?.into_pyobject(py)?.into_any())
        }
    })
}

/// The formula that `apart` took apart.
fn restored_formula(name: &str, kind: &str, made_of: &Bound<'_, PyAny>) -> PyResult<Formula> {
    Ok(match kind {
        "metric" => {
            let (metric, parameters) = made_of.extract()?;
            Formula::Metric(Own::build(name, metric, parameters)?)
        }
        "f" => Formula::F(made_of.extract()?),
        "python" => {
            let (sums, row) = made_of.extract()?;
            Formula::Python(Arc::new(Callables { name: name.to_owned(), sums, row }))
        }
        "combined" => {
            let parts: Vec<(f64, f64, usize, usize, String, Bound<'_, PyAny>)> = made_of.extract()?;
            let member = |(share, zero, start, end, kind, made_of): (_, _, _, _, String, Bound<'_, PyAny>)| {
                Ok(Member { share, zero, formula: restored_formula(name, &kind, &made_of)?, columns: start..end })
            };
            Formula::Combined(parts.into_iter().map(member).collect::<PyResult<Vec<_>>>()?.into())
        }
        _ => Formula::Mean,
    })
}

/// Statistics of every candidate for each metric: (printed name, kernel name, parameters). `resources` are native objects
/// that metrics need beside captions, at most one of each type; others are ignored. A combination's parameter `members` has
/// the weight, kernel name and parameters of each member.
#[pyfunction]
#[pyo3(signature = (corpus, metrics, resources=vec![], threads=0))]
pub(crate) fn evaluate(
    py: Python<'_>,
    corpus: &Corpus,
    metrics: Vec<(String, String, NamedParameters)>,
    resources: Vec<Bound<'_, PyAny>>,
    threads: usize,
) -> PyResult<Vec<Statistics>> {
    let mut formulas: Vec<(String, Arc<Own>)> = Vec::new();
    for (name, kernel, parameters) in metrics {
        let formula = Own::build(&name, kernel, parameters)?;
        formulas.push((name, formula));
    }
    let resources = gather(&resources, threads)?;
    let tables = detach(py, || {
        let kernels: Vec<&dyn Kernel> = formulas.iter().map(|(_, formula)| &*formula.kernel).collect();
        engine::evaluate(&corpus.0, &kernels, &resources)
    })?;
    let tables = tables.map_err(|(number, lack)| UsageError::new_err(format!("{} {lack}", formulas[number].0)))?;
    Ok(formulas
        .into_iter()
        .zip(tables)
        .map(|((name, formula), table)| Statistics { name, formula: Formula::Metric(formula), table })
        .collect())
}

// Formulas that compute a score from a sum of rows: a metric's own formula, or a Python callable.

/// A formula that makes a score of a sum of rows.
#[derive(Clone)]
pub(crate) enum Formula {
    /// The metric's own.
    Metric(Arc<Own>),
    /// The mean of (score, 1), or (0, 0) for a row without a score.
    Mean,
    /// F with this β² of two means, diversity and accuracy.
    F(f64),
    /// Callables of Python.
    Python(Arc<Callables>),
    /// The weighted mean of other formulas, whose columns stand side by side.
    Combined(Arc<[Member]>),
}

/// A formula of a weighted mean, its share, and its columns.
#[derive(Clone)]
pub(crate) struct Member {
    pub(crate) share: f64,
    /// The score that counts as 0; 0 but for standardised scores.
    pub(crate) zero: f64,
    pub(crate) formula: Formula,
    pub(crate) columns: Range<usize>,
}

/// A metric's own formula, and the name and parameters that it can be built again from.
pub(crate) struct Own {
    kernel: Box<dyn Kernel>,
    name: String,
    parameters: NamedParameters,
}

impl Own {
    /// Of the metric that errors call `printed`.
    fn build(printed: &str, name: String, parameters: NamedParameters) -> PyResult<Arc<Self>> {
        let kernel = metrics::kernel(&name, core_parameters(parameters.clone()));
        let kernel = kernel.map_err(|error| UsageError::new_err(format!("{printed}: {error}")))?;
        Ok(Arc::new(Self { kernel, name, parameters }))
    }
}

/// A metric's formulas in Python: each takes a list of numbers and returns one.
pub(crate) struct Callables {
    pub(crate) name: String,
    pub(crate) sums: Py<PyAny>,
    /// Of a single row, where that differs.
    pub(crate) row: Option<Py<PyAny>>,
}

/// The first exception that a formula of a call raised. The core's formulas cannot fail: after an exception they give
/// NaN, and no other callable is called.
#[derive(Default)]
pub(crate) struct Raised(OnceLock<PyErr>);

impl Raised {
    /// The formula, with its exceptions kept here.
    pub(crate) fn watch<'a>(&'a self, formula: &'a Formula) -> Watched<'a> {
        Watched { formula, raised: self }
    }

    /// What the work makes with formulas that it watches here, unless one of them raises.
    pub(crate) fn during<T>(work: impl FnOnce(&Self) -> PyResult<T>) -> PyResult<T> {
        let raised = Self::default();
        let result = work(&raised)?;
        raised.0.into_inner().map_or(Ok(result), Err)
    }

    fn call(&self, callables: &Callables, formula: &Py<PyAny>, numbers: &[f64]) -> f64 {
        if self.0.get().is_some() {
            return f64::NAN;
        }
        let score = Python::attach(|py| {
            let score = formula.bind(py).call1((numbers.to_vec(),))?;
            score.extract().map_err(|_| {
                let kind = score.get_type().name().map_or_else(|_| "an object".to_owned(), |name| name.to_string());
                UsageError::new_err(format!("{}: the formula must return a number, not {kind}", callables.name))
            })
        });
        score.unwrap_or_else(|error| {
            let _ = self.0.set(error);
            f64::NAN
        })
    }
}

/// A formula during one call.
pub(crate) struct Watched<'a> {
    formula: &'a Formula,
    raised: &'a Raised,
}

impl engine::Formula for Watched<'_> {
    fn score(&self, sums: &[f64]) -> f64 {
        match self.formula {
            Formula::Metric(metric) => metric.kernel.score(sums),
            Formula::Mean => mean(sums),
            Formula::F(beta_squared) => f_measure(mean(sums), mean(&sums[2..]), *beta_squared),
            Formula::Python(callables) => self.raised.call(callables, &callables.sums, sums),
            Formula::Combined(members) => self.mean(members, sums, false),
        }
    }
}

impl Watched<'_> {
    /// The weighted mean of the members' scores, of sums of rows or of a single row.
    fn mean(&self, members: &[Member], numbers: &[f64], single: bool) -> f64 {
        let score = |member: &Member| {
            let (formula, columns) = (self.raised.watch(&member.formula), &numbers[member.columns.clone()]);
            if single { formula.row_score(columns) } else { formula.score(columns) }
        };
        members.iter().map(|member| member.share * (score(member) - member.zero)).sum()
    }

    /// The score of a single row.
    pub(crate) fn row_score(&self, row: &[f64]) -> f64 {
        match self.formula {
            Formula::Metric(metric) => metric.kernel.row_score(row),
            Formula::Python(callables) => {
                self.raised.call(callables, callables.row.as_ref().unwrap_or(&callables.sums), row)
            }
            Formula::Combined(members) => self.mean(members, row, true),
            Formula::Mean if row[1] == 0.0 => f64::NAN,
            Formula::Mean | Formula::F(_) => self.score(row),
        }
    }
}
