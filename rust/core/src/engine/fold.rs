//! Statistics added up batch by batch: exact sums and the Poisson bootstrap's replicates, which any parts in any order
//! make the same bits of.

use crate::engine::Table;
use crate::engine::poisson::{Replicates, replicates};
use crate::numeric::exact::ExactSum;
use crate::numeric::parallel::{map_parts, threads_for};

/// Rows that take longer to add up than a thread takes to start.
const ROWS_PER_THREAD: usize = 4096;

/// Sums of the rows of several tables, and their replicates.
#[derive(Debug, Clone)]
pub struct Fold {
    seed: u64,
    samples: usize,
    /// Columns of each table; empty before the first batch.
    widths: Vec<usize>,
    rows: u64,
    /// Of all columns of all tables, side by side.
    sums: Vec<ExactSum>,
    /// None without samples, and before the first batch.
    replicates: Option<Replicates>,
}

/// Why sums cannot be added to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Differs;

impl Fold {
    /// Of no row; without samples there are no replicates.
    pub fn new(samples: usize, seed: u64) -> Self {
        Self { seed, samples, widths: Vec::new(), rows: 0, sums: Vec::new(), replicates: None }
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Number of tables; none before the first batch.
    pub fn tables(&self) -> usize {
        self.widths.len()
    }

    /// Adds the rows of tables that are of the same images; `keys` are those of their ids.
    ///
    /// # Errors
    /// Where the tables are not those of the batches before.
    pub fn add(&mut self, tables: &[&Table], keys: &[u64], threads: usize) -> Result<(), Differs> {
        let widths: Vec<usize> = tables.iter().map(|table| table.width).collect();
        if self.widths.is_empty() {
            self.widths = widths;
            self.sums = vec![ExactSum::default(); self.widths.iter().sum()];
        } else if self.widths != widths {
            return Err(Differs);
        }
        self.rows += keys.len() as u64;
        let parts = map_parts(keys.len(), threads_for(threads, keys.len(), ROWS_PER_THREAD), |rows| {
            let mut sums = vec![ExactSum::default(); self.sums.len()];
            for row in rows {
                let values = tables.iter().flat_map(|table| table.row(row));
                sums.iter_mut().zip(values).for_each(|(sum, &value)| sum.add(value));
            }
            sums
        });
        for part in parts {
            self.sums.iter_mut().zip(&part).for_each(|(sum, part)| sum.merge(part));
        }
        if self.samples > 0 {
            let added = replicates(tables, keys, self.samples, self.seed, threads);
            match &mut self.replicates {
                Some(known) => known.merge(added),
                none => *none = Some(added),
            }
        }
        Ok(())
    }

    /// Adds the sums of other rows.
    ///
    /// # Errors
    /// Where they are of other tables, samples or another seed.
    pub fn merge(&mut self, other: Self) -> Result<(), Differs> {
        if (self.seed, self.samples) != (other.seed, other.samples) {
            return Err(Differs);
        }
        if self.widths.is_empty() {
            *self = other;
            return Ok(());
        }
        if other.widths.is_empty() {
            return Ok(());
        }
        if self.widths != other.widths {
            return Err(Differs);
        }
        self.rows += other.rows;
        self.sums.iter_mut().zip(&other.sums).for_each(|(sum, added)| sum.merge(added));
        if let (Some(known), Some(added)) = (&mut self.replicates, other.replicates) {
            known.merge(added);
        }
        Ok(())
    }

    /// The columns of table number `table` among all.
    pub fn columns(&self, table: usize) -> std::ops::Range<usize> {
        let start = self.widths[..table].iter().sum();
        start..start + self.widths[table]
    }

    /// Sums of all columns, each rounded once.
    pub fn sums(&self) -> Vec<f64> {
        self.sums.iter().map(ExactSum::value).collect()
    }

    /// Sums of all columns in each sample; None where no image counts in it.
    pub fn sampled(&self) -> Vec<Option<Vec<f64>>> {
        self.replicates.clone().map_or_else(Vec::new, |mut replicates| replicates.sums())
    }

    /// Everything as whole numbers, for [`Self::from_words`].
    pub fn words(&self) -> Vec<u64> {
        let mut words = vec![self.seed, self.samples as u64, self.rows, self.widths.len() as u64];
        words.extend(self.widths.iter().map(|&width| width as u64));
        for sum in &self.sums {
            words.extend(sum.words().into_iter().map(i64::cast_unsigned));
        }
        if let Some(mut replicates) = self.replicates.clone() {
            let (totals, drawn) = replicates.parts();
            for total in totals {
                words.extend([*total as u64, (*total >> 64) as u64]);
            }
            words.extend(drawn);
        }
        words
    }

    /// What [`Self::words`] gave; None for anything else.
    pub fn from_words(words: &[u64]) -> Option<Self> {
        let (&[seed, samples, rows, tables], rest) = words.split_first_chunk::<4>()?;
        let (samples, tables) = (usize::try_from(samples).ok()?, usize::try_from(tables).ok()?);
        let (widths, mut rest) = rest.split_at_checked(tables)?;
        let widths: Vec<usize> = widths.iter().map(|&width| width as usize).collect();
        let width = widths.iter().try_fold(0_usize, |sum, &width| sum.checked_add(width))?;
        let size = ExactSum::default().words().len();
        let mut sums = Vec::new();
        for _ in 0..width {
            let (own, others) = rest.split_at_checked(size)?;
            sums.push(ExactSum::from_words(&own.iter().map(|word| word.cast_signed()).collect::<Vec<_>>())?);
            rest = others;
        }
        let mut replicates = None;
        if samples > 0 && tables > 0 {
            let (totals, drawn) = rest.split_at_checked(samples.checked_mul(width)?.checked_mul(2)?)?;
            let totals = totals.as_chunks::<2>().0.iter().map(|&[low, high]| i128::from(high.cast_signed()) << 64 | i128::from(low));
            if drawn.len() != samples {
                return None;
            }
            replicates = Some(Replicates::from_parts(seed, width, totals.collect(), drawn.to_vec())?);
            rest = &[];
        }
        rest.is_empty().then_some(Self { seed, samples, widths, rows, sums, replicates })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::poisson::key;

    fn tables(rows: usize) -> (Vec<Table>, Vec<u64>) {
        let table = |width: usize, factor: f64| Table {
            width,
            values: (0..width * rows).map(|i| (i as f64 * 0.7).sin() * factor).collect(),
        };
        (vec![table(2, 1.0), table(3, 1e6)], (0..rows).map(|row| key(&row.to_string())).collect())
    }

    fn part(tables: &[Table], keys: &[u64], rows: std::ops::Range<usize>) -> Fold {
        let cut: Vec<Table> = tables
            .iter()
            .map(|one| Table { width: one.width, values: one.values[one.width * rows.start..one.width * rows.end].to_vec() })
            .collect();
        let mut fold = Fold::new(20, 7);
        fold.add(&cut.iter().collect::<Vec<_>>(), &keys[rows], 1).unwrap();
        fold
    }

    #[test]
    fn parts_and_order_do_not_matter() {
        let (tables, keys) = tables(300);
        let whole = part(&tables, &keys, 0..300);
        let mut merged = Fold::new(20, 7);
        for rows in [200..300, 0..1, 1..200] {
            let own = part(&tables, &keys, rows);
            merged.merge(Fold::from_words(&own.words()).unwrap()).unwrap();
        }
        merged.merge(Fold::new(20, 7)).unwrap();
        assert_eq!((merged.rows(), merged.sums(), merged.sampled()), (300, whole.sums(), whole.sampled()));
        assert_eq!(merged.sums()[merged.columns(1)], tables[1].sums());
    }

    #[test]
    fn what_differs_is_refused() {
        let (tables, keys) = tables(3);
        let mut fold = part(&tables, &keys, 0..3);
        assert_eq!(fold.merge(Fold::new(20, 8)), Err(Differs));
        assert_eq!(fold.merge(Fold::new(19, 7)), Err(Differs));
        assert_eq!(fold.add(&[&tables[0]], &keys, 1), Err(Differs));
        let mut other = Fold::new(20, 7);
        other.add(&[&tables[0]], &keys, 1).unwrap();
        assert_eq!(fold.merge(other), Err(Differs));
    }

    #[test]
    fn words_that_are_not_a_fold_are_refused() {
        let (tables, keys) = tables(3);
        let words = part(&tables, &keys, 0..3).words();
        for end in 0..words.len() {
            assert!(Fold::from_words(&words[..end]).is_none(), "{end}");
        }
        assert!(Fold::from_words(&[words, vec![0]].concat()).is_none());
        assert!(Fold::from_words(&Fold::new(0, 3).words()).is_some());
    }
}
