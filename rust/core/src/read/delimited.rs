//! Tables: comma- or tab-separated values under a header line.

use csv::{ByteRecord, ReaderBuilder};

use super::collect::{Collector, Offence};
use super::error::{ReadError, ReadErrorKind};
use super::format::Format;
use crate::text::captions::Captions;

/// The columns that make a caption.
const COLUMNS: [&str; 2] = ["image_id", "caption"];

/// Reads a table with the columns `image_id` and `caption`, in any order and among any others.
pub(super) fn read(mut captions: Collector<'_>, format: Format) -> Result<Captions, ReadError> {
    let text = captions.text;
    let delimiter = delimiter(text, format)?;
    let [id, caption] = columns(text, delimiter).expect("the header was just read");
    let mut reader =
        ReaderBuilder::new().delimiter(delimiter).flexible(true).has_headers(true).from_reader(text.as_bytes());
    let width = reader.byte_headers().map_or(0, ByteRecord::len);
    let mut record = ByteRecord::new();
    let mut last = 0;
    while reader.read_byte_record(&mut record).map_err(|error| broken(&error))? {
        last = record.position().map_or(last, |position| position.byte() as usize);
        match (utf8(&record, id), utf8(&record, caption)) {
            (Some(id), Some(caption)) if record.len() == width => captions.text(id, caption),
            _ => uneven(&mut captions, &record, width),
        }
    }
    unclosed(text, last)?;
    captions.finish()
}

/// The format of a table by its header line, when there is one that has the columns.
pub(super) fn detect(text: &str) -> Option<Format> {
    [Format::Csv, Format::Tsv].into_iter().find(|&format| delimiter(text, format).is_ok())
}

/// The character between fields.
fn delimiter(text: &str, format: Format) -> Result<u8, ReadError> {
    let candidates: &[u8] = if format == Format::Tsv { b"\t" } else { b",;" };
    let found = candidates.iter().copied().find(|&delimiter| columns(text, delimiter).is_some());
    found.ok_or_else(|| {
        let header = super::json::shorten(text.lines().find(|line| !line.is_empty()).unwrap_or_default(), 60);
        let message = format!(
            "the header line \"{header}\" does not have the columns {} of a {format} file",
            COLUMNS.join(" and ")
        );
        ReadError::new(ReadErrorKind::MissingKey, message).at(text, 0)
    })
}

/// Numbers of the two columns, when the header line has both.
fn columns(text: &str, delimiter: u8) -> Option<[usize; 2]> {
    let mut reader = ReaderBuilder::new().delimiter(delimiter).from_reader(text.as_bytes());
    let header = reader.headers().ok()?;
    let place = |name| header.iter().position(|column| column.trim() == name);
    Some([place(COLUMNS[0])?, place(COLUMNS[1])?])
}

fn utf8(record: &ByteRecord, field: usize) -> Option<&str> {
    std::str::from_utf8(record.get(field)?).ok()
}

/// Counts a row that has more or fewer fields than the header.
fn uneven(captions: &mut Collector<'_>, record: &ByteRecord, width: usize) {
    let place = record.position().expect("a record that was read has a position");
    let row = place.record() as usize;
    let message = format!(
        "row {row} has {} fields where the header has {width}; put a caption that holds the delimiter in double quotes",
        record.len()
    );
    let offset = skip_newlines(captions.text, place.byte() as usize);
    captions.offend(Offence { kind: ReadErrorKind::FieldCount, offset, image: None, row: Some(row), message });
}

/// A quoted field that is never closed swallows the rest of the file: that is an error, not a caption.
fn unclosed(text: &str, last: usize) -> Result<(), ReadError> {
    let offset = skip_newlines(text, last);
    let record = &text[offset..];
    if record.trim_end().contains('\n') && record.matches('"').count() % 2 == 1 {
        let message = "a double quote is opened in this row and never closed; double the quotes inside a field";
        return Err(ReadError::new(ReadErrorKind::Malformed, message).at(text, offset));
    }
    Ok(())
}

/// The first byte of the row: the csv reader counts the line ends before it as part of it.
fn skip_newlines(text: &str, offset: usize) -> usize {
    let rest = &text.as_bytes()[offset.min(text.len())..];
    offset + rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count()
}

/// An error of the csv reader itself; from text in memory there is none that we know of.
fn broken(error: &csv::Error) -> ReadError {
    ReadError::new(ReadErrorKind::Malformed, format!("the table cannot be read: {error}"))
}
