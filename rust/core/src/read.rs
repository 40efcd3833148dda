//! Reading captions: the commonest files, COCO's annotations, lists of results, mappings, and results line by line, in one
//! pass.
//!
//! A file with anything else in it, be it a mistake, an escape in a key or a key given twice, is left to the reader of all
//! shapes, `sacrecap.data` in Python, which says what is wrong. Of what both read they make the same: a law over files of
//! random pieces tests that.

use std::borrow::Cow;
use std::collections::TryReserveError;

use serde::de::IgnoredAny;

use crate::text::captions::{Captions, CaptionsBuilder};

/// How to repair a text that holds half a surrogate pair.
pub const MEND_SURROGATES: &str = "write the whole character, or mend the text in Python with \
    text.encode(\"utf-16\", \"surrogatepass\").decode(\"utf-16\", \"replace\")";

/// Keys that tell a mapping from other objects.
const NO_IDS: [&str; 5] = ["annotations", "images", "image_id", "caption", "captions"];

/// Images that are looked up together.
const AT_ONCE: usize = 256;

/// Captions of a usual file.
#[derive(Debug, PartialEq, Eq)]
pub struct Usual {
    /// The captions.
    pub captions: Captions,
    /// What the file is: `coco`, `list`, `mapping` or `jsonl`.
    pub shape: &'static str,
    /// The keys of its rows, which may say that others than these are its captions; none of a mapping.
    pub names: Vec<String>,
}

/// The captions of a file as it usually is; `None` for any other, which the reader of all shapes must see.
///
/// Fails if there is no memory for as many bytes as the file has.
pub fn usual(bytes: &[u8]) -> Result<Option<Usual>, TryReserveError> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(None) };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for shape in ["coco", "list", "mapping", "jsonl"] {
        let mut walk = Walk::new(text);
        let begins = walk.peek();
        let fits = match shape {
            "list" => begins == Some(b'['),
            "coco" => is_like_coco(text),
            _ => begins == Some(b'{') && !is_like_coco(text),
        };
        if !fits {
            continue;
        }
        walk.builder.try_reserve(text.len())?;
        let read = match shape {
            "coco" => walk.coco(),
            "list" => walk.rows(),
            "mapping" => walk.mapping(),
            _ => walk.lines(),
        };
        // Nothing but blanks may follow.
        if read.is_some() && walk.peek().is_none() {
            let names = walk.names.into_iter().map(str::to_owned).collect();
            return Ok(Some(Usual { captions: walk.builder.finish(), shape, names }));
        }
    }
    Ok(None)
}

/// Whether the text begins with an object, whose first key is one of COCO's.
fn is_like_coco(text: &str) -> bool {
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
    /// The keys of rows so far.
    names: Vec<&'t str>,
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
    fn new(text: &'t str) -> Self {
        let builder = CaptionsBuilder::new();
        Self { text, at: 0, builder, ids: Vec::new(), captions: Vec::new(), names: Vec::new() }
    }

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

    /// A list of rows.
    fn rows(&mut self) -> Option<()> {
        self.names.clear();
        self.objects(Self::row)
    }

    /// Rows one after the other.
    fn lines(&mut self) -> Option<()> {
        let mut fields = Vec::new();
        while self.peek().is_some() {
            self.row(&mut fields)?;
        }
        self.flush();
        Some(())
    }

    fn row(&mut self, fields: &mut Vec<Field<'t>>) -> Option<()> {
        let (mut id, mut caption) = (None, None);
        self.fields(fields, |walk, key| match key {
            "image_id" if id.is_none() => walk.id().map(|found| id = Some(found)),
            "caption" if caption.is_none() => walk.string().map(|found| caption = Some(found)),
            "image_id" | "caption" | "captions" => None,
            _ => walk.skip(),
        })?;
        self.image(id?);
        self.caption(caption?)
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
                if !self.names.contains(&key) {
                    self.names.push(key);
                }
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

/// Offenders that a message names; the others are only counted.
const NAMED: usize = 5;

/// Offenders of one kind: the first one's sentence, the names of the first few, and their number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    first: String,
    named: Vec<String>,
    count: usize,
}

impl Tally {
    /// Begins with the first offender: its sentence, and its name in the list of offenders.
    pub fn new(sentence: String, name: String) -> Self {
        Self { first: sentence, named: vec![name], count: 1 }
    }

    /// Counts another offender.
    pub fn add(&mut self, name: String) {
        self.count += 1;
        if self.named.len() < NAMED {
            self.named.push(name);
        }
    }

    /// The first one's sentence, and who the others are.
    pub fn sentence(&self) -> String {
        if self.count == 1 {
            return self.first.clone();
        }
        let unnamed = self.count - self.named.len();
        let more = if unnamed > 0 { format!(" and {unnamed} more") } else { String::new() };
        format!("{} (also {}{more})", self.first, self.named[1..].join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shape, the names of its rows, and the captions of each image.
    type Seen = (&'static str, Vec<String>, Vec<(String, Vec<String>)>);

    fn read(text: &str) -> Option<Seen> {
        let found = usual(text.as_bytes()).unwrap()?;
        let captions = &found.captions;
        let texts = |image| captions.captions_of(image).map(|caption| captions.caption(caption).to_owned()).collect();
        let images = captions.images().enumerate().map(|(image, id)| (id.to_owned(), texts(image))).collect();
        Some((found.shape, found.names, images))
    }

    #[test]
    fn the_usual_is_read() {
        let rows = r#"{"image_id": 1, "caption": "a \"b\""}, {"image_id": "b", "id": 3, "caption": ""}"#;
        let expected = vec![("1".to_owned(), vec!["a \"b\"".to_owned()]), ("b".to_owned(), vec![String::new()])];
        let names = ["image_id", "caption", "id"].map(str::to_owned).to_vec();
        let coco = format!(r#"{{"info": {{}}, "images": [{{"id": 1}}], "annotations": [{rows}]}}"#);
        assert_eq!(read(&coco), Some(("coco", names.clone(), expected.clone())));
        assert_eq!(read(&format!("\u{feff} [{rows}]\n")), Some(("list", names.clone(), expected.clone())));
        assert_eq!(read(&rows.replace("}, ", "}\n\n")), Some(("jsonl", names, expected.clone())));
        assert_eq!(read(r#"{"1": "a \"b\"", "b": [""]}"#), Some(("mapping", vec![], expected)));
    }

    #[test]
    fn what_is_unusual_is_left() {
        for text in [
            "",
            "{",
            "[5]",
            r#"{"1": "a", "1": "b"}"#,
            r#"{"1": null}"#,
            r#"{"1": "\ud800"}"#,
            r#"[{"image_id": 1.0, "caption": "a"}]"#,
            r#"[{"image_id": 1, "caption": "a", "captions": []}]"#,
            r#"[{"image_id": 1, "caption": "a"}] x"#,
            r#"{"annotations": [], "images": [{"id": 1}]}"#,
            r#"{"images": [{"id": 1, "sentences": []}], "annotations": []}"#,
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(usual(b"{\"1\": \"\xff\"}"), Ok(None));
    }

    #[test]
    fn plain_text_is_measured() {
        for length in 0..30 {
            for special in [b'"', b'\\', b'\n', 0, 31] {
                let mut bytes = vec![b'a'; 30];
                bytes[length] = special;
                assert_eq!(plain_length(&bytes), length);
            }
        }
        let text = "é ~\u{7f}😀 é ~\u{7f}😀";
        assert_eq!(plain_length(text.as_bytes()), text.len());
    }
}
