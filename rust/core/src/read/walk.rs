//! Walking JSON lists, and saying where a walk failed.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::error::{ReadError, ReadErrorKind};
use super::json::{self, Fields, Names};
use super::position::{offset_at, offset_of};

/// Calls `visit` with every object of the JSON list, as the values of the named keys.
pub(super) fn objects<'t, const N: usize>(
    list: &'t str,
    names: [&'static str; N],
    visit: impl FnMut(Fields<'t, N>),
) -> serde_json::Result<()> {
    walk(list, List { element: Names(names), visit })
}

/// Calls `visit` with every element of the JSON list, whatever it is.
pub(super) fn elements<'t>(list: &'t RawValue, visit: impl FnMut(&'t RawValue)) -> serde_json::Result<()> {
    walk(list.get(), List { element: std::marker::PhantomData, visit })
}

fn walk<'t, V: Visitor<'t, Value = ()>>(json: &'t str, visitor: V) -> serde_json::Result<()> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    deserializer.deserialize_seq(visitor)?;
    deserializer.end()
}

/// Hands each element of a list, read by the seed, to `visit`.
struct List<S, F> {
    element: S,
    visit: F,
}

impl<'de, S: DeserializeSeed<'de> + Copy, F: FnMut(S::Value)> Visitor<'de> for List<S, F> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(element) = list.next_element_seed(self.element)? {
            (self.visit)(element);
        }
        Ok(())
    }
}

/// Why walking `part`, a slice of the file's `text`, failed.
pub(super) fn error(text: &str, part: &str, error: &serde_json::Error) -> ReadError {
    let said = &said(error);
    // A list or object of the wrong type is not read: the error stands before its first byte, all others on a byte.
    let before = said.starts_with("invalid type: sequence") || said.starts_with("invalid type: map");
    let offset = offset_of(text, part) + offset_at(part, error.line(), error.column() + usize::from(before));
    match error.classify() {
        Category::Eof => {
            let message = "the JSON ends early, as if the file were cut off; write or download it again";
            ReadError::new(ReadErrorKind::CutOff, message).at(text, text.len())
        }
        Category::Data => ReadError::shape(&found(said)).at(text, offset),
        Category::Syntax | Category::Io => syntax(said, &text[floor(text, offset)..]).at(text, offset),
    }
}

/// What serde says, without the position.
pub(super) fn said(error: &serde_json::Error) -> String {
    let said = error.to_string();
    said.rsplit_once(" at line ").map_or(said.as_str(), |(said, _)| said).to_owned()
}

/// A rule of JSON that the text breaks at `rest`.
fn syntax(said: &str, rest: &str) -> ReadError {
    if said.contains("surrogate") || said.contains("end of hex escape") {
        let message = format!("a key is not text: {}", json::half_character("\\ud800 to \\udfff"));
        return ReadError::new(ReadErrorKind::LoneSurrogate, message);
    }
    let remedy = match rest.as_bytes() {
        [b'N', b'a', b'N', ..] | [b'I', b'n', b'f', ..] => "; NaN and Infinity are not JSON, write null",
        [b'\'', ..] => "; JSON strings stand in double quotes",
        _ => "",
    };
    ReadError::new(ReadErrorKind::Malformed, format!("not valid JSON: {said}{remedy}"))
}

/// Says what serde found and what it expected, in the words of this package.
fn found(said: &str) -> String {
    let said = said.strip_prefix("invalid type: ").unwrap_or(said);
    let (found, expected) = said.rsplit_once(", expected ").unwrap_or((said, "something else"));
    let found = match found {
        "sequence" => "a list".to_owned(),
        "map" => "an object".to_owned(),
        other => json::shorten(other, 60),
    };
    format!("{found} where {expected} should be")
}

/// The nearest character boundary at or before the offset.
fn floor(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or_default()
}
