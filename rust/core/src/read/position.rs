//! Positions in a text, counted as an editor does.

/// Line and column of a byte offset, both from 1; columns are counted in characters.
pub(super) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// Byte offset of a line and a byte column, both from 1, as `serde_json` counts them.
pub(super) fn offset_at(text: &str, line: usize, column: usize) -> usize {
    let line_start = match line.checked_sub(2) {
        Some(newline) => text.match_indices('\n').nth(newline).map_or(text.len(), |(at, _)| at + 1),
        None => 0,
    };
    (line_start + column.saturating_sub(1)).min(text.len())
}
