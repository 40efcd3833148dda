//! The algorithms of capeval, in reading order.
//!
//! Everything here is a pure function of its arguments: no Python, no files, no unsafe code.
#![forbid(unsafe_code)]

// What is scored: text, words, n-grams.
pub mod captions;
pub mod corpus;
pub mod document_frequency;
pub mod hash_table;
pub mod ngram;
pub mod read;
pub mod sentences;
pub mod tokenize;
pub mod vocabulary;

// The engine: one pass over the images for all metrics, and resampling of its statistics.
pub mod kernel;
pub mod paired;
pub mod parallel;
pub mod resample;
pub mod spectrum;

// What agreement with people is measured by.
pub mod agreement;
// Bags of word vectors, and the transport between them.
pub mod embedded;
pub mod transport;

// The metrics.
mod bleu;
pub mod cider;
mod combine;
pub mod diversity;
mod fluency;
pub mod meteor;
mod rouge;
pub mod vifidel;
mod wmd;

// CIDEr-D on token ids, for training.
pub mod reward;
