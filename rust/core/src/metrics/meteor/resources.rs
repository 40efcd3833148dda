//! METEOR's knowledge of English in one block of bytes, mapped.
//!
//! The file is made of those of METEOR (LGPL) and WordNet, by `models/meteor`; it is no part of this package.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::normalize::{Prefix, Prefixes, normalize, split};
use crate::Refused;
use crate::tables::layout::{Bounds, Lists, Numbers, Strings, ToCheck};
use crate::tables::{Format, SharedBytes, mark};
use crate::wordnet::{Meanings, sets_of};

/// Function words, prefixes, prefixes before numbers (2 each), synonyms, exceptions, paraphrases (4, 4, 6), then
/// [`ENGLISH`] (1).
const SECTIONS: usize = 21;
/// METEOR's name of the language, and a `+` for paraphrases: tables of no other kind are read.
const ENGLISH: &[u8] = b"en+";
const FORMAT: Format<SECTIONS> = Format { name: "a file of METEOR's tables", magic: mark::METEOR, version: 2 };

/// Function words, abbreviations, synonym sets and paraphrases of English.
#[derive(Debug, Clone)]
pub struct Resources {
    bytes: SharedBytes,
    checksum: u32,
    function_words: FxHashSet<Box<str>>,
    prefixes: Prefixes,
    synonyms: Meanings,
    exceptions: Meanings,
    paraphrases: Paraphrases,
}

impl Resources {
    /// The version of the file's format.
    pub const VERSION: u32 = FORMAT.version;

    /// Reads a file that is already in memory or mapped into it; the tables stay where they are.
    pub fn from_bytes(shared: &SharedBytes) -> Result<Self, Refused> {
        Self::read(shared, FORMAT.read(shared)?, Some(shared))
    }

    /// As [`Resources::from_bytes`], of a file that it has read before and that did not change since: a word is read
    /// when it is looked up.
    pub fn from_checked(shared: &SharedBytes) -> Result<Self, Refused> {
        Self::read(shared, FORMAT.read_header(shared)?, None)
    }

    fn read(
        shared: &SharedBytes,
        (sections, checksum): ([Range<usize>; SECTIONS], u32),
        to_check: ToCheck<'_>,
    ) -> Result<Self, Refused> {
        let bytes: &[u8] = shared;
        let read = || {
            let s = |section: usize| &sections[section];
            let strings = |first: usize| Strings::new(to_check, [s(first), s(first + 1)]);
            let prefixes = |first: usize, kind: Prefix| -> Option<Vec<(String, Prefix)>> {
                Some(strings(first)?.iter(bytes).map(|prefix| (prefix.to_owned(), kind)).collect())
            };
            let meanings = |first: usize| Meanings::new(to_check, [s(first), s(first + 1), s(first + 2), s(first + 3)]);
            let paraphrases = Paraphrases::new(to_check, strings(14)?, [s(16), s(17)], [s(18), s(19)])?;
            (&bytes[s(20).clone()] == ENGLISH).then_some(())?;
            Some(Self {
                bytes: shared.clone(),
                checksum,
                function_words: strings(0)?.iter(bytes).map(Into::into).collect(),
                prefixes: [prefixes(2, Prefix::Always)?, prefixes(4, Prefix::BeforeNumber)?]
                    .concat()
                    .into_iter()
                    .collect(),
                synonyms: meanings(6)?,
                exceptions: meanings(10)?,
                paraphrases,
            })
        };
        read().ok_or_else(|| FORMAT.damaged())
    }

    /// The bytes of the file.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A checksum of the contents, to name them by in signatures.
    pub fn checksum(&self) -> u32 {
        self.checksum
    }

    /// The line as METEOR sees it: normalised, lower-cased, cut into tokens.
    pub fn tokens(&self, line: &str) -> Vec<String> {
        split(&self.normalize(line)).map(str::to_owned).collect()
    }

    pub(super) fn normalize(&self, line: &str) -> String {
        normalize(line, &self.prefixes)
    }

    /// Whether the token counts as a function word.
    pub fn is_function_word(&self, token: &str) -> bool {
        self.function_words.contains(token)
    }

    /// Numbers of the synonym sets of the word and its base forms, sorted.
    ///
    /// A listed irregular form has the bases that the list gives; any other word the one that the suffix rules find.
    pub fn synonym_sets(&self, word: &str) -> Vec<u32> {
        sets_of(&self.bytes, &self.synonyms, &self.exceptions, word)
    }

    /// Number of a word in the paraphrase table.
    pub(super) fn paraphrase_word(&self, word: &str) -> Option<u32> {
        self.paraphrases.words.find(&self.bytes, word).map(|number| number as u32)
    }

    /// The phrase that is `phrase` with one more word, where the table has it or a longer one that begins so.
    pub(super) fn child(&self, phrase: u32, word: u32) -> Option<u32> {
        self.paraphrases.child(&self.bytes, phrase, word)
    }

    /// The paraphrases of a phrase, in the order of the table.
    pub(super) fn paraphrases(&self, phrase: u32) -> impl Iterator<Item = u32> + '_ {
        self.paraphrases.lists.get(&self.bytes, phrase as usize)
    }

    /// Number of phrases, and of beginnings of phrases.
    pub(super) fn phrase_count(&self) -> usize {
        self.paraphrases.len()
    }
}

/// The paraphrase table: phrases as a trie of word numbers, and for each phrase the list of its paraphrases.
///
/// Nodes are numbered level by level and, within a level, by parent and word. So a phrase of one word has its word's
/// number, the children of a node are consecutive, and the trie is two arrays: the word of each node, and where its
/// children start. A paraphrase is the number of a node too: comparing phrases is comparing numbers.
#[derive(Debug, Clone)]
struct Paraphrases {
    words: Strings,
    /// The last word of each phrase.
    last: Numbers,
    children: Bounds,
    lists: Lists,
}

impl Paraphrases {
    fn new(
        bytes: ToCheck<'_>,
        words: Strings,
        [last, children]: [&Range<usize>; 2],
        lists: [&Range<usize>; 2],
    ) -> Option<Self> {
        let last = Numbers::new(last)?;
        let children = Bounds::new(bytes, children, words.len() as u32, last.len)?;
        let lists = Lists::new(bytes, lists, last.len)?;
        let fits = bytes.is_none_or(|bytes| {
            // A node whose children come before it would let a walk go round in circles.
            let forward = (0..children.parts()).all(|node| children.part(bytes, node).start > node);
            forward && lists.values().iter(bytes).all(|phrase| (phrase as usize) < last.len)
        });
        (children.parts() == last.len && fits).then_some(Self { words, last, children, lists })
    }

    fn len(&self) -> usize {
        self.last.len
    }

    fn child(&self, bytes: &[u8], phrase: u32, word: u32) -> Option<u32> {
        let children = self.children.part(bytes, phrase as usize);
        let place = self.last.slice(children.clone()).binary_search(bytes, word)?;
        Some((children.start + place) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::meteor::tests::resources;
    use crate::tables::tests::test_reader;

    fn read(bytes: &[u8]) -> Result<Resources, Refused> {
        Resources::from_bytes(&SharedBytes::new(bytes.to_vec()))
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
        let known = |bytes: &[u8]| Resources::from_checked(&SharedBytes::new(bytes.to_vec()));
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
