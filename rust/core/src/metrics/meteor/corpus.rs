//! A corpus' captions as METEOR's sentences.
//!
//! The original is sent a caption's tokens joined by blanks, and normalises that line. Most captions consist of plain
//! words, which normalising leaves as they are: their word numbers are translated, and no text is looked at.

use super::normalize::{is_plain, split};
use super::resources::Resources;
use super::sentences::{Arena, Sentences};
use crate::corpus::Corpus;
use crate::numeric::interrupt::check;
use crate::numeric::parallel::map_parts;
use crate::text::vocabulary::{Vocabulary, Word};

/// All candidates and references of a corpus.
pub(super) struct Encoded {
    pub(super) sentences: Sentences,
    /// METEOR's references for reference sentence `i` of the corpus are sentences `first[i]..first[i + 1]`.
    first: Vec<usize>,
}

impl Encoded {
    pub(super) fn new(corpus: &Corpus, resources: &Resources, threads: usize) -> Self {
        let (candidates, references) = (&corpus.candidates, &corpus.references.sentences);
        let mut encoder = Encoder::new(&corpus.vocabulary);
        let captions = |sentence: usize| candidates.tokens(sentence);
        encoder.encode(candidates.sentence_count(), captions, resources, threads, hypothesis_lines, |_| ());
        let mut first = vec![encoder.arena.len()];
        let captions = |sentence: usize| references.tokens(sentence);
        encoder
            .encode(references.sentence_count(), captions, resources, threads, reference_lines, |end| first.push(end));
        Self { sentences: Sentences::new(encoder.arena, resources, threads), first }
    }

    /// METEOR's references for the reference sentences of the corpus.
    pub(super) fn references(&self, sentences: std::ops::Range<usize>) -> std::ops::Range<usize> {
        self.first[sentences.start]..self.first[sentences.end]
    }
}

struct Encoder<'a> {
    vocabulary: &'a Vocabulary,
    plain: Vec<bool>,
    /// METEOR's number of each plain word of the corpus, once met.
    numbers: Vec<Option<Word>>,
    arena: Arena,
}

impl<'a> Encoder<'a> {
    fn new(vocabulary: &'a Vocabulary) -> Self {
        let plain = vocabulary.words().map(is_plain).collect();
        Self { vocabulary, plain, numbers: vec![None; vocabulary.len()], arena: Arena::default() }
    }

    /// Adds captions, each of which `lines` cuts into one or more lines; `finish` is told the number of sentences after
    /// each caption.
    fn encode<'s>(
        &mut self,
        count: usize,
        tokens: impl Fn(usize) -> &'s [Word] + Sync,
        resources: &Resources,
        threads: usize,
        lines: fn(&str) -> Vec<String>,
        mut finish: impl FnMut(usize),
    ) {
        let is_plain = |sentence: usize| tokens(sentence).iter().all(|&word| self.plain[word as usize]);
        let others: Vec<usize> = (0..count).filter(|&sentence| !is_plain(sentence)).collect();
        let normalized = map_parts(others.len(), threads, |range| {
            let text = |sentence: usize| {
                let words: Vec<&str> = tokens(sentence).iter().map(|&word| self.vocabulary.word(word)).collect();
                words.join(" ")
            };
            let normalize = |sentence: usize| -> Vec<String> {
                check();
                lines(&text(sentence)).iter().map(|line| resources.normalize(line)).collect()
            };
            others[range].iter().map(|&sentence| normalize(sentence)).collect::<Vec<_>>()
        });
        let mut normalized = others.iter().zip(normalized.into_iter().flatten()).peekable();
        for sentence in 0..count {
            if let Some((_, lines)) = normalized.next_if(|(other, _)| **other == sentence) {
                for line in lines {
                    self.arena.push_tokens(split(&line));
                }
            } else {
                self.push_plain(tokens(sentence));
            }
            finish(self.arena.len());
        }
    }

    fn push_plain(&mut self, words: &[Word]) {
        let Self { vocabulary, numbers, arena, .. } = self;
        for &word in words {
            let number = &mut numbers[word as usize];
            let number = *number.get_or_insert_with(|| arena.vocabulary.intern(vocabulary.word(word)));
            arena.words.push(number);
        }
        arena.end_sentence();
    }
}

/// The one line that the COCO suite sends for a candidate: without `|||`, and with every two blanks made one.
fn hypothesis_lines(text: &str) -> Vec<String> {
    vec![text.replace("|||", "").replace("  ", " ")]
}

/// The lines that METEOR sees for a reference: `|||` separates references, so one that holds it is several.
fn reference_lines(text: &str) -> Vec<String> {
    text.split("|||").map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_of_the_protocol_are_dealt_with_as_the_suite_does() {
        assert_eq!(hypothesis_lines("a ||| b |  c    d"), ["a b | c  d"]);
        assert_eq!(reference_lines("a dog ||| a cat"), ["a dog ", " a cat"]);
        assert_eq!(reference_lines(""), [""]);
    }
}
