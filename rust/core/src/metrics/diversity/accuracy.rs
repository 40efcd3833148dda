//! Accuracy of a set, in addition to its diversity: its captions' scores combined.

use crate::engine::Table;

/// How to combine the scores of a set's captions.
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
