//! Lists of rows: COCO results, and lists of caption sets.

use super::collect::{Collector, ROW};
use super::error::ReadError;
use super::walk;
use crate::text::captions::Captions;

/// Reads `[{"image_id": 1, "caption": "…"}, …]`, or the same with `"captions": ["…", …]`.
pub(super) fn read(mut captions: Collector<'_>) -> Result<Captions, ReadError> {
    let text = captions.text;
    rows(&mut captions, text)?;
    captions.finish()
}

/// Adds the rows of a JSON list, which is a slice of the file.
pub(super) fn rows<'t>(captions: &mut Collector<'t>, list: &'t str) -> Result<(), ReadError> {
    let mut row = 0;
    let walked = walk::objects(list, ROW, |fields| {
        row += 1;
        captions.row(row, &fields);
    });
    walked.map_err(|error| walk::error(captions.text, list, &error))
}
