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

/// Words of the two sentences that a module matched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Matched {
    /// Content words of the hypothesis.
    pub hypothesis_content: u32,
    /// Content words of the reference.
    pub reference_content: u32,
    /// Function words of the hypothesis.
    pub hypothesis_function: u32,
    /// Function words of the reference.
    pub reference_function: u32,
}

/// Counts of one alignment: the original's statistics line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Words of the hypothesis.
    pub hypothesis_length: u32,
    /// Words of the reference.
    pub reference_length: u32,
    /// Function words of the hypothesis.
    pub hypothesis_function: u32,
    /// Function words of the reference.
    pub reference_function: u32,
    /// Matched words by module.
    pub matched: [Matched; 4],
    /// Runs of matches that are contiguous and in order on both sides.
    pub chunks: u32,
    /// Matched words of the hypothesis.
    pub hypothesis_matched: u32,
    /// Matched words of the reference.
    pub reference_matched: u32,
}

/// Numbers in the original's statistics line.
pub const COUNTS: usize = 23;
const CHUNKS: usize = 20;

impl Statistics {
    /// The numbers in the original's order.
    pub fn counts(&self) -> [f64; COUNTS] {
        let mut counts = [0; COUNTS];
        counts[..4].copy_from_slice(&[
            self.hypothesis_length,
            self.reference_length,
            self.hypothesis_function,
            self.reference_function,
        ]);
        for (four, matched) in counts[4..CHUNKS].chunks_exact_mut(4).zip(&self.matched) {
            four.copy_from_slice(&[
                matched.hypothesis_content,
                matched.reference_content,
                matched.hypothesis_function,
                matched.reference_function,
            ]);
        }
        counts[CHUNKS..].copy_from_slice(&[self.chunks, self.hypothesis_matched, self.reference_matched]);
        counts.map(f64::from)
    }

    /// The sentence's share of the chunks of a corpus: 0 when every word is matched in a single chunk.
    pub fn corpus_chunks(&self) -> f64 {
        let complete = self.hypothesis_matched == self.hypothesis_length
            && self.reference_matched == self.reference_length
            && self.chunks == 1;
        if complete { 0.0 } else { f64::from(self.chunks) }
    }
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
            let modules = || counts[4..CHUNKS].chunks_exact(4).zip(self.modules);
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
    fn riding() -> Statistics {
        let content = |n| Matched { hypothesis_content: n, reference_content: n, ..Matched::default() };
        let exact = Matched { hypothesis_function: 2, reference_function: 2, ..content(1) };
        Statistics {
            hypothesis_length: 6,
            reference_length: 5,
            hypothesis_function: 3,
            reference_function: 2,
            matched: [exact, content(1), Matched::default(), Matched::default()],
            chunks: 2,
            hypothesis_matched: 4,
            reference_matched: 4,
        }
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "the original's bits")]
    fn the_worked_example() {
        let parts = Weights::default().score(&riding().counts());
        assert_eq!(parts.precision, 0.566_666_666_666_666_7);
        assert_eq!(parts.recall, 0.618_181_818_181_818_2);
        assert_eq!(parts.mean, 0.609_865_470_852_017_9);
        assert!((parts.score - 0.291_314_233_340_969_84).abs() < 1e-15);
    }

    #[test]
    fn nothing_scores_zero() {
        assert!(Weights::default().score(&[0.0; COUNTS]).score.abs() < f64::MIN_POSITIVE);
        let empty = Statistics { reference_length: 3, ..Statistics::default() };
        assert!(Weights::default().score(&empty.counts()).score.abs() < f64::MIN_POSITIVE);
    }

    #[test]
    fn a_complete_sentence_has_no_penalty_and_adds_no_chunk() {
        let exact = Matched { hypothesis_content: 2, reference_content: 2, ..Matched::default() };
        let complete = Statistics {
            hypothesis_length: 2,
            reference_length: 2,
            matched: [exact, Matched::default(), Matched::default(), Matched::default()],
            chunks: 1,
            hypothesis_matched: 2,
            reference_matched: 2,
            ..Statistics::default()
        };
        assert!((Weights::default().score(&complete.counts()).score - 1.0).abs() < 1e-15);
        assert!(complete.corpus_chunks().abs() < f64::MIN_POSITIVE);
        assert!((riding().corpus_chunks() - 2.0).abs() < f64::MIN_POSITIVE);
    }
}
