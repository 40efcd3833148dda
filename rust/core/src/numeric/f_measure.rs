//! The F measure.

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
