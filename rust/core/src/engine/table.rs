//! Rows of statistics.

use crate::numeric::exact::ExactSum;

/// Rows of statistics: one per candidate, or one per image where sets are scored, in corpus order.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Number of values in a row.
    pub width: usize,
    /// Row after row.
    pub values: Vec<f64>,
}

impl Table {
    /// The rows.
    pub fn rows(&self) -> std::slice::ChunksExact<'_, f64> {
        self.values.chunks_exact(self.width)
    }

    /// Row number `row`.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.width..][..self.width]
    }

    /// The sum of all rows, rounded once: rows in another order, or in parts on several machines, have the same.
    pub fn sums(&self) -> Vec<f64> {
        let mut sums = vec![ExactSum::default(); self.width];
        for row in self.rows() {
            sums.iter_mut().zip(row).for_each(|(sum, &value)| sum.add(value));
        }
        sums.iter().map(ExactSum::value).collect()
    }
}
