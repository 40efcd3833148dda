//! Captions to tokens.
//!
//! [`Tokenizer::Ptb`] gives the tokens that the COCO caption evaluation code scores: those of Stanford's
//! `PTBTokenizer` 3.4.1 as `pycocoevalcap` 1.2 drives it (lines kept, lower-cased), less the thirteen punctuation
//! tokens that it removes from its output. The rules were written from a specification of that program's behaviour,
//! and corrected by running it. The author of the specification had its sources; the author of this code did not.
//! Word lists and the order of the rules equal the original's, because they define the behaviour.
//!
//! # One caption, many captions
//!
//! The COCO code joins all captions of a call with line ends and tokenizes the whole, and a few rules look past the
//! end of a line: "vitamin c." keeps its period, unless the next caption begins with "The". So a caption's tokens
//! depend on its neighbours. [`tokenize_stream`] does the same; [`Tokenizer::tokenize`] gives what the COCO code
//! gives for a call with one caption, for scores that must not depend on other captions.
//!
//! An opening quotation mark in what looks like an HTML tag (`<a href="`) may find its partner in a later caption.
//! The tag is then one token across captions, and each caption gets its part of it, as in the COCO code.
//!
//! # Where we depart
//!
//! A line break *inside* a caption (U+000A to U+000D, U+2028, U+2029) counts as a space. In the COCO code all but
//! U+000A pair every later caption with the tokens of the one before, which is a fault.
//!
//! Two differences come from Java: it has its own rule for where words end when it lower-cases a capital sigma, and
//! its tables lack letters added after Unicode 13. And a token is never empty, while the COCO code finds empty tokens
//! between two spaces inside one very unusual token (`=.[^x=  <>]`).
//!
//! # How it works
//!
//! `scanner/grammar` describes the tokens as regular expressions in Rust, in two files, words and signs. The build script
//! compiles all of them into one minimal deterministic automaton over classes of UTF-16 units (`scanner/compile`).
//! `scan` walks its tables for the longest match; `ptb` gives back what the rule only looked at, spells the token,
//! lower-cases, filters and counts captions, and knows the commonest tokens without tables.
//!
//! To change a rule, edit its topic file; the tables follow. `reference` matches the same expressions slowly, with
//! neither tables nor shortcuts, and the tests compare the two on random text. A rule whose token
//! ends before its match does, needs a `Cut`; the same tests check it.
//! `tests/ptb_cases.rs` checks the whole against recorded answers of the suite.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::Refused;

#[cfg(test)]
#[path = "../../../scanner/grammar/mod.rs"]
mod grammar;
#[path = "../../../scanner/outcome.rs"]
mod outcome;
mod ptb;
mod scan;
#[cfg(test)]
mod tests;

/// How captions become tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Tokenizer {
    /// The COCO code's tokens of a call with this caption alone.
    Ptb,
    /// The COCO code's tokens of one call with all captions; see [`tokenize_stream`].
    PtbStream,
    /// Split at runs of Unicode white space, as given.
    Whitespace,
    /// Already tokenised: split at runs of U+0020, as given.
    None,
    /// Split at each U+0020, as given: between two of them, and at an end of the caption, stands an empty token. So
    /// the COCO code's ROUGE splits what no tokenizer has cut.
    Blanks,
    /// Already cut by the tokenizer of this name, which is not of this crate: split at runs of U+0020.
    Outside(&'static str),
}

impl Tokenizer {
    /// All tokenizers.
    pub fn all() -> impl Iterator<Item = Self> {
        const OUTSIDE: [&str; 14] = [
            "13a",
            "intl",
            "char",
            "zh",
            "ja-mecab",
            "ko-mecab",
            "flores200",
            "13a-lc",
            "intl-lc",
            "char-lc",
            "zh-lc",
            "ja-mecab-lc",
            "ko-mecab-lc",
            "flores200-lc",
        ];
        let inside = [Self::Ptb, Self::PtbStream, Self::Whitespace, Self::None, Self::Blanks];
        inside.into_iter().chain(OUTSIDE.map(Self::Outside))
    }

    /// The name, as `Display` prints and `FromStr` reads it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ptb => "ptb",
            Self::PtbStream => "ptb-stream",
            Self::Whitespace => "whitespace",
            Self::None => "none",
            Self::Blanks => "blanks",
            Self::Outside(name) => name,
        }
    }

    /// Gives the tokens of one caption, on its own, to `sink`.
    pub fn tokenize(self, caption: &str, mut sink: impl FnMut(&str)) {
        match self {
            Self::Ptb | Self::PtbStream => ptb::tokenize(&one_line(caption), |_, token| sink(token)),
            Self::Whitespace => caption.split_whitespace().for_each(sink),
            Self::None | Self::Outside(_) => caption.split(' ').filter(|piece| !piece.is_empty()).for_each(sink),
            Self::Blanks => caption.split(' ').for_each(sink),
        }
    }
}

/// Gives the tokens that the COCO code makes of all these captions in one call to `sink`, each with the number of its
/// caption. Numbers never decrease; a caption without tokens is skipped.
pub fn tokenize_stream<'a>(captions: impl Iterator<Item = &'a str>, sink: impl FnMut(usize, &str)) {
    let mut joined = String::new();
    for (number, caption) in captions.enumerate() {
        if number > 0 {
            joined.push('\n');
        }
        joined.push_str(&one_line(caption));
    }
    ptb::tokenize(&joined, sink);
}

/// The caption with a space for each character that would end a line.
fn one_line(caption: &str) -> Cow<'_, str> {
    const LINE_BREAKS: [char; 6] = ['\n', '\u{B}', '\u{C}', '\r', '\u{2028}', '\u{2029}'];
    // 0xE2 begins the UTF-8 of the last two, and of curly quotation marks.
    let suspect = |byte: &u8| matches!(byte, b'\n'..=b'\r' | 0xE2);
    // All bytes, not only up to the first suspect: that way it is done many at a time.
    let suspects = caption.as_bytes().iter().fold(false, |any, byte| any | suspect(byte));
    if suspects && caption.contains(LINE_BREAKS) {
        Cow::Owned(caption.replace(LINE_BREAKS, " "))
    } else {
        Cow::Borrowed(caption)
    }
}

impl fmt::Display for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Tokenizer {
    type Err = Refused;

    fn from_str(name: &str) -> Result<Self, Refused> {
        let named = |tokenizer: &Self| tokenizer.name() == name;
        Self::all().find(named).ok_or_else(|| {
            let names = Self::all().map(Self::name).collect::<Vec<_>>().join(", ");
            Refused(format!("there is no tokenizer {name:?}; the tokenizers are {names}"))
        })
    }
}
