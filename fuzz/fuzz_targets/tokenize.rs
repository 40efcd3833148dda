//! Tokenises arbitrary text, alone and as a stream of lines: `cargo +nightly fuzz run tokenize`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sacrecap_core::text::tokenize::{Tokenizer, tokenize_stream};

fuzz_target!(|text: &str| {
    for tokenizer in Tokenizer::all() {
        tokenizer.tokenize(text, |token: &str| assert!(!token.is_empty() && !token.contains(' ')));
    }
    let captions: Vec<&str> = text.split('|').collect();
    tokenize_stream(captions.iter().copied(), |caption, token| {
        assert!(caption < captions.len() && !token.is_empty());
    });
});
