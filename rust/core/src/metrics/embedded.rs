//! A corpus with word vectors: the vector of each of its words, and the objects of its images.

use std::cell::RefCell;
use std::sync::OnceLock;

use rustc_hash::FxHashSet;

use crate::Refused;
use crate::corpus::Corpus;
use crate::engine::{Built, Image, Kernel, Parameters, Prepared, Resource, Resources, missing, with_memory};
use crate::numeric::transport::Transport;
use crate::text::ngram::NgramCounter;
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
    unscaled: Space,
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
        Ok(Self { words, objects, unscaled: Space::new(dimension, vectors), unit: OnceLock::new() })
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
            let most =
                |side: &Sentences| side.of_image(image).map(|sentence| size(side.tokens(sentence))).max().unwrap_or(0);
            most(&corpus.candidates) * most(&corpus.references.sentences)
        };
        let is_beyond = |&image: &usize| pairs(image, &all) > MOST_PAIRS && pairs(image, &distinct) > MOST_PAIRS;
        (0..corpus.candidates.image_count()).filter(is_beyond).collect()
    }

    /// The vectors as they are, or scaled to unit length.
    pub(crate) fn space(&self, normalise: bool) -> &Space {
        if normalise { self.unit.get_or_init(|| self.unscaled.scaled()) } else { &self.unscaled }
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
    pub(crate) with_vector: f64,
    pub(crate) all: f64,
}

impl Bag {
    /// Refills the bag with names, their terms and their counts.
    pub(crate) fn fill(&mut self, items: impl Iterator<Item = (u32, Term, f64)>, coverage: &mut Coverage) {
        self.names.clear();
        self.rows.clear();
        self.weights.clear();
        for (name, term, count) in items {
            coverage.all += 1.0;
            let Term::Known(row) = term else { continue };
            coverage.with_vector += 1.0;
            if let Some(place) = self.names.iter().position(|&entry| entry == name) {
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

// Word Mover's Distance between a candidate and its references (Kusner et al. 2015).

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
pub(crate) fn build_wmd(parameters: &mut Parameters) -> Built {
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
        let beyond = embedded.beyond(corpus);
        Ok(with_memory(WmdScratch::default, move |scratch, image, candidate, row| {
            if beyond.binary_search(&image.number).is_ok() {
                return row.fill(0.0);
            }
            scratch.coverage = Coverage::default();
            let score = self.caption_score(embedded, scratch, image, candidate);
            row.copy_from_slice(&[score, 1.0, scratch.coverage.with_vector, scratch.coverage.all]);
        }))
    }

    fn row_score(&self, row: &[f64]) -> f64 {
        if row[1] > 0.0 { self.score(row) } else { f64::NAN }
    }
}

#[derive(Default)]
struct WmdScratch {
    candidate: Bag,
    reference: Bag,
    cost: Vec<f64>,
    transport: Transport,
    distances: Vec<f64>,
    coverage: Coverage,
}

impl Wmd {
    fn caption_score(&self, embedded: &Embedded, scratch: &mut WmdScratch, image: &Image<'_>, number: usize) -> f64 {
        let space = embedded.space(self.normalise);
        let WmdScratch { candidate, reference, cost, transport, distances, coverage } = scratch;
        candidate.fill_with_words(embedded.terms(image.candidate(number)), coverage);
        distances.clear();
        let mut longest: Option<f64> = None;
        for words in image.references() {
            reference.fill_with_words(embedded.terms(words), coverage);
            if reference.is_empty() {
                continue;
            }
            if candidate.is_empty() {
                let length = space.longest(reference.rows.iter().copied());
                longest = Some(longest.map_or(length, |longest| longest.max(length)));
                continue;
            }
            cost.clear();
            for &x in &candidate.rows {
                cost.extend(reference.rows.iter().map(|&y| space.distance((x, 1.0), (y, 1.0), self.power)));
            }
            distances.push(transport.solve(&candidate.weights, &reference.weights, cost));
        }
        if distances.is_empty() {
            let length = longest.unwrap_or_else(|| space.longest(candidate.rows.iter().copied()));
            return if self.similarity { 0.0 } else { distance_of_nothing(length, self.power) };
        }
        let value = |distance: f64| if self.similarity { (-distance).exp() } else { distance };
        match self.pool {
            DistancePool::Best => value(distances.iter().copied().fold(f64::INFINITY, f64::min)),
            DistancePool::Worst => value(distances.iter().copied().fold(0.0, f64::max)),
            DistancePool::Mean => {
                distances.iter().map(|&distance| value(distance)).sum::<f64>() / distances.len() as f64
            }
        }
    }
}

// VIFIDEL (Madhyastha, Wang, Specia, ACL 2019): the transport between an image's objects and a caption's words.

/// The metric with its parameters.
#[derive(Debug, Clone, Copy)]
pub struct Vifidel {
    /// Whether the references say how important each object and word is.
    references: bool,
    /// p of ‖ρ_i x_i − ρ_j x_j‖^p.
    power: usize,
    /// Whether the weight of a label is its number of objects; otherwise all labels have the same weight.
    frequency: bool,
    normalise: bool,
    variant: Variant,
}

/// Whose score it is.
#[derive(Debug, Clone, Copy)]
enum Variant {
    /// exp(−distance).
    Paper,
    /// The distance itself, as the published program prints it.
    Released,
}

/// Builds VIFIDEL: `variant`, `references`, `p`, `frequency`, `normalise`.
pub(crate) fn build_vifidel(parameters: &mut Parameters) -> Built {
    Ok(Box::new(Vifidel::new(parameters)?))
}

/// How VIFIDEL scored one image.
#[derive(Debug)]
pub struct Explanation {
    /// The known labels, as numbers among the image's labels.
    pub objects: Vec<u32>,
    /// The caption's distinct known content words, as rows of vectors.
    pub words: Vec<u32>,
    /// The same of each reference.
    pub reference_words: Vec<Vec<u32>>,
    /// Shares of objects and of words.
    pub weights: [Vec<f64>; 2],
    /// ρ of objects and of words.
    pub importance: [Vec<f64>; 2],
    /// Costs, a row per object.
    pub cost: Vec<f64>,
    /// The share that moves from each object to each word, one row per object.
    pub plan: Vec<f64>,
    /// The optimal value.
    pub distance: f64,
    /// The score.
    pub score: f64,
    /// Known words and labels, and all of them.
    pub coverage: (f64, f64),
}

impl Vifidel {
    /// The metric with these parameters.
    pub fn new(parameters: &mut Parameters) -> Result<Self, Refused> {
        Ok(Self {
            references: parameters.flag("references")?,
            power: parameters.count("p", 1..=2)?,
            frequency: parameters.flag("frequency")?,
            normalise: parameters.flag("normalise")?,
            variant: parameters.choice("variant", &[("paper", Variant::Paper), ("released", Variant::Released)])?,
        })
    }

    /// Explains the first candidate of an image.
    pub fn explain(&self, corpus: &Corpus, embedded: &Embedded, image: usize) -> Result<Explanation, Refused> {
        let counter = RefCell::new(NgramCounter::default());
        let scorer = self.scorer(embedded)?;
        let mut scratch = VifidelScratch::default();
        let (distance, score) = scorer.measure(&mut scratch, &Image::new(corpus, image, &counter), 0);
        let VifidelScratch { objects, words, references, importance, cost, transport, coverage } = scratch;
        let (n, m) = (objects.rows.len(), words.rows.len());
        let moved = |i, j| if n * m == 0 { 0.0 } else { transport.moved(i, j) };
        let plan = (0..n).flat_map(|i| (0..m).map(move |j| (i, j))).map(|(i, j)| moved(i, j)).collect();
        Ok(Explanation {
            importance: [importance[..n].to_vec(), importance[n..].to_vec()],
            plan,
            reference_words: references.iter().map(|bag| bag.names.clone()).collect(),
            objects: objects.names,
            words: words.names,
            weights: [objects.weights, words.weights],
            cost,
            distance,
            score,
            coverage: (coverage.with_vector, coverage.all),
        })
    }

    fn scorer<'a>(&'a self, embedded: &'a Embedded) -> Result<VifidelScorer<'a>, Refused> {
        let objects = embedded.objects.as_ref().ok_or_else(|| missing("the objects of the images"))?;
        Ok(VifidelScorer { metric: self, embedded, objects, space: embedded.space(self.normalise) })
    }
}

impl Kernel for Vifidel {
    /// Score, 1, known words and labels, all words and labels.
    fn width(&self) -> usize {
        4
    }

    fn prepare<'a>(&'a self, _: &'a Corpus, resources: &'a Resources) -> Prepared<'a> {
        let scorer = self.scorer(resources.need()?)?;
        Ok(with_memory(VifidelScratch::default, move |scratch, image, candidate, row| {
            let (_, score) = scorer.measure(scratch, image, candidate);
            row.copy_from_slice(&[score, 1.0, scratch.coverage.with_vector, scratch.coverage.all]);
        }))
    }
}

struct VifidelScorer<'a> {
    metric: &'a Vifidel,
    embedded: &'a Embedded,
    objects: &'a Objects,
    space: &'a Space,
}

#[derive(Default)]
struct VifidelScratch {
    objects: Bag,
    words: Bag,
    /// The words of each reference.
    references: Vec<Bag>,
    /// ρ of the objects, then of the words.
    importance: Vec<f64>,
    cost: Vec<f64>,
    transport: Transport,
    coverage: Coverage,
}

impl VifidelScorer<'_> {
    /// Distance and score; everything on the way stays in `scratch`.
    fn measure(&self, scratch: &mut VifidelScratch, image: &Image<'_>, candidate: usize) -> (f64, f64) {
        let VifidelScratch { objects, words, references, importance, cost, transport, coverage } = scratch;
        *coverage = Coverage::default();
        let labels = self.objects.of_image(image.number);
        let count = |count| if self.metric.frequency { count } else { 1.0 };
        let label = |(number, &(term, times)): (usize, &(Term, f64))| (number as u32, term, count(times));
        objects.fill(labels.iter().enumerate().map(label), coverage);
        words.fill_with_words(self.embedded.terms(image.candidate(candidate)), coverage);
        let used = if self.metric.references { image.reference_count() } else { 0 };
        references.resize_with(used, Bag::default);
        for (bag, sentence) in references.iter_mut().zip(image.references()) {
            bag.fill_with_words(self.embedded.terms(sentence), coverage);
        }
        importance.clear();
        importance
            .extend(objects.rows.iter().chain(&words.rows).map(|&row| of_references(references, self.space, row)));
        let (of_objects, of_words) = importance.split_at(objects.rows.len());
        cost.clear();
        for (&x, &r) in objects.rows.iter().zip(of_objects) {
            let pairs = words.rows.iter().zip(of_words);
            cost.extend(pairs.map(|(&y, &s)| self.space.distance((x, r), (y, s), self.metric.power)));
        }
        let is_empty = objects.is_empty() || words.is_empty();
        let distance = if is_empty {
            let length = self.space.longest(objects.rows.iter().chain(&words.rows).copied());
            distance_of_nothing(length, self.metric.power)
        } else {
            transport.solve(&objects.weights, &words.weights, cost)
        };
        match self.metric.variant {
            Variant::Paper if is_empty => (distance, 0.0),
            Variant::Paper => (distance, (-distance).exp()),
            Variant::Released => (distance, distance),
        }
    }
}

/// ρ = (1/M) Σ_r max(0, 1 − max_t cos(x, x_t)) / 2 over the references r that have known content words t; 1 if none has.
fn of_references(references: &[Bag], space: &Space, row: u32) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    for bag in references.iter().filter(|bag| !bag.is_empty()) {
        count += 1;
        if bag.rows.contains(&row) {
            continue; // it contains the word itself: the cosine is 1
        }
        let nearest = bag.rows.iter().map(|&other| space.cosine(row, other)).fold(f64::NEG_INFINITY, f64::max);
        sum += (1.0 - nearest).max(0.0) / 2.0;
    }
    if count == 0 { 1.0 } else { sum / f64::from(count) }
}
