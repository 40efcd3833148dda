//! mBLEU: the BLEU of each caption of a set against the others. High where captions repeat each other.
//!
//! The paper's printed scores come out with the closest reference length. The COCO code's bare `BleuScorer` takes the
//! average for a corpus of one image; that is the other choice.

use crate::corpus::Corpus;
use crate::engine::{Built, Image, Kernel, Parameters, Prepared, Resources, Unit};
use crate::metrics::bleu;
use crate::text::ngram::MAX_ORDER;

/// Row: the set's mean BLEU of each order, 1.
const WIDTH: usize = MAX_ORDER + 1;
const IMAGES: usize = MAX_ORDER;

#[derive(Debug, Clone, Copy)]
struct Mbleu {
    length: Length,
    score: Score,
}

#[derive(Debug, Clone, Copy)]
enum Score {
    /// The mean BLEU of this order.
    Order(usize),
    /// One minus the mean over all orders.
    Mix,
}

/// The reference length that the brevity penalty compares with.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Length {
    Average,
    Closest,
}

impl Mbleu {
    fn build(parameters: &mut Parameters, score: Score) -> Built {
        let length = parameters.choice("length", &[("average", Length::Average), ("closest", Length::Closest)])?;
        Ok(Box::new(Self { length, score }))
    }
}

/// Builds mBLEU of order `n`.
pub(crate) fn build_mbleu(parameters: &mut Parameters) -> Built {
    let order = parameters.count("n", 1..=MAX_ORDER)?;
    Mbleu::build(parameters, Score::Order(order))
}

/// Builds mBLEU-mix.
pub(crate) fn build_mix(parameters: &mut Parameters) -> Built {
    Mbleu::build(parameters, Score::Mix)
}

impl Kernel for Mbleu {
    fn width(&self) -> usize {
        WIDTH
    }

    fn unit(&self) -> Unit {
        Unit::Set
    }

    fn shared_statistics(&self) -> Option<&'static str> {
        Some(match self.length {
            Length::Average => "mbleu of average length",
            Length::Closest => "mbleu of closest length",
        })
    }

    fn prepare<'a>(&'a self, _: &'a Corpus, _: &'a Resources) -> Prepared<'a> {
        Ok(Box::new(|image: &Image<'_>, _: usize, row: &mut [f64]| self.set_statistics(image, row)))
    }

    fn score(&self, sums: &[f64]) -> f64 {
        let images = sums[IMAGES];
        if images == 0.0 {
            return 0.0;
        }
        match self.score {
            Score::Order(order) => sums[order - 1] / images,
            Score::Mix => 1.0 - sums[..MAX_ORDER].iter().sum::<f64>() / (MAX_ORDER as f64 * images),
        }
    }
}

impl Mbleu {
    fn set_statistics(self, image: &Image<'_>, row: &mut [f64]) {
        row[IMAGES] = 1.0;
        let size = image.candidate_count();
        if size < 2 {
            // Alone, a caption varies as little as one that the others repeat.
            row[..MAX_ORDER].fill(1.0);
            return;
        }
        let lengths: Vec<usize> = (0..size).map(|candidate| image.candidate(candidate).len()).collect();
        let most = Most::of(image);
        for candidate in 0..size {
            let matches = most.matches(image, candidate);
            let reference = self.reference_length(&lengths, candidate);
            for order in 1..=MAX_ORDER {
                row[order - 1] +=
                    bleu::coco(matches[..order].iter().copied(), lengths[candidate] as f64, Some(reference))
                        / size as f64;
            }
        }
    }

    fn reference_length(self, lengths: &[usize], candidate: usize) -> f64 {
        let length = lengths[candidate];
        let others = lengths.iter().enumerate().filter(|&(other, _)| other != candidate).map(|(_, &length)| length);
        match self.length {
            Length::Average => others.sum::<usize>() as f64 / (lengths.len() - 1) as f64,
            Length::Closest => others.min_by_key(|&other| (other.abs_diff(length), other)).unwrap_or(0) as f64,
        }
    }
}

/// For each n-gram, the largest count in any caption, and the largest in any other caption: these give the largest
/// count among the others for every caption.
struct Most {
    first: Vec<Holder>,
    second: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct Holder {
    candidate: u32,
    count: u32,
}

impl Most {
    fn of(image: &Image<'_>) -> Self {
        let ngrams = image.ngrams();
        let mut most = Self { first: vec![Holder::default(); ngrams.distinct()], second: vec![0; ngrams.distinct()] };
        for candidate in 0..image.candidate_count() {
            for entry in (1..=MAX_ORDER).flat_map(|order| ngrams.entries(candidate, order)) {
                let (first, second) = (&mut most.first[entry.ngram as usize], &mut most.second[entry.ngram as usize]);
                if entry.count > first.count {
                    *second = first.count;
                    *first = Holder { candidate: candidate as u32, count: entry.count };
                } else {
                    *second = (*second).max(entry.count);
                }
            }
        }
        most
    }

    /// For each order, the candidate's clipped matches with the others and its number of n-grams.
    fn matches(&self, image: &Image<'_>, candidate: usize) -> [(f64, f64); MAX_ORDER] {
        let ngrams = image.ngrams();
        std::array::from_fn(|k| {
            let (mut matched, mut all) = (0, 0);
            for entry in ngrams.entries(candidate, k + 1) {
                let first = self.first[entry.ngram as usize];
                let others =
                    if first.candidate as usize == candidate { self.second[entry.ngram as usize] } else { first.count };
                matched += entry.count.min(others);
                all += entry.count;
            }
            (f64::from(matched), f64::from(all))
        })
    }
}
