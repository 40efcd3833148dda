//! Counting the documents of a corpus that comes in parts, in bounded memory.
//!
//! Counts are kept by provisional numbers of the words. Those that memory has no room for are set aside in parts, by hash;
//! at the end each part is added up by itself, gets the final numbers of its words, and goes to the place that their hash
//! has in the file.

use std::io::{self, Seek, SeekFrom, Write};
use std::iter;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU16, Ordering};

use super::{DocumentFrequency, Documents, Kind, Layout, RECORD, head, overflow, read, record, renumber, sorted};
use crate::Refused;
use crate::numeric::hash_table::{HashTable, Key};
use crate::numeric::parallel::{check, map_mut, map_parts, thread_count, threads_for};
use crate::tables::CHECKED_FROM;
use crate::text::ngram::{MAX_ORDER, Ngram};
use crate::text::sentences::Sentences;
use crate::text::vocabulary::{Vocabulary, Word};

/// Space for what memory has no room for: numbered streams of bytes.
pub trait Scratch: Send {
    /// Adds bytes to the end of the stream.
    fn append(&mut self, stream: usize, bytes: &[u8]) -> io::Result<()>;

    /// Puts all bytes of the stream in the place of what `bytes` holds; the stream is empty afterwards.
    fn take(&mut self, stream: usize, bytes: &mut Vec<u8>) -> io::Result<()>;
}

/// Counts are kept in so many tables, by the first bits of the hash; what is set aside of a table is a stream.
const PARTS: usize = 256;

/// Bytes of a slot of a table.
const SLOT: usize = size_of::<(Ngram, u32)>();

/// Counts of a block.
const BLOCK: usize = 1 << 15;

/// So many blocks are added at a time, shared by the threads.
const BLOCKS: usize = 8;

/// What is set aside is lost with the call that fails.
const WHOLE: &str = "no thread failed";

/// Counts for which another thread is worth starting.
const WORTH: usize = 1 << 13;

/// Counts the images that each n-gram occurs in, part by part of a corpus. No image is in two parts.
pub struct Counter<S> {
    /// What is counted.
    pub kind: Kind,
    /// Number of images so far.
    pub documents: u64,
    vocabulary: Vocabulary,
    counts: Vec<HashTable<Ngram, u32>>,
    /// A table with so many counts is set aside.
    most: usize,
    /// Bytes that may be in use.
    memory: usize,
    scratch: S,
    /// So many counts were set aside.
    aside: usize,
}

impl<S: Scratch> Counter<S> {
    /// Counts of this kind. The tables of counts take at most about `memory` bytes; the distinct words come on
    /// top of them.
    pub fn new(kind: Kind, memory: usize, scratch: S) -> Self {
        let slots = (memory / SLOT / PARTS + 1).next_power_of_two() / 2;
        let (vocabulary, counts) = (Vocabulary::default(), vec![HashTable::with_capacity(0); PARTS]);
        // A table grows when two slots in three are taken; this leaves room for what one block adds.
        let most = (slots * 3 / 5).max(1);
        Self { kind, documents: 0, vocabulary, counts, most, memory, scratch, aside: 0 }
    }

    /// Adds the sentences of other images, unless they are of another kind.
    pub fn add(&mut self, documents: Documents<'_>, threads: usize) -> Result<io::Result<()>, Refused> {
        let Documents { sentences, vocabulary, .. } = documents;
        self.kind.check(&Kind::of(documents, self.kind.order))?;
        let (ngrams, _) = document_counts(sentences, self.kind.order, 1, false, threads);
        self.plus(vocabulary.words(), ngrams.into_iter(), sentences.image_count() as u64, threads)
    }

    /// Adds what was counted elsewhere, unless it is of another kind.
    pub fn merge(&mut self, other: &DocumentFrequency, threads: usize) -> Result<io::Result<()>, Refused> {
        self.kind.check(&other.kind)?;
        let mut counts = other.frequencies.iter();
        let blocks =
            iter::from_fn(|| Some(counts.by_ref().take(BLOCK).collect()).filter(|block: &Vec<_>| !block.is_empty()));
        self.plus(other.words.words(), blocks, other.frequencies.documents, threads)
    }

    fn plus<'w>(
        &mut self,
        words: impl Iterator<Item = &'w str>,
        mut blocks: impl Iterator<Item = Vec<(Ngram, u32)>>,
        documents: u64,
        threads: usize,
    ) -> Result<io::Result<()>, Refused> {
        // No count is above the number of images.
        if self.documents + documents > u64::from(u32::MAX) {
            return Err(overflow());
        }
        self.documents += documents;
        let numbers: Vec<Word> = words.map(|word| self.vocabulary.intern(word)).collect();
        loop {
            check();
            let some: Vec<_> = blocks.by_ref().take(BLOCKS).collect();
            if some.is_empty() {
                return Ok(Ok(()));
            }
            self.blocks(&some, &numbers, threads);
            if let Err(error) = self.spill(self.most) {
                return Ok(Err(error));
            }
        }
    }

    /// Adds counts of distinct n-grams: each thread sorts blocks by table, then each fills tables of its own, one after the
    /// other, so that the memory in use is small enough for the caches.
    fn blocks(&mut self, blocks: &[Vec<(Ngram, u32)>], numbers: &[Word], threads: usize) {
        let threads = threads_for(threads, blocks.iter().map(Vec::len).sum(), WORTH);
        let sort = |range: Range<usize>| {
            let mut parts = vec![Vec::new(); PARTS];
            for &(ngram, count) in blocks[range].iter().flatten() {
                let ngram = renumber(ngram, numbers);
                parts[part(ngram.hash())].push((ngram, count));
            }
            parts
        };
        let sorted = map_parts(blocks.len(), threads, sort);
        map_mut(&mut self.counts, threads, |part, counts| {
            for parts in &sorted {
                counts.add_all(&parts[part]);
            }
        });
    }

    /// Sets the counts of tables aside that have at least so many.
    fn spill(&mut self, least: usize) -> io::Result<()> {
        for (part, counts) in self.counts.iter_mut().enumerate().filter(|(_, counts)| counts.len() >= least) {
            let bytes: Vec<u8> = counts.iter().flat_map(record).collect();
            self.scratch.append(part, &bytes)?;
            self.aside += counts.len();
            counts.clear();
        }
        Ok(())
    }

    /// The counts of at least `minimum` documents, where memory has room for all; otherwise writes them to the file that is
    /// made then, and gives none.
    pub fn finish<F: Write + Seek>(
        mut self,
        minimum: u32,
        threads: usize,
        file: impl FnOnce() -> io::Result<F>,
    ) -> io::Result<Option<DocumentFrequency>> {
        let words: Vec<&str> = self.vocabulary.words().collect();
        if self.aside == 0 {
            let counts = self.counts.iter().flat_map(HashTable::iter).filter(|&(_, count)| count >= minimum).collect();
            return Ok(Some(DocumentFrequency::of(self.kind, &words, counts, self.documents)));
        }
        let (words, numbers) = sorted(&words);
        self.spill(1)?;
        drop((std::mem::take(&mut self.vocabulary), std::mem::take(&mut self.counts)));
        let entries = self.renumber(&numbers, minimum, threads)?;
        let head = head(&self.kind, self.documents, &words, entries);
        drop((words, numbers));
        let mut file = file()?;
        self.write(head, entries, &mut file)?;
        file.flush()?;
        Ok(None)
    }

    /// Adds up each part that was set aside, and sets it aside again by the final numbers of the words. Each thread has
    /// one part in memory at a time, so there are as many threads as memory has room for parts.
    fn renumber(&mut self, numbers: &[Word], minimum: u32, threads: usize) -> io::Result<usize> {
        let part_bytes = (self.aside / PARTS + 1) * (RECORD + 2 * SLOT);
        let threads = thread_count(threads).min((self.memory / part_bytes).max(1));
        let scratch = Mutex::new(&mut self.scratch);
        let entries = map_parts(PARTS, threads, |parts| {
            let (mut counts, mut bytes, mut entries) = (HashTable::<Ngram, u32>::with_capacity(0), Vec::new(), 0);
            let mut blocks = vec![Vec::new(); PARTS];
            let write = |part: usize, block: &mut Vec<u8>| {
                scratch.lock().expect(WHOLE).append(PARTS + part, block)?;
                block.clear();
                io::Result::Ok(())
            };
            for part in parts {
                check();
                scratch.lock().expect(WHOLE).take(part, &mut bytes)?;
                for record in bytes.chunks_exact(RECORD) {
                    let (ngram, count) = read(record);
                    *counts.entry(ngram, ngram.hash()) += count;
                }
                for (ngram, count) in counts.iter().filter(|&(_, count)| count >= minimum) {
                    let ngram = renumber(ngram, numbers);
                    let part = self::part(ngram.hash());
                    blocks[part].extend(record((ngram, count)));
                    if blocks[part].len() >= 1 << 14 {
                        write(part, &mut blocks[part])?;
                    }
                    entries += 1;
                }
                counts.clear();
            }
            for (part, block) in blocks.iter_mut().enumerate().filter(|(_, block)| !block.is_empty()) {
                write(part, block)?;
            }
            Ok(entries)
        });
        entries.into_iter().sum()
    }

    /// Writes the file, part by part: see [`DocumentFrequency::to_bytes`].
    fn write(&mut self, mut head: Vec<u8>, entries: usize, file: &mut (impl Write + Seek)) -> io::Result<()> {
        let layout = Layout::new(head.len(), entries);
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(&head[CHECKED_FROM..]);
        file.write_all(&head)?;
        let (mut indexed, mut written, mut bytes) = (0, 0, Vec::new());
        let (mut index_sum, mut record_sum) = (crc32fast::Hasher::new(), crc32fast::Hasher::new());
        for part in 0..PARTS {
            check();
            self.scratch.take(PARTS + part, &mut bytes)?;
            let entry = |(ngram, count): (Ngram, u32)| (ngram.hash(), ngram, count);
            let mut sorted: Vec<_> = bytes.chunks_exact(RECORD).map(read).map(entry).collect();
            sorted.sort_unstable();
            let (mut index, mut records) = (Vec::new(), Vec::with_capacity(RECORD * sorted.len()));
            let (first_index, first_record) = (indexed, written);
            for (hash, ngram, count) in sorted {
                while indexed <= layout.bucket(hash) {
                    index.extend((written as u32).to_le_bytes());
                    indexed += 1;
                }
                records.extend(record((ngram, count)));
                written += 1;
            }
            while part + 1 == PARTS && indexed <= 1 << layout.bits {
                index.extend((written as u32).to_le_bytes());
                indexed += 1;
            }
            for (at, bytes, sum) in [
                (layout.start + 4 * first_index, index, &mut index_sum),
                (layout.record(first_record), records, &mut record_sum),
            ] {
                sum.update(&bytes);
                file.seek(SeekFrom::Start(at as u64))?;
                file.write_all(&bytes)?;
            }
        }
        checksum.combine(&index_sum);
        checksum.combine(&record_sum);
        head.truncate(CHECKED_FROM);
        head[CHECKED_FROM - 4..].copy_from_slice(&checksum.finalize().to_le_bytes());
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&head)
    }
}

/// The part of a hash: its first bits.
fn part(hash: u64) -> usize {
    (hash >> (64 - PARTS.trailing_zeros())) as usize
}

// Counting the documents that each n-gram occurs in.
// All positions where a text may start are partitioned by their first word, the positions of a word by the next word,
// and so on. An n-gram can only be in `minimum` documents if the (n-1)-gram it begins with is, so the long tail of
// n-grams, most of which occur once, is dropped early. A table with one row per word separates them: nothing is
// hashed. Threads share the work by first words.

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

/// The distinct n-grams of orders 1 to `order` in at least `minimum` documents with their counts, in blocks, in no
/// meaningful order; with `places`, the same counts where the n-grams start.
pub(super) fn document_counts(
    sentences: &Sentences,
    order: usize,
    minimum: u32,
    places: bool,
    threads: usize,
) -> (Vec<Vec<(Ngram, u32)>>, Option<CountsAt>) {
    let words = sentences.all_words();
    let at = places.then(|| CountsAt(words.iter().map(|_| Default::default()).collect()));
    let threads = thread_count(threads);
    let shares = map_parts(threads, threads, |shares| {
        let count = |share| {
            let tallies = vec![Tally::default(); words.iter().max().map_or(0, |&last| last as usize + 1)];
            let (parts, counts) = Default::default();
            let mut parting = Parting { at: at.as_ref(), order, minimum, tallies, stamp: 0, parts, counts };
            parting.part(Ngram::default(), &starts(sentences, words, share, threads), 1);
            parting.counts.0
        };
        shares.flat_map(count).collect::<Vec<_>>()
    });
    (shares.into_iter().flatten().collect(), at)
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
    // Common words have small numbers, which this scatters; a remainder would need a division.
    let share_of = |word: Word| ((u64::from(word.wrapping_mul(0x9e37_79b9)) * shares as u64) >> 32) as usize;
    let mut starts = Vec::with_capacity(words.len() / shares);
    for document in 0..sentences.image_count() {
        check();
        for sentence in sentences.of_image(document) {
            let span = sentences.span(sentence);
            let positions = span.clone().filter(|&position| share_of(words[position]) == share);
            starts.extend(positions.map(|position| {
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
    counts: Blocks,
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

impl Parting<'_> {
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
            self.counts.push((ngram, 1));
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
                self.counts.push((ngram, tally.documents));
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
    use crate::text::captions::CaptionsBuilder;
    use crate::text::sentences::Sentences;
    use crate::text::tokenize::Tokenizer;
    use proptest::prelude::*;
    use std::io::Cursor;

    #[derive(Default)]
    struct Memory(Vec<Vec<u8>>);

    impl Scratch for Memory {
        fn append(&mut self, stream: usize, bytes: &[u8]) -> io::Result<()> {
            self.0.resize(self.0.len().max(stream + 1), Vec::new());
            self.0[stream].extend(bytes);
            Ok(())
        }

        fn take(&mut self, stream: usize, bytes: &mut Vec<u8>) -> io::Result<()> {
            *bytes = self.0.get_mut(stream).map(std::mem::take).unwrap_or_default();
            Ok(())
        }
    }

    fn encoded(images: &[(usize, Vec<String>)]) -> (Sentences, Vocabulary) {
        let mut builder = CaptionsBuilder::default();
        for (image, captions) in images {
            builder.image(&image.to_string());
            for caption in captions {
                builder.caption(&image.to_string(), caption);
            }
        }
        let all: Vec<Option<u32>> = (0..images.len() as u32).map(Some).collect();
        let mut vocabulary = Vocabulary::default();
        let sentences = Sentences::encode(&builder.finish(), &all, Tokenizer::Ptb, &mut vocabulary, 1);
        (sentences, vocabulary)
    }

    fn documents((sentences, vocabulary): &(Sentences, Vocabulary), stem: bool) -> Documents<'_> {
        Documents { sentences, vocabulary, tokenizer: Tokenizer::Ptb, stem }
    }

    fn kind(order: usize, stem: bool, tokenizer: &str) -> Kind {
        Kind { order, stem, tokenizer: tokenizer.to_owned() }
    }

    fn finished(counter: Counter<Memory>) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        let file = &mut bytes;
        counter.finish(1, 2, || Ok(file)).unwrap().map_or(bytes.into_inner(), |counted| counted.to_bytes())
    }

    proptest! {
        #[test]
        fn any_parts_and_any_memory_give_the_bytes_of_the_whole(
            images in prop::collection::vec(prop::collection::vec("([a-e]|runs|running|dog|[a-z]{3}| )( ([a-e]|runs|dog|cats)){0,9}", 0..4), 0..25),
            cuts in prop::collection::vec(0_usize..25, 0..4),
            memory in prop_oneof![Just(0_usize), 0_usize..200_000, Just(1 << 24)],
            order in 1_usize..5,
            stem in any::<bool>(),
            merged in any::<u8>(),
        ) {
            let images: Vec<(usize, Vec<String>)> = images.into_iter().enumerate().collect();
            let expected = DocumentFrequency::build(documents(&encoded(&images), stem), order, 1).to_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(images.len())).collect();
            cuts.extend([0, images.len()]);
            cuts.sort_unstable();
            let mut counter = Counter::new(kind(order, stem, "ptb"), memory, Memory::default());
            for (number, pair) in cuts.windows(2).enumerate().collect::<Vec<_>>().into_iter().rev() {
                let part = encoded(&images[pair[0]..pair[1]]);
                if merged >> number & 1 == 1 {
                    counter.merge(&DocumentFrequency::build(documents(&part, stem), order, 1), 2).unwrap().unwrap();
                } else {
                    counter.add(documents(&part, stem), 2).unwrap().unwrap();
                }
            }
            prop_assert_eq!(counter.documents, images.len() as u64);
            if memory == 0 {
                prop_assert_eq!(counter.aside > 0, !counter.vocabulary.is_empty());
            }
            prop_assert!(finished(counter) == expected);
        }
    }

    #[test]
    fn parts_of_another_kind_are_refused() {
        let counter = || Counter::new(kind(4, false, "ptb"), 0, Memory::default());
        let part = encoded(&[(0, vec!["a dog".to_owned()])]);
        let refused = |other: DocumentFrequency| counter().merge(&other, 1).is_err();
        assert!(refused(DocumentFrequency::build(documents(&part, true), 4, 1)));
        assert!(refused(DocumentFrequency::build(documents(&part, false), 3, 1)));
        for (stem, tokenizer) in [(false, "whitespace"), (true, "ptb")] {
            let mut other = Counter::new(kind(4, stem, tokenizer), 0, Memory::default());
            assert!(other.add(documents(&part, false), 1).is_err_and(|refused| refused.0.contains("same tokenizer")));
        }
    }
}

#[cfg(test)]
mod count_tests {
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
