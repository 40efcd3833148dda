//! METEOR in the engine: the counts of the best reference, a formula over their sums.

use super::corpus::Encoded;
use super::explain::Aligner;
use super::resources::Resources;
use super::score::{CHUNKS, COUNTS, Counts, Module, TASKS, Weights, corpus_chunks};
use crate::corpus::Corpus;
use crate::engine::{Built, Kernel, Parameters, Prepared, Resource, Resources as Given, with_memory};

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

    fn prepare<'a>(&'a self, corpus: &'a Corpus, given: &'a Given) -> Prepared<'a> {
        let resources = given.need::<Resources>()?;
        let encoded = Encoded::new(corpus, resources, given.threads());
        Ok(with_memory(Aligner::default, move |aligner, image, candidate, row| {
            let best = self.best(aligner, corpus, &encoded, (image.number(), candidate));
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
