//! Tables that are used in place, in memory or in a mapped file.

mod file;
pub(crate) mod layout;
pub(crate) mod mark;

pub use file::FileError;
pub(crate) use file::Format;
#[cfg(test)]
pub(crate) use file::test_reader;
