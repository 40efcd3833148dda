//! METEOR's knowledge of English in one block of bytes, mapped.
//!
//! The file is made of those of METEOR (LGPL) and WordNet, by `models/meteor`; it is no part of this package.

mod cache;
mod paraphrases;

use rustc_hash::FxHashSet;

use super::normalize::{Prefix, Prefixes, normalize, split};
use crate::tables::SharedBytes;
use crate::tables::layout::Strings;
use crate::wordnet::{Meanings, sets_of};
use paraphrases::Paraphrases;

/// Function words, abbreviations, synonym sets and paraphrases of English.
#[derive(Clone)]
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
    /// The bytes of the file.
    pub fn as_bytes(&self) -> &[u8] {
        (*self.bytes).as_ref()
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
        sets_of(self.as_bytes(), &self.synonyms, &self.exceptions, word)
    }

    /// Number of a word in the paraphrase table.
    pub(super) fn paraphrase_word(&self, word: &str) -> Option<u32> {
        self.paraphrases.words.find(self.as_bytes(), word).map(|number| number as u32)
    }

    /// The phrase that is `phrase` with one more word, where the table has it or a longer one that begins so.
    pub(super) fn child(&self, phrase: u32, word: u32) -> Option<u32> {
        self.paraphrases.child(self.as_bytes(), phrase, word)
    }

    /// The paraphrases of a phrase, in the order of the table.
    pub(super) fn paraphrases(&self, phrase: u32) -> impl Iterator<Item = u32> + '_ {
        self.paraphrases.lists.get(self.as_bytes(), phrase as usize)
    }

    /// Number of phrases, and of beginnings of phrases.
    pub(super) fn phrase_count(&self) -> usize {
        self.paraphrases.len()
    }
}

fn prefix_table(bytes: &[u8], always: &Strings, numeric: &Strings) -> Prefixes {
    let always = always.iter(bytes).map(|prefix| (prefix, Prefix::Always));
    Prefixes::new(always.chain(numeric.iter(bytes).map(|prefix| (prefix, Prefix::BeforeNumber))))
}

impl std::fmt::Debug for Resources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Resources")
            .field("checksum", &self.checksum)
            .field("synonyms", &self.synonyms.words.len())
            .field("phrases", &self.phrase_count())
            .finish_non_exhaustive()
    }
}
