//! Errors of caption files, each told in one sentence.

use std::fmt;

use super::position::line_and_column;

/// Which rule a file breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The text breaks the rules of its format.
    Malformed,
}

/// Why a file gives no captions. `Display` is one sentence: where, what was found, what is accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadError {
    /// Which rule is broken.
    pub kind: ReadErrorKind,
    /// Says what was found and what is accepted, without the position.
    pub message: String,
    /// Line of the first offender, from 1.
    pub line: Option<usize>,
    /// Column of the first offender, from 1, in characters.
    pub column: Option<usize>,
}

impl ReadError {
    /// An error about the file as a whole.
    pub(super) fn new(kind: ReadErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), line: None, column: None }
    }

    /// The same error, at a byte offset of the text.
    pub(super) fn at(mut self, text: &str, offset: usize) -> Self {
        let (line, column) = line_and_column(text, offset);
        (self.line, self.column) = (Some(line), Some(column));
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (Some(line), Some(column)) => write!(formatter, "line {line}, column {column}: ")?,
            (Some(line), None) => write!(formatter, "line {line}: ")?,
            _ => {}
        }
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for ReadError {}
