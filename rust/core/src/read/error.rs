//! Errors of caption files, each told in one sentence.

use std::fmt;

use super::format::Format;
use super::position::line_and_column;

/// Which rule a file breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// Nothing but blanks.
    Empty,
    /// The bytes are not UTF-8.
    NotUtf8,
    /// The JSON ends in the middle.
    CutOff,
    /// The text breaks the rules of JSON or of its delimited format.
    Malformed,
    /// Well-formed, but of no accepted shape.
    Shape,
    /// A row lacks a key (or a table a column).
    MissingKey,
    /// An image id is neither a string nor a whole number.
    BadImageId,
    /// A caption is not a string.
    CaptionNotText,
    /// An escape such as `\ud800` stands for half a character.
    LoneSurrogate,
    /// A mapping names one image twice.
    RepeatedImage,
    /// A row of a table has more or fewer fields than the header.
    FieldCount,
    /// The file has no such split.
    UnknownSplit,
    /// A split was asked of a format that has none.
    SplitUnsupported,
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

    pub(super) fn empty() -> Self {
        Self::new(ReadErrorKind::Empty, format!("the file is empty; accepted are {}", accepted()))
    }

    pub(super) fn shape(found: &str) -> Self {
        Self::new(ReadErrorKind::Shape, format!("found {found}; accepted are {}", accepted()))
    }

    pub(super) fn split_unsupported(format: Format) -> Self {
        let message = format!("this is a file of format {format}, which has no splits; leave the split out");
        Self::new(ReadErrorKind::SplitUnsupported, message)
    }

    /// `offset` is the first byte that is not UTF-8.
    pub(super) fn not_utf8(bytes: &[u8], offset: usize) -> Self {
        let guess = match bytes {
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "it looks like UTF-16, ",
            _ => "",
        };
        let message = format!(
            "byte {offset} (0x{:02x}) is not UTF-8; {guess}save the file as UTF-8",
            bytes.get(offset).copied().unwrap_or_default()
        );
        let before = String::from_utf8_lossy(&bytes[..offset]);
        Self::new(ReadErrorKind::NotUtf8, message).at(&before, before.len())
    }
}

/// Every accepted shape, with its name.
fn accepted() -> String {
    Format::ALL.map(|format| format!("{} ({})", format.name(), format.shape())).join(", ")
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
