//! Numbers, dates, fractions, money, telephone numbers.

use super::characters::{apostrophe, digit, white};
use super::expression::{Expression, one_of, text};
use super::outcome::{Cut, Rewrite};
use super::rule::Rule;

pub(crate) fn numbers() -> Vec<Rule> {
    let slash = || one_of("/-");
    let date = digit().times(1..=2) + slash() + digit().times(1..=2) + slash() + digit().times(2..=4);
    let raised = one_of("\u{2070}\u{B9}\u{B2}\u{B3}\u{2074}-\u{2079}").some();
    let lowered = one_of("\u{2080}-\u{2089}").some();
    let raised_sign = one_of("\u{207A}\u{207B}\u{208A}\u{208B}");
    vec![
        Rule::new(date),
        Rule::new(one_of("+-").maybe() + figure()).rewrite(Rewrite::DropSoftHyphens),
        Rule::new(raised_sign.maybe() + (raised | lowered)),
        Rule::new(fraction()).rewrite(Rewrite::JoinBlanks),
        Rule::new(one_of("\u{BC}-\u{BE}\u{2153}-\u{215E}")).rewrite(Rewrite::Fraction),
    ]
}

/// Digits with separators between them, and perhaps one before them.
fn figure() -> Expression {
    let separator = one_of(".:,\u{AD}\u{66B}\u{66C}");
    digit().some() | digit().many() + (separator + digit().some()).some()
}

/// `3/4`, `1 3/4`, `1-3/4`.
fn fraction() -> Expression {
    let quantity = || digit().times(1..=4);
    let bar = text("\\").maybe() + text("/") | text("\u{2044}");
    (quantity() + one_of(" \u{A0}-")).maybe() + quantity() + bar + quantity()
}

pub(crate) fn money() -> Vec<Rule> {
    let signs = "\u{A2}-\u{A5}\u{80}\u{20A0}\u{20AC}\u{60B}\u{E3F}\u{20A4}\u{FFE0}\u{FFE1}\u{FFE5}\u{FFE6}";
    vec![Rule::new(one_of(signs)).rewrite(Rewrite::Money)]
}

pub(crate) fn two_digit_years() -> Vec<Rule> {
    let year = apostrophe() + one_of("0-9") + one_of("0-9");
    vec![Rule::new(year).followed_by(white(), Cut::BeforeWhite)]
}

pub(crate) fn phone_numbers() -> Vec<Rule> {
    let digits = |counts| one_of("0-9").times(counts);
    let gap = || one_of(" \u{A0}-");
    let plus = || (text("+") + text("+").maybe()).maybe();

    let area = text("(") + digits(2..=3) + text(")") + one_of(" \u{A0}").maybe();
    let country_and_area = plus() + (digits(2..=4) + gap()).maybe() + digits(2..=4) + gap();
    let spaced = (area | country_and_area) + digits(3..=4) + gap().maybe() + digits(3..=5);

    let country = plus() + digits(2..=4) + text(".");
    let dotted = country.maybe() + digits(2..=4) + text(".") + digits(3..=4) + text(".") + digits(3..=5);
    vec![Rule::new(spaced | dotted).rewrite(Rewrite::Phone)]
}
