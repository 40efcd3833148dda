//! The engine: one pass over the images for all metrics, and resampling of its statistics.
//!
//! A metric is statistics of one caption and a formula over their sums ([`Kernel`]). Statistics of images are added up
//! and the formula is applied to the sum, so the bootstrap, paired tests, shards and streaming exist once, for every
//! metric. The engine knows no metric by name: the module `metrics` lists them.

pub mod paired;
pub mod resample;

use std::any::{Any, TypeId};
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use crate::Refused;
use crate::corpus::{Corpus, threads_for_sentences};
use crate::numeric::exact::ExactSum;
use crate::numeric::parallel::{check, map_parts};
use crate::numeric::progress;
use crate::text::ngram::{ImageNgrams, MAX_ORDER, NgramCounter};
use crate::text::vocabulary::Word;

// The engine's view of a metric: statistics of one caption, and a formula over their sums.
//
// The steps are: a [`Kernel`] (a metric with its parameters) is prepared for a corpus, which gives a [`Scorer`]; each
// thread takes a [`Worker`] of it, which writes rows of statistics; the kernel's formula makes a score of a sum of rows.

/// The unit of a row of statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// One candidate.
    Caption,
    /// All candidates of an image together.
    Set,
}

/// A metric's arithmetic. The defaults are those of a metric that is a mean over captions: see [`mean_of`].
pub trait Kernel: Send + Sync {
    /// Number of values in a row of statistics.
    fn width(&self) -> usize {
        2
    }

    /// The unit of a row.
    fn unit(&self) -> Unit {
        Unit::Caption
    }

    /// Names the statistics if several kernels compute scores from the same ones, such as BLEU-1 to BLEU-4: kernels
    /// with the same name are counted once.
    fn shared_statistics(&self) -> Option<&'static str> {
        None
    }

    /// Words of the longest n-gram that the statistics are of, where no other kernel shares them.
    fn longest_ngram(&self) -> usize {
        MAX_ORDER
    }

    /// Prepares what depends on the corpus as a whole, such as document frequencies, before the first caption is scored.
    fn prepare<'a>(&'a self, corpus: &'a Corpus, resources: &'a Resources) -> Prepared<'a>;

    /// The score of a sum of rows.
    fn score(&self, sums: &[f64]) -> f64 {
        mean(sums)
    }

    /// The score of a single row, where it differs from that of a corpus of one.
    fn row_score(&self, row: &[f64]) -> f64 {
        self.score(row)
    }
}

/// A kernel, or why its parameters make none.
pub type Built = Result<Box<dyn Kernel>, Refused>;

/// A kernel prepared for a corpus, or the resource that it lacks.
pub type Prepared<'a> = Result<Box<dyn Scorer + 'a>, Refused>;

/// The formula of metrics that are means: a row is (score, 1).
pub fn mean(sums: &[f64]) -> f64 {
    if sums[1] > 0.0 { sums[0] / sums[1] } else { 0.0 }
}

/// Computes a score from a sum of rows: a kernel, or what stands for one or several.
pub trait Formula: Send + Sync {
    /// The score of a sum of rows.
    fn score(&self, sums: &[f64]) -> f64;
}

impl Formula for Box<dyn Kernel> {
    fn score(&self, sums: &[f64]) -> f64 {
        Kernel::score(&**self, sums)
    }
}

/// Writes the statistics of a candidate, given by its image and its number there, into a row of zeros. That of a kernel of
/// sets is called once per image.
pub type Worker<'s> = Box<dyn FnMut(&Image<'_>, usize, &mut [f64]) + 's>;

/// A kernel prepared for a corpus. A closure that takes what a [`Worker`] takes is one; [`with_memory`] makes others.
pub trait Scorer: Sync {
    /// The scorer of one thread.
    fn worker(&self) -> Worker<'_>;
}

impl<F: Fn(&Image<'_>, usize, &mut [f64]) + Sync> Scorer for F {
    fn worker(&self) -> Worker<'_> {
        Box::new(self)
    }
}

/// The scorer whose threads have working memory of their own, which `memory` makes.
pub fn with_memory<'a, M: 'a>(
    memory: impl Fn() -> M + Sync + 'a,
    statistics: impl Fn(&mut M, &Image<'_>, usize, &mut [f64]) + Sync + 'a,
) -> Box<dyn Scorer + 'a> {
    Box::new(WithMemory { memory, statistics })
}

struct WithMemory<M, N: Fn() -> M, S> {
    memory: N,
    statistics: S,
}

impl<M, N: Fn() -> M + Sync, S: Fn(&mut M, &Image<'_>, usize, &mut [f64]) + Sync> Scorer for WithMemory<M, N, S> {
    fn worker(&self) -> Worker<'_> {
        let mut memory = (self.memory)();
        Box::new(move |image, candidate, row| (self.statistics)(&mut memory, image, candidate, row))
    }
}

/// The scorer of a metric that is a mean: a row is (score, 1), where `score` takes an image and a candidate's number.
pub fn mean_of<'a>(score: impl Fn(&Image<'_>, usize) -> f64 + Sync + 'a) -> Box<dyn Scorer + 'a> {
    Box::new(move |image: &Image<'_>, candidate: usize, row: &mut [f64]| {
        row[0] = score(image, candidate);
        row[1] = 1.0;
    })
}

// A metric's parameters, by name.

/// A kernel's parameters by name, as the metric's Python value holds them. Reading a parameter takes it out, so that
/// [`Parameters::finish`] knows those that nobody read. The Python value checks first, so users meet what is refused here
/// only as a bug.
#[derive(Debug, Default, Clone)]
pub struct Parameters(BTreeMap<String, Value>);

/// The value of a parameter.
#[derive(Debug, Clone)]
pub enum Value {
    /// A number.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// One of a list of names.
    Text(String),
}

impl<N: Into<String>> FromIterator<(N, Value)> for Parameters {
    fn from_iter<I: IntoIterator<Item = (N, Value)>>(values: I) -> Self {
        Self(values.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }
}

impl Parameters {
    fn take(&mut self, name: &str) -> Result<Value, Refused> {
        self.0.remove(name).ok_or_else(|| Refused(format!("parameter {name} is missing")))
    }

    /// Whether the parameter was given and has not been read.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// A finite number within the range.
    pub fn number(&mut self, name: &str, range: RangeInclusive<f64>) -> Result<f64, Refused> {
        match self.take(name)? {
            Value::Number(number) if range.contains(&number) => Ok(number),
            other => Err(Refused(format!("parameter {name} must be a number in {range:?}, got {other:?}"))),
        }
    }

    /// A finite number above 0.
    pub fn positive(&mut self, name: &str) -> Result<f64, Refused> {
        self.number(name, f64::from_bits(1)..=f64::MAX)
    }

    /// A whole number within the range.
    pub fn count(&mut self, name: &str, range: RangeInclusive<usize>) -> Result<usize, Refused> {
        match self.take(name)? {
            Value::Number(number) if number.fract() == 0.0 && number >= 0.0 && range.contains(&(number as usize)) => {
                Ok(number as usize)
            }
            other => Err(Refused(format!("parameter {name} must be a whole number in {range:?}, got {other:?}"))),
        }
    }

    /// Yes or no.
    pub fn flag(&mut self, name: &str) -> Result<bool, Refused> {
        match self.take(name)? {
            Value::Flag(flag) => Ok(flag),
            other => Err(Refused(format!("parameter {name} must be yes or no, got {other:?}"))),
        }
    }

    /// One of the choices, which map names to what they mean.
    pub fn choice<T: Copy>(&mut self, name: &str, choices: &[(&str, T)]) -> Result<T, Refused> {
        let value = self.take(name)?;
        let chosen = |choice: &str| matches!(&value, Value::Text(text) if text == choice);
        choices.iter().find(|(choice, _)| chosen(choice)).map(|&(_, meaning)| meaning).ok_or_else(|| {
            let names: Vec<_> = choices.iter().map(|(choice, _)| *choice).collect();
            Refused(format!("parameter {name} must be one of {}, got {value:?}", names.join(", ")))
        })
    }

    /// Checks that every parameter was read.
    pub fn finish(&self) -> Result<(), Refused> {
        if self.0.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = self.0.keys().map(String::as_str).collect();
        Err(Refused(format!("no parameter is named {}", names.join(", "))))
    }
}

// Resources that metrics need besides captions: document frequencies, tables of a language, vectors.

/// Something that a metric may need beside captions.
pub trait Resource: Any + Send + Sync {
    /// Its name in messages.
    const NAME: &'static str;
}

/// Resources by their type, at most one of each.
#[derive(Debug, Default, Clone)]
pub struct Resources {
    by_type: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
    /// Number of threads, 0 for one per core.
    pub threads: usize,
}

impl Resources {
    /// No resource; metrics prepare themselves with so many threads, 0 for one per core.
    pub fn new(threads: usize) -> Self {
        Self { by_type: HashMap::new(), threads }
    }

    /// The same with this resource in the place of any of its type.
    #[must_use]
    pub fn with<R: Resource>(mut self, resource: Arc<R>) -> Self {
        self.by_type.insert(TypeId::of::<R>(), resource);
        self
    }

    /// The resource of that type, if it was given.
    pub fn get<R: Resource>(&self) -> Option<&R> {
        self.by_type.get(&TypeId::of::<R>())?.downcast_ref()
    }

    /// The resource of that type, which the metric cannot do without.
    pub fn need<R: Resource>(&self) -> Result<&R, Refused> {
        self.get().ok_or_else(|| missing(R::NAME))
    }
}

/// The refusal for a resource that a metric needs and was not given.
pub fn missing(what: impl Display) -> Refused {
    Refused(format!("needs {what}, which were not given"))
}

// One image of a corpus, as a metric sees it.

/// One image's sentences, with its n-gram counts made on first use and shared by all metrics.
pub struct Image<'a> {
    corpus: &'a Corpus,
    /// Its number in the corpus.
    pub number: usize,
    counter: &'a RefCell<NgramCounter>,
    ngrams: OnceCell<ImageNgrams>,
}

impl<'a> Image<'a> {
    /// Image number `number` of the corpus; `counter` keeps its tables from image to image.
    pub fn new(corpus: &'a Corpus, number: usize, counter: &'a RefCell<NgramCounter>) -> Self {
        Self { corpus, number, counter, ngrams: OnceCell::new() }
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

    /// The place where the words of its references start among those of all references.
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
        let candidates = &self.corpus.candidates;
        let sentences = candidates.of_image(self.number).map(|sentence| candidates.words(sentence));
        self.ngrams.get_or_init(|| self.counter.borrow_mut().count(sentences, self.references()))
    }

    /// Gives the counts' memory back to the counter.
    fn recycle(self) {
        if let Some(counts) = self.ngrams.into_inner() {
            self.counter.borrow_mut().recycle(counts);
        }
    }
}

// Rows of statistics.

/// Rows of statistics: one per candidate, or one per image where sets are scored, in corpus order.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Number of values in a row.
    pub width: usize,
    /// Row after row.
    pub values: Vec<f64>,
}

impl Table {
    /// The rows.
    pub fn rows(&self) -> std::slice::ChunksExact<'_, f64> {
        self.values.chunks_exact(self.width)
    }

    /// Row number `row`.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.width..][..self.width]
    }

    /// The sum of all rows, rounded once: rows in another order, or in parts on several machines, have the same.
    pub fn sums(&self) -> Vec<f64> {
        let mut sums = vec![ExactSum::default(); self.width];
        for row in self.rows() {
            sums.iter_mut().zip(row).for_each(|(sum, &value)| sum.add(value));
        }
        sums.iter().map(ExactSum::value).collect()
    }
}

/// The distinct tables, and the columns of each given one where these stand side by side: a table that several kernels
/// share is taken once.
fn distinct<'a>(tables: impl IntoIterator<Item = &'a Table>) -> (Vec<&'a Table>, Vec<Range<usize>>) {
    let mut distinct: Vec<(&Table, Range<usize>)> = Vec::new();
    let mut columns = Vec::new();
    for table in tables {
        let place = distinct.iter().find(|(other, _)| std::ptr::eq(*other, table)).map(|(_, place)| place.clone());
        columns.push(place.unwrap_or_else(|| {
            let start = distinct.last().map_or(0, |(_, last)| last.end);
            distinct.push((table, start..start + table.width));
            start..start + table.width
        }));
    }
    (distinct.into_iter().map(|(table, _)| table).collect(), columns)
}

// One pass over the images for all metrics.

/// Statistics of every candidate for every kernel, in the order of the kernels; or the number of one that cannot be
/// prepared, and why.
pub fn evaluate(
    corpus: &Corpus,
    kernels: &[&dyn Kernel],
    resources: &Resources,
) -> Result<Vec<Arc<Table>>, (usize, Refused)> {
    let threads = threads_for_sentences(resources.threads, corpus.sentence_count());
    let resources = Resources { threads, ..resources.clone() };
    let mut counted: Vec<Counted<'_>> = Vec::new();
    let mut places = Vec::with_capacity(kernels.len());
    for (number, &kernel) in kernels.iter().enumerate() {
        let name = kernel.shared_statistics();
        let same = |(other, _): &Counted<'_>| name.is_some() && other.shared_statistics() == name;
        places.push(counted.iter().position(same).unwrap_or(counted.len()));
        if places[number] == counted.len() {
            let prepared = kernel.prepare(corpus, &resources);
            counted.push((kernel, prepared.map_err(|missing| (number, missing))?));
        }
    }
    let longest = kernels.iter().map(|kernel| kernel.longest_ngram()).max().unwrap_or_default();
    let tables: Vec<Arc<Table>> = count(corpus, &counted, longest, threads).into_iter().map(Arc::new).collect();
    Ok(places.into_iter().map(|place| tables[place].clone()).collect())
}

/// A kernel whose statistics are counted, prepared for the corpus.
type Counted<'a> = (&'a dyn Kernel, Box<dyn Scorer + 'a>);

fn count(corpus: &Corpus, kernels: &[Counted<'_>], longest: usize, threads: usize) -> Vec<Table> {
    progress::begin(corpus.references.images.len());
    let parts = map_parts(corpus.references.images.len(), threads, |images| {
        let counter = RefCell::new(NgramCounter::up_to(longest));
        let mut workers: Vec<_> = kernels.iter().map(|(_, scorer)| scorer.worker()).collect();
        let mut parts: Vec<Vec<f64>> = vec![Vec::new(); kernels.len()];
        for number in images {
            check();
            let image = Image::new(corpus, number, &counter);
            for (((kernel, _), worker), part) in kernels.iter().zip(&mut workers).zip(&mut parts) {
                let rows = match kernel.unit() {
                    Unit::Caption => image.candidate_count(),
                    Unit::Set => 1,
                };
                for candidate in 0..rows {
                    let start = part.len();
                    part.resize(start + kernel.width(), 0.0);
                    worker(&image, candidate, &mut part[start..]);
                }
            }
            image.recycle();
            progress::done();
        }
        parts
    });
    let empty = |(kernel, _): &Counted<'_>| Table { width: kernel.width(), values: Vec::new() };
    let mut tables: Vec<Table> = kernels.iter().map(empty).collect();
    for part in parts {
        tables.iter_mut().zip(part).for_each(|(table, values)| table.values.extend(values));
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_reads_is_an_error() {
        let mut parameters: Parameters =
            [("beta", Value::Number(1.2)), ("gamma", Value::Number(9.0))].into_iter().collect();
        assert_eq!(parameters.number("beta", 0.0..=2.0), Ok(1.2));
        assert_eq!(parameters.finish(), Err(Refused("no parameter is named gamma".to_owned())));
        assert!(parameters.has("gamma"));
        assert_eq!(parameters.count("gamma", 0..=9), Ok(9));
        assert_eq!(parameters.finish(), Ok(()));
        assert!(parameters.number("gamma", 0.0..=9.0).is_err());
    }
}

#[cfg(test)]
mod resources_tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Tables(u8);

    impl Resource for Tables {
        const NAME: &'static str = "tables";
    }

    struct Vectors;

    impl Resource for Vectors {
        const NAME: &'static str = "vectors";
    }

    #[test]
    fn resources_are_found_by_type() {
        let resources = Resources::new(3).with(Arc::new(Tables(1))).with(Arc::new(Tables(2)));
        assert_eq!(resources.need(), Ok(&Tables(2)));
        assert_eq!(resources.threads, 3);
        assert!(resources.get::<Vectors>().is_none());
        let missing = resources.need::<Vectors>().err().map(|missing| missing.to_string());
        assert_eq!(missing.as_deref(), Some("needs vectors, which were not given"));
    }
}
