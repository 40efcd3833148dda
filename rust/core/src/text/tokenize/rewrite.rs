//! How tokens are spelled, before lower-casing: the Penn Treebank's habits.

use super::outcome::Rewrite;

/// The token's new spelling. `scratch` holds it where it is not the old one.
pub(super) fn respell<'t>(token: &'t str, rewrite: Rewrite, scratch: &'t mut String) -> &'t str {
    scratch.clear();
    match rewrite {
        Rewrite::Become(spelling) => return spelling,
        Rewrite::DropSoftHyphens if token.contains('\u{AD}') => drop_soft_hyphens(token, scratch),
        Rewrite::JoinBlanks => translate(token, scratch, joined_blank),
        Rewrite::Ampersand if token.contains(';') => plain_ampersands(token, scratch),
        Rewrite::OpenQuote => quote(token, "`", scratch),
        Rewrite::CloseQuote => quote(token, "'", scratch),
        Rewrite::Fraction => translate(token, scratch, fraction),
        Rewrite::Money => translate(token, scratch, money),
        Rewrite::Hyphens if matches!(token.len(), 3 | 4) => return "--",
        Rewrite::Phone => translate(token, scratch, |c| joined_blank(c).or_else(|| bracket(c))),
        Rewrite::Brackets => translate(token, scratch, bracket),
        _ => return token,
    }
    scratch
}

/// Puts a text in the place of some characters.
fn translate(token: &str, scratch: &mut String, new: impl Fn(char) -> Option<&'static str>) {
    for character in token.chars() {
        match new(character) {
            Some(text) => scratch.push_str(text),
            None => scratch.push(character),
        }
    }
}

fn drop_soft_hyphens(token: &str, scratch: &mut String) {
    scratch.extend(token.chars().filter(|&c| c != '\u{AD}'));
    if scratch.is_empty() {
        scratch.push('-');
    }
}

fn joined_blank(c: char) -> Option<&'static str> {
    (c == ' ').then_some("\u{A0}")
}

fn bracket(c: char) -> Option<&'static str> {
    match c {
        '(' => Some("-LRB-"),
        ')' => Some("-RRB-"),
        _ => None,
    }
}

fn fraction(c: char) -> Option<&'static str> {
    match c {
        '\u{BC}' => Some("1/4"),
        '\u{BD}' => Some("1/2"),
        '\u{BE}' => Some("3/4"),
        '\u{2153}' => Some("1/3"),
        '\u{2154}' => Some("2/3"),
        _ => None,
    }
}

fn money(c: char) -> Option<&'static str> {
    match c {
        '\u{A2}' => Some("cents"),
        '\u{A3}' => Some("#"),
        '\u{80}' | '\u{A4}' | '\u{20A0}' | '\u{20AC}' => Some("$"),
        _ => None,
    }
}

const AMPERSAND: &str = "&amp;";

fn plain_ampersands(token: &str, scratch: &mut String) {
    let mut rest = token;
    while let Some(next) = rest.chars().next() {
        let entity = rest.get(..AMPERSAND.len()).is_some_and(|head| head.eq_ignore_ascii_case(AMPERSAND));
        scratch.push(next);
        rest = &rest[if entity { AMPERSAND.len() } else { next.len_utf8() }..];
    }
}

/// Straight quotation marks take the side that the rule found; curly ones have their own.
fn quote(token: &str, straight: &'static str, scratch: &mut String) {
    let doubled = if straight == "`" { "``" } else { "''" };
    let marks = token.replace("&apos;", "'").replace("&quot;", "\"");
    translate(&marks, scratch, |c| match c {
        '\'' => Some(straight),
        '"' => Some(doubled),
        '\u{91}' | '\u{2018}' | '\u{201B}' | '\u{2039}' => Some("`"),
        '\u{92}' | '\u{2019}' | '\u{203A}' => Some("'"),
        '\u{93}' | '\u{201C}' | '\u{AB}' => Some("``"),
        '\u{94}' | '\u{201D}' | '\u{BB}' => Some("''"),
        _ => None,
    });
}
