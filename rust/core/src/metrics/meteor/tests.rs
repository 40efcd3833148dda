//! Laws and hand-made cases, on resources small enough to read.

use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::{Alignment, Link, Meteor, Module, Resources, Weights, align, align_best};
use crate::corpus::{Corpus, References};
use crate::engine::{Kernel, Resources as Given, Table, Value, evaluate};
use crate::metrics::kernel;
use crate::metrics::meteor::resources::split;
use crate::tables::SharedBytes;
use crate::text::captions::CaptionsBuilder;
use crate::text::tokenize::Tokenizer;

/// The texts of `tests/goldens/small`, by `models/meteor`.
pub(super) fn resources() -> Resources {
    let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/goldens/meteor-small.tables"));
    Resources::from_bytes(&SharedBytes::new(bytes)).unwrap()
}

fn links(alignment: &Alignment) -> Vec<(Module, String, String)> {
    let text = |tokens: &[String]| tokens.join(" ");
    let line = |link: &Link| {
        let (h, r) = (link.hypothesis.clone(), link.reference.clone());
        (link.module, text(&alignment.hypothesis[h]), text(&alignment.reference[r]))
    };
    alignment.links.iter().map(line).collect()
}

fn show(hypothesis: &str, reference: &str) -> String {
    let name = |(module, h, r): (Module, String, String)| format!("{} {h}={r}", module.name());
    links(&align(&resources(), hypothesis, reference)).into_iter().map(name).collect::<Vec<_>>().join(", ")
}

#[test]
fn every_module_finds_its_matches() {
    assert_eq!(show("a big dog", "a large dog"), "exact a=a, synonym big=large, exact dog=dog");
    assert_eq!(show("a dog walks in", "a dog walked in"), "exact a=a, exact dog=dog, stem walks=walked, exact in=in");
    assert_eq!(show("many dogs", "lots of dogs"), "paraphrase many=lots of, exact dogs=dogs");
    assert_eq!(show("many of", "lots of"), "exact of=of");
    assert_eq!(show("a dog is playing", "a dog plays"), "exact a=a, exact dog=dog, paraphrase is playing=plays");
}

#[test]
fn base_forms_come_from_the_list_or_from_suffix_rules() {
    let resources = resources();
    assert_eq!(resources.synonym_sets("ran"), [6, 7]);
    assert_eq!(resources.synonym_sets("geese"), [8]);
    assert_eq!(resources.synonym_sets("hounds"), [4, 5]);
    // Listed as a form of a word without meaning: the suffix rules are not asked.
    assert_eq!(resources.synonym_sets("dogs"), [0; 0]);
    assert_eq!(resources.synonym_sets("xyz"), [0; 0]);
}

#[test]
fn a_lone_match_that_others_could_make_is_skipped_unless_it_joins_a_chunk() {
    // Stem and synonym both find it, so it is not fixed, and alone it gains nothing.
    assert_eq!(show("hounds", "hound"), "");
    assert_eq!(show("a hounds ran", "a hound ran"), "exact a=a, stem hounds=hound, exact ran=ran");
}

#[test]
fn equal_words_are_taken_in_order() {
    let alignment = align(&resources(), "the the the", "the");
    assert_eq!(alignment.links, [Link { module: Module::Exact, hypothesis: 0..1, reference: 0..1 }]);
    let alignment = align(&resources(), "the", "the the the");
    assert_eq!(alignment.links, [Link { module: Module::Exact, hypothesis: 0..1, reference: 1..2 }]);
}

#[test]
fn the_best_reference_is_the_first_of_equals() {
    let resources = resources();
    let best =
        |references: &[&str]| align_best(&resources, &Weights::default(), "a dog", references).map(|best| best.0);
    assert_eq!(best(&["a cat", "a dog", "a dog"]), Some(1));
    assert_eq!(best(&["x", "y"]), Some(0));
    assert_eq!(best(&[]), None);
}

fn corpus(items: &[(&str, &[&str])]) -> Corpus {
    let (mut references, mut candidates) = (CaptionsBuilder::default(), CaptionsBuilder::default());
    for (number, (candidate, captions)) in items.iter().enumerate() {
        let id = number.to_string();
        candidates.caption(&id, candidate);
        references.image(&id);
        captions.iter().for_each(|caption| references.caption(&id, caption));
    }
    let (references, candidates) = (references.finish(), candidates.finish());
    let images: Vec<u32> = (0..items.len() as u32).collect();
    let references = Arc::new(References::encode(&references, &images, Tokenizer::None, 1));
    Corpus::encode(references, &candidates, &images.iter().copied().map(Some).collect::<Vec<_>>(), 1)
}

fn table(corpus: &Corpus, threads: usize) -> Arc<Table> {
    let given = Given::new(threads).with(Arc::new(resources()));
    evaluate(corpus, &[&Meteor::default()], &given).unwrap().remove(0)
}

#[test]
fn the_kernel_sums_counts_of_best_references() {
    let corpus = corpus(&[
        ("a big dog", &["x", "a large dog"]),
        ("a dog , mr. x ' s", &["a dog", "a dog, mr. x ' s"]),
        ("a dog runs", &["the dog", "a ||| a cat"]),
        ("", &["a dog"]),
        ("a dog", &[]),
    ]);
    let meteor = Meteor::default();
    let table = table(&corpus, 1);
    let row = |number: usize| table.rows().nth(number).unwrap();
    // Complete in one chunk: no chunk for the corpus.
    assert_eq!((&row(0)[..4], &row(0)[20..]), (&[3.0, 3.0, 1.0, 1.0][..], &[1.0, 3.0, 3.0, 0.0][..]));
    assert!((meteor.row_score(row(1)) - 1.0).abs() < 1e-15);
    // The reference of the third was cut at the separator into two: "a" and "a cat".
    assert_eq!(row(2)[..2], [3.0, 2.0]);
    assert_eq!((row(3)[0], row(3)[1], row(3)[23]), (0.0, 2.0, 0.0));
    assert!(row(4).iter().all(|&count| count == 0.0));
    let sums = table.sums();
    assert!((sums[20] - sums[23] - 2.0).abs() < f64::EPSILON);
    assert!((0.3..0.7).contains(&meteor.score(&sums)));
    for threads in 2..5 {
        assert_eq!(super::tests::table(&corpus, threads), table);
    }
}

#[test]
fn parameters_replace_those_of_the_task() {
    let text = |name: &str| Value::Text(name.to_owned());
    let build = |given: &[(&str, Value)]| {
        let given = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        kernel("meteor", given.collect()).map_err(|error| error.to_string())
    };
    let row = &table(&corpus(&[("a hounds ran far", &["the hound ran in"])]), 1).values;
    let score = |given: &[(&str, Value)]| build(given).unwrap().row_score(row);
    let rank = score(&[("task", text("rank"))]);
    assert!((rank - Meteor::default().row_score(row)).abs() < 1e-15);
    assert!((score(&[("task", text("adq"))]) - rank).abs() > 1e-3);
    assert!(
        (score(&[("task", text("adq")), ("stem", Value::Number(0.0))]) - score(&[("task", text("adq"))])).abs() > 1e-3
    );
    assert!(score(&[("task", text("rank")), ("gamma", Value::Number(0.0))]) > rank);
    assert!(build(&[("task", text("best"))]).is_err_and(|error| error.contains("rank, adq, hter, li")));
    assert!(build(&[("task", text("rank")), ("delta", Value::Number(2.0))]).is_err());
}

/// Long captions of few words, many references: the beam and the lists stay bounded.
#[test]
fn adversarial_captions_take_moderate_time() {
    let long = |words: &[&str], count: usize| {
        (0..count).map(|at| words[at * at % 7 % words.len()]).collect::<Vec<_>>().join(" ")
    };
    let repeated = long(&["dog"], 500);
    let shorter = long(&["dog"], 499);
    let mixed = long(&["dog", "dogs", "hound", "hounds", "a lot of", "lots of", "many"], 500);
    let other = long(&["hound", "many", "dogs", "lots of", "a lot of"], 500);
    let odd = ["", "   ", "...", "|||", "a\u{0}b", "Ω≈ç√ 犬 が 走る собака бежит कुत्ता", "🐕🐕 !!! ??? --- '''"];
    let forty: Vec<&str> = std::iter::repeat_n(&*shorter, 40).collect();
    let strange: Vec<&str> = odd.iter().copied().chain([&*mixed, &*other, &*repeated]).collect();
    let mut items: Vec<(&str, &[&str])> = vec![(&repeated, &forty)];
    items.extend(strange.iter().map(|&candidate| (candidate, &strange[..])));
    let start = Instant::now();
    let table = table(&corpus(&items), 1);
    let meteor = Meteor::default();
    assert!(table.rows().all(|row| (0.0..=1.0).contains(&meteor.row_score(row))));
    // Seconds on an idle machine; hours if the beam or the lists were not bounded.
    assert!(start.elapsed() < Duration::from_secs(600), "{:?}", start.elapsed());
}

/// Sentences of few words, so that everything competes with everything.
pub(super) fn sentence() -> impl Strategy<Value = String> {
    const WORDS: [&str; 13] =
        ["a", "the", "big", "large", "dog", "dogs", "hound", "ran", "running", "lots of", "a lot of", "many", "."];
    of_words(&WORDS, 0..14)
}

/// Sentences in which a word has many counterparts.
pub(super) fn long_sentence() -> impl Strategy<Value = String> {
    of_words(&["a", "the", "big", "dog", "dogs", "hound", "lots of", "a lot of", "many"], 60..100)
}

fn of_words(words: &'static [&'static str], count: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(words), count).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn alignments_are_one_to_one_and_scores_shares(hypothesis in sentence(), reference in sentence()) {
        let alignment = align(&resources(), &hypothesis, &reference);
        let score = Weights::default().score(&alignment.counts.map(f64::from)).score;
        prop_assert!((0.0..=1.0).contains(&score));
        let side = |range: fn(&Link) -> &std::ops::Range<usize>| {
            let mut words: Vec<usize> = alignment.links.iter().flat_map(|link| range(link).clone()).collect();
            words.sort_unstable();
            words.windows(2).all(|pair| pair[0] < pair[1])
        };
        prop_assert!(side(|link| &link.hypothesis) && side(|link| &link.reference));
    }

    #[test]
    fn a_sentence_matches_itself_word_by_word(text in sentence()) {
        let alignment = align(&resources(), &text, &text);
        let words = alignment.hypothesis.len();
        prop_assert!(links(&alignment).iter().all(|(module, h, r)| *module == Module::Exact && h == r));
        prop_assert_eq!(alignment.links.len(), words);
        let score = Weights::default().score(&alignment.counts.map(f64::from)).score;
        let expected = if words > 0 { 1.0 } else { 0.0 };
        prop_assert!((score - expected).abs() < 1e-12);
    }

    #[test]
    fn no_text_makes_it_panic(hypothesis in any::<String>(), reference in any::<String>()) {
        align(&resources(), &hypothesis, &reference);
    }

    #[test]
    fn the_kernel_equals_aligning_the_lines(
        hypothesis in sentence(),
        references in prop::collection::vec("[a-c.,' -]{0,12}|a big dog runs", 1..4),
    ) {
        // The corpus has words, so that it does not know how many blanks stood between them.
        let references: Vec<String> = references.iter().map(|line| split(line).collect::<Vec<_>>().join(" ")).collect();
        let references: Vec<&str> = references.iter().map(String::as_str).collect();
        let table = table(&corpus(&[(&hypothesis, &references)]), 1);
        let (_, best, _) = align_best(&resources(), &Weights::default(), &hypothesis, &references).unwrap();
        prop_assert_eq!(&table.values[..23], best.counts.map(f64::from));
    }
}
