//! Pickles written by hand, as Python's `pickletools.dis` shows them.

use super::*;
use crate::text::ngram::Ngram;
use proptest::prelude::*;

/// `{'document_frequency': {('a',): 3, ('a', 'dog'): 2}, 'ref_len': 5}` in protocol 2, the counts in a `defaultdict`.
const PROTOCOL_2: &[u8] = b"\x80\x02}q\x00(X\x12\x00\x00\x00document_frequencyq\x01ccollections\ndefaultdict\nq\x02\
    c__builtin__\nint\nq\x03\x85q\x04Rq\x05(X\x01\x00\x00\x00aq\x06\x85q\x07K\x03h\x06X\x03\x00\x00\x00dogq\x08\x86q\x09K\x02u\
    X\x07\x00\x00\x00ref_lenq\x0aK\x05u.";
/// The same in Python 2's protocol 0, the counts as floats and as a long integer.
const PROTOCOL_0: &[u8] =
    b"(dp0\nS'document_frequency'\np1\nccollections\ndefaultdict\np2\n(c__builtin__\nfloat\np3\ntp4\nRp5\n\
    (S'a'\np6\ntp7\nF3.0\ns(g6\nS'dog'\np8\ntp9\nL2L\nssS'ref_len'\np10\nI5\ns.";
/// The same in protocol 4, `ref_len` a NumPy float.
const PROTOCOL_4: &[u8] = b"\x80\x04\x95\x8f\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x12document_frequency\x94}\x94(\x8c\x01a\x94\
    \x85\x94K\x03h\x03\x8c\x03dog\x94\x86\x94K\x02u\x8c\x07ref_len\x94\x8c\x15numpy.core.multiarray\x94\x8c\x06scalar\x94\x93\x94\
    \x8c\x05numpy\x94\x8c\x05dtype\x94\x93\x94\x8c\x02f8\x94\x89\x88\x87\x94R\x94(K\x03\x8c\x01<\x94NNNJ\xff\xff\xff\xff\
    J\xff\xff\xff\xffK\x00t\x94bC\x08\x00\x00\x00\x00\x00\x00\x14@\x94\x86\x94R\x94u.";

fn message(bytes: &[u8]) -> String {
    DocumentFrequency::from_pickle(bytes).unwrap_err().to_string()
}

fn assert_error(bytes: &[u8], part: &str) {
    let message = message(bytes);
    assert!(message.contains(part), "{message}");
    assert!(message.contains("capeval df build"), "{message}");
}

#[test]
fn every_protocol_gives_the_same_counts() {
    let words = ["a", "dog"];
    let expected = DocumentFrequency::from_counts(&words, vec![(Ngram::new(&[0]), 3), (Ngram::new(&[0, 1]), 2)], 5, 2);
    for pickle in [PROTOCOL_0, PROTOCOL_2, PROTOCOL_4] {
        let read = DocumentFrequency::from_pickle(pickle).unwrap();
        assert_eq!(read.to_bytes(), expected.to_bytes());
    }
}

#[test]
fn bare_counts_are_of_the_validation_set() {
    let read = DocumentFrequency::from_pickle(
        b"}(U\x03dog\x85K\x07K\x0cJ\x40\x42\x0f\x00\x86G@\x08\x00\x00\x00\x00\x00\x00u.",
    );
    let read = read.unwrap();
    assert_eq!(read.documents(), 40_504);
    assert_eq!((read.order, read.word_count()), (2, 3));
    assert!(read.iter().any(|entry| entry == (vec!["12", "1000000"], 3)));
}

#[test]
fn bytes_are_utf8_or_else_latin_1() {
    let read =
        DocumentFrequency::from_pickle(b"}(U\x05caf\xc3\xa9\x85K\x01U\x04na\xefv\x85K\x02C\x01b\x85K\x03u.").unwrap();
    let mut words: Vec<_> = read.iter().map(|(words, count)| (words[0].to_owned(), count)).collect();
    words.sort();
    assert_eq!(words, [("b".to_owned(), 3), ("café".to_owned(), 1), ("naïv".to_owned(), 2)]);
}

#[test]
fn counters_encoded_bytes_and_marks() {
    let counter = b"ccollections\nCounter\n}(c_codecs\nencode\n(V\\u00e9\nVlatin1\ntR\x85M\x00\x01u\x85R.";
    let read = DocumentFrequency::from_pickle(counter).unwrap();
    assert_eq!(read.iter().collect::<Vec<_>>(), [(vec!["é"], 256)]);
    let detour = b"(0(NN1N20](NNe0(U\x01a\x85K\x02d.";
    let read = DocumentFrequency::from_pickle(detour).unwrap();
    assert_eq!(read.iter().collect::<Vec<_>>(), [(vec!["a"], 2)]);
}

#[test]
fn other_names_are_refused_before_anything_is_done_with_them() {
    for pickle in [
        &b"cos\nsystem\n(S'touch x'\ntR."[..],
        b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x07touch x\x85R.",
        b"(S'touch x'\nios\nsystem\n.",
    ] {
        assert_error(pickle, "`os.system`");
        assert_error(pickle, "nothing in it was executed");
    }
    assert_error(b"cbuiltins\neval\n.", "`builtins.eval`");
    assert_error(b"cevil\x1b[2J\nx\n.", "`evil\\u{1b}[2J.x`");
}

#[test]
fn errors_say_what_is_wrong() {
    assert_error(b"", "ends within the instruction at byte 0");
    assert_error(b"[1, 2]", "not a Python pickle");
    assert_error(b"{\"df\": 1}", "not a Python pickle");
    assert_error(b"\x80\x06N.", "protocol 6");
    assert_error(b"N.", "it holds None");
    assert_error(b"}.", "no n-gram");
    assert_error(b"}U\x02dfU\x01xs.", "its counts are 'x'");
    assert_error(b"}U\x02df}s.", "lacks 'ref_len'");
    assert_error(b"}U\x07ref_lenK\x01s.", "no 'document_frequency'");
    assert_error(b"}(U\x02dfNU\x07ref_lenK\x01u.", "its counts are None");
    assert_error(b"}(U\x02df}U\x07ref_lenG@\x25\x38\x51\xeb\x85\x1e\xb8u.", "perhaps its logarithm");
    assert_error(b"}(U\x02df}U\x07ref_lenK\x00u.", "'ref_len' is 0");
    assert_error(b"}U\x03dogK\x01s.", "'dog' is a key of the counts");
    assert_error(b"})K\x01s.", "a tuple of 0 items");
    assert_error(b"}(K\x01K\x01K\x01K\x01K\x01tK\x01s.", "a tuple of 5 items");
    assert_error(b"}U\x01a\x85\x85K\x01s.", "(a tuple) is a key");
    assert_error(b"}U\x01a\x85J\xff\xff\xff\xffs.", "the count of ('a') is -1");
    assert_error(b"}U\x01a\x85G?\xe0\x00\x00\x00\x00\x00\x00s.", "is 0.5");
    assert_error(b"}U\x01a\x85\x8a\x05\x00\x00\x00\x00\x01s.", "is 4294967296");
    assert_error(b"}(U\x011\x85K\x01K\x01\x85K\x01u.", "'1' is counted twice");
    assert_error(b"]\x8f.", "the instruction 0x8f at byte 1");
    let ours = DocumentFrequency::from_pickle(PROTOCOL_2).unwrap().to_bytes();
    assert!(message(&ours).contains("needs no import"));
}

#[test]
fn hostile_pickles_end_in_errors() {
    for pickle in [
        &b"}r\xff\xff\xff\xff."[..],
        b"X\xff\xff\xff\xffa.",
        b"T\xff\xff\xff\xffa.",
        b"\x8d\xff\xff\xff\xff\xff\xff\xff\xffa.",
        b"\x8b\xff\xff\xff\x7fa.",
        b"p99999999999999999999\n.",
        b"N(0t.",
        b"(N(NR.",
        b"NN\x86h\x00.",
    ] {
        assert!(DocumentFrequency::from_pickle(pickle).is_err());
    }
    let nested = |opcode: &[u8]| [b"}N", &opcode.repeat(1 << 20)[..], b"K\x01s."].concat();
    assert_error(&nested(b"\x85"), "(a tuple) is a key");
    assert_error(&nested(b"2\x86"), "(a tuple, a tuple) is a key");
    assert_error(&[&b"(".repeat(1 << 20)[..], b"."].concat(), "lacks its operands");
    assert_error(&[&b"}".repeat(1 << 20)[..], b"."].concat(), "no n-gram");
}

#[test]
fn every_cut_is_noticed() {
    for pickle in [PROTOCOL_0, PROTOCOL_2, PROTOCOL_4] {
        for end in 0..pickle.len() {
            assert!(DocumentFrequency::from_pickle(&pickle[..end]).is_err(), "byte {end}");
        }
    }
}

/// Instructions without operands, and some with: programs of them reach far more states than random bytes do.
const INSTRUCTIONS: &[&[u8]] = &[
    b"(",
    b"0",
    b"1",
    b"2",
    b")",
    b"]",
    b"}",
    b"N",
    b"t",
    b"l",
    b"d",
    b"s",
    b"u",
    b"a",
    b"e",
    b"R",
    b"b",
    b"\x85",
    b"\x86",
    b"\x87",
    b"\x88",
    b"\x93",
    b"\x94",
    b"K\x05",
    b"U\x01a",
    b"U\x02df",
    b"U\x07ref_len",
    b"C\x01<",
    b"q\x00",
    b"h\x00",
    b"q\x07",
    b"h\x07",
    b"G?\xf0\x00\x00\x00\x00\x00\x00",
    b"ccollections\nCounter\n",
    b"cnumpy\ndtype\n",
    b"U\x02u1",
    b"cnumpy.core.multiarray\nscalar\n",
    b"c_codecs\nencode\n",
];

proptest! {
    #[test]
    fn any_bytes_give_a_result(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = DocumentFrequency::from_pickle(&bytes);
    }

    #[test]
    fn any_program_gives_a_result(program in prop::collection::vec(prop::sample::select(INSTRUCTIONS), 0..60)) {
        let _ = DocumentFrequency::from_pickle(&[&program.concat()[..], b"."].concat());
    }

    #[test]
    fn any_changed_pickle_gives_a_result(pickle in prop::sample::select(&[PROTOCOL_0, PROTOCOL_2, PROTOCOL_4][..]),
                                         changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3), 1..6)) {
        let mut bytes = pickle.to_vec();
        for (at, byte, change) in changes {
            let at = at.index(bytes.len());
            match change {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.remove(at)),
            }
        }
        let _ = DocumentFrequency::from_pickle(&bytes);
    }
}
