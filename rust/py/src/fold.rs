//! Statistics added up batch by batch, on any number of machines.

use std::sync::Arc;

use capeval_core::engine::fold::{Differs, Fold as CoreFold};
use capeval_core::engine::paired::{Difference, differences};
use capeval_core::engine::resample::percentile_interval;
use capeval_core::engine::{Formula as _, Table};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{DataError, UsageError};
use crate::formula::Raised;
use crate::interrupt::detach;
use crate::statistics::Statistics;

/// Leads the bytes of a fold.
const MARK: &[u8; 8] = b"capfold1";

/// Sums of statistics, and replicates of the Poisson bootstrap; the formulas are those of statistics that are given later.
#[pyclass(module = "capeval._core")]
pub(crate) struct Fold {
    inner: CoreFold,
    /// The table of each metric: several metrics may have one in common.
    places: Vec<usize>,
    unscored: Vec<u64>,
}

fn differs(_: Differs) -> PyErr {
    UsageError::new_err("sums of other statistics, or of another bootstrap, cannot be added")
}

#[pymethods]
impl Fold {
    #[new]
    #[pyo3(signature = (samples, seed))]
    fn new(samples: usize, seed: u64) -> Self {
        Self { inner: CoreFold::new(samples, seed), places: Vec::new(), unscored: Vec::new() }
    }

    /// Adds the rows of metrics' statistics of the same images, whose keys are given as u64.
    #[pyo3(signature = (statistics, keys, threads=0))]
    fn add(
        &mut self,
        py: Python<'_>,
        statistics: Vec<Bound<'_, Statistics>>,
        keys: &Bound<'_, PyBytes>,
        threads: usize,
    ) -> PyResult<()> {
        let keys: Vec<u64> = keys.as_bytes().as_chunks().0.iter().map(|&key| u64::from_le_bytes(key)).collect();
        if statistics.is_empty() || statistics.iter().any(|one| one.get().rows() != keys.len()) {
            let message = format!("statistics of other images than the {} whose keys are given", keys.len());
            return Err(UsageError::new_err(message));
        }
        let unscored = statistics.iter().map(|one| one.get().unscored()).collect::<PyResult<Vec<_>>>()?;
        let (mut tables, mut places): (Vec<Arc<Table>>, Vec<usize>) = (Vec::new(), Vec::new());
        for one in &statistics {
            let table = one.get().shared_table();
            let known = tables.iter().position(|known| Arc::ptr_eq(known, &table));
            places.push(known.unwrap_or(tables.len()));
            if known.is_none() {
                tables.push(table);
            }
        }
        if self.places.is_empty() {
            self.unscored = vec![0; places.len()];
            self.places = places;
        } else if self.places != places {
            return Err(differs(Differs));
        }
        detach(py, || self.inner.add(&tables.iter().map(AsRef::as_ref).collect::<Vec<_>>(), &keys, threads))?
            .map_err(differs)?;
        self.unscored.iter_mut().zip(unscored).for_each(|(sum, own)| *sum += own as u64);
        Ok(())
    }

    /// Adds the sums of other images.
    fn merge(&mut self, other: &Bound<'_, Self>) -> PyResult<()> {
        let other = other.try_borrow().map_err(|_| UsageError::new_err("sums cannot be added to themselves"))?;
        if other.places.is_empty() {
            return self.inner.merge(other.inner.clone()).map_err(differs);
        }
        if self.places.is_empty() {
            self.places.clone_from(&other.places);
            self.unscored = vec![0; other.places.len()];
        } else if self.places != other.places {
            return Err(differs(Differs));
        }
        self.inner.merge(other.inner.clone()).map_err(differs)?;
        self.unscored.iter_mut().zip(&other.unscored).for_each(|(sum, own)| *sum += own);
        Ok(())
    }

    #[getter]
    fn rows(&self) -> u64 {
        self.inner.rows()
    }

    /// Rows without a score, of each metric.
    #[getter]
    fn unscored(&self) -> Vec<u64> {
        self.unscored.clone()
    }

    /// One row with the sums of a metric's columns, and the formula of `like`.
    fn total(&self, place: usize, like: &Bound<'_, Statistics>) -> PyResult<Statistics> {
        let columns = self.columns(place)?;
        Ok(like.get().with_rows(self.inner.sums()[columns].to_vec()))
    }

    /// Percentile intervals of the metrics' scores, by the formulas of `like`.
    fn intervals(&self, py: Python<'_>, like: Vec<Bound<'_, Statistics>>, level: f64) -> PyResult<Vec<(f64, f64)>> {
        let sampled = self.scores(py, &like)?;
        Ok((0..like.len())
            .map(|place| {
                percentile_interval(&mut sampled.iter().map(|scores| scores[place]).collect::<Vec<_>>(), level)
            })
            .collect())
    }

    /// Intervals and paired tests of systems, as `paired_bootstrap` returns them.
    #[staticmethod]
    #[expect(clippy::type_complexity, reason = "the stub describes it")]
    fn paired(
        py: Python<'_>,
        folds: Vec<Bound<'_, Self>>,
        like: Vec<Bound<'_, Statistics>>,
        level: f64,
    ) -> PyResult<(Vec<(f64, f64)>, Vec<((f64, f64), f64)>)> {
        let folds: Vec<PyRef<'_, Self>> = folds.iter().map(Bound::borrow).collect();
        let (mut sampled, mut observed): (Vec<Vec<f64>>, Vec<f64>) = (Vec::new(), Vec::new());
        for fold in &folds {
            let own = fold.scores(py, &like)?;
            if sampled.is_empty() {
                sampled = own;
            } else {
                sampled.iter_mut().zip(own).for_each(|(scores, own)| scores.extend(own));
            }
            for (place, one) in like.iter().enumerate() {
                observed.push(fold.total(place, one)?.score()?);
            }
        }
        let found = differences(&sampled, &observed, like.len(), level);
        let pairs = found.differences.into_iter().map(|Difference { interval, p }| (interval, p));
        Ok((found.intervals, pairs.collect()))
    }

    /// The bytes of a file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let head = [self.places.len() as u64].into_iter();
        let places = self.places.iter().map(|&place| place as u64);
        let words = head.chain(places).chain(self.unscored.iter().copied()).chain(self.inner.words());
        let bytes: Vec<u8> = MARK.iter().copied().chain(words.flat_map(u64::to_le_bytes)).collect();
        PyBytes::new(py, &bytes)
    }

    /// What `to_bytes` made.
    #[staticmethod]
    fn from_bytes(bytes: &Bound<'_, PyBytes>) -> PyResult<Self> {
        Self::read(bytes.as_bytes()).ok_or_else(|| DataError::new_err("these bytes are not sums of statistics"))
    }

    /// For `pickle` and `copy`.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (self.to_bytes(py),)))
    }
}

impl Fold {
    fn read(bytes: &[u8]) -> Option<Self> {
        let (words, rest) = bytes.strip_prefix(MARK)?.as_chunks::<8>();
        if !rest.is_empty() {
            return None;
        }
        let words: Vec<u64> = words.iter().map(|&word| u64::from_le_bytes(word)).collect();
        let (&count, words) = words.split_first()?;
        let count = usize::try_from(count).ok()?;
        let (places, words) = words.split_at_checked(count)?;
        let (unscored, words) = words.split_at_checked(count)?;
        let inner = CoreFold::from_words(words)?;
        let places: Vec<usize> = places.iter().map(|&place| place as usize).collect();
        let known = places.iter().all(|&place| place < inner.tables());
        known.then(|| Self { inner, places, unscored: unscored.to_vec() })
    }

    fn columns(&self, place: usize) -> PyResult<std::ops::Range<usize>> {
        match self.places.get(place) {
            Some(&table) => Ok(self.inner.columns(table)),
            None => Err(UsageError::new_err(format!("there is no metric number {place}"))),
        }
    }

    /// The scores of the metrics in each sample.
    fn scores(&self, py: Python<'_>, like: &[Bound<'_, Statistics>]) -> PyResult<Vec<Vec<f64>>> {
        if like.len() != self.places.len() {
            let message = format!("the formulas of {} metrics for the sums of {}", like.len(), self.places.len());
            return Err(UsageError::new_err(message));
        }
        let columns = (0..like.len()).map(|place| self.columns(place)).collect::<PyResult<Vec<_>>>()?;
        let raised = Raised::default();
        let formulas: Vec<_> = like.iter().map(|one| one.get().watched(&raised).0).collect();
        let sampled = detach(py, || {
            self.inner
                .sampled()
                .into_iter()
                .map(|sums| {
                    let Some(sums) = sums else { return vec![f64::NAN; formulas.len()] };
                    formulas.iter().zip(&columns).map(|(formula, own)| formula.score(&sums[own.clone()])).collect()
                })
                .collect::<Vec<Vec<f64>>>()
        })?;
        drop(formulas);
        raised.unless(sampled)
    }
}
