//! Addresses on the web, e-mail, handles, hashtags, file names.

use super::characters::{ascii_letter, digit, white, word_letter};
use super::expression::{Expression, any_word, none_of, one_of, text};
use super::outcome::Cut;
use super::rule::Rule;

const EXTENSIONS: &str = "
    bat bmp c class cgi cpp dll doc docx exe gif gz h htm html jar java jpeg jpg mov mp3 pdf php pl png ppt ps py sql
    tar txt wav x xml zip";

pub(crate) fn addresses() -> Vec<Rule> {
    vec![Rule::new(with_scheme() | without_scheme() | e_mail() | handle_or_hashtag())]
}

/// An address does not end in punctuation.
fn last_unit() -> Expression {
    none_of(" \t\n\u{C}\r\"<>|.!?(){},-")
}

fn with_scheme() -> Expression {
    text("http") + text("s").maybe() + text("://") + none_of(" \t\n\u{C}\r\"<>|(){}").some() + last_unit()
}

/// A host and perhaps a path.
fn without_scheme() -> Expression {
    let label = none_of(" \t\n\u{C}\r\"<>|.!?(){},");
    let after_www = text("www.") + (label.some() + text(".")).some() + ascii_letter().times(2..=4);
    // No capitals, digits or hyphens, and no comma: the suite's rule excludes all from `,` to `_`.
    let plain_label = none_of(" \t\n\u{C}\r\"`'<>|!(){}$,-_");
    let common = (plain_label.some() + text(".")).some() + any_word("com net org edu");
    let path = text("/") + none_of(" \t\n\u{C}\r\"<>|()").some() + last_unit();
    (after_www | common) + path.maybe()
}

fn e_mail() -> Expression {
    let user = one_of("a-zA-Z0-9") + none_of(" \t\n\u{C}\r\"<>|()\u{A0}{}").many();
    let label = || none_of(" \t\n\u{C}\r\"<>|(){}.\u{A0}").some();
    let open = text("&lt;") | text("<");
    let close = text("&gt;") | text(">");
    open.maybe() + user + text("@") + (label() + text(".")).many() + label() + close.maybe()
}

fn handle_or_hashtag() -> Expression {
    text("@") + one_of("a-zA-Z_") + one_of("a-zA-Z_0-9").many() | text("#") + word_letter().some()
}

pub(crate) fn file_names() -> Vec<Rule> {
    let stem = (word_letter() | digit()).some().joined_by(text("."));
    let name = stem + text(".") + any_word(EXTENSIONS);
    vec![Rule::new(name).followed_by(white() | one_of(".?!,"), Cut::Units(1))]
}
