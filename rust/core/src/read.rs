//! Reading captions: the commonest files, COCO's annotations, lists of results, mappings, and results line by line, in one
//! pass.
//!
//! A file with anything else in it, be it a mistake, an escape in a key or a key given twice, is left to the reader of all
//! shapes, `sacrecap.data` in Python, which says what is wrong. Of what both read they make the same: a law over files of
//! random pieces tests that.

use std::borrow::Cow;
use std::collections::TryReserveError;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

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
    let shapes: &[&str] = match text.trim_start().as_bytes().first() {
        Some(b'[') => &["list"],
        Some(b'{') if is_like_coco(text) => &["coco"],
        Some(b'{') => &["mapping", "jsonl"],
        _ => &[],
    };
    for &shape in shapes {
        let mut file = File::default();
        file.builder.try_reserve(text.len())?;
        if file.read(text, shape).is_ok() {
            let names = file.names.into_iter().map(str::to_owned).collect();
            return Ok(Some(Usual { captions: file.builder.finish(), shape, names }));
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

/// What was read of a file.
#[derive(Default)]
struct File<'t> {
    builder: CaptionsBuilder,
    /// Images that the builder does not have yet, and captions, each with the place of its image among these.
    ids: Vec<&'t str>,
    captions: Vec<(usize, Cow<'t, str>)>,
    /// The keys of rows so far.
    names: Vec<&'t str>,
}

#[derive(Deserialize)]
struct Caption<'t>(#[serde(borrow)] Cow<'t, str>);

impl<'t> File<'t> {
    fn read(&mut self, text: &'t str, shape: &str) -> serde_json::Result<()> {
        let mut json = serde_json::Deserializer::from_str(text);
        match shape {
            "coco" => self.part(Kind::Coco).deserialize(&mut json)?,
            "list" => self.part(Kind::Rows).deserialize(&mut json)?,
            "mapping" => self.part(Kind::Mapping).deserialize(&mut json)?,
            // A row a line. Other rows one after the other are read in Python.
            _ => {
                for line in text.lines().filter(|line| !line.trim_matches([' ', '\t', '\r']).is_empty()) {
                    let mut json = serde_json::Deserializer::from_str(line);
                    self.part(Kind::Row).deserialize(&mut json)?;
                    json.end()?;
                }
                self.flush();
                return Ok(());
            }
        }
        self.flush();
        json.end()
    }

    fn part(&mut self, kind: Kind) -> Part<'_, 't> {
        Part { file: self, kind }
    }

    /// Adds an image; [`flush`](Self::flush) must follow.
    fn image(&mut self, id: &'t str) {
        if self.ids.len() == AT_ONCE {
            self.flush();
        }
        self.ids.push(id);
    }

    /// Adds a caption to the last image.
    fn caption(&mut self, caption: Cow<'t, str>) {
        self.captions.push((self.ids.len() - 1, caption));
    }

    fn flush(&mut self) {
        self.builder.extend(&self.ids, &self.captions);
        self.ids.clear();
        self.captions.clear();
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Coco,
    Images,
    Image,
    Rows,
    Row,
    Mapping,
    /// Of one image: a text or a list of texts.
    Captions,
}

/// A part of a file that is to be read. Anything unusual in it is an error.
struct Part<'f, 't> {
    file: &'f mut File<'t>,
    kind: Kind,
}

fn unusual<E: Error>() -> E {
    E::custom("no usual file")
}

impl<'t> DeserializeSeed<'t> for Part<'_, 't> {
    type Value = ();

    fn deserialize<D: Deserializer<'t>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'t> Visitor<'t> for Part<'_, 't> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a usual file")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        if self.kind != Kind::Captions {
            return Err(unusual());
        }
        self.file.caption(Cow::Owned(text.to_owned()));
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'t>>(self, mut list: A) -> Result<(), A::Error> {
        let kind = match self.kind {
            Kind::Images => Kind::Image,
            Kind::Rows => Kind::Row,
            Kind::Captions => {
                while let Some(Caption(text)) = list.next_element()? {
                    self.file.caption(text);
                }
                return Ok(());
            }
            _ => return Err(unusual()),
        };
        while list.next_element_seed(self.file.part(kind))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'t>>(self, object: A) -> Result<(), A::Error> {
        match self.kind {
            Kind::Coco => self.coco(object),
            Kind::Image => self.row(object, "id", &["id", "sentences"]), // Karpathy's images have sentences.
            Kind::Row => self.row(object, "image_id", &["image_id", "caption", "captions"]),
            Kind::Mapping => self.mapping(object),
            _ => Err(unusual()),
        }
    }
}

impl<'t> Part<'_, 't> {
    fn coco<A: MapAccess<'t>>(self, mut object: A) -> Result<(), A::Error> {
        let mut keys = Vec::new();
        while let Some(key) = object.next_key::<&str>()? {
            if keys.contains(&key) {
                return Err(unusual());
            }
            match key {
                // They give the order, so they must come first.
                "images" if !keys.contains(&"annotations") => object.next_value_seed(self.file.part(Kind::Images))?,
                "annotations" => object.next_value_seed(self.file.part(Kind::Rows))?,
                "info" | "licenses" | "type" => drop(object.next_value::<IgnoredAny>()?),
                _ => return Err(unusual()),
            }
            keys.push(key);
        }
        if keys.contains(&"annotations") { Ok(()) } else { Err(unusual()) }
    }

    /// A row, or an image; a key of `once` twice, or one that stands for nothing here, is unusual.
    fn row<A: MapAccess<'t>>(self, mut object: A, id_key: &str, once: &[&str]) -> Result<(), A::Error> {
        let is_row = self.kind == Kind::Row;
        let (mut id, mut caption) = (None, None);
        while let Some(key) = object.next_key::<&str>()? {
            if is_row && !self.file.names.contains(&key) {
                self.file.names.push(key);
            }
            if key == id_key && id.is_none() {
                id = Some(plain(object.next_value::<&RawValue>()?.get()).ok_or_else(unusual)?);
            } else if is_row && key == "caption" && caption.is_none() {
                caption = Some(object.next_value::<Caption<'_>>()?.0);
            } else if once.contains(&key) {
                return Err(unusual());
            } else {
                object.next_value::<IgnoredAny>()?;
            }
        }
        self.file.image(id.ok_or_else(unusual)?);
        match caption {
            Some(text) => self.file.caption(text),
            None if is_row => return Err(unusual()),
            None => {}
        }
        Ok(())
    }

    fn mapping<A: MapAccess<'t>>(self, mut object: A) -> Result<(), A::Error> {
        let mut images = 0;
        while let Some(id) = object.next_key()? {
            if NO_IDS.contains(&id) {
                return Err(unusual());
            }
            images += 1;
            self.file.image(id);
            object.next_value_seed(self.file.part(Kind::Captions))?;
        }
        self.file.flush();
        // Each key once.
        if self.file.builder.image_count() == images { Ok(()) } else { Err(unusual()) }
    }
}

/// An image's id, as it stands in the file: a whole number, or a text without escapes.
fn plain(id: &str) -> Option<&str> {
    let text = id.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let is_number = || id.bytes().all(|byte| byte.is_ascii_digit());
    text.filter(|text| !text.contains('\\')).or_else(|| is_number().then_some(id))
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
}
