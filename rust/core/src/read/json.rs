//! Walking JSON without building a tree: values stay slices of the file until they are needed as text.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::error::ReadErrorKind;
use super::position::offset_of;

/// Key names that a message lists.
const KEYS_LISTED: usize = 8;

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

    /// The rule that is broken: `other`, unless the value is half a character.
    pub(super) fn kind(&self, other: ReadErrorKind) -> ReadErrorKind {
        match self {
            Self::Other(_) => other,
            Self::Surrogate(..) => ReadErrorKind::LoneSurrogate,
        }
    }

    /// The place of the problem in the value.
    pub(super) fn place<'t>(&self, value: &'t RawValue) -> &'t str {
        match self {
            Self::Other(_) => value.get(),
            Self::Surrogate(offset, _) => value.get().get(*offset..).unwrap_or(value.get()),
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

/// The values of some keys of an object, in the order the keys were asked for; all others are skipped.
///
/// A key given twice counts as it was given last, as in Python.
pub(super) struct Fields<'t, const N: usize> {
    pub(super) values: [Option<&'t RawValue>; N],
    /// The object's first key, where it has one: a slice of the file that says where the object is.
    first_key: Option<&'t str>,
}

impl<'t, const N: usize> Fields<'t, N> {
    /// Reads the object that `json` is.
    pub(super) fn parse(json: &'t str, names: [&'static str; N]) -> serde_json::Result<Self> {
        let mut deserializer = serde_json::Deserializer::from_str(json);
        let fields = Names(names).deserialize(&mut deserializer)?;
        deserializer.end()?;
        Ok(fields)
    }

    /// Reads the object that `json` begins with.
    pub(super) fn parse_start(json: &'t str, names: [&'static str; N]) -> serde_json::Result<Self> {
        Names(names).deserialize(&mut serde_json::Deserializer::from_str(json))
    }

    /// The text from the object's opening brace on.
    pub(super) fn start(&self, text: &'t str) -> &'t str {
        let value = || self.values.iter().flatten().map(|value| value.get()).next();
        let Some(inside) = self.first_key.or_else(value) else { return text };
        let offset = offset_of(text, inside);
        &text[text[..offset].rfind('{').unwrap_or(offset)..]
    }

    /// The names of the object's first keys.
    pub(super) fn keys(&self, text: &'t str) -> Vec<String> {
        let mut keys = Keys(Vec::new());
        if self.first_key.is_some() {
            // The object was read before, so only a stop at the listing's limit can end this early.
            let stopped = serde_json::Deserializer::from_str(self.start(text)).deserialize_map(&mut keys);
            drop(stopped);
        }
        keys.0
    }
}

/// Reads an object's fields by name.
#[derive(Clone, Copy)]
pub(super) struct Names<const N: usize>(pub(super) [&'static str; N]);

impl<'de, const N: usize> DeserializeSeed<'de> for Names<N> {
    type Value = Fields<'de, N>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, const N: usize> Visitor<'de> for Names<N> {
    type Value = Fields<'de, N>;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "an object with the keys {}", self.0.join(", "))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Fields { values: [None; N], first_key: None };
        while let Some(Key(key)) = map.next_key()? {
            match self.0.iter().position(|name| *name == key) {
                Some(index) => fields.values[index] = Some(map.next_value()?),
                None => drop(map.next_value::<IgnoredAny>()?),
            }
            if let (None, Cow::Borrowed(key)) = (fields.first_key, key) {
                fields.first_key = Some(key);
            }
        }
        Ok(fields)
    }
}

/// Collects the first few keys of an object.
struct Keys(Vec<String>);

impl<'de> Visitor<'de> for &mut Keys {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Key(key)) = map.next_key()? {
            if self.0.len() == KEYS_LISTED {
                self.0.push("…".to_owned());
                break;
            }
            self.0.push(shorten(&key, 40));
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
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
