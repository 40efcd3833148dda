//! Div-n, distinct n-grams of a set over its words (Li et al., NAACL 2016; Shetty et al., ICCV 2017), and the share of
//! distinct captions.

use std::collections::BTreeSet;

use crate::corpus::Corpus;
use crate::engine::{Built, Image, Kernel, Parameters, Prepared, Resources, Unit, mean_of};
use crate::text::ngram::MAX_ORDER;

#[derive(Debug, Clone, Copy)]
struct Div {
    order: usize,
    /// The order of the n-grams that are counted below the line.
    over: usize,
}

/// Builds Div-n.
pub(crate) fn build_div(parameters: &mut Parameters) -> Built {
    let order = parameters.count("n", 1..=MAX_ORDER)?;
    let over = parameters.choice("over", &[("words", 1), ("ngrams", order)])?;
    Ok(Box::new(Div { order, over }))
}

#[derive(Debug, Clone, Copy)]
struct Distinct;

/// Builds the share of distinct captions.
#[allow(clippy::unnecessary_wraps)] // as every builder returns
pub(crate) fn build_distinct(_: &mut Parameters) -> Built {
    Ok(Box::new(Distinct))
}

impl Div {
    fn share(self, image: &Image<'_>) -> f64 {
        let ngrams = image.ngrams();
        let mut seen = vec![false; ngrams.distinct()];
        let (mut distinct, mut all) = (0, 0);
        for candidate in 0..image.candidate_count() {
            for entry in ngrams.entries(candidate, self.order) {
                distinct += usize::from(!std::mem::replace(&mut seen[entry.ngram as usize], true));
            }
            all += (image.candidate(candidate).len() + 1).saturating_sub(self.over);
        }
        if all == 0 { 0.0 } else { distinct as f64 / all as f64 }
    }
}

fn distinct_captions(image: &Image<'_>) -> f64 {
    let count = image.candidate_count();
    let distinct: BTreeSet<_> = (0..count).map(|candidate| image.candidate(candidate)).collect();
    distinct.len() as f64 / count.max(1) as f64
}

impl Kernel for Div {
    fn unit(&self) -> Unit {
        Unit::Set
    }

    fn prepare<'a>(&'a self, _: &'a Corpus, _: &'a Resources) -> Prepared<'a> {
        Ok(mean_of(|image, _| self.share(image)))
    }
}

impl Kernel for Distinct {
    fn unit(&self) -> Unit {
        Unit::Set
    }

    fn prepare<'a>(&'a self, _: &'a Corpus, _: &'a Resources) -> Prepared<'a> {
        Ok(mean_of(|image, _| distinct_captions(image)))
    }
}
