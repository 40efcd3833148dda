//! Reading captions: the usual files of JSON in one pass. All other files, and all mistakes, are left to Python.

mod delimited;
mod error;
mod json;
mod position;
pub mod rows;
mod tally;
mod usual;
mod walk;

pub use delimited::{Header, header};
pub use error::{ReadError, ReadErrorKind};
pub use json::MEND_SURROGATES;
pub use tally::Tally;
pub use usual::{Usual, usual};
