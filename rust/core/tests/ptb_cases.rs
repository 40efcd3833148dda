//! The COCO suite's own tokens: of captions that are a text of their own, and of several in one text.

use sacrecap_core::text::tokenize::{Tokenizer, tokenize_stream};

mod goldens;

use goldens::{cases, texts};

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
            let spaced: Vec<&str> = spaced.iter().map(String::as_str).collect();
            assert_eq!(together(&captions), together(&spaced), "{captions:?}");
        } else {
            assert_eq!(together(&captions), texts(&case["tokenized"]), "{captions:?}");
        }
    }
}

fn alone(caption: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    Tokenizer::Ptb.tokenize(caption, |token| tokens.push(token.to_owned()));
    tokens
}

/// The tokens of each caption, joined by spaces.
fn together(captions: &[&str]) -> Vec<String> {
    let mut tokens = vec![Vec::new(); captions.len()];
    tokenize_stream(captions.iter().copied(), |caption, token| tokens[caption].push(token.to_owned()));
    tokens.iter().map(|tokens| tokens.join(" ")).collect()
}
