//! METEOR in the engine: the counts of the best reference, a formula over their sums.

use super::corpus::Encoded;
use super::explain::Aligner;
use super::resources::Resources;
use super::score::{COUNTS, Module, Statistics, TASKS, Weights};
use crate::corpus::Corpus;
use crate::engine::{Image, Kernel, ParameterError, Parameters, Prepared, Resource, Resources as Given, with_memory};

/// Row: the original's counts, then what the caption adds to the chunks of the corpus.
const WIDTH: usize = COUNTS + 1;
const CHUNKS: usize = 20;
const CORPUS_CHUNKS: usize = COUNTS;

/// METEOR with its parameters.
#[derive(Debug, Clone, Copy, Default)]
pub struct Meteor {
    /// The parameters of the formula.
    pub weights: Weights,
}

/// Builds METEOR: the parameters of a `task` (left out, the first), and any of `alpha`, `beta`, `gamma`, `delta`, `exact`,
/// `stem`, `synonym`, `paraphrase` in their place.
pub(crate) fn build(parameters: &mut Parameters) -> Result<Box<dyn Kernel>, ParameterError> {
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

    fn prepare<'a>(&'a self, corpus: &'a Corpus, given: &'a Given) -> Prepared<'a> {
        let resources = given.need::<Resources>()?;
        let encoded = Encoded::new(corpus, resources, given.threads());
        let scorer = CorpusScorer { weights: &self.weights, corpus, encoded };
        Ok(with_memory(Aligner::default, move |aligner, image, candidate, row| {
            let best = scorer.best(aligner, image, candidate);
            row[..COUNTS].copy_from_slice(&best.counts());
            row[CORPUS_CHUNKS] = best.corpus_chunks();
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

struct CorpusScorer<'a> {
    weights: &'a Weights,
    corpus: &'a Corpus,
    encoded: Encoded,
}

impl CorpusScorer<'_> {
    /// The statistics with the reference that gives the highest score, the first of equals.
    fn best(&self, aligner: &mut Aligner, image: &Image<'_>, candidate: usize) -> Statistics {
        let sentences = &self.encoded.sentences;
        let hypothesis = sentences.get(self.corpus.candidates.of_image(image.number()).start + candidate);
        let references = self.encoded.references(self.corpus.references.sentences.of_image(image.number()));
        let mut best: Option<(f64, Statistics)> = None;
        for reference in references {
            let statistics = aligner.align(sentences, hypothesis, sentences.get(reference));
            let score = self.weights.score(&statistics.counts()).score;
            if best.is_none_or(|(highest, _)| score > highest) {
                best = Some((score, statistics));
            }
        }
        best.map_or_else(Statistics::default, |(_, statistics)| statistics)
    }
}
