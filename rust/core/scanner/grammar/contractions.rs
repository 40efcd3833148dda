//! Apostrophes: clitics that come off, contractions that stay whole, words that were fused.

use super::characters::{apostrophe, letter, loose_apostrophe};
use super::expression::{Expression, any_word, none_of, one_of, text};
use super::outcome::{Cut, Rewrite};
use super::rule::Rule;

/// `'s`, `'re` and their like.
pub(crate) fn clitic() -> Expression {
    apostrophe() + (one_of("msdMSD") | any_word("re ve ll"))
}

/// `n't`.
pub(crate) fn not() -> Expression {
    text("n") + loose_apostrophe() + text("t")
}

/// Two words written as one. The first becomes a token, the second is scanned again.
pub(crate) fn fused_words() -> Vec<Rule> {
    vec![
        Rule::new(any_word("cannot 'twas")).rewrite(Rewrite::GiveBack(3)),
        Rule::new(any_word("'tis gonna gotta lemme gimme wanna")).rewrite(Rewrite::GiveBack(2)),
    ]
}

pub(crate) fn kept_whole() -> Vec<Rule> {
    let decades = one_of("2-9") + text("0s");
    let beginning = apostrophe() + (text("n") + apostrophe().maybe() | any_word("em til till cause") | decades);
    let ending = any_word("l d j dunkin somethin ol") + apostrophe();
    let fixed = any_word("cont'd cont'd. nor'easter c'mon e'er s'mores ev'ry li'l nat'l");
    vec![
        Rule::new(beginning | ending | with_inner_apostrophe() | fixed),
        // y'all
        Rule::new(text("y") + apostrophe()).followed_by(letter(), Cut::Units(1)),
    ]
}

/// Names and transliterations: O'Neil, Hawai'i, o'o.
fn with_inner_apostrophe() -> Expression {
    let after_capital = one_of("A-HJ-XZn") + loose_apostrophe() + letter() + letter().some();
    let between_vowels =
        letter().some() + one_of("aeiouyAEIOUY") + loose_apostrophe() + one_of("aeiouA-Z") + letter().many();
    let bird = text("o") + loose_apostrophe() + text("o");
    after_capital | between_vowels | bird
}

/// Clitics with nothing before them.
pub(crate) fn detached_clitics() -> Vec<Rule> {
    let before_other_text = Rule::new(clitic() | not()).followed_by(none_of("A-Za-z"), Cut::Units(1));
    vec![before_other_text.rewrite(Rewrite::CloseQuote)]
}
