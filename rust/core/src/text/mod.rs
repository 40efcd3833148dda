//! Text: captions, their words and n-grams.

pub mod captions;
pub mod ngram;
pub mod sentences;
pub mod tokenize;
pub mod vocabulary;
pub mod word_forms;
