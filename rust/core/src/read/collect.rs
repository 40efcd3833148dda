//! The captions found so far, and the invalid rows.

use serde_json::value::RawValue;

use super::error::{ReadError, ReadErrorKind};
use super::json::{self, Fields};
use super::position::offset_of;
use super::tally::Tally;
use super::walk;
use crate::text::captions::{Captions, CaptionsBuilder};

/// The keys of a row, in the order [`Collector::row`] takes their values.
pub(super) const ROW: [&str; 3] = ["image_id", "caption", "captions"];

/// Takes what a reader finds. Offending rows are counted and reported when the file ends.
pub(super) struct Collector<'t> {
    /// The whole file: every value a reader hands over is a slice of it.
    pub(super) text: &'t str,
    builder: CaptionsBuilder,
    /// The first offence, and the count of all of its kind.
    offences: Option<(Offence, Tally)>,
}

/// One invalid row: which rule it breaks, where, and the message.
pub(super) struct Offence {
    pub(super) kind: ReadErrorKind,
    pub(super) offset: usize,
    pub(super) image: Option<String>,
    pub(super) row: Option<usize>,
    pub(super) message: String,
}

impl<'t> Collector<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, builder: CaptionsBuilder::new(), offences: None }
    }

    /// Gives an image its place in the order; returns its number.
    pub(super) fn image(&mut self, id: &str) -> u32 {
        self.builder.image(id)
    }

    /// Adds one caption, already text.
    pub(super) fn text(&mut self, id: &str, caption: &str) {
        self.builder.caption(id, caption);
    }

    /// Adds a row: an image id with a caption or a list of them. `fields` are those of [`ROW`].
    pub(super) fn row(&mut self, row: usize, fields: &Fields<'t, 3>) {
        let [id, caption, captions] = fields.values;
        let Some(id) = id else { return self.missing(row, fields, "\"image_id\"") };
        let Some(id) = self.id(id, Some(row)) else { return };
        match (caption, captions) {
            (Some(caption), None) if caption.get().starts_with('[') => self.captions(&id, caption, Some(row)),
            (Some(caption), None) => self.caption(&id, caption, Some(row)),
            (None, Some(captions)) => self.captions(&id, captions, Some(row)),
            (None, None) => self.missing(row, fields, "\"caption\" or \"captions\""),
            (Some(caption), Some(_)) => {
                let message = format!("row {row} has both \"caption\" and \"captions\"; keep one of them");
                self.offend(self.offence(ReadErrorKind::MissingKey, caption.get(), Some(&id), Some(row), message));
            }
        }
    }

    /// An image id as text; `None`, and an offence, when it is not an id.
    pub(super) fn id(&mut self, id: &'t RawValue, row: Option<usize>) -> Option<std::borrow::Cow<'t, str>> {
        match json::image_id(id) {
            Ok(id) => Some(id),
            Err(problem) => {
                let message = format!(
                    "{} {}",
                    subject("the image id", None, row),
                    problem.message("image ids must be strings or whole numbers")
                );
                let kind = problem.kind(ReadErrorKind::BadImageId);
                self.offend(self.offence(kind, problem.place(id), None, row, message));
                None
            }
        }
    }

    /// Adds one caption of an image.
    pub(super) fn caption(&mut self, id: &str, caption: &'t RawValue, row: Option<usize>) {
        match json::text(caption) {
            Ok(caption) => self.builder.caption(id, &caption),
            Err(problem) => self.not_text(id, caption, row, &problem),
        }
    }

    /// Adds a list of captions of an image, which may be empty; a null in it is an empty caption. A row or an image
    /// whose only caption is null says nothing, and may be a failed call of a model.
    pub(super) fn captions(&mut self, id: &str, captions: &'t RawValue, row: Option<usize>) {
        self.image(id);
        if !captions.get().starts_with('[') {
            let found = json::describe(captions.get());
            let message = format!("{} {found}; it must be a list of strings", subject("\"captions\"", Some(id), row));
            return self.offend(self.offence(ReadErrorKind::CaptionNotText, captions.get(), Some(id), row, message));
        }
        walk::elements(captions, |caption| match caption.get() {
            "null" => self.builder.caption(id, ""),
            _ => self.caption(id, caption, row),
        })
        .expect("a raw value is well-formed");
    }

    /// Counts a caption that is not a string.
    fn not_text(&mut self, id: &str, caption: &'t RawValue, row: Option<usize>, problem: &json::Problem) {
        let message =
            format!("{} {}", subject("the caption", Some(id), row), problem.message("captions must be strings"));
        let kind = problem.kind(ReadErrorKind::CaptionNotText);
        self.offend(self.offence(kind, problem.place(caption), Some(id), row, message));
    }

    /// Counts a row that lacks a key.
    pub(super) fn missing<const N: usize>(&mut self, row: usize, fields: &Fields<'t, N>, key: &str) {
        let has = fields.keys(self.text);
        let message = if has.is_empty() {
            format!("row {row} has no {key}: it is empty")
        } else {
            format!("row {row} has no {key}; its keys are {}", has.join(", "))
        };
        self.offend(self.offence(ReadErrorKind::MissingKey, fields.start(self.text), None, Some(row), message));
    }

    /// An offence at `place`, a slice of the file.
    pub(super) fn offence(
        &self,
        kind: ReadErrorKind,
        place: &str,
        image: Option<&str>,
        row: Option<usize>,
        message: String,
    ) -> Offence {
        Offence { kind, offset: offset_of(self.text, place), image: image.map(str::to_owned), row, message }
    }

    /// Counts an offence. The first one's kind is the one that will be reported.
    pub(super) fn offend(&mut self, offence: Offence) {
        let name = name(&offence);
        match &mut self.offences {
            None => {
                let tally = Tally::new(offence.message.clone(), name);
                self.offences = Some((offence, tally));
            }
            Some((first, tally)) if first.kind == offence.kind => tally.add(name),
            Some(_) => {}
        }
    }

    /// The captions, or the report of the offences.
    pub(super) fn finish(self) -> Result<Captions, ReadError> {
        let Some((first, tally)) = self.offences else { return Ok(self.builder.finish()) };
        Err(ReadError::new(first.kind, tally.sentence()).at(self.text, first.offset))
    }
}

/// `the caption of image 5 (row 7) is`.
fn subject(what: &str, image: Option<&str>, row: Option<usize>) -> String {
    let image = image.map(|id| format!(" of image {}", json::shorten(id, 60))).unwrap_or_default();
    let row = row.map(|row| if image.is_empty() { format!(" of row {row}") } else { format!(" (row {row})") });
    format!("{what}{image}{} is", row.unwrap_or_default())
}

/// How a list of offenders calls this one.
fn name(offence: &Offence) -> String {
    match (&offence.image, offence.row) {
        (Some(image), _) => format!("image {}", json::shorten(image, 60)),
        (None, Some(row)) => format!("row {row}"),
        (None, None) => format!("byte {}", offence.offset),
    }
}
