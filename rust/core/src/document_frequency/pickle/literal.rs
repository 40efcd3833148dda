//! Values as pickles spell them: lines of text in protocol 0, little-endian integers later.

/// A decimal integer, with the `L` of Python 2's long ones.
pub(super) fn integer(line: &[u8]) -> Option<i64> {
    let line = line.strip_suffix(b"L").unwrap_or(line);
    std::str::from_utf8(line).ok()?.trim().parse().ok()
}

/// A decimal float.
pub(super) fn float(line: &[u8]) -> Option<f64> {
    std::str::from_utf8(line).ok()?.trim().parse().ok()
}

/// A two's complement little-endian integer of up to 64 bits.
pub(super) fn signed(bytes: &[u8]) -> Option<i64> {
    let negative = bytes.last().is_some_and(|&byte| byte >= 0x80);
    let mut extended = [if negative { 0xff } else { 0 }; 8];
    extended.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(i64::from_le_bytes(extended))
}

/// The bytes of a quoted Python 2 string with backslash escapes.
pub(super) fn quoted(line: &[u8]) -> Option<Vec<u8>> {
    let (&quote @ (b'\'' | b'"'), inner) = line.trim_ascii_end().split_first()? else { return None };
    let mut rest = inner.strip_suffix(&[quote])?;
    let mut bytes = Vec::with_capacity(rest.len());
    while let Some((&byte, after)) = rest.split_first() {
        if byte == b'\\' {
            let length = escape(after, &mut bytes)?;
            rest = &after[length..];
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    Some(bytes)
}

/// Decodes what follows a backslash; the number of bytes it took.
fn escape(after: &[u8], bytes: &mut Vec<u8>) -> Option<usize> {
    let simple = match after.first()? {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'a' => 0x07,
        b'b' => 0x08,
        b'f' => 0x0c,
        b'v' => 0x0b,
        &byte @ (b'\\' | b'\'' | b'"') => byte,
        b'x' => {
            bytes.push(digits(after.get(1..3)?, 16)? as u8);
            return Some(3);
        }
        b'0'..=b'7' => {
            let length = after.iter().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
            bytes.push(digits(&after[..length], 8)? as u8);
            return Some(length);
        }
        _ => return None,
    };
    bytes.push(simple);
    Some(1)
}

/// The UTF-8 of a line in Python's raw-unicode-escape: Latin-1, with `\uXXXX` and `\UXXXXXXXX`.
pub(super) fn unicode(line: &[u8]) -> Option<Vec<u8>> {
    let mut units = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some((&byte, after)) = rest.split_first() {
        let length = match (byte, after.first()) {
            (b'\\', Some(b'u')) => 4,
            (b'\\', Some(b'U')) => 8,
            _ => {
                units.push(u16::from(byte));
                rest = after;
                continue;
            }
        };
        let code = digits(after.get(1..=length)?, 16)?;
        match u16::try_from(code) {
            Ok(unit) => units.push(unit),
            Err(_) => units.extend_from_slice(char::from_u32(code)?.encode_utf16(&mut [0; 2])),
        }
        rest = &after[length + 1..];
    }
    Some(String::from_utf16(&units).ok()?.into_bytes())
}

fn digits(bytes: &[u8], radix: u32) -> Option<u32> {
    bytes
        .iter()
        .try_fold(0_u32, |number, &byte| number.checked_mul(radix)?.checked_add(char::from(byte).to_digit(radix)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_spellings() {
        assert_eq!(integer(b"-12"), Some(-12));
        assert_eq!(integer(b"40504L"), Some(40504));
        assert_eq!(integer(b""), None);
        assert_eq!(float(b"82783.0"), Some(82783.0));
        assert_eq!(signed(b""), Some(0));
        assert_eq!(signed(b"\xff"), Some(-1));
        assert_eq!(signed(b"\xff\x00"), Some(255));
        assert_eq!(signed(&[0; 9]), None);
        assert_eq!(quoted(br"'caf\xc3\xa9\n\'\\'").unwrap(), "café\n'\\".as_bytes());
        assert_eq!(quoted(br#""it's\0\101""#).unwrap(), b"it's\0A");
        assert_eq!(quoted(br"'a\'"), None);
        assert_eq!(quoted(b"'"), None);
        assert_eq!(unicode(b"caf\xe9 \\u72ac \\U0001f436 \\ud83d\\udc36").unwrap(), "café 犬 🐶 🐶".as_bytes());
        assert_eq!(unicode(b"\\ud83d"), None);
        assert_eq!(unicode(b"\\u00"), None);
    }
}
