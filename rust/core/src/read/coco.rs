//! COCO's own annotation files.

use serde_json::value::RawValue;

use super::collect::Collector;
use super::error::{ReadError, ReadErrorKind};
use super::json::Fields;
use super::{list, walk};
use crate::text::captions::Captions;

/// Reads `{"images": [{"id": 1}, …], "annotations": [{"image_id": 1, "caption": "…"}, …]}`.
///
/// The two keys come in either order; `images`, where present, gives the order of the images, and an image that
/// no annotation names is kept, without captions.
pub(super) fn read(mut captions: Collector<'_>) -> Result<Captions, ReadError> {
    let text = captions.text;
    let fields = Fields::parse(text, ["images", "annotations"]).map_err(|error| walk::error(text, text, &error))?;
    let [images, annotations] = fields.values;
    let Some(annotations) = annotations else {
        let keys = fields.keys(text).join(", ");
        let message = format!("a COCO file needs the key \"annotations\"; this one's keys are {keys}");
        return Err(ReadError::new(ReadErrorKind::MissingKey, message));
    };
    if let Some(images) = images {
        order(&mut captions, images)?;
    }
    list::rows(&mut captions, annotations.get())?;
    captions.finish()
}

/// Gives the images their order.
fn order<'t>(captions: &mut Collector<'t>, images: &'t RawValue) -> Result<(), ReadError> {
    let mut row = 0;
    let walked = walk::objects(images.get(), ["id"], |fields| {
        row += 1;
        match fields.values {
            [Some(id)] => {
                if let Some(id) = captions.id(id, Some(row)) {
                    captions.image(&id);
                }
            }
            [None] => captions.missing(row, &fields, "\"id\""),
        }
    });
    walked.map_err(|error| walk::error(captions.text, images.get(), &error))
}
