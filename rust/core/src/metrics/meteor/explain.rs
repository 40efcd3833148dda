//! Alignments one can look at, and the aligner behind them and behind the kernel.

use std::ops::Range;

use super::align::Search;
use super::matchers::{Candidates, Match};
use super::resources::Resources;
use super::score::{Matched, Module, Parts, Statistics, Weights};
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
    /// The parts of the score.
    pub statistics: Statistics,
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
            let parts = weights.score(&alignment.statistics.counts());
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
        let statistics = aligner.align(&sentences, sentences.get(0), sentences.get(number));
        let links = aligner.search.chosen().iter().map(|found| Link {
            module: found.module,
            hypothesis: found.of_hypothesis(),
            reference: found.of_reference(),
        });
        Alignment { links: links.collect(), hypothesis: hypothesis.clone(), reference, statistics }
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
    pub(super) fn align(
        &mut self,
        sentences: &Sentences,
        hypothesis: Sentence<'_>,
        reference: Sentence<'_>,
    ) -> Statistics {
        self.candidates.find(sentences, hypothesis, reference);
        let matches = self.search.run(&self.candidates, hypothesis.words.len(), reference.words.len());
        count(sentences, hypothesis, reference, matches)
    }
}

/// The statistics of an alignment.
fn count(sentences: &Sentences, hypothesis: Sentence<'_>, reference: Sentence<'_>, matches: &[Match]) -> Statistics {
    let function_words = |sentence: Sentence<'_>, range: Range<usize>| {
        sentence.words[range].iter().filter(|&&word| sentences.lexicon.is_function_word(word)).count() as u32
    };
    let lengths = [hypothesis.words.len() as u32, reference.words.len() as u32];
    let mut statistics = Statistics {
        hypothesis_length: lengths[0],
        reference_length: lengths[1],
        hypothesis_function: function_words(hypothesis, 0..hypothesis.words.len()),
        reference_function: function_words(reference, 0..reference.words.len()),
        ..Statistics::default()
    };
    let mut ends = None;
    for found in matches {
        let in_hypothesis = function_words(hypothesis, found.of_hypothesis());
        let in_reference = function_words(reference, found.of_reference());
        let (length, reference_length) = (u32::from(found.hypothesis_length), u32::from(found.reference_length));
        let module: &mut Matched = &mut statistics.matched[found.module as usize];
        module.hypothesis_content += length - in_hypothesis;
        module.hypothesis_function += in_hypothesis;
        module.reference_content += reference_length - in_reference;
        module.reference_function += in_reference;
        statistics.hypothesis_matched += length;
        statistics.reference_matched += reference_length;
        let goes_on = ends == Some((found.hypothesis, found.reference));
        statistics.chunks += u32::from(!goes_on);
        ends = Some((found.hypothesis_end(), found.reference_end()));
    }
    statistics
}
