//! Statistics of rows that come in parts: put one after the other, or added up.

use std::sync::Arc;

use pyo3::prelude::*;
use sacrecap_core::engine::Table;
use sacrecap_core::numeric::exact::ExactSum;
use sacrecap_core::numeric::parallel::check;

use crate::convert::{Array, DataError, check_index, detach, refuse};
use crate::statistics::{Raised, Statistics};

/// The metrics of statistics, without rows. Raises `UsageError` for other metrics than before.
fn metrics_of(before: &[Statistics], statistics: &[&Statistics]) -> PyResult<Vec<Statistics>> {
    let metrics = without_rows(statistics.iter().copied());
    check_names(before, &metrics)?;
    if statistics.iter().any(|metric| metric.rows() != statistics[0].rows()) {
        refuse!("these are statistics of different numbers of rows");
    }
    Ok(metrics)
}

fn check_names(before: &[Statistics], added: &[Statistics]) -> PyResult<()> {
    let [added, before] =
        [added, before].map(|all| all.iter().map(|metric| &*metric.name).collect::<Vec<_>>().join(", "));
    if !before.is_empty() && before != added {
        refuse!("statistics of {added} cannot be added to those of {before}");
    }
    Ok(())
}

fn without_rows<'a>(metrics: impl IntoIterator<Item = &'a Statistics>) -> Vec<Statistics> {
    metrics.into_iter().map(|metric| metric.with_rows(Vec::new())).collect()
}

/// Rows of several metrics' statistics, part after part. A table that metrics share, as those of BLEU do, is held once.
#[pyclass(module = "sacrecap._core")]
#[derive(Default)]
pub(crate) struct StatisticsBuilder {
    /// Without rows.
    metrics: Vec<Statistics>,
    /// Which table each metric has.
    places: Vec<usize>,
    tables: Vec<Table>,
}

#[pymethods]
impl StatisticsBuilder {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Adds rows: the statistics of each metric, of the same images.
    fn add(&mut self, statistics: Vec<Bound<'_, Statistics>>) -> PyResult<()> {
        let statistics: Vec<&Statistics> = statistics.iter().map(Bound::get).collect();
        let metrics = metrics_of(&self.metrics, &statistics)?;
        if self.metrics.is_empty() {
            let mut firsts: Vec<&Arc<Table>> = Vec::new();
            for metric in &statistics {
                let table = &metric.table;
                let earlier = firsts.iter().position(|first| Arc::ptr_eq(first, table));
                self.places.push(earlier.unwrap_or(firsts.len()));
                if earlier.is_none() {
                    firsts.push(table);
                }
            }
            self.tables = firsts.iter().map(|table| Table { width: table.width, values: Vec::new() }).collect();
            self.metrics = metrics;
        }
        let first_of = |table: usize| self.places.iter().position(|&place| place == table).unwrap_or_default();
        let parts: Vec<&Arc<Table>> = (0..self.tables.len()).map(|table| &statistics[first_of(table)].table).collect();
        if self.tables.iter().zip(&parts).any(|(table, part)| table.width != part.width) {
            refuse!("these are statistics with other columns; give the same options to all");
        }
        self.tables.iter_mut().zip(parts).for_each(|(table, part)| table.values.extend_from_slice(&part.values));
        Ok(())
    }

    /// The statistics of each metric, of all rows; the builder has none afterwards.
    fn finish(&mut self) -> Vec<Statistics> {
        let Self { metrics, places, tables } = std::mem::take(self);
        let tables: Vec<Arc<Table>> = tables.into_iter().map(Arc::new).collect();
        let rows = places.into_iter().map(|place| tables[place].clone());
        metrics.into_iter().zip(rows).map(|(metric, table)| Statistics { table, ..metric }).collect()
    }

    /// What `__reduce__` took apart.
    #[staticmethod]
    fn restored(
        metrics: Vec<Bound<'_, Statistics>>,
        places: Vec<usize>,
        tables: Vec<(usize, Array<f64>)>,
    ) -> PyResult<Self> {
        let metrics = without_rows(metrics.iter().map(Bound::get));
        let tables: Vec<Table> = tables.into_iter().map(|(width, values)| Table { width, values: values.0 }).collect();
        if places.len() != metrics.len() || places.iter().any(|&place| place >= tables.len()) {
            return Err(DataError::new_err("these are no statistics that were pickled"));
        }
        Ok(Self { metrics, places, tables })
    }

    /// For `pickle` and `copy`.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<impl IntoPyObject<'py>> {
        let restored = py.get_type::<Self>().getattr("restored")?;
        let tables: Vec<_> = self.tables.iter().map(|table| (table.width, Array(table.values.clone()))).collect();
        Ok((restored, (without_rows(&self.metrics), self.places.clone(), tables)))
    }
}

/// Sums of several metrics' statistics over rows that nobody keeps: exact, so that any parts in any order give the same
/// bits as all rows together.
#[pyclass(module = "sacrecap._core")]
#[derive(Default)]
pub(crate) struct ExactSums {
    rows: u64,
    /// Without rows.
    metrics: Vec<Statistics>,
    /// Rows without a score of their own, by each metric.
    unscored: Vec<u64>,
    sums: Vec<Vec<ExactSum>>,
}

#[pymethods]
impl ExactSums {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Adds rows: the statistics of each metric, of the same images.
    fn add(&mut self, py: Python<'_>, statistics: Vec<Bound<'_, Statistics>>) -> PyResult<()> {
        let statistics: Vec<&Statistics> = statistics.iter().map(Bound::get).collect();
        let metrics = metrics_of(&self.metrics, &statistics)?;
        let (unscored, sums) = Raised::during(|raised| {
            let watched: Vec<_> = statistics.iter().map(|metric| metric.watched(raised)).collect();
            detach(py, || {
                let added = watched.iter().map(|(formula, table)| {
                    let mut sums = vec![ExactSum::default(); table.width];
                    let mut unscored = 0;
                    for row in table.rows() {
                        check();
                        sums.iter_mut().zip(row).for_each(|(sum, &value)| sum.add(value));
                        unscored += u64::from(formula.row_score(row).is_nan());
                    }
                    (unscored, sums)
                });
                added.unzip()
            })
        })?;
        let rows = statistics.first().map_or(0, |metric| metric.rows()) as u64;
        self.plus(&Self { rows, metrics, unscored, sums })
    }

    /// Adds the rows of others.
    fn merge(&mut self, other: &Bound<'_, Self>) -> PyResult<()> {
        let Ok(other) = other.try_borrow() else {
            refuse!("sums cannot be merged with themselves: their rows would count twice");
        };
        self.plus(&other)
    }

    /// Number of rows.
    #[getter]
    fn rows(&self) -> u64 {
        self.rows
    }

    /// Rows without a score of their own, by each metric.
    #[getter]
    fn unscored(&self) -> Vec<u64> {
        self.unscored.clone()
    }

    /// The statistics of the metric of that number as a single row, their sums.
    fn statistics(&self, number: usize) -> PyResult<Statistics> {
        check_index("metric", number, self.metrics.len())?;
        Ok(self.metrics[number].with_rows(self.sums[number].iter().map(ExactSum::value).collect()))
    }

    /// What `__reduce__` took apart.
    #[staticmethod]
    fn restored(
        rows: u64,
        metrics: Vec<Bound<'_, Statistics>>,
        unscored: Vec<u64>,
        sums: Vec<Vec<Vec<i64>>>,
    ) -> PyResult<Self> {
        let metrics = without_rows(metrics.iter().map(Bound::get));
        let read =
            |metric: &Vec<Vec<i64>>| metric.iter().map(|words| ExactSum::from_words(words)).collect::<Option<_>>();
        let sums: Option<Vec<Vec<ExactSum>>> = sums.iter().map(read).collect();
        let sums = sums.filter(|sums| sums.len() == metrics.len() && unscored.len() == metrics.len());
        let sums = sums.ok_or_else(|| DataError::new_err("these are no sums that were pickled"))?;
        Ok(Self { rows, metrics, unscored, sums })
    }

    /// For `pickle` and `copy`.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<impl IntoPyObject<'py>> {
        let restored = py.get_type::<Self>().getattr("restored")?;
        let words: Vec<Vec<_>> = self.sums.iter().map(|metric| metric.iter().map(ExactSum::words).collect()).collect();
        Ok((restored, (self.rows, without_rows(&self.metrics), self.unscored.clone(), words)))
    }
}

impl ExactSums {
    fn plus(&mut self, other: &Self) -> PyResult<()> {
        if self.metrics.is_empty() {
            (self.metrics, self.unscored) = (without_rows(&other.metrics), vec![0; other.unscored.len()]);
            self.sums = other.sums.iter().map(|metric| vec![ExactSum::default(); metric.len()]).collect();
        }
        if !other.metrics.is_empty() {
            check_names(&self.metrics, &other.metrics)?;
        }
        if self.sums.iter().zip(&other.sums).any(|(sums, added)| sums.len() != added.len()) {
            refuse!("these are statistics with other columns; give the same options to all");
        }
        self.rows += other.rows;
        self.unscored.iter_mut().zip(&other.unscored).for_each(|(count, added)| *count += added);
        let pairs = self.sums.iter_mut().flatten().zip(other.sums.iter().flatten());
        pairs.for_each(|(sum, added)| sum.merge(added));
        Ok(())
    }
}
