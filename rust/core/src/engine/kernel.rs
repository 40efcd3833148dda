//! What a metric is to the engine: statistics of one caption, and a formula over their sums.
//!
//! Statistics of images are added up and the formula applied to the sum, so the bootstrap, paired tests, shards and
//! streaming exist once, for every metric. What needs the whole corpus first (document frequencies) is prepared
//! before the first caption is looked at.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::corpus::Corpus;
use crate::document_frequency::DocumentFrequency;
use crate::metrics::embedded::Embedded;
use crate::metrics::{bleu, cider, combine, diversity, fluency, meteor, rouge, vifidel, wmd};
use crate::numeric::parallel::map_parts;
use crate::text::ngram::{ImageNgrams, NgramCounter};
use crate::text::vocabulary::Word;

/// Every kernel by name: a new metric adds its line here.
const KERNELS: &[(&str, Build)] = &[
    ("bleu", bleu::build),
    ("rouge-n", rouge::build_n),
    ("rouge-l", rouge::build_l),
    ("rouge-s", rouge::build_s),
    ("cider", cider::build_cider),
    ("cider-d", cider::build_cider_d),
    ("meteor", meteor::build),
    ("wmd", wmd::build),
    ("vifidel", vifidel::build),
    ("fluency", fluency::build),
    ("combine", combine::build),
    ("self-cider", diversity::build_self_cider),
    ("lsa", diversity::build_lsa),
    ("mbleu", diversity::build_mbleu),
    ("mbleu-mix", diversity::build_mix),
    ("div", diversity::build_div),
    ("distinct", diversity::build_distinct),
];

type Build = fn(&Parameters) -> Result<Box<dyn Kernel>, ParameterError>;

/// Builds the kernel of that name.
pub fn kernel(name: &str, parameters: &Parameters) -> Result<Box<dyn Kernel>, ParameterError> {
    let (_, build) = KERNELS
        .iter()
        .find(|(known, _)| *known == name)
        .ok_or_else(|| ParameterError(format!("no kernel is named {name:?}")))?;
    build(parameters)
}

/// What a row of statistics is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// One candidate.
    Caption,
    /// All candidates of an image together.
    Set,
}

/// A metric's arithmetic.
pub trait Kernel: Send + Sync {
    /// Numbers a row of statistics has.
    fn width(&self) -> usize;

    /// What a row is about.
    fn unit(&self) -> Unit {
        Unit::Caption
    }

    /// Names the statistics where several kernels make scores of the same ones, as BLEU-1 to BLEU-4 do: kernels of one
    /// name are counted once.
    fn shared_statistics(&self) -> Option<&'static str> {
        None
    }

    /// Readies what depends on the corpus as a whole.
    fn prepare<'a>(&'a self, corpus: &'a Corpus, context: &'a Context) -> Box<dyn Scorer + 'a>;

    /// The score of a sum of rows.
    fn score(&self, sums: &[f64]) -> f64;

    /// The score of a single row, where it is not that of a corpus of one.
    fn row_score(&self, row: &[f64]) -> f64 {
        self.score(row)
    }
}

/// The formula of metrics that are means over captions: a row is (score, 1).
pub fn mean(sums: &[f64]) -> f64 {
    if sums[1] > 0.0 { sums[0] / sums[1] } else { 0.0 }
}

/// What makes a score of a sum of rows; every kernel is one.
pub trait Formula: Send + Sync {
    /// The score of a sum of rows.
    fn score(&self, sums: &[f64]) -> f64;
}

impl<K: Kernel> Formula for K {
    fn score(&self, sums: &[f64]) -> f64 {
        Kernel::score(self, sums)
    }
}

/// What turns one candidate into its row of statistics.
pub trait Scorer: Sync {
    /// Writes the statistics of candidate number `candidate` of the image; a scorer of sets is asked once an image.
    fn statistics(&self, image: &Image<'_>, candidate: usize, row: &mut [f64]);
}

/// What a call gives beside the corpus.
#[derive(Debug, Default)]
pub struct Context {
    /// Document frequencies from elsewhere; the corpus' own references otherwise.
    pub document_frequency: Option<DocumentFrequency>,
    /// What METEOR knows of its language; METEOR needs it.
    pub meteor: Option<Arc<meteor::Resources>>,
    /// Vectors of the corpus' words, and objects of its images; WMD needs the vectors, VIFIDEL both.
    pub embedded: Option<Arc<Embedded>>,
    /// Number of threads, 0 for one a core.
    pub threads: usize,
}

/// One image's sentences, with its n-gram counts made on first use and shared by all metrics.
pub struct Image<'a> {
    corpus: &'a Corpus,
    number: usize,
    counter: &'a RefCell<NgramCounter>,
    ngrams: OnceCell<ImageNgrams>,
    stemmed: OnceCell<ImageNgrams>,
}

impl<'a> Image<'a> {
    /// Image number `number` of the corpus; `counter` keeps its tables from image to image.
    pub fn new(corpus: &'a Corpus, number: usize, counter: &'a RefCell<NgramCounter>) -> Self {
        Self { corpus, number, counter, ngrams: OnceCell::new(), stemmed: OnceCell::new() }
    }

    /// Its number in the corpus.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Number of candidates (1 unless the corpus holds caption sets).
    pub fn candidate_count(&self) -> usize {
        self.corpus.candidates.of_image(self.number).len()
    }

    /// Number of references.
    pub fn reference_count(&self) -> usize {
        self.corpus.references.sentences.of_image(self.number).len()
    }

    /// Words of a candidate.
    pub fn candidate(&self, candidate: usize) -> &'a [Word] {
        self.corpus.candidates.words(self.corpus.candidates.of_image(self.number).start + candidate)
    }

    /// Words of each reference.
    pub fn references(&self) -> impl Iterator<Item = &'a [Word]> + Clone + use<'a> {
        let sentences = &self.corpus.references.sentences;
        sentences.of_image(self.number).map(|sentence| sentences.words(sentence))
    }

    /// Where the words of its references start among those of all references.
    pub fn first_reference_word(&self) -> usize {
        let sentences = &self.corpus.references.sentences;
        sentences.of_image(self.number).next().map_or(0, |sentence| sentences.span(sentence).start)
    }

    /// Tokens (split at U+0020 only) of a candidate.
    pub fn candidate_tokens(&self, candidate: usize) -> &'a [Word] {
        self.corpus.candidates.tokens(self.corpus.candidates.of_image(self.number).start + candidate)
    }

    /// Tokens of each reference.
    pub fn reference_tokens(&self) -> impl Iterator<Item = &'a [Word]> + Clone + use<'a> {
        let sentences = &self.corpus.references.sentences;
        sentences.of_image(self.number).map(|sentence| sentences.tokens(sentence))
    }

    /// n-gram counts; sentences are the candidates, then the references.
    pub fn ngrams(&self) -> &ImageNgrams {
        self.ngrams.get_or_init(|| self.count(None))
    }

    /// n-gram counts over stems.
    pub fn stemmed_ngrams(&self) -> &ImageNgrams {
        self.stemmed.get_or_init(|| self.count(Some(&self.corpus.stems().numbers)))
    }

    fn recycle(self) {
        let counts = [self.ngrams.into_inner(), self.stemmed.into_inner()];
        counts.into_iter().flatten().for_each(|counts| self.counter.borrow_mut().recycle(counts));
    }

    fn count(&self, stems: Option<&[Word]>) -> ImageNgrams {
        let candidates = &self.corpus.candidates;
        let sentences = candidates.of_image(self.number).map(|sentence| candidates.words(sentence));
        self.counter.borrow_mut().count(sentences, self.references(), stems)
    }
}

/// Rows of statistics: one a candidate, or one an image where sets are scored, in corpus order.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Numbers a row.
    pub width: usize,
    /// Row after row.
    pub values: Vec<f64>,
}

impl Table {
    /// The rows.
    pub fn rows(&self) -> std::slice::ChunksExact<'_, f64> {
        self.values.chunks_exact(self.width)
    }

    /// The sum of all rows, first to last.
    pub fn sums(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.width];
        for row in self.rows() {
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
        sums
    }
}

/// Statistics of every candidate for every kernel, in one pass over the images.
pub fn evaluate(corpus: &Corpus, kernels: &[&dyn Kernel], context: &Context) -> Vec<Arc<Table>> {
    let mut distinct: Vec<&dyn Kernel> = Vec::new();
    let places: Vec<usize> = kernels
        .iter()
        .map(|kernel| {
            let name = kernel.shared_statistics();
            let known = distinct.iter().position(|other| name.is_some() && other.shared_statistics() == name);
            known.unwrap_or_else(|| {
                distinct.push(*kernel);
                distinct.len() - 1
            })
        })
        .collect();
    let tables: Vec<Arc<Table>> = count(corpus, &distinct, context).into_iter().map(Arc::new).collect();
    places.into_iter().map(|place| tables[place].clone()).collect()
}

fn count(corpus: &Corpus, kernels: &[&dyn Kernel], context: &Context) -> Vec<Table> {
    let scorers: Vec<_> = kernels.iter().map(|kernel| kernel.prepare(corpus, context)).collect();
    let widths: Vec<usize> = kernels.iter().map(|kernel| kernel.width()).collect();
    let parts = map_parts(corpus.references.images.len(), context.threads, |images| {
        let counter = RefCell::new(NgramCounter::default());
        let mut parts: Vec<Vec<f64>> = vec![Vec::new(); scorers.len()];
        for number in images {
            let image = Image::new(corpus, number, &counter);
            for (((kernel, scorer), &width), part) in kernels.iter().zip(&scorers).zip(&widths).zip(&mut parts) {
                let rows = match kernel.unit() {
                    Unit::Caption => image.candidate_count(),
                    Unit::Set => 1,
                };
                for candidate in 0..rows {
                    let start = part.len();
                    part.resize(start + width, 0.0);
                    scorer.statistics(&image, candidate, &mut part[start..]);
                }
            }
            image.recycle();
        }
        parts
    });
    let mut tables: Vec<Table> = widths.iter().map(|&width| Table { width, values: Vec::new() }).collect();
    for part in parts {
        tables.iter_mut().zip(part).for_each(|(table, values)| table.values.extend(values));
    }
    tables
}

/// A kernel's parameters by name, as the metric's Python value holds them.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Parameters(pub BTreeMap<String, Value>);

/// The value of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// One of a list of names.
    Text(String),
    /// Metrics that a metric is made of.
    Members(Vec<Member>),
}

/// A metric that another is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// Its weight among the members.
    pub weight: f64,
    /// The name of its kernel.
    pub kernel: String,
    /// Its own parameters.
    pub parameters: Parameters,
}

/// A missing or unacceptable parameter: the Python value checks first, so users meet this only as a bug.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterError(pub String);

impl std::fmt::Display for ParameterError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ParameterError {}

impl Parameters {
    fn get(&self, name: &str) -> Result<&Value, ParameterError> {
        self.0.get(name).ok_or_else(|| ParameterError(format!("parameter {name} is missing")))
    }

    /// A finite number within the range.
    pub fn number(&self, name: &str, range: std::ops::RangeInclusive<f64>) -> Result<f64, ParameterError> {
        match self.get(name)? {
            Value::Number(number) if range.contains(number) => Ok(*number),
            other => Err(ParameterError(format!("parameter {name} must be a number in {range:?}, got {other:?}"))),
        }
    }

    /// A finite number above 0.
    pub fn positive(&self, name: &str) -> Result<f64, ParameterError> {
        const SMALLEST: f64 = f64::from_bits(1);
        self.number(name, SMALLEST..=f64::MAX)
    }

    /// A whole number within the range.
    pub fn count(&self, name: &str, range: std::ops::RangeInclusive<usize>) -> Result<usize, ParameterError> {
        match self.get(name)? {
            Value::Number(number) if number.fract() == 0.0 && *number >= 0.0 && range.contains(&(*number as usize)) => {
                Ok(*number as usize)
            }
            other => {
                Err(ParameterError(format!("parameter {name} must be a whole number in {range:?}, got {other:?}")))
            }
        }
    }

    /// Yes or no.
    pub fn flag(&self, name: &str) -> Result<bool, ParameterError> {
        match self.get(name)? {
            Value::Flag(flag) => Ok(*flag),
            other => Err(ParameterError(format!("parameter {name} must be yes or no, got {other:?}"))),
        }
    }

    /// The metrics that this one is made of.
    pub fn members(&self, name: &str) -> Result<&[Member], ParameterError> {
        match self.get(name)? {
            Value::Members(members) => Ok(members),
            other => Err(ParameterError(format!("parameter {name} must be a list of metrics, got {other:?}"))),
        }
    }

    /// One of the choices, which map names to what they mean.
    pub fn choice<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> Result<T, ParameterError> {
        let value = self.get(name)?;
        choices
            .iter()
            .find(|(choice, _)| *value == Value::Text((*choice).to_owned()))
            .map(|&(_, meaning)| meaning)
            .ok_or_else(|| {
                let names: Vec<_> = choices.iter().map(|(choice, _)| *choice).collect();
                ParameterError(format!("parameter {name} must be one of {}, got {value:?}", names.join(", ")))
            })
    }
}
