//! The token files of Flickr8k and Flickr30k.

use super::collect::{Collector, Offence};
use super::error::{ReadError, ReadErrorKind};
use super::json::shorten;
use super::position::offset_of;
use crate::text::captions::Captions;

/// Reads lines of `name.jpg#0`, a tab, the caption. The image goes by its file name.
pub(super) fn read(mut captions: Collector<'_>) -> Result<Captions, ReadError> {
    let text = captions.text;
    for (row, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        match parts(line) {
            Some((image, caption)) => captions.text(image, caption),
            None => malformed(&mut captions, row + 1, line),
        }
    }
    captions.finish()
}

/// Whether the text begins like a token file.
pub(super) fn detect(text: &str) -> bool {
    text.lines().find(|line| !line.trim().is_empty()).is_some_and(|line| parts(line).is_some())
}

/// Image and caption of a line.
fn parts(line: &str) -> Option<(&str, &str)> {
    let (name, caption) = line.split_once('\t')?;
    let (image, number) = name.rsplit_once('#')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !image.is_empty()).then_some((image, caption))
}

/// Counts a line that is not of the format.
fn malformed(captions: &mut Collector<'_>, row: usize, line: &str) {
    let message = format!("\"{}\" is not name.jpg#0, a tab and a caption", shorten(line, 40));
    let offset = offset_of(captions.text, line);
    captions.offend(Offence { kind: ReadErrorKind::Malformed, offset, image: None, row: Some(row), message });
}
