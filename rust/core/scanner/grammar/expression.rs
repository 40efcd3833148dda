//! Regular expressions as Rust values.
//!
//! `a + b` is a followed by b, `a | b` is either; `.maybe()`, `.many()`, `.some()` and `.times(..)` repeat.
//! `text` ignores case, `one_of` and `none_of` do not: the difference is part of what the rules say.

use std::ops::{Add, BitOr, RangeInclusive};

use super::units::UnitSet;

#[derive(Debug, Clone)]
pub(crate) enum Expression {
    /// The empty text.
    Nothing,
    /// One unit out of a set.
    One(UnitSet),
    Sequence(Vec<Expression>),
    Choice(Vec<Expression>),
    /// One or more times.
    Some(Box<Expression>),
}

use Expression::{Choice, Nothing, One, Sequence};

impl Expression {
    pub(crate) fn maybe(self) -> Self {
        Nothing | self
    }

    pub(crate) fn some(self) -> Self {
        Expression::Some(Box::new(self))
    }

    pub(crate) fn many(self) -> Self {
        self.some().maybe()
    }

    pub(crate) fn times(self, counts: RangeInclusive<usize>) -> Self {
        let optional = counts.end() - counts.start();
        let required = vec![self.clone(); *counts.start()];
        // Nested, a?(a?(a?)), not side by side: fewer ways to match the same text.
        let tail = (0..optional).fold(Nothing, |rest, _| (self.clone() + rest).maybe());
        Sequence(required) + tail
    }

    /// Between two expressions of which neither is `self`: `piece (glue piece)*`.
    pub(crate) fn joined_by(self, glue: Self) -> Self {
        self.clone() + (glue + self).many()
    }
}

impl Add for Expression {
    type Output = Self;

    fn add(self, next: Self) -> Self {
        match self {
            Sequence(mut parts) => {
                parts.push(next);
                Sequence(parts)
            }
            first => Sequence(vec![first, next]),
        }
    }
}

impl BitOr for Expression {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        match self {
            Choice(mut branches) => {
                branches.push(other);
                Choice(branches)
            }
            first => Choice(vec![first, other]),
        }
    }
}

/// One of the listed units, exactly: `one_of("A-Za-z_")`.
pub(crate) fn one_of(spec: &str) -> Expression {
    One(UnitSet::parse(spec))
}

/// One unit that is not listed; line ends are units too.
pub(crate) fn none_of(spec: &str) -> Expression {
    One(UnitSet::parse(spec).complement())
}

/// This text in any mixture of cases.
pub(crate) fn text(wording: &str) -> Expression {
    Sequence(wording.encode_utf16().map(|unit| One(both_cases(unit))).collect())
}

/// One of the blank-separated words. A word that starts with a capital must start with it; all else ignores case.
pub(crate) fn any_word(list: &str) -> Expression {
    Choice(list.split_whitespace().map(word_as_listed).collect())
}

fn word_as_listed(word: &str) -> Expression {
    match word.chars().next() {
        Some(first) if first.is_ascii_uppercase() => {
            let (capital, rest) = word.split_at(1);
            one_of(capital) + text(rest)
        }
        _ => text(word),
    }
}

/// The unit in either case. Java, whose habits these rules keep, also counts the letters outside ASCII whose other
/// case is an ASCII letter.
fn both_cases(unit: u16) -> UnitSet {
    let Some(letter) = u8::try_from(unit).ok().filter(u8::is_ascii_alphabetic) else {
        return UnitSet::from_ranges(vec![(unit, unit)]);
    };
    let mut ranges: Vec<(u16, u16)> =
        [letter.to_ascii_lowercase(), letter.to_ascii_uppercase()].map(|b| (u16::from(b), u16::from(b))).to_vec();
    match letter.to_ascii_lowercase() {
        b'i' => ranges.push((0x0130, 0x0131)),
        b's' => ranges.push((0x017F, 0x017F)),
        b'k' => ranges.push((0x212A, 0x212A)),
        _ => {}
    }
    UnitSet::from_ranges(ranges)
}
