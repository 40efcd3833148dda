//! METEOR in the engine: the counts of the best reference, a formula over their sums.

use std::sync::{Mutex, PoisonError};

use super::corpus::Encoded;
use super::explain::Aligner;
use super::language::Language;
use super::score::{COUNTS, Module, Statistics, Weights};
use crate::corpus::Corpus;
use crate::engine::kernel::{Context, Image, Kernel, ParameterError, Parameters, Scorer};

/// Row: the original's counts, then what the caption adds to the chunks of the corpus.
const WIDTH: usize = COUNTS + 1;
const CHUNKS: usize = 20;
const CORPUS_CHUNKS: usize = COUNTS;

/// METEOR with its parameters.
#[derive(Debug, Clone, Copy, Default)]
pub struct Meteor {
    /// The language, which the resources must be for.
    pub language: Language,
    /// The parameters of the formula.
    pub weights: Weights,
}

/// Builds METEOR: the parameters of a `task` (left out, the first) of a `language` (left out, English), and any of `alpha`, `beta`, `gamma`, `delta`, `exact`, `stem`, `synonym`,
/// `paraphrase` in their place.
pub(crate) fn build(parameters: &Parameters) -> Result<Box<dyn Kernel>, ParameterError> {
    let given = |name: &str| parameters.0.contains_key(name);
    let language = if given("language") { parameters.choice("language", &Language::BY_CODE)? } else { Language::En };
    let tasks = language.tasks();
    let mut weights = if given("task") { parameters.choice("task", tasks)? } else { tasks[0].1 };
    let share = 0.0..=1.0;
    let replace = |name: &str, place: &mut f64, range| {
        if given(name) {
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
    Ok(Box::new(Meteor { language, weights }))
}

impl Kernel for Meteor {
    fn width(&self) -> usize {
        WIDTH
    }

    /// # Panics
    ///
    /// Without resources of its language in the context: whoever offers the metric checks that it has them.
    fn prepare<'a>(&'a self, corpus: &'a Corpus, context: &'a Context) -> Box<dyn Scorer + 'a> {
        let resources = context.meteor.as_ref().expect("the context of METEOR has its resources");
        assert_eq!(resources.language(), self.language, "the resources are for another language");
        let encoded = Encoded::new(corpus, resources, context.threads);
        Box::new(CorpusScorer { weights: &self.weights, corpus, encoded, aligners: Mutex::default() })
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
    /// Aligners that no thread is using.
    aligners: Mutex<Vec<Aligner>>,
}

impl Scorer for CorpusScorer<'_> {
    fn statistics(&self, image: &Image<'_>, candidate: usize, row: &mut [f64]) {
        let idle = || self.aligners.lock().unwrap_or_else(PoisonError::into_inner);
        let mut aligner = idle().pop().unwrap_or_default();
        let best = self.best(&mut aligner, image.number(), candidate);
        idle().push(aligner);
        row[..COUNTS].copy_from_slice(&best.counts());
        row[CORPUS_CHUNKS] = best.corpus_chunks();
    }
}

impl CorpusScorer<'_> {
    /// The statistics with the reference that gives the highest score, the first of equals.
    fn best(&self, aligner: &mut Aligner, image: usize, candidate: usize) -> Statistics {
        let sentences = &self.encoded.sentences;
        let hypothesis = sentences.get(self.corpus.candidates.of_image(image).start + candidate);
        let references = self.encoded.references(self.corpus.references.sentences.of_image(image));
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
