//! Document frequencies from a Python pickle, such as the published ones of COCO, without executing anything in it.
//!
//! A pickle is a program for a small stack machine, and Python's machine lets it call any function. The machine here
//! knows only the instructions that build plain values, and a fixed list of harmless names; everything else is an
//! error. Values are numbers into the tables of a [`heap::Heap`], never pointers: nothing is copied however often it
//! is referred to, nothing recurses, and memory stays proportional to the bytes read.

mod error;
mod globals;
mod heap;
mod input;
mod literal;
mod machine;
mod opcode;
mod shape;
#[cfg(test)]
mod tests;

pub use error::PickleError;

use super::DocumentFrequency;
use super::file::MAGIC;

/// Offsets into the pickle and its tables fit 32 bits with room to spare; the published files have about 0.1 GiB.
const LARGEST: usize = 1 << 31;

impl DocumentFrequency {
    /// Reads the n-grams and their counts out of a pickle of protocol 0 to 5.
    ///
    /// Accepted are `{'document_frequency': counts, 'ref_len': N}`, the same with `'df'`, and the bare counts, for
    /// which N is that of COCO's validation set. Counts are a dictionary from tuples of one to four words to whole numbers.
    pub fn from_pickle(bytes: &[u8]) -> Result<Self, PickleError> {
        if bytes.len() > LARGEST {
            return Err(PickleError::TooLarge(bytes.len()));
        }
        if bytes.starts_with(MAGIC) {
            return Err(PickleError::AlreadyOurs);
        }
        let (heap, root) = machine::run(bytes)?;
        shape::document_frequency(heap, root)
    }
}
