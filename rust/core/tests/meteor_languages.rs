//! METEOR in languages other than English against recorded answers of the original.
//!
//! A line of the cases holds a language and a task, the paraphrases that the original was given (none if it looks for
//! none), and sentences with the original's statistics and scores. Its function words are the English ones.

use std::collections::BTreeSet;

use sacrecap_core::metrics::meteor::{COUNTS, Language, Module, Resources, Sources, align_best};

mod goldens;
#[path = "goldens/meteor.rs"]
mod program;

use goldens::{cases, texts};
use program::{close, file, numbers};

fn text(name: &str) -> String {
    String::from_utf8(file(name)).expect("UTF-8")
}

/// The original numbers the modules in use from 0; so places move where a language has no stems or synonyms.
fn original(counts: &[f64; COUNTS], modules: &[Module]) -> Vec<f64> {
    let mut expected = vec![0.0; COUNTS];
    expected[..4].copy_from_slice(&counts[..4]);
    expected[20..].copy_from_slice(&counts[20..]);
    for (slot, module) in modules.iter().enumerate() {
        let from = 4 + 4 * *module as usize;
        expected[4 + 4 * slot..8 + 4 * slot].copy_from_slice(&counts[from..from + 4]);
    }
    expected
}

#[test]
#[ignore = "needs METEOR's tables: `make test-rust`"]
fn statistics_and_scores_are_the_originals() {
    let mut seen = BTreeSet::new();
    for set in cases("meteor-languages.jsonl") {
        let (code, task) = (set["language"].as_str().unwrap(), set["task"].as_str().unwrap());
        let language = Language::of(code).unwrap();
        let prefixes = language.prefixes().map(|name| text(&format!("nonbreaking/{name}.prefixes")));
        let sources = Sources {
            language,
            function_words: &text("function/english.words"),
            prefixes: prefixes.as_deref().unwrap_or_default(),
            synonyms: "",
            exceptions: "",
            paraphrases: set["paraphrases"].as_str().map(str::as_bytes),
        };
        let resources = Resources::build(&sources, &mut |_| ()).unwrap();
        let (_, weights) = language.tasks().iter().find(|(name, _)| *name == task).unwrap();
        for case in set["cases"].as_array().unwrap() {
            let (_, best, parts) =
                align_best(&resources, weights, case["hyp"].as_str().unwrap(), &texts(&case["refs"])).unwrap();
            let found = original(&best.statistics.counts(), &resources.modules());
            assert_eq!(found, numbers(&case["stats"]), "{code} {task} {case}\n{:?}", best.links);
            assert!(close(parts.score, &case["score"]), "{code} {task} {case}: {}", parts.score);
            seen.insert((code.to_owned(), task.to_owned()));
        }
    }
    let all = Language::ALL.iter().filter(|language| **language != Language::En);
    let all =
        all.flat_map(|language| language.tasks().iter().map(|(task, _)| (language.name().into(), (*task).into())));
    assert_eq!(seen, all.collect());
}
