//! A corpus with word vectors: the vector of each of its words, and the objects of its images.

use std::sync::OnceLock;

use rustc_hash::FxHashSet;

use crate::Refused;
use crate::corpus::Corpus;
use crate::engine::Resource;
use crate::text::sentences::Sentences;
use crate::text::vocabulary::Word;

/// How a metric that compares meanings treats a content word or label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Term {
    /// It has no vector: left out, and counted.
    Unknown,
    /// Its vector is in this row.
    Known(u32),
}

impl Term {
    fn row(self) -> Option<u32> {
        if let Self::Known(row) = self { Some(row) } else { None }
    }
}

/// Pairs of distinct words between which transport is solved: up to a minute's work.
pub const MOST_PAIRS: usize = 4_000_000;

/// Vectors of a corpus' words, and the objects of its images.
#[derive(Debug)]
pub struct Embedded {
    /// Terms of each word of the vocabulary: none of function words, several of a compound whose parts are known.
    words: Vec<Vec<Term>>,
    objects: Option<Objects>,
    given: Space,
    /// The same, scaled to unit length: made on first use.
    unit: OnceLock<Space>,
}

/// The objects of each image: labels with their counts.
#[derive(Debug, Default)]
pub struct Objects {
    /// Labels of image `i` are numbers `first[i]..first[i + 1]`.
    first: Vec<usize>,
    labels: Vec<(Term, f64)>,
}

impl Objects {
    /// Labels of all images, one image after the other, and how many each image has.
    pub fn new(sizes: &[usize], labels: Vec<(Term, f64)>) -> Result<Self, Refused> {
        let mut first = vec![0];
        first.extend(sizes.iter().scan(0_usize, |total, size| {
            *total = total.saturating_add(*size);
            Some(*total)
        }));
        if first.last() != Some(&labels.len()) {
            return Err(Refused(format!("the labels per image do not add up to {}", labels.len())));
        }
        Ok(Self { first, labels })
    }

    /// Labels of an image, with their counts.
    pub fn of_image(&self, image: usize) -> &[(Term, f64)] {
        &self.labels[self.first[image]..self.first[image + 1]]
    }
}

impl Resource for Embedded {
    const NAME: &'static str = "word vectors";
}

impl Embedded {
    /// Vectors row by row, the terms of the vocabulary's words, and the objects, if there are any.
    pub fn new(
        dimension: usize,
        vectors: Vec<f64>,
        words: Vec<Vec<Term>>,
        objects: Option<Objects>,
    ) -> Result<Self, Refused> {
        let labels = objects.iter().flat_map(|objects| objects.labels.iter().map(|&(term, _)| term));
        let rows = words.iter().flatten().copied().chain(labels).filter_map(Term::row);
        if let Some(row) = rows.max().filter(|&row| (row as usize + 1) * dimension > vectors.len()) {
            return Err(Refused(format!("there is no row {row} of vectors")));
        }
        Ok(Self { words, objects, given: Space::new(dimension, vectors), unit: OnceLock::new() })
    }

    /// The terms of a sentence's words.
    pub(crate) fn terms<'a>(&'a self, words: &'a [Word]) -> impl Iterator<Item = Term> + 'a {
        words.iter().flat_map(|&word| self.words[word as usize].iter().copied())
    }

    /// The images with a candidate and a reference of more pairs of distinct known words than [`MOST_PAIRS`].
    pub fn beyond(&self, corpus: &Corpus) -> Vec<usize> {
        let all = |words: &[Word]| self.terms(words).count();
        let distinct = |words: &[Word]| self.terms(words).filter_map(Term::row).collect::<FxHashSet<_>>().len();
        let pairs = |image, size: &dyn Fn(&[Word]) -> usize| {
            let most = |side: &Sentences| side.of_image(image).map(|one| size(side.tokens(one))).max().unwrap_or(0);
            most(&corpus.candidates) * most(&corpus.references.sentences)
        };
        let is_beyond = |&image: &usize| pairs(image, &all) > MOST_PAIRS && pairs(image, &distinct) > MOST_PAIRS;
        (0..corpus.candidates.image_count()).filter(is_beyond).collect()
    }

    /// The objects, where they were given.
    pub fn objects(&self) -> Option<&Objects> {
        self.objects.as_ref()
    }

    /// The vectors as they are, or scaled to unit length.
    pub(crate) fn space(&self, normalise: bool) -> &Space {
        if normalise { self.unit.get_or_init(|| self.given.scaled()) } else { &self.given }
    }
}

/// Vectors to measure between.
#[derive(Debug)]
pub(crate) struct Space {
    dimension: usize,
    vectors: Vec<f64>,
    lengths: Vec<f64>,
}

impl Space {
    fn new(dimension: usize, vectors: Vec<f64>) -> Self {
        let lengths = vectors.chunks_exact(dimension.max(1)).map(|vector| inner_product(vector, vector).sqrt());
        Self { lengths: lengths.collect(), dimension, vectors }
    }

    /// The same vectors at unit length; a vector of zeros stays one.
    fn scaled(&self) -> Self {
        let shares =
            self.vectors.chunks_exact(self.dimension.max(1)).zip(&self.lengths).flat_map(|(vector, &length)| {
                vector.iter().map(move |value| if length > 0.0 { value / length } else { 0.0 })
            });
        let lengths = self.lengths.iter().map(|&length| f64::from(length > 0.0)).collect();
        Self { dimension: self.dimension, vectors: shares.collect(), lengths }
    }

    /// The length of the longest of these vectors, 1 if there are none.
    pub(crate) fn longest(&self, rows: impl Iterator<Item = u32>) -> f64 {
        rows.map(|row| self.lengths[row as usize]).reduce(f64::max).unwrap_or(1.0)
    }

    /// cos(x, y); a vector of zeros is at right angles to all others.
    pub(crate) fn cosine(&self, x: u32, y: u32) -> f64 {
        if x == y {
            return 1.0;
        }
        let lengths = self.lengths[x as usize] * self.lengths[y as usize];
        if lengths > 0.0 { inner_product(self.vector(x), self.vector(y)) / lengths } else { 0.0 }
    }

    /// ‖r x − s y‖^p, p being 1 or 2.
    pub(crate) fn distance(&self, (x, r): (u32, f64), (y, s): (u32, f64), power: usize) -> f64 {
        let square = lanes(self.vector(x), self.vector(y), |a, b| {
            let difference = r * a - s * b;
            difference * difference
        });
        // Vectors of absurd length are as far apart as can be added up.
        let square = square.min(LARGEST);
        if power == 1 { square.sqrt() } else { square }
    }

    fn vector(&self, row: u32) -> &[f64] {
        &self.vectors[row as usize * self.dimension..][..self.dimension]
    }
}

const LARGEST: f64 = 1e300;

/// Σ x_k y_k.
pub(crate) fn inner_product(x: &[f64], y: &[f64]) -> f64 {
    lanes(x, y, |a, b| a * b)
}

/// Σ f(x_k, y_k), in eight sums side by side, which vector instructions add at once.
fn lanes(x: &[f64], y: &[f64], term: impl Fn(f64, f64) -> f64) -> f64 {
    let mut sums = [0.0; 8];
    let (heads, rests) = (x.chunks_exact(8).zip(y.chunks_exact(8)), x.len() / 8 * 8);
    for (x, y) in heads {
        for lane in 0..8 {
            sums[lane] += term(x[lane], y[lane]);
        }
    }
    let rest: f64 = x[rests..].iter().zip(&y[rests..]).map(|(&a, &b)| term(a, b)).sum();
    sums.iter().sum::<f64>() + rest
}

/// Distinct known words or labels with their shares, which sum to 1.
#[derive(Debug, Default, Clone)]
pub(crate) struct Bag {
    /// The caller's number of each: the row of a word, or the number of a label.
    pub(crate) names: Vec<u32>,
    /// Their vectors' rows.
    pub(crate) rows: Vec<u32>,
    pub(crate) weights: Vec<f64>,
}

/// How many content words and labels were met, and how many of them have a vector.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Coverage {
    pub(crate) known: f64,
    pub(crate) all: f64,
}

impl Coverage {
    pub(crate) fn meet(&mut self, term: Term) {
        self.all += 1.0;
        self.known += f64::from(matches!(term, Term::Known(_)));
    }
}

impl Bag {
    /// Refills the bag with names, their terms and their counts.
    pub(crate) fn fill(&mut self, items: impl Iterator<Item = (u32, Term, f64)>, coverage: &mut Coverage) {
        self.names.clear();
        self.rows.clear();
        self.weights.clear();
        for (name, term, count) in items {
            coverage.meet(term);
            let Term::Known(row) = term else { continue };
            if let Some(place) = self.names.iter().position(|&known| known == name) {
                self.weights[place] += count;
            } else {
                self.names.push(name);
                self.rows.push(row);
                self.weights.push(count);
            }
        }
        let total: f64 = self.weights.iter().sum();
        self.weights.iter_mut().for_each(|weight| *weight /= total);
    }

    /// Refills the bag with the terms of a sentence, which are called by their rows.
    pub(crate) fn fill_with_words(&mut self, terms: impl Iterator<Item = Term>, coverage: &mut Coverage) {
        let name = |term| if let Term::Known(row) = term { row } else { 0 };
        self.fill(terms.map(|term| (name(term), term, 1.0)), coverage);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// The distance between a bag and an empty one, by convention: that of two opposite vectors of this length.
pub(crate) fn distance_of_nothing(length: f64, power: usize) -> f64 {
    let distance = 2.0 * length;
    (if power == 1 { distance } else { distance * distance }).min(LARGEST)
}
