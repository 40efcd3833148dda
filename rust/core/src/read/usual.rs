//! The commonest files, read in one pass: COCO's annotations, lists of results, mappings.
//!
//! A file with anything else in it, be it a mistake, an escape in a key or a key given twice, is left to the readers of its
//! format, which know all shapes and say what is wrong. Of what both read they make the same.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::format::Format;
use crate::text::captions::{Captions, CaptionsBuilder};

/// Keys that tell a mapping from other objects.
const NO_IDS: [&str; 5] = ["annotations", "images", "image_id", "caption", "captions"];

/// Images that are looked up together.
const AT_ONCE: usize = 256;

/// The captions of a file of this format, or of any; `None` where its reader must see.
pub(super) fn captions(text: &str, format: Option<Format>) -> Option<Captions> {
    let mut walk = Walk { text, at: 0, builder: CaptionsBuilder::new(), ids: Vec::new(), captions: Vec::new() };
    walk.builder.reserve(text.len());
    match walk.peek()? {
        b'[' if matches!(format, None | Some(Format::List)) => walk.rows()?,
        b'{' if is_like_coco(text) && matches!(format, None | Some(Format::Coco)) => walk.coco()?,
        b'{' if !is_like_coco(text) && matches!(format, None | Some(Format::Mapping)) => walk.mapping()?,
        _ => return None,
    }
    // Nothing but blanks may follow.
    if walk.peek().is_none() { Some(walk.builder.finish()) } else { None }
}

/// Whether the text begins with an object, whose first key is one of COCO's.
pub(super) fn is_like_coco(text: &str) -> bool {
    let key = text.trim_start().strip_prefix('{').and_then(|rest| rest.trim_start().strip_prefix('"'));
    let is_key = |name: &&str| key.and_then(|key| key.strip_prefix(*name)).is_some_and(|rest| rest.starts_with('"'));
    ["info", "licenses", "type", "images", "annotations"].iter().any(is_key)
}

struct Walk<'t> {
    text: &'t str,
    at: usize,
    builder: CaptionsBuilder,
    /// Images that the builder does not have yet, and captions, each with the place of its image among these.
    ids: Vec<&'t str>,
    captions: Vec<(usize, Cow<'t, str>)>,
}

/// A string as it stands in the file.
#[derive(Clone, Copy)]
struct Quoted<'t> {
    quoted: &'t str,
    has_escapes: bool,
}

/// A key of an object, and what stands before its value.
struct Field<'t> {
    before: &'t [u8],
    key: &'t str,
}

impl<'t> Quoted<'t> {
    fn plain(self) -> Option<&'t str> {
        (!self.has_escapes).then(|| &self.quoted[1..self.quoted.len() - 1])
    }

    fn text(self) -> Option<Cow<'t, str>> {
        self.plain().map(Cow::Borrowed).or_else(|| serde_json::from_str(self.quoted).ok().map(Cow::Owned))
    }
}

impl<'t> Walk<'t> {
    fn coco(&mut self) -> Option<()> {
        let mut seen = Vec::new();
        self.each(b'{', b'}', |walk| {
            let key = walk.key()?;
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
        self.objects(|walk, fields| {
            let mut id = None;
            walk.fields(fields, |walk, key| match key {
                "id" if id.is_none() => walk.id().map(|found| id = Some(found)),
                // Karpathy's images have them.
                "id" | "sentences" => None,
                _ => walk.skip(),
            })?;
            walk.image(id?);
            Some(())
        })
    }

    fn rows(&mut self) -> Option<()> {
        self.objects(|walk, fields| {
            let (mut id, mut caption) = (None, None);
            walk.fields(fields, |walk, key| match key {
                "image_id" if id.is_none() => walk.id().map(|found| id = Some(found)),
                "caption" if caption.is_none() => walk.string().map(|found| caption = Some(found)),
                "image_id" | "caption" | "captions" => None,
                _ => walk.skip(),
            })?;
            walk.image(id?);
            walk.caption(caption?)
        })
    }

    fn mapping(&mut self) -> Option<()> {
        let mut images = 0;
        self.each(b'{', b'}', |walk| {
            let id = walk.key()?;
            if NO_IDS.contains(&id) {
                return None;
            }
            images += 1;
            walk.image(id);
            let caption = |walk: &mut Self| walk.string().and_then(|caption| walk.caption(caption));
            if walk.peek()? == b'[' { walk.each(b'[', b']', caption) } else { caption(walk) }
        })?;
        self.flush();
        // Each key once.
        (self.builder.image_count() == images).then_some(())
    }

    /// Adds an image; [`flush`](Self::flush) must follow.
    fn image(&mut self, id: &'t str) {
        if self.ids.len() == AT_ONCE {
            self.flush();
        }
        self.ids.push(id);
    }

    /// Adds a caption to the last image.
    fn caption(&mut self, caption: Quoted<'t>) -> Option<()> {
        self.captions.push((self.ids.len() - 1, caption.text()?));
        Some(())
    }

    fn flush(&mut self) {
        self.builder.extend(&self.ids, &self.captions);
        self.ids.clear();
        self.captions.clear();
    }

    /// Goes through a list of objects, which [`fields`](Self::fields) reads.
    fn objects(&mut self, mut object: impl FnMut(&mut Self, &mut Vec<Field<'t>>) -> Option<()>) -> Option<()> {
        let mut fields = Vec::new();
        self.each(b'[', b']', |walk| object(walk, &mut fields))?;
        self.flush();
        Some(())
    }

    /// Goes through an object: `value` stands before the value of each key, and goes behind it.
    ///
    /// `fields` are those of the object before: where the same text stands before a value again, the key is known.
    fn fields(
        &mut self,
        fields: &mut Vec<Field<'t>>,
        mut value: impl FnMut(&mut Self, &'t str) -> Option<()>,
    ) -> Option<()> {
        for number in 0.. {
            let start = self.at;
            let known = fields.get(number).filter(|field| self.text.as_bytes()[start..].starts_with(field.before));
            let key = if let Some(&Field { before, key }) = known {
                self.at += before.len();
                key
            } else {
                if number == 0 {
                    self.take(b'{')?;
                }
                if self.peek()? == b'}' {
                    return self.take(b'}');
                }
                if number > 0 {
                    self.take(b',')?;
                }
                let key = self.key()?;
                fields.truncate(number);
                fields.push(Field { before: &self.text.as_bytes()[start..self.at], key });
                key
            };
            value(self, key)?;
        }
        None
    }

    /// A key, and the colon.
    fn key(&mut self) -> Option<&'t str> {
        let key = self.string()?.plain()?;
        self.take(b':')?;
        self.peek()?;
        Some(key)
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
        if super::super::usual_coco(text.as_bytes()).is_some() {
            assert_eq!(super::super::detect::look(text).0, super::super::Layout::Coco, "{text}");
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
