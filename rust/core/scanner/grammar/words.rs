//! Words, compounds of words, and a few forms that are words by decree.

use super::characters::{
    ampersand, apostrophe, ascii_letter, digit, inner_mark, letter_or_digit, loose_apostrophe, word_letter,
};
use super::contractions::{clitic, not};
use super::expression::{Expression, none_of, one_of, text};
use super::outcome::{Cut, Rewrite};
use super::rule::Rule;

/// Letters and digits that begin with a letter; sentences that were glued together (`end.Next`) are one word.
pub(crate) fn word() -> Expression {
    let stretch = word_letter() + (word_letter() | digit()).many();
    stretch.joined_by(one_of(".!?"))
}

/// Parts of letters and digits joined by hyphens or underscores; a part may begin with `d'`, `l'` or `o'`.
fn compound() -> Expression {
    let elided = one_of("dDoOlL") + loose_apostrophe() + letter_or_digit();
    let part = elided.maybe() + letter_or_digit().some();
    part.joined_by(one_of("_\u{58A}\u{2010}\u{2011}-"))
}

/// ASCII compounds, which may hold periods and commas in their first part and end in a dotted abbreviation.
fn hyphened() -> Expression {
    let first = one_of("A-Za-z0-9") + one_of("A-Za-z0-9.,\u{AD}").many();
    let acronym = super::abbreviations::dotted(1) + text(".");
    first + (text("-") + (one_of("A-Za-z0-9\u{AD}").some() | acronym)).some()
}

/// Capitals joined by `&` or `+`: `AT&T`.
fn capital_groups() -> Expression {
    let capitals = || one_of("A-Z").some();
    capitals() + ((text("+") | ampersand()) + capitals()).some()
}

pub(crate) fn programming_languages() -> Vec<Rule> {
    vec![Rule::new(text("c++") | one_of("CcFf") + text("#"))]
}

/// Words, alone or with a clitic behind them.
pub(crate) fn words() -> Vec<Rule> {
    // The stem of `n't` may not end in n: that n is the clitic's.
    let negated = one_of("A-Za-z\u{AD}").many() + one_of("A-MO-Za-mo-z") + one_of("\u{AD}").many();
    let rules = [
        Rule::new(word()).followed_by(clitic(), Cut::BeforeClitic),
        Rule::new(negated).followed_by(not(), Cut::BeforeNot),
        Rule::new(word()),
    ];
    rules.map(|rule| rule.rewrite(Rewrite::DropSoftHyphens)).to_vec()
}

pub(crate) fn fixed_forms() -> Vec<Rule> {
    let bracket_names = text("-") + super::expression::any_word("rrb lrb rcb lcb rsb lsb") + text("-");
    let ratings = text("S") + ampersand() + (text("P-500") | text("Ls"));
    let french = text("cap") + apostrophe() + text("n") | text("c") + apostrophe() + text("est");
    let others = text("c.d.s") | text("pro-") | text("anti-");
    vec![Rule::new(bracket_names | others | ratings | french).rewrite(Rewrite::Ampersand)]
}

/// `and/or`, with two or three parts; and the signs that share their rank.
pub(crate) fn slashed_words() -> Vec<Rule> {
    let part = || one_of("A-Za-z0-9").some() + (text("-") + ascii_letter().some()).times(0..=2);
    let slash = text("\\").maybe() + text("/");
    let slashed = part() + (slash + part()).times(1..=2);
    vec![Rule::new(slashed | one_of("A-Z").many() + text("$") | text("#"))]
}

/// Before a comma, semicolon or colon a word keeps its period.
pub(crate) fn words_before_inner_marks() -> Vec<Rule> {
    vec![with_period(word()).rewrite(Rewrite::DropSoftHyphens)]
}

pub(crate) fn compounds() -> Vec<Rule> {
    let kinds =
        [(hyphened(), Rewrite::DropSoftHyphens), (compound(), Rewrite::Keep), (capital_groups(), Rewrite::Ampersand)];
    let rules =
        kinds.map(|(kind, rewrite)| [with_period(kind.clone()).rewrite(rewrite), Rule::new(kind).rewrite(rewrite)]);
    rules.into_iter().flatten().collect()
}

fn with_period(token: Expression) -> Rule {
    Rule::new(token + text(".")).followed_by(inner_mark(), Cut::Units(1))
}

/// A straight quotation mark that opens: a letter and something that is not a blank follow.
pub(crate) fn before_a_word() -> Expression {
    ascii_letter() + none_of(" \t\n\r\u{A0}")
}
