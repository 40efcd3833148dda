//! BLEU (Papineni et al., ACL 2002): clipped n-gram precision with a brevity penalty.
//! Statistics follow the COCO caption evaluation code, because papers report its numbers: two tiny constants keep every
//! quotient defined, and the closest reference length ties to the shorter.

use crate::corpus::Corpus;
use crate::engine::{Built, Image, Kernel, Parameters, Prepared, Resources};
use crate::text::ngram::MAX_ORDER;

/// Row: candidate length; closest, average and shortest reference length; matches and candidate n-grams of each order.
const LENGTH: usize = 0;
const CLOSEST: usize = 1;
const AVERAGE: usize = 2;
const SHORTEST: usize = 3;
const MATCHES: usize = 4;
const WIDTH: usize = MATCHES + 2 * MAX_ORDER;

/// COCO's constants: added to numerators, and to denominators.
const TINY: f64 = 1e-15;
const SMALL: f64 = 1e-9;

#[derive(Debug, Clone, Copy)]
struct Bleu {
    order: usize,
    smoothing: Smoothing,
    /// Constant of the floor and add-k smoothings.
    k: f64,
    /// The column of the reference length that the brevity penalty compares with; None for no penalty.
    reference: Option<usize>,
}

/// How orders without a match are smoothed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Smoothing {
    /// Numerators + 1e-15, denominators + 1e-9.
    Coco,
    /// Such an order makes the score zero.
    Off,
    /// Its numerator becomes k.
    Floor,
    /// k is added to numerator and denominator of orders above 1 (Lin and Och 2004).
    AddK,
    /// Its precision becomes 1/(2^j · denominator), j counting such orders (NIST's mteval).
    Exponential,
}

/// Builds BLEU of order `n`.
pub(crate) fn build(parameters: &mut Parameters) -> Built {
    let smoothings = [
        ("coco", Smoothing::Coco),
        ("none", Smoothing::Off),
        ("floor", Smoothing::Floor),
        ("add-k", Smoothing::AddK),
        ("exp", Smoothing::Exponential),
    ];
    let lengths = [("closest", CLOSEST), ("average", AVERAGE), ("shortest", SHORTEST)];
    let reference = parameters.choice("length", &lengths)?;
    Ok(Box::new(Bleu {
        order: parameters.count("n", 1..=MAX_ORDER)?,
        smoothing: parameters.choice("smoothing", &smoothings)?,
        k: parameters.number("k", 0.0..=f64::MAX)?,
        reference: parameters.flag("brevity")?.then_some(reference),
    }))
}

impl Kernel for Bleu {
    fn width(&self) -> usize {
        WIDTH
    }

    fn shared_statistics(&self) -> Option<&'static str> {
        Some("bleu")
    }

    fn longest_ngram(&self) -> usize {
        self.order
    }

    fn prepare<'a>(&'a self, _: &'a Corpus, _: &'a Resources) -> Prepared<'a> {
        Ok(Box::new(clipped_matches))
    }

    fn score(&self, sums: &[f64]) -> f64 {
        let reference = self.reference.map(|column| sums[column]);
        let precisions = (0..self.order).map(|n| (sums[MATCHES + 2 * n], sums[MATCHES + 2 * n + 1]));
        if self.smoothing == Smoothing::Coco {
            return coco(precisions, sums[LENGTH], reference);
        }
        let mut zeros = 0;
        let logarithms: f64 =
            precisions.enumerate().map(|(n, (matches, all))| self.precision(n, matches, all, &mut zeros).ln()).sum();
        let short = reference.filter(|&reference| sums[LENGTH] < reference);
        let brevity = short.map_or(1.0, |reference| (1.0 - reference / sums[LENGTH]).exp());
        let score = brevity * (logarithms / self.order as f64).exp();
        if score.is_finite() { score } else { 0.0 }
    }
}

impl Bleu {
    fn precision(&self, n: usize, matches: f64, all: f64, zeros: &mut i32) -> f64 {
        // Orders longer than the caption are smoothed too: that is how a short caption gets a score (Lin and Och 2004).
        let added = if self.smoothing == Smoothing::AddK && n > 0 { self.k } else { 0.0 };
        let (matches, all) = (matches + added, all + added);
        if all == 0.0 {
            return 0.0;
        }
        match self.smoothing {
            Smoothing::Floor if matches == 0.0 => self.k / all,
            Smoothing::Exponential if matches == 0.0 => {
                *zeros += 1;
                1.0 / (2_f64.powi(*zeros) * all)
            }
            _ => matches / all,
        }
    }
}

/// The COCO code's arithmetic, in its order: a running product, its root, the brevity factor last. `precisions` are
/// matches and n-grams of each order; without a reference length there is no brevity factor.
pub(crate) fn coco(precisions: impl ExactSizeIterator<Item = (f64, f64)>, length: f64, reference: Option<f64>) -> f64 {
    let order = precisions.len() as f64;
    let product: f64 = precisions.map(|(matches, all)| (matches + TINY) / (all + SMALL)).product();
    let short = reference.map(|reference| (length + TINY) / (reference + SMALL)).filter(|&ratio| ratio < 1.0);
    product.powf(1.0 / order) * short.map_or(1.0, |ratio| (1.0 - 1.0 / ratio).exp())
}

/// Writes lengths, matches and n-grams of a candidate.
fn clipped_matches(image: &Image<'_>, candidate: usize, row: &mut [f64]) {
    let length = image.candidate(candidate).len();
    let lengths = image.references().map(<[_]>::len);
    row[LENGTH] = length as f64;
    row[CLOSEST] = lengths.clone().min_by_key(|&l| (l.abs_diff(length), l)).unwrap_or(0) as f64;
    row[SHORTEST] = lengths.clone().min().unwrap_or(0) as f64;
    row[AVERAGE] = lengths.sum::<usize>() as f64 / image.reference_count().max(1) as f64;

    let ngrams = image.ngrams();
    let mut most = vec![0_u32; ngrams.distinct()];
    let first = image.candidate_count();
    for order in 1..=MAX_ORDER {
        for reference in first..first + image.reference_count() {
            for entry in ngrams.entries(reference, order) {
                let most = &mut most[entry.ngram as usize];
                *most = (*most).max(entry.count);
            }
        }
        let matches: u32 =
            ngrams.entries(candidate, order).iter().map(|entry| entry.count.min(most[entry.ngram as usize])).sum();
        row[MATCHES + 2 * (order - 1)] = f64::from(matches);
        row[MATCHES + 2 * (order - 1) + 1] = (length + 1).saturating_sub(order) as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn add_k_leaves_single_words_as_they_are() {
        let bleu = Bleu { order: 2, smoothing: Smoothing::AddK, k: 1.0, reference: Some(CLOSEST) };
        let precisions: Vec<f64> = (0..2).map(|n| bleu.precision(n, 1.0, 4.0, &mut 0)).collect();
        assert_eq!(precisions, [0.25, 0.4]);
    }
}
