//! The names of the formats, and what each looks like.

use std::fmt;
use std::str::FromStr;

use crate::named::named;

named! {
    /// A format of caption files, in the order messages list them, with the names that options spell.
    #[non_exhaustive]
    pub enum Format {
        /// COCO annotations: one object with `images` and `annotations`.
        Coco "coco",
        /// Karpathy's split file: one object with `images`, each with its sentences and split.
        Karpathy "karpathy",
        /// A list of rows with `image_id` and `caption` (COCO results) or `captions`.
        List "list",
        /// An object from image id to a caption or a list of captions.
        Mapping "mapping",
        /// Rows as in [`Format::List`], one after the other.
        Jsonl "jsonl",
        /// Comma-separated values (or semicolons) under a header line.
        Csv "csv",
        /// Tab-separated values under a header line.
        Tsv "tsv",
        /// Flickr8k and Flickr30k token files.
        Flickr "flickr",
    }
}

impl Format {
    /// An example of this format, in a few characters.
    pub fn shape(self) -> &'static str {
        match self {
            Self::Coco => r#"{"images": […], "annotations": [{"image_id", "caption"}, …]}"#,
            Self::Karpathy => r#"{"images": [{"split", "filename", "sentences": [{"raw"}, …]}, …]}"#,
            Self::List => r#"[{"image_id", "caption" or "captions"}, …]"#,
            Self::Mapping => "{id: caption or [caption, …], …}",
            Self::Jsonl => r#"lines of {"image_id", "caption" or "captions"}"#,
            Self::Csv => "a header line with image_id,caption",
            Self::Tsv => "a header line with image_id and caption, tabs between",
            Self::Flickr => "lines of name.jpg#0, a tab, the caption",
        }
    }

    /// Names of all formats: `coco, karpathy, …`.
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::of(name).ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

/// A format name that no format has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownFormat(String);

impl fmt::Display for UnknownFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "no caption format is called {:?}; choose from {}", self.0, Format::names())
    }
}

impl std::error::Error for UnknownFormat {}
