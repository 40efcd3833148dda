mod behaviour;
mod cost;
mod properties;
mod reference;
mod samples;

use super::{Tokenizer, tokenize_stream};

/// The tokens of a caption on its own, joined by spaces.
fn alone(caption: &str) -> String {
    let mut tokens = Vec::new();
    Tokenizer::Ptb.tokenize(caption, |token| tokens.push(token.to_owned()));
    tokens.join(" ")
}

/// The same for captions in one stream.
fn together(captions: &[&str]) -> Vec<String> {
    let mut tokens = vec![Vec::new(); captions.len()];
    tokenize_stream(captions.iter().copied(), |caption, token| tokens[caption].push(token.to_owned()));
    tokens.iter().map(|tokens| tokens.join(" ")).collect()
}
