//! Captions as a file gives them: text, grouped by image.
//!
//! A file may name an image many times and in any order; the group keeps the order of first mention for images
//! and the file's order for the captions of one image, because the COCO tokenizer runs over them in that order.

use std::borrow::Cow;
use std::collections::TryReserveError;

use crc32fast::Hasher;
use memchr::memmem;

use super::vocabulary::Vocabulary;
use crate::Refused;

/// The refusal for columns that do not fit each other.
const CUT: &str = "the lists of captions are not cut where they say";

/// The longest caption that is scored, in bytes. Real ones have hundreds; a megabyte is a file joined by mistake, and
/// would make quadratic alignments take hours.
pub const LONGEST_CAPTION: usize = 100_000;

/// Captions of many images, in one text arena. Image ids are text: `391895` and `"391895"` are one image.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Captions {
    images: Vocabulary,
    /// Captions of image `i` are numbers `first[i]..first[i + 1]`.
    first: Vec<u32>,
    /// Caption `k` is `text[span[k].0..span[k].1]`.
    span: Vec<(usize, usize)>,
    text: String,
}

impl Captions {
    /// Captions that follow each other in one text: the ids of the images, the number of captions of each, and where each
    /// caption ends.
    pub fn of_columns<'a>(
        ids: impl ExactSizeIterator<Item = &'a str>,
        counts: &[usize],
        ends: &[usize],
        text: String,
    ) -> Result<Self, Refused> {
        let cut = ends.is_sorted() && ends.last().is_none_or(|&end| end <= text.len());
        let total = counts.iter().try_fold(0_u32, |total, &count| total.checked_add(u32::try_from(count).ok()?));
        if !cut
            || ids.len() != counts.len()
            || total.map(|total| total as usize) != Some(ends.len())
            || !ends.iter().all(|&end| text.is_char_boundary(end))
        {
            return Err(Refused(CUT.to_owned()));
        }
        let mut images = Vocabulary::default();
        for (number, id) in ids.enumerate() {
            if images.intern(id) as usize != number {
                return Err(Refused(format!("the image id {id} is there twice")));
            }
        }
        let mut first = Vec::with_capacity(counts.len() + 1);
        first.push(0);
        first.extend(counts.iter().scan(0, |total, &count| {
            *total += count as u32;
            Some(*total)
        }));
        let starts = std::iter::once(0).chain(ends.iter().copied());
        Ok(Self { images, first, span: starts.zip(ends.iter().copied()).collect(), text })
    }

    /// Number of images, with or without captions.
    pub fn image_count(&self) -> usize {
        self.images.len()
    }

    /// Number of captions over all images.
    pub fn caption_count(&self) -> usize {
        self.span.len()
    }

    /// Image ids, in order of first mention.
    pub fn images(&self) -> impl ExactSizeIterator<Item = &str> {
        self.images.words()
    }

    /// Id of image number `image`.
    pub fn image_id(&self, image: usize) -> &str {
        self.images.word(image as u32)
    }

    /// Number of the image with this id.
    pub fn image(&self, id: &str) -> Option<usize> {
        self.images.number(id).map(|number| number as usize)
    }

    /// Numbers of the captions of image number `image`.
    pub fn captions_of(&self, image: usize) -> std::ops::Range<usize> {
        self.first[image] as usize..self.first[image + 1] as usize
    }

    /// Text of caption number `caption`.
    pub fn caption(&self, caption: usize) -> &str {
        let (start, end) = self.span[caption];
        &self.text[start..end]
    }

    /// Whether a caption may hold this text: a search of all captions as one text, where it may go over an edge.
    pub fn may_hold(&self, text: &str) -> bool {
        memmem::find(self.text.as_bytes(), text.as_bytes()).is_some()
    }

    /// Captions that cannot be scored: image number and what is wrong, image by image.
    pub fn problems(&self) -> impl Iterator<Item = (usize, String)> {
        (0..self.image_count()).flat_map(move |image| {
            self.captions_of(image).filter_map(move |caption| Some((image, problem(self.caption(caption))?)))
        })
    }
}

fn problem(caption: &str) -> Option<String> {
    if caption.len() > LONGEST_CAPTION {
        return Some(format!(
            "a caption of {} bytes; captions may have up to {LONGEST_CAPTION}: shorten it, or check that no lines were joined \
             by mistake",
            caption.len()
        ));
    }
    // White space (tab, line feed, vertical tab, form feed, carriage return) is a blank to the tokenizers.
    let control = caption.bytes().find(|byte| matches!(byte, 0..=8 | 14..=31 | 127))?;
    Some(format!("a caption with the control character U+{control:04X}; remove it (is the file in another encoding?)"))
}

/// Collects captions in file order, then groups them by image.
#[derive(Debug, Default)]
pub struct CaptionsBuilder {
    images: Vocabulary,
    image_of: Vec<u32>,
    span: Vec<(usize, usize)>,
    text: String,
}

impl CaptionsBuilder {
    /// Gives the image a place in the order, before or without any caption; returns its number.
    pub fn image(&mut self, id: &str) -> u32 {
        self.images.intern(id)
    }

    /// Adds one caption to the image.
    pub fn caption(&mut self, id: &str, text: &str) {
        let image = self.image(id);
        self.caption_of(image, text);
    }

    /// Adds one caption to the image of this number.
    pub fn caption_of(&mut self, image: u32, text: &str) {
        let start = self.text.len();
        self.text.push_str(text);
        self.image_of.push(image);
        self.span.push((start, self.text.len()));
    }

    /// Makes room for captions of so many bytes together, if there is any; what is not used costs no memory.
    pub fn try_reserve(&mut self, bytes: usize) -> Result<(), TryReserveError> {
        self.text.try_reserve(bytes)
    }

    /// Number of images so far.
    pub fn image_count(&self) -> usize {
        self.images.len()
    }

    /// Adds images, and captions, each with the place of its image among these.
    pub fn extend(&mut self, ids: &[&str], captions: &[(usize, Cow<'_, str>)]) {
        let images: Vec<u32> = self.images.intern_all(ids).collect();
        for (place, text) in captions {
            self.caption_of(images[*place], text);
        }
    }

    /// Groups the captions by image: a counting sort, which keeps the file's order within an image.
    pub fn finish(self) -> Captions {
        let mut first = vec![0_u32; self.images.len() + 1];
        for &image in &self.image_of {
            first[image as usize + 1] += 1;
        }
        for image in 1..first.len() {
            first[image] += first[image - 1];
        }
        if self.image_of.is_sorted() {
            return Captions { images: self.images, first, span: self.span, text: self.text };
        }
        let mut next = first.clone();
        let mut span = vec![(0, 0); self.span.len()];
        for (&image, &place) in self.image_of.iter().zip(&self.span) {
            let slot = &mut next[image as usize];
            span[*slot as usize] = place;
            *slot += 1;
        }
        Captions { images: self.images, first, span, text: self.text }
    }
}

// Digests of rows, by which signatures tell what was read.
//
// A row is a key and a text; a digest is the sum of the rows' hashes, so that rows in any order, and parts that are
// added, give the same one. The hash is the CRC-32 of `key NUL text`, mixed by the last step of MurmurHash3: sums of a
// CRC alone, which is linear, stay the same where captions change places. A text of white space is an empty one: some
// formats cannot tell the two apart.

/// The sum of the hashes of rows.
pub fn digest_of_rows<'a>(rows: impl IntoIterator<Item = (&'a str, &'a str)>) -> u32 {
    rows.into_iter().fold(0, |sum, (key, text)| sum.wrapping_add(row_hash(&started(key), text)))
}

/// The rows of these images: id and caption; an image without caption has an empty one. Where captions depend on their
/// neighbours (`in_order`), the number of the image begins the key.
pub fn digest_of_captions<'a>(captions: &Captions, images: impl IntoIterator<Item = &'a str>, in_order: bool) -> u32 {
    let of_image = |(number, id): (usize, &str)| {
        let start = if in_order { started(&format!("{number} {id}")) } else { started(id) };
        let numbers = captions.image(id).map_or(0..0, |image| captions.captions_of(image));
        if numbers.is_empty() {
            return row_hash(&start, "");
        }
        numbers.fold(0, |sum: u32, caption| sum.wrapping_add(row_hash(&start, captions.caption(caption))))
    };
    images.into_iter().enumerate().map(of_image).fold(0, u32::wrapping_add)
}

fn started(key: &str) -> Hasher {
    let mut hasher = Hasher::new();
    hasher.update(key.as_bytes());
    hasher.update(&[0]);
    hasher
}

fn row_hash(start: &Hasher, text: &str) -> u32 {
    let mut hasher = start.clone();
    if !text.trim().is_empty() {
        hasher.update(text.as_bytes());
    }
    let mut hash = hasher.finalize();
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

// Texts that a program wrote of an object: `['a dog']`, `('a dog',)`, `b'a dog'`, `{'a dog'}`, `array(['a dog'])`.

/// Whether a text begins as one that was written of a list, tuple, set, array or bytes.
pub fn begins_written(text: &str) -> bool {
    let text = text.trim_start();
    match text.as_bytes() {
        [b'[' | b'(' | b'{', ..] => match text[1..].trim_start().as_bytes() {
            [b'\'' | b'"', ..] | [b']' | b')'] => true,
            [b'[' | b'{' | b'(', ..] => begins_written(text[1..].trim_start()),
            [b'b', quote, ..] => matches!(quote, b'\'' | b'"'),
            _ => false,
        },
        [b'b', quote, ..] => matches!(quote, b'\'' | b'"'),
        [b'a', ..] => text.strip_prefix("array(").is_some_and(begins_written),
        _ => false,
    }
}

/// Whether a text looks as if it were written of such an object, or is a list without quotes: `[a dog]`.
pub fn looks_written(text: &str) -> bool {
    let text = text.trim();
    let (Some(&first), Some(&last)) = (text.as_bytes().first(), text.as_bytes().last()) else { return false };
    let bare = || first == b'[' && text.contains(' ') && !text[1..text.len() - 1].contains(['[', ']']);
    match (first, last) {
        (b'[', b']') => bare() || begins_written(text),
        (b'(' | b'a', b')') | (b'{', b'}') => begins_written(text),
        (b'b', b'\'' | b'"') => text.len() > 2 && text.as_bytes()[1] == last,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scattered_captions_are_grouped_in_order() {
        let mut builder = CaptionsBuilder::default();
        builder.image("b");
        builder.caption("a", "one");
        builder.caption("b", "two");
        builder.caption("a", "three");
        let captions = builder.finish();
        assert_eq!(captions.images().collect::<Vec<_>>(), ["b", "a"]);
        let texts = |image| captions.captions_of(image).map(|k| captions.caption(k)).collect::<Vec<_>>();
        assert_eq!(texts(0), ["two"]);
        assert_eq!(texts(1), ["one", "three"]);
        for (text, may) in [("wo", true), ("three", true), ("onet", true), ("four", false), ("", true)] {
            assert_eq!(captions.may_hold(text), may, "{text}");
        }
    }
    #[test]
    fn columns_are_cut_where_they_say() {
        let of = |ids: &[&str], counts: &[usize], ends: &[usize], text: &str| {
            Captions::of_columns(ids.iter().copied(), counts, ends, text.to_owned())
        };
        let captions = of(&["b", "a", "c"], &[2, 0, 1], &[1, 1, 4], "aéb").unwrap();
        let texts = |image| captions.captions_of(image).map(|k| captions.caption(k)).collect::<Vec<_>>();
        assert_eq!([texts(0), texts(1), texts(2)], [vec!["a", ""], vec![], vec!["éb"]]);
        assert_eq!(of(&["a", "b", "a"], &[0, 0, 0], &[], ""), Err(Refused("the image id a is there twice".to_owned())));
        for (counts, ends) in [(&[1][..], &[2][..]), (&[1], &[5]), (&[2], &[4]), (&[2], &[3, 1]), (&[1, 1], &[1, 4])] {
            assert_eq!(of(&["a"], counts, ends, "aéb"), Err(Refused(CUT.to_owned())), "{counts:?} {ends:?}");
        }
    }
}

#[cfg(test)]
mod digest_tests {
    use super::*;
    use crate::text::captions::CaptionsBuilder;

    fn captions(rows: &[(&str, &str)]) -> Captions {
        let mut builder = CaptionsBuilder::default();
        for (id, text) in rows {
            builder.caption(id, text);
        }
        builder.finish()
    }

    #[test]
    fn rows_in_any_order_have_one_digest_and_other_rows_another() {
        let rows = [("1", "a dog"), ("2", "a bus"), ("1", "a cat")];
        let digest =
            |rows: &[(&str, &str)], ids: &[&str]| digest_of_captions(&captions(rows), ids.iter().copied(), false);
        let whole = digest(&rows, &["1", "2"]);
        assert_eq!(whole, digest_of_rows(rows));
        assert_eq!(whole, digest(&[rows[1], rows[2], rows[0]], &["2", "1"]));
        assert_eq!(whole, digest(&rows, &["1"]).wrapping_add(digest(&rows, &["2"])));
        for other in [
            [("2", "a dog"), ("1", "a bus"), ("1", "a cat")],
            [("1", "a bus"), ("2", "a dog"), ("1", "a cat")],
            [("1", "a dog"), ("2", "a bus"), ("1", "a dog")],
        ] {
            assert_ne!(whole, digest(&other, &["1", "2"]), "{other:?}");
        }
        assert_eq!(digest(&rows, &["3"]), digest_of_rows([("3", "")]));
        assert_eq!(digest_of_rows([("3", " \t")]), digest_of_rows([("3", "")]));
    }

    #[test]
    fn where_captions_depend_on_their_neighbours_the_order_counts() {
        let rows = captions(&[("1", "a"), ("2", "b")]);
        assert_ne!(digest_of_captions(&rows, ["1", "2"], true), digest_of_captions(&rows, ["2", "1"], true));
    }
}

#[cfg(test)]
mod written_tests {
    use super::*;

    #[test]
    fn objects_are_told_from_captions() {
        for text in [
            "['a']",
            " [ \"a\", 'b']",
            "('a',)",
            "b'a'",
            "{'a'}",
            "[['a']]",
            "[{\"caption\": 1}]",
            "array(['a'])",
            "[b'a']",
            "[]",
        ] {
            assert!(begins_written(text) && looks_written(text), "{text}");
        }
        assert!(looks_written("[a dog]"));
        for text in [
            "",
            "[",
            "]",
            "(a) dog",
            "[CLS] a dog [SEP]",
            "[dog]",
            "a dog",
            "array",
            "blue 'dog'",
            "b",
            "b'",
            "{a dog}",
        ] {
            assert!(!looks_written(text), "{text}");
        }
        assert!(begins_written("['a dog") && !looks_written("['a dog"));
    }
}
