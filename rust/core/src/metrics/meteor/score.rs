//! METEOR's formula: weighted precision and recall, and a penalty for scattered matches.

use crate::named::named;

named! {
    /// Kinds of match, in the order in which they are looked for, with their names in parameters and reports.
    pub enum Module {
        /// The same word.
        Exact "exact",
        /// The same stem.
        Stem "stem",
        /// A common WordNet synonym set.
        Synonym "synonym",
        /// A pair of the paraphrase table, of one to seven words on either side.
        Paraphrase "paraphrase",
    }
}

/// The parameters of the formula.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// α: weight of recall in the harmonic mean.
    pub alpha: f64,
    /// β: exponent of the fragmentation.
    pub beta: f64,
    /// γ: the largest penalty.
    pub gamma: f64,
    /// δ: weight of content words; function words weigh 1 − δ.
    pub delta: f64,
    /// Weights of the kinds of match, in the order of [`Module::ALL`].
    pub modules: [f64; 4],
}

/// Tasks for which the parameters of METEOR 1.5 for English were tuned, as the program reports them.
pub const TASKS: [(&str, Weights); 4] = [
    ("rank", weights([0.85, 0.2, 0.6, 0.75], [1.0, 0.6, 0.8, 0.6])),
    ("adq", weights([0.75, 1.4, 0.45, 0.7], [1.0, 1.0, 0.6, 0.8])),
    ("hter", weights([0.4, 1.5, 0.35, 0.55], [1.0, 0.2, 0.6, 0.8])),
    ("li", weights([0.75, 1.4, 0.7, 0.5], [1.0, 0.5, 0.5, 0.5])),
];

const fn weights([alpha, beta, gamma, delta]: [f64; 4], modules: [f64; 4]) -> Weights {
    Weights { alpha, beta, gamma, delta, modules }
}

impl Default for Weights {
    /// Those of the task "rank".
    fn default() -> Self {
        TASKS[0].1
    }
}

/// Numbers in the original's statistics line: words of hypothesis and reference, function words of the two; for each module
/// the content words of the two that it matched, and the function words; chunks, matched words of the two.
pub const COUNTS: usize = 23;

/// Counts of one alignment, the original's statistics line.
pub type Counts = [u32; COUNTS];

/// Where the counts of the modules begin, four for each.
pub(super) const MODULES: usize = 4;
/// The number of runs of matches that are contiguous and in order on both sides.
pub const CHUNKS: usize = 20;

/// The sentence's share of the chunks of a corpus: 0 when every word is matched in a single chunk.
pub(super) fn corpus_chunks(counts: &Counts) -> f64 {
    let is_complete = counts[CHUNKS..] == [1, counts[0], counts[1]];
    if is_complete { 0.0 } else { f64::from(counts[CHUNKS]) }
}

/// The parts of a score.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Parts {
    /// P, weighted.
    pub precision: f64,
    /// R, weighted.
    pub recall: f64,
    /// F, their harmonic mean weighted by α.
    pub mean: f64,
    /// Share of F that fragmentation takes away.
    pub penalty: f64,
    /// F · (1 − penalty).
    pub score: f64,
}

impl Weights {
    /// The score of counts (one sentence's, or sums over a corpus). Terms are added in the original's order, so that
    /// the result is the same bits.
    pub fn score(&self, counts: &[f64; COUNTS]) -> Parts {
        let [hypothesis, reference] = [0, 1].map(|side| {
            let (length, function) = (counts[side], counts[side + 2]);
            let total = self.delta * (length - function) + (1.0 - self.delta) * function;
            let modules = || counts[MODULES..CHUNKS].chunks_exact(4).zip(self.modules);
            let content = modules().fold(0.0, |sum, (four, weight)| sum + four[side] * weight * self.delta);
            let matched =
                modules().fold(content, |sum, (four, weight)| sum + four[side + 2] * weight * (1.0 - self.delta));
            matched / total
        });
        let mean = 1.0 / ((1.0 - self.alpha) / hypothesis + self.alpha / reference);
        let penalty = self.gamma * fragmentation(counts).powf(self.beta);
        let score = mean * (1.0 - penalty);
        let score = if score > 0.0 { score } else { 0.0 };
        Parts { precision: hypothesis, recall: reference, mean, penalty, score }
    }
}

/// Chunks per matched word; 0 for sentences matched as a whole.
#[expect(clippy::float_cmp, reason = "counts are whole numbers")]
fn fragmentation(counts: &[f64; COUNTS]) -> f64 {
    let [chunks, hypothesis, reference] = [counts[CHUNKS], counts[CHUNKS + 1], counts[CHUNKS + 2]];
    if hypothesis == counts[0] && reference == counts[1] && chunks == 1.0 {
        0.0
    } else {
        chunks / f64::midpoint(hypothesis, reference)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a man is riding a horse` against `a guy rides a horse`.
    fn riding() -> Counts {
        [6, 5, 3, 2, 1, 1, 2, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 4, 4]
    }

    fn score(counts: &Counts) -> Parts {
        Weights::default().score(&counts.map(f64::from))
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "the original's bits")]
    fn the_worked_example() {
        let parts = score(&riding());
        assert_eq!(parts.precision, 0.566_666_666_666_666_7);
        assert_eq!(parts.recall, 0.618_181_818_181_818_2);
        assert_eq!(parts.mean, 0.609_865_470_852_017_9);
        assert!((parts.score - 0.291_314_233_340_969_84).abs() < 1e-15);
    }

    #[test]
    fn nothing_scores_zero() {
        assert!(Weights::default().score(&[0.0; COUNTS]).score.abs() < f64::MIN_POSITIVE);
        let mut empty = [0; COUNTS];
        empty[1] = 3;
        assert!(score(&empty).score.abs() < f64::MIN_POSITIVE);
    }

    #[test]
    fn a_complete_sentence_has_no_penalty_and_adds_no_chunk() {
        let mut complete = [0; COUNTS];
        complete[..6].copy_from_slice(&[2, 2, 0, 0, 2, 2]);
        complete[CHUNKS..].copy_from_slice(&[1, 2, 2]);
        assert!((score(&complete).score - 1.0).abs() < 1e-15);
        assert!(corpus_chunks(&complete).abs() < f64::MIN_POSITIVE);
        assert!((corpus_chunks(&riding()) - 2.0).abs() < f64::MIN_POSITIVE);
    }
}
