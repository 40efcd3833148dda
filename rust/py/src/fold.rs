//! Folds: scores and intervals of rows that were seen and let go.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use sacrecap_core::engine;
use sacrecap_core::engine::fold::{self as core, paired};
use sacrecap_core::engine::poisson::key;
use sacrecap_core::engine::resample::percentile_intervals;
use sacrecap_core::seen::mixed;

use crate::arrow::{Texts, is_arrow};
use crate::convert::{check_index, check_whole};
use crate::errors::{DataError, UsageError, data_error, usage_error};
use crate::formula::{Formula, Raised, Watched};
use crate::interrupt::detach;
use crate::resample::{Bootstrapped, bootstrapped};
use crate::statistics::Statistics;

/// Sums of the statistics of images, of any number, and those of each sample of the Poisson bootstrap.
///
/// Folds of parts, in any order, give the same bits as the whole: as `Statistics.score`, and as `bootstrap_intervals` and
/// `paired_bootstrap` with ids.
#[pyclass(module = "sacrecap._core")]
#[derive(Clone)]
pub(crate) struct Fold {
    samples: usize,
    seed: u64,
    formulas: Vec<(String, Formula)>,
    /// None before the first rows.
    folded: Option<core::Fold>,
}

/// Arguments of `Fold.restored`.
type Apart<'py> = (usize, u64, Option<Bound<'py, PyBytes>>, Vec<Statistics>);

/// The numbers by which the bootstrap knows images.
fn keys(ids: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    Ok(if is_arrow(ids) {
        Texts::of(ids, "the image ids")?.iter().map(key).collect()
    } else {
        ids.extract::<Vec<String>>()?.iter().map(|id| key(id)).collect()
    })
}

/// The number that stands for each image in the bootstrap, little-endian u64; `ids` are strings or of Arrow.
#[pyfunction]
pub(crate) fn image_keys<'py>(py: Python<'py>, ids: &Bound<'_, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &keys(ids)?.into_iter().flat_map(u64::to_le_bytes).collect::<Vec<u8>>()))
}

/// Image keys, little-endian u64, with their bits mixed: the order in which images belong to a sample.
#[pyfunction]
pub(crate) fn mixed_keys<'py>(py: Python<'py>, keys: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let (numbers, rest) = keys.as_chunks();
    check_whole(rest, "u64")?;
    let mixed = numbers.iter().flat_map(|&number| mixed(u64::from_le_bytes(number)).to_le_bytes());
    Ok(PyBytes::new(py, &mixed.collect::<Vec<u8>>()))
}

#[pymethods]
impl Fold {
    /// An empty fold; with 0 samples, of scores alone.
    #[new]
    fn new(samples: usize, seed: u64) -> Self {
        Self { samples, seed, formulas: Vec::new(), folded: None }
    }

    /// Adds rows: the statistics of each metric, and the id of each row's image.
    #[pyo3(signature = (statistics, ids, threads=0))]
    fn add(
        &mut self,
        py: Python<'_>,
        statistics: Vec<Bound<'_, Statistics>>,
        ids: &Bound<'_, PyAny>,
        threads: usize,
    ) -> PyResult<()> {
        let statistics: Vec<&Statistics> = statistics.iter().map(Bound::get).collect();
        let keys = keys(ids)?;
        if let Some(other) = statistics.iter().find(|other| other.rows() != keys.len()) {
            let (name, rows) = (&other.name, other.rows());
            return Err(UsageError::new_err(format!("{name}: {rows} rows, and ids of {} images", keys.len())));
        }
        let formulas = statistics.iter().map(|statistics| statistics.named_formula()).collect();
        let (samples, seed) = (self.samples, self.seed);
        let part = Raised::during(|raised| {
            let watched: Vec<_> = statistics.iter().map(|statistics| statistics.watched(raised)).collect();
            detach(py, || {
                let tables: Vec<_> = watched.iter().map(|&(_, table)| table).collect();
                let is_unscored = |number: usize, row: &[f64]| watched[number].0.row_score(row).is_nan();
                core::Fold::of(&tables, &keys, is_unscored, samples, seed, threads)
            })
        })?;
        self.plus(formulas, part)
    }

    /// Adds the rows of another fold.
    fn merge(&mut self, other: &Bound<'_, Self>) -> PyResult<()> {
        let Ok(other) = other.try_borrow() else {
            return Err(UsageError::new_err("a fold cannot be merged with itself: its rows would count twice"));
        };
        if (self.samples, self.seed) != (other.samples, other.seed) {
            return Err(usage_error(core::Mismatch::Draws));
        }
        other.folded.clone().map_or(Ok(()), |folded| self.plus(other.formulas.clone(), folded))
    }

    /// Number of rows.
    #[getter]
    fn rows(&self) -> u64 {
        self.folded.as_ref().map_or(0, core::Fold::rows)
    }

    /// Number of samples.
    #[getter]
    fn samples(&self) -> usize {
        self.samples
    }

    /// Seed of the samples.
    #[getter]
    fn seed(&self) -> u64 {
        self.seed
    }

    /// Names of the metrics.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.formulas.iter().map(|(name, _)| &**name).collect()
    }

    /// Sums of each metric's columns.
    fn sums(&self) -> Vec<Vec<f64>> {
        self.folded.as_ref().map_or_else(Vec::new, |folded| (0..self.formulas.len()).map(|i| folded.sums(i)).collect())
    }

    /// Score of all rows by each metric.
    fn scores(&self) -> PyResult<Vec<f64>> {
        let Some(folded) = &self.folded else { return Ok(Vec::new()) };
        Raised::during(|raised| Ok(folded.scores(&formulas(&self.watch(raised)))))
    }

    /// Rows without a score of their own, by each metric.
    fn unscored(&self) -> Vec<u64> {
        self.folded.as_ref().map_or_else(Vec::new, |folded| folded.unscored().to_vec())
    }

    /// Percentile intervals of each metric's score.
    fn intervals(&self, py: Python<'_>, level: f64) -> PyResult<Vec<(f64, f64)>> {
        let folded = self.sampled()?;
        Raised::during(|raised| {
            let watched = self.watch(raised);
            detach(py, || percentile_intervals(&folded.sampled(&formulas(&watched)), watched.len(), level))
        })
    }

    /// Of several systems' folds over the same images: intervals of their scores, and, pair by pair, interval and p of
    /// differences.
    #[staticmethod]
    fn paired(py: Python<'_>, folds: Vec<PyRef<'_, Self>>, level: f64) -> PyResult<Bootstrapped> {
        if folds.iter().any(|fold| fold.names() != folds[0].names()) {
            return Err(UsageError::new_err("systems are compared by the same metrics in the same order"));
        }
        let folded = folds.iter().map(|fold| fold.sampled()).collect::<PyResult<Vec<_>>>()?;
        Raised::during(|raised| {
            let watched: Vec<_> = folds.iter().map(|fold| fold.watch(raised)).collect();
            let systems: Vec<_> = folded.into_iter().zip(watched.iter().map(|watched| formulas(watched))).collect();
            detach(py, || paired(&systems, level))?.map(bootstrapped).map_err(usage_error)
        })
    }

    /// The statistics of that number as a single row, their sums.
    fn statistics(&self, number: usize) -> PyResult<Statistics> {
        check_index("metric", number, self.formulas.len())?;
        Ok(self.row(number))
    }

    /// The fold as bytes, without its formulas.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.folded_bytes(py).ok_or_else(|| UsageError::new_err("a fold without rows has no bytes"))
    }

    /// What `to_bytes` made, with the names and formulas of the statistics, whose rows do not matter. Without them it has
    /// none until it is merged with a fold that has, or `with_formulas` gives it some.
    #[staticmethod]
    #[pyo3(signature = (bytes, statistics=None))]
    fn from_bytes(bytes: PyBackedBytes, statistics: Option<Vec<Bound<'_, Statistics>>>) -> PyResult<Self> {
        let folded = core::Fold::from_bytes(&bytes).map_err(data_error)?;
        let (seed, samples) = folded.draws();
        let fold = Self { samples, seed, formulas: Vec::new(), folded: Some(folded) };
        statistics.map_or(Ok(fold.clone()), |statistics| fold.with_formulas(statistics))
    }

    /// The same sums with the names and formulas of the statistics, whose rows do not matter.
    fn with_formulas(&self, statistics: Vec<Bound<'_, Statistics>>) -> PyResult<Self> {
        let statistics: Vec<&Statistics> = statistics.iter().map(Bound::get).collect();
        let own = self.folded.as_ref().map(core::Fold::widths);
        if own.is_some_and(|own| !own.eq(statistics.iter().map(|statistics| statistics.width()))) {
            return Err(DataError::new_err("a fold of other metrics: its columns are not those of the statistics"));
        }
        let formulas = statistics.iter().map(|statistics| statistics.named_formula()).collect();
        Ok(Self { formulas, ..self.clone() })
    }

    /// What `__reduce__` took apart.
    #[staticmethod]
    fn restored(
        samples: usize,
        seed: u64,
        bytes: Option<PyBackedBytes>,
        statistics: Vec<Bound<'_, Statistics>>,
    ) -> PyResult<Self> {
        let statistics = Some(statistics).filter(|statistics| !statistics.is_empty());
        bytes.map_or_else(|| Ok(Self::new(samples, seed)), |bytes| Self::from_bytes(bytes, statistics))
    }

    /// For `pickle` and `copy`.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Apart<'py>)> {
        let restored = py.get_type::<Self>().getattr("restored")?;
        let statistics = (0..self.formulas.len()).map(|number| self.row(number)).collect();
        Ok((restored, (self.samples, self.seed, self.folded_bytes(py), statistics)))
    }
}

impl Fold {
    fn plus(&mut self, formulas: Vec<(String, Formula)>, part: core::Fold) -> PyResult<()> {
        let Some(folded) = self.folded.take() else {
            (self.formulas, self.folded) = (formulas, Some(part));
            return Ok(());
        };
        if self.formulas.is_empty() {
            self.formulas.clone_from(&formulas);
        }
        let known: Vec<&str> = self.names();
        if !formulas.is_empty() && known.iter().ne(&formulas.iter().map(|(name, _)| &**name).collect::<Vec<_>>()) {
            let other: Vec<_> = formulas.into_iter().map(|(name, _)| name).collect();
            let message = format!("a fold of {} cannot take rows of {}", known.join(", "), other.join(", "));
            self.folded = Some(folded);
            return Err(UsageError::new_err(message));
        }
        if !folded.widths().eq(part.widths()) {
            self.folded = Some(folded);
            return Err(usage_error(core::Mismatch::Columns));
        }
        self.folded = Some(folded.merge(part).map_err(usage_error)?);
        Ok(())
    }

    fn row(&self, number: usize) -> Statistics {
        let sums = self.folded.as_ref().map_or_else(Vec::new, |folded| folded.sums(number));
        let (name, formula) = self.formulas[number].clone();
        Statistics::new(name, formula, sums.len(), sums)
    }

    fn folded_bytes<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let folded = self.folded.as_ref()?;
        Some(PyBytes::new(py, &py.detach(|| folded.to_bytes())))
    }

    fn watch<'a>(&'a self, raised: &'a Raised) -> Vec<Watched<'a>> {
        self.formulas.iter().map(|(_, formula)| raised.watch(formula)).collect()
    }

    /// The sums, of which samples were drawn.
    fn sampled(&self) -> PyResult<&core::Fold> {
        let folded = self.folded.as_ref().filter(|folded| self.samples > 0 && folded.rows() > 0);
        folded.ok_or_else(|| UsageError::new_err("the bootstrap needs at least one sample, and one row"))
    }
}

fn formulas<'a>(watched: &'a [Watched<'a>]) -> Vec<&'a dyn engine::Formula> {
    watched.iter().map(|formula| formula as &dyn engine::Formula).collect()
}
