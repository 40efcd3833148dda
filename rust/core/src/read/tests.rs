//! Each format is read, each rule has its sentence.

use super::*;

/// Image ids, and the captions of each.
fn groups(captions: &Captions) -> Vec<(&str, Vec<&str>)> {
    let texts = |image| captions.captions_of(image).map(|caption| captions.caption(caption)).collect();
    (0..captions.image_count()).map(|image| (captions.image_id(image), texts(image))).collect()
}

/// Two images, the second of which has two captions: in every format.
pub(super) const FORMATS: [(Format, &str); 12] = [
    (
        Format::Coco,
        r#"{"info": {}, "images": [{"x": [{}], "id": 1}, {"id": "b"}], "annotations": [
        {"image_id": "b", "caption": "one\ttwo"}, {"id": 3, "image_id": 1, "caption": "é"}, {"image_id": "b", "caption": ""}]}"#,
    ),
    (
        Format::Coco,
        r#"{"annotations": [
        {"caption": "one\u0009two", "image_id": "b"}, {"image_id": 1, "caption": "\u00e9"}, {"image_id": "b", "caption": ""}],
        "type": "captions", "images": [{"id": 1}, {"id": "b"}]}"#,
    ),
    (
        Format::Karpathy,
        r#"{"dataset": "flickr8k", "images": [
        {"sentences": [{"tokens": [], "raw": "é"}], "split": "test", "filename": "f.jpg", "cocoid": 1, "imgid": 9},
        {"sentences": [{"raw": "one\ttwo"}, {"raw": ""}], "filename": "b", "imgid": 10}]}"#,
    ),
    (
        Format::List,
        r#"[{"image_id": 1, "caption": "é"}, {"caption": "one\ttwo", "image_id": "b"}, {"image_id": "b", "caption": ""}]"#,
    ),
    (Format::List, r#"[{"image_id": 1, "captions": ["é"]}, {"captions": ["one\ttwo", ""], "image_id": "b"}]"#),
    (Format::Mapping, r#"{"1": "é", "b": ["one\ttwo", ""]}"#),
    (Format::Mapping, "\u{feff}{\"1\": [\"é\"],\n \"b\": [\"one\\ttwo\", \"\"]}"),
    (
        Format::Jsonl,
        "{\"image_id\": 1, \"caption\": \"é\"}\r\n\n{\"x\": {}, \"image_id\": \"b\", \"captions\": [\"one\\ttwo\", \"\"]}\n",
    ),
    (Format::Csv, "x,caption,image_id\n5,é,1\n6,one\ttwo,b\n7,,b\n"),
    (Format::Csv, "\"image_id\"; caption\r\n1;é\r\nb;\"one\ttwo\"\r\nb;\"\"\r\n"),
    (Format::Tsv, "image_id\tcaption\n1\té\nb\t\"one\ttwo\"\nb\t\n"),
    (Format::Flickr, "1#0\té\nb#0\tone\ttwo\nb#1\t\n"),
];

#[test]
fn every_format_is_recognised_and_read() {
    for (format, text) in FORMATS {
        for given in [None, Some(format)] {
            let read = captions(text.as_bytes(), given, None).unwrap_or_else(|error| panic!("{format}: {error}"));
            assert_eq!(groups(&read), [("1", vec!["é"]), ("b", vec!["one\ttwo", ""])], "{format}: {text}");
        }
        assert_eq!(detect::format(text.trim_start_matches('\u{feff}')), Ok(format), "{text}");
    }
}

#[test]
fn every_format_is_tested_and_others_are_told() {
    for format in Format::ALL {
        assert!(FORMATS.iter().any(|(tested, _)| *tested == format), "{format} is not tested");
    }
    assert_eq!(
        "excel".parse::<Format>().unwrap_err().to_string(),
        "no caption format is called \"excel\"; choose from coco, karpathy, list, mapping, jsonl, csv, tsv, flickr"
    );
}

#[test]
fn ids_are_text() {
    let text = r#"{"images": [{"id": 7}], "annotations": [{"image_id": "7", "caption": "a"},
        {"image_id": 123456789012345678901234567890, "caption": "b"}, {"image_id": -0, "caption": "c"},
        {"image_id": "\u0041", "caption": "d"}]}"#;
    let read = captions(text.as_bytes(), None, None).unwrap();
    assert_eq!(read.images().collect::<Vec<_>>(), ["7", "123456789012345678901234567890", "0", "A"]);
}

#[test]
fn images_without_captions_are_kept() {
    for text in [
        r#"{"images": [{"id": 1}], "annotations": []}"#,
        r#"[{"image_id": 1, "captions": []}]"#,
        r#"{"1": []}"#,
        r#"{"images": [{"cocoid": 1, "sentences": [], "split": "x"}]}"#,
    ] {
        assert_eq!(groups(&captions(text.as_bytes(), None, None).unwrap()), [("1", vec![])], "{text}");
    }
}

#[test]
fn nothing_in_a_well_formed_file_is_no_captions() {
    for text in ["[]", "{}", r#"{"annotations": []}"#, "image_id,caption\n"] {
        assert_eq!(captions(text.as_bytes(), None, None).unwrap().image_count(), 0, "{text}");
    }
}

#[test]
fn images_of_restval_are_for_training() {
    let text = r#"{"images": [{"split": "restval", "filename": "a", "sentences": [{"raw": "x"}]},
        {"split": "test", "filename": "b", "sentences": [{"raw": "y"}]}]}"#;
    for (split, group) in [("train", ("a", vec!["x"])), ("restval", ("a", vec!["x"])), ("test", ("b", vec!["y"]))] {
        let read = captions(text.as_bytes(), None, Some(split)).unwrap();
        assert_eq!(groups(&read), [group]);
    }
}

/// A broken file, the rule it breaks, and how the sentence begins; `tests/data/test_readers.py` has the commonest ones.
const BROKEN: [(&str, ReadErrorKind, &str); 25] = {
    use ReadErrorKind::{
        BadImageId, CaptionNotText, CutOff, FieldCount, LoneSurrogate, Malformed, MissingKey, RepeatedImage, Shape,
    };
    [
        (r#"{"annotations": [{"image_id": 1}"#, CutOff, "line 1, column 33: the JSON ends early"),
        (r#"{"1": ["a""#, CutOff, "line 1, column 11: the JSON ends early"),
        ("{\"image_id\": 1, \"caption\": \"é\"}\n{\"ima", CutOff, "line 2, column 6: the JSON ends early"),
        (r#"[{"image_id": 1, "caption": "a"}] x"#, Malformed, "line 1, column 35: not valid JSON: trailing characters"),
        (r#"{"1": "a"} x"#, Malformed, "line 1, column 12: not valid JSON: trailing characters"),
        (
            "{'1': 'a'}",
            Malformed,
            "line 1, column 2: not valid JSON: key must be a string; JSON strings stand in double",
        ),
        ("{\"1\": \"a\nb\"}", Malformed, "line 1, column 8: not valid JSON: control character"),
        (r#"[[1, "a"]]"#, Shape, "line 1, column 2: found a list where an object"),
        (
            r#"{"info": {}}"#,
            Shape,
            "line 1, column 10: found an object whose first value, under \"info\", is an object; a",
        ),
        (r#"{"images": [{"id": 1}]}"#, Shape, "found an object with \"images\", but no \"annotations\" and no \"sent"),
        ("null", Shape, "line 1, column 1: found a text that begins \"null\""),
        ("image,caption\na,b", Shape, "line 1, column 1: found a text that begins \"image,caption\""),
        (r#"[{"image_id": 1, "caption": "a"}, {"caption": "b"}]"#, MissingKey, "line 1, column 35: row 2 has no \"im"),
        (
            r#"[{"id": 1, "text": {}}, {}]"#,
            MissingKey,
            "line 1, column 2: row 1 has no \"image_id\"; its keys are id, text (also row 2)",
        ),
        (
            r#"[{"image_id": 1}]"#,
            MissingKey,
            "line 1, column 2: row 1 has no \"caption\" or \"captions\"; its keys are",
        ),
        (
            r#"[{"image_id": 1.5, "caption": "a"}]"#,
            BadImageId,
            "line 1, column 15: the image id of row 1 is the number 1.5;",
        ),
        (r#"{"image_id": null, "caption": "a"}"#, BadImageId, "line 1, column 14: the image id of row 1 is null;"),
        (
            r#"{"a": "x", "b": 1.5, "c": ["y", {}]}"#,
            CaptionNotText,
            "line 1, column 17: the caption of image b is the number 1.5; captions must be strings (also image c)",
        ),
        (
            r#"[{"image_id": 3, "captions": "a"}]"#,
            CaptionNotText,
            "line 1, column 30: \"captions\" of image 3 (row 1) is a string;",
        ),
        (
            r#"{"a": "x \ud83d\ude00 \ud800"}"#,
            LoneSurrogate,
            "line 1, column 23: the caption of image a is not text: the escape \\ud800",
        ),
        (
            r#"{"\udc00": "x"}"#,
            LoneSurrogate,
            "line 1, column 8: a key is not text: the escape \\ud800 to \\udfff is half",
        ),
        (r#"{"a": "x", "a": "y"}"#, RepeatedImage, "line 1, column 17: image a stands twice in the mapping;"),
        (
            "image_id,caption\n\n1,a, b\n2,c\n3,d,e\n",
            FieldCount,
            "line 3, column 1: row 1 has 3 fields where the header has 2;",
        ),
        (
            "image_id\tcaption\n1\ta\n2\t\"b\n3\tc\n",
            Malformed,
            "line 3, column 1: a double quote is opened in this row and",
        ),
        ("a.jpg#0\tx\nb.jpg y\n", Malformed, "line 2, column 1: \"b.jpg y\" is not name.jpg#0, a tab and a caption"),
    ]
};

#[test]
fn every_rule_has_its_sentence() {
    for (text, kind, sentence) in BROKEN {
        let error = captions(text.as_bytes(), None, None).expect_err(text);
        assert!(error.to_string().starts_with(sentence), "\n got {error}\nwant {sentence}\n for {text}");
        assert_eq!(error.kind, kind, "{text}");
    }
}

#[test]
fn a_null_in_a_list_is_an_empty_caption() {
    let rows = "[{\"image_id\": 2, \"captions\": [\"a\", null]}, {\"image_id\": 3, \"captions\": [null]}]";
    for text in [rows, "{\"2\": [\"a\", null], \"3\": [null]}"] {
        let found = captions(text.as_bytes(), None, None).expect(text);
        let texts = |image| found.captions_of(image).map(|one| found.caption(one)).collect::<Vec<_>>();
        assert_eq!([texts(0), texts(1)], [vec!["a", ""], vec![""]]);
    }
}

#[test]
fn a_caption_that_is_null_is_no_text() {
    for text in ["[{\"image_id\": 1, \"caption\": null}]", "{\"1\": null}"] {
        let error = captions(text.as_bytes(), None, None).expect_err(text).to_string();
        assert!(error.contains("is null; captions must be strings"), "{error}");
    }
}

#[test]
fn an_object_of_objects_is_no_mapping_however_long() {
    let entries = (0..200).map(|id| format!("\"{id}\": {{\"caption\": \"a\"}}")).collect::<Vec<_>>().join(", ");
    let error = captions(format!("{{{entries}}}").as_bytes(), None, None).unwrap_err();
    assert!(error.to_string().contains("an object whose first value, under \"0\", is an object"), "{error}");
}

#[test]
fn a_wrong_format_name_is_told() {
    for (format, text, sentence) in [
        (
            Format::Coco,
            "[]",
            "line 1, column 1: found a list where an object with the keys images, annotations should be",
        ),
        (Format::Coco, "{\"a\": 1}", "a COCO file needs the key \"annotations\"; this one's keys are a"),
        (Format::Karpathy, "{}", "a Karpathy split file needs the key \"images\"; this one's keys are "),
        (Format::List, "{}", "line 1, column 1: found an object where a list should be"),
        (Format::Mapping, "[]", "line 1, column 1: found a list where an object from image id to caption"),
        (
            Format::Jsonl,
            "[]",
            "line 1, column 1: found a list where an object with the keys image_id, caption, captions",
        ),
        (
            Format::Csv,
            "image_id\tcaption\n",
            "line 1, column 1: the header line \"image_id\\tcaption\" does not have the columns image_id and caption of a csv file",
        ),
        (Format::Flickr, "{}", "line 1, column 1: \"{}\" is not name.jpg#0, a tab and a caption"),
    ] {
        let error = captions(text.as_bytes(), Some(format), None).unwrap_err();
        assert!(error.to_string().starts_with(sentence), "{error}");
    }
}

#[test]
fn deep_nesting_is_skipped_without_a_stack() {
    let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
    let text = format!(r#"[{{"x": {deep}, "image_id": 1, "caption": "a"}}]"#);
    assert_eq!(captions(text.as_bytes(), None, None).unwrap().caption_count(), 1);
    let text = format!(r#"{{"x": {deep}}}"#);
    assert_eq!(captions(text.as_bytes(), None, None).unwrap_err().kind, ReadErrorKind::CaptionNotText);
    for format in Format::ALL {
        assert!(captions(deep.as_bytes(), Some(format), None).is_err(), "{format}");
    }
}
