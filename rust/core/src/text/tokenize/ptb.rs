//! The Penn Treebank tokens of a text.

use super::lines::Lines;
use super::outcome::Rewrite;
use super::scan::Scanner;
use super::{plain, rewrite};

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
        if plain::is_single_blank(bytes, start) {
            return start + 1;
        }
        if let Some(word) = plain::word(bytes, start) {
            self.lines.plain_word(&self.text[start..word.end], word.is_lower);
            return word.end;
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
            respelled => self.lines.token(rewrite::respell(token, respelled, &mut self.spelling)),
        }
        token_match.end
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
