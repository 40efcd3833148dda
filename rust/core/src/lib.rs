//! Everything here is a pure function of its arguments: no Python, no files, no unsafe code. Modules in reading order:
//! [`text`], [`read`], [`corpus`] and [`document_frequency`] hold what is scored; [`seen`] looks at it, [`engine`] and [`metrics`] score
//! it; [`numeric`] knows nothing of captions; [`agreement`] compares scores with people's; [`reward`] is CIDEr-D for
//! training.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod named;

// Text, words, n-grams.
pub mod corpus;
pub mod document_frequency;
pub mod read;
pub mod text;

// What is known of English, and tables that are used where they lie.
pub mod tables;
pub mod wordnet;

// Words, tags and dependencies of a caption, and the scene that they describe.
pub mod graph;
pub mod parse;

// One pass over the images for all metrics, and resampling of its statistics.
pub mod engine;
pub mod metrics;

// One look at the captions before they are scored.
pub mod seen;

// Arithmetic that knows nothing of captions.
pub mod numeric;

// Agreement with people.
pub mod agreement;

// CIDEr-D on token ids, for training.
pub mod reward;

/// What cannot be done, as a sentence for people: what was given, and what is accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused(pub String);

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}
