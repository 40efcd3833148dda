//! For any bytes, the reader gives captions or an error, never a panic; and its time is linear in the file's size.

use std::time::Instant;

use proptest::prelude::*;

use super::*;

/// Pieces that caption files are made of, in no good order.
const PIECES: [&str; 40] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\\ud800",
    "\\udc00",
    "\\n",
    "\n",
    "\r\n",
    "\t",
    "#0",
    " ",
    "\u{feff}",
    "\"images\"",
    "\"annotations\"",
    "\"image_id\"",
    "\"caption\"",
    "\"captions\"",
    "\"sentences\"",
    "\"raw\"",
    "\"split\"",
    "\"id\"",
    "\"cocoid\"",
    "\"a\"",
    "\"é\"",
    "1",
    "-0",
    "1e999",
    "null",
    "true",
    "image_id",
    "caption",
    "image_id,caption",
    "name.jpg#0\t",
    "NaN",
    "😀",
];

pub(super) fn pieces() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(&PIECES[..]), 0..40).prop_map(|pieces| pieces.concat().into_bytes())
}

/// A well-formed file with one byte changed or its end cut off.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let whole = prop::sample::select(super::tests::FORMATS.map(|(_, text)| text).to_vec());
    (whole, any::<prop::sample::Index>(), any::<u8>(), any::<bool>()).prop_map(|(text, index, byte, cut)| {
        let mut bytes = text.as_bytes().to_vec();
        let at = index.index(bytes.len());
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] = byte;
        }
        bytes
    })
}

/// Reads the bytes every way there is; every error can be said.
fn read_every_way(bytes: &[u8]) {
    for format in Format::ALL.into_iter().map(Some).chain([None]) {
        for split in [None, Some("test")] {
            if let Err(error) = captions(bytes, format, split) {
                let sentence = error.to_string();
                assert!(!sentence.is_empty() && !sentence.contains(char::is_control), "{sentence:?}");
            }
        }
    }
    drop(look(bytes));
    let names = ["image_id", "caption", "a.b"].map(str::to_owned);
    drop(rows::lines(bytes, &names, 1));
    if let Ok(Some(header)) = beginning(bytes).map(header) {
        drop(rows::table(bytes, &header, &names, 1, true));
    }
}

/// The texts of a column.
fn texts(column: &rows::Column) -> Vec<String> {
    let starts = std::iter::once(0).chain(column.ends.iter().map(|end| end.0 as usize));
    let text =
        |(start, end): (usize, &(u64, bool))| String::from_utf8_lossy(&column.text[start..end.0 as usize]).into_owned();
    starts.zip(&column.ends).map(text).collect()
}

#[test]
fn a_table_is_the_same_in_pieces() {
    let text = b"1,\"a\nb\",x\r\n\n2,c\n3,\"d \"\"e\"\"\",y\n4,f,z".as_slice();
    let names = ["i", "t"].map(str::to_owned).to_vec();
    let header = Header { names: ["i", "t", "u"].map(str::to_owned).to_vec(), delimiter: b',', end: 0 };
    let whole = rows::table(text, &header, &names, 1, true).unwrap();
    assert_eq!(texts(&whole.columns[1]), ["a\nb", "d \"e\"", "f"]);
    assert_eq!((whole.numbers.as_slice(), whole.bad[0].number), ([1, 3, 4].as_slice(), 2));
    for cut in 0..text.len() {
        let start = rows::table(&text[..cut], &header, &names, 1, false).unwrap();
        let end = rows::table(&text[start.read..], &header, &names, 1 + start.count, true).unwrap();
        for (column, both) in whole.columns.iter().zip(start.columns.iter().zip(&end.columns)) {
            assert_eq!(texts(column), [texts(both.0), texts(both.1)].concat(), "{cut}");
        }
        assert_eq!(whole.numbers, [start.numbers, end.numbers].concat(), "{cut}");
        assert_eq!(whole.bad, [start.bad, end.bad].concat(), "{cut}");
    }
}

#[test]
fn a_file_is_looked_at_by_its_beginning() {
    for (format, text) in super::tests::FORMATS {
        let (layout, names) = look(text.as_bytes()).unwrap();
        let expected = match format {
            Format::Jsonl => Layout::Lines,
            Format::Csv | Format::Tsv => Layout::Table,
            _ => Layout::of(format.name()).unwrap(),
        };
        assert_eq!(layout, expected, "{text}");
        let rows = [Layout::List, Layout::Lines, Layout::Table].contains(&layout);
        assert!(!rows || names.contains(&"image_id".to_owned()), "{names:?}");
        // A file that is cut off has a layout, too.
        (1..text.len()).for_each(|end| drop(look(&text.as_bytes()[..end])));
    }
    assert_eq!(look(b"{\"annotations\": [{\"image\": 1}]}").unwrap().0, Layout::Object);
    assert_eq!(look(b"{\"a\": {\"b\": NaN}}\n{\"c\": 1}").unwrap(), (Layout::Object, vec!["a".to_owned()]));
    let names = names_of_lines(b"{\"a\": {\"b\": NaN}}\n\xff\n{\"c\": 1}");
    assert_eq!(names, ["a", "a.b", "c"]);
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        read_every_way(&bytes);
    }

    #[test]
    fn arbitrary_pieces_never_panic(bytes in pieces()) {
        read_every_way(&bytes);
    }

    #[test]
    fn damaged_files_never_panic(bytes in damaged()) {
        read_every_way(&bytes);
    }

    #[test]
    fn strings_read_as_serde_reads_them(text in any::<String>(), id in any::<String>()) {
        let json = serde_json::json!([{"caption": text, "image_id": id}]).to_string();
        let read = captions(json.as_bytes(), None, None).unwrap();
        prop_assert_eq!((read.image_id(0), read.caption(0)), (id.as_str(), text.as_str()));
    }
}

#[test]
fn time_is_linear_in_every_format() {
    let files: [fn(usize) -> String; 5] = [
        |n| format!("[{}]", vec![r#"{"image_id": 1, "caption": "a dog \n runs"}"#; n].join(",")),
        |n| format!(r#"{{"annotations": [{}]}}"#, vec![r#"{"image_id": null, "caption": "a"}"#; n].join(",\n")),
        |n| r#"{"image_id": 1, "caption": "a dog \n runs"} "#.repeat(n),
        |n| "image_id,caption\n".to_owned() + &"1,a dog runs,no\n".repeat(n),
        |n| "a.jpg#0\ta dog\nbroken\n".repeat(n),
    ];
    for file in files {
        let seconds = [20_000, 160_000].map(|n| {
            let text = file(n);
            let once = || {
                let start = Instant::now();
                drop(captions(text.as_bytes(), None, None));
                start.elapsed().as_secs_f64()
            };
            (0..3).map(|_| once()).fold(f64::INFINITY, f64::min)
        });
        assert!(seconds[1] < 32.0 * seconds[0] + 0.5, "8 times the rows took {seconds:?} seconds");
    }
}
