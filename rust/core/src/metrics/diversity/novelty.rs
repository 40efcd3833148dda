//! Novel captions: those that no training caption equals word for word.

use rustc_hash::FxHashSet;

use crate::corpus::{Corpus, References};
use crate::text::vocabulary::Word;

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
