//! METEOR in languages other than English against recorded answers of the original.
//!
//! Needs `CAPEVAL_METEOR_LANGUAGES`, a file of cases. A line holds a language, the files the original was given
//! (`function_words`, `prefixes`, `paraphrases` or null) and the task, and pairs of sentences with the original's
//! statistics and score. Without the file there is nothing to compare.

use capeval_core::metrics::meteor::{COUNTS, Language, Module, Resources, Sources, align_best};
use serde_json::Value;

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
fn statistics_and_scores_are_the_originals() {
    let Some(path) = std::env::var_os("CAPEVAL_METEOR_LANGUAGES") else {
        eprintln!("CAPEVAL_METEOR_LANGUAGES is not set: nothing to compare");
        return;
    };
    let mut different = 0;
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let set: Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| set[name].as_str().unwrap();
        let language = Language::from_code(text("language")).unwrap();
        let sources = Sources {
            language,
            function_words: text("function_words"),
            prefixes: text("prefixes"),
            synonyms: "",
            exceptions: "",
            paraphrases: set["paraphrases"].as_str().map(str::as_bytes),
        };
        let resources = Resources::build(&sources, &mut |_| ()).unwrap();
        let (_, weights) = language.tasks().iter().find(|(task, _)| *task == text("task")).unwrap();
        let cases = set["cases"].as_array().unwrap();
        let before = different;
        for case in cases {
            let references: Vec<&str> =
                case["refs"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
            let hypothesis = case["hyp"].as_str().unwrap();
            let (_, best, parts) = align_best(&resources, weights, hypothesis, &references).unwrap();
            let expected: Vec<f64> = case["stats"].as_array().unwrap().iter().map(|n| n.as_f64().unwrap()).collect();
            let found = original(&best.statistics.counts(), &resources.modules());
            if found != expected || (parts.score - case["score"].as_f64().unwrap()).abs() > 1e-12 {
                different += 1;
                eprintln!("{case}\n  found {found:?} {}\n  in {:?}", parts.score, best.links);
            }
        }
        eprintln!("{} {}: {} of {} differ", language.code(), text("task"), different - before, cases.len());
    }
    assert_eq!(different, 0);
}
