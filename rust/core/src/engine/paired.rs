//! Paired tests: is the difference between two systems on the same images more than chance?
//!
//! Several systems and metrics are tested at once, on the same resampled images. Scores are made of resampled statistics,
//! so that corpus formulas such as BLEU's are applied to each sample as they are to the corpus itself.

use super::resample::{Draw, Panel, percentile_interval, percentile_intervals, resample};
use super::{Formula, Table};
use crate::numeric::parallel::{check, map_each, threads_for};
use crate::numeric::{progress, slack};

/// Slopes are those of a line over this share of a sum, on either side.
const SLOPE: f64 = 1e-6;

/// Rows of pairs that take longer to test than a thread takes to start.
const ROWS_PER_THREAD: usize = 1 << 11;

/// The systems to compare: for each system the statistics of each metric, all of the same images and in the same order.
pub struct Systems<'a> {
    panel: Panel<'a>,
    metrics: usize,
    totals: Vec<f64>,
}

/// The bounds of an interval.
pub type Interval = (f64, f64);

/// The bootstrap's results: the interval of each system's score by each metric, system by system; and pair by pair (0 and 1,
/// 0 and 2, … 1 and 2, …), metric by metric, the interval of the difference and p of its two-sided test.
pub type Bootstrap = (Vec<Interval>, Vec<(Interval, f64)>);

impl<'a> Systems<'a> {
    /// Of each system, as many metrics.
    pub fn new(systems: &[Vec<(&'a dyn Formula, &'a Table)>]) -> Self {
        let panel = Panel::new(systems.iter().flatten().copied());
        let totals = panel.rows.sums();
        Self { panel, metrics: systems.first().map_or(0, Vec::len), totals }
    }

    /// Intervals of scores and differences, and the test that shifts the bootstrapped differences to the null.
    ///
    /// p is the share of samples whose difference is as far from the samples' mean as the observed one is from 0
    /// (Riezler and Maxwell 2005), the observed difference counted among them.
    pub fn bootstrap(&self, samples: usize, level: f64, seed: u64, threads: usize) -> Bootstrap {
        let sampled = self.panel.bootstrap(samples, seed, threads);
        bootstrapped(&sampled, &self.panel.observed(), self.metrics, level)
    }

    /// p by approximate randomisation, pair by pair, metric by metric: were the two systems alike, swapping their
    /// captions of some images would change nothing but by chance.
    ///
    /// p is the share of swaps that make a difference as large as the observed one, that one counted among them.
    pub fn permutation(&self, samples: usize, seed: u64, threads: usize) -> Vec<f64> {
        let pairs = pairs(self.panel.scores.len(), self.metrics);
        let observed = self.panel.scores(&self.totals);
        let counted = resample(&self.panel.rows, Draw::Half, samples, seed, threads, |sums| {
            let mut counts = vec![0_usize; pairs.len()];
            for swapped in sums {
                let staying: Vec<f64> = self.totals.iter().zip(&swapped).map(|(total, part)| total - part).collect();
                for (&(a, b), count) in pairs.iter().zip(&mut counts) {
                    let difference = self.mixed(a, &staying, b, &swapped) - self.mixed(b, &staying, a, &swapped);
                    *count += usize::from(is_far(difference, threshold(observed[a], observed[b])));
                }
            }
            counts
        });
        let total = |pair: usize| counted.iter().map(|counts| counts[pair]).sum();
        (0..pairs.len()).map(|pair| share(total(pair), samples)).collect()
    }

    /// The score of one system's kept images with the other's swapped ones.
    fn mixed(&self, system: usize, staying: &[f64], other: usize, swapped: &[f64]) -> f64 {
        let [(formula, columns), (_, other_columns)] = [system, other].map(|number| self.panel.scores[number].clone());
        let sums: Vec<f64> = staying[columns].iter().zip(&swapped[other_columns]).map(|(a, b)| a + b).collect();
        formula.score(&sums)
    }
}

/// p of the exact test, pair by pair, metric by metric: as [`Systems::permutation`], with all swaps and no draws.
///
/// The mean of the two systems' sums is the same after any swap, and so are the formula's slopes there. So to the first
/// order about that mean, which is all of it where a score is a mean of images', a swap of an image's captions changes
/// the sign of `slopes · (row of one system - row of the other)`: see [`sign_flip_p`]. The test holds its level whatever
/// the formula is. 1 where the two scores are equal, or one is none.
pub fn exact(systems: &[Vec<(&dyn Formula, &Table)>], threads: usize) -> Vec<f64> {
    let sums = systems.iter().flatten().map(|&(formula, table)| Summed { formula, table, sums: table.sums() });
    let scores: Vec<Summed<'_>> = sums.collect();
    let pairs = pairs(scores.len(), systems.first().map_or(0, Vec::len));
    let rows = scores.first().map_or(0, |score| score.table.rows().len());
    progress::begin(pairs.len());
    let threads = threads_for(threads, pairs.len() * rows, ROWS_PER_THREAD);
    map_each(
        pairs.len(),
        threads,
        || (),
        |(), pair| {
            let (a, b) = pairs[pair];
            let p = scores[a].exact(&scores[b]);
            progress::done();
            p
        },
    )
}

/// A score with the sums that it is of.
struct Summed<'a> {
    formula: &'a dyn Formula,
    table: &'a Table,
    sums: Vec<f64>,
}

impl Summed<'_> {
    fn exact(&self, other: &Self) -> f64 {
        let (a, b) = (self.formula.score(&self.sums), other.formula.score(&other.sums));
        let (delta, same) = (a - b, slack(a, b));
        if delta.is_nan() || delta.abs() <= same {
            return 1.0;
        }
        let parts = self.linear_parts(other);
        // A formula may bend so much that the first order points the other way: then there is no evidence.
        let is_ahead = parts.iter().sum::<f64>() * delta > 0.0;
        if is_ahead { sign_flip_p(&parts, same) } else { 1.0 }
    }

    /// What each image adds to the difference of the two scores, to the first order about the mean of the systems.
    fn linear_parts(&self, other: &Self) -> Vec<f64> {
        let middle: Vec<f64> = self.sums.iter().zip(&other.sums).map(|(a, b)| f64::midpoint(*a, *b)).collect();
        let slope = |column: usize| {
            let step = middle[column].abs().max(1.0) * SLOPE;
            let at = |moved: f64| {
                let mut sums = middle.clone();
                sums[column] += moved;
                self.formula.score(&sums)
            };
            (at(step) - at(-step)) / (2.0 * step)
        };
        let slopes: Vec<f64> = (0..middle.len()).map(slope).collect();
        let part = |(row, other_row): (&[f64], &[f64])| {
            let differences = row.iter().zip(other_row).map(|(a, b)| a - b);
            differences.zip(&slopes).map(|(difference, slope)| difference * slope).sum()
        };
        self.table.rows().zip(other.table.rows()).map(part).collect()
    }
}

/// Of the scores of each sample, system by system and metric by metric, and those of all images: see
/// [`Systems::bootstrap`].
pub fn bootstrapped(sampled: &[Vec<f64>], observed: &[f64], metrics: usize, level: f64) -> Bootstrap {
    let intervals = percentile_intervals(sampled, observed.len(), level);
    let differences = pairs(observed.len(), metrics).into_iter().map(|(a, b)| {
        let mut differences: Vec<f64> = sampled.iter().map(|scores| scores[a] - scores[b]).collect();
        let (sum, scored) = differences
            .iter()
            .filter(|difference| !difference.is_nan())
            .fold((0.0, 0_usize), |(sum, scored), difference| (sum + difference, scored + 1));
        let mean = sum / scored.max(1) as f64;
        let far = threshold(observed[a], observed[b]);
        let count = differences.iter().filter(|difference| is_far(*difference - mean, far)).count();
        (percentile_interval(&mut differences, level), share(count, sampled.len()))
    });
    (intervals, differences.collect())
}

/// Pairs of systems with a metric, as places among so many scores: (0, 1), (0, 2), … (1, 2), …, for each all metrics.
fn pairs(scores: usize, metrics: usize) -> Vec<(usize, usize)> {
    let systems = scores / metrics.max(1);
    let pairs = (0..systems).flat_map(|a| (a + 1..systems).map(move |b| (a, b)));
    pairs.flat_map(|(a, b)| (0..metrics).map(move |metric| (a * metrics + metric, b * metrics + metric))).collect()
}

/// The threshold from which a difference counts as large as the observed one.
fn threshold(a: f64, b: f64) -> f64 {
    (a - b).abs() - slack(a, b)
}

/// Whether a difference is as large as the observed one. One of scores that there are not counts as such, so that it is no
/// evidence against the null.
fn is_far(difference: f64, threshold: f64) -> bool {
    difference.is_nan() || threshold.is_nan() || difference.abs() >= threshold
}

/// The share of samples, the observed one added: never 0, and a test that holds its level with any number of samples.
fn share(count: usize, samples: usize) -> f64 {
    (count + 1) as f64 / (samples + 1) as f64
}

// The distribution of a sum of numbers whose signs are tossed: the exact paired test, without drawing.
//
// If two systems are equally good, it does not matter which of them wrote which of an image's two captions, so each
// image's part of their difference is as likely to have the other sign. All signs are counted where few images differ.
// Otherwise the few sizes that outweigh the rest are counted, and the rest's tail comes from Lugannani and Rice's
// saddle point (1980), with Daniels's correction (1987) where its sums are whole multiples of a step.

/// With so many numbers all 2^30 signs are counted, as pairs of 2^15 for either half.
const COUNTED: usize = 30;

/// Equal sizes are large if their squares make more than this share of the sum of all squares that are no larger.
const LARGE: f64 = 0.1;

/// More equal sizes than this are not counted: the saddle point is exact enough for them.
const MOST_EQUAL: usize = 200;

/// Sums of large sizes, times the number of other sizes, that are worth the time.
const MOST_WORK: usize = 50_000;

/// So few ways to be as far are counted, one by one.
const FEW_WAYS: usize = 100_000;

/// Share of a sum that rounding alone can make.
const ROUNDING: f64 = 1e-10;

/// Least step of sums, in standard deviations, that is worth a correction.
const LEAST_STEP: f64 = 1e-3;

/// The probability that a sum of these numbers with random signs is as far from 0 as their own sum: above 0, at most 1.
///
/// A sum of no more than `same` is 0, and so are sizes that add up to no more. 1 where a number is none.
fn sign_flip_p(numbers: &[f64], same: f64) -> f64 {
    let total: f64 = numbers.iter().map(|number| number.abs()).sum();
    if !total.is_finite() {
        return 1.0;
    }
    let observed = numbers.iter().sum::<f64>().abs();
    let rounding = ROUNDING * total;
    let same = same.max(rounding);
    if observed <= same {
        return 1.0;
    }
    let (least, observed) = (same / numbers.len() as f64, observed - rounding);
    let mut sizes: Vec<f64> = numbers.iter().map(|number| number.abs()).filter(|&size| size > least).collect();
    sizes.sort_unstable_by(|a, b| b.total_cmp(a));
    let least_p = half_to_the(sizes.len());
    let one_side = if sizes.len() <= COUNTED {
        counted(&sizes, observed)
    } else {
        let near = tail(&sizes, observed);
        let is_far = near < FEW_WAYS as f64 * least_p;
        let ways = if is_far { few_ways(&sizes, (total - observed) / 2.0) } else { None };
        ways.map_or(near, |ways| ways as f64 * least_p)
    };
    (2.0 * one_side).clamp(2.0 * least_p, 1.0)
}

/// 2 to the minus `count`, or the least that is above 0 in all that is done with it.
fn half_to_the(count: usize) -> f64 {
    (-(count.min(1000) as f64)).exp2()
}

/// The share of all signs that give a sum of at least this size.
fn counted(sizes: &[f64], observed: f64) -> f64 {
    let (first, second) = sizes.split_at(sizes.len() / 2);
    let (first, second) = (all_sums(first), all_sums(second));
    let mut below = second.len();
    let mut reached = 0;
    for sum in first {
        while below > 0 && second[below - 1] >= observed - sum {
            below -= 1;
        }
        reached += second.len() - below;
    }
    reached as f64 * half_to_the(sizes.len())
}

/// The sums for all signs, in order.
fn all_sums(sizes: &[f64]) -> Vec<f64> {
    sizes.iter().fold(vec![0.0], |sums, size| {
        let (mut low, mut high) = (0, 0);
        (0..2 * sums.len())
            .map(|_| {
                if low < sums.len() && sums[low] - size <= sums[high] + size {
                    low += 1;
                    sums[low - 1] - size
                } else {
                    high += 1;
                    sums[high - 1] + size
                }
            })
            .collect()
    })
}

/// The number of sets of the sizes, which go down, that add up to no more than `room`; None if there are many.
fn few_ways(sizes: &[f64], room: f64) -> Option<usize> {
    /// Adds those of the sizes before `end`.
    fn count(sizes: &[f64], end: usize, room: f64, ways: &mut usize) {
        *ways += 1;
        for place in (0..end).rev().take_while(|&place| sizes[place] <= room) {
            if *ways <= 2 * FEW_WAYS {
                count(sizes, place, room - sizes[place], ways);
            }
        }
    }
    let mut ways = 0;
    count(sizes, sizes.len(), room, &mut ways);
    (ways <= 2 * FEW_WAYS).then_some(ways)
}

/// The probability that a sum of the sizes, which go down, is at least `observed`.
fn tail(sizes: &[f64], observed: f64) -> f64 {
    let mut squares: f64 = sizes.iter().map(|size| size * size).sum();
    let rounding = ROUNDING * sizes.iter().sum::<f64>();
    let (mut rest, mut reached) = (sizes, 0.0);
    // What is left to be reached for the signs of the large sizes, and their probability.
    let mut open = vec![(observed, 1.0)];
    while let Some(&size) = rest.first() {
        let equal = rest.iter().take_while(|&other| size - other <= rounding).count();
        let square = equal as f64 * size * size;
        if square <= LARGE * squares || equal > MOST_EQUAL || open.len() * rest.len() > MOST_WORK {
            break;
        }
        rest = &rest[equal..];
        squares -= square;
        let smaller: f64 = rest.iter().sum();
        for left in (0..equal).rev() {
            let total = smaller + left as f64 * size;
            open = both_signs(&open, size, rounding);
            reached += open.iter().filter(|(left, _)| *left <= -total).map(|(_, share)| share).sum::<f64>();
            open.retain(|&(left, _)| -total < left && left <= total + rounding);
        }
    }
    let rest = Rest::new(rest);
    reached + open.iter().map(|&(left, share)| share * rest.tail(left)).sum::<f64>()
}

/// What is left, in order, and its probability, after one more size has got its sign; what is equal is one.
fn both_signs(open: &[(f64, f64)], size: f64, rounding: f64) -> Vec<(f64, f64)> {
    let mut both: Vec<(f64, f64)> = [-size, size]
        .iter()
        .flat_map(|signed| open.iter().map(move |&(left, share)| (left + signed, share / 2.0)))
        .collect();
    both.sort_by(|a, b| a.0.total_cmp(&b.0)); // two runs, which it merges
    both.dedup_by(|next, last| {
        let is_equal = next.0 - last.0 <= rounding;
        last.1 += if is_equal { next.1 } else { 0.0 };
        is_equal
    });
    both
}

/// The sum of many sizes with random signs.
struct Rest<'a> {
    sizes: &'a [f64],
    total: f64,
    variance: f64,
    /// The distance between the sums that are possible; 0 if they are no multiples of one, or close together.
    step: f64,
}

impl<'a> Rest<'a> {
    fn new(sizes: &'a [f64]) -> Self {
        let variance = sizes.iter().map(|size| size * size).sum::<f64>();
        let step = 2.0 * common_divisor(sizes, LEAST_STEP * variance.sqrt());
        Self { sizes, total: sizes.iter().sum(), variance, step }
    }

    /// The probability of a sum of `least` or more.
    fn tail(&self, least: f64) -> f64 {
        // The least possible sum that is no smaller.
        let steps = ((self.total - least) / self.step + 1e-3).floor();
        let least = if self.step == 0.0 { least } else { self.total - self.step * steps };
        if least >= 0.0 { self.upper_tail(least) } else { 1.0 - self.upper_tail(self.step - least) }
    }

    /// The same of a possible sum that is not below 0.
    fn upper_tail(&self, least: f64) -> f64 {
        check();
        if least > self.total * (1.0 + ROUNDING) {
            return 0.0;
        }
        if least >= self.total * (1.0 - ROUNDING) {
            return half_to_the(self.sizes.len());
        }
        let (t, w, deviation) = self.saddle_point(least);
        let density = (-w * w / 2.0).exp() / std::f64::consts::TAU.sqrt();
        if w < 1e-4 {
            let to_the_middle = (self.step / 2.0 - least) / self.variance.sqrt();
            return 0.5 + density * to_the_middle;
        }
        let u = deviation * if self.step == 0.0 { t } else { -(-t * self.step).exp_m1() / self.step };
        let normal_tail = libm::erfc(w * std::f64::consts::FRAC_1_SQRT_2) / 2.0;
        (normal_tail + density * (1.0 / u - 1.0 / w)).clamp(0.0, 1.0)
    }

    /// Where the cumulant function K(t) = Σ ln cosh(t · size) has the slope `sum`: t, the signed root of twice its
    /// distance from the tangent, and the root of its curvature.
    fn saddle_point(&self, sum: f64) -> (f64, f64, f64) {
        let mut t = sum / self.variance;
        // The slope is concave, and t begins to the left: Newton's steps come from the left and never pass the point.
        for _ in 0..200 {
            let (value, slope, curvature) = self.cumulants(t);
            let step = (sum - slope) / curvature;
            t += step;
            if step <= 1e-5 * t {
                let value = value + step * (slope + step * curvature / 2.0);
                return (t, (2.0 * (t * sum - value)).max(0.0).sqrt(), curvature.sqrt());
            }
        }
        (t, t * self.variance.sqrt(), self.variance.sqrt())
    }

    /// K, its slope and its curvature at t.
    fn cumulants(&self, t: f64) -> (f64, f64, f64) {
        let (mut value, mut slope, mut curvature) = (0.0, 0.0, 0.0);
        for sizes in self.sizes.chunks(512) {
            let mut product = 1.0; // of numbers from 1 to 2: one logarithm for 512
            for size in sizes {
                let small = (-2.0 * t * size).exp();
                let one_more = 1.0 + small;
                let tanh = (1.0 - small) / one_more;
                product *= one_more;
                slope += size * tanh;
                curvature += size * size * (1.0 - tanh * tanh);
            }
            value += product.ln();
        }
        (value + t * self.total - self.sizes.len() as f64 * std::f64::consts::LN_2, slope, curvature)
    }
}

/// The largest number that all sizes are multiples of; 0 if it is smaller than `least`.
fn common_divisor(sizes: &[f64], least: f64) -> f64 {
    let rounding = 1e-3 * least;
    let mut divisor = 0.0;
    for &size in sizes {
        let (mut larger, mut smaller) = (size, divisor);
        while smaller > rounding {
            (larger, smaller) = (smaller, (larger - smaller * (larger / smaller).round()).abs());
        }
        divisor = larger;
        if divisor < least {
            return 0.0;
        }
    }
    divisor
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Mean;

    impl Formula for Mean {
        fn score(&self, sums: &[f64]) -> f64 {
            crate::engine::mean(sums)
        }
    }

    fn table(values: &[f64]) -> Table {
        Table { width: 2, values: values.iter().flat_map(|&value| [value, 1.0]).collect() }
    }

    #[test]
    fn systems_that_both_score_0_have_p_1() {
        let nothing = table(&[0.0; 40]);
        let systems = Systems::new(&[vec![(&Mean as &dyn Formula, &nothing)], vec![(&Mean as &dyn Formula, &nothing)]]);
        assert_eq!(systems.permutation(99, 1, 1), [1.0]);
        assert_eq!(systems.bootstrap(99, 0.9, 1, 1).1, [((0.0, 0.0), 1.0)]);
    }

    #[test]
    fn samples_without_a_score_are_no_evidence() {
        assert!(is_far(f64::NAN, 0.1) && is_far(0.2, f64::NAN) && is_far(-0.1, 0.1) && !is_far(0.05, 0.1));
        // The mean is that of the samples with a score: both are as far from it as the observed difference from 0.
        let sampled = [vec![1.0, 0.0], vec![f64::NAN, 0.0], vec![0.0, 0.0]];
        let ((low, high), p) = bootstrapped(&sampled, &[0.5, 0.0], 1, 0.9).1[0];
        assert!((p - 1.0).abs() < 1e-12);
        assert!((low - 0.05).abs() < 1e-12 && (high - 0.95).abs() < 1e-12);
    }
}

#[cfg(test)]
mod sign_flips_tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * b
    }

    #[test]
    fn all_signs_are_counted() {
        assert!(close(sign_flip_p(&[0.2, 0.1, 0.3, 0.5], 1e-9), 2.0 / 16.0));
        assert!(close(sign_flip_p(&[1.0, 1.0, 1.0, -1.0], 1e-9), 10.0 / 16.0));
        for none in [&[0.0; 3][..], &[f64::NAN, 1.0], &[]] {
            assert!(close(sign_flip_p(none, 1e-9), 1.0));
        }
    }

    #[test]
    fn large_sizes_and_the_last_few_ways_are_counted() {
        // One outweighs 40 others: any sum is as far whose sign of the one is either.
        let mut numbers = vec![1.0; 40];
        assert!(close(sign_flip_p(&numbers, 1e-9), 2.0 * half_to_the(40)));
        numbers.push(1_000.0);
        assert!(close(sign_flip_p(&numbers, 1e-9), 2.0 * half_to_the(41)));
        numbers[..20].fill(-1.0);
        let ways: f64 = sign_flip_p(&numbers, 1e-9);
        let half_of_the_rest: f64 = 0.5 + 137_846_528_820.0 / 2_f64.powi(41); // 20 of 40, halved
        assert!(close(ways, half_of_the_rest), "{ways} {half_of_the_rest}");
    }

    #[test]
    fn the_step_is_the_greatest_common_divisor() {
        assert!(close(common_divisor(&[0.9, 0.6, 1.5], 1e-3), 0.3));
        assert!(close(common_divisor(&[3.0, 2.0], 1e-3), 1.0));
        assert!(common_divisor(&[1.0, std::f64::consts::SQRT_2], 1e-3).abs() < 1e-9);
    }
}
