//! Texts that a program wrote of an object: `['a dog']`, `('a dog',)`, `b'a dog'`, `{'a dog'}`, `array(['a dog'])`.

/// Whether a text begins as one that was written of a list, tuple, set, array or bytes.
pub fn begins_written(text: &str) -> bool {
    let text = text.trim_start();
    match text.as_bytes() {
        [b'[' | b'(' | b'{', ..] => match text[1..].trim_start().as_bytes() {
            [b'\'' | b'"', ..] | [b']' | b')'] => true,
            [b'[' | b'{' | b'(', ..] => begins_written(text[1..].trim_start()),
            [b'b', quote, ..] => matches!(quote, b'\'' | b'"'),
            _ => false,
        },
        [b'b', quote, ..] => matches!(quote, b'\'' | b'"'),
        [b'a', ..] => text.strip_prefix("array(").is_some_and(begins_written),
        _ => false,
    }
}

/// Whether a text looks as if it were written of such an object, or is a list without quotes: `[a dog]`.
pub fn looks_written(text: &str) -> bool {
    let text = text.trim();
    let (Some(&first), Some(&last)) = (text.as_bytes().first(), text.as_bytes().last()) else { return false };
    let bare = || first == b'[' && text.contains(' ') && !text[1..text.len() - 1].contains(['[', ']']);
    match (first, last) {
        (b'[', b']') => bare() || begins_written(text),
        (b'(' | b'a', b')') | (b'{', b'}') => begins_written(text),
        (b'b', b'\'' | b'"') => text.len() > 2 && text.as_bytes()[1] == last,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_told_from_captions() {
        for text in [
            "['a']",
            " [ \"a\", 'b']",
            "('a',)",
            "b'a'",
            "{'a'}",
            "[['a']]",
            "[{\"caption\": 1}]",
            "array(['a'])",
            "[b'a']",
            "[]",
        ] {
            assert!(begins_written(text) && looks_written(text), "{text}");
        }
        assert!(looks_written("[a dog]"));
        for text in [
            "",
            "[",
            "]",
            "(a) dog",
            "[CLS] a dog [SEP]",
            "[dog]",
            "a dog",
            "array",
            "blue 'dog'",
            "b",
            "b'",
            "{a dog}",
        ] {
            assert!(!looks_written(text), "{text}");
        }
        assert!(begins_written("['a dog") && !looks_written("['a dog"));
    }
}
