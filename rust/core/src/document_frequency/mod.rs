//! Document frequencies: in the references of how many images each n-gram occurs (CIDEr, eq. 1).

mod count;
mod counter;
mod file;
mod named;

pub use count::CountsAt;
pub use counter::{Counter, Finished, Scratch};
pub use named::{DocumentFrequency, Kind, Lookup, UNKNOWN};

use std::ops::Range;

use crate::numeric::hash_table::Key;
use crate::tables::SharedBytes;
use crate::text::ngram::Ngram;
use crate::text::sentences::Sentences;
use crate::text::tokenize::Tokenizer;
use crate::text::vocabulary::Vocabulary;

/// What is counted: the sentences of each image, with the words that they number.
#[derive(Debug, Clone, Copy)]
pub struct Documents<'a> {
    /// Sentences, image by image.
    pub sentences: &'a Sentences,
    /// Their words.
    pub vocabulary: &'a Vocabulary,
    /// The tokenizer that cut the captions into words.
    pub tokenizer: Tokenizer,
    /// Whether the words are stems.
    pub stem: bool,
}

/// Counts keyed by word numbers, in one block of bytes that is the same in memory and in a file.
///
/// Entries are sorted by hash; `index[b]` says where the hashes that begin with the bits `b` start. A look-up reads one
/// index pair and, on average, one or two keys. The order depends only on the entries, not on how they were counted.
#[derive(Debug, Clone)]
pub struct Frequencies {
    documents: u64,
    bytes: SharedBytes,
    layout: Layout,
}

/// Places of the two arrays: `index` (u32) and `records` (key u128, count u32), little-endian.
#[derive(Debug, Clone, Copy)]
struct Layout {
    start: usize,
    entries: usize,
    bits: u32,
}

/// Bytes of a record: its key and its count.
const RECORD: usize = KEY_BYTES + 4;
const KEY_BYTES: usize = 16;

impl Layout {
    fn new(start: usize, entries: usize) -> Self {
        Self { start, entries, bits: entries.next_power_of_two().trailing_zeros() }
    }

    fn records(self) -> usize {
        self.start + 4 * ((1 << self.bits) + 1)
    }

    fn record(self, entry: usize) -> usize {
        self.records() + RECORD * entry
    }

    fn end(self) -> usize {
        self.record(self.entries)
    }

    fn bucket(self, hash: u64) -> usize {
        if self.bits == 0 { 0 } else { (hash >> (64 - self.bits)) as usize }
    }
}

fn read_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn record((ngram, count): (Ngram, u32)) -> [u8; RECORD] {
    let mut record = [0; RECORD];
    record[..KEY_BYTES].copy_from_slice(&ngram.key().to_le_bytes());
    record[KEY_BYTES..].copy_from_slice(&count.to_le_bytes());
    record
}

/// What is in a record.
fn read(record: &[u8]) -> (Ngram, u32) {
    let key = u128::from_le_bytes(record[..KEY_BYTES].try_into().expect("sixteen bytes"));
    (Ngram::from_key(key), read_u32(record, KEY_BYTES))
}

impl Frequencies {
    /// Counts in how many images' sentences each n-gram of orders 1 to `order` occurs, keeping counts of at least
    /// `minimum`. Also gives the counts by place.
    pub fn count(sentences: &Sentences, order: usize, minimum: u32, threads: usize) -> (Self, CountsAt) {
        let counts = count::document_counts(sentences, order, minimum, true, threads);
        let at = counts.at.expect("places were wanted");
        (Self::from_entries(sentences.image_count() as u64, &counts.ngrams), at)
    }

    /// Builds from blocks of distinct n-grams in any order.
    pub fn from_entries(documents: u64, blocks: &[Vec<(Ngram, u32)>]) -> Self {
        let ngrams = || blocks.iter().flatten();
        let layout = Layout::new(0, blocks.iter().map(Vec::len).sum());
        let mut ends = vec![0_u32; 1 << layout.bits];
        for (ngram, _) in ngrams() {
            ends[layout.bucket(ngram.hash())] += 1;
        }
        let mut total = 0;
        for end in &mut ends {
            // Where the bucket starts, which placing its entries moves to its end.
            total += std::mem::replace(end, total);
        }
        let mut bytes = vec![0; layout.end()];
        for &counted in ngrams() {
            let next = &mut ends[layout.bucket(counted.0.hash())];
            bytes[layout.record(*next as usize)..][..RECORD].copy_from_slice(&record(counted));
            *next += 1;
        }
        let (mut start, mut bucket) = (0, Vec::new());
        for (number, &end) in ends.iter().enumerate() {
            bytes[4 * (number + 1)..][..4].copy_from_slice(&end.to_le_bytes());
            let records = &mut bytes[layout.record(start as usize)..layout.record(end as usize)];
            if end - start > 1 {
                bucket.clear();
                bucket
                    .extend(records.chunks_exact(RECORD).map(read).map(|(ngram, count)| (ngram.hash(), ngram, count)));
                bucket.sort_unstable();
                for (place, &(_, ngram, count)) in records.chunks_exact_mut(RECORD).zip(&bucket) {
                    place.copy_from_slice(&record((ngram, count)));
                }
            }
            start = end;
        }
        Self { documents, bytes: SharedBytes::new(bytes), layout }
    }

    /// Number of documents (images) behind the counts.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Number of n-grams kept.
    pub fn ngram_count(&self) -> usize {
        self.layout.entries
    }

    /// In how many documents the n-gram occurs; 0 when it is not kept.
    pub fn get(&self, ngram: Ngram) -> u32 {
        self.count_in(ngram, self.span(ngram))
    }

    /// The same for several n-grams. The table is larger than the caches, so that a look-up waits
    /// twice for memory; here the waits of one n-gram overlap with those of the others.
    pub fn get_all(&self, ngrams: &[Ngram]) -> Vec<u32> {
        let spans: Vec<_> = ngrams.iter().map(|&ngram| self.span(ngram)).collect();
        let first_byte = |span: &Range<u32>| self.bytes.get(self.layout.record(span.start as usize)).copied();
        // Brings the records into the caches: nothing waits for these bytes.
        std::hint::black_box(spans.iter().filter_map(first_byte).fold(0, |all, byte| all ^ byte));
        ngrams.iter().zip(spans).map(|(&ngram, span)| self.count_in(ngram, span)).collect()
    }

    /// The records among which the n-gram's is.
    fn span(&self, ngram: Ngram) -> Range<u32> {
        let bucket = self.layout.start + 4 * self.layout.bucket(ngram.hash());
        read_u32(&self.bytes, bucket)..read_u32(&self.bytes, bucket + 4)
    }

    fn count_in(&self, ngram: Ngram, span: Range<u32>) -> u32 {
        let records = &self.bytes[self.layout.record(span.start as usize)..self.layout.record(span.end as usize)];
        records.chunks_exact(RECORD).map(read).find(|(other, _)| *other == ngram).map_or(0, |(_, count)| count)
    }

    /// All n-grams with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (Ngram, u32)> + '_ {
        self.bytes[self.layout.records()..self.layout.end()].chunks_exact(RECORD).map(read)
    }

    /// Whether every look-up stays inside the block and every word has a name. False only for a corrupt or
    /// malicious file.
    fn is_consistent(&self, words: usize) -> bool {
        let mut index =
            (0..=1_usize << self.layout.bits).map(|bucket| read_u32(&self.bytes, self.layout.start + 4 * bucket));
        index.clone().is_sorted()
            && index.next_back() == Some(self.ngram_count() as u32)
            && self.iter().all(|(ngram, _)| ngram.words().all(|word| (word as usize) < words))
    }
}

/// Inverse document frequency: log(N) − log(max(1, df)).
#[derive(Debug, Clone)]
pub struct Idf {
    log_documents: f64,
    /// The IDF of each count up to a limit: a logarithm costs more than the rest of an n-gram's share.
    small: Vec<f64>,
}

impl Idf {
    /// Over so many documents.
    pub fn new(documents: u64) -> Self {
        let log_documents = (documents as f64).ln();
        let small = (0..=documents.min(u16::MAX.into()) as u32)
            .map(|count| log_documents - f64::from(count.max(1)).ln())
            .collect();
        Self { log_documents, small }
    }

    /// Of an n-gram found in `count` documents; one never seen counts as seen once.
    pub fn of(&self, count: u32) -> f64 {
        self.small.get(count as usize).copied().unwrap_or_else(|| self.log_documents - f64::from(count).ln())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_idf_of_any_count_is_a_difference_of_logarithms() {
        let idf = Idf::new(100_000);
        for count in [1, 2, 65_534, 65_535, 65_536, 70_000, 100_000] {
            let difference = 100_000_f64.ln() - f64::from(count).ln();
            assert_eq!(idf.of(count).to_bits(), difference.to_bits(), "{count}");
        }
        assert_eq!(idf.of(0).to_bits(), idf.of(1).to_bits());
    }
}
