//! Scores of resampled images: how much would a score, or the difference of two, move by chance alone?
//!
//! A sample gives every row a weight; its score is the formula over the rows' weighted sum. All tables are resampled with
//! the same weights, so that metrics and systems on the same images stay paired.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::engine::{Formula, Table, distinct};
use crate::numeric::parallel::{check, map_parts, threads_for};
use crate::numeric::{Generator, progress};

/// Samples that share one pass over the rows, which are read an eighth as often.
const BATCH: usize = 8;

/// Rows that are added up for all samples of a batch before the next: they stay in the cache.
const BLOCK: usize = 256;

/// Rows of all samples that take longer to add up than a thread takes to start.
const ROWS_PER_THREAD: usize = 1 << 16;

/// The cost of a sample besides its rows (formulas, memory), in rows.
const ROWS_PER_SAMPLE: usize = 32;

/// Up to so many rows can be drawn in fewer ways (462) than there usually are samples: each way is scored once.
const FEW_ROWS: usize = 6;

/// Columns that are added up together, in registers; rows are padded to a multiple.
const LANES: usize = 8;

/// How a sample weighs the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Draw {
    /// As many rows as there are, with replacement: a row counts as often as it is drawn.
    Bootstrap,
    /// Each row or not, as a coin falls.
    Half,
}

impl Draw {
    /// How often each of `count` rows counts.
    pub fn weights(self, count: usize, mut generator: Generator) -> Vec<u16> {
        match self {
            Self::Bootstrap => {
                let mut weights = vec![0_u16; count];
                for _ in 0..count {
                    let weight = &mut weights[generator.below(count as u64) as usize];
                    // A row is drawn 65,536 times with a probability below 10^-280000.
                    *weight = weight.saturating_add(1);
                }
                weights
            }
            Self::Half => {
                let words = std::iter::repeat_with(|| generator.next());
                words.flat_map(|word| (0..64).map(move |bit| (word >> bit & 1) as u16)).take(count).collect()
            }
        }
    }
}

/// Tables side by side: row by row, columns padded with zeros to whole lanes.
pub struct Rows {
    values: Vec<f64>,
    width: usize,
    count: usize,
}

impl Rows {
    /// Tables of equally many rows.
    pub fn side_by_side(tables: &[&Table]) -> Self {
        let count = tables.first().map_or(0, |table| table.rows().len());
        let width = tables.iter().map(|table| table.width).sum::<usize>().next_multiple_of(LANES);
        let mut values = Vec::with_capacity(width * count);
        for row in 0..count {
            for table in tables {
                values.extend_from_slice(table.row(row));
            }
            values.resize((row + 1) * width, 0.0);
        }
        Self { values, width, count }
    }

    /// The sum of all rows.
    pub fn sums(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.width];
        self.add(&vec![1; self.count], 0..self.count, &mut sums);
        sums
    }

    /// Adds a block of the rows, each times its weight, to the sums, first row to last.
    fn add(&self, weights: &[u16], block: Range<usize>, sums: &mut [f64]) {
        let drawn: Vec<(usize, f64)> =
            block.filter(|&row| weights[row] > 0).map(|row| (row * self.width, f64::from(weights[row]))).collect();
        for (chunk, sums) in sums.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            let mut sum = *sums;
            for &(start, weight) in &drawn {
                let values = &self.values[start + chunk * LANES..][..LANES];
                sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
            }
            *sums = sum;
        }
    }
}

/// Several scores of the same rows: their tables side by side, and a formula over columns for each score.
pub struct Panel<'a> {
    /// The tables side by side.
    pub rows: Rows,
    tables: Vec<&'a Table>,
    /// The formula and the columns of each score.
    pub scores: Vec<(&'a dyn Formula, Range<usize>)>,
}

impl<'a> Panel<'a> {
    /// Puts the tables, which have equally many rows, side by side; one that several kernels share is taken once.
    pub fn new(statistics: impl IntoIterator<Item = (&'a dyn Formula, &'a Table)>) -> Self {
        let (formulas, tables): (Vec<_>, Vec<_>) = statistics.into_iter().unzip();
        let (tables, columns) = distinct(tables);
        let scores = formulas.into_iter().zip(columns).collect();
        Self { rows: Rows::side_by_side(&tables), tables, scores }
    }

    /// All scores of the sums of all columns.
    pub fn scores(&self, sums: &[f64]) -> Vec<f64> {
        self.scores.iter().map(|(kernel, columns)| kernel.score(&sums[columns.clone()])).collect()
    }

    /// All scores of all rows, by sums that are rounded once.
    pub fn observed(&self) -> Vec<f64> {
        self.scores(&self.tables.iter().flat_map(|table| table.sums()).collect::<Vec<_>>())
    }

    /// All scores of each bootstrap sample; memory grows with the samples by these numbers alone.
    pub fn bootstrap(&self, samples: usize, seed: u64, threads: usize) -> Vec<Vec<f64>> {
        if self.rows.count <= FEW_ROWS {
            let mut by_weights: FxHashMap<Vec<u16>, Vec<f64>> = FxHashMap::default();
            let draw = |sample| {
                check();
                Draw::Bootstrap.weights(self.rows.count, Generator::new(seed, sample))
            };
            let sums = |weights: &Vec<u16>| weighted_sums(&self.rows, std::slice::from_ref(weights)).remove(0);
            return (0..samples as u64)
                .map(draw)
                .map(|weights| match by_weights.get(&weights) {
                    Some(scores) => scores.clone(),
                    None => by_weights.entry(weights).or_insert_with_key(|weights| self.scores(&sums(weights))).clone(),
                })
                .collect();
        }
        let part = |sums: &mut dyn Iterator<Item = Vec<f64>>| sums.map(|sums| self.scores(&sums)).collect::<Vec<_>>();
        resample(&self.rows, Draw::Bootstrap, samples, seed, threads, part).concat()
    }
}

/// Hands each thread's share of the samples, as sums of the weighted rows, to `part`; results come in order.
///
/// The sums exist for a batch of samples at a time. Sample number `s` depends on the seed and on `s` alone.
pub fn resample<R: Send>(
    rows: &Rows,
    draw: Draw,
    samples: usize,
    seed: u64,
    threads: usize,
    part: impl Fn(&mut dyn Iterator<Item = Vec<f64>>) -> R + Sync,
) -> Vec<R> {
    let threads = threads_for(threads, samples * (rows.count + ROWS_PER_SAMPLE), ROWS_PER_THREAD);
    let batches = samples.div_ceil(BATCH);
    progress::begin(batches);
    map_parts(batches, threads, |batches| {
        part(&mut batches.flat_map(|batch| {
            let sums = batch_sums(rows, draw, batch * BATCH..samples.min((batch + 1) * BATCH), seed);
            progress::done();
            sums
        }))
    })
}

fn batch_sums(rows: &Rows, draw: Draw, samples: Range<usize>, seed: u64) -> Vec<Vec<f64>> {
    let weights: Vec<Vec<u16>> =
        samples.map(|sample| draw.weights(rows.count, Generator::new(seed, sample as u64))).collect();
    weighted_sums(rows, &weights)
}

/// The sum of the rows for each weighting of them.
fn weighted_sums(rows: &Rows, weights: &[Vec<u16>]) -> Vec<Vec<f64>> {
    let mut sums = vec![vec![0.0; rows.width]; weights.len()];
    for start in (0..rows.count).step_by(BLOCK) {
        check();
        for (sums, weights) in sums.iter_mut().zip(weights) {
            rows.add(weights, start..rows.count.min(start + BLOCK), sums);
        }
    }
    sums
}

/// The percentile interval of each of so many scores over the samples.
pub fn percentile_intervals(sampled: &[Vec<f64>], scores: usize, level: f64) -> Vec<(f64, f64)> {
    (0..scores)
        .map(|place| percentile_interval(&mut sampled.iter().map(|scores| scores[place]).collect::<Vec<_>>(), level))
        .collect()
}

/// The `level` percentile interval of the values: linear interpolation between order statistics, as NumPy's default.
///
/// A value that is not a number, of a sample in which no image has a score, is left out.
pub fn percentile_interval(values: &mut [f64], level: f64) -> (f64, f64) {
    values.sort_by(|a, b| a.is_nan().cmp(&b.is_nan()).then(a.total_cmp(b)));
    let values = &values[..values.partition_point(|value| !value.is_nan())];
    if values.is_empty() {
        return (f64::NAN, f64::NAN);
    }
    let quantile = |q: f64| {
        let place = q * (values.len() - 1) as f64;
        let below = values[place.floor() as usize];
        below + (values[place.ceil() as usize] - below) * place.fract()
    };
    (quantile((1.0 - level) / 2.0), quantile(f64::midpoint(1.0, level)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(table: &Table, draw: Draw, samples: usize, seed: u64, threads: usize) -> Vec<Vec<f64>> {
        let rows = Rows::side_by_side(&[table]);
        resample(&rows, draw, samples, seed, threads, |sums| sums.collect::<Vec<_>>()).concat()
    }

    #[test]
    fn sums_are_the_same_for_any_thread_count_and_prefix_of_samples() {
        let table = Table { width: 2, values: (0..200).map(f64::from).collect() };
        for draw in [Draw::Bootstrap, Draw::Half] {
            let one = sums(&table, draw, 50, 7, 1);
            assert_eq!(one, sums(&table, draw, 50, 7, 3));
            assert_eq!(one[..20], sums(&table, draw, 20, 7, 2)[..]);
            assert_ne!(one, sums(&table, draw, 50, 8, 1));
        }
    }

    #[test]
    fn sums_are_of_the_weighted_rows() {
        let (one, two) = ((0..700).map(f64::from).collect(), (0..3_500).map(|i| f64::from(i % 13)).collect());
        let (one, two) = (Table { width: 1, values: one }, Table { width: 5, values: two });
        let rows = Rows::side_by_side(&[&one, &two]);
        assert_eq!(rows.sums()[..6], [one.sums(), two.sums()].concat());
        for draw in [Draw::Bootstrap, Draw::Half] {
            let weights = draw.weights(700, Generator::new(3, 1));
            let mut expected = [0.0; 6];
            for ((weight, one), two) in weights.iter().zip(one.rows()).zip(two.rows()) {
                let values = one.iter().chain(two);
                expected.iter_mut().zip(values).for_each(|(sum, value)| *sum += f64::from(*weight) * value);
            }
            assert_eq!(batch_sums(&rows, draw, 0..2, 3)[1][..6], expected);
        }
    }

    #[test]
    fn few_rows_are_scored_as_many_are() {
        struct Spread;
        impl Formula for Spread {
            fn score(&self, sums: &[f64]) -> f64 {
                sums[0].ln() / (1.0 + sums[1])
            }
        }
        for count in [1, FEW_ROWS, FEW_ROWS + 1] {
            let table = Table { width: 2, values: (0..2 * count).map(|i| (i as f64).sqrt() + 0.1).collect() };
            let expected: Vec<Vec<f64>> =
                sums(&table, Draw::Bootstrap, 300, 5, 1).iter().map(|sums| vec![Spread.score(sums)]).collect();
            let panel = Panel::new([(&Spread as &dyn Formula, &table)]);
            assert_eq!(panel.bootstrap(300, 5, 2), expected);
        }
    }

    #[test]
    fn bootstrap_draws_are_uniform() {
        let mut total = vec![0_u32; 10];
        for sample in 0..10_000 {
            let drawn = Draw::Bootstrap.weights(10, Generator::new(1, sample));
            assert_eq!(drawn.iter().sum::<u16>(), 10);
            total.iter_mut().zip(drawn).for_each(|(sum, times)| *sum += u32::from(times));
        }
        // Each total is binomial with mean 10,000 and standard deviation 95.
        assert!(total.iter().all(|&times| (9_500..10_500).contains(&times)), "{total:?}");
    }

    #[test]
    fn halves_take_each_row_half_the_time() {
        let mut total = vec![0_u32; 130];
        for sample in 0..10_000 {
            let drawn = Draw::Half.weights(130, Generator::new(1, sample));
            total.iter_mut().zip(drawn).for_each(|(sum, times)| *sum += u32::from(times));
        }
        // Each total is binomial with mean 5,000 and standard deviation 50.
        assert!(total.iter().all(|&times| (4_750..5_250).contains(&times)), "{total:?}");
    }

    #[test]
    fn quantiles_interpolate() {
        let mut values: Vec<f64> = (0..=100).rev().map(f64::from).collect();
        let (low, high) = percentile_interval(&mut values, 0.9);
        assert!((low - 5.0).abs() < 1e-9 && (high - 95.0).abs() < 1e-9);
        assert_eq!(percentile_interval(&mut [1.0, 2.0], 0.5), (1.25, 1.75));
        assert_eq!(percentile_interval(&mut [f64::NAN, 2.0, -f64::NAN, 1.0], 0.5), (1.25, 1.75));
        assert!(percentile_interval(&mut [f64::NAN], 0.5).0.is_nan());
    }
}
