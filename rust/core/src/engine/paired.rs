//! Paired tests: is the difference between two systems on the same images more than chance?
//!
//! Several systems and metrics are tested at once, on the same resampled images. Scores are made of resampled statistics,
//! so that corpus formulas such as BLEU's are applied to each sample as they are to the corpus itself.

use crate::engine::resample::{Draw, Panel, percentile_interval, percentile_intervals, resample};
use crate::engine::sign_flips::sign_flip_p;
use crate::engine::{Formula, Table};
use crate::numeric::interrupt::check;
use crate::numeric::parallel::{map_parts, threads_for};
use crate::numeric::progress;
use crate::numeric::ties::slack;

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
        let pairs = pairs(self.panel.score_count(), self.metrics);
        let observed = self.panel.scores(&self.totals);
        let counted = resample(&self.panel.rows, Draw::Half, samples, seed, threads, |sums| {
            let mut counts = vec![0_usize; pairs.len()];
            for swapped in sums {
                let kept: Vec<f64> = self.totals.iter().zip(&swapped).map(|(total, part)| total - part).collect();
                for (&(a, b), count) in pairs.iter().zip(&mut counts) {
                    let difference = self.mixed(a, &kept, b, &swapped) - self.mixed(b, &kept, a, &swapped);
                    *count += usize::from(is_far(difference, threshold(observed[a], observed[b])));
                }
            }
            counts
        });
        let total = |pair: usize| counted.iter().map(|counts| counts[pair]).sum();
        (0..pairs.len()).map(|pair| share(total(pair), samples)).collect()
    }

    /// The score of one system's kept images with the other's swapped ones.
    fn mixed(&self, own: usize, kept: &[f64], other: usize, swapped: &[f64]) -> f64 {
        let (own_columns, other_columns) = (self.panel.columns(own), self.panel.columns(other));
        let sums: Vec<f64> = kept[own_columns].iter().zip(&swapped[other_columns]).map(|(a, b)| a + b).collect();
        self.panel.score(own, &sums)
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
    let p = |&(a, b): &(usize, usize)| {
        check();
        let p = scores[a].exact(&scores[b]);
        progress::done();
        p
    };
    progress::begin(pairs.len());
    let threads = threads_for(threads, pairs.len() * rows, ROWS_PER_THREAD);
    map_parts(pairs.len(), threads, |part| pairs[part].iter().map(p).collect::<Vec<_>>()).concat()
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
        let part = |(own, others): (&[f64], &[f64])| {
            let differences = own.iter().zip(others).map(|(a, b)| a - b);
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
