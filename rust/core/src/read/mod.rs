//! Reading captions: the usual files of JSON in one pass. All other files, and all mistakes, are left to Python.

mod tally;
mod usual;

pub use tally::Tally;
pub use usual::{Usual, usual};

/// How to repair a text that holds half a surrogate pair.
pub const MEND_SURROGATES: &str = "write the whole character, or mend the text in Python with \
    text.encode(\"utf-16\", \"surrogatepass\").decode(\"utf-16\", \"replace\")";
