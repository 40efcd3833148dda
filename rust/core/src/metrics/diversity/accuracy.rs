//! Accuracy of a set beside its diversity: what its captions' scores come to, and F of both.

use crate::engine::kernel::Table;

/// What the scores of a set's captions come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pool {
    /// Their mean.
    Mean,
    /// The best: what an oracle that picks one caption would reach.
    Best,
}

/// One row (pooled score, 1) for each group of consecutive scores; an empty group has no row.
pub fn grouped(scores: &[f64], sizes: &[usize], pool: Pool) -> Table {
    let mut values = Vec::with_capacity(2 * sizes.len());
    let mut rest = scores;
    for &size in sizes.iter().filter(|&&size| size > 0) {
        let (group, after) = rest.split_at(size.min(rest.len()));
        rest = after;
        values.push(match pool {
            Pool::Mean => group.iter().sum::<f64>() / size as f64,
            Pool::Best => group.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        });
        values.push(1.0);
    }
    Table { width: 2, values }
}

/// F = (1 + β²) · d · a / (β² d + a) of diversity d and accuracy a; 0 where both are 0.
pub fn f_measure(diversity: f64, accuracy: f64, beta2: f64) -> f64 {
    let below = beta2 * diversity + accuracy;
    if below > 0.0 { (1.0 + beta2) * diversity * accuracy / below } else { 0.0 }
}
