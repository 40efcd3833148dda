//! Runs of dots, hidden from the steps of the normaliser that deal with final dots.

use super::normalize::Text;

/// Stands for a run of dots until final dots are dealt with: one `DOT` per dot, and this ending. It is made of
/// letters on purpose, and the same word in the input takes part.
const MARKER: [char; 8] = ['D', 'O', 'T', 'M', 'U', 'L', 'T', 'I'];
const DOT: [char; 3] = ['D', 'O', 'T'];

/// Runs of two and more dots become words of their own, made of letters.
///
/// A marker that the input itself holds counts when one dot follows it. A match also consumes the character behind the
/// dot, so of two markers that touch, only the first gets a blank.
pub(super) fn hide_dot_runs(text: &[char]) -> Text {
    let mut out = Text::with_capacity(text.len() + 16);
    let mut consumed = usize::MAX;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let dots = rest.iter().take_while(|&&c| c == '.').count();
        let foreign = rest.starts_with(&MARKER)
            && rest.get(MARKER.len()) == Some(&'.')
            && rest.get(MARKER.len() + 1).is_some_and(|&c| c != '.');
        if dots >= 2 {
            out.push(' ');
            (1..dots).for_each(|_| out.extend(DOT));
            out.extend(MARKER);
            out.push(' ');
            at += dots;
            if dots == 2 {
                consumed = at;
            }
        } else if foreign {
            out.extend(DOT);
            out.extend(MARKER);
            let free = consumed != at;
            at += MARKER.len() + 1;
            if free {
                out.push(' ');
                consumed = at;
            }
        } else {
            out.push(text[at]);
            at += 1;
        }
    }
    out
}

/// Undoes [`hide_dot_runs`].
pub(super) fn show_dot_runs(text: &[char]) -> Text {
    let mut out = Text::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let dots = text[at..].chunks_exact(DOT.len()).take_while(|chunk| **chunk == DOT).count();
        if dots == 0 {
            out.push(text[at]);
            at += 1;
            continue;
        }
        let end = at + dots * DOT.len();
        let ending = &MARKER[DOT.len()..];
        if text[end..].starts_with(ending) {
            out.extend((0..dots).map(|_| '.'));
            at = end + ending.len();
        } else {
            out.extend(&text[at..end]);
            at = end;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The dot steps as the specification words them: rewriting until nothing changes.
    fn hide_by_rewriting(text: &str) -> String {
        let mut out = String::new();
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            if c == '.' && rest.peek() == Some(&'.') {
                out.push_str(" DOTMULTI");
                while let Some(dot) = rest.next_if_eq(&'.') {
                    out.push(dot);
                }
            } else {
                out.push(c);
            }
        }
        while out.contains("DOTMULTI.") {
            let mut next = String::new();
            let mut at = 0;
            while at < out.len() {
                let after = out[at..].strip_prefix("DOTMULTI.").and_then(|rest| rest.chars().next());
                let c = out[at..].chars().next().unwrap();
                if let Some(c) = after.filter(|&c| c != '.') {
                    next.push_str("DOTDOTMULTI ");
                    next.push(c);
                    at += "DOTMULTI.".len() + c.len_utf8();
                } else {
                    next.push(c);
                    at += c.len_utf8();
                }
            }
            out = next.replace("DOTMULTI.", "DOTDOTMULTI");
        }
        out
    }

    fn show_by_rewriting(text: &str) -> String {
        let mut out = text.to_owned();
        while out.contains("DOTDOTMULTI") {
            out = out.replace("DOTDOTMULTI", "DOTMULTI.");
        }
        out.replace("DOTMULTI", ".")
    }

    proptest! {
        #[test]
        fn dot_runs_in_one_pass_equal_rewriting(
            pieces in prop::collection::vec("[.]{1,4}|DOT|MULTI|DOTMULTI|[a ]|D", 0..14),
        ) {
            let text = format!(" {} ", pieces.concat());
            let chars: Text = text.chars().collect();
            prop_assert_eq!(hide_dot_runs(&chars).iter().collect::<String>(), hide_by_rewriting(&text));
            prop_assert_eq!(show_dot_runs(&chars).iter().collect::<String>(), show_by_rewriting(&text));
        }
    }
}
