//! Tables: fields with a delimiter between, under a header line.

use csv::{ByteRecord, ReaderBuilder};

use super::collect::{Collector, Offence};
use super::error::{ReadError, ReadErrorKind};
use super::format::Format;
use crate::text::captions::Captions;

/// The columns that make a caption.
const COLUMNS: [&str; 2] = ["image_id", "caption"];

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

/// Reads a table with the columns `image_id` and `caption`, in any order and among any others.
pub(super) fn read(mut captions: Collector<'_>, format: Format) -> Result<Captions, ReadError> {
    let text = captions.text;
    let header = named(text, format)?;
    let [id, caption] = places(&header).expect("the columns are there");
    let width = header.names.len();
    let mut row = 0;
    let read = walk(&text.as_bytes()[header.end..], header.delimiter, true, |record| {
        row += 1;
        match (utf8(record, id), utf8(record, caption)) {
            (Some(id), Some(caption)) if record.len() == width => captions.text(id, caption),
            _ => {
                let place = record.position().map_or(0, |position| position.byte() as usize);
                let offset = skip_newlines(text.as_bytes(), header.end + place);
                let message = misfit(record.len(), width);
                let message = format!("row {row} {message}");
                captions.offend(Offence {
                    kind: ReadErrorKind::FieldCount,
                    offset,
                    image: None,
                    row: Some(row),
                    message,
                });
            }
        }
    });
    read.map_err(|error| ReadError { line: error.line.map(|line| line + lines(text, header.end)), ..error })?;
    captions.finish()
}

/// What is wrong with a row of so many fields.
pub(super) fn misfit(fields: usize, width: usize) -> String {
    format!("has {fields} fields where the header has {width}; put a caption that holds the delimiter in double quotes")
}

/// The format of a table by its header line, when there is one that has the columns.
pub(super) fn detect(text: &str) -> Option<Format> {
    [Format::Csv, Format::Tsv].into_iter().find(|&format| named(text, format).is_ok())
}

/// The header of a table in this format, which has the columns.
fn named(text: &str, format: Format) -> Result<Header, ReadError> {
    let delimiters: &[u8] = if format == Format::Tsv { b"\t" } else { b",;" };
    let found = header(text).filter(|found| delimiters.contains(&found.delimiter) && places(found).is_some());
    found.ok_or_else(|| {
        let header = super::json::shorten(text.lines().find(|line| !line.is_empty()).unwrap_or_default(), 60);
        let message = format!(
            "the header line \"{header}\" does not have the columns {} of a {format} file",
            COLUMNS.join(" and ")
        );
        ReadError::new(ReadErrorKind::MissingKey, message).at(text, 0)
    })
}

/// Numbers of the two columns, when the header has both.
fn places(header: &Header) -> Option<[usize; 2]> {
    let place = |name| header.names.iter().position(|column| column == name);
    Some([place(COLUMNS[0])?, place(COLUMNS[1])?])
}

fn utf8(record: &ByteRecord, field: usize) -> Option<&str> {
    std::str::from_utf8(record.get(field)?).ok()
}

/// Line ends before a byte.
fn lines(text: &str, end: usize) -> usize {
    text[..end].matches('\n').count()
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
