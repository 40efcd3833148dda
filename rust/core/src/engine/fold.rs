//! What is kept of rows that were seen and let go: enough for scores, intervals and paired tests.
//!
//! Folds of parts of a corpus are added up to that of the whole, in any order: all of their numbers are exact sums.

use std::ops::Range;

use crate::engine::paired::{Bootstrap, bootstrapped};
use crate::engine::poisson::Replicates;
use crate::engine::table::distinct;
use crate::engine::{Formula, Table};
use crate::numeric::exact::ExactSum;
use crate::numeric::interrupt::check;
use crate::numeric::parallel::{map_parts, threads_for};
use crate::tables::{FileError, Format, mark};

const FORMAT: Format<5> = Format { name: "a fold", magic: mark::FOLD, version: 1 };

/// Rows that take longer to add than a thread takes to start, per thread.
const ROWS_PER_THREAD: usize = 256;

/// The sums of statistics over rows, and those of each sample of the Poisson bootstrap.
#[derive(Debug, Clone)]
pub struct Fold {
    rows: u64,
    /// The columns of each of the statistics; those of one table are the same.
    columns: Vec<Range<usize>>,
    /// Rows of each of the statistics that have no score of their own.
    unscored: Vec<u64>,
    sums: Vec<ExactSum>,
    replicates: Replicates,
}

/// Why folds cannot be added or compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mismatch {
    /// Their statistics have other columns.
    Columns,
    /// They are of other samples or another seed.
    Draws,
    /// They are not of the same images.
    Images,
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Columns => {
                "these are folds of statistics with other columns; fold the same metrics with the same options"
            }
            Self::Draws => "these are folds with other samples or another seed; give all of them the same",
            Self::Images => "these are folds of different images; systems are compared on the same ones",
        })
    }
}

impl std::error::Error for Mismatch {}

impl Fold {
    /// Of tables of equally many rows; `keys` are those of the rows' ids, and `is_unscored` says of a row of the
    /// statistics of that number whether it has no score.
    pub fn of(
        tables: &[&Table],
        keys: &[u64],
        is_unscored: impl Fn(usize, &[f64]) -> bool + Sync,
        samples: usize,
        seed: u64,
        threads: usize,
    ) -> Self {
        let (distinct, columns) = distinct(tables.iter().copied());
        let width = distinct.iter().map(|table| table.width).sum();
        let empty = || Self {
            rows: 0,
            columns: columns.clone(),
            unscored: vec![0; tables.len()],
            sums: vec![ExactSum::default(); width],
            replicates: Replicates::new(seed, samples, width),
        };
        let threads = threads_for(threads, keys.len(), ROWS_PER_THREAD);
        let parts = map_parts(keys.len(), threads, |rows| {
            let mut part = Self { rows: rows.len() as u64, ..empty() };
            for row in rows.clone() {
                check();
                let values = distinct.iter().flat_map(|table| table.row(row));
                part.sums.iter_mut().zip(values).for_each(|(sum, &value)| sum.add(value));
                for (number, (table, unscored)) in tables.iter().zip(&mut part.unscored).enumerate() {
                    *unscored += u64::from(is_unscored(number, table.row(row)));
                }
            }
            part.replicates.add(&distinct, keys, rows);
            part
        });
        parts.iter().fold(empty(), Self::plus)
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Rows without a score of their own, of each of the statistics.
    pub fn unscored(&self) -> &[u64] {
        &self.unscored
    }

    /// The seed, and the number of samples.
    pub fn draws(&self) -> (u64, usize) {
        self.replicates.draws()
    }

    /// Numbers per row, of each of the statistics.
    pub fn widths(&self) -> impl Iterator<Item = usize> {
        self.columns.iter().map(Range::len)
    }

    /// The sums of the statistics of that number.
    pub fn sums(&self, statistics: usize) -> Vec<f64> {
        self.sums[self.columns[statistics].clone()].iter().map(ExactSum::value).collect()
    }

    /// The score of all rows by each formula.
    pub fn scores(&self, formulas: &[&dyn Formula]) -> Vec<f64> {
        formulas.iter().enumerate().map(|(number, formula)| formula.score(&self.sums(number))).collect()
    }

    /// All scores of each sample; not a number where no image counts in it.
    pub fn sampled(&self, formulas: &[&dyn Formula]) -> Vec<Vec<f64>> {
        let scores = |sums: Option<Vec<f64>>| {
            check();
            let score = |(formula, columns): (&&dyn Formula, &Range<usize>)| {
                sums.as_ref().map_or(f64::NAN, |sums| formula.score(&sums[columns.clone()]))
            };
            formulas.iter().zip(&self.columns).map(score).collect()
        };
        self.replicates.sums().into_iter().map(scores).collect()
    }

    /// The fold of these rows and the other's.
    pub fn merge(self, other: Self) -> Result<Self, Mismatch> {
        if !self.widths().eq(other.widths()) {
            return Err(Mismatch::Columns);
        }
        if self.replicates.draws() != other.replicates.draws() {
            return Err(Mismatch::Draws);
        }
        if self.columns == other.columns {
            return Ok(self.plus(&other));
        }
        // What shares a table here has two there: both get the columns that keep apart what one of them does.
        let mut places: Vec<(usize, usize)> = Vec::new();
        let (mut own, mut others) = (Vec::new(), Vec::new());
        let mut columns: Vec<Range<usize>> = Vec::new();
        for (a, b) in self.columns.iter().zip(&other.columns) {
            let known = places.iter().position(|&place| place == (a.start, b.start));
            places.push((a.start, b.start));
            let place = if let Some(known) = known {
                columns[known].clone()
            } else {
                own.extend(a.clone());
                others.extend(b.clone());
                own.len() - a.len()..own.len()
            };
            columns.push(place);
        }
        Ok(self.select(&own, columns.clone()).plus(&other.select(&others, columns)))
    }

    /// Folds of parts with the same columns.
    fn plus(mut self, other: &Self) -> Self {
        self.rows += other.rows;
        self.unscored.iter_mut().zip(&other.unscored).for_each(|(count, added)| *count += added);
        self.sums.iter_mut().zip(&other.sums).for_each(|(sum, added)| sum.merge(added));
        self.replicates.merge(&other.replicates);
        self
    }

    fn select(self, selected: &[usize], columns: Vec<Range<usize>>) -> Self {
        let sums = selected.iter().map(|&column| self.sums[column].clone()).collect();
        Self { columns, sums, replicates: self.replicates.select(selected), ..self }
    }

    /// The bytes of the fold, for another process.
    pub fn to_bytes(&self) -> Vec<u8> {
        let words = |words: &mut dyn Iterator<Item = u64>| words.flat_map(u64::to_le_bytes).collect::<Vec<u8>>();
        let (seed, _) = self.replicates.draws();
        let head = [self.rows, seed].into_iter();
        let columns = self.columns.iter().flat_map(|columns| [columns.start as u64, columns.end as u64]);
        let (head, unscored) = (words(&mut head.chain(columns)), words(&mut self.unscored.iter().copied()));
        let sums = words(&mut self.sums.iter().flat_map(ExactSum::words).map(i64::cast_unsigned));
        let (totals, drawn) = self.replicates.parts();
        let totals = totals.iter().flat_map(|total| total.to_le_bytes()).collect();
        FORMAT.write(&[head, unscored, sums, totals, words(&mut drawn.iter().copied())])
    }

    /// What [`Self::to_bytes`] made.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FileError> {
        let (sections, _) = FORMAT.read(bytes)?;
        let [head, unscored, sums, totals, drawn] = sections.map(|section| &bytes[section]);
        Self::from_sections(&words(head), words(unscored), &words(sums), totals, words(drawn))
            .ok_or_else(|| FORMAT.damaged())
    }

    fn from_sections(head: &[u64], unscored: Vec<u64>, sums: &[u64], totals: &[u8], drawn: Vec<u64>) -> Option<Self> {
        let (&[rows, seed], columns) = head.split_first_chunk::<2>()?;
        let place = |&[start, end]: &[u64; 2]| Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?);
        let columns: Vec<Range<usize>> = columns.as_chunks().0.iter().map(place).collect::<Option<_>>()?;
        let sums: Vec<i64> = sums.iter().map(|word| word.cast_signed()).collect();
        let sums: Vec<ExactSum> = sums.chunks(ExactSum::WORDS).map(ExactSum::from_words).collect::<Option<_>>()?;
        let fits = |columns: &Range<usize>| columns.start <= columns.end && columns.end <= sums.len();
        if unscored.len() != columns.len() || !columns.iter().all(fits) {
            return None;
        }
        let totals = totals.as_chunks().0.iter().map(|&total| i128::from_le_bytes(total)).collect();
        let replicates = Replicates::from_parts(seed, sums.len(), totals, drawn)?;
        Some(Self { rows, columns, unscored, sums, replicates })
    }
}

/// Intervals and tests of systems, each a fold with its formulas, over the same images: see
/// [`crate::engine::paired::Systems::bootstrap`].
pub fn paired(systems: &[(&Fold, Vec<&dyn Formula>)], level: f64) -> Result<Bootstrap, Mismatch> {
    let metrics = systems.first().map_or(0, |(_, formulas)| formulas.len());
    let mut sampled: Vec<Vec<f64>> = Vec::new();
    let mut observed = Vec::new();
    for (fold, formulas) in systems {
        let (first, own) = (&systems[0].0.replicates, &fold.replicates);
        if first.draws() != own.draws() {
            return Err(Mismatch::Draws);
        }
        if (systems[0].0.rows, first.parts().1) != (fold.rows, own.parts().1) {
            return Err(Mismatch::Images);
        }
        observed.extend(fold.scores(formulas));
        let scores = fold.sampled(formulas);
        sampled.resize(scores.len(), Vec::new());
        sampled.iter_mut().zip(scores).for_each(|(sampled, scores)| sampled.extend(scores));
    }
    Ok(bootstrapped(&sampled, &observed, metrics, level))
}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::mean;
    use crate::engine::paired::Systems;
    use crate::engine::poisson::key;
    use crate::engine::resample::{Images, Panel};
    use crate::tables::test_reader;
    use proptest::prelude::*;

    struct Mean;

    impl Formula for Mean {
        fn score(&self, sums: &[f64]) -> f64 {
            mean(sums)
        }
    }

    /// Fold of these rows; of three statistics, the first two of one table where they share it.
    fn fold(rows: &[(f64, f64, bool)], first: usize, shared: bool, samples: usize) -> Fold {
        let one = Table { width: 2, values: rows.iter().flat_map(|row| [row.0, 1.0]).collect() };
        let (two, three) = (one.clone(), other(rows));
        let keys: Vec<u64> = (first..first + rows.len()).map(|row| key(&row.to_string())).collect();
        Fold::of(&[&one, if shared { &one } else { &two }, &three], &keys, |_, row| row[1] == 0.0, samples, 7, 2)
    }

    fn other(rows: &[(f64, f64, bool)]) -> Table {
        Table { width: 2, values: rows.iter().flat_map(|row| [row.1, f64::from(u8::from(row.2))]).collect() }
    }

    proptest! {
        #[test]
        fn folds_of_parts_are_that_of_the_whole(
            rows in prop::collection::vec((-3.0..3.0, -1e6..1e6, any::<bool>()), 1..150),
            cuts in prop::collection::vec((0_usize..150, any::<bool>()), 0..5),
            samples in 1_usize..20,
        ) {
            let mut cuts: Vec<(usize, bool)> = cuts.into_iter().map(|(cut, shared)| (cut.min(rows.len()), shared)).collect();
            cuts.extend([(0, false), (rows.len(), true)]);
            cuts.sort_unstable();
            let parts = cuts.windows(2).map(|pair| fold(&rows[pair[0].0..pair[1].0], pair[0].0, pair[0].1, samples));
            let merged = parts.rev().map(|part| Fold::from_bytes(&part.to_bytes()).unwrap()).reduce(|a, b| a.merge(b).unwrap()).unwrap();
            let (one, two) = (Table { width: 2, values: rows.iter().flat_map(|row| [row.0, 1.0]).collect() }, other(&rows));
            let keys: Vec<u64> = (0..rows.len()).map(|row| key(&row.to_string())).collect();
            let panel = Panel::new([&one, &one, &two].map(|table| (&Mean as &dyn Formula, table)));
            let formulas: [&dyn Formula; 3] = [&Mean, &Mean, &Mean];
            let bits = |scores: Vec<Vec<f64>>| scores.concat().into_iter().map(f64::to_bits).collect::<Vec<_>>();
            prop_assert_eq!(merged.rows(), rows.len() as u64);
            prop_assert_eq!(merged.unscored(), [0, 0, rows.iter().filter(|row| !row.2).count() as u64]);
            prop_assert_eq!(merged.scores(&formulas), panel.observed());
            prop_assert_eq!(bits(merged.sampled(&formulas)), bits(panel.poisson(&keys, samples, 7, 1)));
            let systems = [one, two].map(|table| vec![(&Mean as &dyn Formula, table)]);
            let systems = systems.each_ref().map(|system| system.iter().map(|(formula, table)| (*formula, table)).collect::<Vec<_>>());
            let expected = Systems::new(&systems).bootstrap(Images::Counted(&keys), samples, 0.9, 7, 1);
            let folds = systems.each_ref().map(|system| Fold::of(&[system[0].1], &keys, |_, _| false, samples, 7, 1));
            let found = paired(&folds.each_ref().map(|fold| (fold, vec![&Mean as &dyn Formula])), 0.9).unwrap();
            prop_assert_eq!(format!("{found:?}"), format!("{expected:?}"));
        }
    }

    #[test]
    fn every_cut_and_every_changed_byte_is_noticed() {
        let example = fold(&[(0.5, 1.5, true), (1e-9, 2.5, false)], 0, true, 3);
        let used = |fold: &Fold| {
            let formulas: Vec<&dyn Formula> = fold.widths().map(|_| &Mean as &dyn Formula).collect();
            if fold.widths().all(|width| width == 2) {
                fold.sampled(&formulas);
            }
        };
        test_reader(&example.to_bytes(), Fold::from_bytes, used);
    }

    #[test]
    fn other_folds_are_refused() {
        let rows = [(0.5, 1.5, true)];
        let one = fold(&rows, 0, true, 3);
        assert_eq!(one.clone().merge(fold(&rows, 0, true, 4)).unwrap_err(), Mismatch::Draws);
        let narrow = Fold::of(&[&other(&rows)], &[1], |_, _| false, 3, 7, 1);
        assert_eq!(one.clone().merge(narrow).unwrap_err(), Mismatch::Columns);
        let formulas = || vec![&Mean as &dyn Formula; 3];
        let images = [(&one, formulas()), (&fold(&rows, 5, true, 3), formulas())];
        assert_eq!(paired(&images, 0.9).unwrap_err(), Mismatch::Images);
    }
}
