//! Scene graphs of texts of several sentences, as vision-language models write them.
//!
//! SPICE's rules are for a caption of one sentence and take every noun for an object: `image`, `moment`, `sense`. These
//! read a text by its words and tags, which hold up in long sentences where dependencies do not. In reading order: [`Text`]
//! is cut into sentences and tokens; `sentence` puts tags right and finds noun phrases, of which `entity` says what they
//! name; `items` makes a row of mentions, verbs and prepositions, in which `entity` takes mentions together; `clause` reads
//! it from left to right, and `entity` keeps what it says. `lexicon` knows words.

mod clause;
mod entity;
mod items;
pub(crate) mod lexicon;
mod sentence;
#[cfg(test)]
mod tests;

use super::scope::statuses;
use super::{SceneGraph, Status};
use crate::numeric::parallel::map_each;
use crate::numeric::parts;
use crate::parse::{Memory, Parser, Word};
use crate::text::tokenize::Tokenizer;

/// The graphs of texts and the statuses of their tokens, in the texts' order, by that many threads; 0 for one per core.
pub fn graphs(parser: &Parser, texts: &[Text], threads: usize) -> Vec<(SceneGraph, Vec<Status>)> {
    map_each(texts.len(), threads, || parser.worker(), |memory, number| graph(parser, memory, &texts[number]))
}

/// The graph of a text, and the status of each of its tokens.
pub fn graph(parser: &Parser, memory: &mut Memory, text: &Text) -> (SceneGraph, Vec<Status>) {
    let tokens: Vec<&str> = text.tokens.iter().map(String::as_str).collect();
    of_words(parser.parse_sentences(memory, &tokens, &text.ends), text)
}

/// The graph of the tagged words of a text, and their statuses.
pub fn of_words(mut words: Vec<Word>, text: &Text) -> (SceneGraph, Vec<Status>) {
    let is_break = text.is_break(words.len());
    let ranges: Vec<_> = parts(&text.ends, words.len()).collect();
    for range in &ranges {
        sentence::repair(&mut words[range.clone()], &is_break[range.clone()]);
    }
    let statuses = statuses(&words, text);
    let (mut entities, mut facts) = (Vec::new(), entity::Facts::default());
    let mut referents = clause::Referents::default();
    for range in ranges {
        let sentence = sentence::Sentence {
            words: &words[range.clone()],
            first: range.start,
            is_break: &is_break[range.clone()],
            statuses: &statuses[range],
        };
        let items = items::of(&sentence, &mut entities);
        let items = entity::fold(items, &mut entities);
        let (sentence, items, state) = (&sentence, &items, clause::State::default());
        let (entities, facts, referents) = (&mut entities, &mut facts, &mut referents);
        clause::Clause { sentence, items, entities, facts, referents, state }.read();
    }
    entity::shorten(&mut entities);
    (facts.graph(&entities, &statuses), statuses)
}

// A text, cut into sentences and tokens.

/// A text as its tokens, where sentences end and where marks stood, which tokenizers drop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    /// The tokens.
    pub tokens: Vec<String>,
    /// The places behind the last token of each sentence but the last.
    pub ends: Vec<usize>,
    /// The places of the tokens before which a comma, a dash, a bracket or the like stands.
    pub breaks: Vec<usize>,
    /// The places behind the last token of each sentence that ends with a question mark.
    pub questions: Vec<usize>,
}

impl Text {
    /// Cuts a caption. A sentence ends with `.`, `!` or `?` before white space, or before a capital (`open.The`), and with
    /// a line; the full stop of an abbreviation, which tokenizers keep, ends none.
    pub fn of(caption: &str, tokenizer: Tokenizer) -> Self {
        let mut text = Self::default();
        // Signs of Markdown stand for nothing.
        let caption = caption.replace(['*', '#'], " ");
        let mut start = 0;
        for (at, mark) in marks(&caption) {
            text.add(&caption[start..at], tokenizer);
            if caption[..at].ends_with('?') {
                text.questions.push(text.tokens.len());
            }
            text.mark(mark, matches!(tokenizer, Tokenizer::Ptb | Tokenizer::PtbStream));
            start = at;
        }
        text.add(&caption[start..], tokenizer);
        if caption.trim_end().ends_with('?') {
            text.questions.push(text.tokens.len());
        }
        text.ends.retain(|&end| end < text.tokens.len());
        text.breaks.retain(|&place| place < text.tokens.len());
        text
    }

    /// Whether a mark stands before each of so many words.
    pub(in crate::graph) fn is_break(&self, words: usize) -> Vec<bool> {
        let mut is_break = vec![false; words];
        for &place in self.breaks.iter().filter(|&&place| place < words) {
            is_break[place] = true;
        }
        is_break
    }

    fn add(&mut self, piece: &str, tokenizer: Tokenizer) {
        let piece =
            piece.trim_matches(|character: char| is_mark(character) || character == '-' || character.is_whitespace());
        tokenizer.tokenize(piece, |token| self.tokens.extend(token.split_whitespace().map(str::to_owned)));
    }

    /// Notes a mark behind the tokens so far.
    fn mark(&mut self, mark: Mark, keeps_abbreviations: bool) {
        let place = self.tokens.len();
        let is_abbreviation = keeps_abbreviations && self.tokens.last().is_some_and(|last| last.ends_with('.'));
        let places = if mark == Mark::Sentence { &mut self.ends } else { &mut self.breaks };
        if place > 0 && places.last() != Some(&place) && !(mark == Mark::Sentence && is_abbreviation) {
            places.push(place);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// Between two sentences.
    Sentence,
    /// Between parts of a sentence.
    Part,
}

fn is_mark(character: char) -> bool {
    matches!(character, ',' | ';' | ':' | '(' | ')' | '—' | '–')
}

/// The marks of a text and where they stand; the end of a sentence is behind its mark.
fn marks(text: &str) -> Vec<(usize, Mark)> {
    let mut marks = Vec::new();
    let mut before: [char; 3] = [' '; 3];
    let mut ended = false;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let next = characters.peek().map_or(' ', |&(_, next)| next);
        let in_number = before[2].is_ascii_digit() && next.is_ascii_digit();
        let closes = matches!(character, '"' | '\'' | ')' | ']' | '”' | '’');
        if ended && (character.is_whitespace() || character.is_uppercase() && runs_on(before)) || character == '\n' {
            marks.push((at, Mark::Sentence));
        }
        if is_mark(character) && !in_number || is_dash(before[2], character, next) {
            marks.push((at, Mark::Part));
        }
        ended = matches!(character, '.' | '!' | '?') && !in_number || ended && closes;
        before = [before[1], before[2], character];
    }
    marks
}

/// Whether a sentence that ended here without white space did end: `open.The` and `."The`, not `U.S.A`.
fn runs_on([first, second, last]: [char; 3]) -> bool {
    !matches!(last, '.' | '!' | '?') || first.is_lowercase() && second.is_lowercase()
}

/// A dash between blanks, or the second of two hyphens.
fn is_dash(before: char, character: char, next: char) -> bool {
    character == '-' && (before == '-' || before.is_whitespace() && next.is_whitespace())
}
