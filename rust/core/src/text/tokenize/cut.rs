//! Cuts a token shorter than its match: gives back the text that the rule only looked at.
//!
//! Line ends are single characters here: carriage returns have become spaces.

use super::outcome::Cut;

/// `end` may lie inside a character, where half of it was looked at; the result does not.
pub(super) fn token_end(text: &str, start: usize, end: usize, cut: Cut) -> usize {
    let matched = || &text[start..end];
    let offset = match cut {
        // Half a character is a match only for the rule that drops what no rule knows, and drops the other half too.
        Cut::Nowhere => return boundary_after(text, end),
        Cut::Units(count) => return before_units(text, end, count),
        Cut::AfterLastPeriod => matched().rfind('.').map(|period| period + 1),
        // Not `matched()`: white space comes before anything that could be halved.
        Cut::BeforeWhite => text[start..].find(is_white),
        Cut::BeforeClitic => matched().rfind(is_apostrophe_start),
        Cut::BeforeNot => before_not(matched()),
    };
    start + offset.expect("the rule's cut is in every match of the rule")
}

fn boundary_after(text: &str, end: usize) -> usize {
    (end..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}

fn before_units(text: &str, end: usize, count: usize) -> usize {
    let mut at = boundary_after(text, end);
    // From the far side of a halved character, its other half is one unit more.
    let mut left = if at > end { count + 1 } else { count };
    for character in text[..at].chars().rev() {
        if left == 0 {
            break;
        }
        left = left.saturating_sub(character.len_utf16());
        at -= character.len_utf8();
    }
    at
}

/// The first unit of an apostrophe; `&` begins its entity.
fn is_apostrophe_start(c: char) -> bool {
    matches!(c, '\'' | '\u{92}' | '\u{2019}' | '&')
}

fn before_not(matched: &str) -> Option<usize> {
    let before_t = &matched[..matched.len() - 1];
    let apostrophe = if before_t.ends_with(';') {
        before_t.rfind('&')
    } else {
        before_t.char_indices().next_back().map(|(at, _)| at)
    };
    apostrophe.map(|at| at - 1)
}

fn is_white(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r' | '\u{85}' | '\u{A0}' | '\u{2000}'..='\u{200A}' | '\u{2028}' | '\u{2029}' | '\u{3000}')
}
