//! The parser with the model of the package: against a slow reference, on any input, with damaged files.

use proptest::prelude::*;

use super::lanes::Portable;
use super::model::Model;
use super::network::Activations;
use super::reference::Slow;
use super::{ModelError, Parser, Relation, Word};

const MODEL: &[u8] = include_bytes!("../../../../src/capeval/resources/english/parser-1.model");

fn parser() -> Parser {
    Parser::read(MODEL).unwrap()
}

fn parse(parser: &Parser, text: &str) -> Vec<Word> {
    parser.parse(&mut parser.worker(), &text.split(' ').filter(|token| !token.is_empty()).collect::<Vec<_>>())
}

/// Each sentence has one root, no cycles, and heads of its own.
fn assert_trees(words: &[Word]) {
    for (number, word) in words.iter().enumerate() {
        assert_eq!(word.head.is_none(), word.relation == Relation::Root, "{word:?}");
        let mut now = number;
        let mut steps = 0;
        while let Some(head) = words[now].head {
            now = head;
            steps += 1;
            assert!(steps <= words.len(), "a cycle at word {number}");
        }
    }
}

#[test]
fn a_caption_has_its_tags_lemmas_and_heads() {
    let words = parse(&parser(), "two brown dogs are running along the beach");
    let told: Vec<String> = words
        .iter()
        .map(|word| {
            let head = word.head.map_or("-", |head| words[head].text.as_str());
            format!("{} {} {} {} {head}", word.text, word.lemma, word.tag.name(), word.relation.name())
        })
        .collect();
    let expected = [
        "two two CD nummod dogs",
        "brown brown JJ amod dogs",
        "dogs dog NNS nsubj running",
        "are be VBP aux running",
        "running run VBG ROOT -",
        "along along IN case beach",
        "the the DT det beach",
        "beach beach NN nmod running",
    ];
    assert_eq!(told, expected);
}

#[test]
fn words_keep_their_case_and_are_understood_without_it() {
    let parser = parser();
    let (small, large) = (parse(&parser, "a dog runs"), parse(&parser, "A DOG Runs"));
    assert_eq!(large.iter().map(|word| word.text.as_str()).collect::<Vec<_>>(), ["A", "DOG", "Runs"]);
    for (small, large) in small.iter().zip(&large) {
        assert_eq!((&small.lemma, small.tag, small.head), (&large.lemma, large.tag, large.head));
    }
}

#[test]
fn sentences_are_parsed_each_by_itself() {
    let parser = parser();
    let (first, second) = ("a man rides a horse .", "the horse is brown");
    let both = parse(&parser, &format!("{first} {second}"));
    let mut apart = parse(&parser, first);
    let offset = apart.len();
    apart.extend(
        parse(&parser, second).into_iter().map(|word| Word { head: word.head.map(|head| head + offset), ..word }),
    );
    assert_eq!(both, apart);
}

#[test]
fn no_words_one_word_and_very_many() {
    let parser = parser();
    assert_eq!(parse(&parser, ""), []);
    assert_eq!(parse(&parser, "dog").len(), 1);
    let many = parse(&parser, &"a man with a dog ".repeat(400));
    assert_eq!(many.len(), 2000);
    assert_trees(&many);
}

#[test]
fn the_network_is_its_slow_reference() {
    let model = Model::read(MODEL).unwrap();
    let mut activations = Activations::new(&model);
    let mut portable = Activations::new(&model);
    let texts = [
        "dog",
        "a man",
        "a zorgle-like été 48x runs 12 times",
        "a group of people standing around a kitchen preparing food for a party with many guests and a cake",
        "the the the of of 's n't",
    ];
    for text in texts {
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        super::network::parse(&mut activations, &model, &words);
        portable.parse(Portable, &model, &words);
        let slow = Slow::new(&model, &words);
        for found in [&activations, &portable] {
            assert_eq!(found.found.tags, slow.tags(&model), "{text}");
            assert_eq!(
                found.scores().iter().map(|&score| i64::from(score)).collect::<Vec<_>>(),
                slow.scores(&model),
                "{text}"
            );
            assert_eq!(found.found.relations, slow.relations(&model, &found.found.heads), "{text}");
        }
    }
}

#[test]
fn files_that_are_no_parser_say_so() {
    let error = |bytes: &[u8]| Parser::read(bytes).unwrap_err();
    assert_eq!(error(b""), ModelError::NotOurs);
    assert_eq!(error(b"capeval"), ModelError::NotOurs);
    assert!(matches!(error(&MODEL[..15]), ModelError::Damaged(_)));
    assert!(matches!(error(&MODEL[..MODEL.len() - 1]), ModelError::Damaged(_)));
    let mut newer = MODEL.to_vec();
    newer[8] = 9;
    assert_eq!(error(&newer), ModelError::Format(9));
    assert!(error(&newer).to_string().contains("make spice-model"));
}

/// The file with its checksum made right again, so that what lies behind it is read.
fn resealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let checksum = crc32fast::hash(&bytes[20..]).to_le_bytes();
    bytes[12..16].copy_from_slice(&checksum);
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_changed_byte_is_noticed(place in 0..MODEL.len(), change in 1u8..) {
        let mut bytes = MODEL.to_vec();
        bytes[place] ^= change;
        prop_assert!(Parser::read(&bytes).is_err());
    }

    #[test]
    fn a_wrong_file_with_a_right_checksum_is_harmless(
        changes in proptest::collection::vec((prop_oneof![20..200usize, 20..MODEL.len()], any::<u8>()), 1..4),
    ) {
        let mut bytes = MODEL.to_vec();
        for (place, value) in changes {
            bytes[place] = value;
        }
        if let Ok(parser) = Parser::read(resealed(bytes)) {
            assert_trees(&parse(&parser, "a man in a red shirt is riding his bike . it is new"));
        }
    }

    #[test]
    fn any_text_is_parsed_and_memory_does_not_matter(texts in proptest::collection::vec("(\\PC{0,6} ){0,12}", 3)) {
        let parser = parser();
        let mut memory = parser.worker();
        for text in texts.iter().chain(texts.iter().rev()) {
            let tokens: Vec<&str> = text.split(' ').collect();
            let words = parser.parse(&mut memory, &tokens);
            prop_assert_eq!(words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>(), tokens);
            assert_trees(&words);
            prop_assert_eq!(&words, &parse_tokens(&parser, text));
        }
    }
}

/// With fresh memory.
fn parse_tokens(parser: &Parser, text: &str) -> Vec<Word> {
    parser.parse(&mut parser.worker(), &text.split(' ').collect::<Vec<_>>())
}
