//! Similarities of captions: what fills the matrix whose spectrum measures variety.
//! A similarity that is an inner product gives a positive semi-definite matrix; for others, singular values are used.

use crate::Refused;
use crate::corpus::Corpus;
use crate::engine::{Image, Parameters, Resources};
use crate::metrics::cider::{Cider, Weights};
use crate::metrics::rouge::Subsequences;
use crate::numeric::f_measure::f_measure;
use crate::sentence_vectors::{Memory, SentenceVectors, Spelled, cosine};
use crate::text::ngram::{Entry, ImageNgrams, MAX_ORDER, Ngram};

/// Every similarity by name: a new one adds its line here.
const SIMILARITIES: &[(&str, Build)] = &[
    ("cider", |settings| Box::new(Cosine { order: settings.order })),
    ("cider-d", |settings| Box::new(Clipped::new(settings))),
    ("words", |settings| Box::new(BagOfWords { stop: settings.stop })),
    ("rouge-l", |_| Box::new(Subsequence)),
    ("sentence", |_| Box::new(Meaning)),
];

type Build = fn(&Settings) -> Box<dyn Similarity>;

/// The parameters of all similarities; each takes those that concern it. One that is not given has its default.
struct Settings {
    order: usize,
    sigma: f64,
    stop: bool,
}

impl Settings {
    fn read(parameters: &mut Parameters) -> Result<Self, Refused> {
        let mut settings = Self { order: MAX_ORDER, sigma: 6.0, stop: true };
        if parameters.has("n") {
            settings.order = parameters.count("n", 1..=MAX_ORDER)?;
        }
        if parameters.has("sigma") {
            settings.sigma = parameters.positive("sigma")?;
        }
        if parameters.has("stop") {
            settings.stop = parameters.flag("stop")?;
        }
        Ok(settings)
    }
}

/// The names of all similarities.
pub fn names() -> impl Iterator<Item = &'static str> {
    SIMILARITIES.iter().map(|(name, _)| *name)
}

/// Builds the similarity that the parameter `kernel` names.
pub fn build(parameters: &mut Parameters) -> Result<Box<dyn Similarity>, Refused> {
    let build = parameters.choice("kernel", SIMILARITIES)?;
    Ok(build(&Settings::read(parameters)?))
}

/// How similar two captions of an image are.
pub trait Similarity: Send + Sync {
    /// Whether it is an inner product, so that no eigenvalue is negative.
    fn is_inner_product(&self) -> bool;

    /// Prepares what depends on the corpus as a whole.
    fn prepare<'a>(&'a self, corpus: &'a Corpus, resources: &'a Resources) -> Result<Box<dyn Matrix + 'a>, Refused>;
}

/// Fills the similarity matrix of an image.
pub trait Matrix: Sync {
    /// Writes the symmetric matrix of the image's candidates, row by row.
    fn fill(&self, image: &Image<'_>, matrix: &mut [f64]);

    /// The candidates' vectors whose inner products these are, where they are that.
    fn vectors(&self, _: &Image<'_>) -> Option<Vectors> {
        None
    }
}

/// A sparse vector per candidate: entries by the number of the n-gram, which `ngrams` lists.
#[derive(Debug, Clone, PartialEq)]
pub struct Vectors {
    /// The n-grams of the image by number.
    pub ngrams: Vec<Ngram>,
    /// (n-gram, entry) of each candidate.
    pub entries: Vec<Vec<(u32, f64)>>,
}

/// Fills a matrix from its upper triangle, row by row.
fn mirrored(matrix: &mut [f64], n: usize, mut similarity: impl FnMut(usize, usize) -> f64) {
    for i in 0..n {
        for j in i..n {
            let value = similarity(i, j);
            matrix[i * n + j] = value;
            matrix[j * n + i] = value;
        }
    }
}

/// Inner products of sparse vectors with entries below `places`.
fn inner_products(vectors: &[Vec<(u32, f64)>], places: usize, matrix: &mut [f64]) {
    let n = vectors.len();
    let mut dense = vec![0.0; places];
    for (i, vector) in vectors.iter().enumerate() {
        for &(place, value) in vector {
            dense[place as usize] = value;
        }
        for (j, other) in vectors.iter().enumerate().skip(i) {
            let product = other.iter().map(|&(place, value)| dense[place as usize] * value).sum();
            matrix[i * n + j] = product;
            matrix[j * n + i] = product;
        }
        for &(place, _) in vector {
            dense[place as usize] = 0.0;
        }
    }
}

/// CIDEr, the paper's kernel: mean over n of the cosines of TF-IDF n-gram vectors.
#[derive(Debug, Clone, Copy)]
struct Cosine {
    order: usize,
}

impl Similarity for Cosine {
    fn is_inner_product(&self) -> bool {
        true
    }

    fn prepare<'a>(&'a self, corpus: &'a Corpus, resources: &'a Resources) -> Result<Box<dyn Matrix + 'a>, Refused> {
        Ok(Box::new(WeightedCosine { cosine: self, weights: Weights::of(corpus, resources) }))
    }
}

impl Cosine {
    fn entries(self, weights: &Weights<'_>, image: &Image<'_>) -> Vec<Vec<(u32, f64)>> {
        let ngrams = image.ngrams();
        let idf = weights.of_image(image, ngrams);
        (0..image.candidate_count()).map(|sentence| self.vector(ngrams, &idf, sentence)).collect()
    }

    /// The vectors of all orders, one after the other. Each order has an equal share of the sum over n, so its vector has
    /// that share of the squared length.
    fn vector(self, ngrams: &ImageNgrams, idf: &[f64], sentence: usize) -> Vec<(u32, f64)> {
        let mut vector = Vec::new();
        for order in 1..=self.order {
            let start = vector.len();
            let entries = ngrams.entries(sentence, order).iter();
            vector.extend(entries.map(|entry| (entry.ngram, f64::from(entry.count) * idf[entry.ngram as usize])));
            let square: f64 = vector[start..].iter().map(|(_, weight)| weight * weight).sum();
            let norm = (square * self.order as f64).sqrt();
            let scale = if norm == 0.0 { 0.0 } else { 1.0 / norm };
            vector[start..].iter_mut().for_each(|(_, weight)| *weight *= scale);
        }
        vector
    }
}

/// The cosine with the weights of a corpus' n-grams.
struct WeightedCosine<'a> {
    cosine: &'a Cosine,
    weights: Weights<'a>,
}

impl Matrix for WeightedCosine<'_> {
    fn fill(&self, image: &Image<'_>, matrix: &mut [f64]) {
        let entries = self.cosine.entries(&self.weights, image);
        inner_products(&entries, image.ngrams().distinct(), matrix);
    }

    fn vectors(&self, image: &Image<'_>) -> Option<Vectors> {
        Some(Vectors { ngrams: image.ngrams().ngrams(), entries: self.cosine.entries(&self.weights, image) })
    }
}

/// CIDEr-D as the paper's published program takes it: the upper triangle, mirrored.
#[derive(Debug, Clone)]
struct Clipped {
    cider: Cider,
}

impl Clipped {
    fn new(settings: &Settings) -> Self {
        Self { cider: Cider { scale: 1.0, ..Cider::d(settings.order, settings.sigma) } }
    }
}

impl Similarity for Clipped {
    fn is_inner_product(&self) -> bool {
        false
    }

    fn prepare<'a>(&'a self, corpus: &'a Corpus, resources: &'a Resources) -> Result<Box<dyn Matrix + 'a>, Refused> {
        Ok(Box::new(WeightedClipped { clipped: self, weights: Weights::of(corpus, resources) }))
    }
}

/// CIDEr-D with the weights of a corpus' n-grams.
struct WeightedClipped<'a> {
    clipped: &'a Clipped,
    weights: Weights<'a>,
}

impl Matrix for WeightedClipped<'_> {
    fn fill(&self, image: &Image<'_>, matrix: &mut [f64]) {
        let ngrams = image.ngrams();
        let idf = self.weights.of_image(image, ngrams);
        let count = image.candidate_count();
        let mut pairs = self.clipped.cider.score_pairs(ngrams, &idf, count).into_iter();
        mirrored(matrix, count, |_, _| pairs.next().unwrap_or_default());
    }
}

/// Word counts in common: LSA's kernel MᵀM.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BagOfWords {
    /// Whether stop words count.
    pub(crate) stop: bool,
}

impl Similarity for BagOfWords {
    fn is_inner_product(&self) -> bool {
        true
    }

    fn prepare<'a>(&'a self, corpus: &'a Corpus, _: &'a Resources) -> Result<Box<dyn Matrix + 'a>, Refused> {
        let stopped = |word: &str| !self.stop && STOP_WORDS.contains(&word);
        Ok(Box::new(Counted { left_out: corpus.vocabulary.words().map(stopped).collect() }))
    }
}

struct Counted {
    /// By word number.
    left_out: Vec<bool>,
}

impl Counted {
    fn entries(&self, image: &Image<'_>) -> Vec<Vec<(u32, f64)>> {
        let ngrams = image.ngrams();
        let counts = |entry: &Entry| !self.left_out[ngrams.last_word(entry.ngram) as usize];
        (0..image.candidate_count())
            .map(|sentence| {
                let counted = ngrams.entries(sentence, 1).iter().filter(|entry| counts(entry));
                counted.map(|entry| (entry.ngram, f64::from(entry.count))).collect()
            })
            .collect()
    }
}

impl Matrix for Counted {
    fn fill(&self, image: &Image<'_>, matrix: &mut [f64]) {
        inner_products(&self.entries(image), image.ngrams().distinct(), matrix);
    }

    fn vectors(&self, image: &Image<'_>) -> Option<Vectors> {
        Some(Vectors { ngrams: image.ngrams().ngrams(), entries: self.entries(image) })
    }
}

/// English function words: articles, pronouns, prepositions, conjunctions, auxiliaries, particles, and punctuation that
/// a tokenizer leaves.
pub const STOP_WORDS: &[&str] = &[
    "a", "an", "the", "this", "that", "these", "those", "some", "any", "each", "every", "other", "another", "such",
    "i", "you", "he", "she", "it", "we", "they", "me", "him", "her", "us", "them", "my", "your", "his", "its", "our",
    "their", "who", "whom", "whose", "which", "what", "where", "when", "while", "there", "here", "and", "or", "but",
    "nor", "so", "as", "if", "than", "then", "because", "of", "in", "on", "at", "by", "for", "from", "to", "with",
    "without", "into", "onto", "upon", "over", "under", "above", "below", "between", "among", "through", "across",
    "along", "around", "about", "against", "after", "before", "behind", "beside", "near", "next", "off", "out", "up",
    "down", "during", "inside", "outside", "toward", "towards", "is", "are", "was", "were", "be", "been", "being",
    "am", "has", "have", "had", "having", "do", "does", "did", "doing", "can", "could", "will", "would", "shall",
    "should", "may", "might", "must", "not", "no", "very", "too", "also", "just", "only", "'s", "n't", ".", ",", ";",
    ":", "!", "?", "-", "``", "''", "'",
];

/// ROUGE-L's F with β = 1: the longest common subsequence over the mean length. Symmetric, but no inner product.
#[derive(Debug, Clone, Copy)]
struct Subsequence;

impl Similarity for Subsequence {
    fn is_inner_product(&self) -> bool {
        false
    }

    fn prepare<'a>(&'a self, _: &'a Corpus, _: &'a Resources) -> Result<Box<dyn Matrix + 'a>, Refused> {
        Ok(Box::new(*self))
    }
}

impl Matrix for Subsequence {
    fn fill(&self, image: &Image<'_>, matrix: &mut [f64]) {
        let mut subsequences = Subsequences::default();
        mirrored(matrix, image.candidate_count(), |i, j| {
            let (a, b) = (image.candidate_tokens(i), image.candidate_tokens(j));
            // Each row begins on the diagonal.
            if i == j {
                subsequences.of(a);
            }
            let common = subsequences.longest_common_with(b) as f64;
            f_measure(common / a.len().max(1) as f64, common / b.len().max(1) as f64, 1.0)
        });
    }
}

/// The cosine of the captions' vectors.
#[derive(Debug, Clone, Copy)]
struct Meaning;

impl Similarity for Meaning {
    fn is_inner_product(&self) -> bool {
        true
    }

    fn prepare<'a>(&'a self, corpus: &'a Corpus, resources: &'a Resources) -> Result<Box<dyn Matrix + 'a>, Refused> {
        let vectors = resources.need::<SentenceVectors>()?;
        Ok(Box::new(MeaningOf(Spelled::of(vectors, &corpus.vocabulary))))
    }
}

/// The vectors of a corpus' words.
struct MeaningOf(Spelled);

impl Matrix for MeaningOf {
    fn fill(&self, image: &Image<'_>, matrix: &mut [f64]) {
        let mut memory = Memory::default();
        let vector = |candidate| {
            let mut vector = Vec::new();
            self.0.read(image.candidate(candidate), &mut memory, &mut vector);
            vector
        };
        let own: Vec<Vec<f64>> = (0..image.candidate_count()).map(vector).collect();
        mirrored(matrix, own.len(), |i, j| cosine(&own[i], &own[j]));
    }
}
