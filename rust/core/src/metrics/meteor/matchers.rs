//! Everything that could be matched: by the same word, by stem, by synonym, by paraphrase.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::align::gain;
use super::lexicon::Lexicon;
use super::score::Module;
use super::sentences::{Sentence, Sentences, Span};
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

    /// The same at another reference word.
    fn at(&self, reference: usize) -> Self {
        Self { reference: reference as u32, ..*self }
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
/// Words of a long reference at which the same phrases start have one list, so that memory grows with the length of a
/// text that repeats itself and not with its square.
///
/// Their order decides between alignments that are equally good, and is the original's: module by module, and within
/// one by the place in the hypothesis, except that paraphrases of hypothesis phrases come last.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// List by list; the place in the reference is that of whoever asks.
    matches: Vec<Match>,
    ends: Vec<usize>,
    /// By list, the most that a match in it gains.
    most: Vec<u32>,
    /// The list of each reference word.
    lists: Vec<usize>,
    /// The first word that has each list.
    firsts: Vec<usize>,
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
    pub(super) fn at(&self, word: usize) -> (u32, impl ExactSizeIterator<Item = Match> + '_) {
        let list = self.lists[word];
        let start = if list == 0 { 0 } else { self.ends[list - 1] };
        (start as u32, self.matches[start..self.ends[list]].iter().map(move |found| found.at(word)))
    }

    /// The most that a match at the reference word gains.
    pub(super) fn most(&self, word: usize) -> u32 {
        self.most[self.lists[word]]
    }

    /// The match with that number at a reference word.
    pub(super) fn get(&self, number: usize, word: usize) -> Match {
        self.matches[number].at(word)
    }

    /// Finds the matches of a pair, in place of those of the pair before.
    pub(super) fn find(&mut self, sentences: &Sentences, hypothesis: Sentence<'_>, reference: Sentence<'_>) {
        self.found.clear();
        self.share_lists(reference);
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
        self.sort_by_list();
        self.count_cover(hypothesis.words.len(), reference.words.len());
    }

    /// Gives each word of the reference its list: of a short one, each word its own.
    fn share_lists(&mut self, reference: Sentence<'_>) {
        self.lists.clear();
        self.firsts.clear();
        if reference.words.len() <= SHORT {
            self.lists.extend(0..reference.words.len());
            self.firsts.extend(0..reference.words.len());
            return;
        }
        // The longest phrase at a word tells all that start there: the others are its beginnings.
        let mut phrases = vec![u32::MAX; reference.words.len()];
        reference.spans.iter().for_each(|span| phrases[span.start as usize] = span.phrase);
        let mut known = FxHashMap::default();
        for (place, key) in reference.words.iter().zip(phrases).enumerate() {
            let list = *known.entry(key).or_insert(self.firsts.len());
            if list == self.firsts.len() {
                self.firsts.push(place);
            }
            self.lists.push(list);
        }
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
            for (list, &first) in self.firsts.iter().enumerate() {
                let word = reference[first];
                let mut bits = traits(word).iter().fold(0, |bits, &quality| bits | self.carriers[quality as usize]);
                if module != Module::Exact {
                    bits &= !self.carriers[same_word(word)];
                }
                while bits != 0 {
                    self.found.push(Match::of_words(module, 64 * block + bits.trailing_zeros() as usize, list));
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
        let Self { lists, firsts, found, places, .. } = self;
        // A list is filled for its first word.
        let of_reference =
            || reference.spans.iter().filter(|span| firsts[lists[span.start as usize]] == span.start as usize);
        let of_hypothesis = || hypothesis.spans.iter();
        let mut add = |(h, hypothesis_length): (u32, u8), (r, reference_length): (u32, u8)| {
            let reference = lists[r as usize] as u32;
            found.push(Match {
                module: Module::Paraphrase,
                hypothesis_length,
                reference_length,
                hypothesis: h,
                reference,
            });
        };
        places.pair(sentences, of_reference(), of_hypothesis(), |here, there| add(there, here));
        places.pair(sentences, of_hypothesis(), of_reference(), add);
    }

    fn count_cover(&mut self, hypothesis: usize, reference: usize) {
        let mut covers = [std::mem::take(&mut self.hypothesis_cover), std::mem::take(&mut self.reference_cover)];
        for (cover, words) in covers.iter_mut().zip([hypothesis, reference]) {
            cover.clear();
            cover.resize(words, 0);
        }
        for found in (0..reference).flat_map(|word| self.at(word).1) {
            covers[0][found.of_hypothesis()].iter_mut().for_each(|count| *count += 1);
            covers[1][found.of_reference()].iter_mut().for_each(|count| *count += 1);
        }
        [self.hypothesis_cover, self.reference_cover] = covers;
    }

    /// Puts the matches in their lists, each in the order of finding.
    fn sort_by_list(&mut self) {
        let lists = self.firsts.len();
        self.ends.clear();
        self.ends.resize(lists + 1, 0);
        for found in &self.found {
            self.ends[found.reference as usize + 1] += 1;
        }
        for list in 1..=lists {
            self.ends[list] += self.ends[list - 1];
        }
        // Filling a list moves its start to its end, which is what is kept.
        self.matches.clear();
        if let Some(&any) = self.found.first() {
            self.matches.resize(self.found.len(), any);
        }
        self.most.clear();
        self.most.resize(lists, 0);
        for &found in &self.found {
            let list = found.reference as usize;
            self.matches[self.ends[list]] = found;
            self.ends[list] += 1;
            self.most[list] = self.most[list].max(gain(&found));
        }
    }
}

/// Words of a reference up to which nothing is won by sharing lists.
const SHORT: usize = 64;

/// Places of each phrase in a sentence, as chains through its spans.
#[derive(Debug, Default)]
struct Places {
    /// By phrase: its first place; all are [`Self::NONE`] between uses.
    first: Vec<u32>,
    /// Start of each place, and the next.
    places: Vec<(u32, u32)>,
}

impl Places {
    const NONE: u32 = u32::MAX;

    /// All places, with their lengths, where a phrase of `from` and one of its paraphrases in `to` are.
    fn pair<'a>(
        &mut self,
        sentences: &Sentences,
        from: impl Iterator<Item = &'a Span>,
        to: impl DoubleEndedIterator<Item = &'a Span> + Clone,
        mut found: impl FnMut((u32, u8), (u32, u8)),
    ) {
        self.first.resize(sentences.phrase_count(), Self::NONE);
        self.places.clear();
        for span in to.clone().rev() {
            let next = std::mem::replace(&mut self.first[span.phrase as usize], self.places.len() as u32);
            self.places.push((span.start, next));
        }
        for span in from {
            for &paraphrase in sentences.paraphrases(span.phrase) {
                let mut place = self.first[paraphrase as usize];
                while place != Self::NONE {
                    let (start, next) = self.places[place as usize];
                    found((span.start, span.length), (start, sentences.length(paraphrase)));
                    place = next;
                }
            }
        }
        to.for_each(|span| self.first[span.phrase as usize] = Self::NONE);
    }
}
