//! Numerical building blocks that know nothing of captions.

pub mod exact;
pub mod hash_table;
pub mod parallel;
pub mod progress;
pub mod spectrum;
pub mod transport;

use std::ops::Range;

/// The part of that number, of parts that lie one after the other and end at these places.
pub fn part(ends: &[usize], number: usize) -> Range<usize> {
    number.checked_sub(1).map_or(0, |before| ends[before])..ends[number]
}

/// The parts of so many things that end at these places, and the one behind the last; a place beyond them is their end.
pub(crate) fn parts(ends: &[usize], count: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    ends.iter().copied().chain([count]).map(move |end| {
        let end = end.clamp(start, count);
        std::mem::replace(&mut start, end)..end
    })
}

// The F measure.

/// F = (1 + β²) P R / (β² P + R): the harmonic mean of precision and recall, with recall counted β² times as much.
///
/// It is 0 if either side is 0, and recall where β² is infinite.
pub fn f_measure(precision: f64, recall: f64, beta_squared: f64) -> f64 {
    if precision == 0.0 || recall == 0.0 {
        return 0.0;
    }
    if beta_squared.is_infinite() {
        return recall;
    }
    let below = beta_squared * precision + recall;
    if below > 0.0 { (1.0 + beta_squared) * precision * recall / below } else { 0.0 }
}

// Random numbers that are the same on every machine.

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

    /// The next 64 random bits.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
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

// When scores are equal: rounding must not decide which is larger. `scoring/ranks.py` has the same numbers.

/// Scores that differ by no more are equal; above 1, this share of them.
const SAME: f64 = 1e-9;

/// Scores that differ by more than this share are not, however small they are.
const SHARE: f64 = 1e-6;

/// The largest difference of two scores that are equal.
pub fn slack(a: f64, b: f64) -> f64 {
    let size = a.abs().max(b.abs());
    (SAME * size.max(1.0)).min(SHARE * size)
}

/// The places of finite values in ascending order, and where each run of equal ones ends; a run is equal to its least.
pub fn runs(values: &[f64]) -> (Vec<usize>, Vec<usize>) {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let (mut ends, mut least) = (Vec::new(), order.first().map_or(0.0, |&place| values[place]));
    for (end, &place) in order.iter().enumerate() {
        if values[place] - least > slack(values[place], least) {
            ends.push(end);
            least = values[place];
        }
    }
    ends.push(order.len());
    (order, ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_lies_between_its_sides() {
        let cases = [
            (0.5, 0.5, 1.44, 0.5),
            (0.2, 0.6, 1.0, 0.3),
            (0.2, 0.6, 0.0, 0.2),
            (0.2, 0.6, f64::INFINITY, 0.6),
            (0.0, 0.6, 1.0, 0.0),
            (0.2, 0.0, f64::INFINITY, 0.0),
        ];
        for (precision, recall, beta_squared, expected) in cases {
            assert!((f_measure(precision, recall, beta_squared) - expected).abs() < 1e-15);
        }
    }
}

#[cfg(test)]
mod ties_tests {
    use super::*;

    #[test]
    fn a_run_is_equal_to_its_least() {
        let (order, ends) = runs(&[0.5 + 1.1e-9, 0.5, 0.5 + 0.9e-9, -0.0, 0.0, 1e-300]);
        assert_eq!(order, [3, 4, 5, 1, 2, 0]);
        assert_eq!(ends, [2, 3, 5, 6]);
        assert_eq!(runs(&[8.0, 8.0 + 9e-9, 8.0 + 7e-9]).1, [2, 3]);
        assert_eq!(runs(&[1e-5, 1.000_000_9e-5, 1.000_002e-5]).1, [2, 3]);
        assert_eq!(runs(&[]), (vec![], vec![0]));
    }
}
