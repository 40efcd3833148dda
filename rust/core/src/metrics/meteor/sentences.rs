//! The sentences at hand, as the matchers read them: token numbers, and the places of phrases that have paraphrases.

use super::lexicon::Lexicon;
use super::resources::{ROOT, Resources};
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
            let ends: Vec<usize> = range
                .map(|sentence| {
                    find_phrases(arena.get(sentence), &lexicon, resources, &mut spans);
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
        const ABSENT: u8 = 0;
        const PRESENT: u8 = 1;
        const USED: u8 = 2;
        let mut states = vec![ABSENT; resources.phrase_count()];
        let mut present = Vec::new();
        for span in &self.spans {
            if std::mem::replace(&mut states[span.phrase as usize], PRESENT) == ABSENT {
                present.push((span.phrase, span.length));
            }
        }
        for &(phrase, _) in &present {
            for paraphrase in resources.paraphrases(phrase) {
                if states[paraphrase as usize] != ABSENT {
                    states[paraphrase as usize] = USED;
                    states[phrase as usize] = USED;
                }
            }
        }
        present.retain(|&(phrase, _)| states[phrase as usize] == USED);
        let mut numbers = vec![0_u32; resources.phrase_count()];
        (0..).zip(&present).for_each(|(number, &(phrase, _))| numbers[phrase as usize] = number);
        let is_used = |phrase: u32| states[phrase as usize] == USED;
        for &(phrase, length) in &present {
            let paraphrases = resources.paraphrases(phrase).filter(|&paraphrase| is_used(paraphrase));
            self.paraphrases.extend(paraphrases.map(|paraphrase| numbers[paraphrase as usize]));
            self.paraphrase_ends.push(self.paraphrases.len());
            self.lengths.push(length);
        }
        self.keep_spans(|phrase| is_used(phrase).then(|| numbers[phrase as usize]));
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

/// Every phrase of the table, and every beginning of one, in the sentence. (Remembering steps from phrase to phrase in
/// a hash table was not faster than searching the children each time.)
fn find_phrases(words: &[Word], lexicon: &Lexicon, resources: &Resources, spans: &mut Vec<Span>) {
    for start in 0..words.len() {
        let mut phrase = ROOT;
        for (length, &word) in (1..=u8::MAX).zip(&words[start..]) {
            let next = lexicon.paraphrase_word(word).and_then(|word| resources.walk(phrase, word));
            let Some(next) = next else { break };
            phrase = next;
            spans.push(Span { start: start as u32, length, phrase });
        }
    }
}
