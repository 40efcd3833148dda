//! HTML and XML: tags, entities, angle brackets.

use super::expression::{Expression, any_word, none_of, one_of, text};
use super::outcome::Rewrite;
use super::rule::Rule;

/// An element's opening or closing tag, a comment, a declaration. A quoted value may hold anything, line ends too.
pub(crate) fn tag() -> Expression {
    let name = || one_of("A-Za-z") + one_of("A-Za-z0-9_:.-").many();
    let spaces = || text(" ").many();
    let value = text("'") + none_of("'").many() + text("'") | text("\"") + none_of("\"").many() + text("\"");
    let attribute = name() + (spaces() + text("=") + spaces() + value).maybe();

    let declaration = one_of("!?") + one_of("A-Za-z-") + none_of(">\r\n").many();
    let opening = name() + (text(" ").some() + attribute).many() + spaces() + text("/").maybe();
    let closing = text("/") + name();
    text("<") + (declaration | opening | closing) + spaces() + text(">")
}

pub(crate) fn tags_and_entities() -> Vec<Rule> {
    let dash = text("&") + any_word("md mdash ndash") + text(";") | one_of("\u{96}\u{97}\u{2013}-\u{2015}");
    let number = text("#") + one_of("0-9").some();
    let kept = text("&") + (any_word("ht tl ur lr qc ql qr odq cdq") | number) + text(";");
    vec![
        Rule::new(tag()).rewrite(Rewrite::JoinBlanks),
        Rule::new(dash).rewrite(Rewrite::Become("--")),
        Rule::new(text("&amp;")).rewrite(Rewrite::Ampersand),
        Rule::new(kept),
    ]
}

pub(crate) fn angle_brackets() -> Vec<Rule> {
    vec![
        Rule::new(text("<") | text("&lt;")).rewrite(Rewrite::Become("<")),
        Rule::new(text(">") | text("&gt;")).rewrite(Rewrite::Become(">")),
    ]
}
