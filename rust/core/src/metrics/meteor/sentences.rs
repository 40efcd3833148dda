//! The sentences at hand, as the matchers read them: token numbers, and the places of phrases that have paraphrases.

use rustc_hash::FxHashMap;

use super::lexicon::Lexicon;
use super::resources::Resources;
use crate::numeric::hash_table::{HashTable, Key};
use crate::numeric::interrupt::check;
use crate::numeric::parallel::map_parts;
use crate::text::vocabulary::{Vocabulary, Word};

/// Token numbers of many sentences, one after the other.
#[derive(Debug, Default)]
pub(super) struct Arena {
    pub(super) vocabulary: Vocabulary,
    pub(super) words: Vec<Word>,
    ends: Vec<usize>,
}

impl Arena {
    /// Makes a sentence of the words added since the last one.
    pub(super) fn end_sentence(&mut self) {
        self.ends.push(self.words.len());
    }

    /// Adds a sentence by its tokens.
    pub(super) fn push_tokens<'a>(&mut self, tokens: impl Iterator<Item = &'a str>) {
        self.words.extend(tokens.map(|token| self.vocabulary.intern(token)));
        self.end_sentence();
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    fn get(&self, sentence: usize) -> &[Word] {
        let start = if sentence == 0 { 0 } else { self.ends[sentence - 1] };
        &self.words[start..self.ends[sentence]]
    }
}

/// A place of a phrase in a sentence.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) length: u8,
    pub(super) phrase: u32,
}

/// A sentence to be matched.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sentence<'a> {
    pub(super) words: &'a [Word],
    /// By start, then by length.
    pub(super) spans: &'a [Span],
}

/// Sentences with all that is known of their words and phrases.
///
/// Of the paraphrase table it keeps what these sentences can use: phrases that occur in some sentence, numbered anew,
/// with those of their paraphrases that occur in some sentence too.
#[derive(Debug)]
pub(super) struct Sentences {
    arena: Arena,
    pub(super) lexicon: Lexicon,
    spans: Vec<Span>,
    span_ends: Vec<usize>,
    paraphrases: Vec<u32>,
    paraphrase_ends: Vec<usize>,
    lengths: Vec<u8>,
}

impl Sentences {
    pub(super) fn new(arena: Arena, resources: &Resources, threads: usize) -> Self {
        let lexicon = Lexicon::new(&arena.vocabulary, resources, threads);
        let parts = map_parts(arena.len(), threads, |range| {
            let mut spans = Vec::new();
            let mut walker = Walker::new(&lexicon, resources);
            let ends: Vec<usize> = range
                .map(|sentence| {
                    check();
                    walker.find(arena.get(sentence), &mut spans);
                    spans.len()
                })
                .collect();
            (spans, ends)
        });
        let mut all = Self {
            arena,
            lexicon,
            spans: Vec::new(),
            span_ends: Vec::new(),
            paraphrases: Vec::new(),
            paraphrase_ends: Vec::new(),
            lengths: Vec::new(),
        };
        for (spans, ends) in parts {
            let shift = all.spans.len();
            all.spans.extend(spans);
            all.span_ends.extend(ends.into_iter().map(|end| end + shift));
        }
        all.select_paraphrases(resources);
        all
    }

    pub(super) fn get(&self, sentence: usize) -> Sentence<'_> {
        let start = if sentence == 0 { 0 } else { self.span_ends[sentence - 1] };
        Sentence { words: self.arena.get(sentence), spans: &self.spans[start..self.span_ends[sentence]] }
    }

    /// Paraphrases of a phrase, in the order of the table.
    pub(super) fn paraphrases(&self, phrase: u32) -> &[u32] {
        let phrase = phrase as usize;
        let start = if phrase == 0 { 0 } else { self.paraphrase_ends[phrase - 1] };
        &self.paraphrases[start..self.paraphrase_ends[phrase]]
    }

    /// Number of words of a phrase.
    pub(super) fn length(&self, phrase: u32) -> u8 {
        self.lengths[phrase as usize]
    }

    /// Number of phrases.
    pub(super) fn phrase_count(&self) -> usize {
        self.lengths.len()
    }

    /// Drops the spans of phrases that neither have paraphrases here nor are any, and numbers the others.
    fn select_paraphrases(&mut self, resources: &Resources) {
        const PRESENT: u32 = 1;
        /// That of the first phrase with a use; the next follow.
        const USED: u32 = 2;
        let mut states = PerPhrase::new(resources.phrase_count(), self.spans.len());
        let mut present = Vec::new();
        for span in &self.spans {
            if states.get(span.phrase) != PRESENT {
                states.set(span.phrase, PRESENT);
                present.push((span.phrase, span.length));
            }
        }
        for &(phrase, _) in &present {
            for paraphrase in resources.paraphrases(phrase) {
                if states.get(paraphrase) != ABSENT {
                    states.set(paraphrase, USED);
                    states.set(phrase, USED);
                }
            }
        }
        present.retain(|&(phrase, _)| states.get(phrase) == USED);
        for (state, &(phrase, _)) in (USED..).zip(&present) {
            states.set(phrase, state);
        }
        let number = |phrase: u32| states.get(phrase).checked_sub(USED);
        for &(phrase, length) in &present {
            self.paraphrases.extend(resources.paraphrases(phrase).filter_map(number));
            self.paraphrase_ends.push(self.paraphrases.len());
            self.lengths.push(length);
        }
        self.keep_spans(number);
    }

    fn keep_spans(&mut self, renumber: impl Fn(u32) -> Option<u32>) {
        let (mut start, mut kept) = (0, 0);
        for end in &mut self.span_ends {
            for at in std::mem::replace(&mut start, *end)..*end {
                let span = self.spans[at];
                if let Some(phrase) = renumber(span.phrase) {
                    self.spans[kept] = Span { phrase, ..span };
                    kept += 1;
                }
            }
            *end = kept;
        }
        self.spans.truncate(kept);
    }
}

/// The initial value of [`PerPhrase`] for a phrase.
const ABSENT: u32 = 0;

/// A number for each phrase of the table, of which there are millions.
/// An array is fastest to look up, but its pages take milliseconds to allocate: too long for two sentences.
enum PerPhrase {
    Array(Vec<u32>),
    Table(FxHashMap<u32, u32>),
}

impl PerPhrase {
    /// `phrases` in all, of which at most `present` are in the sentences.
    fn new(phrases: usize, present: usize) -> Self {
        if present > phrases / 64 { Self::Array(vec![ABSENT; phrases]) } else { Self::Table(FxHashMap::default()) }
    }

    fn get(&self, phrase: u32) -> u32 {
        match self {
            Self::Array(numbers) => numbers[phrase as usize],
            Self::Table(numbers) => numbers.get(&phrase).copied().unwrap_or(ABSENT),
        }
    }

    fn set(&mut self, phrase: u32, number: u32) {
        match self {
            Self::Array(numbers) => numbers[phrase as usize] = number,
            Self::Table(numbers) => {
                numbers.insert(phrase, number);
            }
        }
    }
}

/// The start of a phrase: no phrase has this number.
const ROOT: u32 = u32::MAX;

/// Finds phrases, with the steps from phrase to phrase that it has made.
struct Walker<'a> {
    lexicon: &'a Lexicon,
    resources: &'a Resources,
    steps: HashTable<Step, u32>,
}

/// A word behind a phrase. No step is 0, since no phrase is [`ROOT`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Step(u64);

impl Key for Step {
    fn hash(self) -> u64 {
        let product = self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        product ^ product >> 32
    }
}

impl<'a> Walker<'a> {
    /// The value of a step that was not made yet. It is the number of a word, to which no step leads.
    const UNKNOWN: u32 = 0;
    /// The value of a step that leads nowhere.
    const NOWHERE: u32 = ROOT;

    fn new(lexicon: &'a Lexicon, resources: &'a Resources) -> Self {
        Self { lexicon, resources, steps: HashTable::with_capacity(0) }
    }

    /// Every phrase of the table, and every beginning of one, in the sentence.
    fn find(&mut self, words: &[Word], spans: &mut Vec<Span>) {
        for start in 0..words.len() {
            let mut phrase = ROOT;
            for (length, &word) in (1..=u8::MAX).zip(&words[start..]) {
                let next = self.lexicon.paraphrase_word(word).and_then(|word| self.step(phrase, word));
                let Some(next) = next else { break };
                phrase = next;
                spans.push(Span { start: start as u32, length, phrase });
            }
        }
    }

    fn step(&mut self, phrase: u32, word: u32) -> Option<u32> {
        if phrase == ROOT {
            return Some(word);
        }
        let step = Step(u64::from(phrase + 1) << 32 | u64::from(word));
        let next = self.steps.entry(step, step.hash());
        if *next == Self::UNKNOWN {
            *next = self.resources.child(phrase, word).unwrap_or(Self::NOWHERE);
        }
        (*next != Self::NOWHERE).then_some(*next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_phrases_and_many_are_kept_alike() {
        let mut few = PerPhrase::new(1000, 3);
        let mut many = PerPhrase::new(1000, 300);
        assert!(matches!((&few, &many), (PerPhrase::Table(_), PerPhrase::Array(_))));
        for (phrase, number) in [(0, 5), (999, 1), (7, 2), (7, 3), (0, ABSENT)] {
            few.set(phrase, number);
            many.set(phrase, number);
        }
        for phrase in 0..1000 {
            assert_eq!(few.get(phrase), many.get(phrase));
        }
    }
}
