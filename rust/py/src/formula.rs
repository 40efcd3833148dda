//! Formulas that compute a score from a sum of rows: a metric's own formula, or a Python callable.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use sacrecap_core::Refused;
use sacrecap_core::engine::{self, Formula as _, Kernel, mean};
use sacrecap_core::numeric::f_measure::f_measure;

use crate::convert::{NamedParameters, kernel};
use crate::errors::UsageError;

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
    pub(crate) kernel: Arc<dyn Kernel>,
    pub(crate) name: String,
    pub(crate) parameters: NamedParameters,
}

impl Own {
    pub(crate) fn build(name: String, parameters: NamedParameters) -> Result<Self, Refused> {
        let kernel = kernel(&name, parameters.clone())?;
        Ok(Self { kernel, name, parameters })
    }
}

/// A metric's formulas in Python: each takes a list of numbers and returns one.
pub(crate) struct Callables {
    pub(crate) name: String,
    pub(crate) sums: Py<PyAny>,
    /// Of a single row, where that differs.
    pub(crate) row: Option<Py<PyAny>>,
}

impl Callables {
    fn call(&self, formula: &Py<PyAny>, numbers: &[f64]) -> PyResult<f64> {
        Python::attach(|py| {
            let score = formula.bind(py).call1((numbers.to_vec(),))?;
            score.extract().map_err(|_| {
                let kind = score.get_type().name().map_or_else(|_| "an object".to_owned(), |name| name.to_string());
                UsageError::new_err(format!("{}: the formula must return a number, not {kind}", self.name))
            })
        })
    }
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
        let made = work(&raised)?;
        raised.0.into_inner().map_or(Ok(made), Err)
    }

    fn call(&self, callables: &Callables, formula: &Py<PyAny>, numbers: &[f64]) -> f64 {
        if self.0.get().is_some() {
            return f64::NAN;
        }
        callables.call(formula, numbers).unwrap_or_else(|error| {
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
            Formula::Metric(own) => own.kernel.score(sums),
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
            let (formula, own) = (self.raised.watch(&member.formula), &numbers[member.columns.clone()]);
            if single { formula.row_score(own) } else { formula.score(own) }
        };
        members.iter().map(|member| member.share * (score(member) - member.zero)).sum()
    }

    /// The score of a single row.
    pub(crate) fn row_score(&self, row: &[f64]) -> f64 {
        match self.formula {
            Formula::Metric(own) => own.kernel.row_score(row),
            Formula::Python(callables) => {
                self.raised.call(callables, callables.row.as_ref().unwrap_or(&callables.sums), row)
            }
            Formula::Combined(members) => self.mean(members, row, true),
            Formula::Mean if row[1] == 0.0 => f64::NAN,
            Formula::Mean | Formula::F(_) => self.score(row),
        }
    }
}
