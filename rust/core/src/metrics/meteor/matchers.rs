//! Everything that could be matched: by the same word, by stem, by synonym, by paraphrase.

use std::ops::Range;

use super::lexicon::Lexicon;
use super::score::Module;
use super::sentences::{Sentence, Sentences};
use crate::text::vocabulary::Word;

/// Words of the hypothesis that could stand for words of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) module: Module,
    pub(super) hypothesis_length: u8,
    pub(super) reference_length: u8,
    pub(super) hypothesis: u32,
    pub(super) reference: u32,
}

impl Match {
    fn of_words(module: Module, hypothesis: usize, reference: usize) -> Self {
        let (hypothesis, reference) = (hypothesis as u32, reference as u32);
        Self { module, hypothesis_length: 1, reference_length: 1, hypothesis, reference }
    }

    pub(super) fn hypothesis_end(&self) -> u32 {
        self.hypothesis + u32::from(self.hypothesis_length)
    }

    pub(super) fn reference_end(&self) -> u32 {
        self.reference + u32::from(self.reference_length)
    }

    /// The words of the hypothesis.
    pub(super) fn of_hypothesis(&self) -> Range<usize> {
        self.hypothesis as usize..self.hypothesis_end() as usize
    }

    /// The words of the reference.
    pub(super) fn of_reference(&self) -> Range<usize> {
        self.reference as usize..self.reference_end() as usize
    }
}

/// The matches of a pair of sentences, by the reference word at which they start.
///
/// Their order decides between alignments that are equally good, and is the original's: module by module, and within
/// one by the place in the hypothesis, except that paraphrases of hypothesis phrases come last.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    matches: Vec<Match>,
    ends: Vec<usize>,
    /// For each word, how many matches cover it.
    pub(super) hypothesis_cover: Vec<u32>,
    pub(super) reference_cover: Vec<u32>,
    found: Vec<Match>,
    /// For each trait, the words of the hypothesis that have it, as bits; all 0 between uses.
    carriers: Vec<u64>,
    places: Places,
}

impl Candidates {
    /// All matches that start at the reference word, with the number of the first.
    pub(super) fn at(&self, word: usize) -> (usize, &[Match]) {
        let start = if word == 0 { 0 } else { self.ends[word - 1] };
        (start, &self.matches[start..self.ends[word]])
    }

    pub(super) fn get(&self, number: usize) -> Match {
        self.matches[number]
    }

    /// Finds the matches of a pair, in place of those of the pair before.
    pub(super) fn find(&mut self, sentences: &Sentences, hypothesis: Sentence<'_>, reference: Sentence<'_>) {
        self.found.clear();
        let lexicon = &sentences.lexicon;
        self.carriers.resize(lexicon.trait_count(), 0);
        let words = [hypothesis.words, reference.words];
        self.match_words(Module::Exact, lexicon, words, |word| lexicon.same_word(word));
        let [h, r] = words.map(|words| words.iter().map(|&word| lexicon.same_word(word)));
        if !h.eq(r) {
            self.match_words(Module::Stem, lexicon, words, |word| lexicon.same_stem(word));
            self.match_words(Module::Synonym, lexicon, words, |word| lexicon.synonyms(word));
            self.match_paraphrases(sentences, hypothesis, reference);
        }
        self.count_cover(hypothesis.words.len(), reference.words.len());
        self.sort_by_start(reference.words.len());
    }

    /// Matches words that have a trait in common. Sixty-four words of the hypothesis are looked at together.
    fn match_words<'a>(
        &mut self,
        module: Module,
        lexicon: &Lexicon,
        [hypothesis, reference]: [&[Word]; 2],
        traits: impl Fn(Word) -> &'a [u32],
    ) {
        let same_word = |word: Word| lexicon.same_word(word)[0] as usize;
        for (block, words) in hypothesis.chunks(64).enumerate() {
            for (bit, &word) in words.iter().enumerate() {
                for &quality in traits(word) {
                    self.carriers[quality as usize] |= 1 << bit;
                }
                self.carriers[same_word(word)] |= 1 << bit;
            }
            for (j, &word) in reference.iter().enumerate() {
                let mut bits = traits(word).iter().fold(0, |bits, &quality| bits | self.carriers[quality as usize]);
                if module != Module::Exact {
                    bits &= !self.carriers[same_word(word)];
                }
                while bits != 0 {
                    self.found.push(Match::of_words(module, 64 * block + bits.trailing_zeros() as usize, j));
                    bits &= bits - 1;
                }
            }
            for &word in words {
                for &quality in traits(word) {
                    self.carriers[quality as usize] = 0;
                }
                self.carriers[same_word(word)] = 0;
            }
        }
    }

    fn match_paraphrases(&mut self, sentences: &Sentences, hypothesis: Sentence<'_>, reference: Sentence<'_>) {
        let pairs = [(reference, hypothesis, false), (hypothesis, reference, true)];
        for (from, to, is_hypothesis) in pairs {
            self.places.fill(sentences, to);
            for span in from.spans {
                for &paraphrase in sentences.paraphrases(span.phrase) {
                    let mut place = self.places.first[paraphrase as usize];
                    while place != Places::NONE {
                        let here = (span.start, span.length);
                        let there = (to.spans[place as usize].start, sentences.length(paraphrase));
                        let (h, r) = if is_hypothesis { (here, there) } else { (there, here) };
                        self.found.push(Match {
                            module: Module::Paraphrase,
                            hypothesis_length: h.1,
                            reference_length: r.1,
                            hypothesis: h.0,
                            reference: r.0,
                        });
                        place = self.places.next[place as usize];
                    }
                }
            }
            self.places.clear(to);
        }
    }

    fn count_cover(&mut self, hypothesis: usize, reference: usize) {
        let count = |cover: &mut Vec<u32>, words: usize, ranges: &mut dyn Iterator<Item = (u32, u8)>| {
            cover.clear();
            cover.resize(words, 0);
            for (start, length) in ranges {
                cover[start as usize..start as usize + usize::from(length)].iter_mut().for_each(|count| *count += 1);
            }
        };
        let found = &self.found;
        let ranges = &mut found.iter().map(|found| (found.hypothesis, found.hypothesis_length));
        count(&mut self.hypothesis_cover, hypothesis, ranges);
        let ranges = &mut found.iter().map(|found| (found.reference, found.reference_length));
        count(&mut self.reference_cover, reference, ranges);
    }

    /// Puts the matches in lists by reference word, each in the order of finding.
    fn sort_by_start(&mut self, words: usize) {
        self.ends.clear();
        self.ends.resize(words + 1, 0);
        for found in &self.found {
            self.ends[found.reference as usize + 1] += 1;
        }
        for word in 1..=words {
            self.ends[word] += self.ends[word - 1];
        }
        // Filling a list moves its start to its end, which is what is kept.
        self.matches.clear();
        if let Some(&any) = self.found.first() {
            self.matches.resize(self.found.len(), any);
        }
        for &found in &self.found {
            let place = &mut self.ends[found.reference as usize];
            self.matches[*place] = found;
            *place += 1;
        }
    }
}

/// Places of each phrase in a sentence, as chains through its spans.
#[derive(Debug, Default)]
struct Places {
    /// By phrase; all are [`Self::NONE`] between uses.
    first: Vec<u32>,
    /// By span.
    next: Vec<u32>,
}

impl Places {
    const NONE: u32 = u32::MAX;

    fn fill(&mut self, sentences: &Sentences, sentence: Sentence<'_>) {
        self.first.resize(sentences.phrase_count(), Self::NONE);
        self.next.resize(self.next.len().max(sentence.spans.len()), Self::NONE);
        for (place, span) in sentence.spans.iter().enumerate().rev() {
            self.next[place] = std::mem::replace(&mut self.first[span.phrase as usize], place as u32);
        }
    }

    fn clear(&mut self, sentence: Sentence<'_>) {
        sentence.spans.iter().for_each(|span| self.first[span.phrase as usize] = Self::NONE);
    }
}
