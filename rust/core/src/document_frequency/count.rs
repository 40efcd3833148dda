//! Counting documents an n-gram occurs in, in parallel and in bounded memory.
//!
//! The space of hashes is cut into ranges; each range is counted by one thread in one pass over all sentences, in a
//! table of its own. Computing keys is cheap and inserting them is not, so passing over the text again costs little;
//! tables stay small (the ranges multiply as the text grows) and need no locks.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::ngram::{Ngram, each_ngram};
use crate::parallel::{map_parts, thread_count};
use crate::sentences::Sentences;
use crate::vocabulary::Word;

/// Occurrences a table is meant for: about 100 MB when every n-gram is new.
const OCCURRENCES_A_RANGE: usize = 1 << 22;

/// Distinct n-grams in at least `minimum` documents, sorted by hash.
pub(super) fn document_counts(
    sentences: &Sentences,
    stems: Option<&[Word]>,
    order: usize,
    minimum: u32,
    threads: usize,
) -> Vec<(Ngram, u32)> {
    let threads = thread_count(threads);
    let ranges = (sentences.word_count() * order / OCCURRENCES_A_RANGE + 1).next_multiple_of(threads);
    let bound = |range: usize| ((range as u128) << 64) / ranges as u128;
    map_parts(ranges, threads, |mine| {
        mine.flat_map(|range| {
            let counts = count_range(sentences, stems, order, bound(range)..bound(range + 1));
            sorted(counts, minimum)
        })
        .collect::<Vec<_>>()
    })
    .concat()
}

/// Count and the last document that raised it, for each n-gram whose hash is in the range.
type Counts = FxHashMap<Ngram, (u32, u32)>;

fn count_range(sentences: &Sentences, stems: Option<&[Word]>, order: usize, hashes: Range<u128>) -> Counts {
    let mut counts = Counts::default();
    for document in 0..sentences.image_count() {
        for sentence in sentences.of_image(document) {
            each_ngram(sentences.words(sentence), stems, order, |ngram| {
                if hashes.contains(&u128::from(ngram.hash())) {
                    let (count, last) = counts.entry(ngram).or_insert((0, u32::MAX));
                    if *last != document as u32 {
                        *count += 1;
                        *last = document as u32;
                    }
                }
            });
        }
    }
    counts
}

fn sorted(counts: Counts, minimum: u32) -> Vec<(Ngram, u32)> {
    let mut entries: Vec<_> = counts
        .into_iter()
        .filter(|&(_, (count, _))| count >= minimum)
        .map(|(ngram, (count, _))| (ngram, count))
        .collect();
    entries.sort_unstable_by_key(|&(ngram, _)| (ngram.hash(), ngram));
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    use crate::document_frequency::Frequencies;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equals_counting_sets(images in prop::collection::vec(prop::collection::vec(prop::collection::vec(0_u32..4, 0..6), 1..4), 0..12),
                                threads in 1_usize..4, minimum in 1_u32..3) {
            let mut slow: BTreeMap<Vec<Word>, u32> = BTreeMap::new();
            for image in &images {
                let grams: BTreeSet<Vec<Word>> = image.iter()
                    .flat_map(|words| (1..=4).flat_map(move |n| words.windows(n).map(<[Word]>::to_vec)))
                    .collect();
                for gram in grams {
                    *slow.entry(gram).or_default() += 1;
                }
            }
            let mut ends = Vec::new();
            let words: Vec<Word> = images.iter().flatten().flat_map(|words| words.iter().copied()).collect();
            for words in images.iter().flatten() {
                ends.push(ends.last().unwrap_or(&0) + words.len());
            }
            let sentences = Sentences::from_words(images.iter().map(Vec::len), words, ends);
            let fast = Frequencies::count(&sentences, None, 4, minimum, threads);
            let listed: BTreeMap<Vec<Word>, u32> = fast.iter().map(|(ngram, count)| (ngram.words().collect(), count)).collect();
            let kept: BTreeMap<Vec<Word>, u32> = slow.iter().filter(|(_, count)| **count >= minimum).map(|(gram, count)| (gram.clone(), *count)).collect();
            prop_assert_eq!(listed, kept);
            for (gram, count) in slow {
                prop_assert_eq!(fast.get(Ngram::new(&gram)), if count >= minimum { count } else { 0 });
            }
            prop_assert_eq!(fast.get(Ngram::new(&[9, 9])), 0);
        }
    }
}
