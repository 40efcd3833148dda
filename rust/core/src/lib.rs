//! The algorithms of capeval, in reading order.
//!
//! Everything here is a pure function of its arguments: no Python, no files, no unsafe code.
#![forbid(unsafe_code)]

pub mod captions;
pub mod tokenize;
