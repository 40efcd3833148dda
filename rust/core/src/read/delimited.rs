//! Tables: fields with a delimiter between, under a header line.

use csv::{ByteRecord, ReaderBuilder};

use super::error::{ReadError, ReadErrorKind};

/// What may stand between fields.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The header of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The columns.
    pub names: Vec<String>,
    /// What stands between fields.
    pub delimiter: u8,
    /// The byte at which the rows begin.
    pub end: usize,
}

/// The header of a text; `None` where the first line that is not blank has no delimiter.
pub fn header(text: &str) -> Option<Header> {
    let mut end = 0;
    let line = text.split_inclusive('\n').find(|line| {
        end += line.len();
        !line.trim().is_empty()
    })?;
    let count = |delimiter: u8| line.bytes().filter(|&byte| byte == delimiter).count();
    // Of equal counts the first.
    let delimiter = DELIMITERS.into_iter().rev().max_by_key(|&delimiter| count(delimiter))?;
    if count(delimiter) == 0 {
        return None;
    }
    let mut record = ByteRecord::new();
    let start = end - line.len();
    let mut reader = reader(&text.as_bytes()[start..], delimiter);
    reader.read_byte_record(&mut record).ok()?;
    let names = record.iter().map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect();
    Some(Header { names, delimiter, end: start + reader.position().byte() as usize })
}

/// A reader of records. Tables with bars, such as Flickr30k's, put no quotes around fields, but fields may have some.
fn reader(bytes: &[u8], delimiter: u8) -> csv::Reader<&[u8]> {
    ReaderBuilder::new()
        .delimiter(delimiter)
        .flexible(true)
        .has_headers(false)
        .quoting(delimiter != b'|')
        .from_reader(bytes)
}

/// Calls `visit` with each record that is whole; returns where the first one begins that is not.
///
/// The last record of a piece may go on in the next one; that of the `last` piece is whole, unless a quote is open.
pub(super) fn walk(
    bytes: &[u8],
    delimiter: u8,
    last: bool,
    mut visit: impl FnMut(&ByteRecord),
) -> Result<usize, ReadError> {
    let mut reader = reader(bytes, delimiter);
    let (mut record, mut start) = (ByteRecord::new(), 0);
    loop {
        let next = skip_newlines(bytes, reader.position().byte() as usize);
        if !reader.read_byte_record(&mut record).map_err(|error| broken(&error))? {
            if last && delimiter != b'|' && is_open(&bytes[start..], delimiter) {
                let message = "a double quote is opened in this row and never closed; double the quotes inside a field";
                let text = String::from_utf8_lossy(bytes);
                return Err(ReadError::new(ReadErrorKind::Malformed, message).at(&text, start));
            }
            return Ok(bytes.len());
        }
        start = next;
        if !last && reader.position().byte() as usize >= bytes.len() {
            return Ok(start);
        }
        visit(&record);
    }
}

/// Whether a record, the last one of a file, has a quote that is never closed: it swallows the rest of the file.
fn is_open(record: &[u8], delimiter: u8) -> bool {
    let trimmed = record.trim_ascii_end();
    let opens = |place: usize| trimmed[place] == b'"' && (place == 0 || trimmed[place - 1] == delimiter);
    trimmed.split(|&byte| byte == b'"').count() % 2 == 0  // pieces: one more than quotes
        && (trimmed.contains(&b'\n') || (0..trimmed.len()).any(opens))
}

/// What is wrong with a row of so many fields.
pub(super) fn misfit(fields: usize, width: usize) -> String {
    format!("has {fields} fields where the header has {width}; put a caption that holds the delimiter in double quotes")
}

/// The first byte of the row: the csv reader counts the line ends before it as part of it.
fn skip_newlines(bytes: &[u8], offset: usize) -> usize {
    let rest = &bytes[offset.min(bytes.len())..];
    offset + rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count()
}

/// An error of the csv reader itself; from text in memory there is none that we know of.
fn broken(error: &csv::Error) -> ReadError {
    ReadError::new(ReadErrorKind::Malformed, format!("the table cannot be read: {error}"))
}
