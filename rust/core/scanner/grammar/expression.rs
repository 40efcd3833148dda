//! Regular expressions as Rust values.
//!
//! `a + b` is a followed by b, `a | b` is either; `.maybe()`, `.many()`, `.some()` and `.times(..)` repeat.
//! `text` ignores case, `one_of` and `none_of` do not: the difference is part of what the rules say.

use std::ops::{Add, BitOr, RangeInclusive};

use super::outcome::{Cut, Outcome, Rewrite};

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

// Sets of UTF-16 code units, the alphabet of every rule.
//
// Units, not characters: a character beyond the basic plane counts as two, which decides which of two matches is
// the longer one.

/// Sorted, disjoint, inclusive ranges that do not touch each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct UnitSet(Vec<(u16, u16)>);

impl UnitSet {
    pub(crate) fn from_ranges(mut ranges: Vec<(u16, u16)>) -> Self {
        ranges.sort_unstable();
        let mut joined: Vec<(u16, u16)> = Vec::new();
        for (first, last) in ranges {
            match joined.last_mut() {
                Some(previous) if u32::from(first) <= u32::from(previous.1) + 1 => previous.1 = previous.1.max(last),
                _ => joined.push((first, last)),
            }
        }
        Self(joined)
    }

    /// Reads `"a-z0-9_"`: characters and ranges. A hyphen at either end stands for itself.
    pub(crate) fn parse(spec: &str) -> Self {
        let units: Vec<u16> = spec.encode_utf16().collect();
        let mut ranges = Vec::new();
        let mut at = 0;
        while at < units.len() {
            let is_range = at + 2 < units.len() && units[at + 1] == u16::from(b'-');
            let last = if is_range { units[at + 2] } else { units[at] };
            assert!(units[at] <= last, "range runs backwards in {spec:?}");
            ranges.push((units[at], last));
            at += if is_range { 3 } else { 1 };
        }
        Self::from_ranges(ranges)
    }

    pub(crate) fn union(&self, other: &Self) -> Self {
        Self::from_ranges(self.0.iter().chain(&other.0).copied().collect())
    }

    pub(crate) fn complement(&self) -> Self {
        let mut gaps = Vec::new();
        let mut next = Some(0);
        for &(first, last) in &self.0 {
            match next {
                Some(next) if next < first => gaps.push((next, first - 1)),
                _ => {}
            }
            next = last.checked_add(1);
        }
        gaps.extend(next.map(|next| (next, u16::MAX)));
        Self(gaps)
    }

    pub(crate) fn contains(&self, unit: u16) -> bool {
        let after = self.0.partition_point(|&(first, _)| first <= unit);
        after > 0 && unit <= self.0[after - 1].1
    }

    pub(crate) fn ranges(&self) -> &[(u16, u16)] {
        &self.0
    }
}

// A rule: a token, what must follow it, and the outcome.

#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) token: Expression,
    /// Counts in the length of the match, and is then given back.
    pub(crate) followed_by: Option<Expression>,
    pub(crate) outcome: Outcome,
}

impl Rule {
    /// A token kept as it stands, whatever follows.
    pub(crate) fn new(token: Expression) -> Self {
        Self { token, followed_by: None, outcome: Outcome { cut: Cut::Nowhere, rewrite: Rewrite::Keep } }
    }

    /// `cut` must find where `token` ends in every match; the tests compare it with a search.
    pub(crate) fn followed_by(mut self, what: Expression, cut: Cut) -> Self {
        self.followed_by = Some(what);
        self.outcome.cut = cut;
        self
    }

    pub(crate) fn rewrite(mut self, rewrite: Rewrite) -> Self {
        self.outcome.rewrite = rewrite;
        self
    }
}
