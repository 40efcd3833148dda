//! Parses standard input, a caption of tokens between spaces per line; prints CoreNLP's columns (number, word, lemma, tag,
//! _, head, relation) and an empty line after each caption. The argument is the model file.
//!
//! `--time N` parses everything N times more and prints microseconds per caption to standard error.

use std::io::{self, BufWriter, Read, Write};
use std::time::Instant;

use sacrecap_core::parse::Parser;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let parser = Parser::read(std::fs::read(arguments.first().ok_or("which model?")?)?)?;
    let mut input = String::new();
    io::stdin().lock().read_to_string(&mut input)?;
    let captions: Vec<Vec<&str>> = input.lines().map(|line| line.split_ascii_whitespace().collect()).collect();
    let mut memory = parser.worker();
    if let [_, option, rounds] = &arguments[..]
        && option == "--time"
    {
        let rounds: usize = rounds.parse()?;
        for _ in 0..rounds {
            let start = Instant::now();
            let words: usize = captions.iter().map(|caption| parser.parse(&mut memory, caption).len()).sum();
            let micros = start.elapsed().as_secs_f64() * 1e6;
            let count = captions.len() as f64;
            eprintln!("{:.2} µs per caption of {:.1} words", micros / count, words as f64 / count);
        }
        return Ok(());
    }
    let mut output = BufWriter::new(io::stdout().lock());
    for caption in captions {
        for (number, word) in parser.parse(&mut memory, &caption).iter().enumerate() {
            let head = word.head.map_or(0, |head| head + 1);
            let (tag, relation) = (word.tag.name(), word.relation.name());
            writeln!(output, "{}\t{}\t{}\t{tag}\t_\t{head}\t{relation}", number + 1, word.text, word.lemma)?;
        }
        writeln!(output)?;
    }
    Ok(())
}
