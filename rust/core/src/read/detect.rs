//! Recognising a format from the first structure in the file, and the names of the columns or keys of its rows.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::error::ReadError;
use super::format::Format;
use super::json::{Fields, Key, describe, shorten};
use super::position::{offset_at, offset_of};
use super::{delimited, flickr, rows, walk};
use crate::named::named;

/// Rows whose keys are looked at.
const LOOKED_AT: usize = 100;

named! {
    /// How a text is laid out.
    pub enum Layout {
        /// COCO's annotations.
        Coco "coco",
        /// A split file of Karpathy's.
        Karpathy "karpathy",
        /// One object from names to texts, or lists of texts: a mapping, or a single row.
        Mapping "mapping",
        /// Any other object.
        Object "object",
        /// A list.
        List "list",
        /// JSON lines.
        Lines "lines",
        /// A header line, and rows of fields.
        Table "table",
        /// A token file of Flickr's.
        Flickr "flickr",
        /// Anything else.
        Text "text",
    }
}

/// The layout of a text that is not blank, or of its beginning; and the names of the columns, or the keys of the first
/// rows: `doc.id` is `id` in the object `doc`. What is wrong with the text, its reader will say.
pub(super) fn look(text: &str) -> (Layout, Vec<String>) {
    let mut names = Vec::new();
    let layout = match text.trim_start().as_bytes() {
        [b'{', ..] => {
            let mut probe = Probe::new(text);
            let found = probe.format();
            names.append(&mut probe.keys);
            match found {
                Ok(Format::Coco) if !probe.foreign => Layout::Coco,
                Ok(Format::Karpathy) => Layout::Karpathy,
                Ok(Format::Jsonl) => {
                    names = names_of_lines(text.as_bytes());
                    Layout::Lines
                }
                Ok(Format::Mapping) if probe.plain => Layout::Mapping,
                _ => Layout::Object,
            }
        }
        [b'[', ..] => {
            // That the walk stopped, or met what is no JSON, is no matter here.
            let walked = serde_json::Deserializer::from_str(text).deserialize_seq(FirstRows(&mut names));
            drop(walked);
            Layout::List
        }
        _ if flickr::detect(text) => Layout::Flickr,
        _ => match delimited::header(text) {
            Some(header) => {
                names = header.names;
                Layout::Table
            }
            None => Layout::Text,
        },
    };
    (layout, names)
}

/// The keys of the first lines that are objects; `doc.id` is `id` in the object `doc`.
pub fn names_of_lines(bytes: &[u8]) -> Vec<String> {
    let mut names = Vec::new();
    let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).take(LOOKED_AT);
    for line in lines.filter_map(|line| std::str::from_utf8(line).ok()) {
        if !add_names(line, &mut names)
            && let Some(mended) = rows::mended(line)
        {
            add_names(&mended, &mut names);
        }
    }
    names
}

/// Adds the keys of an object, and those of the objects in it; whether it is one.
fn add_names(object: &str, names: &mut Vec<String>) -> bool {
    let mut own = Vec::new();
    let read = serde_json::Deserializer::from_str(object).deserialize_map(Paths { outer: "", names: &mut own });
    if read.is_ok() {
        own.retain(|name| !names.contains(name));
        names.append(&mut own);
    }
    read.is_ok()
}

/// Collects the keys of an object, after the name of the one that it is in.
struct Paths<'p> {
    outer: &'p str,
    names: &'p mut Vec<String>,
}

impl<'t> Visitor<'t> for Paths<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some((Key(key), value)) = map.next_entry::<Key, &'t RawValue>()? {
            self.names.push(if self.outer.is_empty() { key.to_string() } else { format!("{}.{key}", self.outer) });
            if self.outer.is_empty() && value.get().starts_with('{') {
                let inner = Paths { outer: &key, names: self.names };
                serde_json::Deserializer::from_str(value.get()).deserialize_map(inner).map_err(A::Error::custom)?;
            }
        }
        Ok(())
    }
}

/// Collects the keys of the first objects of a list.
struct FirstRows<'p>(&'p mut Vec<String>);

impl<'t> Visitor<'t> for FirstRows<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'t>>(self, mut list: A) -> Result<(), A::Error> {
        for _ in 0..LOOKED_AT {
            let Some(row) = list.next_element::<&'t RawValue>()? else { return Ok(()) };
            add_names(row.get(), self.0);
        }
        Err(A::Error::custom("the first rows are known; no need to read on"))
    }
}

/// An object with more unknown keys than this before any known one is a mapping.
const UNKNOWN_KEYS: usize = 64;

/// The format of a text that is not blank.
pub(super) fn format(text: &str) -> Result<Format, ReadError> {
    match text.trim_start().as_bytes() {
        [b'{', ..] => Probe::new(text).format(),
        [b'[', ..] => Ok(Format::List),
        _ if flickr::detect(text) => Ok(Format::Flickr),
        _ => delimited::detect(text).ok_or_else(|| {
            let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            let start = offset_of(text, line);
            ReadError::shape(&format!("a text that begins \"{}\"", shorten(line, 60))).at(text, start)
        }),
    }
}

/// The keys of the file's first object, as far as they tell the format.
struct Probe<'t> {
    text: &'t str,
    format: Option<Format>,
    /// The first key, and the text from its value on.
    first: Option<(Cow<'t, str>, &'t str)>,
    unknown: usize,
    /// Its keys, as far as they were read.
    keys: Vec<String>,
    /// Whether every value is a text or a list of texts, as far as its first byte tells.
    plain: bool,
    images: bool,
    /// Whether the first of the annotations lacks an image id, so that they are not COCO's.
    foreign: bool,
    /// Whether `image_id` and `caption` or `captions` were seen.
    row: [bool; 2],
}

impl<'t> Probe<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            format: None,
            first: None,
            unknown: 0,
            keys: Vec::new(),
            plain: true,
            images: false,
            foreign: false,
            row: [false; 2],
        }
    }

    /// The format of a text that begins with an object.
    fn format(&mut self) -> Result<Format, ReadError> {
        let text = self.text;
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let walked = deserializer.deserialize_map(&mut *self);
        if let Some(format) = self.format {
            return Ok(format);
        }
        walked.map_err(|error| walk::error(text, text, &error))?;
        if let Err(error) = deserializer.end() {
            let rest = &text.as_bytes()[offset_at(text, error.line(), error.column())..];
            return if rest.first() == Some(&b'{') { Ok(Format::Jsonl) } else { Err(walk::error(text, text, &error)) };
        }
        self.whole()
    }

    /// Looks at a key, and at the text from its value on.
    fn key(&mut self, key: Cow<'t, str>, value: &'t str) {
        self.keys.push(key.to_string());
        self.plain &= is_text_or_texts(value);
        match key.as_ref() {
            "annotations" if is_list_of_objects(value) => {
                self.format = Some(Format::Coco);
                self.foreign = lacks(value, "image_id");
            }
            "images" if is_list_of_objects(value) => {
                self.images = true;
                if has(value, "sentences") {
                    self.format = Some(Format::Karpathy);
                }
            }
            "image_id" => self.row[0] = true,
            "caption" | "captions" => self.row[1] = true,
            _ => self.unknown += 1,
        }
        if self.row == [true; 2] {
            self.format = Some(Format::Jsonl);
        } else if self.unknown > UNKNOWN_KEYS && !self.images && !self.begins_with_object() {
            self.format = Some(Format::Mapping);
        }
        self.first.get_or_insert((key, value));
    }

    /// Whether the first value is an object, which no mapping has.
    fn begins_with_object(&self) -> bool {
        self.first.as_ref().is_some_and(|(_, value)| value.starts_with('{'))
    }

    /// The format of a file that is this one object and nothing else.
    fn whole(&self) -> Result<Format, ReadError> {
        match &self.first {
            _ if self.images => {
                Err(ReadError::shape("an object with \"images\", but no \"annotations\" and no \"sentences\""))
            }
            Some((key, value)) if value.starts_with('{') => {
                let found =
                    format!("an object whose first value, under \"{}\", is {}", shorten(key, 40), describe(value));
                Err(ReadError::shape(&found).at(self.text, offset_of(self.text, value)))
            }
            _ => Ok(Format::Mapping),
        }
    }
}

impl<'t> Visitor<'t> for &mut Probe<'t> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Key(key)) = map.next_key()? {
            let value = match &key {
                Cow::Borrowed(key) => value_after(self.text, key),
                Cow::Owned(_) => "",
            };
            self.key(key, value);
            if self.format.is_some() {
                return Err(A::Error::custom("the format is known; no need to read on"));
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

/// The text from the value of this key on; the key is a slice of the text.
fn value_after<'t>(text: &'t str, key: &str) -> &'t str {
    let colon = text[offset_of(text, key) + key.len()..].strip_prefix('"').unwrap_or_default().trim_start();
    colon.strip_prefix(':').unwrap_or_default().trim_start()
}

/// Whether a JSON text begins with a text, or with a list that is empty or begins with one.
fn is_text_or_texts(json: &str) -> bool {
    json.starts_with('"') || json.strip_prefix('[').is_some_and(|list| list.trim_start().starts_with(['"', ']']))
}

/// Whether a JSON text begins with a list that is empty or begins with an object.
fn is_list_of_objects(json: &str) -> bool {
    json.strip_prefix('[').is_some_and(|list| list.trim_start().starts_with(['{', ']']))
}

/// Whether the first object of a JSON list has this key.
fn has(json: &str, key: &'static str) -> bool {
    first_has(json, key) == Some(true)
}

/// Whether the first object of a JSON list lacks this key.
fn lacks(json: &str, key: &'static str) -> bool {
    first_has(json, key) == Some(false)
}

/// Whether the first object of a JSON list has this key; `None` where it has no object.
fn first_has(json: &str, key: &'static str) -> Option<bool> {
    let first = json.trim_start_matches(['[', ' ', '\t', '\n', '\r']);
    Fields::parse_start(first, [key]).ok().map(|fields| fields.values[0].is_some())
}
