//! The tables as Rust source text.

use std::fmt::{Debug, Write};

use super::Automaton;
use super::alphabet::Alphabet;
use crate::outcome::Outcome;

pub(super) fn source(alphabet: &Alphabet, automaton: &Automaton, outcomes: &[Outcome]) -> String {
    let mut text = String::from("// Written by build.rs.\n");
    let (pages, page_of) = paged(&alphabet.class_of);
    constant(
        &mut text,
        "Classes of the units, in pages of 256 units. Page 0 is U+0000 to U+00FF.",
        "CLASSES",
        "u8",
        &pages,
    );
    constant(&mut text, "The page that holds the classes of units with a given upper byte.", "PAGE_OF", "u8", &page_of);

    let surrogates = &alphabet.class_of[0xD800..0xE000];
    assert!(surrogates.iter().all(|class| *class == surrogates[0]), "no rule may tell surrogates apart");
    let counts = format!(
        "/// The class of either half of a character beyond the basic plane.\n\
         pub(super) const HALF: u8 = {};\n\
         /// Number of classes, the width of a row of `NEXT`.\n\
         pub(super) const WIDTH: usize = {};\n",
        surrogates[0], alphabet.classes
    );
    text.push_str(&counts);

    let next: Vec<u32> = automaton.next.iter().flatten().copied().collect();
    constant(&mut text, "The state after each state and class, row by row.", "NEXT", "u16", &next);

    let accepts: Vec<usize> =
        automaton.accepts.iter().map(|accepted| accepted.map_or(0, |number| number + 1)).collect();
    constant(&mut text, "The outcome a state accepts, plus one; 0 for none.", "ACCEPTS", "u8", &accepts);
    constant(&mut text, "What the rules make of their tokens.", "OUTCOMES", "Outcome", outcomes);
    text
}
/// Cuts the class table into pages and keeps one copy of each.
fn paged(class_of: &[u8]) -> (Vec<u8>, Vec<usize>) {
    let mut pages: Vec<&[u8]> = Vec::new();
    let mut page_of = Vec::new();
    for page in class_of.chunks(256) {
        let number = pages.iter().position(|known| *known == page).unwrap_or_else(|| {
            pages.push(page);
            pages.len() - 1
        });
        page_of.push(number);
    }
    (pages.concat(), page_of)
}

fn constant(text: &mut String, comment: &str, name: &str, item: &str, values: &[impl Debug]) {
    writeln!(text, "/// {comment}\npub(super) static {name}: [{item}; {}] = {values:?};", values.len())
        .expect("a String takes everything");
}
