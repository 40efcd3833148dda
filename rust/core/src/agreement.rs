//! Correlation of a metric's scores with people's ratings: Kendall's τ-b and τ-c, Spearman's ρ and Pearson's r, with
//! the bootstrap over images.
//!
//! The points are sorted once. A bootstrap sample is then a weight per image, and one pass over the sorted points gives
//! all four statistics: O(n log levels), where levels are the distinct ratings, a handful.

use crate::engine::resample::Draw;
use crate::numeric::parallel::map_each;
use crate::numeric::{Generator, progress, runs};

/// The statistics in the order of [`Scatter::correlations`].
pub const STATISTICS: [&str; 4] = ["kendall_b", "kendall_c", "spearman", "pearson"];

/// Four correlations; NaN if one side is constant.
pub type Correlations = [f64; STATISTICS.len()];

/// Points of (score, rating), each of an image.
#[derive(Debug)]
pub struct Scatter {
    /// Ascending by score.
    points: Vec<Point>,
    /// The end of each run of scores that are equal but for rounding.
    runs: Vec<usize>,
    levels: usize,
    images: usize,
}

#[derive(Debug, Clone, Copy)]
struct Point {
    /// Score and rating, centred as by [`centred`].
    score: f64,
    rating: f64,
    /// Place of the rating among the distinct ones.
    level: u32,
    image: u32,
}

impl Scatter {
    /// Points of finite scores and ratings and the number of the image of each; images are numbered from 0.
    pub fn new(scores: &[f64], ratings: &[f64], images: &[u32]) -> Self {
        let (levels, rated) = levels(ratings);
        let (centred_scores, centred_ratings) = (centred(scores), centred(ratings));
        let (order, runs) = runs(scores);
        let points = order
            .iter()
            .map(|&place| Point {
                score: centred_scores[place],
                rating: centred_ratings[place],
                level: rated[place],
                image: images[place],
            })
            .collect();
        let images = images.iter().max().map_or(0, |&last| last as usize + 1);
        Self { points, runs, levels, images }
    }

    /// The statistics of all points.
    pub fn correlations(&self) -> Correlations {
        self.weighted(&vec![1; self.images])
    }

    /// The statistics of bootstrap samples: images are drawn with replacement, with all their points.
    ///
    /// Sample number `s` draws the same images for any scores, so that metrics can be compared sample by sample.
    pub fn bootstrap(&self, samples: usize, seed: u64, threads: usize) -> Vec<Correlations> {
        progress::begin(samples);
        map_each(
            samples,
            threads,
            || (),
            |(), sample| {
                let weights = Draw::Bootstrap.weights(self.images, Generator::new(seed, sample as u64));
                let correlations = self.weighted(&weights);
                progress::done();
                correlations
            },
        )
    }

    /// The statistics in which each point counts as often as its image was drawn.
    fn weighted(&self, times: &[u16]) -> Correlations {
        let weight = |point: &Point| u64::from(times[point.image as usize]);
        let mut rated = vec![0_u64; self.levels];
        self.points.iter().for_each(|point| rated[point.level as usize] += weight(point));
        let total: u64 = rated.iter().sum();
        let (mut level_ranks, mut before) = (Vec::with_capacity(self.levels), 0);
        for &count in &rated {
            level_ranks.push(centred_rank(before, count, total));
            before += count;
        }
        let mut pairs = Pairs::default();
        let mut below = Counts::new(self.levels);
        let (mut ranks, mut values) = (Products::default(), Products::default());
        let mut start = 0;
        for &end in &self.runs {
            let run = &self.points[start..end];
            let drawn: u64 = run.iter().map(weight).sum();
            let rank = centred_rank(below.total, drawn, total);
            for point in run {
                let weight = weight(point);
                if weight == 0 {
                    continue;
                }
                let (lower, lower_or_equal) = (below.before(point.level), below.before(point.level + 1));
                pairs.concordant += weight * lower;
                pairs.discordant += weight * (below.total - lower_or_equal);
                ranks.add(weight as f64, rank, level_ranks[point.level as usize]);
                values.add(weight as f64, point.score, point.rating);
            }
            for point in run {
                below.add(point.level, weight(point));
            }
            pairs.tied_scores += two_of(drawn);
            pairs.distinct_scores += usize::from(drawn > 0);
            start = end;
        }
        pairs.tied_ratings = rated.iter().map(|&count| two_of(count)).sum();
        pairs.distinct_ratings = rated.iter().filter(|&&count| count > 0).count();
        [pairs.tau_b(total), pairs.tau_c(total), ranks.correlation(), values.correlation()]
    }
}

/// The statistics of the points of each image; NaN where either side is constant there.
pub fn by_image(scores: &[f64], ratings: &[f64], images: &[u32]) -> Vec<Correlations> {
    let count = images.iter().max().map_or(0, |&last| last as usize + 1);
    let mut members: Vec<(Vec<f64>, Vec<f64>)> = vec![(Vec::new(), Vec::new()); count];
    for ((&score, &rating), &image) in scores.iter().zip(ratings).zip(images) {
        members[image as usize].0.push(score);
        members[image as usize].1.push(rating);
    }
    members
        .iter()
        .map(|(scores, ratings)| Scatter::new(scores, ratings, &vec![0; scores.len()]).correlations())
        .collect()
}

/// The parts of Kendall's statistics.
#[derive(Default)]
struct Pairs {
    concordant: u64,
    discordant: u64,
    tied_scores: u64,
    tied_ratings: u64,
    distinct_scores: usize,
    distinct_ratings: usize,
}

impl Pairs {
    /// (C − D) / √((n₀ − n₁)(n₀ − n₂)): Kendall 1945.
    fn tau_b(&self, points: u64) -> f64 {
        let all = two_of(points);
        let (by_score, by_rating) = ((all - self.tied_scores) as f64, (all - self.tied_ratings) as f64);
        self.surplus() / (by_score * by_rating).sqrt()
    }

    /// 2 (C − D) / (n² (m − 1) / m), m the smaller number of distinct values: Stuart 1953.
    fn tau_c(&self, points: u64) -> f64 {
        let least = self.distinct_scores.min(self.distinct_ratings) as f64;
        let points = points as f64;
        2.0 * self.surplus() / (points * points * (least - 1.0) / least)
    }

    fn surplus(&self) -> f64 {
        self.concordant as f64 - self.discordant as f64
    }
}

/// Sums of squares and products of numbers whose mean is nearly 0.
#[derive(Default)]
struct Products {
    terms: f64,
    weight: f64,
    x: f64,
    y: f64,
    xx: f64,
    yy: f64,
    xy: f64,
}

impl Products {
    fn add(&mut self, weight: f64, x: f64, y: f64) {
        self.terms += 1.0;
        self.weight += weight;
        self.x += weight * x;
        self.y += weight * y;
        self.xx += weight * x * x;
        self.yy += weight * y * y;
        self.xy += weight * x * y;
    }

    /// NaN where a side is constant: its variance is then what rounding leaves of the two sums, at most so much.
    fn correlation(&self) -> f64 {
        let rounding = 4.0 * self.terms * f64::EPSILON;
        let variance = |square: f64, sum: f64| {
            let difference = square - sum * sum / self.weight;
            if difference > rounding * square { difference } else { 0.0 }
        };
        let spread = (variance(self.xx, self.x) * variance(self.yy, self.y)).sqrt();
        if spread > 0.0 { (self.xy - self.x * self.y / self.weight) / spread } else { f64::NAN }
    }
}

/// Counts by level that are added to and summed up to a level: a binary indexed tree (Fenwick 1994).
struct Counts {
    tree: Vec<u64>,
    total: u64,
}

impl Counts {
    fn new(levels: usize) -> Self {
        Self { tree: vec![0; levels + 1], total: 0 }
    }

    fn add(&mut self, level: u32, count: u64) {
        self.total += count;
        let mut place = level as usize + 1;
        while place < self.tree.len() {
            self.tree[place] += count;
            place += place & place.wrapping_neg();
        }
    }

    /// The sum of the counts of the levels before this one.
    fn before(&self, level: u32) -> u64 {
        let (mut place, mut sum) = (level as usize, 0);
        while place > 0 {
            sum += self.tree[place];
            place &= place - 1;
        }
        sum
    }
}

/// Number of pairs among `count` things.
fn two_of(count: u64) -> u64 {
    count * count.saturating_sub(1) / 2
}

/// The mean rank of `tied` points with `before` points below them, less the mean of all ranks.
fn centred_rank(before: u64, tied: u64, total: u64) -> f64 {
    before as f64 + (tied as f64 - total as f64) / 2.0
}

/// How many levels the values have, and that of each.
fn levels(values: &[f64]) -> (usize, Vec<u32>) {
    let (order, runs) = runs(values);
    let mut levels = vec![0; values.len()];
    let mut start = 0;
    for (level, &end) in runs.iter().enumerate() {
        order[start..end].iter().for_each(|&place| levels[place] = level as u32);
        start = end;
    }
    (runs.len(), levels)
}

/// The values minus their mean, so that sums of products keep their digits, and scaled so that neither sums nor squares
/// leave the range of floating point. The scale is a power of two: it cancels in a correlation to the last bit.
fn centred(values: &[f64]) -> Vec<f64> {
    let scale = reciprocal_power_of_two(values.iter().fold(0.0, |largest, value| value.abs().max(largest)));
    let mean = values.iter().map(|value| value * scale).sum::<f64>() / values.len().max(1) as f64;
    values.iter().map(|value| value * scale - mean).collect()
}

/// The power of two that brings a finite number of at least 0 to between 1 and 4, as far as it is one of the normal
/// numbers.
fn reciprocal_power_of_two(number: f64) -> f64 {
    const MANTISSA_BITS: u32 = f64::MANTISSA_DIGITS - 1;
    let exponent = number.to_bits() >> MANTISSA_BITS;
    f64::from_bits((2046 - exponent).max(1) << MANTISSA_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pearson_is_that_of_the_values_at_any_scale() {
        let (scores, ratings, images) = ([0.1, 0.7, 0.3, 0.4], [1.0, 3.0, 2.0, 5.0], [0, 1, 2, 3]);
        let wanted = Scatter::new(&scores, &ratings, &images).correlations()[3];
        for exponent in [-1000, -600, -300, 300, 600, 1023] {
            let scaled = |values: [f64; 4]| values.map(|value| value * 2_f64.powi(exponent));
            let near = Scatter::new(&scaled(scores), &ratings, &images).correlations()[3];
            assert_eq!(near.to_bits(), wanted.to_bits(), "{exponent}");
            let far = Scatter::new(&scores, &scaled(ratings.map(|value| value / 8.0)), &images).correlations()[3];
            assert_eq!(far.to_bits(), wanted.to_bits(), "{exponent}");
        }
    }

    #[test]
    fn what_rounding_leaves_of_a_constant_side_is_no_spread() {
        let of = |near: f64, constant: f64| {
            let mut products = Products::default();
            for (place, y) in [0.3, -0.7, 1.1, 0.2, -0.4, 0.9].into_iter().enumerate() {
                products.add([1.0, 3.0][place % 2], constant * (1.0 + near * y), y);
            }
            products.correlation()
        };
        for number in 1..200 {
            let constant = f64::from(number) / 7.0 - 13.1;
            assert!(of(0.0, constant).is_nan(), "{constant}");
            assert!((of(1e-5, constant) - constant.signum()).abs() < 1e-4, "{constant}");
        }
    }

    #[test]
    fn constant_sides_have_no_correlation() {
        let found = Scatter::new(&[1.0, 1.0], &[1.0, 2.0], &[0, 1]).correlations();
        assert!(found.iter().all(|value| value.is_nan()), "{found:?}");
        let by_image = by_image(&[1.0, 2.0, 3.0, 1.0], &[1.0, 2.0, 2.0, 3.0], &[0, 0, 1, 1]);
        assert_eq!(by_image, [[1.0; 4], [-1.0; 4]]);
    }
}
