//! How varied the captions of one image are: statistics of a caption set, one row per image.
//!
//! The meaning of "no variety" is defined here: a set of one caption and a set of equal captions have no variety.

mod distinct;
mod mbleu;
pub mod similarity;
pub mod spectral;

pub(crate) use distinct::{build_distinct, build_div};
pub(crate) use mbleu::{build_mbleu, build_mix};
pub(crate) use spectral::{build_lsa, build_self_cider, build_vendi};

use rustc_hash::FxHashSet;

use crate::corpus::{Corpus, References};
use crate::engine::Table;
use crate::text::vocabulary::Word;

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
    let known: FxHashSet<&[Word]> =
        (0..training.sentences.sentence_count()).map(|sentence| training.sentences.words(sentence)).collect();
    let numbers: Vec<Option<Word>> = corpus.vocabulary.words().map(|word| training.vocabulary.number(word)).collect();
    (0..corpus.rows())
        .map(|candidate| {
            let words = corpus.candidates.words(candidate).iter().map(|&word| numbers[word as usize]);
            let seen = words.collect::<Option<Vec<Word>>>().is_some_and(|words| known.contains(&words[..]));
            f64::from(u8::from(!seen))
        })
        .collect()
}
