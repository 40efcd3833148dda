//! From spelled tokens to a caption's tokens: lower case, no punctuation, the right caption.

/// Hands tokens to the sink as the COCO code reads them back, line by line.
pub(super) struct Lines<S> {
    sink: S,
    /// The number of the current line, which is that of the caption.
    number: usize,
    /// A token that ends in white space. It loses that if it is the last one of its line.
    held: Option<String>,
    lowered: String,
}

impl<S: FnMut(usize, &str)> Lines<S> {
    pub(super) fn new(sink: S) -> Self {
        Self { sink, number: 0, held: None, lowered: String::new() }
    }

    /// A token of ASCII letters.
    pub(super) fn plain_word(&mut self, word: &str) {
        self.release();
        if word.bytes().any(|byte| byte.is_ascii_uppercase()) {
            self.lowered.clear();
            self.lowered.push_str(word);
            self.lowered.make_ascii_lowercase();
            (self.sink)(self.number, &self.lowered);
        } else {
            (self.sink)(self.number, word);
        }
    }

    /// Any other token. A tag may hold line ends: each line gets its part.
    pub(super) fn token(&mut self, token: &str) {
        let mut lowered = std::mem::take(&mut self.lowered);
        lower_case(token, &mut lowered);
        for (part, text) in lowered.split('\n').enumerate() {
            if part > 0 {
                self.next_line();
            }
            self.piece(text);
        }
        self.lowered = lowered;
    }

    pub(super) fn next_line(&mut self) {
        self.finish_line();
        self.number += 1;
    }

    /// To be called at the end of a line; `next_line` does.
    pub(super) fn finish_line(&mut self) {
        if let Some(held) = self.held.take() {
            self.give(held.trim_end_matches(is_python_space));
        }
    }

    fn piece(&mut self, piece: &str) {
        self.release();
        if piece.ends_with(is_python_space) {
            self.held = Some(piece.to_owned());
        } else {
            self.give(piece);
        }
    }

    fn release(&mut self) {
        if let Some(held) = self.held.take() {
            self.give(&held);
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
