//! Parses standard input, a caption of tokens between spaces per line; prints CoreNLP's columns (number, word, lemma, tag,
//! _, head, relation) and an empty line after each caption. The argument is the model file.

use std::io::{self, BufWriter, Read, Write};

use sacrecap_core::parse::Parser;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let parser = Parser::read(std::fs::read(std::env::args().nth(1).ok_or("which model?")?)?)?;
    let mut input = String::new();
    io::stdin().lock().read_to_string(&mut input)?;
    let mut memory = parser.worker();
    let mut output = BufWriter::new(io::stdout().lock());
    for line in input.lines() {
        let caption: Vec<&str> = line.split_ascii_whitespace().collect();
        for (number, word) in parser.parse(&mut memory, &caption).iter().enumerate() {
            let head = word.head.map_or(0, |head| head + 1);
            let (tag, relation) = (word.tag.name(), word.relation.name());
            writeln!(output, "{}\t{}\t{}\t{tag}\t_\t{head}\t{relation}", number + 1, word.text, word.lemma)?;
        }
        writeln!(output)?;
    }
    Ok(())
}
