//! CIDEr-D on token ids, as a reward: no strings, references encoded once.
//!
//! The arithmetic is [`crate::metrics::cider`]'s. A reference's vector never changes between training steps, so it is kept with
//! its weights; a sampled caption is then one small table that each reference's n-grams are looked up in.

use crate::Refused;
use crate::document_frequency::{DocumentFrequency, Frequencies, Idf};
use crate::metrics::cider::length_penalty;
use crate::numeric::hash_table::{HashTable, Key};
use crate::numeric::parallel::map_each;
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

/// References of one image, ready to be compared with.
///
/// A training step meets images whose references no cache holds, so it reads few of their bytes: two for each n-gram,
/// and the n-gram with its weight only where the sample may have it.
#[derive(Debug, Clone, Default)]
pub struct Group {
    references: Vec<Reference>,
    /// The marks of the n-grams, reference after reference, order after order.
    marks: Vec<u16>,
    /// The n-grams with their weights, in the same order.
    weights: Vec<(Ngram, f64)>,
    /// The token ids that the references were made of.
    ids: Vec<Word>,
}

/// A reference among those of its image.
#[derive(Debug, Clone)]
struct Reference {
    /// The end of each order among the n-grams.
    ends: [u32; MAX_ORDER],
    norms: [f64; MAX_ORDER],
    /// Number of bigrams: what the COCO code takes for a caption's length.
    length: f64,
    /// The end of its token ids.
    ids_end: usize,
}

impl Group {
    /// The token ids of each reference, as they were given.
    pub fn references(&self) -> impl ExactSizeIterator<Item = &[Word]> {
        let mut start = 0;
        self.references
            .iter()
            .map(move |reference| &self.ids[std::mem::replace(&mut start, reference.ids_end)..reference.ids_end])
    }

    fn push(&mut self, vector: &Vector, ids: &[Word]) {
        let start = self.weights.len();
        self.marks.extend(vector.weights.iter().map(|&(ngram, weight)| Marks::of(ngram, weight)));
        self.weights.extend(&vector.weights);
        self.ids.extend(ids);
        self.references.push(Reference {
            ends: vector.ends.map(|end| (start + end) as u32),
            norms: vector.norms,
            length: vector.length,
            ids_end: self.ids.len(),
        });
    }
}

/// Marks of the n-grams of a sample: hashes so short that all fit into the nearest cache.
struct Marks([u64; Self::COUNT / 64]);

impl Marks {
    const COUNT: usize = 1 << 12;
    /// The mark of n-grams that count whether the sample has them or not: those of negative weight, which are in more
    /// documents than there are.
    const ALWAYS: u16 = 0;

    fn new(ngrams: &[(Ngram, f64)]) -> Self {
        let mut marks = Self([0; Self::COUNT / 64]);
        marks.set(Self::ALWAYS);
        for &(ngram, _) in ngrams {
            marks.set(Self::of(ngram, 1.0));
        }
        marks
    }

    fn of(ngram: Ngram, weight: f64) -> u16 {
        if weight < 0.0 { Self::ALWAYS } else { (ngram.hash() >> 32) as u16 % Self::COUNT as u16 }
    }

    fn set(&mut self, mark: u16) {
        self.0[usize::from(mark / 64)] |= 1 << (mark % 64);
    }

    fn has(&self, mark: u16) -> bool {
        self.0[usize::from(mark / 64) % self.0.len()] >> (mark % 64) & 1 == 1
    }
}

/// gⁿ(s) for all n.
#[derive(Debug)]
struct Vector {
    /// Distinct n-grams with their weights, order after order.
    weights: Vec<(Ngram, f64)>,
    /// The end of each order among them.
    ends: [usize; MAX_ORDER],
    norms: [f64; MAX_ORDER],
    length: f64,
}

impl Reward {
    /// A reward over the document frequencies, for n-grams of orders 1 to `order`.
    pub fn new(frequencies: &DocumentFrequency, order: usize, sigma: f64) -> Result<Self, Refused> {
        let refused = |word| {
            Refused(format!(
                "the document frequencies are keyed by words ({word:?}), the reward needs them keyed by token ids; build them \
                 with DocumentFrequency.from_token_ids(references) or import a pickle of the \"-idxs\" kind"
            ))
        };
        let numbers = frequencies.token_ids().map_err(refused)?;
        let (frequencies, idf) = (frequencies.frequencies.clone(), frequencies.idf.clone());
        Ok(Self { frequencies, idf, numbers, order, sigma })
    }

    /// Encodes the references of images, one after the other: `sizes` says how many each image has.
    pub fn encode(&self, references: &[&[Word]], sizes: &[usize], threads: usize) -> Vec<Group> {
        let vectors = map_each(references.len(), threads, || (), |(), number| self.vector(references[number]));
        let mut vectors = vectors.into_iter().zip(references);
        let group = |&size: &usize| {
            let mut group = Group::default();
            vectors.by_ref().take(size).for_each(|(vector, ids)| group.push(&vector, ids));
            group.marks.shrink_to_fit();
            group.weights.shrink_to_fit();
            group
        };
        sizes.iter().map(group).collect()
    }

    /// The rewards of the samples. Sample `k` belongs to group `k / (samples / groups)`, so several samples of an image
    /// stand side by side; the number of groups divides the number of samples.
    pub fn score(&self, samples: &[&[Word]], groups: &[&Group], threads: usize) -> Vec<f64> {
        let samples_a_group = samples.len() / groups.len().max(1);
        // A thread costs more to start than dozens of captions to score.
        let threads = if samples.len() < 64 { 1 } else { threads };
        map_each(
            samples.len(),
            threads,
            || (),
            |(), sample| self.sample_score(samples[sample], groups[sample / samples_a_group]),
        )
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
        let marks = Marks::new(&sample.weights);
        let (mut sum, mut start) = (0.0, 0);
        for reference in &group.references {
            let mut similarity = 0.0;
            for k in 0..self.order {
                let end = reference.ends[k] as usize;
                let ngrams = std::mem::replace(&mut start, end)..end;
                let norms = sample.norms[k] * reference.norms[k];
                if norms > 0.0 {
                    let mut dot = 0.0;
                    for (place, _) in ngrams.clone().zip(&group.marks[ngrams]).filter(|&(_, &mark)| marks.has(mark)) {
                        let (ngram, weight) = group.weights[place];
                        dot += table.get(ngram).unwrap_or(0.0).min(weight) * weight;
                    }
                    similarity += dot / norms;
                }
            }
            sum += similarity * length_penalty(sample.length - reference.length, self.sigma);
        }
        10.0 * sum / (self.order * group.references.len()) as f64
    }

    fn vector(&self, ids: &[Word]) -> Vector {
        // Ids are mapped to the counts' own word numbers once, not once per n-gram; unknown ids get numbers beyond
        // them.
        let number = |&id: &Word| self.numbers.get(id as usize).copied().flatten().unwrap_or(UNKNOWN | id);
        let words: Vec<Word> = ids.iter().map(number).collect();
        let mut places = HashTable::<Ngram, u32>::with_capacity(words.len() * self.order);
        let mut weights: Vec<(Ngram, f64)> = Vec::with_capacity(words.len() * self.order);
        let (mut ends, mut norms) = ([0; MAX_ORDER], [0.0; MAX_ORDER]);
        for (k, end) in ends[..self.order].iter_mut().enumerate() {
            for window in words.windows(k + 1) {
                let ngram = Ngram::new(window);
                let place = places.entry(ngram, ngram.hash());
                if *place == 0 {
                    weights.push((ngram, 0.0));
                    *place = weights.len() as u32;
                }
                weights[*place as usize - 1].1 += 1.0;
            }
            *end = weights.len();
        }
        let ngrams: Vec<Ngram> = weights.iter().map(|&(ngram, _)| ngram).collect();
        let counts = self.frequencies.get_all(&ngrams);
        let mut start = 0;
        for (norm, &end) in norms.iter_mut().zip(&ends[..self.order]) {
            let mut square = 0.0;
            for ((_, weight), &count) in weights[start..end].iter_mut().zip(&counts[start..end]) {
                *weight *= self.idf.of(count);
                square += *weight * *weight;
            }
            *norm = f64::sqrt(square);
            start = end;
        }
        Vector { weights, ends, norms, length: words.len().saturating_sub(1) as f64 }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    const ORDER: usize = 4;
    const SIGMA: f64 = 6.0;

    /// Distinct n-grams of an order with their weights, in the order of the text.
    fn weighted(ids: &[Word], order: usize, idf: &impl Fn(&[Word]) -> f64) -> Vec<(Vec<Word>, f64)> {
        let mut found: Vec<(Vec<Word>, f64)> = Vec::new();
        for ngram in ids.windows(order) {
            match found.iter_mut().find(|(known, _)| known == ngram) {
                Some((_, count)) => *count += 1.0,
                None => found.push((ngram.to_vec(), 1.0)),
            }
        }
        for (ngram, count) in &mut found {
            *count *= idf(ngram);
        }
        found
    }

    fn slow(sample: &[Word], references: &[Vec<Word>], idf: &impl Fn(&[Word]) -> f64) -> f64 {
        let norm = |vector: &[(Vec<Word>, f64)]| vector.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
        let bigrams = |ids: &[Word]| ids.len().saturating_sub(1) as f64;
        let one = |reference: &Vec<Word>| {
            let mut similarity = 0.0;
            for order in 1..=ORDER {
                let [own, other] = [sample, reference].map(|ids| weighted(ids, order, idf));
                let weights: BTreeMap<_, _> = own.iter().cloned().collect();
                let terms = other
                    .iter()
                    .map(|(ngram, weight)| weights.get(ngram).copied().unwrap_or(0.0).min(*weight) * weight);
                let norms = norm(&own) * norm(&other);
                if norms > 0.0 {
                    similarity += terms.sum::<f64>() / norms;
                }
            }
            similarity * length_penalty(bigrams(sample) - bigrams(reference), SIGMA)
        };
        10.0 * references.iter().map(one).sum::<f64>() / (ORDER * references.len()) as f64
    }

    fn captions(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Vec<Word>>> {
        prop::collection::vec(prop::collection::vec(0_u32..7, 0..12), count)
    }

    proptest! {
        #[test]
        fn rewards_are_those_of_plain_lists(
            images in prop::collection::vec(captions(1..4), 1..4),
            samples in captions(4..5),
            documents in 1_u64..12,
        ) {
            // Of words 5 and 6 nothing is known; with few documents, words have more than there are.
            let counts: Vec<(Ngram, u32)> = vec![
                (Ngram::new(&[0]), 9), (Ngram::new(&[1]), 3), (Ngram::new(&[0, 1]), 2), (Ngram::new(&[2]), 1),
                (Ngram::new(&[3]), 4), (Ngram::new(&[4]), 1), (Ngram::new(&[1, 0, 1]), 5),
            ];
            let known: BTreeMap<Ngram, u32> = counts.iter().copied().collect();
            let frequencies = DocumentFrequency::from_counts(&["0", "1", "2", "3", "4"], counts, documents, ORDER);
            let reward = Reward::new(&frequencies, ORDER, SIGMA).unwrap();
            let all = Idf::new(documents);
            let idf = |ngram: &[Word]| all.of(known.get(&Ngram::new(ngram)).copied().unwrap_or(0));
            let references: Vec<&[Word]> = images.iter().flatten().map(Vec::as_slice).collect();
            let sizes: Vec<usize> = images.iter().map(Vec::len).collect();
            let groups = reward.encode(&references, &sizes, 1);
            for (group, references) in groups.iter().zip(&images) {
                prop_assert_eq!(group.references().collect::<Vec<_>>(), references.iter().collect::<Vec<_>>());
                let samples: Vec<&[Word]> = samples.iter().map(Vec::as_slice).collect();
                let slow: Vec<f64> = samples.iter().map(|sample| slow(sample, references, &idf)).collect();
                prop_assert_eq!(reward.score(&samples, &[group], 1), slow);
            }
        }
    }
}
