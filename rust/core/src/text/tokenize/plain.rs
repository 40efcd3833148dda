//! The commonest tokens, recognised without the tables.

/// The end of the word at `start`, if it is one of ASCII letters with a blank or the end behind it, a comma perhaps
/// between. No rule looks beyond that, and only the fused words want more than to be kept.
pub(super) fn word_end(bytes: &[u8], start: usize) -> Option<usize> {
    let letters = bytes[start..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let end = start + letters;
    let ends_here = |at: usize| matches!(bytes.get(at), None | Some(b' ' | b'\n'));
    let is_plain = ends_here(end) || bytes[end] == b',' && ends_here(end + 1);
    (letters > 0 && is_plain && !is_fused(&bytes[start..end])).then_some(end)
}

/// Two words written as one.
fn is_fused(word: &[u8]) -> bool {
    const FUSED: [&[u8]; 6] = [b"cannot", b"gonna", b"gotta", b"lemme", b"gimme", b"wanna"];
    matches!(word.len(), 5 | 6) && FUSED.iter().any(|fused| fused.eq_ignore_ascii_case(word))
}
