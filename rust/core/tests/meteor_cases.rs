//! METEOR against recorded answers of the original.

use std::io::Read;
use std::sync::{Arc, LazyLock};

use flate2::read::GzDecoder;
use sacrecap_core::corpus::{Corpus, References};
use sacrecap_core::engine::{self, Kernel, evaluate};
use sacrecap_core::metrics::meteor::{Meteor, Resources, Weights, align, align_best};
use sacrecap_core::tables::SharedBytes;
use sacrecap_core::text::captions::CaptionsBuilder;
use sacrecap_core::text::tokenize::Tokenizer;
use serde_json::Value;

mod goldens;
#[path = "goldens/meteor.rs"]
mod program;

use goldens::{cases, texts};
use program::{close, file, numbers};

static RESOURCES: LazyLock<Arc<Resources>> = LazyLock::new(|| {
    let packed = file("english.tables.gz");
    let mut unpacked = Vec::new();
    GzDecoder::new(&packed[..]).read_to_end(&mut unpacked).unwrap();
    Arc::new(Resources::from_bytes(&SharedBytes::new(unpacked)).unwrap())
});

#[test]
#[ignore = "needs METEOR's tables: `make test-rust`"]
fn lines_are_normalised_as_by_the_original() {
    for case in cases("meteor-norm-cases.jsonl") {
        let line = case["input"].as_str().unwrap();
        assert_eq!(RESOURCES.tokens(line), texts(&case["tokens"]), "{line:?}");
    }
}

#[test]
#[ignore = "needs METEOR's tables: `make test-rust`"]
fn alignments_are_the_originals() {
    for case in cases("meteor-align-cases.jsonl") {
        let alignment = align(&RESOURCES, case["hyp"].as_str().unwrap(), case["ref"].as_str().unwrap());
        assert_eq!(alignment.hypothesis, texts(&case["hyp_tokens"]));
        assert_eq!(alignment.reference, texts(&case["ref_tokens"]));
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
#[ignore = "needs METEOR's tables: `make test-rust`"]
fn statistics_and_scores_are_the_originals() {
    for case in cases("meteor-cases.jsonl") {
        let (_, best, parts) =
            align_best(&RESOURCES, &Weights::default(), case["hyp"].as_str().unwrap(), &texts(&case["refs"])).unwrap();
        assert_eq!(best.counts.map(f64::from).to_vec(), numbers(&case["stats"]), "{case}");
        assert!(close(parts.score, &case["score"]), "{} {case}", parts.score);
    }
}

#[test]
#[ignore = "needs METEOR's tables: `make test-rust`"]
fn corpora_score_as_with_the_original() {
    let given = engine::Resources::new(1).with(RESOURCES.clone());
    let meteor = Meteor::default();
    for batch in cases("meteor-batches.jsonl") {
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
    let (mut references, mut candidates) = (CaptionsBuilder::default(), CaptionsBuilder::default());
    for (number, item) in items.iter().enumerate() {
        let id = number.to_string();
        candidates.caption(&id, item["hyp"].as_str().unwrap());
        for caption in texts(&item["refs"]) {
            references.caption(&id, caption);
        }
    }
    let images: Vec<u32> = (0..items.len() as u32).collect();
    let references = Arc::new(References::encode(&references.finish(), &images, Tokenizer::None, 1));
    Corpus::encode(references, &candidates.finish(), &images.iter().copied().map(Some).collect::<Vec<_>>(), 1)
}
