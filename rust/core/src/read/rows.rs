//! Rows of a piece of text as columns, which the caller names: JSON lines, and tables.
//!
//! A row that cannot be used does not end the reading: it is told by its number, and the caller decides.

use std::borrow::Cow;
use std::fmt;

use csv::ByteRecord;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::delimited::{self, Header};
use super::error::ReadError;
use super::json::{self, Key};
use super::position::offset_at;
use super::walk;

/// The columns of Flickr30k's `results.csv`, in one line of which the bar between number and comment is missing.
const FLICKR: [&str; 3] = ["image_name", "comment_number", "comment"];

/// Rows that can be used, column by column, and those that cannot.
#[derive(Debug, Default)]
pub struct Rows {
    /// The number of each row.
    pub numbers: Vec<u64>,
    /// The columns, as they were named; the first has the image ids.
    pub columns: Vec<Column>,
    /// The rows that were left out.
    pub bad: Vec<BadRow>,
    /// How many bytes were read: to the end of the last row that is whole.
    pub read: usize,
    /// How many numbers were given, to rows and to blank lines.
    pub count: u64,
}

/// A row that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRow {
    /// Its number.
    pub number: u64,
    /// Its image, where that is known.
    pub image: Option<String>,
    /// What is wrong.
    pub reason: String,
}

/// What stands in a row of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    /// Nothing.
    Null,
    /// A text.
    Text,
    /// A list of so many texts.
    List(u32),
}

/// The values of a column.
#[derive(Debug, Default)]
pub struct Column {
    /// What stands in each row.
    pub cells: Vec<Cell>,
    /// All texts, one after the other. Those of a table are as they stand in the file, which may be no UTF-8.
    pub text: Vec<u8>,
    /// Where each text ends; and whether it is one, or null in a list.
    pub ends: Vec<(u64, bool)>,
}

/// A value of a row.
enum Value<'t> {
    Null,
    Text(Cow<'t, str>),
    List(Vec<Option<Cow<'t, str>>>),
}

impl Column {
    fn push(&mut self, value: &Value<'_>) {
        match value {
            Value::Null => self.cells.push(Cell::Null),
            Value::Text(text) => self.push_text(text.as_bytes()),
            Value::List(texts) => {
                self.cells.push(Cell::List(texts.len() as u32));
                for text in texts {
                    self.end(text.as_deref().map(str::as_bytes));
                }
            }
        }
    }

    fn push_text(&mut self, text: &[u8]) {
        self.cells.push(Cell::Text);
        self.end(Some(text));
    }

    fn end(&mut self, text: Option<&[u8]>) {
        self.text.extend_from_slice(text.unwrap_or_default());
        self.ends.push((self.text.len() as u64, text.is_some()));
    }
}

impl Rows {
    fn new(columns: usize) -> Self {
        Self { columns: (0..columns).map(|_| Column::default()).collect(), ..Self::default() }
    }

    fn add(&mut self, number: u64, values: Result<Vec<Value<'_>>, (Option<String>, String)>) {
        match values {
            Ok(values) => {
                self.numbers.push(number);
                self.columns.iter_mut().zip(&values).for_each(|(column, value)| column.push(value));
            }
            Err((image, reason)) => self.bad.push(BadRow { number, image, reason }),
        }
    }
}

/// The rows of JSON lines. Their numbers are those of the lines, from `first`; blank lines are skipped.
pub fn lines(bytes: &[u8], names: &[String], first: u64) -> Rows {
    let mut rows = Rows::new(names.len());
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let number = first + rows.count;
        rows.count += 1;
        match std::str::from_utf8(line).map(str::trim) {
            Ok("") => {}
            Ok(line) => {
                let values = object(line, names);
                match values.as_ref().err().and_then(|_| mended(line)) {
                    Some(mended) => rows.add(number, object(&mended, names)),
                    None => rows.add(number, values),
                }
            }
            Err(_) => rows.add(number, Err((None, NOT_UTF8.to_owned()))),
        }
    }
    rows.read = bytes.len();
    rows
}

const NOT_UTF8: &str = "not UTF-8; convert the file to UTF-8";
const IDS: &str = "image ids must be strings or whole numbers";
const CAPTIONS: &str = "captions must be strings";

/// A line in which `NaN` and `Infinity`, which programs write for a missing number, are null; `None` where none is.
pub(super) fn mended(line: &str) -> Option<String> {
    let mut mended = None::<String>;
    for token in ["NaN", "-Infinity", "Infinity"] {
        // Only where reading fails at it: a caption may have the word.
        while line.contains(token) {
            let text = mended.as_deref().unwrap_or(line);
            let Err(error) = serde_json::from_str::<IgnoredAny>(text) else { break };
            let at = offset_at(text, error.line(), error.column());
            let Some(start) = [0, 1]
                .into_iter()
                .filter_map(|back| at.checked_sub(back))
                .find(|&start| text.get(start..).is_some_and(|rest| rest.starts_with(token)))
            else {
                break;
            };
            mended = Some(format!("{}null{}", &text[..start], &text[start + token.len()..]));
        }
    }
    mended
}

/// The values of an object; or its image, where that is known, and what is wrong.
fn object<'t>(line: &'t str, names: &[String]) -> Result<Vec<Value<'t>>, (Option<String>, String)> {
    let mut deserializer = serde_json::Deserializer::from_str(line);
    let picked = deserializer.deserialize_map(Picking(names)).and_then(|picked| deserializer.end().map(|()| picked));
    let picked = picked.map_err(|error| match serde_json::from_str::<&RawValue>(line) {
        Ok(other) if !line.starts_with('{') => {
            (None, format!("is {}, where the others are objects", json::describe(other.get())))
        }
        _ => (None, format!("not a row of JSON ({})", walk::said(&error))),
    })?;
    let mut values = Vec::with_capacity(names.len());
    for (place, (raw, name)) in picked.into_iter().zip(names).enumerate() {
        let value = match raw {
            None => Ok(Value::Null),
            Some(raw) if raw.get() == "null" => Ok(Value::Null),
            Some(raw) if place == 0 => id(raw),
            Some(raw) => caption(raw),
        };
        values.push(value.map_err(|problem| {
            let image = match values.first() {
                Some(Value::Text(id)) => Some(id.to_string()),
                _ => None,
            };
            (image, format!("{name} {problem}"))
        })?);
    }
    Ok(values)
}

/// An image id, or the only one of a list; a whole number may be written as `5.0`, as a table does where a number is
/// missing.
fn id(raw: &RawValue) -> Result<Value<'_>, String> {
    if raw.get().starts_with('[') {
        let mut inside = Vec::new();
        walk::elements(raw, |element| inside.push(element)).expect("a raw value is well-formed");
        if let [only] = inside[..] {
            return id(only);
        }
    }
    let whole = raw.get().strip_suffix(".0").filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    if let Some(digits) = whole {
        return Ok(Value::Text(Cow::Borrowed(digits)));
    }
    json::image_id(raw).map(Value::Text).map_err(|problem| format!("is {}", problem.message(IDS)))
}

/// A caption, or a list of them, in which some may be null.
fn caption(raw: &RawValue) -> Result<Value<'_>, String> {
    if !raw.get().starts_with('[') {
        return json::text(raw).map(Value::Text).map_err(|problem| format!("is {}", problem.message(CAPTIONS)));
    }
    let (mut texts, mut wrong) = (Vec::new(), None);
    let walked = walk::elements(raw, |element| match json::text(element) {
        Ok(text) => texts.push(Some(text)),
        Err(_) if element.get() == "null" => texts.push(None),
        Err(problem) => wrong = wrong.take().or(Some(format!("has {}", problem.message(CAPTIONS)))),
    });
    walked.expect("a raw value is well-formed");
    wrong.map_or(Ok(Value::List(texts)), Err)
}

/// Takes the values of some keys out of an object; `doc.id` is `id` in the object `doc`, unless there is such a key.
struct Picking<'n>(&'n [String]);

impl<'t> Visitor<'t> for Picking<'_> {
    type Value = Vec<Option<&'t RawValue>>;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut picked = vec![None; self.0.len()];
        while let Some(Key(key)) = map.next_key()? {
            if !self.0.iter().any(|name| name.strip_prefix(key.as_ref()).is_some_and(is_rest)) {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let value = map.next_value::<&'t RawValue>()?;
            for (name, place) in self.0.iter().zip(&mut picked) {
                match name.strip_prefix(key.as_ref()) {
                    Some("") => *place = Some(value),
                    Some(rest) if is_rest(rest) && place.is_none() => *place = inside(value, &rest[1..]),
                    _ => {}
                }
            }
        }
        Ok(picked)
    }
}

/// Whether this is what follows a key in the name of a column.
fn is_rest(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('.')
}

/// The value of a key of an object.
fn inside<'t>(value: &'t RawValue, key: &str) -> Option<&'t RawValue> {
    if !value.get().starts_with('{') {
        return None;
    }
    let names = [key.to_owned()];
    serde_json::Deserializer::from_str(value.get()).deserialize_map(Picking(&names)).ok()?[0]
}

/// The rows of a piece of a table, after its header; numbered from `first`.
///
/// The last row of a piece may go on in the next one, and is not read then, unless the piece is the `last`.
pub fn table(bytes: &[u8], header: &Header, names: &[String], first: u64, last: bool) -> Result<Rows, ReadError> {
    let mut rows = Rows::new(names.len());
    let places = names.iter().map(|name| header.names.iter().position(|column| column == name)).collect::<Vec<_>>();
    let (width, bars) = (header.names.len(), header.delimiter == b'|');
    let read = delimited::walk(bytes, header.delimiter, last, |record| {
        let number = first + rows.count;
        rows.count += 1;
        let mended = if record.len() == width { None } else { with_bar(record, header) };
        let record = mended.as_ref().unwrap_or(record);
        if record.len() != width {
            rows.bad.push(BadRow { number, image: None, reason: delimited::misfit(record.len(), width) });
            return;
        }
        rows.numbers.push(number);
        for (column, place) in rows.columns.iter_mut().zip(&places) {
            let field = place.and_then(|place| record.get(place)).unwrap_or_default();
            column.push_text(if bars { field.trim_ascii() } else { field });
        }
    });
    // The position in a piece says nothing about the file.
    rows.read = read.map_err(|error| ReadError {
        message: format!("row {}: {}", first + rows.count - 1, error.message),
        line: None,
        column: None,
        ..error
    })?;
    Ok(rows)
}

/// The record of Flickr30k's with the bar that it lacks: `2199200615.jpg| 4   A dog …`.
fn with_bar(record: &ByteRecord, header: &Header) -> Option<ByteRecord> {
    if header.names != FLICKR || record.len() != 2 {
        return None;
    }
    let (number, comment) = std::str::from_utf8(&record[1]).ok()?.trim().split_once(' ')?;
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| ByteRecord::from(vec![&record[0], number.as_bytes(), comment.as_bytes()]))
}
