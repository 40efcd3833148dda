//! The bootstrap over images: how much would the score move had other images been drawn?
//!
//! A sample draws as many rows as there are, with replacement; its score is the formula over the drawn rows' sum. All
//! tables are resampled with the same draws, so two systems on the same images are compared pairwise for free.

use crate::kernel::Table;
use crate::parallel::map_parts;

/// Samples that share one pass over the rows: their counts fit the cache, the rows are read an eighth as often.
const BATCH: usize = 8;

/// Sums of the drawn rows: for each sample, the sums of all tables side by side (widths added).
///
/// Sample number `s` depends on the seed and on `s` alone; memory does not grow with the number of samples beyond its
/// sums.
pub fn resampled_sums(tables: &[&Table], samples: usize, seed: u64, threads: usize) -> Vec<Vec<f64>> {
    let rows = side_by_side(tables);
    let batches = map_parts(samples.div_ceil(BATCH), threads, |batches| {
        batches
            .flat_map(|batch| {
                let numbers: Vec<usize> = (batch * BATCH..samples.min((batch + 1) * BATCH)).collect();
                batch_sums(&rows, &numbers, seed)
            })
            .collect::<Vec<_>>()
    });
    batches.concat()
}

fn side_by_side(tables: &[&Table]) -> Table {
    let width = tables.iter().map(|table| table.width).sum();
    let count = tables.first().map_or(0, |table| table.rows().len());
    let mut values = Vec::with_capacity(width * count);
    for row in 0..count {
        for table in tables {
            values.extend_from_slice(&table.values[row * table.width..(row + 1) * table.width]);
        }
    }
    Table { width, values }
}

fn batch_sums(rows: &Table, samples: &[usize], seed: u64) -> Vec<Vec<f64>> {
    let count = rows.rows().len();
    let drawn: Vec<Vec<u16>> = samples.iter().map(|&sample| draw(count, Generator::new(seed, sample as u64))).collect();
    let mut sums = vec![vec![0.0; rows.width]; samples.len()];
    for (number, row) in rows.rows().enumerate() {
        for (sums, drawn) in sums.iter_mut().zip(&drawn) {
            let times = f64::from(drawn[number]);
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += times * value);
        }
    }
    sums
}

/// How often each of `count` rows is drawn in `count` draws.
pub fn draw(count: usize, mut generator: Generator) -> Vec<u16> {
    let mut times = vec![0_u16; count];
    for _ in 0..count {
        let row = &mut times[generator.below(count as u64) as usize];
        *row = row.checked_add(1).expect("no row is drawn 65,536 times");
    }
    times
}

/// The `level` percentile interval of the values: linear interpolation between order statistics, as NumPy's default.
pub fn percentile_interval(values: &mut [f64], level: f64) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let quantile = |q: f64| {
        let place = q * (values.len() - 1) as f64;
        let below = values[place.floor() as usize];
        below + (values[place.ceil() as usize] - below) * place.fract()
    };
    (quantile((1.0 - level) / 2.0), quantile(f64::midpoint(1.0, level)))
}

/// `SplitMix64` (Steele, Lea, Flood 2014): small, fast, and any seed is a good seed.
#[derive(Debug, Clone)]
pub struct Generator(u64);

impl Generator {
    /// Stream number `stream` of the seed.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut generator = Self(seed);
        let key = generator.next();
        Self(key ^ stream.wrapping_mul(0xd134_2543_de82_ef95))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, by multiplication; the bias is below 2⁻³² for any corpus that fits in memory.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_the_same_for_any_thread_count_and_prefix_of_samples() {
        let table = Table { width: 2, values: (0..200).map(f64::from).collect() };
        let one = resampled_sums(&[&table, &table], 50, 7, 1);
        assert_eq!(one, resampled_sums(&[&table, &table], 50, 7, 3));
        assert_eq!(one[..20], resampled_sums(&[&table, &table], 20, 7, 2)[..]);
        assert!(one.iter().all(|sums| sums[..2] == sums[2..]));
        assert_ne!(one, resampled_sums(&[&table, &table], 50, 8, 1));
    }

    #[test]
    fn draws_are_uniform() {
        let mut total = vec![0_u32; 10];
        for sample in 0..10_000 {
            let drawn = draw(10, Generator::new(1, sample));
            total.iter_mut().zip(drawn).for_each(|(sum, times)| *sum += u32::from(times));
        }
        // Each total is binomial with mean 10,000 and standard deviation 95.
        assert!(total.iter().all(|&times| (9_500..10_500).contains(&times)), "{total:?}");
    }

    #[test]
    fn quantiles_interpolate() {
        let mut values: Vec<f64> = (0..=100).rev().map(f64::from).collect();
        let (low, high) = percentile_interval(&mut values, 0.9);
        assert!((low - 5.0).abs() < 1e-9 && (high - 95.0).abs() < 1e-9);
        assert_eq!(percentile_interval(&mut [1.0, 2.0], 0.5), (1.25, 1.75));
    }
}
