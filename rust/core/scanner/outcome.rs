//! The outcome once a rule has won: the end of its token, and the text made of it.
//!
//! Compiled twice: into the build script, which writes these values into the tables, and into the crate, which
//! acts on them.

/// The end of the token inside the match. The rest of the match was only looked at, and is scanned again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Cut {
    /// At the end of the match.
    Nowhere,
    /// This many UTF-16 units before the end of the match.
    Units(usize),
    /// After the last period.
    AfterLastPeriod,
    /// Before the first white space.
    BeforeWhite,
    /// Before the last apostrophe (`'s`, `'re`).
    BeforeClitic,
    /// Before the `n` of a final `n't`.
    BeforeNot,
}

/// The treatment of the token's text, before lower-casing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Rewrite {
    /// As it stands.
    Keep,
    /// Nothing: the text only separates.
    Skip,
    /// No token; the next line, that is the next caption, begins.
    NextLine,
    /// This text instead.
    Become(&'static str),
    /// Without this many characters at the end, which are scanned again.
    GiveBack(usize),
    /// Without soft hyphens; a hyphen if nothing else is left.
    DropSoftHyphens,
    /// Blanks that do not separate: each becomes U+00A0.
    JoinBlanks,
    /// `&amp;` becomes `&`.
    Ampersand,
    /// An opening quotation mark, spelled the Penn Treebank's way.
    OpenQuote,
    /// A closing quotation mark or an apostrophe, spelled the Penn Treebank's way.
    CloseQuote,
    /// The token, and then its final period once more.
    PeriodTwice,
    /// A letter and its period come apart; a longer token is treated as by `PeriodTwice`.
    PeriodApart,
    /// `½` becomes `1/2`.
    Fraction,
    /// A currency sign gets its ASCII stand-in.
    Money,
    /// Three or four hyphens become two.
    Hyphens,
    /// Brackets are named, and blanks joined.
    Phone,
    /// Brackets are named.
    Brackets,
}

/// The two together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Outcome {
    pub(crate) cut: Cut,
    pub(crate) rewrite: Rewrite,
}
