//! Accuracy of a set beside its diversity: what its captions' scores come to.

use crate::engine::Table;

/// How the scores of a set's captions become one score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaptionPool {
    /// Their mean.
    Mean,
    /// The best: what an oracle that picks one caption would reach.
    Best,
}

/// One row (pooled score, 1) for each group of consecutive scores; an empty group has no row.
pub fn grouped(scores: &[f64], sizes: &[usize], pool: CaptionPool) -> Table {
    let mut values = Vec::with_capacity(2 * sizes.len());
    let mut rest = scores;
    for &size in sizes.iter().filter(|&&size| size > 0) {
        let (group, after) = rest.split_at(size.min(rest.len()));
        rest = after;
        values.push(match pool {
            CaptionPool::Mean => group.iter().sum::<f64>() / size as f64,
            CaptionPool::Best => group.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        });
        values.push(1.0);
    }
    Table { width: 2, values }
}
