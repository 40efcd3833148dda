//! The Penn Treebank tokens of a text.

use super::outcome::{Cut, Rewrite};
use super::scan::Scanner;

/// Gives the tokens of the text, each with the number of its line, to the sink.
pub(super) fn tokenize(text: &str, sink: impl FnMut(usize, &str)) {
    let mut reader = Reader::new(text, sink);
    let mut at = 0;
    while at < text.len() {
        at = reader.read(at);
    }
    reader.lines.finish_line();
}

struct Reader<'t, S> {
    text: &'t str,
    scanner: Scanner<'t>,
    lines: Lines<S>,
    spelling: String,
}

impl<'t, S: FnMut(usize, &str)> Reader<'t, S> {
    fn new(text: &'t str, sink: S) -> Self {
        Self { text, scanner: Scanner::new(text), lines: Lines::new(sink), spelling: String::new() }
    }

    /// Reads what stands at `start`; returns where to go on.
    fn read(&mut self, start: usize) -> usize {
        let bytes = self.text.as_bytes();
        // Where more blanks follow, of whatever kind, the rule for them must take all at once.
        if bytes[start] == b' ' && bytes.get(start + 1).is_some_and(u8::is_ascii_graphic) {
            return start + 1;
        }
        if let Some((end, is_lower)) = plain_word(bytes, start) {
            self.lines.plain_word(&self.text[start..end], is_lower);
            return end;
        }
        self.read_by_rule(start)
    }

    fn read_by_rule(&mut self, start: usize) -> usize {
        let token_match = self.scanner.token_at(start);
        let token = &self.text[start..token_match.end];
        match token_match.rewrite {
            Rewrite::Skip => {}
            Rewrite::NextLine => self.lines.next_line(),
            Rewrite::GiveBack(count) => {
                let end = token.char_indices().rev().nth(count - 1).map_or(0, |(at, _)| at);
                self.lines.token(&token[..end]);
                return start + end;
            }
            Rewrite::PeriodTwice => {
                self.lines.token(token);
                return token_match.end - 1;
            }
            Rewrite::PeriodApart => {
                let lone_letter = token.len() == 2;
                self.lines.token(if lone_letter { &token[..1] } else { token });
                return token_match.end - 1;
            }
            respelled => self.lines.token(respell(token, respelled, &mut self.spelling)),
        }
        token_match.end
    }
}

// The commonest tokens, recognised without the tables.

/// The end of the word at `start`, and whether no letter of it is a capital; if it is one of ASCII letters with a blank or
/// the end behind it, a comma perhaps between. No rule looks beyond that, and only fused words want more than to be kept.
fn plain_word(bytes: &[u8], start: usize) -> Option<(usize, bool)> {
    let (mut end, mut is_lower) = (start, true);
    // Eight bytes at a time: a loop over single bytes ends at another length for each word, which no processor foresees.
    loop {
        let eight = eight_at(bytes, end);
        let letters = letters_first(eight);
        // The first capital among them; 8 where none is.
        let capital = in_range(eight, b'A', b'Z').trailing_zeros() as usize / 8;
        is_lower &= capital >= letters;
        end += letters;
        if letters < 8 {
            break;
        }
    }
    let ends_here = |at: usize| matches!(bytes.get(at), None | Some(b' ' | b'\n'));
    let is_plain = ends_here(end) || bytes[end] == b',' && ends_here(end + 1);
    (end > start && is_plain && !is_fused(&bytes[start..end])).then_some((end, is_lower))
}

/// The next eight bytes as a number, the first in its lowest bits; zeros stand behind the end.
fn eight_at(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.first_chunk().map_or_else(
        || rest.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)),
        |&eight| u64::from_le_bytes(eight),
    )
}

/// How many of the eight bytes, from the first on, are letters.
fn letters_first(eight: u64) -> usize {
    const BLANK: u64 = 0x2020_2020_2020_2020;
    // A capital and the bit of a blank make a small letter, and nothing else does that was none.
    let letters = in_range(eight | BLANK, b'a', b'z');
    (!letters & HIGH_BITS).trailing_zeros() as usize / 8
}

/// The highest bit of each of eight bytes.
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// The highest bits of those of eight bytes that are at least `first` and at most `last`, both in ASCII.
fn in_range(eight: u64, first: u8, last: u8) -> u64 {
    let each = |byte: u8| u64::from_le_bytes([byte; 8]);
    // Sums of seven bits and seven bits: none reaches the byte beside it.
    let low = eight & !HIGH_BITS;
    let from_first = low + each(0x80 - first);
    let beyond_last = low + each(0x7f - last);
    from_first & !beyond_last & !eight & HIGH_BITS
}

/// Two words written as one.
fn is_fused(word: &[u8]) -> bool {
    const FUSED: [&[u8]; 6] = [b"cannot", b"gonna", b"gotta", b"lemme", b"gimme", b"wanna"];
    // All of them have a doubled letter there, and few other words.
    matches!(word.len(), 5 | 6)
        && word[2].eq_ignore_ascii_case(&word[3])
        && FUSED.iter().any(|fused| fused.eq_ignore_ascii_case(word))
}

// Cuts a token shorter than its match: gives back the text that the rule only looked at.
//
// Line ends are single characters here: carriage returns have become spaces.

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

// How tokens are spelled, before lower-casing: the Penn Treebank's habits.

/// The token's new spelling. `scratch` holds it where it is not the old one.
fn respell<'t>(token: &'t str, rewrite: Rewrite, scratch: &'t mut String) -> &'t str {
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

// Turns spelled tokens into a caption's tokens: lower case, no punctuation, the right caption.

/// Hands tokens to the sink as the COCO code reads them back, line by line.
struct Lines<S> {
    sink: S,
    /// The number of the current line, which is that of the caption.
    number: usize,
    /// A piece that ends in white space, and further ones of nothing else. At the end of a line that is stripped.
    held: String,
    lowered: String,
}

impl<S: FnMut(usize, &str)> Lines<S> {
    pub(super) fn new(sink: S) -> Self {
        Self { sink, number: 0, held: String::new(), lowered: String::new() }
    }

    /// A token of ASCII letters.
    fn plain_word(&mut self, word: &str, is_lower: bool) {
        self.release();
        if is_lower {
            (self.sink)(self.number, word);
        } else {
            lower_case(word, &mut self.lowered);
            (self.sink)(self.number, &self.lowered);
        }
    }

    /// Any other token. Very few hold line ends or spaces; the COCO code then takes each piece for a token.
    pub(super) fn token(&mut self, token: &str) {
        if token.bytes().all(|byte| byte.is_ascii_graphic() && !byte.is_ascii_uppercase()) {
            self.release();
            return self.give(token);
        }
        let mut lowered = std::mem::take(&mut self.lowered);
        lower_case(token, &mut lowered);
        for (number, line) in lowered.split('\n').enumerate() {
            if number > 0 {
                self.next_line();
            }
            line.split(' ').for_each(|piece| self.piece(piece));
        }
        self.lowered = lowered;
    }

    fn next_line(&mut self) {
        self.finish_line();
        self.number += 1;
    }

    /// To be called at the end of the text; `next_line` does it for the others.
    fn finish_line(&mut self) {
        let stripped = self.held.trim_end_matches(is_python_space).len();
        self.held.truncate(stripped);
        self.release();
    }

    fn piece(&mut self, piece: &str) {
        let only_space = piece.chars().all(is_python_space);
        if !only_space {
            self.release();
        }
        if piece.ends_with(is_python_space) {
            if !self.held.is_empty() {
                self.held.push(' ');
            }
            self.held.push_str(piece);
        } else {
            self.give(piece);
        }
    }

    fn release(&mut self) {
        if !self.held.is_empty() {
            let held = std::mem::take(&mut self.held);
            held.split(' ').for_each(|piece| self.give(piece));
        }
    }

    fn give(&mut self, token: &str) {
        if !is_dropped(token) {
            (self.sink)(self.number, token);
        }
    }
}

/// The thirteen punctuation tokens that the COCO code removes; it also lists bracket names, but in capitals, which
/// never come out of the tokenizer.
fn is_dropped(token: &str) -> bool {
    matches!(token, "" | "''" | "'" | "``" | "`" | "." | "?" | "!" | "," | ":" | "-" | "--" | "..." | ";")
}

/// White space as Python's `rstrip` sees it.
fn is_python_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1C}'..='\u{1F}')
}

fn lower_case(token: &str, lowered: &mut String) {
    lowered.clear();
    if token.is_ascii() {
        lowered.push_str(token);
        lowered.make_ascii_lowercase();
    } else if token.contains('Σ') {
        // The only letter whose lower case depends on its place in the word.
        lowered.push_str(&token.to_lowercase());
    } else {
        lowered.extend(token.chars().flat_map(char::to_lowercase));
    }
}

#[cfg(test)]
pub(super) mod tests {
    /// The same without the shortcuts.
    pub(in super::super) fn tokenize_by_rule(text: &str, sink: impl FnMut(usize, &str)) {
        let mut reader = super::Reader::new(text, sink);
        let mut at = 0;
        while at < text.len() {
            at = reader.read_by_rule(at);
        }
        reader.lines.finish_line();
    }
}
