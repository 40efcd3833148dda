//! Walking JSON lists, and saying where a walk failed.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;

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

/// What serde says, without the position.
pub(super) fn said(error: &serde_json::Error) -> String {
    let said = error.to_string();
    said.rsplit_once(" at line ").map_or(said.as_str(), |(said, _)| said).to_owned()
}
