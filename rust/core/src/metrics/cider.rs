//! CIDEr and CIDEr-D (Vedantam, Zitnick, Parikh, CVPR 2015): similarity of TF-IDF n-gram vectors.
//!
//! Both compare the candidate's vector gⁿ(c) with each reference's gⁿ(s), for n = 1 to N. CIDEr (eq. 2) is their cosine
//! over stems; CIDEr-D (eq. 4) takes word forms, clips the candidate's weights to the reference's and multiplies by a
//! Gaussian penalty of the length difference.

use crate::corpus::{Corpus, OwnFrequencies};
use crate::document_frequency::{DocumentFrequency, Idf, Lookup};
use crate::engine::{Built, Image, Kernel, Parameters, Prepared, Resource, Resources, mean_of};
use crate::text::ngram::{Entry, ImageNgrams, MAX_ORDER};

/// Parameters of the whole family.
#[derive(Debug, Clone)]
pub struct Cider {
    /// Share of each order in the sum over n.
    pub order_weights: [f64; MAX_ORDER],
    /// Weights by rarity, or all n-grams alike.
    pub idf: bool,
    /// Mean or maximum over references, for each n by itself: it stands in eq. 2.
    pub pool: ReferencePool,
    /// Factor of the final score: 10 in both published programs, 1 in the paper.
    pub scale: f64,
    /// σ of the length penalty; with it the clipping of CIDEr-D.
    pub sigma: Option<f64>,
}

/// How to combine the similarities to an image's references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReferencePool {
    /// Their mean.
    Mean,
    /// The largest.
    Max,
}

/// Builds CIDEr.
pub(crate) fn build_cider(parameters: &mut Parameters) -> Built {
    let order = parameters.count("n", 1..=MAX_ORDER)?;
    let growth = parameters.choice("weights", &[("uniform", 0.0), ("exponential", 1.0)])?;
    let weight = |n: usize| (growth * n as f64).exp();
    let single = parameters.count("only", 0..=MAX_ORDER)?;
    let counted = |n: usize| if single == 0 { n <= order } else { n == single };
    Ok(Box::new(Cider {
        order_weights: shares(|n| if counted(n) { weight(n) } else { 0.0 }),
        idf: parameters.flag("idf")?,
        pool: parameters.choice("pool", &[("mean", ReferencePool::Mean), ("max", ReferencePool::Max)])?,
        scale: parameters.positive("scale")?,
        sigma: None,
    }))
}

/// Builds CIDEr-D.
pub(crate) fn build_cider_d(parameters: &mut Parameters) -> Built {
    let order = parameters.count("n", 1..=MAX_ORDER)?;
    Ok(Box::new(Cider::d(order, parameters.positive("sigma")?)))
}

fn shares(weight: impl Fn(usize) -> f64) -> [f64; MAX_ORDER] {
    let weights: [f64; MAX_ORDER] = std::array::from_fn(|k| weight(k + 1));
    let sum: f64 = weights.iter().sum();
    weights.map(|weight| weight / sum)
}

impl Cider {
    /// CIDEr-D over orders 1 to `order`, with the COCO code's scale.
    pub fn d(order: usize, sigma: f64) -> Self {
        Self {
            order_weights: shares(|n| if n <= order { 1.0 } else { 0.0 }),
            idf: true,
            pool: ReferencePool::Mean,
            scale: 10.0,
            sigma: Some(sigma),
        }
    }
}

impl Kernel for Cider {
    fn prepare<'a>(&'a self, corpus: &'a Corpus, resources: &'a Resources) -> Prepared<'a> {
        let weights = Weights::of(corpus, resources);
        Ok(mean_of(move |image, candidate| self.caption_score(&weights, image, candidate)))
    }
}

impl Resource for DocumentFrequency {
    const NAME: &'static str = "document frequencies";
}

/// The IDF of n-grams, from the document frequencies that a call gives, or else those of the corpus' references.
pub(crate) struct Weights<'a> {
    source: Source<'a>,
    idf: &'a Idf,
}

impl<'a> Weights<'a> {
    pub(crate) fn of(corpus: &'a Corpus, resources: &'a Resources) -> Self {
        if let Some(table) = resources.get::<DocumentFrequency>() {
            return Self { source: Source::Given(table.lookup(corpus.vocabulary.words())), idf: &table.idf };
        }
        let table = corpus.references.frequencies(resources.threads);
        Self { source: Source::References(table), idf: &table.idf }
    }

    /// The IDF of each of the image's `ngrams`, by its number there.
    pub(crate) fn of_image(&self, image: &Image<'_>, ngrams: &ImageNgrams) -> Vec<f64> {
        match &self.source {
            Source::Given(lookup) => lookup.of_image(ngrams).into_iter().map(|count| self.idf.of(count)).collect(),
            Source::References(table) => {
                reference_counts(table, image.first_reference_word(), ngrams).map(|count| self.idf.of(count)).collect()
            }
        }
    }
}

/// The source of document frequencies.
enum Source<'a> {
    References(&'a OwnFrequencies),
    Given(Lookup),
}

/// The document frequencies of an image's n-grams among the references. A reference's n-grams were counted where they
/// occur. Another n-gram was not kept if its prefix was not kept, so most look-ups are not needed.
fn reference_counts(table: &OwnFrequencies, first_word: usize, ngrams: &ImageNgrams) -> impl Iterator<Item = u32> {
    // Count and order of each.
    let mut counts: Vec<(u32, usize)> = Vec::with_capacity(ngrams.distinct());
    for number in 0..ngrams.distinct() as u32 {
        let (of_prefix, shorter) = ngrams.prefix(number).map_or((u32::MAX, 0), |prefix| counts[prefix as usize]);
        let order = shorter + 1;
        let at_place = || table.at_words.as_ref()?.get(order, first_word + ngrams.place(number)?);
        let looked_up = || if of_prefix > 0 { table.of_ngrams.get(ngrams.ngram(number)) } else { 0 };
        counts.push((at_place().unwrap_or_else(looked_up), order));
    }
    counts.into_iter().map(|(count, _)| count)
}

/// exp(−(l(c) − l(s))² / 2σ²), for σ whose square is 0 too.
pub(crate) fn length_penalty(difference: f64, sigma: f64) -> f64 {
    let deviation = difference / sigma;
    (-deviation * deviation / 2.0).exp()
}

impl Cider {
    fn caption_score(&self, weights: &Weights<'_>, image: &Image<'_>, candidate: usize) -> f64 {
        let ngrams = image.ngrams();
        let idf = if self.idf { weights.of_image(image, ngrams) } else { vec![1.0; ngrams.distinct()] };
        let first = image.candidate_count();
        self.score_sentence(ngrams, &idf, candidate, first..first + image.reference_count())
    }

    /// The score of sentence number `candidate` against the sentences `references`; `idf` weighs each n-gram number.
    pub fn score_sentence(
        &self,
        ngrams: &ImageNgrams,
        idf: &[f64],
        candidate: usize,
        references: std::ops::Range<usize>,
    ) -> f64 {
        let count = references.len();
        let candidate = Vector::new(ngrams, idf, candidate);
        let mut pooled = [0.0_f64; MAX_ORDER];
        for reference in references {
            let similarities = self.similarities(&candidate, ngrams, idf, reference);
            for (pooled, similarity) in pooled.iter_mut().zip(similarities) {
                match self.pool {
                    ReferencePool::Mean => *pooled += similarity / count as f64,
                    ReferencePool::Max => *pooled = pooled.max(similarity),
                }
            }
        }
        self.scale * pooled.iter().zip(self.order_weights).map(|(similarity, weight)| weight * similarity).sum::<f64>()
    }

    /// The score of each of the first `count` sentences as candidate against each from itself on as its only reference,
    /// row by row.
    pub(crate) fn score_pairs(&self, ngrams: &ImageNgrams, idf: &[f64], count: usize) -> Vec<f64> {
        let sparse: Vec<Sparse> = (0..count).map(|sentence| Sparse::new(ngrams, idf, sentence)).collect();
        let mut dense = vec![0.0; idf.len()];
        let mut scores = Vec::with_capacity(count * (count + 1) / 2);
        for (first, candidate) in sparse.iter().enumerate() {
            for &(ngram, weight) in &candidate.weights {
                dense[ngram as usize] = weight;
            }
            scores.extend(sparse[first..].iter().map(|reference| self.score_pair(candidate, &dense, reference)));
            for &(ngram, _) in &candidate.weights {
                dense[ngram as usize] = 0.0;
            }
        }
        scores
    }

    /// The score of a candidate, whose weights are in `dense`, against one reference.
    fn score_pair(&self, candidate: &Sparse, dense: &[f64], reference: &Sparse) -> f64 {
        let penalty = self.sigma.map_or(1.0, |sigma| length_penalty(candidate.length - reference.length, sigma));
        let mut start = 0;
        let mut sum = 0.0;
        for order in 0..MAX_ORDER {
            let weights = &reference.weights[start..reference.ends[order]];
            start = reference.ends[order];
            let norms = candidate.norms[order] * reference.norms[order];
            if norms > 0.0 {
                let clipped = |other: f64, weight: f64| if self.sigma.is_some() { other.min(weight) } else { other };
                let dot: f64 = weights.iter().map(|&(ngram, w)| clipped(dense[ngram as usize], w) * w).sum();
                sum += self.order_weights[order] * dot / norms;
            }
        }
        self.scale * penalty * sum
    }

    /// Similarity of gⁿ(c) and gⁿ(s) for each n that counts.
    fn similarities(
        &self,
        candidate: &Vector,
        ngrams: &ImageNgrams,
        idf: &[f64],
        reference: usize,
    ) -> [f64; MAX_ORDER] {
        let penalty =
            self.sigma.map_or(1.0, |sigma| length_penalty(candidate.length - Vector::length(ngrams, reference), sigma));
        let mut similarities = [0.0; MAX_ORDER];
        for order in 1..=MAX_ORDER {
            if self.order_weights[order - 1] == 0.0 {
                continue;
            }
            let (mut dot, mut square) = (0.0, 0.0);
            for entry in ngrams.entries(reference, order) {
                let weight = f64::from(entry.count) * idf[entry.ngram as usize];
                let other = candidate.weights[entry.ngram as usize];
                square += weight * weight;
                dot += if self.sigma.is_some() { other.min(weight) } else { other } * weight;
            }
            let norms = candidate.norms[order - 1] * square.sqrt();
            similarities[order - 1] = if norms == 0.0 { 0.0 } else { penalty * dot / norms };
        }
        similarities
    }
}

/// A candidate's gⁿ for all n: weights by n-gram number, and the norm of each order.
struct Vector {
    weights: Vec<f64>,
    norms: [f64; MAX_ORDER],
    length: f64,
}

impl Vector {
    fn new(ngrams: &ImageNgrams, idf: &[f64], sentence: usize) -> Self {
        let mut weights = vec![0.0; idf.len()];
        let norms = std::array::from_fn(|k| {
            let mut square = 0.0;
            for &Entry { ngram, count } in ngrams.entries(sentence, k + 1) {
                let weight = f64::from(count) * idf[ngram as usize];
                weights[ngram as usize] = weight;
                square += weight * weight;
            }
            f64::sqrt(square)
        });
        Self { weights, norms, length: Self::length(ngrams, sentence) }
    }

    /// The COCO code's length of a caption is its number of *bigrams*.
    fn length(ngrams: &ImageNgrams, sentence: usize) -> f64 {
        ngrams.entries(sentence, 2).iter().map(|entry| f64::from(entry.count)).sum()
    }
}

/// A sentence's gⁿ for all n as (n-gram, weight), one order after the other, and the norm of each.
struct Sparse {
    weights: Vec<(u32, f64)>,
    ends: [usize; MAX_ORDER],
    norms: [f64; MAX_ORDER],
    length: f64,
}

impl Sparse {
    fn new(ngrams: &ImageNgrams, idf: &[f64], sentence: usize) -> Self {
        let mut weights = Vec::new();
        let (mut ends, mut norms) = ([0; MAX_ORDER], [0.0; MAX_ORDER]);
        for order in 0..MAX_ORDER {
            let start = weights.len();
            let entries = ngrams.entries(sentence, order + 1).iter();
            weights.extend(entries.map(|entry| (entry.ngram, f64::from(entry.count) * idf[entry.ngram as usize])));
            ends[order] = weights.len();
            norms[order] = weights[start..].iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
        }
        Self { weights, ends, norms, length: Vector::length(ngrams, sentence) }
    }
}
