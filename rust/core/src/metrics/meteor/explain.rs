//! Alignments one can look at, and the aligner behind them and behind the kernel.

use std::ops::Range;

use super::align::Search;
use super::matchers::{Candidates, Match};
use super::resources::Resources;
use super::score::{CHUNKS, COUNTS, Counts, MODULES, Module, Parts, Weights};
use super::sentences::{Arena, Sentence, Sentences};

/// Which words of two sentences were matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alignment {
    /// Tokens of the hypothesis.
    pub hypothesis: Vec<String>,
    /// Tokens of the reference.
    pub reference: Vec<String>,
    /// The matches, in the order of the reference.
    pub links: Vec<Link>,
    /// What the score is made of.
    pub counts: Counts,
}

/// A match: words of the hypothesis that stand for words of the reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The kind of match.
    pub module: Module,
    /// Tokens of the hypothesis.
    pub hypothesis: Range<usize>,
    /// Tokens of the reference.
    pub reference: Range<usize>,
}

/// Aligns two lines of text, which are normalised first.
pub fn align(resources: &Resources, hypothesis: &str, reference: &str) -> Alignment {
    align_each(resources, hypothesis, &[reference]).remove(0)
}

/// Aligns with every reference: the number of the best, its alignment and score. None without references.
pub fn align_best(
    resources: &Resources,
    weights: &Weights,
    hypothesis: &str,
    references: &[&str],
) -> Option<(usize, Alignment, Parts)> {
    let alignments =
        align_each(resources, hypothesis, references).into_iter().enumerate().map(|(number, alignment)| {
            let parts = weights.score(&alignment.counts.map(f64::from));
            (number, alignment, parts)
        });
    alignments.reduce(|best, next| if next.2.score > best.2.score { next } else { best })
}

/// Aligns one line with each of several.
fn align_each(resources: &Resources, hypothesis: &str, references: &[&str]) -> Vec<Alignment> {
    let hypothesis = resources.tokens(hypothesis);
    let references: Vec<Vec<String>> = references.iter().map(|line| resources.tokens(line)).collect();
    let mut arena = Arena::default();
    for tokens in std::iter::once(&hypothesis).chain(&references) {
        arena.push_tokens(tokens.iter().map(String::as_str));
    }
    let sentences = Sentences::new(arena, resources, 1);
    let mut aligner = Aligner::default();
    let alignments = references.into_iter().zip(1..).map(|(reference, number)| {
        let counts = aligner.align(&sentences, sentences.get(0), sentences.get(number));
        let links = aligner.search.chosen().iter().map(|found| Link {
            module: found.module,
            hypothesis: found.of_hypothesis(),
            reference: found.of_reference(),
        });
        Alignment { links: links.collect(), hypothesis: hypothesis.clone(), reference, counts }
    });
    alignments.collect()
}

/// Aligns pairs of sentences, one after the other, in the same memory.
#[derive(Debug, Default)]
pub(super) struct Aligner {
    candidates: Candidates,
    search: Search,
}

impl Aligner {
    pub(super) fn align(&mut self, sentences: &Sentences, hypothesis: Sentence<'_>, reference: Sentence<'_>) -> Counts {
        self.candidates.find(sentences, hypothesis, reference);
        let matches = self.search.run(&self.candidates, hypothesis.words.len(), reference.words.len());
        count(sentences, hypothesis, reference, matches)
    }
}

/// The counts of an alignment.
fn count(sentences: &Sentences, hypothesis: Sentence<'_>, reference: Sentence<'_>, matches: &[Match]) -> Counts {
    let function_words = |sentence: Sentence<'_>, range: Range<usize>| {
        sentence.words[range].iter().filter(|&&word| sentences.lexicon.is_function_word(word)).count() as u32
    };
    let sides = [hypothesis, reference];
    let mut counts = [0; COUNTS];
    for (side, sentence) in sides.into_iter().enumerate() {
        counts[side] = sentence.words.len() as u32;
        counts[side + 2] = function_words(sentence, 0..sentence.words.len());
    }
    let mut ends = None;
    for link in matches {
        for (side, words) in [link.of_hypothesis(), link.of_reference()].into_iter().enumerate() {
            let (length, function) = (words.len() as u32, function_words(sides[side], words));
            let of_module = MODULES + 4 * link.module as usize + side;
            counts[of_module] += length - function;
            counts[of_module + 2] += function;
            counts[CHUNKS + 1 + side] += length;
        }
        let goes_on = ends == Some((link.hypothesis, link.reference));
        counts[CHUNKS] += u32::from(!goes_on);
        ends = Some((link.hypothesis_end(), link.reference_end()));
    }
    counts
}
