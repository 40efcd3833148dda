//! Document frequencies counted batch by batch, in bounded memory: what is more goes to disk.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::PathBuf;
use std::sync::Mutex;

use rustc_hash::FxHashMap;

use super::count::document_counts;
use super::named::renumber;
use super::{DocumentFrequency, MergeError};
use crate::corpus::{References, Stems};
use crate::numeric::parallel::{map_parts, thread_count};
use crate::text::ngram::Ngram;
use crate::text::vocabulary::{Vocabulary, Word};

/// Tables by the first two words of n-grams: one at a time is filled, so that it stays in the cache.
const TABLES: usize = 512;

/// Bytes that a table takes per n-gram, at most: key and count, in a table that may be half full.
const ENTRY: usize = 64;

/// So many times more n-grams than while they are counted fit into the frequencies that are made of them.
const KEPT: usize = 2;

/// Bytes of an n-gram and its count in a run on disk.
const RECORD: usize = 20;

type Table = FxHashMap<Ngram, u32>;

/// Counts so far.
#[derive(Debug)]
pub struct Counter {
    order: usize,
    stem: bool,
    tokenizer: String,
    /// The words of all batches, in the order of their coming.
    vocabulary: Vocabulary,
    tables: Vec<Mutex<Table>>,
    documents: u64,
    /// N-grams that the tables may hold.
    most: usize,
    folder: PathBuf,
    /// Sorted n-grams and counts that went to disk.
    runs: Vec<File>,
}

/// Why counting failed.
#[derive(Debug)]
pub enum CounterError {
    /// The disk.
    Disk(io::Error),
    /// Frequencies of other things.
    Merge(MergeError),
    /// N-grams that are in several documents, more than memory was granted for.
    TooMany(usize),
}

impl From<io::Error> for CounterError {
    fn from(error: io::Error) -> Self {
        Self::Disk(error)
    }
}

impl Counter {
    /// Of n-grams of orders 1 to `order` of words, or stems, that this tokenizer cuts; in about `memory` bytes, with the
    /// rest in files in the folder, which have no names and so vanish with the counter.
    pub fn new(order: usize, stem: bool, tokenizer: &str, memory: usize, folder: PathBuf) -> Self {
        Self {
            order,
            stem,
            tokenizer: tokenizer.to_owned(),
            vocabulary: Vocabulary::default(),
            tables: (0..TABLES).map(|_| Mutex::default()).collect(),
            documents: 0,
            most: memory / ENTRY,
            folder,
            runs: Vec::new(),
        }
    }

    /// Number of documents so far.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Number of runs on disk.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// Counts the references of each image as a document.
    ///
    /// # Errors
    /// When the disk does not take what memory does not hold.
    pub fn add(&mut self, references: &References, threads: usize) -> Result<(), CounterError> {
        let stems = self.stem.then(|| Stems::of(&references.vocabulary));
        let numbers = stems.as_ref().map(|stems| &stems.numbers[..]);
        let vocabulary = stems.as_ref().map_or(&references.vocabulary, |stems| &stems.vocabulary);
        let counts = document_counts(&references.sentences, numbers, self.order, 1, threads).ngrams;
        let known: Vec<Word> = vocabulary.words().map(|word| self.vocabulary.intern(word)).collect();
        self.documents += references.images.len() as u64;
        self.add_all(&counts, &known, threads)
    }

    /// Adds what was counted elsewhere.
    ///
    /// # Errors
    /// Where it counts other things, and as [`Self::add`].
    pub fn merge(&mut self, other: &DocumentFrequency, threads: usize) -> Result<(), CounterError> {
        if other.order != self.order {
            return Err(CounterError::Merge(MergeError::Order(self.order, other.order)));
        }
        if (&other.tokenizer, other.stem) != (&self.tokenizer, self.stem) {
            let own = format!("{} {}", self.tokenizer, if self.stem { "stems" } else { "tokens" });
            return Err(CounterError::Merge(MergeError::Words(own, other.word_kind())));
        }
        let known: Vec<Word> = other.words().map(|word| self.vocabulary.intern(word)).collect();
        let counts: Vec<(Ngram, u32)> = other.frequencies().iter().collect();
        self.documents += other.documents();
        self.add_all(&counts, &known, threads)
    }

    /// Adds counts of distinct n-grams, whose words have these numbers here.
    fn add_all(&mut self, counts: &[(Ngram, u32)], known: &[Word], threads: usize) -> Result<(), CounterError> {
        let threads = thread_count(threads);
        // Each thread shares its part of the counts out among the tables.
        let shares: Vec<Vec<Vec<(Ngram, u32)>>> = map_parts(counts.len(), threads, |part| {
            let mut shares = vec![Vec::new(); TABLES];
            for &(ngram, count) in &counts[part] {
                let ngram = renumber(ngram, known);
                shares[table_of(ngram)].push((ngram, count));
            }
            shares
        });
        let tables = &self.tables;
        let overflow = map_parts(TABLES, threads, |own| {
            own.into_iter().any(|number| {
                let mut table = tables[number].lock().expect("no thread panicked");
                shares.iter().flat_map(|share| &share[number]).any(|&(ngram, count)| {
                    let sum = table.entry(ngram).or_default();
                    let added = sum.checked_add(count);
                    *sum = added.unwrap_or(u32::MAX);
                    added.is_none()
                })
            })
        });
        if overflow.contains(&true) {
            return Err(CounterError::Merge(MergeError::Overflow));
        }
        if self.held() > self.most { self.spill() } else { Ok(()) }
    }

    /// N-grams in memory.
    fn held(&mut self) -> usize {
        self.tables.iter_mut().map(|table| table.get_mut().expect("no thread panicked").len()).sum()
    }

    /// The n-grams in memory with at least that count; the tables are empty afterwards.
    fn drain(&mut self, minimum: u32) -> Vec<(Ngram, u32)> {
        let mut all = Vec::new();
        for table in &mut self.tables {
            let table = std::mem::take(table.get_mut().expect("no thread panicked"));
            all.extend(table.into_iter().filter(|&(_, count)| count >= minimum));
        }
        all
    }

    /// Writes what is in memory as a sorted run.
    fn spill(&mut self) -> Result<(), CounterError> {
        let path = self.folder.join(format!("ngrams-{}-{}-{}", self.order, self.stem, self.runs.len()));
        let file = File::options().read(true).write(true).create_new(true).open(&path)?;
        let mut writer = BufWriter::with_capacity(1 << 20, file);
        let mut counts = self.drain(0);
        counts.sort_unstable();
        for (ngram, count) in counts {
            writer.write_all(&ngram.key().to_le_bytes())?;
            writer.write_all(&count.to_le_bytes())?;
        }
        let mut file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        self.runs.push(file);
        Ok(())
    }

    /// The frequencies of n-grams that occur in at least `minimum` documents.
    ///
    /// # Errors
    /// When the disk fails, a count is above what 32 bits hold, or those n-grams are more than memory was granted for.
    pub fn finish(mut self, minimum: u32) -> Result<DocumentFrequency, CounterError> {
        let kept: Vec<(Ngram, u32)> = if self.runs.is_empty() {
            self.drain(minimum)
        } else {
            self.spill()?;
            let runs = self.runs.drain(..).map(|file| Run(BufReader::with_capacity(1 << 18, file))).collect();
            merged(runs, minimum, self.most.saturating_mul(KEPT))?
        };
        let words: Vec<&str> = self.vocabulary.words().collect();
        let counted = DocumentFrequency::from_counts(&words, kept, self.documents, self.order);
        Ok(DocumentFrequency { tokenizer: self.tokenizer, stem: self.stem, ..counted })
    }
}

/// The table of an n-gram, by its first two words: a common first word has too many n-grams for one.
fn table_of(ngram: Ngram) -> usize {
    let first = ngram.words().take(2).fold(0_u32, |first, word| first.wrapping_mul(0x85eb_ca6b).wrapping_add(word + 1));
    (first.wrapping_mul(0x9e37_79b9) >> 16) as usize % TABLES
}

/// A sorted run on disk.
struct Run(BufReader<File>);

impl Run {
    fn next(&mut self) -> io::Result<Option<(Ngram, u32)>> {
        let mut record = [0; RECORD];
        match self.0.read_exact(&mut record) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
        let (key, count) = record.split_at(16);
        let key = u128::from_le_bytes(key.try_into().expect("sixteen bytes"));
        Ok(Some((Ngram::from_key(key), u32::from_le_bytes(count.try_into().expect("four bytes")))))
    }
}

/// The sums over sorted runs of counts that reach the least number of documents.
fn merged(mut runs: Vec<Run>, minimum: u32, most: usize) -> Result<Vec<(Ngram, u32)>, CounterError> {
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    let mut heads: BinaryHeap<Reverse<(Ngram, usize, u32)>> = BinaryHeap::new();
    for (number, run) in runs.iter_mut().enumerate() {
        heads.extend(run.next()?.map(|(ngram, count)| Reverse((ngram, number, count))));
    }
    let mut kept: Vec<(Ngram, u32)> = Vec::new();
    let mut current: Option<(Ngram, u32)> = None;
    while let Some(Reverse((ngram, number, count))) = heads.pop() {
        heads.extend(runs[number].next()?.map(|(ngram, count)| Reverse((ngram, number, count))));
        current = match current {
            Some((known, sum)) if known == ngram => {
                Some((known, sum.checked_add(count).ok_or(CounterError::Merge(MergeError::Overflow))?))
            }
            other => {
                kept.extend(other.filter(|&(_, sum)| sum >= minimum));
                Some((ngram, count))
            }
        };
        if kept.len() > most {
            return Err(CounterError::TooMany(kept.len()));
        }
    }
    kept.extend(current.filter(|&(_, sum)| sum >= minimum));
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::captions::CaptionsBuilder;
    use crate::text::tokenize::Tokenizer;

    fn references(images: std::ops::Range<usize>) -> References {
        let mut builder = CaptionsBuilder::new();
        for image in images.clone() {
            for caption in 0..3 {
                let words: Vec<String> =
                    (0..8).map(|k| format!("w{}", (image * 7 + caption * 5 + k * k) % 23)).collect();
                builder.caption(&image.to_string(), &words.join(" "));
            }
        }
        let numbers: Vec<u32> = (0..images.len() as u32).collect();
        References::encode(&builder.finish(), &numbers, Tokenizer::Ptb, 1)
    }

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("capeval-counter-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn parts_count_as_the_whole_with_any_memory() {
        let whole = DocumentFrequency::build(&references(0..40), false, 4, 1);
        for (memory, threads) in [(0, 1), (20 * ENTRY, 2), (1 << 20, 3)] {
            let folder = folder(&memory.to_string());
            let mut counter = Counter::new(4, false, "ptb", memory, folder.clone());
            for part in [30..40, 0..1, 1..30] {
                counter.add(&references(part), threads).unwrap();
            }
            assert_eq!(counter.runs() > 0, memory < 1 << 20);
            counter.most = usize::MAX;
            assert_eq!(counter.finish(1).unwrap().to_bytes(), whole.to_bytes(), "{memory}");
            std::fs::remove_dir_all(folder).unwrap();
        }
    }

    #[test]
    fn what_was_counted_elsewhere_is_added() {
        let whole = DocumentFrequency::build(&references(0..20), true, 3, 1);
        let mut counter = Counter::new(3, true, "ptb", 1 << 20, std::env::temp_dir());
        counter.merge(&DocumentFrequency::build(&references(5..20), true, 3, 1), 1).unwrap();
        counter.add(&references(0..5), 1).unwrap();
        assert_eq!(counter.documents(), 20);
        assert_eq!(counter.finish(1).unwrap().to_bytes(), whole.to_bytes());
        let mut counter = Counter::new(4, true, "ptb", 1 << 20, std::env::temp_dir());
        assert!(matches!(counter.merge(&whole, 1), Err(CounterError::Merge(MergeError::Order(4, 3)))));
        let mut counter = Counter::new(3, false, "ptb", 1 << 20, std::env::temp_dir());
        assert!(matches!(counter.merge(&whole, 1), Err(CounterError::Merge(MergeError::Words(..)))));
    }

    #[test]
    fn rare_ngrams_can_be_left_out() {
        let whole = DocumentFrequency::build(&references(0..40), false, 4, 1);
        let folder = folder("rare");
        let mut counter = Counter::new(4, false, "ptb", 0, folder.clone());
        counter.add(&references(0..25), 1).unwrap();
        counter.add(&references(25..40), 1).unwrap();
        counter.most = usize::MAX;
        let found = counter.finish(2).unwrap();
        let expected: Vec<_> = whole.iter().filter(|&(_, count)| count > 1).collect();
        let mut own: Vec<_> = found.iter().collect();
        own.sort();
        let mut expected = expected;
        expected.sort();
        assert_eq!(own, expected);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn more_than_memory_holds_is_said() {
        let folder = folder("many");
        let mut counter = Counter::new(4, false, "ptb", 0, folder.clone());
        counter.add(&references(0..25), 1).unwrap();
        assert!(matches!(counter.finish(1), Err(CounterError::TooMany(1))));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
