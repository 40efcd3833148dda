//! METEOR against recorded answers of the original.
//!
//! Needs two folders: `CAPEVAL_SHARED` with `facts/meteor-*.jsonl`, and `CAPEVAL_METEOR` with METEOR's English files
//! (the jar's `function/`, `nonbreaking/` and `synonym/` extracted, and `paraphrase-en.gz`). Without them there is
//! nothing to compare.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use capeval_core::corpus::{Corpus, References};
use capeval_core::document_frequency::SharedBytes;
use capeval_core::engine::{self, Kernel, evaluate};
use capeval_core::metrics::meteor::{Language, Meteor, Resources, Sources, Weights, align, align_best};
use capeval_core::text::captions::CaptionsBuilder;
use capeval_core::text::tokenize::Tokenizer;
use serde_json::Value;

fn folder(variable: &str) -> Option<PathBuf> {
    let folder = std::env::var_os(variable).map(PathBuf::from);
    if folder.is_none() {
        eprintln!("{variable} is not set: nothing to compare");
    }
    folder
}

fn resources() -> Option<Arc<Resources>> {
    static RESOURCES: OnceLock<Option<Arc<Resources>>> = OnceLock::new();
    RESOURCES.get_or_init(|| build().map(Arc::new)).clone()
}

fn build() -> Option<Resources> {
    let folder = folder("CAPEVAL_METEOR")?;
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let paraphrases = std::fs::read(folder.join("paraphrase-en.gz")).unwrap();
    let sources = Sources {
        language: Language::En,
        function_words: &text("function/english.words"),
        prefixes: &text("nonbreaking/english.prefixes"),
        synonyms: &text("synonym/english.synsets"),
        exceptions: &text("synonym/english.exceptions"),
        paraphrases: Some(&paraphrases),
    };
    let start = Instant::now();
    let built = Resources::build(&sources, &mut |_| ()).unwrap();
    eprintln!("built {} bytes in {:?}", built.as_bytes().len(), start.elapsed());
    let start = Instant::now();
    let read = Resources::from_bytes(&(Arc::new(built.as_bytes().to_vec()) as SharedBytes)).unwrap();
    eprintln!("read in {:?}", start.elapsed());
    Some(read)
}

fn cases(name: &str) -> Option<Vec<Value>> {
    let text = std::fs::read_to_string(folder("CAPEVAL_SHARED")?.join("facts").join(name)).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn close(one: f64, other: &Value) -> bool {
    (one - other.as_f64().unwrap()).abs() <= 1e-12
}

#[test]
fn lines_are_normalised_as_by_the_original() {
    let (Some(resources), Some(cases)) = (resources(), cases("meteor-norm-cases.jsonl")) else { return };
    for case in &cases {
        let line = case["input"].as_str().unwrap();
        assert_eq!(resources.tokens(line), strings(&case["tokens"]), "{line:?}");
    }
}

#[test]
fn alignments_are_the_originals() {
    let (Some(resources), Some(cases)) = (resources(), cases("meteor-align-cases.jsonl")) else { return };
    for case in &cases {
        let alignment = align(&resources, case["hyp"].as_str().unwrap(), case["ref"].as_str().unwrap());
        assert_eq!(alignment.hypothesis, strings(&case["hyp_tokens"]));
        assert_eq!(alignment.reference, strings(&case["ref_tokens"]));
        let links: Vec<Vec<f64>> = alignment
            .links
            .iter()
            .map(|link| {
                let (h, r) = (&link.hypothesis, &link.reference);
                [r.start, r.len(), h.start, h.len(), link.module as usize].map(|number| number as f64).to_vec()
            })
            .collect();
        let expected = case["matches_refstart_reflen_hypstart_hyplen_module"].as_array().unwrap();
        assert_eq!(links, expected.iter().map(numbers).collect::<Vec<_>>(), "{case}");
    }
}

#[test]
fn statistics_and_scores_are_the_originals() {
    let (Some(resources), Some(cases)) = (resources(), cases("meteor-cases.jsonl")) else { return };
    for case in &cases {
        let (_, best, parts) =
            align_best(&resources, &Weights::default(), case["hyp"].as_str().unwrap(), &strings(&case["refs"]))
                .unwrap();
        assert_eq!(best.statistics.counts().to_vec(), numbers(&case["stats"]), "{case}");
        assert!(close(parts.score, &case["score"]), "{} {case}", parts.score);
    }
}

#[test]
fn corpora_score_as_with_the_original() {
    let (Some(resources), Some(batches)) = (resources(), cases("meteor-batches.jsonl")) else { return };
    let given = engine::Resources::new(1).with(resources);
    let meteor = Meteor::default();
    for batch in &batches {
        let items = batch["items"].as_array().unwrap();
        let table = evaluate(&corpus(items), &[&meteor], &given).unwrap().remove(0);
        let expected = &batch["scores"];
        for (number, row) in table.rows().enumerate() {
            assert!(close(meteor.row_score(row), &expected[number]), "{} {}", batch["name"], items[number]);
        }
        let score = meteor.score(&table.sums());
        assert!(close(score, &batch["corpus"]), "{} {score}", batch["name"]);
    }
}

fn corpus(items: &[Value]) -> Corpus {
    let (mut references, mut candidates) = (CaptionsBuilder::new(), CaptionsBuilder::new());
    for (number, item) in items.iter().enumerate() {
        let id = number.to_string();
        candidates.caption(&id, item["hyp"].as_str().unwrap());
        for caption in strings(&item["refs"]) {
            references.caption(&id, caption);
        }
    }
    let images: Vec<u32> = (0..items.len() as u32).collect();
    let references = Arc::new(References::encode(&references.finish(), &images, Tokenizer::None, 1));
    Corpus::encode(references, &candidates.finish(), &images.iter().copied().map(Some).collect::<Vec<_>>(), 1)
}
