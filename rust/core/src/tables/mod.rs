//! Tables that are used in place, in memory or in a mapped file.

use std::sync::Arc;

mod file;
pub(crate) mod layout;
pub(crate) mod mark;

pub use file::FileError;
pub(crate) use file::Format;
#[cfg(test)]
pub(crate) use file::test_reader;

/// Bytes that outlive their reader: a vector, or a memory-mapped file.
pub type SharedBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;
