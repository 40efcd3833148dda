//! CIDEr-D on token ids, as a reward: no strings, references encoded once.
//!
//! The arithmetic is [`crate::metrics::cider`]'s. A reference's vector never changes between training steps, so it is kept with
//! its weights; a sampled caption is then one small table that each reference's n-grams are looked up in.

use crate::document_frequency::{DocumentFrequency, Frequencies, Idf};
use crate::metrics::cider::length_penalty;
use crate::numeric::hash_table::{HashTable, Key};
use crate::numeric::interrupt::check;
use crate::numeric::parallel::map_parts;
use crate::text::ngram::{MAX_ORDER, Ngram};
use crate::text::vocabulary::Word;

/// The largest token id; half the range of words is kept for ids that the document frequencies lack.
pub const LARGEST_TOKEN_ID: Word = UNKNOWN - 1;

const UNKNOWN: Word = 1 << 31;

/// CIDEr-D with document frequencies keyed by token ids.
#[derive(Debug, Clone)]
pub struct Reward {
    frequencies: Frequencies,
    idf: Idf,
    /// The document frequencies' number of each token id.
    numbers: Vec<Option<Word>>,
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

impl Group {
    /// The token ids of each reference, as they were given.
    pub fn references(&self) -> impl ExactSizeIterator<Item = &[Word]> {
        self.references.iter().map(|vector| &*vector.ids)
    }
}

/// gⁿ(s) for all n.
#[derive(Debug, Clone)]
struct Vector {
    /// Distinct n-grams with their weights, order after order.
    weights: Vec<(Ngram, f64)>,
    /// The end of each order among them.
    ends: [usize; MAX_ORDER],
    norms: [f64; MAX_ORDER],
    /// Number of bigrams: what the COCO code takes for a caption's length.
    length: f64,
    /// The token ids that it was made of.
    ids: Box<[Word]>,
}

impl Vector {
    fn order(&self, k: usize) -> &[(Ngram, f64)] {
        &self.weights[if k == 0 { 0 } else { self.ends[k - 1] }..self.ends[k]]
    }
}

impl Reward {
    /// A reward over the document frequencies, for n-grams of orders 1 to `order`.
    pub fn new(frequencies: &DocumentFrequency, order: usize, sigma: f64) -> Result<Self, NotTokenIds> {
        let numbers = frequencies.token_ids().map_err(|word| NotTokenIds { word })?;
        let (frequencies, idf) = (frequencies.frequencies().clone(), frequencies.idf().clone());
        Ok(Self { frequencies, idf, numbers, order, sigma })
    }

    /// Encodes the references of images, one after the other: `sizes` says how many each image has.
    pub fn encode(&self, references: &[&[Word]], sizes: &[usize], threads: usize) -> Vec<Group> {
        let parts = map_parts(references.len(), threads, |part| {
            references[part].iter().map(|words| self.vector(words)).collect::<Vec<_>>()
        });
        let mut vectors = parts.into_iter().flatten();
        sizes.iter().map(|&size| Group { references: vectors.by_ref().take(size).collect() }).collect()
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
        let mut table = HashTable::with_capacity(sample.weights.len());
        for &(ngram, weight) in &sample.weights {
            *table.entry(ngram, ngram.hash()) = weight;
        }
        let sum: f64 = group.references.iter().map(|reference| self.similarity(&sample, &table, reference)).sum();
        10.0 * sum / (self.order * group.references.len()) as f64
    }

    fn similarity(&self, sample: &Vector, table: &HashTable<Ngram, f64>, reference: &Vector) -> f64 {
        let mut sum = 0.0;
        for k in 0..self.order {
            let norms = sample.norms[k] * reference.norms[k];
            if norms > 0.0 {
                let dot: f64 = reference
                    .order(k)
                    .iter()
                    .map(|&(ngram, weight)| table.get(ngram).unwrap_or(0.0).min(weight) * weight)
                    .sum();
                sum += dot / norms;
            }
        }
        sum * length_penalty(sample.length - reference.length, self.sigma)
    }

    fn vector(&self, ids: &[Word]) -> Vector {
        check();
        // Ids are mapped to the counts' own word numbers once, not once per n-gram; unknown ids get numbers beyond
        // them.
        let number = |&id: &Word| self.numbers.get(id as usize).copied().flatten().unwrap_or(UNKNOWN | id);
        let words: Vec<Word> = ids.iter().map(number).collect();
        let mut places = HashTable::<Ngram, u32>::with_capacity(words.len() * self.order);
        let mut weights: Vec<(Ngram, f64)> = Vec::with_capacity(words.len() * self.order);
        let (mut ends, mut norms) = ([0; MAX_ORDER], [0.0; MAX_ORDER]);
        for k in 0..self.order {
            let start = weights.len();
            for window in words.windows(k + 1) {
                let ngram = Ngram::new(window);
                let place = places.entry(ngram, ngram.hash());
                if *place == 0 {
                    weights.push((ngram, 0.0));
                    *place = weights.len() as u32;
                }
                weights[*place as usize - 1].1 += 1.0;
            }
            norms[k] = self.weigh(&mut weights[start..]);
            ends[k] = weights.len();
        }
        Vector { weights, ends, norms, length: words.len().saturating_sub(1) as f64, ids: ids.into() }
    }

    /// Makes weights of counts; returns their norm.
    fn weigh(&self, counts: &mut [(Ngram, f64)]) -> f64 {
        let mut square = 0.0;
        for (ngram, weight) in counts {
            *weight *= self.idf.of(self.frequencies.get(*ngram));
            square += *weight * *weight;
        }
        f64::sqrt(square)
    }
}
