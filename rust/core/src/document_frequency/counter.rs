//! Counting the documents of a corpus that comes in parts, in bounded memory.
//!
//! Counts are kept by provisional numbers of the words. Those that memory has no room for are set aside in parts, by hash;
//! at the end each part is added up by itself, gets the final numbers of its words, and goes to the place that their hash
//! has in the file.

use std::io::{self, Seek, SeekFrom, Write};

use super::count::document_counts;
use super::file::Head;
use super::named::{MergeError, Words, renumber, word_kind};
use super::{DocumentFrequency, Entry, KEY_BYTES, Layout, RECORD, read_u32, read_u128};
use crate::corpus::{References, Stems};
use crate::numeric::hash_table::{HashTable, Key};
use crate::numeric::interrupt::check;
use crate::text::ngram::Ngram;
use crate::text::vocabulary::{Vocabulary, Word};

/// Space for what memory has no room for: numbered streams of bytes.
pub trait Scratch {
    /// Adds bytes to the end of the stream.
    fn append(&mut self, stream: usize, bytes: &[u8]) -> io::Result<()>;

    /// All bytes of the stream, which is empty afterwards.
    fn take(&mut self, stream: usize) -> io::Result<Vec<u8>>;
}

/// Parts of what is set aside: each is added up in memory.
const PARTS: usize = 256;

/// Bytes of a slot of the table of counts.
const SLOT: usize = size_of::<(Ngram, u32)>();

/// Counts the images that each n-gram occurs in, part by part of a corpus. No image is in two parts.
pub struct Counter<S> {
    order: usize,
    stem: bool,
    tokenizer: String,
    documents: u64,
    vocabulary: Vocabulary,
    counts: HashTable<Ngram, u32>,
    /// So many counts are kept in memory.
    most: usize,
    scratch: S,
    spilled: bool,
}

/// Why a part cannot be counted.
#[derive(Debug)]
pub enum CountError {
    /// It is of other words or n-grams.
    Merge(MergeError),
    /// What memory has no room for cannot be written or read.
    Scratch(io::Error),
}

impl From<io::Error> for CountError {
    fn from(error: io::Error) -> Self {
        Self::Scratch(error)
    }
}

impl<S: Scratch> Counter<S> {
    /// Counts n-grams of orders 1 to `order` of words, or of stems, that this tokenizer makes. The table of counts takes
    /// about `memory` bytes; the distinct words come on top of them.
    pub fn new(order: usize, stem: bool, tokenizer: String, memory: usize, scratch: S) -> Self {
        // While the table grows, the old one, half as large, is there too.
        let slots = (memory / SLOT * 2 / 3 + 1).next_power_of_two() / 2;
        let (vocabulary, counts) = (Vocabulary::default(), HashTable::with_capacity(0));
        let most = (slots * 2 / 3).max(1);
        Self { order, stem, tokenizer, documents: 0, vocabulary, counts, most, scratch, spilled: false }
    }

    /// Number of images so far.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Adds the references of images.
    pub fn add(&mut self, references: &References, threads: usize) -> Result<(), CountError> {
        if references.tokenizer.name() != self.tokenizer {
            let kinds = [&self.tokenizer, references.tokenizer.name()].map(|name| word_kind(name, self.stem));
            let [own, other] = kinds;
            return Err(CountError::Merge(MergeError::Words(own, other)));
        }
        let stems = self.stem.then(|| Stems::of(&references.vocabulary));
        let numbers = stems.as_ref().map(|stems| &stems.numbers[..]);
        let vocabulary = stems.as_ref().map_or(&references.vocabulary, |stems| &stems.vocabulary);
        let counts = document_counts(&references.sentences, numbers, self.order, 1, threads);
        self.plus(vocabulary.words(), counts.ngrams.into_iter(), references.images.len() as u64)
    }

    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, other: &DocumentFrequency) -> Result<(), CountError> {
        if self.order != other.order {
            return Err(CountError::Merge(MergeError::Order(self.order, other.order)));
        }
        if (&self.tokenizer, self.stem) != (&other.tokenizer, other.stem) {
            let own = word_kind(&self.tokenizer, self.stem);
            return Err(CountError::Merge(MergeError::Words(own, other.word_kind())));
        }
        self.plus(other.words(), other.frequencies().iter(), other.documents())
    }

    fn plus<'w>(
        &mut self,
        words: impl Iterator<Item = &'w str>,
        counts: impl Iterator<Item = (Ngram, u32)>,
        documents: u64,
    ) -> Result<(), CountError> {
        // No count is above the number of images.
        if self.documents + documents > u64::from(u32::MAX) {
            return Err(CountError::Merge(MergeError::Overflow));
        }
        self.documents += documents;
        let numbers: Vec<Word> = words.map(|word| self.vocabulary.intern(word)).collect();
        // Those whose slots are near each other together, so that the table's memory is gone through, and not leapt about in.
        let mut near: Vec<Vec<(Ngram, u32)>> = vec![Vec::new(); 256];
        for (ngram, count) in counts {
            let ngram = renumber(ngram, &numbers);
            near[(ngram.hash() >> 16) as usize & 255].push((ngram, count));
        }
        for (ngram, count) in near.into_iter().flatten() {
            *self.counts.entry(ngram, ngram.hash()) += count;
            if self.counts.len() >= self.most {
                self.spill()?;
            }
        }
        Ok(())
    }

    /// Sets all counts aside.
    fn spill(&mut self) -> io::Result<()> {
        check();
        let counts = std::mem::replace(&mut self.counts, HashTable::with_capacity(0));
        let mut streams = Streams::new(&mut self.scratch, 0);
        for (ngram, count) in counts.iter() {
            streams.push(part(ngram.hash()), ngram, count)?;
        }
        self.spilled = true;
        streams.finish()
    }

    /// The counts of at least `minimum` documents, where memory has room for all; otherwise writes them to the file that is
    /// made then.
    pub fn finish<F: Write + Seek>(
        mut self,
        minimum: u32,
        file: impl FnOnce() -> io::Result<F>,
    ) -> io::Result<Finished<F>> {
        let words: Vec<&str> = self.vocabulary.words().collect();
        if !self.spilled {
            let counts = self.counts.iter().filter(|&(_, count)| count >= minimum).collect();
            let counted = DocumentFrequency::from_counts(&words, counts, self.documents, self.order);
            return Ok(Finished::InMemory(DocumentFrequency { tokenizer: self.tokenizer, stem: self.stem, ..counted }));
        }
        let (words, numbers) = Words::sorted(&words);
        self.spill()?;
        drop(std::mem::take(&mut self.vocabulary));
        let entries = self.renumber(&numbers, minimum)?;
        let head = Head { order: self.order, stem: self.stem, tokenizer: &self.tokenizer, documents: self.documents };
        let head = head.bytes(&words, entries);
        drop((words, numbers));
        let mut file = file()?;
        self.write(head, entries, &mut file)?;
        file.flush()?;
        Ok(Finished::InFile(file))
    }

    /// Adds up each part that was set aside, and sets it aside again by the final numbers of the words.
    fn renumber(&mut self, numbers: &[Word], minimum: u32) -> io::Result<usize> {
        let mut entries = 0;
        for part in 0..PARTS {
            check();
            let mut counts = HashTable::<Ngram, u32>::with_capacity(0);
            for record in self.scratch.take(part)?.chunks_exact(RECORD) {
                let (ngram, count) = read(record);
                *counts.entry(ngram, ngram.hash()) += count;
            }
            let mut streams = Streams::new(&mut self.scratch, PARTS);
            for (ngram, count) in counts.iter().filter(|&(_, count)| count >= minimum) {
                entries += 1;
                let ngram = renumber(ngram, numbers);
                streams.push(self::part(ngram.hash()), ngram, count)?;
            }
            streams.finish()?;
        }
        Ok(entries)
    }

    /// Writes the file, part by part: see [`super::file`].
    fn write(&mut self, mut head: Vec<u8>, entries: usize, file: &mut (impl Write + Seek)) -> io::Result<()> {
        let layout = Layout::new(head.len(), entries);
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(&head[Head::CHECKED_FROM..]);
        file.write_all(&head)?;
        let (mut indexed, mut written) = (0, 0);
        let (mut index_sum, mut record_sum) = (crc32fast::Hasher::new(), crc32fast::Hasher::new());
        for part in 0..PARTS {
            check();
            let bytes = self.scratch.take(PARTS + part)?;
            let mut sorted: Vec<Entry> = bytes.chunks_exact(RECORD).map(|record| Entry::of(read(record))).collect();
            drop(bytes);
            sorted.sort_unstable();
            let (mut index, mut records) = (Vec::new(), Vec::with_capacity(RECORD * sorted.len()));
            let (first_index, first_record) = (indexed, written);
            for entry in sorted {
                while indexed <= layout.bucket(entry.hash) {
                    index.extend((written as u32).to_le_bytes());
                    indexed += 1;
                }
                records.extend(record(entry.ngram, entry.count));
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
        head.truncate(Head::CHECKED_FROM);
        head[Head::CHECKED_FROM - 4..].copy_from_slice(&checksum.finalize().to_le_bytes());
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&head)
    }
}

/// The result of counting.
pub enum Finished<F> {
    /// All counts.
    InMemory(DocumentFrequency),
    /// The file that they were written to.
    InFile(F),
}

/// The part of a hash: its first bits.
fn part(hash: u64) -> usize {
    (hash >> (64 - PARTS.trailing_zeros())) as usize
}

fn record(ngram: Ngram, count: u32) -> [u8; RECORD] {
    let mut record = [0; RECORD];
    record[..KEY_BYTES].copy_from_slice(&ngram.key().to_le_bytes());
    record[KEY_BYTES..].copy_from_slice(&count.to_le_bytes());
    record
}

fn read(record: &[u8]) -> (Ngram, u32) {
    (Ngram::from_key(read_u128(record, 0)), read_u32(record, KEY_BYTES))
}

/// Writes records to streams, a block at a time.
struct Streams<'a, S> {
    scratch: &'a mut S,
    first: usize,
    blocks: Vec<Vec<u8>>,
}

impl<'a, S: Scratch> Streams<'a, S> {
    /// Bytes of a block.
    const BLOCK: usize = 1 << 14;

    fn new(scratch: &'a mut S, first: usize) -> Self {
        Self { scratch, first, blocks: vec![Vec::new(); PARTS] }
    }

    fn push(&mut self, part: usize, ngram: Ngram, count: u32) -> io::Result<()> {
        let block = &mut self.blocks[part];
        block.extend(record(ngram, count));
        if block.len() >= Self::BLOCK {
            self.scratch.append(self.first + part, block)?;
            block.clear();
        }
        Ok(())
    }

    fn finish(self) -> io::Result<()> {
        let blocks = self.blocks.iter().zip(self.first..).filter(|(block, _)| !block.is_empty());
        for (block, stream) in blocks {
            self.scratch.append(stream, block)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::captions::CaptionsBuilder;
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

        fn take(&mut self, stream: usize) -> io::Result<Vec<u8>> {
            Ok(self.0.get_mut(stream).map(std::mem::take).unwrap_or_default())
        }
    }

    fn references(images: &[(usize, Vec<String>)]) -> References {
        let mut builder = CaptionsBuilder::new();
        for (image, captions) in images {
            builder.image(&image.to_string());
            for caption in captions {
                builder.caption(&image.to_string(), caption);
            }
        }
        let all: Vec<u32> = (0..images.len() as u32).collect();
        References::encode(&builder.finish(), &all, Tokenizer::Ptb, 1)
    }

    fn finished(counter: Counter<Memory>) -> Vec<u8> {
        match counter.finish(1, || Ok(Cursor::new(Vec::new()))).unwrap() {
            Finished::InMemory(counted) => counted.to_bytes(),
            Finished::InFile(file) => file.into_inner(),
        }
    }

    proptest! {
        #[test]
        fn any_parts_and_any_memory_give_the_bytes_of_the_whole(
            images in prop::collection::vec(prop::collection::vec("([a-e]|runs|running|dog|[a-z]{3}| )( ([a-e]|runs|dog|cats)){0,9}", 0..4), 0..25),
            cuts in prop::collection::vec(0_usize..25, 0..4),
            memory in prop_oneof![Just(0_usize), 0_usize..20_000, Just(1 << 20)],
            order in 1_usize..5,
            stem in any::<bool>(),
            merged in any::<u8>(),
        ) {
            let images: Vec<(usize, Vec<String>)> = images.into_iter().enumerate().collect();
            let expected = DocumentFrequency::build(&references(&images), stem, order, 1).to_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(images.len())).collect();
            cuts.extend([0, images.len()]);
            cuts.sort_unstable();
            let mut counter = Counter::new(order, stem, "ptb".to_owned(), memory, Memory::default());
            for (number, pair) in cuts.windows(2).enumerate().collect::<Vec<_>>().into_iter().rev() {
                let part = references(&images[pair[0]..pair[1]]);
                if merged >> number & 1 == 1 {
                    counter.merge(&DocumentFrequency::build(&part, stem, order, 1)).unwrap();
                } else {
                    counter.add(&part, 2).unwrap();
                }
            }
            prop_assert_eq!(counter.documents(), images.len() as u64);
            if memory == 0 {
                prop_assert_eq!(counter.spilled, !counter.vocabulary.is_empty());
            }
            prop_assert!(finished(counter) == expected);
        }
    }

    #[test]
    fn parts_of_another_kind_are_refused() {
        let counter = || Counter::new(4, false, "ptb".to_owned(), 0, Memory::default());
        let part = references(&[(0, vec!["a dog".to_owned()])]);
        let refused = |other: DocumentFrequency| matches!(counter().merge(&other), Err(CountError::Merge(_)));
        assert!(refused(DocumentFrequency::build(&part, true, 4, 1)));
        assert!(refused(DocumentFrequency::build(&part, false, 3, 1)));
        let mut other = Counter::new(4, false, "whitespace".to_owned(), 0, Memory::default());
        assert!(matches!(other.add(&part, 1), Err(CountError::Merge(MergeError::Words(..)))));
    }
}
