//! The file of METEOR's tables.

use std::ops::Range;

use super::paraphrases::Paraphrases;
use super::{Resources, prefix_table};
use crate::tables::layout::{Strings, ToCheck};
use crate::tables::{FileError, Format, SharedBytes, mark};
use crate::wordnet::Meanings;

/// Function words, prefixes, prefixes before numbers (2 each), synonyms, exceptions, paraphrases (4, 4, 6), then
/// [`ENGLISH`] (1).
const SECTIONS: usize = 21;
/// METEOR's name of the language, and a `+` for paraphrases: tables of no other kind are read.
const ENGLISH: &[u8] = b"en+";
const FORMAT: Format<SECTIONS> = Format { name: "a file of METEOR's tables", magic: mark::METEOR, version: 2 };

impl Resources {
    /// The version of the file's format.
    pub const VERSION: u32 = FORMAT.version;

    /// Reads a file that is already in memory or mapped into it; the tables stay where they are.
    pub fn from_bytes(shared: &SharedBytes) -> Result<Self, FileError> {
        let bytes = (**shared).as_ref();
        Self::read(shared, FORMAT.read(bytes)?, Some(bytes))
    }

    /// As [`Resources::from_bytes`], of a file that it has read before and that did not change since: a word is read
    /// when it is looked up.
    pub fn from_checked(shared: &SharedBytes) -> Result<Self, FileError> {
        Self::read(shared, FORMAT.read_header((**shared).as_ref())?, None)
    }

    fn read(
        shared: &SharedBytes,
        (sections, checksum): ([Range<usize>; SECTIONS], u32),
        to_check: ToCheck<'_>,
    ) -> Result<Self, FileError> {
        let bytes = (**shared).as_ref();
        let read = || {
            let s = |section: usize| &sections[section];
            let strings = |first: usize| Strings::new(to_check, [s(first), s(first + 1)]);
            let meanings = |first: usize| Meanings::new(to_check, [s(first), s(first + 1), s(first + 2), s(first + 3)]);
            let paraphrases = Paraphrases::new(to_check, strings(14)?, [s(16), s(17)], [s(18), s(19)])?;
            (&bytes[s(20).clone()] == ENGLISH).then_some(())?;
            Some(Self {
                bytes: shared.clone(),
                checksum,
                function_words: strings(0)?.iter(bytes).map(Into::into).collect(),
                prefixes: prefix_table(bytes, &strings(2)?, &strings(4)?),
                synonyms: meanings(6)?,
                exceptions: meanings(10)?,
                paraphrases,
            })
        };
        read().ok_or_else(|| FORMAT.damaged())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::metrics::meteor::tests::resources;
    use crate::tables::test_reader;

    fn read(bytes: &[u8]) -> Result<Resources, FileError> {
        Resources::from_bytes(&(Arc::new(bytes.to_vec()) as SharedBytes))
    }

    #[test]
    fn a_file_reads_back() {
        let built = resources();
        let read = read(built.as_bytes()).unwrap();
        assert_eq!(read.as_bytes(), built.as_bytes());
        assert_eq!(read.checksum(), built.checksum());
        assert_eq!(read.synonym_sets("dogs"), built.synonym_sets("dogs"));
    }

    #[test]
    fn a_file_known_to_be_good_is_not_read_whole() {
        let built = resources();
        let mut bytes = built.as_bytes().to_vec();
        let known = |bytes: &[u8]| Resources::from_checked(&(Arc::new(bytes.to_vec()) as SharedBytes));
        assert_eq!(known(&bytes).unwrap().synonym_sets("dogs"), built.synonym_sets("dogs"));
        assert!(known(&bytes[..bytes.len() - 1]).is_err());
        bytes[12] ^= 1; // the checksum
        assert_eq!(known(&bytes).unwrap().synonym_sets("dogs"), built.synonym_sets("dogs"));
        bytes[8] ^= 1; // the version
        assert!(known(&bytes).is_err());
    }

    #[test]
    fn a_damaged_file_is_an_error_and_a_deceiving_one_never_panics() {
        let align = |resources: &Resources| {
            crate::metrics::meteor::align(resources, "a big dog runs in the park", "a large dog in a lot of dogs ran");
        };
        test_reader(resources().as_bytes(), read, align);
    }
}
