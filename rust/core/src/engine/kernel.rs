//! The engine's view of a metric: statistics of one caption, and a formula over their sums.
//!
//! The steps are: a [`Kernel`] (a metric with its parameters) is prepared for a corpus, which gives a [`Scorer`]; each
//! thread takes a [`Worker`] of it, which writes rows of statistics; the kernel's formula makes a score of a sum of rows.

use crate::Refused;
use crate::corpus::Corpus;
use crate::engine::{Image, Resources};
use crate::text::ngram::MAX_ORDER;

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
