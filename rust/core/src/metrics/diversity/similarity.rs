//! Similarities of captions: what fills the matrix whose spectrum measures variety.
//! A similarity that is an inner product gives a positive semi-definite matrix; for others, singular values are used.

use crate::Refused;
use crate::corpus::Corpus;
use crate::engine::{Image, Parameters, Resources};
use crate::metrics::cider::{Cider, Weights};
use crate::metrics::rouge::Subsequences;
use crate::metrics::sentence::{Memory, SentenceVectors, Spelled, cosine};
use crate::numeric::f_measure;
use crate::text::ngram::{ImageNgrams, MAX_ORDER, Ngram};

/// How similar two captions of an image are.
#[derive(Debug, Clone)]
pub enum Similarity {
    /// CIDEr, the paper's kernel: mean over n, up to so many words, of the cosines of TF-IDF n-gram vectors.
    Cosine(usize),
    /// CIDEr-D as the paper's published program takes it: the upper triangle, mirrored.
    Clipped(Cider),
    /// Word counts in common, with stop words or without: LSA's kernel MᵀM.
    Words(bool),
    /// ROUGE-L's F with β = 1: the longest common subsequence over the mean length. Symmetric, but no inner product.
    Subsequence,
    /// The cosine of the captions' vectors.
    Meaning,
}

/// Every similarity by name: a new one adds its line here.
const SIMILARITIES: &[(&str, Build)] = &[
    ("cider", |settings| Similarity::Cosine(settings.order)),
    ("cider-d", |settings| Similarity::Clipped(Cider { scale: 1.0, ..Cider::d(settings.order, settings.sigma) })),
    ("words", |settings| Similarity::Words(settings.stop)),
    ("rouge-l", |_| Similarity::Subsequence),
    ("sentence", |_| Similarity::Meaning),
];

type Build = fn(&Settings) -> Similarity;

/// The parameters of all similarities; each takes those that concern it. One that is not given has its default.
struct Settings {
    order: usize,
    sigma: f64,
    stop: bool,
}

/// The names of all similarities.
pub fn names() -> impl Iterator<Item = &'static str> {
    SIMILARITIES.iter().map(|(name, _)| *name)
}

impl Similarity {
    /// The similarity that the parameter `kernel` names.
    pub fn build(parameters: &mut Parameters) -> Result<Self, Refused> {
        let of = parameters.choice("kernel", SIMILARITIES)?;
        let mut settings = Settings { order: MAX_ORDER, sigma: 6.0, stop: true };
        if parameters.has("n") {
            settings.order = parameters.count("n", 1..=MAX_ORDER)?;
        }
        if parameters.has("sigma") {
            settings.sigma = parameters.positive("sigma")?;
        }
        if parameters.has("stop") {
            settings.stop = parameters.flag("stop")?;
        }
        Ok(of(&settings))
    }

    /// Whether it is an inner product, so that no eigenvalue is negative.
    pub fn is_inner_product(&self) -> bool {
        matches!(self, Self::Cosine(_) | Self::Words(_) | Self::Meaning)
    }

    /// Prepares what depends on the corpus as a whole.
    pub fn prepare<'a>(&'a self, corpus: &'a Corpus, resources: &'a Resources) -> Result<Matrix<'a>, Refused> {
        Ok(match self {
            Self::Cosine(order) => {
                let weights = Weights::of(corpus, resources);
                Matrix::Products(Box::new(move |image| {
                    let ngrams = image.ngrams();
                    let idf = weights.of_image(image, ngrams);
                    (0..image.candidate_count()).map(|sentence| weighted(ngrams, &idf, sentence, *order)).collect()
                }))
            }
            Self::Words(stop) => {
                let left_out = |word: &str| !stop && STOP_WORDS.contains(&word);
                let left_out: Vec<bool> = corpus.vocabulary.words().map(left_out).collect();
                Matrix::Products(Box::new(move |image| {
                    let ngrams = image.ngrams();
                    let vector = |sentence| {
                        let words = ngrams.entries(sentence, 1).iter();
                        let counted = words.filter(|word| !left_out[ngrams.last_word(word.ngram) as usize]);
                        counted.map(|word| (word.ngram, f64::from(word.count))).collect()
                    };
                    (0..image.candidate_count()).map(vector).collect()
                }))
            }
            Self::Clipped(cider) => {
                let weights = Weights::of(corpus, resources);
                Matrix::Pairs(Box::new(move |image, matrix| {
                    let (ngrams, count) = (image.ngrams(), image.candidate_count());
                    let mut pairs = cider.score_pairs(ngrams, &weights.of_image(image, ngrams), count).into_iter();
                    mirrored(matrix, count, |_, _| pairs.next().unwrap_or_default());
                }))
            }
            Self::Subsequence => Matrix::Pairs(Box::new(common_subsequences)),
            Self::Meaning => {
                let spelled = Spelled::of(resources.need::<SentenceVectors>()?, &corpus.vocabulary);
                Matrix::Pairs(Box::new(move |image, matrix| {
                    let mut memory = Memory::default();
                    let mut vectors = vec![Vec::new(); image.candidate_count()];
                    for (candidate, vector) in vectors.iter_mut().enumerate() {
                        spelled.read(image.candidate(candidate), &mut memory, vector);
                    }
                    mirrored(matrix, vectors.len(), |i, j| cosine(&vectors[i], &vectors[j]));
                }))
            }
        })
    }
}

/// A sparse vector per candidate, by the numbers of the image's n-grams.
pub type Vectors = Vec<Vec<(u32, f64)>>;

/// What writes the matrix of an image's candidates, row by row.
pub type Fill<'a> = dyn Fn(&Image<'_>, &mut [f64]) + Sync + 'a;

/// A similarity prepared for a corpus.
pub enum Matrix<'a> {
    /// Inner products of these vectors of an image's candidates.
    Products(Box<dyn Fn(&Image<'_>) -> Vectors + Sync + 'a>),
    /// What writes the matrix of an image's candidates.
    Pairs(Box<Fill<'a>>),
}

impl Matrix<'_> {
    /// Writes the symmetric matrix of the image's candidates, row by row.
    pub fn fill(&self, image: &Image<'_>, matrix: &mut [f64]) {
        match self {
            Self::Products(vectors) => inner_products(&vectors(image), image.ngrams().distinct(), matrix),
            Self::Pairs(fill) => fill(image, matrix),
        }
    }

    /// The image's n-grams, and the candidates' vectors over them whose inner products these are, where they are that.
    pub fn vectors(&self, image: &Image<'_>) -> Option<(Vec<Ngram>, Vectors)> {
        match self {
            Self::Products(vectors) => Some((image.ngrams().ngrams(), vectors(image))),
            Self::Pairs(_) => None,
        }
    }
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

/// The TF-IDF vectors of all orders, one after the other. Each order has an equal share of the sum over n, so its vector
/// has that share of the squared length.
fn weighted(ngrams: &ImageNgrams, idf: &[f64], sentence: usize, longest: usize) -> Vec<(u32, f64)> {
    let mut vector = Vec::new();
    for order in 1..=longest {
        let start = vector.len();
        let entries = ngrams.entries(sentence, order).iter();
        vector.extend(entries.map(|entry| (entry.ngram, f64::from(entry.count) * idf[entry.ngram as usize])));
        let square: f64 = vector[start..].iter().map(|(_, weight)| weight * weight).sum();
        let norm = (square * longest as f64).sqrt();
        let scale = if norm == 0.0 { 0.0 } else { 1.0 / norm };
        vector[start..].iter_mut().for_each(|(_, weight)| *weight *= scale);
    }
    vector
}

fn common_subsequences(image: &Image<'_>, matrix: &mut [f64]) {
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

/// English function words: articles, pronouns, prepositions, conjunctions, auxiliaries, particles, and punctuation that
/// a tokenizer leaves.
const STOP_WORDS: &[&str] = &[
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
