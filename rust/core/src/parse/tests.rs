//! The parser with the model of the package: against a slow reference, on any input, with damaged files.

mod reference;

use std::sync::LazyLock;

use proptest::prelude::*;

use super::model::Model;
use super::network::Activations;
use super::{Parser, Relation, Word};
use crate::parse::matrix::Portable;
use reference::Slow;

const MODEL: &[u8] = include_bytes!("../../../../src/sacrecap/resources/english/parser-1.model");

static PARSER: LazyLock<Parser> = LazyLock::new(|| Parser::read(MODEL).unwrap());
static NETWORK: LazyLock<Model> = LazyLock::new(|| Model::read(MODEL).unwrap());

/// Beyond so many tokens without an end a sentence is cut.
const PART: usize = 80;

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
fn a_known_sentence_has_the_parse_of_a_new_one() {
    let sentences = ["a dog runs", "A dog runs", "a dog", "a", "dog a", "the dogs are running on grass", ""];
    let new: Vec<Vec<Word>> = sentences.map(|text| parse(&Parser::read(MODEL).unwrap(), text)).into();
    let parser = Parser::read(MODEL).unwrap();
    for _ in 0..2 {
        assert_eq!(sentences.map(|text| parse(&parser, text)).to_vec(), new);
    }
}

#[test]
fn a_caption_has_its_tags_lemmas_and_heads() {
    let words = parse(&PARSER, "two brown dogs are running along the beach");
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
    let (small, large) = (parse(&PARSER, "a dog runs"), parse(&PARSER, "A DOG Runs"));
    assert_eq!(large.iter().map(|word| word.text.as_str()).collect::<Vec<_>>(), ["A", "DOG", "Runs"]);
    for (small, large) in small.iter().zip(&large) {
        assert_eq!((&small.lemma, small.tag, small.head), (&large.lemma, large.tag, large.head));
    }
}

#[test]
fn sentences_are_parsed_each_by_itself() {
    let (first, second) = ("a man rides a horse", "the horse is brown");
    let mut apart = parse(&PARSER, first);
    let offset = apart.len();
    let whole = format!("{first} {second}");
    let tokens: Vec<&str> = whole.split(' ').collect();
    let cut = |ends: &[usize]| PARSER.parse_sentences(&mut PARSER.worker(), &tokens, ends);
    let both = cut(&[offset]);
    for ends in [vec![0, offset], vec![offset, offset], vec![offset, tokens.len()], vec![offset, tokens.len() + 7]] {
        assert_eq!(cut(&ends), both, "ends that cut nothing say nothing");
    }
    assert_eq!(cut(&[]), parse(&PARSER, &whole));
    apart.extend(
        parse(&PARSER, second).into_iter().map(|word| Word { head: word.head.map(|head| head + offset), ..word }),
    );
    assert_eq!(both, apart);
}

#[test]
fn no_words_one_word_and_very_many() {
    assert_eq!(parse(&PARSER, ""), []);
    assert_eq!(parse(&PARSER, "dog").len(), 1);
    let many = parse(&PARSER, &"a man with a dog ".repeat(400));
    assert_eq!(many.len(), 2000);
    assert_trees(&many);
}

/// The network as fast as it gets, without wide instructions, and slow: the same numbers.
fn assert_network_is_its_reference(words: &[String]) {
    let model = &*NETWORK;
    let (mut fast, mut portable) = (Activations::new(model), Activations::new(model));
    super::network::parse(&mut fast, model, words);
    portable.parse(Portable, model, words);
    let slow = Slow::new(model, words);
    for activations in [&fast, &portable] {
        assert_eq!(activations.parse.tags, slow.tags(model), "{words:?}");
        let scores: Vec<i64> = activations.arcs.values.iter().map(|&score| i64::from(score)).collect();
        assert_eq!(scores, slow.scores(model), "{words:?}");
        assert_eq!(activations.parse.relations, slow.relations(model, &activations.parse.heads), "{words:?}");
    }
}

#[test]
fn the_network_is_its_slow_reference() {
    let texts = [
        "dog",
        "a man",
        "a zorgle-like été 48x runs 12 times",
        "a group of people standing around a kitchen preparing food for a party with many guests and a cake",
        "the the the of of 's n't",
    ];
    for text in texts {
        assert_network_is_its_reference(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
    }
}

#[test]
fn threads_that_share_a_parser_find_the_same() {
    let texts: Vec<String> =
        (0..40).map(|k| format!("a man with {k} dogs throws the zorgle{} at two girls", k % 7)).collect();
    let alone: Vec<Vec<Word>> = texts.iter().map(|text| parse(&PARSER, text)).collect();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (texts, alone) = (&texts, &alone);
            scope.spawn(move || {
                let mut memory = PARSER.worker();
                for k in 0..texts.len() {
                    let at = (k * (2 * thread + 1) + thread) % texts.len();
                    let tokens: Vec<&str> = texts[at].split(' ').collect();
                    assert_eq!(PARSER.parse(&mut memory, &tokens), alone[at]);
                }
            });
        }
    });
}

#[test]
fn files_that_are_no_parser_say_so() {
    let error = |bytes: &[u8]| Parser::read(bytes).unwrap_err().0;
    for other in [&b""[..], b"sacrecap"] {
        assert!(error(other).starts_with("not a parser"));
    }
    for end in [15, MODEL.len() - 1] {
        assert!(error(&MODEL[..end]).starts_with("damaged parser"));
    }
    let mut newer = MODEL.to_vec();
    newer[8] = 9;
    assert_eq!(error(&newer), "parser of format 9, this sacrecap reads format 1; install sacrecap again");
    // The first size follows the name.
    let mut odd = MODEL.to_vec();
    let size = 24 + u32::from_le_bytes(MODEL[20..24].try_into().unwrap()) as usize;
    odd[size] += 1;
    assert!(error(&resealed(odd)).contains("its layers are not multiples of 16 wide"));
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
    fn any_text_is_parsed_and_memory_does_not_matter(
        texts in proptest::collection::vec(prop_oneof!["(\\PC{0,6} ){0,12}", any::<String>()], 3),
    ) {
        let mut memory = PARSER.worker();
        for text in texts.iter().chain(texts.iter().rev()) {
            let tokens: Vec<&str> = text.split(' ').collect();
            let words = PARSER.parse(&mut memory, &tokens);
            prop_assert_eq!(words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>(), tokens);
            assert_trees(&words);
            prop_assert_eq!(&words, &parse_tokens(text));
        }
    }
}

/// With fresh memory.
fn parse_tokens(text: &str) -> Vec<Word> {
    PARSER.parse(&mut PARSER.worker(), &text.split(' ').collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn the_network_is_its_slow_reference_on_any_words(words in proptest::collection::vec(any_token(), 1..20)) {
        assert_network_is_its_reference(&words);
    }

    /// So that time grows with the length and no faster.
    #[test]
    fn a_long_text_is_its_parts(tokens in proptest::collection::vec(any_token(), 1..2000)) {
        let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
        let mut parts = vec![];
        for part in tokens.chunks(PART) {
            let first = parts.len();
            let words = PARSER.parse(&mut PARSER.worker(), part);
            parts.extend(words.into_iter().map(|word| Word { head: word.head.map(|head| head + first), ..word }));
        }
        assert_trees(&parts);
        prop_assert_eq!(PARSER.parse(&mut PARSER.worker(), &tokens), parts);
    }
}

/// A token that ends no sentence: of captions mostly.
fn any_token() -> impl Strategy<Value = String> {
    const KNOWN: &[&str] =
        &["a", "the", "of", "in", "and", "two", "man", "dogs", "red", "is", "riding", "his", ",", "-lrb-", "'s"];
    prop_oneof![4 => proptest::sample::select(KNOWN).prop_map(str::to_owned), 1 => "[a-zé0-9-]{1,9}"]
}
