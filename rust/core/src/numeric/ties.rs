//! When scores are equal: rounding must not decide which is larger. `scoring/ranks.py` has the same numbers.

/// Scores that differ by no more are equal; above 1, this share of them.
const SAME: f64 = 1e-9;

/// Scores that differ by more than this share are not, however small they are.
const SHARE: f64 = 1e-6;

/// The largest difference of two scores that are equal.
pub fn slack(a: f64, b: f64) -> f64 {
    let size = a.abs().max(b.abs());
    (SAME * size.max(1.0)).min(SHARE * size)
}

/// The places of finite values in ascending order, and where each run of equal ones ends; a run is equal to its least.
pub fn runs(values: &[f64]) -> (Vec<usize>, Vec<usize>) {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let (mut ends, mut least) = (Vec::new(), order.first().map_or(0.0, |&place| values[place]));
    for (end, &place) in order.iter().enumerate() {
        if values[place] - least > slack(values[place], least) {
            ends.push(end);
            least = values[place];
        }
    }
    ends.push(order.len());
    (order, ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_equal_to_its_least() {
        let (order, ends) = runs(&[0.5 + 1.1e-9, 0.5, 0.5 + 0.9e-9, -0.0, 0.0, 1e-300]);
        assert_eq!(order, [3, 4, 5, 1, 2, 0]);
        assert_eq!(ends, [2, 3, 5, 6]);
        assert_eq!(runs(&[8.0, 8.0 + 9e-9, 8.0 + 7e-9]).1, [2, 3]);
        assert_eq!(runs(&[1e-5, 1.000_000_9e-5, 1.000_002e-5]).1, [2, 3]);
        assert_eq!(runs(&[]), (vec![], vec![0]));
    }
}
