//! The places where normalising cuts words at apostrophes: the one step that differs between languages.

use super::normalize::{Text, is_alphanumeric, is_letter, rewrite, set_off};

/// How apostrophes leave words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Apostrophes {
    /// To the right: `it 's`
    English,
    /// To the left: `l' homme`
    French,
    /// As a word of their own.
    Apart,
}

pub(super) fn split_apostrophes(text: Text, apostrophes: Apostrophes) -> Text {
    if !text.contains(&'\'') {
        return text;
    }
    let other = |c: char| !is_letter(c);
    let apart = |text: &[char]| rewrite(text, other, '\'', other, " ' ");
    match apostrophes {
        Apostrophes::English => {
            let text = apart(&text);
            let text = rewrite(&text, |c| !is_alphanumeric(c), '\'', is_letter, " ' ");
            let text = rewrite(&text, is_letter, '\'', other, " ' ");
            let text = rewrite(&text, is_letter, '\'', is_letter, " '");
            rewrite(&text, |c| c.is_ascii_digit(), '\'', |c| c == 's', " '")
        }
        Apostrophes::French => {
            let text = apart(&text);
            let text = rewrite(&text, other, '\'', is_letter, " ' ");
            let text = rewrite(&text, is_letter, '\'', other, " ' ");
            rewrite(&text, is_letter, '\'', is_letter, "' ")
        }
        Apostrophes::Apart => {
            let mut out = Text::with_capacity(text.len() + 16);
            for c in text {
                if c == '\'' { set_off(&mut out, c) } else { out.push(c) }
            }
            out
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the original writes them with `-norm` in en, fr and de.
    #[test]
    fn apostrophes_go_right_left_or_apart() {
        let cases = [
            (" l'homme ", [" l 'homme ", " l' homme ", " l ' homme "]),
            (" rock'n'roll ", [" rock 'n'roll ", " rock' n'roll ", " rock ' n ' roll "]),
            (" 90's ", [" 90 's ", " 90 ' s ", " 90 ' s "]),
        ];
        for (line, expected) in cases {
            let styles = [Apostrophes::English, Apostrophes::French, Apostrophes::Apart];
            for (style, expected) in styles.into_iter().zip(expected) {
                let found = split_apostrophes(line.chars().collect(), style);
                assert_eq!(found.into_iter().collect::<String>(), expected);
            }
        }
    }
}
