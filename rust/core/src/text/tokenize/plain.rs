//! The commonest tokens, recognised without the tables.

/// Gives the words to the sink, in lower case, that the caption begins with as long as they are plain; returns where
/// something else begins. Between plain words stand a blank, and a comma perhaps, which is no token in the end.
pub(super) fn words(caption: &str, sink: &mut impl FnMut(&str)) -> usize {
    let bytes = caption.as_bytes();
    let mut lowered = String::new();
    let mut start = 0;
    while let Some(word) = word(bytes, start) {
        let text = &caption[start..word.end];
        if word.is_lower {
            sink(text);
        } else {
            lowered.clear();
            lowered.push_str(text);
            lowered.make_ascii_lowercase();
            sink(&lowered);
        }
        start = word.end + usize::from(bytes.get(word.end) == Some(&b','));
        if is_single_blank(bytes, start) {
            start += 1;
        }
    }
    start
}

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
    while let Some(byte) = bytes.get(end).filter(|byte| byte.is_ascii_alphabetic()) {
        is_lower &= byte.is_ascii_lowercase();
        end += 1;
    }
    let ends_here = |at: usize| matches!(bytes.get(at), None | Some(b' ' | b'\n'));
    let is_plain = ends_here(end) || bytes[end] == b',' && ends_here(end + 1);
    (end > start && is_plain && !is_fused(&bytes[start..end])).then_some(PlainWord { end, is_lower })
}

/// Two words written as one.
fn is_fused(word: &[u8]) -> bool {
    const FUSED: [&[u8]; 6] = [b"cannot", b"gonna", b"gotta", b"lemme", b"gimme", b"wanna"];
    matches!(word.len(), 5 | 6) && FUSED.iter().any(|fused| fused.eq_ignore_ascii_case(word))
}
