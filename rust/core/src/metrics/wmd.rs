//! Word Mover's Distance between a candidate and its references (Kusner et al. 2015).

use crate::corpus::Corpus;
use crate::engine::{Built, Image, Kernel, Parameters, Prepared, Resources, with_memory};
use crate::metrics::embedded::{Bag, Coverage, Embedded, Space, distance_of_nothing};
use crate::numeric::transport::Transport;
use crate::text::vocabulary::Word;

/// How to combine the values of the references.
#[derive(Debug, Clone, Copy)]
enum DistancePool {
    Best,
    Worst,
    Mean,
}

/// The metric with its parameters.
#[derive(Debug, Clone, Copy)]
struct Wmd {
    pool: DistancePool,
    /// p of ‖x − y‖^p.
    power: usize,
    /// exp(−distance) instead of the distance.
    similarity: bool,
    normalise: bool,
}

/// Builds WMD: `pool`, `p`, `similarity`, `normalise`.
pub(crate) fn build(parameters: &mut Parameters) -> Built {
    let pools = [("best", DistancePool::Best), ("worst", DistancePool::Worst), ("mean", DistancePool::Mean)];
    Ok(Box::new(Wmd {
        pool: parameters.choice("pool", &pools)?,
        power: parameters.count("p", 1..=2)?,
        similarity: parameters.flag("similarity")?,
        normalise: parameters.flag("normalise")?,
    }))
}

impl Kernel for Wmd {
    /// Score, 1, known content words, all content words; nothing of an image that is beyond the limit.
    fn width(&self) -> usize {
        4
    }

    fn prepare<'a>(&'a self, corpus: &'a Corpus, resources: &'a Resources) -> Prepared<'a> {
        let embedded = resources.need::<Embedded>()?;
        let scorer = CorpusScorer { metric: self, embedded, space: embedded.space(self.normalise) };
        let beyond = embedded.beyond(corpus);
        Ok(with_memory(Scratch::default, move |scratch, image, candidate, row| {
            if beyond.binary_search(&image.number()).is_ok() {
                return row.fill(0.0);
            }
            let mut coverage = Coverage::default();
            let score = scorer.caption_score(scratch, image, candidate, &mut coverage);
            row.copy_from_slice(&[score, 1.0, coverage.known, coverage.all]);
        }))
    }

    fn row_score(&self, row: &[f64]) -> f64 {
        if row[1] > 0.0 { self.score(row) } else { f64::NAN }
    }
}

struct CorpusScorer<'a> {
    metric: &'a Wmd,
    embedded: &'a Embedded,
    space: &'a Space,
}

#[derive(Default)]
struct Scratch {
    candidate: Bag,
    reference: Bag,
    cost: Vec<f64>,
    transport: Transport,
    distances: Vec<f64>,
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
            DistancePool::Best => value(distances.iter().copied().fold(f64::INFINITY, f64::min)),
            DistancePool::Worst => value(distances.iter().copied().fold(0.0, f64::max)),
            DistancePool::Mean => {
                distances.iter().map(|&distance| value(distance)).sum::<f64>() / distances.len() as f64
            }
        }
    }
}
