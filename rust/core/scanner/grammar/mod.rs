//! The rules of the tokens of the COCO caption suite, by topic.
//!
//! The suite's behaviour, from a specification and from running it; the notation and the arrangement are ours. The
//! longest match wins, what follows the token included; among equally long matches the rule that comes first in `rules` wins.

#![allow(dead_code, reason = "each crate that includes this folder, build script and tests, uses a part of it")]
#![allow(clippy::precedence, reason = "that + binds tighter than | is how expressions are read here")]

pub(crate) mod expression;
mod signs;
mod words;

use super::outcome;
use expression::{Expression, Rule, UnitSet, one_of, text};

/// All rules, the most important first.
pub(crate) fn rules() -> Vec<Rule> {
    let groups = [
        words::programming_languages(),
        words::fused_words(),
        signs::tags_and_entities(),
        words::words(),
        words::kept_whole(),
        signs::addresses(),
        words::detached_clitics(),
        signs::numbers(),
        words::fixed_forms(),
        words::slashed_words(),
        signs::money(),
        words::abbreviations(),
        signs::two_digit_years(),
        signs::file_names(),
        words::words_before_inner_marks(),
        signs::phone_numbers(),
        signs::double_quotes(),
        signs::angle_brackets(),
        signs::faces(),
        signs::brackets(),
        signs::marks(),
        words::compounds(),
        signs::single_quotes(),
        signs::everything_else(),
    ];
    groups.into_iter().flatten().collect()
}

// Kinds of characters that several rules share.

/// A section of `unicode-classes.txt`.
fn measured(class: &str) -> UnitSet {
    let sections = include_str!("unicode-classes.txt");
    let header = format!("[{class}]");
    let body = sections.lines().skip_while(|line| *line != header).skip(1).take_while(|line| !line.is_empty());
    let hex = |digits: &str| u16::from_str_radix(digits, 16).expect("hexadecimal digits");
    let ranges: Vec<(u16, u16)> = body
        .flat_map(str::split_whitespace)
        .map(|range| range.split_once('-').unwrap_or((range, range)))
        .map(|(first, last)| (hex(first), hex(last)))
        .collect();
    assert!(!ranges.is_empty(), "unicode-classes.txt has no section {header}");
    UnitSet::from_ranges(ranges)
}

pub(crate) fn letter() -> Expression {
    Expression::One(measured("letter"))
}

pub(crate) fn digit() -> Expression {
    Expression::One(measured("digit"))
}

pub(crate) fn upper() -> Expression {
    Expression::One(measured("upper"))
}

pub(crate) fn symbol() -> Expression {
    Expression::One(measured("symbol"))
}

pub(crate) fn letter_or_digit() -> Expression {
    Expression::One(measured("letter").union(&measured("digit")))
}

/// Characters that words are made of: letters, marks, and accented vowels spelled as entities (`&eacute;`).
pub(crate) fn word_letter() -> Expression {
    let spelled_out = text("&") + one_of("aeiouAEIOU") + (text("acute") | text("grave") | text("uml")) + text(";");
    Expression::One(measured("letter").union(&measured("mark"))) | spelled_out
}

pub(crate) fn ascii_letter() -> Expression {
    one_of("A-Za-z")
}

/// The spelling of the characters that end a line; U+0085 is missing on purpose, see `line_end`.
pub(crate) const LINE_ENDS: &str = "\r\n\u{2028}\u{2029}\u{B}\u{C}";

/// A line end, as what follows a token. U+0085 counts here although on its own it is an ellipsis.
pub(crate) fn line_end() -> Expression {
    one_of("\r") | text("\r").maybe() + text("\n") | one_of("\u{2028}\u{2029}\u{B}\u{C}\u{85}")
}

pub(crate) fn blank() -> Expression {
    one_of(" \t\u{A0}\u{2000}-\u{200A}\u{3000}")
}

/// A blank or a line end.
pub(crate) fn white() -> Expression {
    blank() | line_end()
}

/// An apostrophe proper.
pub(crate) fn apostrophe() -> Expression {
    one_of("'\u{92}\u{2019}") | text("&apos;")
}

/// An apostrophe, or a sign that people type for one.
pub(crate) fn loose_apostrophe() -> Expression {
    apostrophe() | one_of("`\u{91}\u{2018}\u{201B}")
}

/// Punctuation inside a sentence.
pub(crate) fn inner_mark() -> Expression {
    one_of(",;:\u{3001}")
}

/// `&`, also as an entity.
pub(crate) fn ampersand() -> Expression {
    text("&") | text("&amp;")
}
