//! METEOR 1.5 (Denkowski and Lavie, *Meteor Universal: Language Specific Translation Evaluation for Any Target
//! Language*, WMT 2014), as the COCO caption evaluation code runs it: in English.
//!
//! Words of the candidate and of a reference are aligned one to one: by the same word, the same stem, a common synonym
//! set, or as paraphrases. Of all alignments the one is taken that covers most words, then has fewest chunks (runs that
//! are contiguous and in order on both sides), then links the nearest words. With content and function words weighted
//! δ and 1 − δ and the matches of module i weighted wᵢ,
//!
//! ```text
//! P = Σᵢ wᵢ (δ mᵢ(c) + (1 − δ) mᵢ(f)) / (δ |c| + (1 − δ) |f|)     over the candidate's words; R over the reference's
//! F = P R / (α P + (1 − α) R)
//! score = F · (1 − γ (chunks / matches)^β)
//! ```
//!
//! The score of a caption is that of its best reference; the score of a corpus is the formula over the summed counts of
//! best references.
//!
//! | point | paper | the program (1.5) | here |
//! | --- | --- | --- | --- |
//! | search | beam: words, chunks, distance | beam of 40; ties by order of discovery | as the program |
//! | weights in the search | those of the score | 1 exact, ½ others, rounded down per match | as the program |
//! | distance of a match | its own | counts for its later siblings, not for its path | as the program |
//! | same word, same stem | by text | by 32-bit hash: `or` is `q4` | as the program |
//! | a lone non-exact word | matched | only if nothing else covers its words, or in a chunk | as the program |
//! | chunks of a complete match | 1 | penalty 0; adds no chunk to the corpus | as the program |
//! | `pow` | – | Java's, 1 unit in the last place off the C library's in 1 of 700 | the C library's |
//! | word-final Σ | – | lower-cased by word break | lower-cased by the neighbouring letters |
//! | no references | – | an error | all counts 0, score 0 |
//!
//! Time grows with the matches of a pair, whose number may be the product of the lengths; memory with the length of a text
//! that repeats itself.
//!
//! [`Resources`] come with the package `sacrecap-meteor`; [`Meteor`] is the engine's kernel, [`fn@align`] shows what
//! was matched.

mod align;
mod resources;
mod sentences;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::corpus::Corpus;
use crate::engine::{Built, Kernel, Parameters, Prepared, Resource, Resources as Given, with_memory};
use crate::named::named;
use align::{Candidates, Match, Search};
pub use resources::Resources;
use sentences::{Encoded, Sentence, Sentences, Tokens};

// METEOR in the engine: the counts of the best reference, a formula over their sums.

/// Row: the original's counts, then what the caption adds to the chunks of the corpus.
const WIDTH: usize = COUNTS + 1;
const CORPUS_CHUNKS: usize = COUNTS;

/// METEOR with its parameters.
#[derive(Debug, Clone, Copy, Default)]
pub struct Meteor {
    /// The parameters of the formula.
    pub weights: Weights,
}

/// Builds METEOR: the parameters of a `task` (left out, the first), and any of `alpha`, `beta`, `gamma`, `delta`, `exact`,
/// `stem`, `synonym`, `paraphrase` in their place.
pub(crate) fn build(parameters: &mut Parameters) -> Built {
    let mut weights = if parameters.has("task") { parameters.choice("task", &TASKS)? } else { Weights::default() };
    let share = 0.0..=1.0;
    let mut replace = |name: &str, place: &mut f64, range| {
        if parameters.has(name) {
            *place = parameters.number(name, range)?;
        }
        Ok(())
    };
    replace("alpha", &mut weights.alpha, share.clone())?;
    replace("beta", &mut weights.beta, 0.0..=f64::MAX)?;
    replace("gamma", &mut weights.gamma, share.clone())?;
    replace("delta", &mut weights.delta, share.clone())?;
    for (module, weight) in Module::ALL.iter().zip(&mut weights.modules) {
        replace(module.name(), weight, share.clone())?;
    }
    Ok(Box::new(Meteor { weights }))
}

impl Resource for Resources {
    const NAME: &'static str = "METEOR's tables";
}

impl Kernel for Meteor {
    fn width(&self) -> usize {
        WIDTH
    }

    fn prepare<'a>(&'a self, corpus: &'a Corpus, all_resources: &'a Given) -> Prepared<'a> {
        let resources = all_resources.need::<Resources>()?;
        let encoded = Encoded::new(corpus, resources, all_resources.threads);
        Ok(with_memory(Aligner::default, move |aligner, image, candidate, row| {
            let best = self.best(aligner, corpus, &encoded, (image.number, candidate));
            row[..COUNTS].copy_from_slice(&best.map(f64::from));
            row[CORPUS_CHUNKS] = corpus_chunks(&best);
        }))
    }

    fn score(&self, sums: &[f64]) -> f64 {
        let mut counts: [f64; COUNTS] = std::array::from_fn(|count| sums[count]);
        counts[CHUNKS] = sums[CORPUS_CHUNKS];
        self.weights.score(&counts).score
    }

    fn row_score(&self, row: &[f64]) -> f64 {
        self.weights.score(&std::array::from_fn(|count| row[count])).score
    }
}

impl Meteor {
    /// The counts with the reference that gives a candidate the highest score, the first of equals.
    fn best(
        &self,
        aligner: &mut Aligner,
        corpus: &Corpus,
        encoded: &Encoded,
        (image, candidate): (usize, usize),
    ) -> Counts {
        let hypothesis = encoded.sentences.get(corpus.candidates.of_image(image).start + candidate);
        let mut best: Option<(f64, Counts)> = None;
        for reference in encoded.references(corpus.references.sentences.of_image(image)) {
            let counts = aligner.align(&encoded.sentences, hypothesis, encoded.sentences.get(reference));
            let score = self.weights.score(&counts.map(f64::from)).score;
            if best.is_none_or(|(highest, _)| score > highest) {
                best = Some((score, counts));
            }
        }
        best.map_or([0; COUNTS], |(_, counts)| counts)
    }
}

// METEOR's formula: weighted precision and recall, and a penalty for scattered matches.

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
const MODULES: usize = 4;
/// The number of runs of matches that are contiguous and in order on both sides.
pub const CHUNKS: usize = 20;

/// The sentence's share of the chunks of a corpus: 0 when every word is matched in a single chunk.
fn corpus_chunks(counts: &Counts) -> f64 {
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

// Alignments one can look at, and the aligner behind them and behind the kernel.

/// Which words of two sentences were matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alignment {
    /// Tokens of the hypothesis.
    pub hypothesis: Vec<String>,
    /// Tokens of the reference.
    pub reference: Vec<String>,
    /// The matches, in the order of the reference.
    pub links: Vec<Link>,
    /// What the score is made of.
    pub counts: Counts,
}

/// A match: words of the hypothesis that stand for words of the reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The kind of match.
    pub module: Module,
    /// Tokens of the hypothesis.
    pub hypothesis: Range<usize>,
    /// Tokens of the reference.
    pub reference: Range<usize>,
}

/// Aligns two lines of text, which are normalised first.
pub fn align(resources: &Resources, hypothesis: &str, reference: &str) -> Alignment {
    align_each(resources, hypothesis, &[reference]).remove(0)
}

/// Aligns with every reference: the number of the best, its alignment and score. None without references.
pub fn align_best(
    resources: &Resources,
    weights: &Weights,
    hypothesis: &str,
    references: &[&str],
) -> Option<(usize, Alignment, Parts)> {
    let alignments =
        align_each(resources, hypothesis, references).into_iter().enumerate().map(|(number, alignment)| {
            let parts = weights.score(&alignment.counts.map(f64::from));
            (number, alignment, parts)
        });
    alignments.reduce(|best, next| if next.2.score > best.2.score { next } else { best })
}

/// Aligns one line with each of several.
fn align_each(resources: &Resources, hypothesis: &str, references: &[&str]) -> Vec<Alignment> {
    let hypothesis = resources.tokens(hypothesis);
    let references: Vec<Vec<String>> = references.iter().map(|line| resources.tokens(line)).collect();
    let mut tokens = Tokens::default();
    for line in std::iter::once(&hypothesis).chain(&references) {
        tokens.push(line.iter().map(String::as_str));
    }
    let sentences = Sentences::new(tokens, resources, 1);
    let mut aligner = Aligner::default();
    let alignments = references.into_iter().zip(1..).map(|(reference, number)| {
        let counts = aligner.align(&sentences, sentences.get(0), sentences.get(number));
        let links = aligner.search.chosen.iter().map(|match_| Link {
            module: match_.module,
            hypothesis: match_.of_hypothesis(),
            reference: match_.of_reference(),
        });
        Alignment { links: links.collect(), hypothesis: hypothesis.clone(), reference, counts }
    });
    alignments.collect()
}

/// Aligns pairs of sentences, one after the other, in the same memory.
#[derive(Debug, Default)]
struct Aligner {
    candidates: Candidates,
    search: Search,
}

impl Aligner {
    fn align(&mut self, sentences: &Sentences, hypothesis: Sentence<'_>, reference: Sentence<'_>) -> Counts {
        self.candidates.find(sentences, hypothesis, reference);
        let matches = self.search.run(&self.candidates, hypothesis.words.len(), reference.words.len());
        count(sentences, hypothesis, reference, matches)
    }
}

/// The counts of an alignment.
fn count(sentences: &Sentences, hypothesis: Sentence<'_>, reference: Sentence<'_>, matches: &[Match]) -> Counts {
    let function_words = |sentence: Sentence<'_>, range: Range<usize>| {
        sentence.words[range].iter().filter(|&&word| sentences.lexicon.is_function_word(word)).count() as u32
    };
    let sides = [hypothesis, reference];
    let mut counts = [0; COUNTS];
    for (side, sentence) in sides.into_iter().enumerate() {
        counts[side] = sentence.words.len() as u32;
        counts[side + 2] = function_words(sentence, 0..sentence.words.len());
    }
    let mut ends = None;
    for link in matches {
        for (side, words) in [link.of_hypothesis(), link.of_reference()].into_iter().enumerate() {
            let (length, function) = (words.len() as u32, function_words(sides[side], words));
            let of_module = MODULES + 4 * link.module as usize + side;
            counts[of_module] += length - function;
            counts[of_module + 2] += function;
            counts[CHUNKS + 1 + side] += length;
        }
        let goes_on = ends == Some((link.hypothesis, link.reference));
        counts[CHUNKS] += u32::from(!goes_on);
        ends = Some((link.hypothesis_end(), link.reference_end()));
    }
    counts
}

#[cfg(test)]
mod score_tests {
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
