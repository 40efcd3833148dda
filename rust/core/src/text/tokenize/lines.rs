//! Turns spelled tokens into a caption's tokens: lower case, no punctuation, the right caption.

/// Hands tokens to the sink as the COCO code reads them back, line by line.
pub(super) struct Lines<S> {
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
    pub(super) fn plain_word(&mut self, word: &str, is_lower: bool) {
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

    pub(super) fn next_line(&mut self) {
        self.finish_line();
        self.number += 1;
    }

    /// To be called at the end of the text; `next_line` does it for the others.
    pub(super) fn finish_line(&mut self) {
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
