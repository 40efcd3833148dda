//! Recognising a format from the first structure in the file.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::error::ReadError;
use super::format::Format;
use super::json::{Fields, Key, describe, shorten};
use super::position::{offset_at, offset_of};
use super::{delimited, flickr, walk};

/// An object with more unknown keys than this before any known one is a mapping.
const UNKNOWN_KEYS: usize = 64;

/// The format of a text that is not blank.
pub(super) fn format(text: &str) -> Result<Format, ReadError> {
    match text.trim_start().as_bytes() {
        [b'{', ..] => object(text),
        [b'[', ..] => Ok(Format::List),
        _ if flickr::detect(text) => Ok(Format::Flickr),
        _ => delimited::detect(text).ok_or_else(|| {
            let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            let start = offset_of(text, line);
            ReadError::shape(&format!("a text that begins \"{}\"", shorten(line, 60))).at(text, start)
        }),
    }
}

/// The format of a text that begins with an object.
fn object(text: &str) -> Result<Format, ReadError> {
    let mut probe = Probe { text, format: None, first: None, unknown: 0, images: false, row: [false; 2] };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let walked = deserializer.deserialize_map(&mut probe);
    if let Some(format) = probe.format {
        return Ok(format);
    }
    walked.map_err(|error| walk::error(text, text, &error))?;
    if let Err(error) = deserializer.end() {
        let rest = &text.as_bytes()[offset_at(text, error.line(), error.column())..];
        return if rest.first() == Some(&b'{') { Ok(Format::Jsonl) } else { Err(walk::error(text, text, &error)) };
    }
    probe.whole()
}

/// The keys of the file's first object, as far as they tell the format.
struct Probe<'t> {
    text: &'t str,
    format: Option<Format>,
    /// The first key, and the text from its value on.
    first: Option<(Cow<'t, str>, &'t str)>,
    unknown: usize,
    images: bool,
    /// Whether `image_id` and `caption` or `captions` were seen.
    row: [bool; 2],
}

impl<'t> Probe<'t> {
    /// Looks at a key, and at the text from its value on.
    fn key(&mut self, key: Cow<'t, str>, value: &'t str) {
        match key.as_ref() {
            "annotations" if is_list_of_objects(value) => self.format = Some(Format::Coco),
            "images" if is_list_of_objects(value) => {
                self.images = true;
                if has_sentences(value) {
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
    fn whole(self) -> Result<Format, ReadError> {
        match self.first {
            _ if self.images => {
                Err(ReadError::shape("an object with \"images\", but no \"annotations\" and no \"sentences\""))
            }
            Some((key, value)) if value.starts_with('{') => {
                let found =
                    format!("an object whose first value, under \"{}\", is {}", shorten(&key, 40), describe(value));
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

/// Whether a JSON text begins with a list that is empty or begins with an object.
fn is_list_of_objects(json: &str) -> bool {
    json.strip_prefix('[').is_some_and(|list| list.trim_start().starts_with(['{', ']']))
}

/// Whether the first object of a JSON list has `sentences`.
fn has_sentences(json: &str) -> bool {
    let first = json.trim_start_matches(['[', ' ', '\t', '\n', '\r']);
    Fields::parse_start(first, ["sentences"]).is_ok_and(|fields| fields.values[0].is_some())
}
