//! The first eight bytes of each kind of file: `sacre`, a zero byte, which no text has, and two letters.
//!
//! They stand together so that no two kinds have the same, and one is never read as the other.

/// Document frequencies.
pub(crate) const DOCUMENT_FREQUENCIES: &[u8; 8] = b"sacre\0df";
/// The language model of Fluency.
pub(crate) const LANGUAGE_MODEL: &[u8; 8] = b"sacre\0lm";
/// METEOR's tables.
pub(crate) const METEOR: &[u8; 8] = b"sacre\0me";
/// The network of the parser of captions.
pub(crate) const PARSER: &[u8; 8] = b"sacre\0pm";
/// Vectors of sentences.
pub(crate) const SENTENCE_VECTORS: &[u8; 8] = b"sacre\0sv";
/// Synonyms.
pub(crate) const SYNONYMS: &[u8; 8] = b"sacre\0sy";

#[cfg(test)]
mod tests {
    #[test]
    fn each_kind_has_a_mark_of_its_own() {
        let source = include_str!("mark.rs");
        let marks: Vec<&str> =
            source.lines().filter_map(|line| line.split_once("= b\"sacre\\0")).map(|at| at.1).collect();
        let distinct: std::collections::BTreeSet<_> = marks.iter().collect();
        assert_eq!((marks.len(), distinct.len()), (6, 6));
    }
}
