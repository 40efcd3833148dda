//! Counting the documents that each n-gram occurs in.
//! All positions where a text may start are partitioned by their first word, the positions of a word by the next word,
//! and so on. An n-gram can only be in `minimum` documents if the (n-1)-gram it begins with is, so the long tail of
//! n-grams, most of which occur once, is dropped early. A table with one row per word separates them: nothing is
//! hashed. Threads share the work by first words.

use std::sync::atomic::{AtomicU16, Ordering};

use crate::numeric::interrupt::check;
use crate::numeric::parallel::{map_parts, thread_count};
use crate::text::ngram::{MAX_ORDER, Ngram};
use crate::text::sentences::Sentences;
use crate::text::vocabulary::Word;

/// The result of counting.
pub(super) struct Counts {
    /// Distinct n-grams in at least the least number of documents, in blocks, in no meaningful order.
    pub ngrams: Vec<Vec<(Ngram, u32)>>,
    /// The same counts where the n-grams start, if they were wanted.
    pub at: Option<CountsAt>,
}

/// In how many documents the n-gram that starts at a word occurs: with the position, no look-up is needed.
#[derive(Debug)]
pub struct CountsAt(Vec<[AtomicU16; MAX_ORDER]>);

impl CountsAt {
    /// The count of the n-gram of `order` words that starts at word number `position`, 0 when it is not kept; None when
    /// it is too large for its place here.
    pub fn get(&self, order: usize, position: usize) -> Option<u32> {
        let count = self.0[position][order - 1].load(Ordering::Relaxed);
        (count < u16::MAX).then_some(u32::from(count))
    }

    fn set(&self, order: usize, position: u32, count: u32) {
        self.0[position as usize][order - 1].store(count.min(u16::MAX.into()) as u16, Ordering::Relaxed);
    }
}

/// Counts n-grams of orders 1 to `order`, keeping those in at least `minimum` documents; `places`: at each word too.
pub(super) fn document_counts(
    sentences: &Sentences,
    order: usize,
    minimum: u32,
    places: bool,
    threads: usize,
) -> Counts {
    let words = sentences.all_words();
    let at = places.then(|| CountsAt(words.iter().map(|_| Default::default()).collect()));
    let threads = thread_count(threads);
    let shares = map_parts(threads, threads, |shares| {
        let count =
            |share| Parting::new(words, at.as_ref(), order, minimum).count(&starts(sentences, words, share, threads));
        shares.flat_map(count).collect::<Vec<_>>()
    });
    Counts { ngrams: shares.into_iter().flatten().collect(), at }
}

/// A word that n-grams can start at.
#[derive(Debug, Default, Clone, Copy)]
struct Start {
    /// Its number among all words.
    position: u32,
    document: u32,
    /// The word and those behind it, or [`NO_WORD`] beyond its sentence: they are at hand here where starts are no longer in
    /// the order of the text.
    words: [Word; MAX_ORDER],
}

const NO_WORD: Word = Word::MAX;

impl Start {
    /// The last word of the n-gram of so many words that starts there, unless the sentence is too short for it.
    fn last_word(&self, length: usize) -> Option<Word> {
        let word = self.words[length - 1];
        (word != NO_WORD).then_some(word)
    }
}

/// The starts at the words of one share, in the order of the text.
fn starts(sentences: &Sentences, words: &[Word], share: usize, shares: usize) -> Vec<Start> {
    let mut starts = Vec::with_capacity(words.len() / shares);
    for document in 0..sentences.image_count() {
        check();
        for sentence in sentences.of_image(document) {
            let span = sentences.span(sentence);
            let own = span.clone().filter(|&position| share_of(words[position], shares) == share);
            starts.extend(own.map(|position| {
                let behind = &words[position..span.end];
                Start {
                    position: position as u32,
                    document: document as u32,
                    words: std::array::from_fn(|place| behind.get(place).copied().unwrap_or(NO_WORD)),
                }
            }));
        }
    }
    starts
}

/// Which thread's share a word belongs to. Common words have small numbers, which this scatters; a remainder would need
/// a division.
fn share_of(word: Word, shares: usize) -> usize {
    let scattered = word.wrapping_mul(0x9e37_79b9);
    ((u64::from(scattered) * shares as u64) >> 32) as usize
}

/// Partitions starts word by word.
struct Parting<'a> {
    at: Option<&'a CountsAt>,
    order: usize,
    minimum: u32,
    /// For each word, its counts as the last word of the current n-grams; stale without their stamp.
    tallies: Vec<Tally>,
    stamp: u32,
    /// The parts at each length, whose memory is used again.
    parts: [Parts; MAX_ORDER],
    kept: Blocks,
}

/// A list that is not copied when it grows.
#[derive(Default)]
struct Blocks(Vec<Vec<(Ngram, u32)>>);

impl Blocks {
    /// Most n-grams of a block.
    const SIZE: usize = 1 << 15;

    fn push(&mut self, counted: (Ngram, u32)) {
        match self.0.last_mut() {
            Some(block) if block.len() < Self::SIZE => block.push(counted),
            last => {
                let mut block = Vec::with_capacity(last.map_or(0, |_| Self::SIZE));
                block.push(counted);
                self.0.push(block);
            }
        }
    }
}

#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    stamp: u32,
    starts: u32,
    documents: u32,
    /// The last document that raised the count, plus one.
    last: u32,
    /// The place for the next of its starts; [`DROPPED`] where it is in too few documents.
    next: u32,
}

const DROPPED: u32 = u32::MAX;

/// The starts of the n-grams of one length with the same beginning: those of one n-gram, then those of the next.
#[derive(Debug, Default)]
struct Parts {
    last_words: Vec<Word>,
    /// With others behind them, which an earlier use left.
    starts: Vec<Start>,
    /// The n-grams and where their starts end.
    ends: Vec<(Ngram, usize)>,
}

impl<'a> Parting<'a> {
    fn new(words: &'a [Word], at: Option<&'a CountsAt>, order: usize, minimum: u32) -> Self {
        let tallies = vec![Tally::default(); words.iter().max().map_or(0, |&last| last as usize + 1)];
        Self { at, order, minimum, tallies, stamp: 0, parts: Default::default(), kept: Blocks::default() }
    }

    fn count(mut self, starts: &[Start]) -> Vec<Vec<(Ngram, u32)>> {
        self.part(Ngram::default(), starts, 1);
        self.kept.0
    }

    /// Counts the n-grams of `length` words at the starts, at all of which `prefix` starts; then the longer ones.
    fn part(&mut self, prefix: Ngram, starts: &[Start], length: usize) {
        if let [start] = starts {
            return self.alone(prefix, start, length);
        }
        let mut parts = std::mem::take(&mut self.parts[length - 1]);
        self.tally(starts, length, &mut parts.last_words);
        self.keep(prefix, &mut parts);
        self.distribute(starts, length, &mut parts.starts);
        if length < self.order {
            let mut first = 0;
            for &(ngram, end) in &parts.ends {
                self.part(ngram, &parts.starts[first..end], length + 1);
                first = end;
            }
        }
        self.parts[length - 1] = parts;
    }

    /// The same where `prefix` starts once, as most do: so do all that begin with it.
    fn alone(&mut self, prefix: Ngram, start: &Start, length: usize) {
        if self.minimum > 1 {
            return;
        }
        let mut ngram = prefix;
        for length in length..=self.order {
            let Some(word) = start.last_word(length) else { return };
            ngram = ngram.push(word);
            self.kept.push((ngram, 1));
            self.place(length, start, 1);
        }
    }

    /// Counts starts and documents of each last word.
    fn tally(&mut self, starts: &[Start], length: usize, last_words: &mut Vec<Word>) {
        self.stamp += 1;
        last_words.clear();
        for start in starts {
            let Some(word) = start.last_word(length) else { continue };
            let tally = &mut self.tallies[word as usize];
            if tally.stamp != self.stamp {
                *tally = Tally { stamp: self.stamp, ..Tally::default() };
                last_words.push(word);
            }
            tally.starts += 1;
            tally.documents += u32::from(tally.last != start.document + 1);
            tally.last = start.document + 1;
        }
    }

    /// Keeps the n-grams that are in enough documents, and makes room for their starts.
    fn keep(&mut self, prefix: Ngram, parts: &mut Parts) {
        parts.ends.clear();
        let mut end = 0;
        for &word in &parts.last_words {
            let tally = &mut self.tallies[word as usize];
            tally.next = DROPPED;
            if tally.documents >= self.minimum {
                tally.next = end;
                end += tally.starts;
                let ngram = prefix.push(word);
                parts.ends.push((ngram, end as usize));
                self.kept.push((ngram, tally.documents));
            }
        }
        let room = parts.starts.len().max(end as usize);
        parts.starts.resize(room, Start::default());
    }

    /// Groups the starts of kept n-grams.
    fn distribute(&mut self, starts: &[Start], length: usize, places: &mut [Start]) {
        for start in starts {
            let Some(word) = start.last_word(length) else { continue };
            let tally = &mut self.tallies[word as usize];
            if tally.next != DROPPED {
                places[tally.next as usize] = *start;
                tally.next += 1;
                let documents = tally.documents;
                self.place(length, start, documents);
            }
        }
    }

    fn place(&self, length: usize, start: &Start, count: u32) {
        if let Some(at) = self.at {
            at.set(length, start.position, count);
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
            let (fast, at) = Frequencies::count(&sentences, 4, minimum, threads);
            let listed: BTreeMap<Vec<Word>, u32> = fast.iter().map(|(ngram, count)| (ngram.words().collect(), count)).collect();
            let kept: BTreeMap<Vec<Word>, u32> = slow.iter().filter(|(_, count)| **count >= minimum).map(|(gram, count)| (gram.clone(), *count)).collect();
            prop_assert_eq!(listed, kept);
            let kept_count = |count: &u32| if *count >= minimum { *count } else { 0 };
            for (gram, count) in &slow {
                prop_assert_eq!(fast.get(Ngram::new(gram)), kept_count(count));
            }
            let asked: Vec<_> = slow.keys().map(|gram| Ngram::new(gram)).chain([Ngram::new(&[9])]).collect();
            let told: Vec<_> = slow.values().map(kept_count).chain([0]).collect();
            prop_assert_eq!(fast.get_all(&asked), told);
            prop_assert_eq!(fast.get(Ngram::new(&[9, 9])), 0);
            for sentence in 0..sentences.sentence_count() {
                for (start, position) in sentences.span(sentence).enumerate() {
                    for n in 1..=4.min(sentences.words(sentence).len() - start) {
                        let ngram = Ngram::new(&sentences.words(sentence)[start..start + n]);
                        prop_assert_eq!(at.get(n, position), Some(fast.get(ngram)));
                    }
                }
            }
        }
    }
}
