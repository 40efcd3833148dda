//! JSON lines: one row after the other, without a list around them.

use serde_json::value::RawValue;

use super::collect::{Collector, ROW};
use super::error::ReadError;
use super::json::Fields;
use super::walk;
use crate::text::captions::Captions;

/// Reads rows of `{"image_id": 1, "caption": "…"}` or `{"image_id": 1, "captions": ["…", …]}`.
///
/// Blank lines are skipped, and a row may run over several lines.
pub(super) fn read(mut captions: Collector<'_>) -> Result<Captions, ReadError> {
    let text = captions.text;
    let rows = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    for (row, value) in rows.enumerate() {
        let value = value.map_err(|error| walk::error(text, text, &error))?;
        let fields = Fields::parse(value.get(), ROW).map_err(|error| walk::error(text, value.get(), &error))?;
        captions.row(row + 1, &fields);
    }
    captions.finish()
}
