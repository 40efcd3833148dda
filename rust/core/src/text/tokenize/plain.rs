//! The commonest tokens, recognised without the tables.

/// Whether a blank stands there, and no other white space behind it.
pub(super) fn is_single_blank(bytes: &[u8], at: usize) -> bool {
    bytes.get(at) == Some(&b' ') && bytes.get(at + 1).is_some_and(u8::is_ascii_graphic)
}

/// A word of ASCII letters.
pub(super) struct PlainWord {
    pub(super) end: usize,
    /// Whether no letter is a capital.
    pub(super) is_lower: bool,
}

/// The word at `start`, if it is one of ASCII letters with a blank or the end behind it, a comma perhaps between. No rule
/// looks beyond that, and only the fused words want more than to be kept.
pub(super) fn word(bytes: &[u8], start: usize) -> Option<PlainWord> {
    let (mut end, mut is_lower) = (start, true);
    // Eight bytes at a time: a loop over single bytes ends at another length for each word, which no processor foresees.
    loop {
        let eight = eight_at(bytes, end);
        let letters = letters_first(eight);
        is_lower &= capitals_start(eight) >= letters;
        end += letters;
        if letters < 8 {
            break;
        }
    }
    let ends_here = |at: usize| matches!(bytes.get(at), None | Some(b' ' | b'\n'));
    let is_plain = ends_here(end) || bytes[end] == b',' && ends_here(end + 1);
    (end > start && is_plain && !is_fused(&bytes[start..end])).then_some(PlainWord { end, is_lower })
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

/// Which of the eight bytes is the first capital; 8 where none is.
fn capitals_start(eight: u64) -> usize {
    in_range(eight, b'A', b'Z').trailing_zeros() as usize / 8
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
