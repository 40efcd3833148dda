//! The file of document frequencies: one header, then blocks that are used directly from the memory-mapped file.
//!
//! All numbers are little-endian. Header: magic (8 bytes), version (u32), CRC-32 of everything after it (u32),
//! order (u32), stems or word forms (u32: 1 or 0), tokenizer name length (u32), zero (u32), words (u64), text length
//! (u64), n-grams (u64), documents (u64).
//! Then: tokenizer name, word text, word ends (u32 each), and the block of [`Frequencies`].

use super::{DocumentFrequency, Frequencies, Kind, Layout, read_u32};
use crate::Refused;
use crate::tables::mark::DOCUMENT_FREQUENCIES as MARK;
use crate::tables::{CHECKED_FROM, SharedBytes, seal};
use crate::text::ngram::MAX_ORDER;
use crate::text::vocabulary::Vocabulary;

const VERSION: u32 = 1;
const HEADER: usize = 64;

fn damaged(what: &str) -> Refused {
    Refused(format!("damaged document-frequency file ({what}); build it again with `sacrecap df build`"))
}

/// All bytes of a file before the block of its counts, without the checksum.
pub(super) fn head(kind: &Kind, documents: u64, words: &Vocabulary, entries: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + words.text().len() + 4 * words.len());
    bytes.extend(MARK);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend([0; 4]);
    for number in [kind.order, usize::from(kind.stem), kind.tokenizer.len(), 0] {
        bytes.extend((number as u32).to_le_bytes());
    }
    for number in [words.len() as u64, words.text().len() as u64, entries as u64, documents] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(kind.tokenizer.as_bytes());
    bytes.extend(words.text().as_bytes());
    words.ends().iter().for_each(|&end| bytes.extend((end as u32).to_le_bytes()));
    bytes
}

impl DocumentFrequency {
    /// The bytes of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Frequencies { bytes: block, layout, .. } = &self.frequencies;
        let mut bytes = head(&self.kind, self.documents(), &self.words, self.frequencies.ngram_count());
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
        assert_eq!(sum.documents(), 9);
        let lookup = sum.lookup(["a", "cat"].into_iter());
        assert_eq!((lookup.get(Ngram::new(&[0])), lookup.get(Ngram::new(&[1]))), (7, 1));
    }
}
