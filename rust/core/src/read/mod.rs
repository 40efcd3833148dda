//! Reading caption files: bytes in, [`Captions`] out.
//!
//! Every format is recognised from what the file holds, not from its name; a caller may also say which it is.
//! JSON is never turned into a tree: a reader walks the text, borrows what it needs from it and copies each
//! caption once, into the arena of `Captions`. Invalid rows (a caption that is a number, say) do not end
//! the reading: they are counted, so that one message names the first few and says how many there are. The commonest files
//! are read by a shorter way.

mod coco;
mod collect;
mod delimited;
mod detect;
mod error;
mod flickr;
mod format;
mod json;
mod jsonl;
mod karpathy;
mod list;
mod mapping;
mod position;
pub mod rows;
mod tally;
mod usual;
mod walk;

pub use delimited::{Header, header};
pub use detect::{Layout, names_of_lines};
pub use error::{ReadError, ReadErrorKind};
pub use format::{Format, UnknownFormat};
pub use json::MEND_SURROGATES;
pub use tally::Tally;

use crate::text::captions::Captions;
use collect::Collector;

/// Bytes in which the first key of a usual file ends.
const FIRST_KEY: usize = 1 << 10;

/// Captions of a file's bytes.
///
/// `format` overrides recognition. `split` keeps the images of one split of a Karpathy file, and is an error in
/// any other format; without it all images are kept. A UTF-8 byte-order mark is accepted.
pub fn captions(bytes: &[u8], format: Option<Format>, split: Option<&str>) -> Result<Captions, ReadError> {
    let text = utf8(bytes)?;
    if split.is_none()
        && let Some(captions) = usual::captions(text, format)
    {
        return Ok(captions);
    }
    by_format(text, format, split)
}

/// The same by the format's own reader.
fn by_format(text: &str, format: Option<Format>, split: Option<&str>) -> Result<Captions, ReadError> {
    if text.trim().is_empty() {
        return Err(ReadError::empty());
    }
    let format = format.map_or_else(|| detect::format(text), Ok)?;
    if split.is_some() && format != Format::Karpathy {
        return Err(ReadError::split_unsupported(format));
    }
    let collector = Collector::new(text);
    match format {
        Format::Coco => coco::read(collector),
        Format::Karpathy => karpathy::read(collector, split),
        Format::List => list::read(collector),
        Format::Mapping => mapping::read(collector),
        Format::Jsonl => jsonl::read(collector),
        Format::Csv | Format::Tsv => delimited::read(collector, format),
        Format::Flickr => flickr::read(collector),
    }
}

/// The captions of COCO's annotations as they usually are; `None` for any other file, and where a reader must see.
///
/// [`look`] says of such a file that it is [`Layout::Coco`], after it has gone through all images to see the annotations.
pub fn usual_coco(bytes: &[u8]) -> Option<Captions> {
    let start = beginning(&bytes[..bytes.len().min(FIRST_KEY)]).ok()?;
    if usual::is_like_coco(start) { usual::captions(utf8(bytes).ok()?, Some(Format::Coco)) } else { None }
}

/// How a file, or the beginning of one, is laid out; and the names of its columns, or the keys of its first rows.
pub fn look(bytes: &[u8]) -> Result<(Layout, Vec<String>), ReadError> {
    let text = beginning(bytes)?;
    if text.trim().is_empty() { Err(ReadError::empty()) } else { Ok(detect::look(text)) }
}

/// The bytes as text, of which the last character may be cut off.
pub fn beginning(bytes: &[u8]) -> Result<&str, ReadError> {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => utf8(&bytes[..error.valid_up_to()]),
        _ => utf8(bytes),
    }
}

/// The bytes as text, without a byte-order mark.
fn utf8(bytes: &[u8]) -> Result<&str, ReadError> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(error) => Err(ReadError::not_utf8(bytes, error.valid_up_to())),
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
