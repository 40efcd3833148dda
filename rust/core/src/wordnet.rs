//! WordNet: the synonym sets of English words, as METEOR and SPICE look them up.
//!
//! The table ships with sacrecap. `models/meteor` makes it from WordNet 3.0 (Princeton University), in the form in which METEOR 1.5
//! has it: a word has the numbers of its sets whatever its part of speech is, so that a noun's set and a verb's set that
//! have one number are one set. Where words have synonyms by this accident they have them in both metrics too.

use crate::Refused;
use crate::tables::{Format, Lists, SharedBytes, Strings, ToCheck, mark};
use crate::text::word_forms::base_form;

/// Words and irregular forms, 4 each.
const FORMAT: Format<8> = Format { name: "a synonym table", magic: mark::SYNONYMS, version: 1 };

/// Synonym sets by word.
#[derive(Debug, Clone)]
pub(crate) struct Meanings {
    pub(crate) words: Strings,
    sets: Lists,
}

impl Meanings {
    /// None unless the sections fit together.
    pub(crate) fn new(bytes: ToCheck<'_>, [text, bounds, lists, values]: [&std::ops::Range<usize>; 4]) -> Option<Self> {
        let words = Strings::new(bytes, [text, bounds])?;
        let sets = Lists::new(bytes, [lists, values], words.len())?;
        Some(Self { words, sets })
    }

    fn get<'a>(&self, bytes: &'a [u8], word: &str) -> Option<impl Iterator<Item = u32> + use<'a>> {
        Some(self.sets.get(bytes, self.words.find(bytes, word)?))
    }
}

/// Numbers of the synonym sets of the word and its base forms, sorted.
///
/// A listed irregular form has the bases that the list gives; any other word the one that the suffix rules find.
pub(crate) fn sets_of(bytes: &[u8], words: &Meanings, irregular: &Meanings, word: &str) -> Vec<u32> {
    let meaning = |word: &str| words.get(bytes, word);
    let mut sets: Vec<u32> = meaning(word).into_iter().flatten().collect();
    match irregular.get(bytes, word) {
        Some(listed) => sets.extend(listed),
        None => sets.extend(base_form(word, meaning).into_iter().flatten()),
    }
    sets.sort_unstable();
    sets.dedup();
    sets
}

/// The synonym table.
#[derive(Debug, Clone)]
pub struct Synonyms {
    bytes: SharedBytes,
    /// A checksum of the contents, to name them by in signatures.
    pub checksum: u32,
    words: Meanings,
    irregular: Meanings,
}

impl Synonyms {
    /// Reads a table that is already in memory or mapped into it; it stays where it is.
    pub fn from_bytes(shared: &SharedBytes) -> Result<Self, Refused> {
        let bytes: &[u8] = shared;
        let (s, checksum) = FORMAT.read(bytes)?;
        let meanings =
            |first: usize| Meanings::new(Some(bytes), [&s[first], &s[first + 1], &s[first + 2], &s[first + 3]]);
        let (Some(words), Some(irregular)) = (meanings(0), meanings(4)) else { return Err(FORMAT.damaged()) };
        Ok(Self { bytes: shared.clone(), checksum, words, irregular })
    }

    /// Numbers of the synonym sets of the word and its base forms, sorted; a word of several parts is joined by `_`.
    pub fn sets(&self, word: &str) -> Vec<u32> {
        sets_of(&self.bytes, &self.words, &self.irregular, word)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::tables::tests::test_reader;

    /// A table of ten words: the texts of `tests/goldens/small`, by `models/meteor`.
    pub(crate) fn small() -> Synonyms {
        let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/goldens/synonyms-small.table"));
        Synonyms::from_bytes(&SharedBytes::new(bytes)).unwrap()
    }

    #[test]
    fn words_and_their_base_forms_have_sets() {
        let table = small();
        for (word, sets) in
            [("big", vec![1, 2]), ("hounds", vec![4, 5]), ("ran", vec![6, 7]), ("dogs", vec![]), ("cat", vec![])]
        {
            assert_eq!(table.sets(word), sets, "{word}");
        }
    }

    #[test]
    fn a_damaged_table_is_an_error_and_a_deceiving_one_never_panics() {
        let read = |bytes: &[u8]| Synonyms::from_bytes(&SharedBytes::new(bytes.to_vec()));
        test_reader(&small().bytes, read, |table| {
            for word in ["big", "dogs", "ran", "hounds", ""] {
                table.sets(word);
            }
        });
    }
}
