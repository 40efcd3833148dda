//! Word Mover's Distance between a candidate and its references (Kusner et al. 2015).

use std::sync::{Mutex, PoisonError};

use crate::corpus::Corpus;
use crate::engine::kernel::{Context, Image, Kernel, ParameterError, Parameters, Scorer, mean};
use crate::metrics::embedded::{Bag, Coverage, Embedded, Space, distance_of_nothing};
use crate::numeric::transport::Transport;
use crate::text::vocabulary::Word;

/// How the references' values become one.
#[derive(Debug, Clone, Copy)]
enum Pool {
    Best,
    Worst,
    Mean,
}

/// The metric with its parameters.
#[derive(Debug, Clone, Copy)]
struct Wmd {
    pool: Pool,
    /// p of ‖x − y‖^p.
    power: usize,
    /// exp(−distance) instead of the distance.
    similarity: bool,
    normalise: bool,
}

/// Builds WMD: `pool`, `p`, `similarity`, `normalise`.
pub(crate) fn build(parameters: &Parameters) -> Result<Box<dyn Kernel>, ParameterError> {
    let pools = [("best", Pool::Best), ("worst", Pool::Worst), ("mean", Pool::Mean)];
    Ok(Box::new(Wmd {
        pool: parameters.choice("pool", &pools)?,
        power: parameters.count("p", 1..=2)?,
        similarity: parameters.flag("similarity")?,
        normalise: parameters.flag("normalise")?,
    }))
}

impl Kernel for Wmd {
    /// Score, 1, known content words, all content words.
    fn width(&self) -> usize {
        4
    }

    /// # Panics
    ///
    /// Without word vectors in the context: whoever offers the metric checks that it has them.
    fn prepare<'a>(&'a self, _: &'a Corpus, context: &'a Context) -> Box<dyn Scorer + 'a> {
        let embedded = context.embedded.as_deref().expect("the context of WMD has word vectors");
        Box::new(CorpusScorer { metric: self, embedded, space: embedded.space(self.normalise), idle: Mutex::default() })
    }

    fn score(&self, sums: &[f64]) -> f64 {
        mean(sums)
    }
}

struct CorpusScorer<'a> {
    metric: &'a Wmd,
    embedded: &'a Embedded,
    space: &'a Space,
    /// Memory that no thread is using.
    idle: Mutex<Vec<Scratch>>,
}

#[derive(Default)]
struct Scratch {
    candidate: Bag,
    reference: Bag,
    cost: Vec<f64>,
    transport: Transport,
    distances: Vec<f64>,
}

impl Scorer for CorpusScorer<'_> {
    fn statistics(&self, image: &Image<'_>, candidate: usize, row: &mut [f64]) {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = idle().pop().unwrap_or_default();
        let mut coverage = Coverage::default();
        let score = self.caption_score(&mut scratch, image, candidate, &mut coverage);
        idle().push(scratch);
        row.copy_from_slice(&[score, 1.0, coverage.known, coverage.all]);
    }
}

impl CorpusScorer<'_> {
    fn fill(&self, bag: &mut Bag, words: &[Word], coverage: &mut Coverage) {
        bag.fill_with_words(self.embedded.terms(words), coverage);
    }

    fn caption_score(
        &self,
        scratch: &mut Scratch,
        image: &Image<'_>,
        candidate: usize,
        coverage: &mut Coverage,
    ) -> f64 {
        self.fill(&mut scratch.candidate, image.candidate(candidate), coverage);
        scratch.distances.clear();
        let mut longest: Option<f64> = None;
        for words in image.references() {
            self.fill(&mut scratch.reference, words, coverage);
            if scratch.reference.is_empty() {
                continue;
            }
            if scratch.candidate.is_empty() {
                let length = self.space.longest(scratch.reference.rows.iter().copied());
                longest = Some(longest.map_or(length, |longest| longest.max(length)));
            } else {
                let distance = self.distance(scratch);
                scratch.distances.push(distance);
            }
        }
        if scratch.distances.is_empty() {
            let length = longest.unwrap_or_else(|| self.space.longest(scratch.candidate.rows.iter().copied()));
            return if self.metric.similarity { 0.0 } else { distance_of_nothing(length, self.metric.power) };
        }
        self.pooled(&scratch.distances)
    }

    fn distance(&self, scratch: &mut Scratch) -> f64 {
        let Scratch { candidate, reference, cost, transport, .. } = scratch;
        cost.clear();
        for &x in &candidate.rows {
            cost.extend(reference.rows.iter().map(|&y| self.space.distance((x, 1.0), (y, 1.0), self.metric.power)));
        }
        transport.solve(&candidate.weights, &reference.weights, cost)
    }

    fn pooled(&self, distances: &[f64]) -> f64 {
        let value = |distance: f64| if self.metric.similarity { (-distance).exp() } else { distance };
        match self.metric.pool {
            Pool::Best => value(distances.iter().copied().fold(f64::INFINITY, f64::min)),
            Pool::Worst => value(distances.iter().copied().fold(0.0, f64::max)),
            Pool::Mean => distances.iter().map(|&distance| value(distance)).sum::<f64>() / distances.len() as f64,
        }
    }
}
