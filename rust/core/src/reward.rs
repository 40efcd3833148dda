//! CIDEr-D on token ids, as a reward: no strings, references encoded once.
//!
//! The arithmetic is [`crate::cider`]'s. A reference's vector never changes between training steps, so it is kept with
//! its weights; a sampled caption is then one small table that each reference's n-grams are looked up in.

use crate::cider::{inverse_document_frequency, length_penalty};
use crate::document_frequency::{DocumentFrequency, Lookup};
use crate::ngram::{MAX_ORDER, Ngram};
use crate::parallel::map_parts;
use crate::vocabulary::Word;

/// CIDEr-D with document frequencies keyed by token ids.
#[derive(Debug, Clone)]
pub struct Reward {
    lookup: Lookup,
    order: usize,
    sigma: f64,
}

/// Document frequencies whose words are not token ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotTokenIds {
    /// One such word.
    pub word: String,
}

impl std::fmt::Display for NotTokenIds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "the document frequencies are keyed by words ({:?}), the reward needs them keyed by token ids; build them with \
             DocumentFrequency.from_token_ids(references) or import a pickle of the \"-idxs\" kind",
            self.word
        )
    }
}

impl std::error::Error for NotTokenIds {}

/// References of one image, ready to be compared with.
#[derive(Debug, Clone, Default)]
pub struct Group {
    references: Vec<Vector>,
}

/// gⁿ(s) for all n.
#[derive(Debug, Clone)]
struct Vector {
    /// Distinct n-grams with their weights, by order.
    weights: [Vec<(Ngram, f64)>; MAX_ORDER],
    norms: [f64; MAX_ORDER],
    /// Number of bigrams: what the COCO code takes for a caption's length.
    length: f64,
}

impl Reward {
    /// A reward over the document frequencies, for n-grams of orders 1 to `order`.
    pub fn new(frequencies: &DocumentFrequency, order: usize, sigma: f64) -> Result<Self, NotTokenIds> {
        let lookup = frequencies.lookup_ids().map_err(|word| NotTokenIds { word })?;
        Ok(Self { lookup, order, sigma })
    }

    /// Encodes the references of one image.
    pub fn encode<'a>(&self, references: impl Iterator<Item = &'a [Word]>) -> Group {
        Group { references: references.map(|words| self.vector(words)).collect() }
    }

    /// The rewards of the samples. Sample `k` belongs to group `k / (samples / groups)`, so several samples of an image
    /// stand side by side; the number of groups divides the number of samples.
    pub fn score(&self, samples: &[&[Word]], groups: &[&Group], threads: usize) -> Vec<f64> {
        let samples_a_group = samples.len() / groups.len().max(1);
        // A thread costs more to start than dozens of captions to score.
        let threads = if samples.len() < 64 { 1 } else { threads };
        let parts = map_parts(samples.len(), threads, |part| {
            part.map(|sample| self.sample_score(samples[sample], groups[sample / samples_a_group])).collect::<Vec<_>>()
        });
        parts.concat()
    }

    fn sample_score(&self, words: &[Word], group: &Group) -> f64 {
        if group.references.is_empty() {
            return 0.0;
        }
        let sample = self.vector(words);
        let tables: [Table; MAX_ORDER] = std::array::from_fn(|k| Table::new(&sample.weights[k]));
        let sum: f64 = group.references.iter().map(|reference| self.similarity(&sample, &tables, reference)).sum();
        10.0 * sum / (self.order * group.references.len()) as f64
    }

    fn similarity(&self, sample: &Vector, tables: &[Table; MAX_ORDER], reference: &Vector) -> f64 {
        let mut sum = 0.0;
        for (k, table) in tables.iter().enumerate().take(self.order) {
            let norms = sample.norms[k] * reference.norms[k];
            if norms > 0.0 {
                let dot: f64 =
                    reference.weights[k].iter().map(|&(ngram, weight)| table.weight(ngram).min(weight) * weight).sum();
                sum += dot / norms;
            }
        }
        sum * length_penalty(sample.length - reference.length, self.sigma)
    }

    fn vector(&self, words: &[Word]) -> Vector {
        let mut norms = [0.0; MAX_ORDER];
        let weights = std::array::from_fn(|k| {
            if k >= self.order {
                return Vec::new();
            }
            let mut ngrams: Vec<Ngram> = words.windows(k + 1).map(Ngram::new).collect();
            ngrams.sort_unstable();
            let mut square = 0.0;
            let weights = ngrams
                .chunk_by(|a, b| a == b)
                .map(|equal| {
                    let idf = inverse_document_frequency(self.lookup.documents(), self.lookup.get(equal[0]));
                    let weight = equal.len() as f64 * idf;
                    square += weight * weight;
                    (equal[0], weight)
                })
                .collect();
            norms[k] = f64::sqrt(square);
            weights
        });
        Vector { weights, norms, length: words.len().saturating_sub(1) as f64 }
    }
}

/// Open addressing from n-gram to weight; an absent n-gram weighs 0.
struct Table {
    slots: Vec<(Ngram, f64)>,
}

impl Table {
    fn new(weights: &[(Ngram, f64)]) -> Self {
        let mut slots = vec![(Ngram::default(), 0.0); (weights.len() * 2).next_power_of_two().max(2)];
        let mask = slots.len() - 1;
        for &(ngram, weight) in weights {
            let mut slot = ngram.hash() as usize & mask;
            while slots[slot].0 != Ngram::default() {
                slot = (slot + 1) & mask;
            }
            slots[slot] = (ngram, weight);
        }
        Self { slots }
    }

    fn weight(&self, ngram: Ngram) -> f64 {
        let mask = self.slots.len() - 1;
        let mut slot = ngram.hash() as usize & mask;
        loop {
            match self.slots[slot] {
                (found, weight) if found == ngram => return weight,
                (found, _) if found == Ngram::default() => return 0.0,
                _ => slot = (slot + 1) & mask,
            }
        }
    }
}
