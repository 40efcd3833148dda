//! VIFIDEL (Madhyastha, Wang, Specia, ACL 2019): the transport between an image's objects and a caption's words.

use std::cell::RefCell;

use crate::Refused;
use crate::corpus::Corpus;
use crate::engine::{Built, Image, Kernel, Parameters, Prepared, Resources, missing, with_memory};
use crate::metrics::embedded::{Bag, Coverage, Embedded, Objects, Space, Term, distance_of_nothing};
use crate::numeric::transport::Transport;
use crate::text::ngram::NgramCounter;

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
pub(crate) fn build(parameters: &mut Parameters) -> Built {
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
        let mut scratch = Scratch::default();
        let (distance, score) = scorer.measure(&mut scratch, &Image::new(corpus, image, &counter), 0);
        let Scratch { objects, words, references, importance, cost, transport, coverage } = scratch;
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
            coverage: (coverage.known, coverage.all),
        })
    }

    fn scorer<'a>(&'a self, embedded: &'a Embedded) -> Result<CorpusScorer<'a>, Refused> {
        let objects = embedded.objects().ok_or_else(|| missing("the objects of the images"))?;
        Ok(CorpusScorer { metric: self, embedded, objects, space: embedded.space(self.normalise) })
    }
}

impl Kernel for Vifidel {
    /// Score, 1, known words and labels, all words and labels.
    fn width(&self) -> usize {
        4
    }

    fn prepare<'a>(&'a self, _: &'a Corpus, resources: &'a Resources) -> Prepared<'a> {
        let scorer = self.scorer(resources.need()?)?;
        Ok(with_memory(Scratch::default, move |scratch, image, candidate, row| {
            let (_, score) = scorer.measure(scratch, image, candidate);
            row.copy_from_slice(&[score, 1.0, scratch.coverage.known, scratch.coverage.all]);
        }))
    }
}

struct CorpusScorer<'a> {
    metric: &'a Vifidel,
    embedded: &'a Embedded,
    objects: &'a Objects,
    space: &'a Space,
}

#[derive(Default)]
struct Scratch {
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

impl CorpusScorer<'_> {
    /// Distance and score; everything on the way stays in `scratch`.
    fn measure(&self, scratch: &mut Scratch, image: &Image<'_>, candidate: usize) -> (f64, f64) {
        scratch.coverage = Coverage::default();
        self.fill_bags(scratch, image, candidate);
        self.weigh(scratch);
        let Scratch { objects, words, importance, cost, transport, .. } = scratch;
        let (of_objects, of_words) = importance.split_at(objects.rows.len());
        cost.clear();
        for (&x, &r) in objects.rows.iter().zip(of_objects) {
            let pairs = words.rows.iter().zip(of_words);
            cost.extend(pairs.map(|(&y, &s)| self.space.distance((x, r), (y, s), self.metric.power)));
        }
        if objects.is_empty() || words.is_empty() {
            let length = self.space.longest(objects.rows.iter().chain(&words.rows).copied());
            let distance = distance_of_nothing(length, self.metric.power);
            return match self.metric.variant {
                Variant::Paper => (distance, 0.0),
                Variant::Released => (distance, distance),
            };
        }
        let distance = transport.solve(&objects.weights, &words.weights, cost);
        match self.metric.variant {
            Variant::Paper => (distance, (-distance).exp()),
            Variant::Released => (distance, distance),
        }
    }

    fn fill_bags(&self, scratch: &mut Scratch, image: &Image<'_>, candidate: usize) {
        let Scratch { objects, words, references, coverage, .. } = scratch;
        let labels = self.objects.of_image(image.number());
        let count = |count| if self.metric.frequency { count } else { 1.0 };
        let label = |(number, &(term, times)): (usize, &(Term, f64))| (number as u32, term, count(times));
        objects.fill(labels.iter().enumerate().map(label), coverage);
        words.fill_with_words(self.embedded.terms(image.candidate(candidate)), coverage);
        let used = if self.metric.references { image.reference_count() } else { 0 };
        references.resize_with(used, Bag::default);
        for (bag, sentence) in references.iter_mut().zip(image.references()) {
            bag.fill_with_words(self.embedded.terms(sentence), coverage);
        }
    }

    /// ρ of every object and word: 1 if no reference has a known content word.
    fn weigh(&self, scratch: &mut Scratch) {
        let Scratch { objects, words, references, importance, .. } = scratch;
        importance.clear();
        importance
            .extend(objects.rows.iter().chain(&words.rows).map(|&row| of_references(references, self.space, row)));
    }
}

/// (1/M) Σ_r max(0, 1 − max_t cos(x, x_t)) / 2 over the references r that have known content words t.
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
