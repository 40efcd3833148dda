//! The COCO suite's own answers, where they are at hand: `CAPEVAL_SHARED` names the folder that holds
//! `facts/ptb-cases.jsonl` (one caption a call) and `facts/ptb-batch-cases.jsonl` (several).

use std::path::PathBuf;

use capeval_core::text::tokenize::{Tokenizer, tokenize_stream};
use serde_json::Value;

const LINE_BREAKS: [char; 6] = ['\n', '\u{B}', '\u{C}', '\r', '\u{2028}', '\u{2029}'];

#[test]
fn one_caption_a_call() {
    for case in cases("ptb-cases.jsonl") {
        let caption = case["input"].as_str().expect("text");
        // The suite loses what stands behind a line break; we take the break for a space.
        if caption.contains(LINE_BREAKS) {
            assert_eq!(alone(caption), alone(&caption.replace(LINE_BREAKS, " ")), "{caption:?}");
        } else {
            assert_eq!(alone(caption), texts(&case["tokens"]), "{caption:?}");
        }
    }
}

#[test]
fn many_captions_a_call() {
    for case in cases("ptb-batch-cases.jsonl") {
        let captions = texts(&case["captions"]);
        if captions.iter().any(|caption| caption.contains(LINE_BREAKS)) {
            let spaced: Vec<String> = captions.iter().map(|caption| caption.replace(LINE_BREAKS, " ")).collect();
            assert_eq!(together(&captions), together(&spaced), "{captions:?}");
        } else {
            assert_eq!(together(&captions), texts(&case["tokenized"]), "{captions:?}");
        }
    }
}

fn cases(file: &str) -> Vec<Value> {
    let Some(shared) = std::env::var_os("CAPEVAL_SHARED") else {
        println!("skipped: CAPEVAL_SHARED is not set");
        return Vec::new();
    };
    let path = PathBuf::from(shared).join("facts").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).expect("a JSON value a line")).collect()
}

fn texts(values: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    values.as_array().expect("a list").iter().map(text).collect()
}

fn alone(caption: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    Tokenizer::Ptb.tokenize(caption, |token| tokens.push(token.to_owned()));
    tokens
}

/// The tokens of each caption, joined by spaces.
fn together(captions: &[String]) -> Vec<String> {
    let mut tokens = vec![Vec::new(); captions.len()];
    tokenize_stream(captions.iter().map(String::as_str), |caption, token| tokens[caption].push(token.to_owned()));
    tokens.iter().map(|tokens| tokens.join(" ")).collect()
}
