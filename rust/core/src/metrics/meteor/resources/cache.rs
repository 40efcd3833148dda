//! The cache file: a header with the lengths of its sections, then the sections, used as they lie.
//!
//! All numbers are little-endian. Header: magic (8 bytes), version (u32), CRC-32 of everything after it (u32), length
//! of each section (u64 each).

use std::ops::Range;
use std::sync::Arc;

use super::paraphrases::Paraphrases;
use super::{Meanings, Resources, prefix_table};
use crate::document_frequency::SharedBytes;
use crate::metrics::meteor::language::Language;
use crate::tables::layout::{Lists, Strings};

const MAGIC: &[u8; 8] = b"capeval\x1e";
/// To be raised with every change of the layout, or of what is made from the sources.
const VERSION: u32 = 2;
/// The checksum covers what follows it.
const CHECKED_FROM: usize = 16;
/// Function words, prefixes, prefixes before numbers (2 each), synonyms, exceptions, paraphrases (4, 4, 6), then the
/// language and whether it has paraphrases (1).
pub(super) const SECTIONS: usize = 21;
const HEADER: usize = CHECKED_FROM + 8 * SECTIONS;

/// Why bytes are not a usable cache: in every case the remedy is to build it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheError {
    /// The magic bytes are missing.
    NotOurs,
    /// Written by another release.
    Version(u32),
    /// Cut off, or changed after it was written.
    Damaged,
}

impl std::fmt::Display for CacheError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotOurs => write!(f, "not a METEOR cache of capeval"),
            Self::Version(version) => {
                write!(f, "METEOR cache of format version {version}, this capeval reads version {VERSION}")
            }
            Self::Damaged => write!(f, "damaged METEOR cache: cut off or changed after it was written"),
        }
    }
}

impl std::error::Error for CacheError {}

impl Resources {
    /// Reads a cache that is already in memory or mapped into it; the tables stay where they are.
    pub fn from_bytes(shared: &SharedBytes) -> Result<Self, CacheError> {
        let bytes = (**shared).as_ref();
        if bytes.len() < MAGIC.len() || &bytes[..MAGIC.len()] != MAGIC {
            return Err(CacheError::NotOurs);
        }
        if bytes.len() < HEADER {
            return Err(CacheError::Damaged);
        }
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let (version, checksum) = (number(8), number(12));
        if version != VERSION {
            return Err(CacheError::Version(version));
        }
        if crc32fast::hash(&bytes[CHECKED_FROM..]) != checksum {
            return Err(CacheError::Damaged);
        }
        Self::from_checked(shared, checksum).ok_or(CacheError::Damaged)
    }

    /// None when the parts do not fit together, which only a corrupt or malicious file can cause.
    fn from_checked(shared: &SharedBytes, checksum: u32) -> Option<Self> {
        let bytes = (**shared).as_ref();
        let sections = sections(bytes)?;
        let s: [&Range<usize>; SECTIONS] = std::array::from_fn(|section| &sections[section]);
        let strings = |first: usize| Strings::new(bytes, [s[first], s[first + 1]]);
        let meanings = |first: usize| {
            let words = strings(first)?;
            let sets = Lists::new(bytes, [s[first + 2], s[first + 3]], words.len())?;
            Some(Meanings { words, sets })
        };
        let paraphrases = Paraphrases::new(bytes, strings(14)?, [s[16], s[17]], [s[18], s[19]])?;
        let (language, has_paraphrases) = read_language(&bytes[s[20].clone()])?;
        Some(Self {
            language,
            has_paraphrases,
            bytes: shared.clone(),
            checksum,
            function_words: strings(0)?.iter(bytes).map(Into::into).collect(),
            prefixes: prefix_table(bytes, &strings(2)?, &strings(4)?),
            synonyms: meanings(6)?,
            exceptions: meanings(10)?,
            paraphrases,
        })
    }

    pub(super) fn from_sections(sections: &[Vec<u8>; SECTIONS]) -> Self {
        let total: usize = sections.iter().map(Vec::len).sum();
        let mut bytes = Vec::with_capacity(HEADER + total);
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(sections.iter().flat_map(|section| (section.len() as u64).to_le_bytes()));
        for section in sections {
            bytes.extend(section);
        }
        let checksum = crc32fast::hash(&bytes[CHECKED_FROM..]);
        bytes[CHECKED_FROM - 4..CHECKED_FROM].copy_from_slice(&checksum.to_le_bytes());
        let shared: SharedBytes = Arc::new(bytes);
        Self::from_checked(&shared, checksum).expect("sections that were just built fit together")
    }
}

/// The last section: METEOR's name of the language, with a `+` where there is a paraphrase table.
pub(super) fn write_language(language: Language, has_paraphrases: bool) -> Vec<u8> {
    let mark = if has_paraphrases { "+" } else { "" };
    format!("{}{mark}", language.code()).into_bytes()
}

fn read_language(section: &[u8]) -> Option<(Language, bool)> {
    let text = std::str::from_utf8(section).ok()?;
    let code = text.strip_suffix('+');
    Some((Language::from_code(code.unwrap_or(text))?, code.is_some()))
}

/// Where the sections are, if they fill the bytes exactly.
fn sections(bytes: &[u8]) -> Option<Vec<Range<usize>>> {
    let mut end = HEADER;
    let (lengths, _) = bytes[CHECKED_FROM..HEADER].as_chunks();
    let sections: Option<Vec<Range<usize>>> = lengths
        .iter()
        .map(|&length| {
            let start = end;
            end = start.checked_add(usize::try_from(u64::from_le_bytes(length)).ok()?)?;
            (end <= bytes.len()).then_some(start..end)
        })
        .collect();
    sections.filter(|_| end == bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::meteor::tests::resources;

    fn read(bytes: &[u8]) -> Result<Resources, CacheError> {
        Resources::from_bytes(&(Arc::new(bytes.to_vec()) as SharedBytes))
    }

    #[test]
    fn a_cache_reads_back() {
        let built = resources();
        let read = read(built.as_bytes()).unwrap();
        assert_eq!(read.as_bytes(), built.as_bytes());
        assert_eq!(read.checksum(), built.checksum());
        assert_eq!(read.synonym_sets("dogs"), built.synonym_sets("dogs"));
    }

    #[test]
    fn every_cut_and_every_changed_byte_is_noticed() {
        let built = resources();
        let bytes = built.as_bytes();
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end]).is_err());
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.to_vec();
            changed[at] ^= 1;
            assert!(read(&changed).is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_deceiving_file_never_panics() {
        let built = resources();
        for at in CHECKED_FROM..built.as_bytes().len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut changed = built.as_bytes().to_vec();
                changed[at] = value;
                let checksum = crc32fast::hash(&changed[CHECKED_FROM..]);
                changed[CHECKED_FROM - 4..CHECKED_FROM].copy_from_slice(&checksum.to_le_bytes());
                if let Ok(resources) = read(&changed) {
                    crate::metrics::meteor::align(
                        &resources,
                        "a big dog runs in the park",
                        "a large dog in a lot of dogs ran",
                    );
                }
            }
        }
    }
}
