//! Document frequencies: in the references of how many images each n-gram occurs (CIDEr, eq. 1).

mod counter;

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::Refused;
use crate::numeric::hash_table::Key;
use crate::tables::mark::DOCUMENT_FREQUENCIES as MARK;
use crate::tables::{CHECKED_FROM, SharedBytes, seal};
use crate::text::ngram::{ImageNgrams, MAX_ORDER, Ngram};
use crate::text::sentences::Sentences;
use crate::text::tokenize::Tokenizer;
use crate::text::vocabulary::{Vocabulary, Word};
use counter::document_counts;
pub use counter::{Counter, CountsAt, Scratch};

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
    /// Number of documents (images) behind the counts.
    pub documents: u64,
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
        let (ngrams, at) = document_counts(sentences, order, minimum, true, threads);
        (Self::from_entries(sentences.image_count() as u64, &ngrams), at.expect("places were wanted"))
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

// Document frequencies with a vocabulary of their own, so that they can be saved, merged and used on any corpus.

/// The tokenizer of frequencies that came from elsewhere.
pub const UNKNOWN: &str = "unknown";

/// The tokenizer of frequencies of token ids.
const TOKEN_IDS: &str = "token-ids";

/// Token ids index an array, which a stray huge number must not inflate.
const LARGEST_ID: u32 = 1 << 24;

/// What is counted; frequencies of different kinds cannot be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kind {
    /// The longest n-gram.
    pub order: usize,
    /// Whether the words are stems, as CIDEr wants them, or word forms, as CIDEr-D does.
    pub stem: bool,
    /// The tokenizer behind the words.
    pub tokenizer: String,
}

impl Kind {
    fn of(documents: Documents<'_>, order: usize) -> Self {
        Self { order, stem: documents.stem, tokenizer: documents.tokenizer.name().to_owned() }
    }

    /// Whether counts of this kind and of another can be added.
    fn check(&self, other: &Self) -> Result<(), Refused> {
        let words =
            |kind: &Self| format!("{} (tokenizer {})", if kind.stem { "stems" } else { "tokens" }, kind.tokenizer);
        if self.order != other.order {
            return Err(Refused(format!(
                "document frequencies of n-grams up to {} cannot be added to those up to {}; build both with the same n",
                self.order, other.order
            )));
        }
        if self == other {
            return Ok(());
        }
        let [these, those] = [self, other].map(words);
        Err(Refused(format!(
            "document frequencies of {these} cannot be added to those of {those}; build both with the same tokenizer, and \
             both of stems or both of word forms"
        )))
    }
}

fn overflow() -> Refused {
    Refused(format!("an n-gram's document frequency exceeds {}", u32::MAX))
}

/// Document frequencies keyed by words. Words are numbered in alphabetical order, so that equal contents always give
/// equal bytes.
#[derive(Debug, Clone)]
pub struct DocumentFrequency {
    /// What is counted.
    pub kind: Kind,
    /// The words, in alphabetical order.
    pub words: Vocabulary,
    /// The counts, by the numbers of the words.
    pub frequencies: Frequencies,
    /// The weights of the counts.
    pub idf: Idf,
}

/// The vocabulary in alphabetical order, and each word's new number.
fn sorted(words: &[&str]) -> (Vocabulary, Vec<Word>) {
    let mut order: Vec<usize> = (0..words.len()).collect();
    order.sort_unstable_by_key(|&word| words[word]);
    let mut sorted = Vocabulary::default();
    let mut numbers = vec![0; words.len()];
    for word in order {
        numbers[word] = sorted.intern(words[word]);
    }
    (sorted, numbers)
}

impl DocumentFrequency {
    /// Counts all n-grams of orders 1 to `order` in the sentences of each image.
    pub fn build(documents: Documents<'_>, order: usize, threads: usize) -> Self {
        let Documents { sentences, vocabulary, .. } = documents;
        let counts = document_counts(sentences, order, 1, false, threads).0.concat();
        let words: Vec<&str> = vocabulary.words().collect();
        Self::of(Kind::of(documents, order), &words, counts, sentences.image_count() as u64)
    }

    /// Counts over references given as token ids, one image's after the other's (`sizes` says how many each has); the
    /// words are the ids in decimal.
    pub fn from_token_ids(references: &[&[Word]], sizes: &[usize], order: usize, threads: usize) -> Self {
        let mut vocabulary = Vocabulary::default();
        let (mut words, mut ends) = (Vec::new(), Vec::new());
        for ids in references {
            words.extend(ids.iter().map(|id| vocabulary.intern(&id.to_string())));
            ends.push(words.len());
        }
        let sentences = Sentences::from_words(sizes.iter().copied(), words, ends);
        let counts = document_counts(&sentences, order, 1, false, threads).0.concat();
        let words: Vec<&str> = vocabulary.words().collect();
        let kind = Kind { order, stem: false, tokenizer: TOKEN_IDS.to_owned() };
        Self::of(kind, &words, counts, sentences.image_count() as u64)
    }

    /// Builds from counts of n-grams over any numbering of distinct words, cut by an unknown tokenizer; words that all
    /// are whole numbers are token ids.
    pub fn from_counts(words: &[&str], counts: Vec<(Ngram, u32)>, documents: u64, order: usize) -> Self {
        let is_id = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
        let tokenizer = if !words.is_empty() && words.iter().all(is_id) { TOKEN_IDS } else { UNKNOWN };
        Self::of(Kind { order, stem: false, tokenizer: tokenizer.to_owned() }, words, counts, documents)
    }

    fn of(kind: Kind, words: &[&str], counts: Vec<(Ngram, u32)>, documents: u64) -> Self {
        let (words, numbers) = sorted(words);
        let entries: Vec<_> = counts.into_iter().map(|(ngram, count)| (renumber(ngram, &numbers), count)).collect();
        Self::new(kind, words, Frequencies::from_entries(documents, &[entries]))
    }

    /// `words` are in alphabetical order.
    fn new(kind: Kind, words: Vocabulary, frequencies: Frequencies) -> Self {
        let idf = Idf::new(frequencies.documents);
        Self { kind, words, frequencies, idf }
    }

    /// In how many documents the n-gram of these words occurs.
    pub fn count(&self, words: &[&str]) -> u32 {
        if words.len() > MAX_ORDER {
            return 0;
        }
        let numbers: Option<Vec<Word>> = words.iter().map(|word| self.words.number(word)).collect();
        numbers.map_or(0, |numbers| self.frequencies.get(Ngram::new(&numbers)))
    }

    /// The sum: what building over both sets of references at once would give, as long as they share no image.
    pub fn merge(&self, other: &Self) -> Result<Self, Refused> {
        self.kind.check(&other.kind)?;
        let mut union = Vocabulary::default();
        let mut counts: FxHashMap<Ngram, u32> = FxHashMap::default();
        for side in [self, other] {
            let numbers: Vec<Word> = side.words.words().map(|word| union.intern(word)).collect();
            for (ngram, count) in side.frequencies.iter() {
                let sum = counts.entry(renumber(ngram, &numbers)).or_default();
                *sum = sum.checked_add(count).ok_or_else(overflow)?;
            }
        }
        let documents = self.frequencies.documents + other.frequencies.documents;
        let words: Vec<&str> = union.words().collect();
        Ok(Self::of(self.kind.clone(), &words, counts.into_iter().collect(), documents))
    }

    /// Look-ups by the word numbers of another vocabulary.
    pub fn lookup<'w>(&self, words: impl Iterator<Item = &'w str>) -> Lookup {
        let counted = |word| {
            let number = self.words.number(word)?;
            Some((number, self.frequencies.get(Ngram::new(&[number]))))
        };
        let of_texts = ![UNKNOWN, TOKEN_IDS].contains(&&*self.kind.tokenizer);
        Lookup { words: words.map(counted).collect(), frequencies: self.frequencies.clone(), of_texts }
    }

    /// The number of each token id, where every word is one in decimal; otherwise a word that is not.
    pub fn token_ids(&self) -> Result<Vec<Option<Word>>, String> {
        let mut words = Vec::new();
        for (word, number) in self.words.words().zip(0..) {
            let id = word.parse().ok().filter(|id: &u32| *id <= LARGEST_ID && id.to_string() == word);
            let id = id.ok_or_else(|| word.to_owned())? as usize;
            words.resize(words.len().max(id + 1), None);
            words[id] = Some(number);
        }
        Ok(words)
    }
}

fn renumber(ngram: Ngram, numbers: &[Word]) -> Ngram {
    ngram.words().fold(Ngram::default(), |ngram, word| ngram.push(numbers[word as usize]))
}

/// Document frequencies as a corpus asks for them, by its own word numbers.
#[derive(Debug, Clone)]
pub struct Lookup {
    frequencies: Frequencies,
    /// For each word, its number among those counted, and its count.
    words: Vec<Option<(Word, u32)>>,
    /// Whether they were counted here, so that no n-gram is in more documents than the one that it begins with. What was
    /// imported may say anything.
    of_texts: bool,
}

impl Lookup {
    /// In how many documents each of an image's n-grams occurs, by its number there.
    ///
    /// One order after the other, so that nothing is looked up that begins with an n-gram which is in no document. The
    /// look-ups of an order are made together.
    pub fn of_image(&self, ngrams: &ImageNgrams) -> Vec<u32> {
        let (renumbered, by_order) = self.all_known(ngrams);
        let mut counts = vec![0; ngrams.distinct()];
        for &number in &by_order[0] {
            counts[number as usize] = self.words[ngrams.last_word(number) as usize].map_or(0, |(_, count)| count);
        }
        for mut numbers in by_order.into_iter().skip(1) {
            if self.of_texts {
                numbers.retain(|&number| ngrams.prefix(number).is_some_and(|prefix| counts[prefix as usize] > 0));
            }
            let batch: Vec<Ngram> = numbers.iter().map(|&number| renumbered[number as usize]).collect();
            for (number, count) in numbers.into_iter().zip(self.frequencies.get_all(&batch)) {
                counts[number as usize] = count;
            }
        }
        counts
    }

    /// An image's n-grams by the numbers of the counted words, and which of each order have counted words alone.
    fn all_known(&self, ngrams: &ImageNgrams) -> (Vec<Ngram>, [Vec<u32>; MAX_ORDER]) {
        let mut renumbered = Vec::with_capacity(ngrams.distinct());
        let mut by_order: [Vec<u32>; MAX_ORDER] = Default::default();
        for number in 0..ngrams.distinct() as u32 {
            let word = self.words.get(ngrams.last_word(number) as usize).copied().flatten();
            let before = ngrams.prefix(number).map(|prefix| renumbered[prefix as usize]);
            let ngram = match word {
                Some((word, _)) if before != Some(Ngram::default()) => before.unwrap_or_default().push(word),
                _ => Ngram::default(),
            };
            renumbered.push(ngram);
            if ngram != Ngram::default() {
                by_order[ngram.order() - 1].push(number);
            }
        }
        (renumbered, by_order)
    }
}

// The file of document frequencies: one header, then blocks that are used directly from the memory-mapped file.
//
// All numbers are little-endian. Header: magic (8 bytes), version (u32), CRC-32 of everything after it (u32),
// order (u32), stems or word forms (u32: 1 or 0), tokenizer name length (u32), zero (u32), words (u64), text length
// (u64), n-grams (u64), documents (u64).
// Then: tokenizer name, word text, word ends (u32 each), and the block of [`Frequencies`].

const VERSION: u32 = 1;
const HEADER: usize = 64;

fn damaged(what: &str) -> Refused {
    Refused(format!("damaged document-frequency file ({what}); build it again with `sacrecap df build`"))
}

/// All bytes of a file before the block of its counts, without the checksum.
fn head(kind: &Kind, documents: u64, words: &Vocabulary, entries: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + words.text.len() + 4 * words.len());
    bytes.extend(MARK);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend([0; 4]);
    for number in [kind.order, usize::from(kind.stem), kind.tokenizer.len(), 0] {
        bytes.extend((number as u32).to_le_bytes());
    }
    for number in [words.len() as u64, words.text.len() as u64, entries as u64, documents] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(kind.tokenizer.as_bytes());
    bytes.extend(words.text.as_bytes());
    words.ends.iter().for_each(|&end| bytes.extend((end as u32).to_le_bytes()));
    bytes
}

impl DocumentFrequency {
    /// The bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Frequencies { bytes: block, layout, .. } = &self.frequencies;
        let mut bytes = head(&self.kind, self.frequencies.documents, &self.words, self.frequencies.ngram_count());
        bytes.extend(&block[layout.start..layout.end()]);
        seal(&mut bytes);
        bytes
    }

    /// Reads a file that is already in memory or mapped into it; the counts stay where they are.
    pub fn from_bytes(shared: &SharedBytes) -> Result<Self, Refused> {
        let bytes: &[u8] = shared;
        if !bytes.starts_with(MARK) {
            return Err(Refused(
                "not a document-frequency file of sacrecap; make one with `sacrecap df build REFERENCES -o FILE`, or from a \
                 COCO pickle with `sacrecap df import PICKLE -o FILE`"
                    .to_owned(),
            ));
        }
        if bytes.len() < HEADER {
            return Err(damaged("it ends within its header"));
        }
        let version = read_u32(bytes, 8);
        if version != VERSION {
            return Err(Refused(format!(
                "document-frequency file of format version {version}, this sacrecap reads version {VERSION}; build it again \
                 with `sacrecap df build`"
            )));
        }
        if crc32fast::hash(&bytes[CHECKED_FROM..]) != read_u32(bytes, 12) {
            return Err(damaged("its checksum does not match: cut off or changed"));
        }
        let inconsistent = || damaged("its parts do not fit together");
        let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes")) as usize;
        let order = read_u32(bytes, 16) as usize;
        let (words, text, entries) = (number(32), number(40), number(48));
        let name_end = HEADER + read_u32(bytes, 24) as usize;
        let text_end = name_end.checked_add(text).ok_or_else(inconsistent)?;
        let start = words.checked_mul(4).and_then(|size| size.checked_add(text_end)).ok_or_else(inconsistent)?;
        if entries > bytes.len() || start > bytes.len() || !(1..=MAX_ORDER).contains(&order) {
            return Err(inconsistent());
        }
        let layout = Layout::new(start, entries);
        if layout.end() != bytes.len() {
            return Err(inconsistent());
        }
        let string = |range: std::ops::Range<usize>| {
            String::from_utf8(bytes[range].to_vec()).map_err(|_| damaged("a word is not UTF-8"))
        };
        let ends = (text_end..start).step_by(4).map(|at| read_u32(bytes, at) as usize).collect();
        let words = Vocabulary::of_text(string(name_end..text_end)?, ends).ok_or_else(inconsistent)?;
        let frequencies = Frequencies { documents: number(56) as u64, bytes: shared.clone(), layout };
        if !frequencies.is_consistent(words.len()) {
            return Err(inconsistent());
        }
        let kind = Kind { order, stem: read_u32(bytes, 20) == 1, tokenizer: string(HEADER..name_end)? };
        Ok(Self::new(kind, words, frequencies))
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

#[cfg(test)]
mod named_tests {
    use super::*;
    use crate::text::ngram::NgramCounter;
    use proptest::prelude::*;

    impl Lookup {
        /// In how many documents the n-gram of the corpus occurs; 0 when never.
        pub(super) fn get(&self, ngram: Ngram) -> u32 {
            self.known(ngram).map_or(0, |ngram| self.frequencies.get(ngram))
        }

        /// The n-gram by the numbers of the counted words; None where one was not counted.
        fn known(&self, ngram: Ngram) -> Option<Ngram> {
            let mut words = ngram.words();
            words.try_fold(Ngram::default(), |known, word| {
                let (word, _) = (*self.words.get(word as usize)?)?;
                Some(known.push(word))
            })
        }
    }

    proptest! {
        /// Those that were counted, of which some may be left out, and those that came from elsewhere and say anything.
        #[test]
        fn an_image_is_looked_up_as_each_of_its_ngrams(
            documents in prop::collection::vec(prop::collection::vec(0_u32..5, 1..7), 1..8),
            imported in prop::collection::vec((prop::collection::vec(0_u32..5, 1..5), 0_u32..9), 0..30),
            sentences in prop::collection::vec(prop::collection::vec(0_u32..7, 0..7), 1..4),
            minimum in 1_u32..3,
        ) {
            let words = ["a", "b", "c", "d", "e", "f", "g"];
            let ends = documents.iter().scan(0, |end, own| { *end += own.len(); Some(*end) }).collect();
            let corpus = Sentences::from_words(documents.iter().map(|_| 1), documents.concat(), ends);
            let counts = document_counts(&corpus, MAX_ORDER, minimum, false, 1).0.concat();
            let counted = DocumentFrequency::from_counts(&words[..5], counts, documents.len() as u64, MAX_ORDER);
            let counted = DocumentFrequency { kind: Kind { tokenizer: "ptb".to_owned(), ..counted.kind }, ..counted };
            let distinct: FxHashMap<_, _> = imported.iter().map(|(words, count)| (Ngram::new(words), *count)).collect();
            let imported = DocumentFrequency::from_counts(&words[..5], distinct.into_iter().collect(), 9, MAX_ORDER);
            let ngrams = NgramCounter::default().count([].into_iter(), sentences.iter().map(|words| &words[..]));
            for frequencies in [counted, imported] {
                let lookup = frequencies.lookup(words.into_iter());
                let each: Vec<u32> = ngrams.ngrams().into_iter().map(|ngram| lookup.get(ngram)).collect();
                prop_assert_eq!(lookup.of_image(&ngrams), each);
            }
        }
    }
}

#[cfg(test)]
mod file_tests {
    use super::*;
    use crate::text::ngram::Ngram;

    fn example() -> DocumentFrequency {
        let counts = vec![(Ngram::new(&[0]), 3), (Ngram::new(&[1, 0]), 1), (Ngram::new(&[1]), 2)];
        DocumentFrequency::from_counts(&["dog", "a"], counts, 3, 4)
    }

    fn read(bytes: &[u8]) -> Result<DocumentFrequency, Refused> {
        DocumentFrequency::from_bytes(&SharedBytes::new(bytes.to_vec()))
    }

    #[test]
    fn a_file_reads_back_to_the_same_bytes() {
        let bytes = example().to_bytes();
        let read = read(&bytes).unwrap();
        assert_eq!(read.to_bytes(), bytes);
        let lookup = read.lookup(["dog", "cat", "a"].into_iter());
        assert_eq!(lookup.get(Ngram::new(&[2, 0])), 1);
        assert_eq!(lookup.get(Ngram::new(&[1])), 0);
    }

    #[test]
    fn every_cut_and_every_changed_byte_is_noticed() {
        let bytes = example().to_bytes();
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end]).is_err());
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(read(&changed).is_err(), "byte {at}");
        }
    }

    #[test]
    fn merging_is_addition_in_either_order() {
        let (one, other) = (
            example(),
            DocumentFrequency::from_counts(&["cat", "a"], vec![(Ngram::new(&[1]), 5), (Ngram::new(&[0]), 1)], 6, 4),
        );
        let sum = one.merge(&other).unwrap();
        assert_eq!(sum.to_bytes(), other.merge(&one).unwrap().to_bytes());
        assert_eq!(sum.frequencies.documents, 9);
        let lookup = sum.lookup(["a", "cat"].into_iter());
        assert_eq!((lookup.get(Ngram::new(&[0])), lookup.get(Ngram::new(&[1]))), (7, 1));
    }
}
