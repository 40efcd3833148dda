//! The commonest files, read in one pass: COCO's annotations, lists of results, mappings.
//!
//! A file with anything else in it, be it a mistake, an escape in a key or a key given twice, is left to the readers of its
//! format, which know all shapes and say what is wrong. Of what both read they make the same.

use serde::de::IgnoredAny;

use super::format::Format;
use crate::text::captions::{Captions, CaptionsBuilder};

/// Keys that tell a mapping from other objects.
const NO_IDS: [&str; 5] = ["annotations", "images", "image_id", "caption", "captions"];

/// The captions of a file of this format, or of any; `None` where its reader must see.
pub(super) fn captions(text: &str, format: Option<Format>) -> Option<Captions> {
    let mut walk = Walk { text, at: 0, builder: CaptionsBuilder::new() };
    match walk.peek()? {
        b'[' if matches!(format, None | Some(Format::List)) => walk.rows()?,
        b'{' if walk.begins_like_coco()? && matches!(format, None | Some(Format::Coco)) => walk.coco()?,
        b'{' if !walk.begins_like_coco()? && matches!(format, None | Some(Format::Mapping)) => walk.mapping()?,
        _ => return None,
    }
    // Nothing but blanks may follow.
    if walk.peek().is_none() { Some(walk.builder.finish()) } else { None }
}

struct Walk<'t> {
    text: &'t str,
    at: usize,
    builder: CaptionsBuilder,
}

/// A string as it stands in the file.
#[derive(Clone, Copy)]
struct Quoted<'t> {
    quoted: &'t str,
    has_escapes: bool,
}

impl<'t> Quoted<'t> {
    fn plain(self) -> Option<&'t str> {
        (!self.has_escapes).then(|| &self.quoted[1..self.quoted.len() - 1])
    }
}

impl<'t> Walk<'t> {
    fn begins_like_coco(&self) -> Option<bool> {
        let mut walk = Walk { text: self.text, at: self.at, builder: CaptionsBuilder::new() };
        walk.take(b'{')?;
        Some(["info", "licenses", "type", "images", "annotations"].contains(&walk.string()?.plain()?))
    }

    fn coco(&mut self) -> Option<()> {
        let mut seen = Vec::new();
        self.fields(|walk, key| {
            if seen.contains(&key) {
                return None;
            }
            seen.push(key);
            match key {
                // They give the order, so they must come first.
                "images" if !seen.contains(&"annotations") => walk.images(),
                "annotations" => walk.rows(),
                "info" | "licenses" | "type" => walk.skip(),
                _ => None,
            }
        })?;
        seen.contains(&"annotations").then_some(())
    }

    fn images(&mut self) -> Option<()> {
        self.each(b'[', b']', |walk| {
            let mut id = None;
            walk.fields(|walk, key| match key {
                "id" if id.is_none() => walk.id().map(|found| id = Some(found)),
                // Karpathy's images have them.
                "id" | "sentences" => None,
                _ => walk.skip(),
            })?;
            walk.builder.image(id?);
            Some(())
        })
    }

    fn rows(&mut self) -> Option<()> {
        self.each(b'[', b']', |walk| {
            let (mut id, mut caption) = (None, None);
            walk.fields(|walk, key| match key {
                "image_id" if id.is_none() => walk.id().map(|found| id = Some(found)),
                "caption" if caption.is_none() => walk.string().map(|found| caption = Some(found)),
                "image_id" | "caption" | "captions" => None,
                _ => walk.skip(),
            })?;
            let image = walk.builder.image(id?);
            walk.add(image, caption?)
        })
    }

    fn mapping(&mut self) -> Option<()> {
        let mut images = 0;
        self.fields(|walk, id| {
            let image = walk.builder.image(id);
            if image != images || NO_IDS.contains(&id) {
                return None;
            }
            images += 1;
            let caption = |walk: &mut Self| walk.string().and_then(|caption| walk.add(image, caption));
            if walk.peek()? == b'[' { walk.each(b'[', b']', caption) } else { caption(walk) }
        })
    }

    fn add(&mut self, image: u32, caption: Quoted<'t>) -> Option<()> {
        match caption.plain() {
            Some(text) => self.builder.caption_of(image, text),
            None => self.builder.caption_of(image, &serde_json::from_str::<String>(caption.quoted).ok()?),
        }
        Some(())
    }

    /// Goes through an object: `value` stands before the value of each key, and goes behind it.
    fn fields(&mut self, mut value: impl FnMut(&mut Self, &'t str) -> Option<()>) -> Option<()> {
        self.each(b'{', b'}', |walk| {
            let key = walk.string()?.plain()?;
            walk.take(b':')?;
            value(walk, key)
        })
    }

    /// Goes through what stands between these brackets.
    fn each(&mut self, open: u8, close: u8, mut element: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.take(open)?;
        if self.peek()? == close {
            return self.take(close);
        }
        loop {
            element(self)?;
            if self.peek()? == close {
                return self.take(close);
            }
            self.take(b',')?;
        }
    }

    /// An image's id.
    fn id(&mut self) -> Option<&'t str> {
        if self.peek()? == b'"' { self.string()?.plain() } else { self.whole_number() }
    }

    fn whole_number(&mut self) -> Option<&'t str> {
        let rest = &self.text[self.at..];
        let (number, rest) = rest.split_at(rest.bytes().take_while(u8::is_ascii_digit).count());
        let is_whole = matches!(rest.as_bytes(), [b',' | b'}' | b']' | b' ' | b'\t'..=b'\n' | b'\r', ..])
            && (number == "0" || !number.is_empty() && !number.starts_with('0'));
        is_whole.then(|| {
            self.at += number.len();
            number
        })
    }

    fn string(&mut self) -> Option<Quoted<'t>> {
        self.take(b'"')?;
        let (start, mut has_escapes) = (self.at - 1, false);
        loop {
            self.at += plain_length(self.text.as_bytes().get(self.at..)?);
            match self.text.as_bytes().get(self.at)? {
                b'"' => break,
                b'\\' => {
                    has_escapes = true;
                    self.at += 2;
                }
                _ => return None,
            }
        }
        self.at += 1;
        Some(Quoted { quoted: &self.text[start..self.at], has_escapes })
    }

    /// Goes behind a value of any kind.
    fn skip(&mut self) -> Option<()> {
        if self.peek()? == b'"' {
            let string = self.string()?;
            return if string.has_escapes {
                serde_json::from_str::<IgnoredAny>(string.quoted).ok().map(drop)
            } else {
                Some(())
            };
        }
        if self.whole_number().is_some() {
            return Some(());
        }
        let mut values = serde_json::Deserializer::from_str(&self.text[self.at..]).into_iter::<IgnoredAny>();
        values.next()?.ok()?;
        self.at += values.byte_offset();
        Some(())
    }

    /// The next byte that is no blank.
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let b' ' | b'\n' | b'\r' | b'\t' = bytes.get(self.at)? {
            self.at += 1;
        }
        Some(bytes[self.at])
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        let found = self.peek()? == byte;
        self.at += usize::from(found);
        found.then_some(())
    }
}

/// How many bytes stand before the first quotation mark, backslash or control character: eight at a time, as a number of
/// which the highest bit of each byte is made to tell.
fn plain_length(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    // Exact up to the first byte that is below; those behind it may be wrong.
    let below = |eight: u64, limit: u8| eight.wrapping_sub(ONES * u64::from(limit)) & !eight & (ONES << 7);
    let (eights, rest) = bytes.as_chunks();
    for (number, &eight) in eights.iter().enumerate() {
        let eight = u64::from_le_bytes(eight);
        // The second bit turned, a quotation mark stands where a blank did: next to the control characters.
        let special = below(eight ^ (ONES * 2), b' ' + 1) | below(eight ^ (ONES * u64::from(b'\\')), 1);
        if special != 0 {
            return 8 * number + special.trailing_zeros() as usize / 8;
        }
    }
    let special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..b' ');
    8 * eights.len() + rest.iter().position(special).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::properties::pieces;
    use super::super::tests::FORMATS;
    use super::*;

    /// A JSON text of some of the keys and values that files have, well-formed or nearly so.
    fn file() -> impl Strategy<Value = String> {
        let blank = || prop::sample::select(vec!["", "", "", " ", "\n\t"]);
        let key = prop::sample::select(vec![
            "image_id",
            "image_id",
            "caption",
            "caption",
            "id",
            "captions",
            "x",
            "sentences",
            "a\\u0062",
        ]);
        let value = prop::sample::select(vec![
            "1",
            "0",
            "12",
            "-3",
            "07",
            "1.5",
            "\"a\"",
            "\"a dog, \\\"so\\\"\"",
            "\"\\ud800\"",
            "\"é\\q\"",
            "[]",
            "[\"a\", \"é\"]",
            "{\"y\": [1e9]}",
            "null",
            "\"a\nb\"",
            "\"eight or more letters\"",
        ]);
        let field = (blank(), key, blank(), value, blank())
            .prop_map(|(a, key, b, value, c)| format!("{a}\"{key}\"{b}:{c}{value}{a}"));
        let object =
            || prop::collection::vec(field.clone(), 0..4).prop_map(|fields| format!("{{{}}}", fields.join(",")));
        let list = || prop::collection::vec(object(), 0..4).prop_map(|objects| format!("[{}]", objects.join(", ")));
        let outer = prop::sample::select(vec!["info", "images", "images", "annotations", "annotations", "type", "1"]);
        let coco = prop::collection::vec((outer, prop_oneof![list(), list(), object()]), 0..4);
        let coco = coco.prop_map(|fields| {
            let fields: Vec<String> = fields.into_iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
            format!("{{{}}}", fields.join(","))
        });
        (blank(), prop_oneof![list(), object(), coco], blank()).prop_map(|(a, text, b)| [a, &text, b].concat())
    }

    fn is_the_readers(text: &str) {
        for format in Format::ALL.into_iter().map(Some).chain([None]) {
            if let Some(captions) = captions(text, format) {
                assert_eq!(super::super::by_format(text, format, None), Ok(captions), "{text} as {format:?}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn what_is_read_is_what_its_reader_reads(text in file()) {
            is_the_readers(&text);
        }

        #[test]
        fn so_it_is_in_pieces(bytes in pieces()) {
            is_the_readers(std::str::from_utf8(&bytes).unwrap());
        }

        #[test]
        fn plain_text_is_measured(bytes in prop::collection::vec(prop_oneof![Just(b'a'), any::<u8>()], 0..40)) {
            let slow = bytes.iter().position(|&byte| byte < b' ' || byte == b'"' || byte == b'\\');
            prop_assert_eq!(plain_length(&bytes), slow.unwrap_or(bytes.len()));
        }
    }

    #[test]
    fn the_usual_is_read() {
        let read = FORMATS.iter().filter(|(_, text)| captions(text.trim_start_matches('\u{feff}'), None).is_some());
        let read: Vec<Format> = read.map(|&(format, _)| format).collect();
        assert_eq!(read, [Format::Coco, Format::List, Format::Mapping, Format::Mapping]);
        for (_, text) in FORMATS {
            is_the_readers(text);
        }
    }
}
