//! Captions as a file gives them: text, grouped by image.
//!
//! A file may name an image many times and in any order; the group keeps the order of first mention for images
//! and the file's order for the captions of one image, because the COCO tokenizer runs over them in that order.

use rustc_hash::FxHashMap;

/// Captions of many images, in one text arena. Image ids are text: `391895` and `"391895"` are one image.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Captions {
    images: Vec<Box<str>>,
    /// Captions of image `i` are numbers `first[i]..first[i + 1]`.
    first: Vec<u32>,
    /// Caption `k` is `text[span[k].0..span[k].1]`.
    span: Vec<(usize, usize)>,
    text: String,
}

impl Captions {
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
        self.images.iter().map(AsRef::as_ref)
    }

    /// Id of image number `image`.
    pub fn image_id(&self, image: usize) -> &str {
        &self.images[image]
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
}

/// A column of texts: one after the other in `text`, text `k` from `offsets[k]` to `offsets[k + 1]`.
#[derive(Debug, Clone, Copy)]
pub struct Column<'a> {
    /// Ends of the texts, after the start of the first.
    pub offsets: &'a [u64],
    /// All texts.
    pub text: &'a str,
}

impl<'a> Column<'a> {
    fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Text number `k`; None where its ends are not those of text.
    fn get(&self, k: usize) -> Option<&'a str> {
        self.text.get(usize::try_from(self.offsets[k]).ok()?..usize::try_from(self.offsets[k + 1]).ok()?)
    }
}

/// Why columns are not captions of images.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnsError {
    /// Offsets that do not fit each other or the text.
    Offsets,
    /// An image that comes twice.
    Repeated(Box<str>),
}

impl Captions {
    /// Takes an id per image and its captions, which are numbers `first[i]..first[i + 1]` of the texts.
    ///
    /// # Errors
    /// For offsets that do not fit, and an image that comes twice.
    pub fn of_columns(ids: Column<'_>, first: &[u64], texts: Column<'_>) -> Result<Self, ColumnsError> {
        let fits = first.len() == ids.len() + 1
            && first.windows(2).all(|pair| pair[0] <= pair[1])
            && first.last().is_some_and(|&last| last <= texts.len() as u64);
        if !fits {
            return Err(ColumnsError::Offsets);
        }
        let mut images: Vec<Box<str>> = Vec::with_capacity(ids.len());
        for image in 0..ids.len() {
            images.push(ids.get(image).ok_or(ColumnsError::Offsets)?.into());
        }
        let (start, end) = (first[0], first[first.len() - 1]);
        let mut span = Vec::with_capacity((end - start) as usize);
        for caption in start..end {
            texts.get(caption as usize).ok_or(ColumnsError::Offsets)?;
            span.push((texts.offsets[caption as usize] as usize, texts.offsets[caption as usize + 1] as usize));
        }
        let mut seen = rustc_hash::FxHashSet::with_capacity_and_hasher(images.len(), rustc_hash::FxBuildHasher);
        if let Some(repeated) = images.iter().find(|image| !seen.insert(&***image)) {
            return Err(ColumnsError::Repeated(repeated.clone()));
        }
        let first = first.iter().map(|&place| (place - start) as u32).collect();
        Ok(Self { images, first, span, text: texts.text.to_owned() })
    }
}

/// The longest caption that is scored, in bytes. Real ones have hundreds; a megabyte is a file joined by mistake, and
/// would make quadratic alignments take hours.
pub const LONGEST_CAPTION: usize = 100_000;

/// Why a caption cannot be scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Problem {
    /// Longer than [`LONGEST_CAPTION`].
    TooLong(usize),
    /// A control character other than white space.
    Control(char),
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooLong(bytes) => write!(
                f,
                "a caption of {bytes} bytes; captions may have up to {LONGEST_CAPTION}: shorten it, or check that no lines \
                 were joined by mistake"
            ),
            Self::Control(character) => write!(
                f,
                "a caption with the control character U+{:04X}; remove it (is the file in another encoding?)",
                u32::from(*character)
            ),
        }
    }
}

impl Captions {
    /// Captions that cannot be scored: image number and what is wrong, image by image.
    pub fn problems(&self) -> impl Iterator<Item = (usize, Problem)> {
        (0..self.image_count()).flat_map(move |image| {
            self.captions_of(image).filter_map(move |caption| Some((image, problem(self.caption(caption))?)))
        })
    }
}

fn problem(caption: &str) -> Option<Problem> {
    if caption.len() > LONGEST_CAPTION {
        return Some(Problem::TooLong(caption.len()));
    }
    // White space (tab, line feed, vertical tab, form feed, carriage return) is a blank to the tokenizers.
    let control = |byte: u8| matches!(byte, 0..=8 | 14..=31 | 127);
    caption.bytes().find(|&byte| control(byte)).map(|byte| Problem::Control(char::from(byte)))
}

/// Collects captions in file order, then groups them by image.
#[derive(Debug, Default)]
pub struct CaptionsBuilder {
    numbers: FxHashMap<Box<str>, u32>,
    images: Vec<Box<str>>,
    image_of: Vec<u32>,
    span: Vec<(usize, usize)>,
    text: String,
}

impl CaptionsBuilder {
    /// An empty collection.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives the image a place in the order, before or without any caption; returns its number.
    pub fn image(&mut self, id: &str) -> u32 {
        if let Some(&number) = self.numbers.get(id) {
            return number;
        }
        let number = self.images.len() as u32;
        self.numbers.insert(id.into(), number);
        self.images.push(id.into());
        number
    }

    /// Adds one caption to the image.
    pub fn caption(&mut self, id: &str, text: &str) {
        // Captions of one image often follow each other: then there is nothing to look up.
        let image = match self.image_of.last() {
            Some(&last) if *self.images[last as usize] == *id => last,
            _ => self.image(id),
        };
        let start = self.text.len();
        self.text.push_str(text);
        self.image_of.push(image);
        self.span.push((start, self.text.len()));
    }

    /// Number of captions so far.
    pub fn caption_count(&self) -> usize {
        self.span.len()
    }

    /// Groups the captions by image: a counting sort, which keeps the file's order within an image.
    pub fn finish(self) -> Captions {
        drop(self.numbers);
        let mut first = vec![0_u32; self.images.len() + 1];
        for &image in &self.image_of {
            first[image as usize + 1] += 1;
        }
        for image in 1..first.len() {
            first[image] += first[image - 1];
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scattered_captions_are_grouped_in_order() {
        let mut builder = CaptionsBuilder::new();
        builder.image("b");
        builder.caption("a", "one");
        builder.caption("b", "two");
        builder.caption("a", "three");
        let captions = builder.finish();
        assert_eq!(captions.images().collect::<Vec<_>>(), ["b", "a"]);
        let texts = |image| captions.captions_of(image).map(|k| captions.caption(k)).collect::<Vec<_>>();
        assert_eq!(texts(0), ["two"]);
        assert_eq!(texts(1), ["one", "three"]);
    }

    #[test]
    fn columns_are_captions_by_image() {
        let ids = Column { offsets: &[0, 1, 3], text: "abb" };
        let texts = Column { offsets: &[0, 3, 6, 6, 9], text: "onetwosix" };
        let captions = Captions::of_columns(ids, &[1, 3, 4], texts).unwrap();
        assert_eq!(captions.images().collect::<Vec<_>>(), ["a", "bb"]);
        let own = |image| captions.captions_of(image).map(|k| captions.caption(k)).collect::<Vec<_>>();
        assert_eq!((own(0), own(1)), (vec!["two", ""], vec!["six"]));
    }

    #[test]
    fn columns_that_do_not_fit_are_refused() {
        let ids = Column { offsets: &[0, 1, 2], text: "ab" };
        let texts = Column { offsets: &[0, 2, 4], text: "é€" };
        assert_eq!(Captions::of_columns(ids, &[0, 1, 2], texts), Err(ColumnsError::Offsets), "inside a letter");
        let texts = Column { offsets: &[0, 1, 2], text: "xy" };
        for first in [&[0, 1][..], &[0, 2, 1], &[0, 1, 3]] {
            assert_eq!(Captions::of_columns(ids, first, texts), Err(ColumnsError::Offsets), "{first:?}");
        }
        let ids = Column { offsets: &[0, 1, 2], text: "aa" };
        assert_eq!(Captions::of_columns(ids, &[0, 1, 2], texts), Err(ColumnsError::Repeated("a".into())));
    }
}
