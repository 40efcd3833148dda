//! Scene graphs of texts of several sentences, as vision-language models write them.
//!
//! SPICE's rules are for a caption of one sentence and take every noun for an object: `image`, `moment`, `sense`. These
//! read a text by its words and tags, which hold up in long sentences where dependencies do not. In reading order: `text`
//! cuts a text into sentences and tokens; `sentence` puts tags right; `phrases` finds noun phrases, of which `entity`
//! says what they name; `items` makes a row of mentions, verbs and prepositions, in which `fold` takes mentions together;
//! `clause` reads it from left to right by `links`, and `facts` keeps what it says. `lexicon` knows words.

mod clause;
mod entity;
mod facts;
mod fold;
mod items;
pub(crate) mod lexicon;
mod links;
mod phrases;
mod sentence;
#[cfg(test)]
mod tests;
mod text;

pub use text::Text;

use super::scope::statuses;
use super::{SceneGraph, Status};
use crate::numeric::interrupt::check;
use crate::numeric::parallel::map_parts;
use crate::parse::{Memory, Parser, Word};

/// The graphs of texts and the statuses of their tokens, in the texts' order, by that many threads; 0 for one per core.
pub fn graphs(parser: &Parser, texts: &[Text], threads: usize) -> Vec<(SceneGraph, Vec<Status>)> {
    let parts = map_parts(texts.len(), threads, |range| {
        let mut memory = parser.worker();
        let read = |text| {
            check();
            graph(parser, &mut memory, text)
        };
        texts[range].iter().map(read).collect::<Vec<_>>()
    });
    parts.into_iter().flatten().collect()
}

/// The graph of a text, and the status of each of its tokens.
pub fn graph(parser: &Parser, memory: &mut Memory, text: &Text) -> (SceneGraph, Vec<Status>) {
    let tokens: Vec<&str> = text.tokens.iter().map(String::as_str).collect();
    of_words(parser.parse_sentences(memory, &tokens, &text.ends), text)
}

/// The graph of the tagged words of a text, and their statuses.
pub fn of_words(mut words: Vec<Word>, text: &Text) -> (SceneGraph, Vec<Status>) {
    let is_break = text.is_break(words.len());
    let ranges = text.sentences(words.len());
    for range in &ranges {
        sentence::repair(&mut words[range.clone()], &is_break[range.clone()]);
    }
    let statuses = statuses(&words, text);
    let (mut entities, mut facts) = (Vec::new(), facts::Facts::default());
    let mut referents = clause::Referents::default();
    for range in ranges {
        let sentence = sentence::Sentence {
            words: &words[range.clone()],
            first: range.start,
            is_break: &is_break[range.clone()],
            statuses: &statuses[range],
        };
        let items = items::of(&sentence, &mut entities);
        let items = fold::fold(items, &mut entities);
        clause::Clause::new(&sentence, &items, &mut entities, &mut facts, &mut referents).read();
    }
    fold::shorten(&mut entities);
    (facts.graph(&entities, &statuses), statuses)
}
