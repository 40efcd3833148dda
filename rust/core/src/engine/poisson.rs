//! The Poisson bootstrap: in each sample an image counts as often as a Poisson number of mean 1 says (Hanley and `MacGibbon`
//! 2006; Chamandy et al. 2012).
//!
//! The number depends on the seed, the sample and the image's id alone. So images can come in any order and in any parts,
//! on several machines, and the sums of a sample are the same bits: they are whole numbers, of values rounded to 2⁻⁴⁰.

use crate::engine::Table;
use crate::engine::resample::Panel;
use crate::numeric::generator::Generator;
use crate::numeric::interrupt::check;
use crate::numeric::parallel::{map_parts, threads_for};

/// Cumulative Poisson probabilities times 2³²: the number drawn is how many of them a random number reaches. Beyond 12
/// there is less than one part in 2³².
const REACHED: [u32; 12] = cumulative();

/// Bits of a value's fraction that count: rounding to them moves a mean of values by less than 10⁻¹².
const FRACTION: i32 = 40;

/// Values are added in two parts, so that sums of each part are exact in a float64: units of 2⁻¹⁴ below 2¹², and the rest.
const COARSE: i32 = 14;
const LARGE: f64 = 4096.0;

/// Rows after which parts go to the totals: 2²⁶ · 12 · 2²² is below 2⁵³.
const FLUSH: u32 = 1 << 22;

/// Rows that take longer to add than a thread takes to start, per thread.
const ROWS_PER_THREAD: usize = 256;

const fn cumulative() -> [u32; 12] {
    let mut reached = [0; 12];
    let (mut probability, mut sum, mut number) = (0.367_879_441_171_442_33, 0.0, 0);
    while number < 12 {
        sum += probability;
        reached[number] = (sum * 4_294_967_296.0) as u32;
        number += 1;
        probability /= number as f64;
    }
    reached
}

/// The number by which an image is known to all samples: FNV-1a of its id.
pub fn key(id: &str) -> u64 {
    id.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// How often the image counts in each sample.
pub fn weights(seed: u64, key: u64, weights: &mut [u8]) {
    let mut generator = Generator::new(seed, key);
    let mut pairs = weights.chunks_mut(2);
    pairs.by_ref().for_each(|pair| {
        let random = generator.next();
        for (weight, random) in pair.iter_mut().zip([random as u32, (random >> 32) as u32]) {
            *weight = REACHED.iter().map(|&reached| u8::from(random >= reached)).sum();
        }
    });
}

/// Weighted sums of rows for each sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Replicates {
    seed: u64,
    samples: usize,
    width: usize,
    /// Sample after sample, column after column, in units of 2⁻⁴⁰.
    totals: Vec<i128>,
    /// What is not in the totals yet, in units of 2⁻¹⁴ and of 2⁻⁴⁰.
    coarse: Vec<f64>,
    fine: Vec<f64>,
    rows: u32,
    /// Weights that each sample gave out: none, and there is no score.
    drawn: Vec<u64>,
    weights: Vec<u8>,
}

impl Replicates {
    /// Of rows of `width` numbers.
    pub fn new(seed: u64, samples: usize, width: usize) -> Self {
        let size = samples * width;
        Self {
            seed,
            samples,
            width,
            totals: vec![0; size],
            coarse: vec![0.0; size],
            fine: vec![0.0; size],
            rows: 0,
            drawn: vec![0; samples],
            weights: vec![0; samples],
        }
    }

    /// Adds an image's row, of finite numbers; `key` is that of its id.
    pub fn add(&mut self, key: u64, row: impl Iterator<Item = f64>) {
        let mut parts: Vec<(f64, f64)> = Vec::with_capacity(self.width);
        let mut large: Vec<(usize, i128)> = Vec::new();
        for (column, value) in row.enumerate() {
            if value.abs() < LARGE {
                let coarse = (value * 2_f64.powi(COARSE)).trunc();
                let fine = ((value - coarse / 2_f64.powi(COARSE)) * 2_f64.powi(FRACTION)).round_ties_even();
                parts.push((coarse, fine));
            } else {
                large.push((column, (value * 2_f64.powi(FRACTION)).round_ties_even() as i128));
                parts.push((0.0, 0.0));
            }
        }
        weights(self.seed, key, &mut self.weights);
        let (coarse, fine) = (self.coarse.chunks_exact_mut(self.width), self.fine.chunks_exact_mut(self.width));
        for (((&weight, coarse), fine), drawn) in self.weights.iter().zip(coarse).zip(fine).zip(&mut self.drawn) {
            if weight > 0 {
                *drawn += u64::from(weight);
                let weight = f64::from(weight);
                for ((coarse, fine), &(high, low)) in coarse.iter_mut().zip(fine).zip(&parts) {
                    *coarse += weight * high;
                    *fine += weight * low;
                }
            }
        }
        for (column, units) in large {
            for (sample, &weight) in self.weights.iter().enumerate() {
                self.totals[sample * self.width + column] += i128::from(weight) * units;
            }
        }
        self.rows += 1;
        if self.rows == FLUSH {
            self.flush();
        }
    }

    fn flush(&mut self) {
        for ((total, coarse), fine) in self.totals.iter_mut().zip(&mut self.coarse).zip(&mut self.fine) {
            *total += ((*coarse as i128) << (FRACTION - COARSE)) + *fine as i128;
            (*coarse, *fine) = (0.0, 0.0);
        }
        self.rows = 0;
    }

    /// Adds the sums of other images.
    ///
    /// # Panics
    /// Where they are of another seed or shape.
    pub fn merge(&mut self, mut other: Self) {
        assert_eq!((self.seed, self.samples, self.width), (other.seed, other.samples, other.width));
        self.flush();
        other.flush();
        self.totals.iter_mut().zip(&other.totals).for_each(|(total, added)| *total += added);
        self.drawn.iter_mut().zip(&other.drawn).for_each(|(drawn, added)| *drawn += added);
    }

    /// The sums of each sample; None where no image counts in it.
    pub fn sums(&mut self) -> Vec<Option<Vec<f64>>> {
        self.flush();
        let number = |&total: &i128| total as f64 / 2_f64.powi(FRACTION);
        self.totals
            .chunks_exact(self.width.max(1))
            .zip(&self.drawn)
            .map(|(totals, &drawn)| (drawn > 0).then(|| totals.iter().map(number).collect()))
            .collect()
    }

    /// The sums as whole numbers, for another process: totals, then what each sample gave out.
    pub fn parts(&mut self) -> (&[i128], &[u64]) {
        self.flush();
        (&self.totals, &self.drawn)
    }

    /// What [`Self::parts`] gave; None where the sizes are not those of the samples and the width.
    pub fn from_parts(seed: u64, width: usize, totals: Vec<i128>, drawn: Vec<u64>) -> Option<Self> {
        let empty = Self::new(seed, drawn.len(), width);
        (totals.len() == empty.totals.len()).then_some(Self { totals, drawn, ..empty })
    }
}

/// The tables' replicates; `keys` are those of the rows' ids.
pub fn replicates(tables: &[&Table], keys: &[u64], samples: usize, seed: u64, threads: usize) -> Replicates {
    let width = tables.iter().map(|table| table.width).sum();
    let threads = threads_for(threads, keys.len(), ROWS_PER_THREAD);
    let parts = map_parts(keys.len(), threads, |rows| {
        let mut part = Replicates::new(seed, samples, width);
        for row in rows {
            check();
            part.add(keys[row], tables.iter().flat_map(|table| table.row(row).iter().copied()));
        }
        part
    });
    let mut parts = parts.into_iter();
    let mut whole = parts.next().unwrap_or_else(|| Replicates::new(seed, samples, width));
    parts.for_each(|part| whole.merge(part));
    whole
}

impl Panel<'_> {
    /// All scores of each sample of the Poisson bootstrap; not a number where no image counts in it.
    pub fn poisson(&self, keys: &[u64], samples: usize, seed: u64, threads: usize) -> Vec<Vec<f64>> {
        let mut replicates = replicates(self.tables(), keys, samples, seed, threads);
        let none = || vec![f64::NAN; self.len()];
        replicates.sums().into_iter().map(|sums| sums.map_or_else(none, |sums| self.scores(&sums))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::exact::ExactSum;

    fn table(rows: usize) -> (Table, Vec<u64>) {
        let values = (0..3 * rows).map(|i| (i as f64).sin() * [1.0, 300.0, 4e6][i % 3]).collect();
        (Table { width: 3, values }, (0..rows).map(|row| key(&format!("image {row}"))).collect())
    }

    fn slow(table: &Table, keys: &[u64], samples: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut drawn = vec![vec![0; samples]; keys.len()];
        drawn.iter_mut().zip(keys).for_each(|(drawn, &key)| weights(seed, key, drawn));
        let sum = |sample: usize, column: usize| {
            ExactSum::of(drawn.iter().zip(table.rows()).map(|(drawn, row)| f64::from(drawn[sample]) * row[column]))
        };
        (0..samples).map(|sample| (0..table.width).map(|column| sum(sample, column)).collect()).collect()
    }

    #[test]
    fn sums_are_of_the_weighted_rows() {
        let (table, keys) = table(500);
        let found = replicates(&[&table], &keys, 40, 3, 1).sums();
        for (found, expected) in found.iter().zip(slow(&table, &keys, 40, 3)) {
            for (found, expected) in found.as_ref().unwrap().iter().zip(expected) {
                assert!(
                    (found - expected).abs() < 500.0 * 2_f64.powi(-FRACTION) + 1e-15 * expected.abs(),
                    "{found} {expected}"
                );
            }
        }
    }

    #[test]
    fn threads_parts_and_order_do_not_matter() {
        let (table, keys) = table(700);
        let whole = replicates(&[&table], &keys, 30, 5, 1).sums();
        assert_eq!(replicates(&[&table], &keys, 30, 5, 3).sums(), whole);
        let mut parts = Replicates::new(5, 30, 3);
        for start in [400, 0] {
            let mut part = Replicates::new(5, 30, 3);
            for row in (start..if start == 0 { 400 } else { 700 }).rev() {
                part.add(keys[row], table.row(row).iter().copied());
            }
            let (totals, drawn) = part.parts();
            let part = Replicates::from_parts(5, 3, totals.to_vec(), drawn.to_vec()).unwrap();
            parts.merge(part);
        }
        assert_eq!(parts.sums(), whole);
        assert_ne!(replicates(&[&table], &keys, 30, 6, 1).sums(), whole);
    }

    #[test]
    fn samples_are_a_prefix_of_more_samples() {
        let (table, keys) = table(20);
        let more = replicates(&[&table], &keys, 21, 5, 1).sums();
        assert_eq!(replicates(&[&table], &keys, 7, 5, 1).sums(), more[..7]);
    }

    #[test]
    fn what_is_added_is_flushed_in_time() {
        let mut replicates = Replicates { rows: FLUSH - 1, ..Replicates::new(1, 4, 1) };
        replicates.add(key("a"), [0.75].into_iter());
        assert_eq!((replicates.rows, replicates.coarse.as_slice()), (0, [0.0; 4].as_slice()));
        let mut drawn = [0; 4];
        weights(1, key("a"), &mut drawn);
        let expected: Vec<_> = drawn.iter().map(|&w| (w > 0).then(|| vec![0.75 * f64::from(w)])).collect();
        assert_eq!(replicates.sums(), expected);
    }

    #[test]
    fn weights_are_poisson_numbers_of_mean_one() {
        let mut counts = [0_u32; 13];
        let mut drawn = [0; 1000];
        for image in 0..1000 {
            weights(9, key(&image.to_string()), &mut drawn);
            for &weight in &drawn {
                counts[usize::from(weight)] += 1;
            }
        }
        let mut probability = (-1.0_f64).exp();
        for (number, &count) in counts.iter().enumerate().take(7) {
            let (mean, far) = (1e6 * probability, 5.0 * (1e6 * probability).sqrt());
            assert!((f64::from(count) - mean).abs() < far, "{number}: {count} instead of {mean}");
            probability /= (number + 1) as f64;
        }
    }

    #[test]
    fn ids_that_look_alike_draw_independently() {
        // The correlation of two images' weights over 20,000 samples is 0 with a standard deviation of 0.007.
        let (mut one, mut other) = (vec![0; 20_000], vec![0; 20_000]);
        for (a, b) in [("1", "2"), ("a", "aa"), ("COCO_1", "COCO_10"), ("", "0")] {
            weights(0, key(a), &mut one);
            weights(0, key(b), &mut other);
            let products = one.iter().zip(&other).map(|(&a, &b)| (f64::from(a) - 1.0) * (f64::from(b) - 1.0));
            assert!((products.sum::<f64>() / 20_000.0).abs() < 0.035, "{a:?} and {b:?}");
        }
    }

    #[test]
    fn a_sample_without_images_has_no_sums() {
        let mut replicates = Replicates::new(0, 200, 1);
        replicates.add(key("only"), [1.0].into_iter());
        let empty = replicates.sums().iter().filter(|sums| sums.is_none()).count();
        assert!((40..110).contains(&empty), "{empty}");
    }

    #[test]
    fn parts_of_another_size_are_refused() {
        assert!(Replicates::from_parts(0, 2, vec![0; 5], vec![0; 3]).is_none());
    }
}
