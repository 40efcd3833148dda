//! The network's input for a word in addition to its number: hashes of its parts. `models/parser/features.py`
//! mirrors this.

/// Parts of a word: four endings, two beginnings, what follows the last hyphen, the shape.
pub(super) const PARTS: usize = 8;

/// The bucket of each part, of so many buckets.
pub(super) fn buckets(word: &str, count: u32) -> [u32; PARTS] {
    let bytes = word.as_bytes();
    let ending = |length: usize| &bytes[bytes.len().saturating_sub(length)..];
    let beginning = |length: usize| &bytes[..bytes.len().min(length)];
    let after_hyphen = word.rfind('-').map_or(0, |at| at + 1);
    let shape = shape(word);
    let parts: [(u8, &[u8]); PARTS] = [
        (b'1', ending(1)),
        (b'2', ending(2)),
        (b'3', ending(3)),
        (b'4', ending(4)),
        (b'b', beginning(2)),
        (b'c', beginning(4)),
        (b'h', &bytes[after_hyphen..]),
        (b's', shape.as_bytes()),
    ];
    parts.map(|(kind, part)| {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&[kind]);
        hasher.update(part);
        hasher.finalize() % count
    })
}

/// Kinds of characters in their order, without repetition: `a-0` for `abc-12`.
fn shape(word: &str) -> String {
    let mut shape = String::new();
    for character in word.chars() {
        let kind = match character {
            'a'..='z' => 'a',
            '0'..='9' => '0',
            '\u{80}'.. => 'x',
            other => other,
        };
        if !shape.ends_with(kind) {
            shape.push(kind);
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_of_a_word_keeps_its_marks() {
        assert_eq!(["abc-12", "t-shirt", "Été", "", "4:30"].map(shape), ["a-0", "a-a", "xax", "", "0:0"]);
    }

    #[test]
    fn parts_are_those_that_the_network_was_trained_with() {
        // From models/parser/features.py.
        assert_eq!(buckets("t-shirt", 4096), [104, 1725, 1709, 2121, 1755, 2983, 1945, 2648]);
        assert_eq!(buckets("é", 4096), [3585, 1837, 3354, 2975, 2461, 938, 3147, 452]);
    }
}
