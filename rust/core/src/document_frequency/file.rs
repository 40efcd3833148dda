//! The file of document frequencies: one header, then blocks that are used directly from the memory-mapped file.
//!
//! All numbers are little-endian. Header: magic (8 bytes), version (u32), CRC-32 of everything after it (u32),
//! order (u32), stems or word forms (u32: 1 or 0), tokenizer name length (u32), zero (u32), words (u64), text length
//! (u64), n-grams (u64), documents (u64).
//! Then: tokenizer name, word text, word ends (u32 each), and the block of [`Frequencies`].

use super::{DocumentFrequency, Frequencies, Layout, read_u32};
use crate::tables::SharedBytes;
use crate::tables::mark::DOCUMENT_FREQUENCIES as MARK;
use crate::text::ngram::MAX_ORDER;
use crate::text::vocabulary::Vocabulary;

const VERSION: u32 = 1;
const HEADER: usize = 64;
/// The checksum covers what follows it.
const CHECKED_FROM: usize = 16;

/// Why bytes are not document frequencies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileError {
    /// The magic bytes are missing.
    NotOurs,
    /// A version this release cannot read.
    Version(u32),
    /// Cut off, or changed after it was written.
    Damaged(&'static str),
}

impl std::fmt::Display for FileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotOurs => write!(
                f,
                "not a document-frequency file of sacrecap; make one with `sacrecap df build REFERENCES -o FILE`, or from a \
                 COCO pickle with `sacrecap df import PICKLE -o FILE`"
            ),
            Self::Version(version) => write!(
                f,
                "document-frequency file of format version {version}, this sacrecap reads version {VERSION}; build it again \
                 with `sacrecap df build`"
            ),
            Self::Damaged(what) => {
                write!(f, "damaged document-frequency file ({what}); build it again with `sacrecap df build`")
            }
        }
    }
}

impl std::error::Error for FileError {}

/// What a file says of its counts.
pub(super) struct Head<'a> {
    pub(super) order: usize,
    pub(super) stem: bool,
    pub(super) tokenizer: &'a str,
    pub(super) documents: u64,
}

impl Head<'_> {
    /// The checksum, four bytes, ends here and covers what follows.
    pub(super) const CHECKED_FROM: usize = CHECKED_FROM;

    /// All bytes of a file before the block of its counts, without the checksum.
    pub(super) fn bytes(&self, words: &Vocabulary, entries: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER + words.text().len() + 4 * words.len());
        bytes.extend(MARK);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend([0; 4]);
        for number in [self.order, usize::from(self.stem), self.tokenizer.len(), 0] {
            bytes.extend((number as u32).to_le_bytes());
        }
        for number in [words.len(), words.text().len(), entries] {
            bytes.extend((number as u64).to_le_bytes());
        }
        bytes.extend(self.documents.to_le_bytes());
        bytes.extend(self.tokenizer.as_bytes());
        bytes.extend(words.text().as_bytes());
        words.ends().iter().for_each(|&end| bytes.extend((end as u32).to_le_bytes()));
        bytes
    }
}

impl DocumentFrequency {
    /// The bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let layout = self.frequencies.layout;
        let block = &self.frequencies.block()[layout.start..layout.end()];
        let head = Head { order: self.order, stem: self.stem, tokenizer: &self.tokenizer, documents: self.documents() };
        let mut bytes = head.bytes(&self.words, self.frequencies.len());
        bytes.extend(block);
        let checksum = crc32fast::hash(&bytes[CHECKED_FROM..]);
        bytes[CHECKED_FROM - 4..CHECKED_FROM].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads a file that is already in memory or mapped into it; the counts stay where they are.
    pub fn from_bytes(shared: &SharedBytes) -> Result<Self, FileError> {
        let bytes = (**shared).as_ref();
        if bytes.len() < MARK.len() || &bytes[..MARK.len()] != MARK {
            return Err(FileError::NotOurs);
        }
        if bytes.len() < HEADER {
            return Err(FileError::Damaged("it ends within its header"));
        }
        let version = read_u32(bytes, 8);
        if version != VERSION {
            return Err(FileError::Version(version));
        }
        if crc32fast::hash(&bytes[CHECKED_FROM..]) != read_u32(bytes, 12) {
            return Err(FileError::Damaged("its checksum does not match: cut off or changed"));
        }
        Self::from_checked(shared)
    }

    fn from_checked(shared: &SharedBytes) -> Result<Self, FileError> {
        let bytes = (**shared).as_ref();
        let inconsistent = || FileError::Damaged("its parts do not fit together");
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
            String::from_utf8(bytes[range].to_vec()).map_err(|_| FileError::Damaged("a word is not UTF-8"))
        };
        let ends = (text_end..start).step_by(4).map(|at| read_u32(bytes, at) as usize).collect();
        let words = Vocabulary::of_text(string(name_end..text_end)?, ends).ok_or_else(inconsistent)?;
        let frequencies = Frequencies { documents: number(56) as u64, bytes: shared.clone(), layout };
        if !frequencies.is_consistent(words.len()) {
            return Err(inconsistent());
        }
        Ok(Self::new(order, string(HEADER..name_end)?, read_u32(bytes, 20) == 1, words, frequencies))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::ngram::Ngram;
    use std::sync::Arc;

    fn example() -> DocumentFrequency {
        let counts = vec![(Ngram::new(&[0]), 3), (Ngram::new(&[1, 0]), 1), (Ngram::new(&[1]), 2)];
        DocumentFrequency::from_counts(&["dog", "a"], counts, 3, 4)
    }

    fn read(bytes: &[u8]) -> Result<DocumentFrequency, FileError> {
        DocumentFrequency::from_bytes(&(Arc::new(bytes.to_vec()) as SharedBytes))
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
        assert_eq!(sum.documents(), 9);
        let lookup = sum.lookup(["a", "cat"].into_iter());
        assert_eq!((lookup.get(Ngram::new(&[0])), lookup.get(Ngram::new(&[1]))), (7, 1));
    }
}
