//! Tokenizes standard input, a caption per line; prints the tokens with spaces between them.
//!
//! The argument names the tokenizer (`ptb` if there is none).

use std::io::{self, BufWriter, Read, Write};

use sacrecap_core::text::tokenize::{Tokenizer, tokenize_stream};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tokenizer: Tokenizer = std::env::args().nth(1).as_deref().unwrap_or("ptb").parse()?;
    let mut input = String::new();
    io::stdin().lock().read_to_string(&mut input)?;
    let captions: Vec<&str> = input.strip_suffix('\n').unwrap_or(&input).split('\n').collect();

    let mut lines = vec![String::new(); captions.len()];
    let mut add = |caption: usize, token: &str| {
        let line: &mut String = &mut lines[caption];
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(token);
    };
    if tokenizer == Tokenizer::PtbStream {
        tokenize_stream(captions.into_iter(), add);
    } else {
        for (number, caption) in captions.into_iter().enumerate() {
            tokenizer.tokenize(caption, |token| add(number, token));
        }
    }
    let mut output = BufWriter::new(io::stdout().lock());
    Ok(lines.iter().try_for_each(|line| writeln!(output, "{line}"))?)
}
