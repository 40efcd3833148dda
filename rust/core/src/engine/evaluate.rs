//! One pass over the images for all metrics.

use std::cell::RefCell;
use std::sync::Arc;

use crate::Refused;
use crate::corpus::{Corpus, threads_for_sentences};
use crate::engine::{Image, Kernel, Resources, Scorer, Table, Unit};
use crate::numeric::interrupt::check;
use crate::numeric::parallel::map_parts;
use crate::numeric::progress;
use crate::text::ngram::NgramCounter;

/// Statistics of every candidate for every kernel, in the order of the kernels; or the number of one that cannot be
/// prepared, and why.
pub fn evaluate(
    corpus: &Corpus,
    kernels: &[&dyn Kernel],
    resources: &Resources,
) -> Result<Vec<Arc<Table>>, (usize, Refused)> {
    let threads = threads_for_sentences(resources.threads(), corpus.sentence_count());
    let resources = resources.with_threads(threads);
    let mut counted: Vec<Counted<'_>> = Vec::new();
    let mut places = Vec::with_capacity(kernels.len());
    for (number, &kernel) in kernels.iter().enumerate() {
        let name = kernel.shared_statistics();
        let same = |other: &Counted<'_>| name.is_some() && other.kernel.shared_statistics() == name;
        places.push(counted.iter().position(same).unwrap_or(counted.len()));
        if places[number] == counted.len() {
            let prepared = kernel.prepare(corpus, &resources);
            let scorer = prepared.map_err(|missing| (number, missing))?;
            counted.push(Counted { kernel, scorer });
        }
    }
    let longest = kernels.iter().map(|kernel| kernel.longest_ngram()).max().unwrap_or_default();
    let tables: Vec<Arc<Table>> = count(corpus, &counted, longest, threads).into_iter().map(Arc::new).collect();
    Ok(places.into_iter().map(|place| tables[place].clone()).collect())
}

/// A kernel whose statistics are counted, prepared for the corpus.
struct Counted<'a> {
    kernel: &'a dyn Kernel,
    scorer: Box<dyn Scorer + 'a>,
}

fn count(corpus: &Corpus, kernels: &[Counted<'_>], longest: usize, threads: usize) -> Vec<Table> {
    progress::begin(corpus.references.images.len());
    let parts = map_parts(corpus.references.images.len(), threads, |images| {
        let counter = RefCell::new(NgramCounter::up_to(longest));
        let mut workers: Vec<_> = kernels.iter().map(|counted| counted.scorer.worker()).collect();
        let mut parts: Vec<Vec<f64>> = vec![Vec::new(); kernels.len()];
        for number in images {
            check();
            let image = Image::new(corpus, number, &counter);
            for ((Counted { kernel, .. }, worker), part) in kernels.iter().zip(&mut workers).zip(&mut parts) {
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
    let empty = |counted: &Counted<'_>| Table { width: counted.kernel.width(), values: Vec::new() };
    let mut tables: Vec<Table> = kernels.iter().map(empty).collect();
    for part in parts {
        tables.iter_mut().zip(part).for_each(|(table, values)| table.values.extend(values));
    }
    tables
}
