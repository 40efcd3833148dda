//! Inverse document frequencies.

/// Inverse document frequency: log(N) − log(max(1, df)).
#[derive(Debug, Clone)]
pub struct Idf {
    log_documents: f64,
    /// The IDF of each count up to a limit: a logarithm costs more than the rest of an n-gram's share.
    small: Vec<f64>,
}

impl Idf {
    /// Over so many documents.
    pub fn new(documents: u64) -> Self {
        let log_documents = (documents as f64).ln();
        let small = (0..=documents.min(u16::MAX.into()) as u32)
            .map(|count| log_documents - f64::from(count.max(1)).ln())
            .collect();
        Self { log_documents, small }
    }

    /// Of an n-gram found in `count` documents; one never seen counts as seen once.
    pub fn of(&self, count: u32) -> f64 {
        self.small.get(count as usize).copied().unwrap_or_else(|| self.log_documents - f64::from(count).ln())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_idf_of_any_count_is_a_difference_of_logarithms() {
        let idf = Idf::new(100_000);
        for count in [1, 2, 65_534, 65_535, 65_536, 70_000, 100_000] {
            let difference = 100_000_f64.ln() - f64::from(count).ln();
            assert_eq!(idf.of(count).to_bits(), difference.to_bits(), "{count}");
        }
        assert_eq!(idf.of(0).to_bits(), idf.of(1).to_bits());
    }
}
