//! Parsed captions: each word with its tag, its lemma and the word that it depends on.
//!
//! Tags are those of the Penn Treebank, relations the basic Stanford dependencies of CoreNLP 3.6, which the original
//! SPICE reads scene graphs from.

mod features;
mod lanes;
mod matrix;
mod model;
mod names;
mod network;
mod parser;
#[cfg(test)]
mod tests;
mod tree;

pub use names::{Relation, Tag};
pub use parser::{Memory, Parser};

/// A word of a parsed caption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The word as it stands in the caption.
    pub text: String,
    /// Its base form: `run` of `running`.
    pub lemma: String,
    /// Its part of speech.
    pub tag: Tag,
    /// The number of the word that it depends on; None for the root of a sentence.
    pub head: Option<usize>,
    /// How it depends on that word.
    pub relation: Relation,
}
