//! The algorithms of capeval, in reading order.
//!
//! Everything here is a pure function of its arguments: no Python, no files, no unsafe code.
#![forbid(unsafe_code)]

// What is scored: text, words, n-grams.
pub mod corpus;
pub mod document_frequency;
pub mod read;
pub mod text;

// One pass over the images for all metrics, and resampling of its statistics.
pub mod engine;
pub mod metrics;

// Arithmetic that knows nothing of captions.
pub mod numeric;

// What agreement with people is measured by.
pub mod agreement;

// CIDEr-D on token ids, for training.
pub mod reward;
