//! Walking JSON without building a tree: values stay slices of the file until they are needed as text.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Visitor};
use serde_json::value::RawValue;

/// How to repair a text that holds half a surrogate pair.
pub const MEND_SURROGATES: &str = "write the whole character, or mend the text in Python with \
    text.encode(\"utf-16\", \"surrogatepass\").decode(\"utf-16\", \"replace\")";

/// Why a value is not text, or not an image id.
pub(super) enum Problem {
    /// It is something else: what it is.
    Other(String),
    /// It holds half a character: the offset of the escape in the value, and the escape.
    Surrogate(usize, String),
}

impl Problem {
    /// The end of a sentence that begins `the caption of image 5 is`.
    pub(super) fn message(&self, rule: &str) -> String {
        match self {
            Self::Other(found) => format!("{found}; {rule}"),
            Self::Surrogate(_, escape) => format!("not text: {}", half_character(escape)),
        }
    }
}

/// The problem with a lone surrogate, and its repair.
pub(super) fn half_character(escape: &str) -> String {
    format!("the escape {escape} is half a surrogate pair; {MEND_SURROGATES}")
}

/// A JSON string as text, without a copy when it has no escapes.
pub(super) fn text(value: &RawValue) -> Result<Cow<'_, str>, Problem> {
    let json = value.get();
    let Some(inner) = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return Err(Problem::Other(describe(json)));
    };
    if !inner.contains('\\') {
        return Ok(Cow::Borrowed(inner));
    }
    serde_json::from_str(json).map(Cow::Owned).map_err(|_| lone_surrogate(json))
}

/// An image id as text: a string as it is, a whole number by its digits, of whatever size.
pub(super) fn image_id(value: &RawValue) -> Result<Cow<'_, str>, Problem> {
    let json = value.get();
    match json.as_bytes() {
        [b'"', ..] => text(value),
        b"-0" => Ok(Cow::Borrowed("0")),
        [b'-' | b'0'..=b'9', rest @ ..] if rest.iter().all(u8::is_ascii_digit) => Ok(Cow::Borrowed(json)),
        _ => Err(Problem::Other(describe(json))),
    }
}

/// Finds the lone surrogate in a JSON string that is otherwise well-formed.
pub(super) fn lone_surrogate(json: &str) -> Problem {
    let mut offset = 0;
    while let Some(found) = json[offset..].find('\\') {
        offset += found;
        match (unit(json, offset), unit(json, offset + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => offset += 12,
            (Some(0xd800..=0xdfff), _) => break,
            (Some(_), _) => offset += 6,
            (None, _) => offset += 2,
        }
    }
    Problem::Surrogate(offset, json.get(offset..offset + 6).unwrap_or_default().to_owned())
}

/// The UTF-16 unit of the escape `\uXXXX` at this offset, if there is one.
fn unit(json: &str, offset: usize) -> Option<u32> {
    let escape = json.get(offset..offset + 6)?;
    u32::from_str_radix(escape.strip_prefix("\\u")?, 16).ok()
}

/// Names the kind of a JSON value.
pub(super) fn describe(json: &str) -> String {
    match json.as_bytes().first() {
        Some(b'"') => "a string".to_owned(),
        Some(b'[') => "a list".to_owned(),
        Some(b'{') => "an object".to_owned(),
        Some(b'-' | b'0'..=b'9') => format!("the number {}", shorten(json, 24)),
        _ => shorten(json, 24),
    }
}

/// The first characters of a text on one line: control characters are escaped, an ellipsis stands for the rest.
pub(super) fn shorten(text: &str, characters: usize) -> String {
    let mut short = String::new();
    for (number, character) in text.chars().enumerate() {
        if number == characters {
            short.push('…');
            break;
        }
        if character.is_control() {
            short.extend(character.escape_default());
        } else {
            short.push(character);
        }
    }
    short
}

/// An object's key, borrowed from the file when it has no escapes.
pub(super) struct Key<'t>(pub(super) Cow<'t, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(key)))
            }

            fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}
