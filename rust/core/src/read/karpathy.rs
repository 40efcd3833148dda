//! The split files that Karpathy published for COCO, Flickr8k and Flickr30k.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::collect::Collector;
use super::error::{ReadError, ReadErrorKind};
use super::json::{self, Fields};
use super::walk;
use crate::text::captions::Captions;

/// The keys of an image.
const IMAGE: [&str; 5] = ["split", "sentences", "cocoid", "filename", "imgid"];

/// Reads `{"images": [{"split": "test", "cocoid": 1, "sentences": [{"raw": "…"}, …]}, …]}`.
///
/// An image goes by its `cocoid`, or else its `filename`, or else its `imgid`. With a `split`, only its images.
pub(super) fn read(mut captions: Collector<'_>, split: Option<&str>) -> Result<Captions, ReadError> {
    let text = captions.text;
    let fields = Fields::parse(text, ["images"]).map_err(|error| walk::error(text, text, &error))?;
    let [Some(images)] = fields.values else {
        let keys = fields.keys(text).join(", ");
        let message = format!("a Karpathy split file needs the key \"images\"; this one's keys are {keys}");
        return Err(ReadError::new(ReadErrorKind::MissingKey, message));
    };
    let mut splits = Splits { wanted: split, seen: Vec::new() };
    let mut row = 0;
    let walked = walk::objects(images.get(), IMAGE, |fields| {
        row += 1;
        if splits.take(fields.values[0]) {
            image(&mut captions, row, &fields);
        }
    });
    walked.map_err(|error| walk::error(text, images.get(), &error))?;
    splits.check()?;
    captions.finish()
}

/// Adds one image's sentences.
fn image<'t>(captions: &mut Collector<'t>, row: usize, fields: &Fields<'t, 5>) {
    let [_, sentences, cocoid, filename, imgid] = fields.values;
    let Some(id) = cocoid.or(filename).or(imgid) else {
        return captions.missing(row, fields, "\"cocoid\", \"filename\" or \"imgid\"");
    };
    let Some(id) = captions.id(id, Some(row)) else { return };
    let Some(list) = sentences else { return captions.missing(row, fields, "\"sentences\"") };
    captions.image(&id);
    let walked = walk::objects(list.get(), ["raw"], |sentence| match sentence.values {
        [Some(raw)] => captions.caption(&id, raw, Some(row)),
        [None] => captions.missing(row, &sentence, "\"raw\" in a sentence"),
    });
    if walked.is_err() {
        let found = json::describe(list.get());
        let message = format!(
            "\"sentences\" of image {} (row {row}) must be a list of objects with \"raw\", not {found}",
            json::shorten(&id, 60)
        );
        captions.offend(captions.offence(ReadErrorKind::CaptionNotText, list.get(), Some(&id), Some(row), message));
    }
}

/// Which split is wanted, and which there are.
struct Splits<'s, 't> {
    wanted: Option<&'s str>,
    seen: Vec<(Cow<'t, str>, usize)>,
}

impl<'t> Splits<'_, 't> {
    /// Notes an image's split; whether the image is wanted.
    fn take(&mut self, split: Option<&'t RawValue>) -> bool {
        let Some(wanted) = self.wanted else { return true };
        let Some(Ok(split)) = split.map(json::text) else { return false };
        let is_wanted = is_in(&split, wanted);
        match self.seen.iter_mut().find(|(name, _)| *name == split) {
            Some((_, count)) => *count += 1,
            None => self.seen.push((split, 1)),
        }
        is_wanted
    }

    /// Fails when the wanted split is not among those there are.
    fn check(&self) -> Result<(), ReadError> {
        let Some(wanted) = self.wanted else { return Ok(()) };
        if self.seen.iter().any(|(name, _)| is_in(name, wanted)) {
            return Ok(());
        }
        let there = self.seen.iter().map(|(name, count)| format!("{name} ({count} images)")).collect::<Vec<_>>();
        let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
        let message = format!("no image is in the split {wanted:?}; the splits in this file are {there}");
        Err(ReadError::new(ReadErrorKind::UnknownSplit, message))
    }
}

/// Whether an image of that split belongs to the wanted one: those of `restval` are for training, too.
fn is_in(split: &str, wanted: &str) -> bool {
    split == wanted || (split == "restval" && wanted == "train")
}
