//! Counting the documents that each n-gram occurs in.
//!
//! Order by order: an n-gram can only be in `minimum` documents if both (n-1)-grams inside it are, so the long tail of
//! n-grams, most of which occur once, is never put in a table. Each word position carries the number of the kept n-gram
//! that starts there; that number and one more word make the 64-bit key of the next order. Threads share a level by
//! the keys' hashes: each passes over all positions and counts its own keys in a table of its own.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::hash_table::{HashTable, Key};
use crate::ngram::{Ngram, fold};
use crate::parallel::{map_parts, thread_count};
use crate::sentences::Sentences;
use crate::vocabulary::Word;

/// Marks a position where no kept n-gram starts.
const NONE: u32 = u32::MAX;

/// Distinct n-grams of orders 1 to `order` in at least `minimum` documents, in no meaningful order.
pub(super) fn document_counts(
    sentences: &Sentences,
    stems: Option<&[Word]>,
    order: usize,
    minimum: u32,
    threads: usize,
) -> Vec<(Ngram, u32)> {
    let stemmed: Vec<Word>;
    let words = match stems {
        Some(stems) => {
            stemmed = sentences.all_words().iter().map(|&word| stems[word as usize]).collect();
            &stemmed
        }
        None => sentences.all_words(),
    };
    let text = Text { sentences, words, minimum, threads: thread_count(threads) };
    let Level { mut starts, kept: mut counts } = text.words_level();
    for length in 2..=order {
        let level = text.level(&starts, length);
        starts = level.starts;
        counts.extend(level.kept);
    }
    counts
}

struct Text<'a> {
    sentences: &'a Sentences,
    words: &'a [Word],
    minimum: u32,
    threads: usize,
}

/// The n-grams of one order that are in enough documents.
struct Level {
    /// For each word position, the number of the kept n-gram that starts there, or [`NONE`].
    starts: Vec<AtomicU32>,
    kept: Vec<(Ngram, u32)>,
}

/// The (n-1)-gram's number and the next word, plus one.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Extension(u64);

impl Key for Extension {
    fn hash(self) -> u64 {
        fold(self.0 ^ 0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93)
    }
}

/// An n-gram while it is counted.
#[derive(Clone, Copy)]
struct Counted {
    documents: u32,
    /// The last document that raised the count.
    last: u32,
    /// A position where it starts.
    position: u32,
}

impl Counted {
    fn count(&mut self, document: u32, position: usize) {
        if self.last != document {
            *self = Self { documents: self.documents + 1, last: document, position: position as u32 };
        }
    }
}

impl Text<'_> {
    /// Counts the words themselves, whose numbers need no table.
    fn words_level(&self) -> Level {
        let words = self.words.iter().max().map_or(0, |&last| last as usize + 1);
        let mut counted = vec![Counted { documents: 0, last: NONE, position: 0 }; words];
        self.each_start(1, |document, position| {
            counted[self.words[position] as usize].count(document, position);
        });
        let starts = self.words.iter().map(|&word| AtomicU32::new(word)).collect::<Vec<_>>();
        Text { threads: 1, ..*self }.keep(&starts, &[counted], 1)
    }

    /// Counts the n-grams of `length` words, given where the kept ones of one word less start.
    fn level(&self, shorter: &[AtomicU32], length: usize) -> Level {
        let starts: Vec<AtomicU32> = self.words.iter().map(|_| AtomicU32::new(NONE)).collect();
        let parts = map_parts(self.threads, self.threads, |mine| {
            let mut counted = Vec::new();
            for share in mine {
                counted = self.count_share(shorter, &starts, length, share);
            }
            counted
        });
        self.keep(&starts, &parts, length)
    }

    /// Counts the keys of one thread. The number of a counted n-gram holds the thread: `place · threads + thread`.
    fn count_share(&self, shorter: &[AtomicU32], starts: &[AtomicU32], length: usize, share: usize) -> Vec<Counted> {
        // About a third of the positions start an n-gram that is new and whose parts were kept.
        let expected = self.words.len() / (3 * self.threads);
        let mut places = HashTable::<Extension, u32>::with_capacity(expected / 2);
        let mut counted: Vec<Counted> = Vec::with_capacity(expected);
        self.each_start(length, |document, position| {
            let Some(key) = self.extension(shorter, position, length) else { return };
            let hash = key.hash();
            if ((u128::from(hash) * self.threads as u128) >> 64) as usize != share {
                return;
            }
            let place = places.entry(key, hash);
            if *place == 0 {
                counted.push(Counted { documents: 0, last: NONE, position: 0 });
                *place = counted.len() as u32;
            }
            counted[*place as usize - 1].count(document, position);
            starts[position].store((*place - 1) * self.threads as u32 + share as u32, Ordering::Relaxed);
        });
        counted
    }

    /// The key of the n-gram that starts here, unless one of the two shorter ones inside it was not kept.
    fn extension(&self, shorter: &[AtomicU32], position: usize, length: usize) -> Option<Extension> {
        let last = u64::from(self.words[position + length - 1]) + 1;
        let number = shorter[position].load(Ordering::Relaxed);
        let inside = number != NONE && shorter[position + 1].load(Ordering::Relaxed) != NONE;
        inside.then_some(Extension((u64::from(number) << 32) | last))
    }

    /// Numbers the n-grams that are in enough documents, and forgets the others.
    fn keep(&self, starts: &[AtomicU32], parts: &[Vec<Counted>], length: usize) -> Level {
        let mut kept = Vec::new();
        let numbers: Vec<Vec<u32>> = parts
            .iter()
            .map(|part| {
                let number = |ngram: &Counted| {
                    if ngram.documents < self.minimum {
                        return NONE;
                    }
                    let start = ngram.position as usize;
                    kept.push((Ngram::new(&self.words[start..start + length]), ngram.documents));
                    kept.len() as u32 - 1
                };
                part.iter().map(number).collect()
            })
            .collect();
        let threads = self.threads as u32;
        let renumbered = map_parts(starts.len(), self.threads, |part| {
            starts[part]
                .iter()
                .map(|start| match start.load(Ordering::Relaxed) {
                    NONE => AtomicU32::new(NONE),
                    number => AtomicU32::new(numbers[(number % threads) as usize][(number / threads) as usize]),
                })
                .collect::<Vec<_>>()
        });
        Level { starts: renumbered.into_iter().flatten().collect(), kept }
    }

    /// Every position where an n-gram of `length` words starts, with its document.
    fn each_start(&self, length: usize, mut visit: impl FnMut(u32, usize)) {
        for document in 0..self.sentences.image_count() {
            for sentence in self.sentences.of_image(document) {
                let span = self.sentences.span(sentence);
                for position in span.start..(span.end + 1).saturating_sub(length).max(span.start) {
                    visit(document as u32, position);
                }
            }
        }
    }
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
