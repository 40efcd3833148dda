//! The Poisson bootstrap: in each sample an image counts as often as a Poisson number of mean 1 says (Hanley and `MacGibbon`
//! 2006; Chamandy et al. 2012).
//!
//! The number depends on the seed, the sample and the image's id alone. So images can come in any order and in any parts,
//! on several machines, and the sums of a sample are the same bits: they are whole numbers, of values rounded to 2⁻⁴⁰.

#![allow(clippy::inline_always, reason = "what is not inlined is compiled without the processor's wide instructions")]
#![allow(clippy::needless_range_loop, reason = "closures are compiled without them too; loops over places are not")]

use std::ops::Range;

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

/// Values from this size on are added one by one: in units they do not fit 64 bits.
const LARGE: f64 = 4_194_304.0;

/// Rows that are added together.
const BLOCK: usize = 64;

/// Sums of weighted numbers that stay below this are exact in a float64.
const EXACT: u128 = 1 << 53;

/// Numbers too large for that are added in two parts, the lower one of so many bits.
const LOW: u32 = 26;

/// Samples that are added side by side, and columns.
const SAMPLES: usize = 8;
const COLUMNS: usize = 4;

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

/// Numbers that are drawn at a time.
const DRAWN: usize = 32;

/// Of numbers drawn, all but one in 1,700 reach no more than so many probabilities: one in 53 of [`DRAWN`] does.
const OFTEN: usize = 6;

/// How often the image counts in each sample.
#[inline(always)]
fn draw(seed: u64, key: u64, weights: &mut [u8]) {
    let mut generator = Generator::new(seed, key);
    let mut random = [0_u32; DRAWN];
    for weights in weights.chunks_mut(DRAWN) {
        for pair in random.as_chunks_mut::<2>().0 {
            let drawn = generator.next();
            *pair = [drawn as u32, (drawn >> 32) as u32];
        }
        let mut numbers = [0_u32; DRAWN];
        let mut more = false;
        for (number, &random) in numbers.iter_mut().zip(&random) {
            for &reached in &REACHED[..OFTEN] {
                *number += u32::from(random >= reached);
            }
            more |= random >= REACHED[OFTEN];
        }
        if more {
            for (number, &random) in numbers.iter_mut().zip(&random) {
                for &reached in &REACHED[OFTEN..] {
                    *number += u32::from(random >= reached);
                }
            }
        }
        for (weight, number) in weights.iter_mut().zip(numbers) {
            *weight = number as u8;
        }
    }
}

/// Weighted sums of rows for each sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Replicates {
    seed: u64,
    samples: usize,
    width: usize,
    /// Sample after sample, column after column, in units of 2⁻⁴⁰.
    totals: Vec<i128>,
    /// Weights that each sample gave out: none, and there is no score.
    drawn: Vec<u64>,
}

impl Replicates {
    /// Of rows of `width` numbers.
    pub fn new(seed: u64, samples: usize, width: usize) -> Self {
        Self { seed, samples, width, totals: vec![0; samples * width], drawn: vec![0; samples] }
    }

    /// Adds rows, of finite numbers, of tables side by side; `keys` are those of all rows' ids.
    pub fn add(&mut self, tables: &[&Table], keys: &[u64], rows: Range<usize>) {
        for start in rows.clone().step_by(BLOCK) {
            check();
            let block = start..rows.end.min(start + BLOCK);
            let values = block.clone().flat_map(|row| tables.iter().flat_map(move |table| table.row(row)));
            self.add_block(&keys[block], &values.copied().collect::<Vec<f64>>());
        }
    }

    /// Adds at most [`BLOCK`] rows as fast as this processor can.
    fn add_block(&mut self, keys: &[u64], rows: &[f64]) {
        #[cfg(target_arch = "x86_64")]
        if let Some(lanes) = pulp::x86::V3::try_new() {
            return lanes.vectorize(Adding { replicates: self, keys, rows });
        }
        self.add_here(keys, rows);
    }

    /// Loops and no closures: a closure is compiled for every processor.
    #[inline(always)]
    fn add_here(&mut self, keys: &[u64], rows: &[f64]) {
        if self.samples == 0 {
            return;
        }
        let padded = self.samples.next_multiple_of(SAMPLES);
        let mut weights = vec![0_u8; BLOCK * padded];
        for (&key, weights) in keys.iter().zip(weights.chunks_exact_mut(padded)) {
            draw(self.seed, key, &mut weights[..self.samples]);
        }
        let columns = Columns::of(rows, self.width);
        for first in (0..self.samples).step_by(SAMPLES) {
            let mut tile = [[0.0; SAMPLES]; BLOCK];
            let mut drawn = [0_u32; SAMPLES];
            for (tile, weights) in tile.iter_mut().zip(weights.chunks_exact(padded)) {
                for place in 0..SAMPLES {
                    let weight = weights[first + place];
                    tile[place] = f64::from(weight);
                    drawn[place] += u32::from(weight);
                }
            }
            let count = SAMPLES.min(self.samples - first);
            for place in 0..count {
                self.drawn[first + place] += u64::from(drawn[place]);
            }
            for (values, parts) in columns.values.iter().zip(columns.parts.chunks(COLUMNS)) {
                let sums = weighted(&tile, values);
                for (sums, part) in sums.iter().zip(parts) {
                    for place in 0..count {
                        let total = &mut self.totals[(first + place) * self.width + part.column];
                        *total += i128::from(sums[place] as i64) << part.shift;
                    }
                }
            }
        }
        for &(row, column, units) in &columns.large {
            for sample in 0..self.samples {
                self.totals[sample * self.width + column] += i128::from(weights[row * padded + sample]) * units;
            }
        }
    }

    /// Adds the sums of other images.
    ///
    /// # Panics
    /// Where they are of another seed or shape.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!((self.seed, self.samples, self.width), (other.seed, other.samples, other.width));
        self.totals.iter_mut().zip(&other.totals).for_each(|(total, added)| *total += added);
        self.drawn.iter_mut().zip(&other.drawn).for_each(|(drawn, added)| *drawn += added);
    }

    /// The seed, and the number of samples.
    pub fn draws(&self) -> (u64, usize) {
        (self.seed, self.samples)
    }

    /// Of these columns; repeats are allowed.
    #[must_use]
    pub fn select(&self, columns: &[usize]) -> Self {
        let rows = self.totals.chunks_exact(self.width.max(1));
        let totals = rows.flat_map(|totals| columns.iter().map(|&column| totals[column])).collect();
        Self { totals, drawn: self.drawn.clone(), ..Self::new(self.seed, self.samples, columns.len()) }
    }

    /// The sums of each sample; None where no image counts in it.
    pub fn sums(&self) -> Vec<Option<Vec<f64>>> {
        let number = |&total: &i128| total as f64 / 2_f64.powi(FRACTION);
        self.totals
            .chunks_exact(self.width.max(1))
            .zip(&self.drawn)
            .map(|(totals, &drawn)| (drawn > 0).then(|| totals.iter().map(number).collect()))
            .collect()
    }

    /// The sums as whole numbers, for another process: totals, then what each sample gave out.
    pub fn parts(&self) -> (&[i128], &[u64]) {
        (&self.totals, &self.drawn)
    }

    /// What [`Self::parts`] gave; None where the sizes are not those of the samples and the width.
    pub fn from_parts(seed: u64, width: usize, totals: Vec<i128>, drawn: Vec<u64>) -> Option<Self> {
        if drawn.len().checked_mul(width) != Some(totals.len()) {
            return None;
        }
        Some(Self { seed, samples: drawn.len(), width, totals, drawn })
    }
}

/// A call that is compiled for the processor's wide instructions.
#[cfg(target_arch = "x86_64")]
struct Adding<'a> {
    replicates: &'a mut Replicates,
    keys: &'a [u64],
    rows: &'a [f64],
}

#[cfg(target_arch = "x86_64")]
impl pulp::NullaryFnOnce for Adding<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.replicates.add_here(self.keys, self.rows);
    }
}

/// The numbers of a block of rows, as whole numbers of which weighted sums are exact in a float64.
#[derive(Default)]
struct Columns {
    parts: Vec<Part>,
    /// Of [`COLUMNS`] parts at a time, row by row.
    values: Vec<[[f64; COLUMNS]; BLOCK]>,
    /// Row, column and units of numbers that 64 bits do not hold.
    large: Vec<(usize, usize, i128)>,
}

/// A part of a column: numbers times `2^shift` units.
struct Part {
    column: usize,
    shift: u32,
}

impl Columns {
    #[inline(always)]
    fn of(rows: &[f64], width: usize) -> Self {
        let mut columns = Self::default();
        for column in 0..width {
            let mut units = [0_i64; BLOCK];
            let (mut bits, mut size) = (0_u64, 0_u128);
            for (row, units) in units.iter_mut().enumerate().take(rows.len() / width) {
                let value = rows[row * width + column];
                let rounded = (value * 2_f64.powi(FRACTION)).round_ties_even();
                if value.abs() < LARGE {
                    *units = rounded as i64;
                    bits |= units.unsigned_abs();
                    size += u128::from(units.unsigned_abs());
                } else {
                    columns.large.push((row, column, rounded as i128));
                }
            }
            if bits == 0 {
                continue;
            }
            // Whole numbers, such as counts, have no fraction to keep: their units are larger.
            let shift = bits.trailing_zeros();
            if (size >> shift) * (REACHED.len() as u128) < EXACT {
                columns.push(Part { column, shift }, &units, shift, !0);
            } else {
                columns.push(Part { column, shift }, &units, shift, (1 << LOW) - 1);
                columns.push(Part { column, shift: shift + LOW }, &units, shift + LOW, !0);
            }
        }
        columns
    }

    #[inline(always)]
    fn push(&mut self, part: Part, units: &[i64; BLOCK], shift: u32, mask: i64) {
        let place = self.parts.len() % COLUMNS;
        self.parts.push(part);
        if place == 0 {
            self.values.push([[0.0; COLUMNS]; BLOCK]);
        }
        let values = self.values.last_mut().expect("one was pushed");
        for (values, &units) in values.iter_mut().zip(units) {
            values[place] = (units >> shift & mask) as f64;
        }
    }
}

/// Sums of the weighted numbers: of each column, for each sample.
#[inline(always)]
fn weighted(tile: &[[f64; SAMPLES]; BLOCK], values: &[[f64; COLUMNS]; BLOCK]) -> [[f64; SAMPLES]; COLUMNS] {
    let mut sums = [[0.0; SAMPLES]; COLUMNS];
    for row in 0..BLOCK {
        for column in 0..COLUMNS {
            for sample in 0..SAMPLES {
                sums[column][sample] += tile[row][sample] * values[row][column];
            }
        }
    }
    sums
}

/// The tables' replicates; `keys` are those of the rows' ids.
pub fn replicates(tables: &[&Table], keys: &[u64], samples: usize, seed: u64, threads: usize) -> Replicates {
    let mut whole = Replicates::new(seed, samples, tables.iter().map(|table| table.width).sum());
    let threads = threads_for(threads, keys.len(), ROWS_PER_THREAD);
    let parts = map_parts(keys.len(), threads, |rows| {
        let mut part = whole.clone();
        part.add(tables, keys, rows);
        part
    });
    for part in &parts {
        whole.merge(part);
    }
    whole
}

impl Panel<'_> {
    /// All scores of each sample of the Poisson bootstrap; not a number where no image counts in it.
    pub fn poisson(&self, keys: &[u64], samples: usize, seed: u64, threads: usize) -> Vec<Vec<f64>> {
        let replicates = replicates(self.tables(), keys, samples, seed, threads);
        let none = || vec![f64::NAN; self.len()];
        replicates.sums().into_iter().map(|sums| sums.map_or_else(none, |sums| self.scores(&sums))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::exact::ExactSum;
    use proptest::prelude::*;

    fn table(rows: usize) -> (Table, Vec<u64>) {
        let values = (0..3 * rows).map(|i| (i as f64).sin() * [1.0, 300.0, 4e6][i % 3]).collect();
        (Table { width: 3, values }, (0..rows).map(|row| key(&format!("image {row}"))).collect())
    }

    fn slow(table: &Table, keys: &[u64], samples: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut drawn = vec![vec![0; samples]; keys.len()];
        drawn.iter_mut().zip(keys).for_each(|(drawn, &key)| draw(seed, key, drawn));
        let sum = |sample: usize, column: usize| {
            let times = |drawn: &Vec<u8>, row: &[f64]| std::iter::repeat_n(row[column], usize::from(drawn[sample]));
            ExactSum::of(drawn.iter().zip(table.rows()).flat_map(|(drawn, row)| times(drawn, row)))
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
                part.add(&[&table], &keys, row..row + 1);
            }
            let (totals, drawn) = part.parts();
            let part = Replicates::from_parts(5, 3, totals.to_vec(), drawn.to_vec()).unwrap();
            parts.merge(&part);
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

    /// The units of a number, as `FRACTION` defines them.
    fn units(value: f64) -> i128 {
        (value * 2_f64.powi(FRACTION)).round_ties_even() as i128
    }

    proptest! {
        #[test]
        fn sums_are_whole_numbers_of_units(
            values in prop::collection::vec(prop_oneof![
                -10.0..10.0, (0_i32..60).prop_map(f64::from), -1e7..1e7, -1e13..1e13, -1e-11..1e-11, Just(0.0),
                Just(2_f64.powi(-41)), Just(-3.0 * 2_f64.powi(-41)), Just(LARGE), Just(-4_194_303.999_999_9),
            ], 0..200),
            samples in 0_usize..50,
            width in 1_usize..7,
        ) {
            let table = Table { width, values };
            let (mut totals, mut given) = (vec![0; samples * width], vec![0; samples]);
            for (image, row) in table.rows().enumerate() {
                let mut drawn = vec![0; samples];
                draw(3, image as u64, &mut drawn);
                for (sample, &weight) in drawn.iter().enumerate() {
                    given[sample] += u64::from(weight);
                    for (column, &value) in row.iter().enumerate() {
                        totals[sample * width + column] += i128::from(weight) * units(value);
                    }
                }
            }
            let keys: Vec<u64> = (0..table.rows().len() as u64).collect();
            let found = replicates(&[&table], &keys, samples, 3, 1);
            prop_assert_eq!(found.parts(), (&totals[..], &given[..]));
        }

        #[test]
        fn weights_are_how_many_probabilities_are_reached(seed in any::<u64>(), key in any::<u64>(), samples in 0_usize..300) {
            let mut drawn = vec![0; samples];
            draw(seed, key, &mut drawn);
            let mut generator = Generator::new(seed, key);
            for pair in drawn.chunks(2) {
                let random = generator.next();
                for (&weight, random) in pair.iter().zip([random as u32, (random >> 32) as u32]) {
                    let expected = REACHED.iter().filter(|&&reached| random >= reached).count();
                    prop_assert_eq!(usize::from(weight), expected);
                }
            }
        }
    }

    #[test]
    fn large_sums_are_exact() {
        let value = 4_194_303.999_999_999;
        let times = |key: &u64| {
            let mut drawn = [0];
            draw(0, *key, &mut drawn);
            drawn[0]
        };
        // Of this seed, the images that draw much.
        let keys: Vec<u64> = (0..).filter(|key| times(key) >= 4).take(BLOCK).collect();
        let expected: i128 = keys.iter().map(|key| i128::from(times(key)) * units(value)).sum();
        let table = Table { width: 1, values: vec![value; BLOCK] };
        assert_eq!(replicates(&[&table], &keys, 1, 0, 1).parts().0, [expected]);
    }

    #[test]
    fn weights_are_poisson_numbers_of_mean_one() {
        let mut counts = [0_u32; 13];
        let mut drawn = [0; 1000];
        for image in 0..1000 {
            draw(9, key(&image.to_string()), &mut drawn);
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
            draw(0, key(a), &mut one);
            draw(0, key(b), &mut other);
            let products = one.iter().zip(&other).map(|(&a, &b)| (f64::from(a) - 1.0) * (f64::from(b) - 1.0));
            assert!((products.sum::<f64>() / 20_000.0).abs() < 0.035, "{a:?} and {b:?}");
        }
    }

    #[test]
    fn a_sample_without_images_has_no_sums() {
        let replicates = replicates(&[&Table { width: 1, values: vec![1.0] }], &[key("only")], 200, 0, 1);
        let empty = replicates.sums().iter().filter(|sums| sums.is_none()).count();
        assert!((40..110).contains(&empty), "{empty}");
    }

    #[test]
    fn parts_of_another_size_are_refused() {
        assert!(Replicates::from_parts(0, 2, vec![0; 5], vec![0; 3]).is_none());
    }
}
