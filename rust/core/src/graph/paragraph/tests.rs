//! Texts, words and rules by themselves; `tests/metrics/test_paragraph_graphs.py` has a worked example of each rule.

use super::lexicon::{Class, is, is_clothes, is_name, is_person, is_thing, preposition};
use super::*;
use crate::parse::{Relation, Tag};
use crate::text::tokenize::Tokenizer;

fn cut(text: &str) -> (String, Vec<usize>, Vec<usize>) {
    let Text { tokens, ends, breaks, .. } = Text::of(text, Tokenizer::Ptb);
    (tokens.join(" "), ends, breaks)
}

#[test]
fn sentences_and_marks_are_found_where_tokenizers_drop_them() {
    let cases: [(&str, &str, &[usize], &[usize]); 11] = [
        ("A dog runs. It barks!", "a dog runs it barks", &[3], &[]),
        ("The door is open.The cat sleeps.", "the door is open the cat sleeps", &[4], &[]),
        ("He says \"go.\"The dog runs", "he says go the dog runs", &[3], &[]),
        ("a dog, a cat - and (two) birds", "a dog a cat and two birds", &[], &[2, 4, 5, 6]),
        ("at 3:30 he has 1,000 dogs", "at 3:30 he has 1,000 dogs", &[], &[]),
        ("a dog by St. Mary", "a dog by st. mary", &[], &[]),
        ("**A dog**\n\n# A cat", "a dog a cat", &[2], &[]),
        ("a dog. ", "a dog", &[], &[]),
        (", , a dog", "a dog", &[], &[]),
        ("", "", &[], &[]),
        ("...", "", &[], &[]),
    ];
    for (text, tokens, ends, breaks) in cases {
        assert_eq!(cut(text), (tokens.to_owned(), ends.to_vec(), breaks.to_vec()), "{text:?}");
    }
}

#[test]
fn words_are_in_their_lists() {
    assert!(["dog", "tennis racket", "t-shirt", "ice cream", "snow-leopard", "sky"].iter().all(|noun| is_thing(noun)));
    assert!(["image", "sense", "moment", "calm", "", "xyzzy", "half-light"].iter().all(|noun| !is_thing(noun)));
    assert!(is_person("woman") && is_person("skier") && !is_person("dog"));
    assert!(is_clothes("jacket") && is_clothes("backpack") && !is_clothes("dog"));
    assert!(is("red", Class::Colour) && !is("dog", Class::Colour));
    let words = ["in", "front", "of", "a"];
    assert_eq!(preposition(|at| words.get(at).copied()), Some((3, "in front of")));
    assert_eq!(preposition(|at| words[1..].get(at).copied()), None);
}

/// A binary search over lines finds each line, and nothing else.
#[test]
fn every_line_of_the_things_is_found() {
    let all = include_str!("things.txt");
    let lines: Vec<&str> = all.lines().filter(|line| !line.is_empty()).collect();
    assert!(lines.len() > 20_000);
    for line in lines {
        assert!(is_name(line), "{line}");
        assert!(!is_name(&format!("{line}~")), "{line}");
    }
}

/// Any words with any tags make a graph that holds together: the same again, and every number in range.
#[test]
fn any_words_make_a_graph() {
    let known = [
        "a",
        "dog",
        "of",
        "and",
        "red",
        "no",
        "not",
        "with",
        "his",
        "it",
        "is",
        "there",
        "group",
        "people",
        "wears",
        "in",
        "front",
        "'s",
        "which",
        "shades",
        "image",
        "covered",
        "by",
        "overall",
        "possibly",
        "visible",
        "background",
    ];
    let mut state = 1_u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for _ in 0..3_000 {
        let length = next(14);
        let word = |text: usize, tag: usize, head: usize| Word {
            text: known[text].to_owned(),
            lemma: known[text].to_owned(),
            tag: Tag::ALL[tag],
            head: Some(head),
            relation: Relation::Nsubj,
        };
        let words: Vec<Word> =
            (0..length).map(|_| word(next(known.len()), next(Tag::ALL.len()), next(length + 2))).collect();
        let mut places = || vec![next(16), next(16)];
        let text = Text { ends: places(), breaks: places(), questions: places(), ..Text::default() };
        let (graph, _) = of_words(words.clone(), &text);
        assert_eq!(graph, of_words(words, &text).0);
        let count = graph.objects.len();
        assert!(graph.objects.iter().all(|one| !one.words.is_empty() && one.words.iter().all(|&word| word < length)));
        for one in &graph.attributes {
            assert!(one.object < count && one.status >= graph.objects[one.object].status);
        }
        for one in &graph.relations {
            assert!(one.subject < count && one.object < count && one.words.iter().all(|&word| word < length));
        }
    }
}
