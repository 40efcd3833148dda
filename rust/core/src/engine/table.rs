//! Rows of statistics.

use std::ops::Range;

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

/// The distinct tables, and the columns of each given one where these stand side by side: a table that several kernels
/// share is taken once.
pub(super) fn distinct<'a>(tables: impl IntoIterator<Item = &'a Table>) -> (Vec<&'a Table>, Vec<Range<usize>>) {
    let mut distinct: Vec<(&Table, Range<usize>)> = Vec::new();
    let mut columns = Vec::new();
    for table in tables {
        let known = distinct.iter().find(|(known, _)| std::ptr::eq(*known, table)).map(|(_, place)| place.clone());
        columns.push(known.unwrap_or_else(|| {
            let start = distinct.last().map_or(0, |(_, last)| last.end);
            distinct.push((table, start..start + table.width));
            start..start + table.width
        }));
    }
    (distinct.into_iter().map(|(table, _)| table).collect(), columns)
}
