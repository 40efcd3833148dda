//! How varied the captions of one image are: statistics of a caption set, one row per image.
//!
//! The meaning of "no variety" is defined here: a set of one caption and a set of equal captions have no variety.

pub mod similarity;

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::bleu;
use crate::corpus::{Corpus, References};
use crate::engine::{Built, Image, Kernel, Parameters, Prepared, Resources, Table, Unit, mean_of, with_memory};
use crate::numeric::spectrum::Spectrum;
use crate::text::ngram::MAX_ORDER;
use crate::text::vocabulary::Word;
use similarity::Similarity;

/// The table of accuracy beside diversity: a row (pooled score, 1) for each group of consecutive scores, of which the best or
/// the mean counts; an empty group has no row.
pub fn grouped(scores: &[f64], sizes: &[usize], best: bool) -> Table {
    let mut values = Vec::with_capacity(2 * sizes.len());
    let mut rest = scores;
    for &size in sizes.iter().filter(|&&size| size > 0) {
        let (group, after) = rest.split_at(size.min(rest.len()));
        rest = after;
        values.push(if best {
            group.iter().copied().fold(f64::NEG_INFINITY, f64::max)
        } else {
            group.iter().sum::<f64>() / size as f64
        });
        values.push(1.0);
    }
    Table { width: 2, values }
}

/// For each candidate: 1 if no training caption has the same words, else 0.
pub fn novel_captions(corpus: &Corpus, training: &References) -> Vec<f64> {
    let training_captions: FxHashSet<&[Word]> =
        (0..training.sentences.sentence_count()).map(|sentence| training.sentences.words(sentence)).collect();
    let numbers: Vec<Option<Word>> = corpus.vocabulary.words().map(|word| training.vocabulary.number(word)).collect();
    (0..corpus.rows())
        .map(|candidate| {
            let words = corpus.candidates.words(candidate).iter().map(|&word| numbers[word as usize]);
            let seen = words.collect::<Option<Vec<Word>>>().is_some_and(|words| training_captions.contains(&words[..]));
            f64::from(u8::from(!seen))
        })
        .collect()
}

// Div-n, distinct n-grams of a set over its words (Li et al., NAACL 2016; Shetty et al., ICCV 2017), and the share of
// distinct captions.

/// A mean over sets, of what this gives of one.
struct OfSets<F>(F);

impl<F: Fn(&Image<'_>) -> f64 + Send + Sync> Kernel for OfSets<F> {
    fn unit(&self) -> Unit {
        Unit::Set
    }

    fn prepare<'a>(&'a self, _: &'a Corpus, _: &'a Resources) -> Prepared<'a> {
        Ok(mean_of(|image, _| self.0(image)))
    }
}

/// Builds Div-n.
pub(crate) fn build_div(parameters: &mut Parameters) -> Built {
    let order = parameters.count("n", 1..=MAX_ORDER)?;
    // The order of the n-grams that are counted below the line.
    let over = parameters.choice("over", &[("words", 1), ("ngrams", order)])?;
    Ok(Box::new(OfSets(move |image: &Image<'_>| {
        let ngrams = image.ngrams();
        let mut seen = vec![false; ngrams.distinct()];
        let (mut distinct, mut all) = (0, 0);
        for candidate in 0..image.candidate_count() {
            for entry in ngrams.entries(candidate, order) {
                distinct += usize::from(!std::mem::replace(&mut seen[entry.ngram as usize], true));
            }
            all += (image.candidate(candidate).len() + 1).saturating_sub(over);
        }
        if all == 0 { 0.0 } else { distinct as f64 / all as f64 }
    })))
}

/// Builds the share of distinct captions.
#[allow(clippy::unnecessary_wraps)] // as every builder returns
pub(crate) fn build_distinct(_: &mut Parameters) -> Built {
    Ok(Box::new(OfSets(|image: &Image<'_>| {
        let count = image.candidate_count();
        let distinct: BTreeSet<_> = (0..count).map(|candidate| image.candidate(candidate)).collect();
        distinct.len() as f64 / count.max(1) as f64
    })))
}

// mBLEU: the BLEU of each caption of a set against the others. High where captions repeat each other.
//
// The paper's printed scores come out with the closest reference length. The COCO code's bare `BleuScorer` takes the
// average for a corpus of one image; that is the other choice.

/// Row: the set's mean BLEU of each order, 1.
const MBLEU_WIDTH: usize = MAX_ORDER + 1;
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

/// Builds mBLEU of order `n`, or mBLEU-mix.
pub(crate) fn build_mbleu(parameters: &mut Parameters, is_mix: bool) -> Built {
    let score = if is_mix { Score::Mix } else { Score::Order(parameters.count("n", 1..=MAX_ORDER)?) };
    let length = parameters.choice("length", &[("average", Length::Average), ("closest", Length::Closest)])?;
    Ok(Box::new(Mbleu { length, score }))
}

impl Kernel for Mbleu {
    fn width(&self) -> usize {
        MBLEU_WIDTH
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
        let rest = lengths.iter().enumerate().filter(|&(other, _)| other != candidate).map(|(_, &length)| length);
        match self.length {
            Length::Average => rest.sum::<usize>() as f64 / (lengths.len() - 1) as f64,
            Length::Closest => rest.min_by_key(|&other| (other.abs_diff(length), other)).unwrap_or(0) as f64,
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
                let most_elsewhere =
                    if first.candidate as usize == candidate { self.second[entry.ngram as usize] } else { first.count };
                matched += entry.count.min(most_elsewhere);
                all += entry.count;
            }
            (f64::from(matched), f64::from(all))
        })
    }
}

// Self-CIDEr and LSA (Wang and Chan, CVPR 2019), and the Vendi score (Friedman and Dieng, TMLR 2023): how evenly the
// spectrum of a set's similarity matrix is spread.
//
// With λ₁ ≥ … the eigenvalues and m the number of captions, r = √λ₁ / Σ√λᵢ and the diversity is −log_m r: 0 when all
// captions say the same, 1 when no two share anything. Vendi's is a number of captions: exp(−Σ pᵢ ln pᵢ), where pᵢ are
// the shares of the eigenvalues of the matrix with ones on its diagonal.

/// Row: diversity, 1, and 1 where the matrix has a negative eigenvalue.
const SPECTRAL_WIDTH: usize = 3;

struct Spectral {
    similarity: Similarity,
    /// What is made of the eigenvalues.
    measure: fn(&[f64]) -> f64,
    /// Whether each caption counts alike, however similar to itself: the diagonal is brought to 1.
    alike: bool,
}

/// Builds Self-CIDEr, over the similarity that `kernel` names.
pub(crate) fn build_self_cider(parameters: &mut Parameters) -> Built {
    Ok(Box::new(Spectral { similarity: Similarity::build(parameters)?, measure: spectral_diversity, alike: false }))
}

/// Builds LSA.
pub(crate) fn build_lsa(parameters: &mut Parameters) -> Built {
    let similarity = Similarity::Words(parameters.flag("stop")?);
    Ok(Box::new(Spectral { similarity, measure: spectral_diversity, alike: false }))
}

/// Builds the Vendi score, over the similarity that `kernel` names.
pub(crate) fn build_vendi(parameters: &mut Parameters) -> Built {
    Ok(Box::new(Spectral { similarity: Similarity::build(parameters)?, measure: effective_number, alike: true }))
}

impl Kernel for Spectral {
    fn width(&self) -> usize {
        SPECTRAL_WIDTH
    }

    fn unit(&self) -> Unit {
        Unit::Set
    }

    fn prepare<'a>(&'a self, corpus: &'a Corpus, resources: &'a Resources) -> Prepared<'a> {
        let is_inner_product = self.similarity.is_inner_product();
        let similarities = self.similarity.prepare(corpus, resources)?;
        Ok(with_memory(<(Vec<f64>, Spectrum)>::default, move |(matrix, spectrum), image, _, row| {
            let size = image.candidate_count();
            matrix.clear();
            matrix.resize(size * size, 0.0);
            similarities.fill(image, matrix);
            if self.alike {
                with_unit_diagonal(matrix, size);
            }
            let values = spectrum.values(matrix, size);
            row[0] = (self.measure)(values);
            row[1] = 1.0;
            // Whether an eigenvalue is below 0 by more than rounding.
            let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
            let is_negative = values.iter().any(|&value| value < -rounding(values.len(), largest));
            row[2] = f64::from(u8::from(!is_inner_product && is_negative));
        }))
    }
}

/// −log_m (√λ₁ / Σ√λᵢ) of the eigenvalues, largest first; of negative ones the size is taken, which makes them singular
/// values. 0 for a single caption and where all eigenvalues are 0: nothing varies there.
///
/// Values below the rounding error of the largest count as 0: their roots would be far above it.
pub fn spectral_diversity(eigenvalues: &[f64]) -> f64 {
    let largest = eigenvalues.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    if eigenvalues.len() < 2 || largest == 0.0 {
        return 0.0;
    }
    let floor = rounding(eigenvalues.len(), largest);
    let roots: f64 = eigenvalues.iter().map(|value| value.abs()).filter(|&value| value > floor).map(f64::sqrt).sum();
    // 0 − x, so that equal captions have 0 and not −0.
    0.0 - (largest.sqrt() / roots).ln() / (eigenvalues.len() as f64).ln()
}

/// Divides each similarity by the roots of both captions' similarities to themselves, which become 1; 0 stays 0.
fn with_unit_diagonal(matrix: &mut [f64], size: usize) {
    let roots: Vec<f64> = (0..size).map(|i| matrix[i * size + i].sqrt()).collect();
    for (row, row_root) in matrix.chunks_exact_mut(size.max(1)).zip(&roots) {
        for (entry, root) in row.iter_mut().zip(&roots).filter(|(entry, _)| **entry != 0.0) {
            *entry /= row_root * root;
        }
    }
}

/// exp(−Σ pᵢ ln pᵢ) of the shares pᵢ of the eigenvalues, of whose negative ones the size is taken: how many captions
/// would be as varied if no two shared anything. 0 where all are 0: nobody says anything there.
fn effective_number(eigenvalues: &[f64]) -> f64 {
    let largest = eigenvalues.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let floor = rounding(eigenvalues.len(), largest);
    let sizes = || eigenvalues.iter().map(|value| value.abs()).filter(|&size| size > floor);
    let total: f64 = sizes().sum();
    let entropy: f64 = sizes().map(|size| size / total).map(|share| 0.0 - share * share.ln()).sum();
    if total == 0.0 { 0.0 } else { entropy.exp() }
}

fn rounding(count: usize, largest: f64) -> f64 {
    4.0 * count as f64 * f64::EPSILON * largest
}
