//! Objects from image id to caption or captions.

use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::collect::Collector;
use super::error::{ReadError, ReadErrorKind};
use super::json::{Key, shorten};
use super::walk;
use crate::text::captions::Captions;

/// Reads `{"1": "…", "2": ["…", "…"], …}`.
pub(super) fn read(mut captions: Collector<'_>) -> Result<Captions, ReadError> {
    let text = captions.text;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let walked = deserializer.deserialize_map(Mapping(&mut captions)).and_then(|()| deserializer.end());
    walked.map_err(|error| walk::error(text, text, &error))?;
    captions.finish()
}

/// Adds the entries of an object.
struct Mapping<'c, 't>(&'c mut Collector<'t>);

impl<'t> Visitor<'t> for Mapping<'_, 't> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("an object from image id to caption or captions")
    }

    fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<(), A::Error> {
        let captions = self.0;
        let mut entries = 0;
        while let Some((Key(id), value)) = map.next_entry::<Key, &'t RawValue>()? {
            if captions.image(&id) == entries {
                entries += 1;
                match value.get().as_bytes() {
                    [b'[', ..] => captions.captions(&id, value, None),
                    _ => captions.caption(&id, value, None),
                }
            } else {
                let message =
                    format!("image {} stands twice in the mapping; put its captions in one list", shorten(&id, 60));
                let offence = captions.offence(ReadErrorKind::RepeatedImage, value.get(), Some(&id), None, message);
                captions.offend(offence);
            }
        }
        Ok(())
    }
}
