//! A model of references that come in parts, by words rather than by the numbers that each part gives them.

use super::{Count, Counts, END, Model, START, count, no_counts};
use crate::Refused;
use crate::corpus::References;
use crate::engine::{Resource, missing};
use crate::numeric::hash_table::{HashTable, Key};
use crate::numeric::interrupt::check;
use crate::numeric::parallel::map_mut;
use crate::tables::{Format, mark};
use crate::text::ngram::{MAX_ORDER, Ngram};
use crate::text::tokenize::Tokenizer;
use crate::text::vocabulary::{Vocabulary, Word};

const FORMAT: Format<5> = Format { name: "a language model", magic: mark::LANGUAGE_MODEL, version: 1 };

/// Stands for all words that a model never met.
const UNKNOWN: Word = Word::MAX - 4;

/// Counts of n-grams in the references of some images.
#[derive(Debug)]
pub struct LanguageCounts {
    images: u64,
    /// Words with the ends of sentences.
    length: u64,
    vocabulary: Vocabulary,
    counts: Counts,
    tokenizer: Option<Tokenizer>,
}

impl LanguageCounts {
    /// No counts yet, for a model of that order.
    ///
    /// # Panics
    ///
    /// If the order is not 1 to [`MAX_ORDER`].
    pub fn new(order: usize) -> Self {
        assert!((1..=MAX_ORDER).contains(&order), "a model has an order of 1 to {MAX_ORDER}");
        Self { images: 0, length: 0, vocabulary: Vocabulary::default(), counts: no_counts(order), tokenizer: None }
    }

    /// The same for a model that is kept, for captions of other images; the tokenizer cuts what it learns from.
    #[must_use]
    pub fn kept(self, tokenizer: Tokenizer) -> Self {
        Self { tokenizer: Some(tokenizer), ..self }
    }

    /// Number of images that were learnt from.
    pub fn images(&self) -> u64 {
        self.images
    }

    /// Learns from the references of other images, with at most `memory` bytes.
    pub fn add(&mut self, references: &References, memory: usize, threads: usize) -> Result<(), Refused> {
        let numbers = self.numbered(references.vocabulary.words());
        let sentences = &references.sentences;
        let all: Vec<Vec<Word>> = (0..sentences.sentence_count())
            .map(|number| sentences.words(number).iter().map(|&word| numbers[word as usize]).collect())
            .collect();
        let length = all.iter().filter(|words| !words.is_empty()).map(|words| words.len() as u64 + 1).sum();
        self.grow(references.images.len() as u64, length)?;
        let all: Vec<_> = all.iter().map(Vec::as_slice).collect();
        count(&mut self.counts, &all, threads);
        self.check(memory)
    }

    /// Adds what was counted elsewhere, in the references of other images.
    pub fn merge(&mut self, other: &Self, memory: usize, threads: usize) -> Result<(), Refused> {
        if self.counts.len() != other.counts.len() {
            return Err(Refused("these are language models of different orders".to_owned()));
        }
        let numbers = self.numbered(other.vocabulary.words());
        // The marks of a sentence's beginning and end have the same numbers everywhere.
        let number = |word: Word| numbers.get(word as usize).copied().unwrap_or(word);
        self.grow(other.images, other.length)?;
        map_mut(&mut self.counts, threads, |order, counts| {
            for (ngram, count) in other.counts[order].iter() {
                check();
                let ngram = ngram.words().fold(Ngram::default(), |ngram, word| ngram.push(number(word)));
                counts.entry(ngram, ngram.hash()).times += count.times;
            }
        });
        self.check(memory)
    }

    /// The model of what was counted.
    pub fn finish(self, threads: usize) -> LanguageModel {
        let Self { images, length, vocabulary, counts, tokenizer } = self;
        LanguageModel { images, length, vocabulary, model: Model::of(counts, threads), tokenizer }
    }

    /// The counts as bytes, for another process.
    pub fn to_bytes(&self) -> Vec<u8> {
        let head = [self.counts.len() as u64, self.images, self.length];
        written(head, self.tokenizer, &self.vocabulary, self.counts.iter())
    }

    /// What [`Self::to_bytes`] made.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Refused> {
        let (sections, _) = FORMAT.read(bytes)?;
        let [head, text, ends, keys, counts] = sections.map(|section| &bytes[section]);
        read(head, text, ends, keys, counts).ok_or_else(|| FORMAT.damaged())
    }

    /// The numbers of these words, given now to new ones.
    fn numbered<'a>(&mut self, words: impl Iterator<Item = &'a str>) -> Vec<Word> {
        words.map(|word| self.vocabulary.intern(word)).collect()
    }

    /// No count is above the number of words.
    fn grow(&mut self, images: u64, length: u64) -> Result<(), Refused> {
        (self.images, self.length) = (self.images.saturating_add(images), self.length.saturating_add(length));
        if u32::try_from(self.length).is_ok() {
            return Ok(());
        }
        let most = u32::MAX;
        Err(Refused(format!(
            "a language model learns from at most {most} words; leave out what learns it, such as fluency"
        )))
    }

    /// What the model knows of histories takes at most as much again.
    fn check(&self, memory: usize) -> Result<(), Refused> {
        let bytes: usize = self.counts.iter().map(|counts| 2 * counts.bytes()).sum();
        if bytes <= memory {
            return Ok(());
        }
        Err(Refused(format!(
            "the language model of the references takes more than {} MiB of memory; grant more memory, or leave out what \
             learns it, such as fluency",
            memory.div_ceil(1 << 20)
        )))
    }
}

/// A language model of references, for captions whose words have other numbers.
#[derive(Debug)]
pub struct LanguageModel {
    images: u64,
    length: u64,
    vocabulary: Vocabulary,
    model: Model,
    /// What cut the captions that it learnt from, if they are not the references being scored.
    pub tokenizer: Option<Tokenizer>,
}

impl Resource for LanguageModel {
    const NAME: &'static str = "a language model";
}

impl LanguageModel {
    /// Number of images that it learnt from.
    pub fn images(&self) -> u64 {
        self.images
    }

    /// The longest n-gram.
    pub fn order(&self) -> usize {
        self.model.orders.len()
    }

    /// Number of distinct words.
    pub fn words(&self) -> usize {
        self.vocabulary.len()
    }

    /// The model as bytes: [`LanguageCounts::from_bytes`] reads them.
    pub fn to_bytes(&self) -> Vec<u8> {
        let counts = self.model.orders.iter().map(|order| &order.ngrams);
        written([self.order() as u64, self.images, self.length], self.tokenizer, &self.vocabulary, counts)
    }

    pub(super) fn of_order(&self, order: usize) -> Result<&Model, Refused> {
        let fits = self.order() == order;
        fits.then_some(&self.model).ok_or_else(|| missing(format!("a language model of order {order}")))
    }

    /// For each word of the vocabulary the model's number.
    pub(super) fn numbers(&self, vocabulary: &Vocabulary) -> Vec<Word> {
        vocabulary.words().map(|word| self.vocabulary.number(word).unwrap_or(UNKNOWN)).collect()
    }
}

fn written<'a>(
    head: [u64; 3],
    tokenizer: Option<Tokenizer>,
    vocabulary: &Vocabulary,
    counts: impl Iterator<Item = &'a HashTable<Ngram, Count>>,
) -> Vec<u8> {
    let mut head: Vec<u8> = head.into_iter().flat_map(u64::to_le_bytes).collect();
    head.extend(tokenizer.map_or("", |tokenizer| tokenizer.name()).bytes());
    let (mut text, mut ends) = (Vec::new(), Vec::new());
    for word in vocabulary.words() {
        text.extend(word.as_bytes());
        ends.extend((text.len() as u64).to_le_bytes());
    }
    let (mut keys, mut times) = (Vec::new(), Vec::new());
    for (ngram, count) in counts.flat_map(HashTable::iter) {
        keys.extend(ngram.key().to_le_bytes());
        times.extend(count.times.to_le_bytes());
    }
    FORMAT.write(&[head, text, ends, keys, times])
}

fn read(head: &[u8], text: &[u8], ends: &[u8], keys: &[u8], times: &[u8]) -> Option<LanguageCounts> {
    let (numbers, tokenizer) = head.split_at_checked(24)?;
    let (&[order, images, length], _) = numbers.as_chunks().0.split_first_chunk()?;
    let [order, images, length] = [order, images, length].map(u64::from_le_bytes);
    let order = usize::try_from(order).ok().filter(|order| (1..=MAX_ORDER).contains(order))?;
    let text = std::str::from_utf8(text).ok()?;
    let mut read = LanguageCounts::new(order);
    (read.images, read.length) = (images, length);
    if !tokenizer.is_empty() {
        read.tokenizer = Some(std::str::from_utf8(tokenizer).ok()?.parse().ok()?);
    }
    let mut start = 0;
    for &end in ends.as_chunks().0 {
        let end = usize::try_from(u64::from_le_bytes(end)).ok()?;
        read.vocabulary.intern(text.get(start..end)?);
        start = end;
    }
    let words = read.vocabulary.len() as u64;
    let known = |word: Word| u64::from(word) < words || word == START || word == END;
    let (keys, times) = (keys.as_chunks().0, times.as_chunks().0);
    let mut totals = [0_u64; MAX_ORDER];
    for (&key, &count) in keys.iter().zip(times) {
        let whole = key.as_chunks::<4>().0.iter().skip_while(|word| **word != [0; 4]).all(|word| *word == [0; 4]);
        let (ngram, count) = (Ngram::from_key(u128::from_le_bytes(key)), u32::from_le_bytes(count));
        let fits = whole && (1..=order).contains(&ngram.order()) && ngram.words().all(known);
        let order = fits.then(|| ngram.order() - 1)?;
        totals[order] += u64::from(count);
        read.counts[order].entry(ngram, ngram.hash()).times = count;
    }
    let fits = keys.len() == times.len() && totals.iter().all(|&total| total <= length);
    (fits && u32::try_from(length).is_ok()).then_some(read)
}

#[cfg(test)]
mod tests {
    use super::super::Fluency;
    use super::*;
    use crate::corpus::Corpus;
    use crate::engine::{Resources, evaluate};
    use crate::tables::tests::test_reader;
    use crate::text::captions::CaptionsBuilder;
    use proptest::prelude::*;
    use std::ops::Range;
    use std::sync::Arc;

    /// References of an image, and its candidate.
    type Image = (Vec<String>, String);

    const PLENTY: usize = 1 << 30;

    fn corpus(images: &[Image], numbers: Range<usize>) -> Corpus {
        let (mut references, mut candidates) = (CaptionsBuilder::new(), CaptionsBuilder::new());
        for number in numbers.clone() {
            let (own, candidate) = &images[number];
            for text in own {
                references.caption(&number.to_string(), text);
            }
            candidates.caption(&number.to_string(), candidate);
        }
        let places: Vec<u32> = (0..numbers.len() as u32).collect();
        let references = References::encode(&references.finish(), &places, Tokenizer::None, 1);
        let places: Vec<_> = places.into_iter().map(Some).collect();
        Corpus::encode(Arc::new(references), &candidates.finish(), &places, 1)
    }

    fn scores(corpus: &Corpus, fluency: Fluency, model: Option<&Arc<LanguageModel>>) -> Vec<u64> {
        let resources = model.map_or(Resources::new(1), |model| Resources::new(1).with(model.clone()));
        evaluate(corpus, &[&fluency], &resources).unwrap()[0].values.iter().map(|value| value.to_bits()).collect()
    }

    fn counts(images: &[Image], numbers: Range<usize>, order: usize) -> LanguageCounts {
        let mut counts = LanguageCounts::new(order);
        counts.add(&corpus(images, numbers).references, PLENTY, 2).unwrap();
        counts
    }

    fn images() -> impl Strategy<Value = Vec<Image>> {
        let sentence = || prop::collection::vec("[a-e]", 0..7).prop_map(|words| words.join(" "));
        prop::collection::vec((prop::collection::vec(sentence(), 1..4), "([a-h] ){0,6}"), 2..12)
    }

    proptest! {
        #[test]
        fn parts_give_the_scores_of_all_together(
            images in images(),
            order in 1_usize..=MAX_ORDER,
            own in any::<bool>(),
            cut in any::<prop::sample::Index>(),
            more in any::<prop::sample::Index>(),
        ) {
            let fluency = Fluency { order, own };
            let whole = scores(&corpus(&images, 0..images.len()), fluency, None);
            let cut = 1 + cut.index(images.len() - 1);
            // The second part in two batches, and before the first.
            let mut later = counts(&images, cut..images.len(), order);
            let mut all = LanguageCounts::new(order);
            if cut > 1 {
                let within = more.index(cut);
                let batches = [within..cut, 0..within];
                for batch in batches.into_iter().filter(|batch| !batch.is_empty()) {
                    all.add(&corpus(&images, batch).references, PLENTY, 1).unwrap();
                }
            } else {
                all = counts(&images, 0..cut, order);
            }
            later.merge(&LanguageCounts::from_bytes(&all.to_bytes()).unwrap(), PLENTY, 1).unwrap();
            prop_assert_eq!(later.images(), images.len() as u64);
            let model = later.finish(2);
            let model = Arc::new(LanguageCounts::from_bytes(&model.to_bytes()).unwrap().finish(1));
            prop_assert_eq!(model.images(), images.len() as u64);
            let parts = [0..cut, cut..images.len()].map(|part| scores(&corpus(&images, part), fluency, Some(&model)));
            prop_assert_eq!(parts.concat(), whole);
        }
    }

    fn example() -> Vec<Image> {
        let images = [("a b c", "a c"), ("b c", "b"), ("", "a b"), ("c a b c", "c c")];
        images.map(|(reference, candidate)| (vec![reference.to_owned()], candidate.to_owned())).to_vec()
    }

    #[test]
    fn every_cut_and_every_changed_byte_is_noticed() {
        let images = example();
        let used = |counts: &LanguageCounts| {
            let order = counts.counts.len();
            let mut own = LanguageCounts::new(order);
            if own.merge(counts, PLENTY, 1).is_ok() {
                let model = Arc::new(own.finish(1));
                scores(&corpus(&images, 0..images.len()), Fluency { order, own: false }, Some(&model));
            }
        };
        test_reader(&counts(&images, 0..2, 3).to_bytes(), LanguageCounts::from_bytes, used);
        // Counts that the number of words contradicts, and more words than are counted.
        for length in [counts(&images, 0..2, 3).length - 1, 1 << 32] {
            let other = LanguageCounts { length, ..counts(&images, 0..2, 3) };
            assert!(LanguageCounts::from_bytes(&other.to_bytes()).is_err(), "{length}");
        }
    }

    #[test]
    fn what_is_too_much_is_refused() {
        let images = example();
        let references = corpus(&images, 0..4).references;
        let add = |length: u64, memory: usize| {
            let mut counts = LanguageCounts::new(2);
            counts.length = length;
            counts.add(&references, memory, 1).map(|()| counts)
        };
        let counts = add(0, PLENTY).unwrap();
        // The tables, and what is known of histories.
        let needed = 2 * counts.counts.iter().map(HashTable::bytes).sum::<usize>();
        assert!(add(0, needed).is_ok());
        assert!(add(0, needed - 1).is_err_and(|refused| refused.0.contains("grant more memory")));
        let room = u64::from(u32::MAX) - counts.length;
        assert!(add(room, PLENTY).is_ok());
        assert!(add(room + 1, PLENTY).is_err_and(|refused| refused.0.contains("at most 4294967295 words")));
        assert!(LanguageCounts::new(2).merge(&LanguageCounts::new(3), PLENTY, 1).is_err());
        let model = Arc::new(LanguageCounts::new(2).finish(1));
        let resources = Resources::new(1).with(model);
        let refused = evaluate(&corpus(&images, 0..4), &[&Fluency { order: 3, own: true }], &resources);
        assert_eq!(refused.unwrap_err().1.0, "needs a language model of order 3, which were not given");
    }

    #[test]
    fn a_model_of_other_references_takes_nothing_out() {
        let images = example();
        let model = Arc::new(counts(&images, 0..1, 3).finish(1));
        let found = scores(&corpus(&images, 1..4), Fluency { order: 3, own: false }, Some(&model));
        assert_eq!(found.len(), 2 * 3);
    }
}
