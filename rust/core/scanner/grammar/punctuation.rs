//! Quotation marks, brackets, dashes, and what is left.

use super::characters::{LINE_ENDS, apostrophe, blank, inner_mark, line_end, symbol};
use super::contractions::{clitic, not};
use super::expression::{Expression, none_of, one_of, text};
use super::outcome::{Cut, Rewrite};
use super::rule::Rule;
use super::words::before_a_word;

pub(crate) fn double_quotes() -> Vec<Rule> {
    let mark = || text("\"") | text("&quot;");
    vec![
        Rule::new(mark()).followed_by(one_of("A-Za-z0-9$"), Cut::Units(1)).rewrite(Rewrite::OpenQuote),
        Rule::new(mark()).rewrite(Rewrite::CloseQuote),
        Rule::new(text("\u{7F}")).rewrite(Rewrite::Skip),
    ]
}

pub(crate) fn brackets() -> Vec<Rule> {
    let names = [("{", "-LCB-"), ("}", "-RCB-"), ("[", "-LSB-"), ("]", "-RSB-"), ("(", "-LRB-"), (")", "-RRB-")];
    names.map(|(bracket, name)| Rule::new(text(bracket)).rewrite(Rewrite::Become(name))).to_vec()
}

pub(crate) fn marks() -> Vec<Rule> {
    let run_of = |mark| text(mark).some();
    let starred = (text("\\") + text("*")).times(1..=3);
    let ends = one_of(".\u{A1}\u{BF}\u{37E}\u{589}\u{61F}\u{6D4}\u{700}-\u{702}\u{7FA}\u{3002}");
    let runs = run_of("@") | run_of("#") | run_of("_") | run_of("*") | starred | one_of("!?").some();
    vec![
        Rule::new(run_of("-")).rewrite(Rewrite::Hyphens),
        Rule::new(ellipsis()).rewrite(Rewrite::Become("...")),
        Rule::new(runs | inner_mark() | ends | one_of("=/")),
    ]
}

fn ellipsis() -> Expression {
    let spaced = (text(".") + one_of(" \u{A0}")).times(2..=4) + text(".");
    text(".").times(3..=5) | spaced | one_of("\u{85}\u{2026}")
}

pub(crate) fn single_quotes() -> Vec<Rule> {
    let curly = "\u{2018}-\u{201F}\u{91}-\u{94}\u{2039}\u{203A}\u{AB}\u{BB}`";
    let mark = apostrophe() | text("''") | one_of(curly).times(1..=2);
    vec![
        Rule::new(text("'")).followed_by(before_a_word(), Cut::Units(2)).rewrite(Rewrite::OpenQuote),
        Rule::new(clitic() | not() | mark).rewrite(Rewrite::CloseQuote),
    ]
}

pub(crate) fn everything_else() -> Vec<Rule> {
    let invisible = one_of("\u{200B}\u{200E}\u{200F}\u{FEFF}");
    let separators = text("\0") | blank().some() | invisible | text("&nbsp;");
    vec![
        Rule::new(text("<<") | text(">>") | symbol()),
        Rule::new(separators).rewrite(Rewrite::Skip),
        Rule::new(line_end()).rewrite(Rewrite::NextLine),
        Rule::new(none_of(&format!("{LINE_ENDS}\u{85}"))).rewrite(Rewrite::Skip),
    ]
}

/// Faces drawn with punctuation.
pub(crate) fn faces() -> Vec<Rule> {
    vec![
        Rule::new(sideways()).followed_by(none_of("A-Za-z0-9"), Cut::Units(1)).rewrite(Rewrite::Brackets),
        Rule::new(upright()).rewrite(Rewrite::Brackets),
    ]
}

/// `:-)`
fn sideways() -> Expression {
    one_of("<>").maybe() + one_of(":;=") + one_of("o*'-").maybe() + one_of("()DPdpO\\{@|[]")
}

/// `^_^`
fn upright() -> Expression {
    let eye = || one_of("^x=~<>'-");
    let bare = eye() + text("_") + eye();
    let in_brackets = text("(") + eye() + one_of("_.").maybe() + eye() + text(")");
    let dash_mouth = text("(") + one_of("^x=~<>'") + text("-") + one_of("^x=~<>'`") + text(")");
    // Surely meant as a right eye from a set; but the suite takes the brackets literally, and the tilde as "anything up
    // to the next".
    let dot_mouth = one_of("^x=~<>") + text(".[^x=") + none_of("<").many() + text("<>]");
    bare | in_brackets | dash_mouth | dot_mouth
}
