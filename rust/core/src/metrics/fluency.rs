//! Fluency: how probable a sentence is by a language model of the references, independent of its image.
//!
//! The model is an n-gram model with interpolated, modified Kneser-Ney smoothing (Chen and Goodman 1998; the adjusted
//! counts as Heafield et al. 2013 write them). The probability of a word after a history h is
//!
//! ```text
//! P(w | h) = (a(h w) − D(a(h w)) + Σ_i D_i N_i(h •) · P(w | h')) / Σ_v a(h v)
//! ```
//!
//! where a is the count of an n-gram of the highest order, or one at the start of a sentence, and the number of
//! distinct words before any other; N_i counts the words that follow h with a = i (i = 3: 3 or more); and h' is h
//! without its first word. The recursion ends with 1 / |V|, V being the words, the end of a sentence and `<unk>`.

use crate::Refused;
use crate::corpus::{Corpus, References};
use crate::engine::{Built, Kernel, Parameters, Prepared, Resource, Resources, mean_of, missing};
use crate::numeric::hash_table::{HashTable, Key};
use crate::numeric::parallel::{check, map_each, map_mut};
use crate::tables::{Format, mark};
use crate::text::ngram::{MAX_ORDER, Ngram};
use crate::text::tokenize::Tokenizer;
use crate::text::vocabulary::{Vocabulary, Word};

/// The beginning of a sentence: part of histories, never predicted.
const START: Word = Word::MAX - 1;
/// The end of a sentence, which is predicted like a word.
const END: Word = Word::MAX - 2;
/// Stands for any word after a history, in the keys of what is known of histories.
const ANY: Word = Word::MAX - 3;

/// Fluency with its parameters.
#[derive(Debug, Clone, Copy)]
struct Fluency {
    /// The longest n-gram.
    order: usize,
    /// Whether an image's own references are learnt from.
    learns_own: bool,
}

/// Builds fluency: `n`, the model's order, and `own`.
pub(crate) fn build(parameters: &mut Parameters) -> Built {
    Ok(Box::new(Fluency { order: parameters.count("n", 1..=MAX_ORDER)?, learns_own: parameters.flag("own")? }))
}

impl Kernel for Fluency {
    /// The model is of the corpus' own references, unless one is given; one that is kept learnt from none of them.
    fn prepare<'a>(&'a self, corpus: &'a Corpus, resources: &'a Resources) -> Prepared<'a> {
        if let Some(learned) = resources.get::<LanguageModel>() {
            if learned.order() != self.order {
                return Err(missing(format!("a language model of order {}", self.order)));
            }
            let model = &learned.model;
            let number = |word| learned.vocabulary.number(word).unwrap_or(UNKNOWN);
            let numbers: Vec<Word> = corpus.vocabulary.words().map(number).collect();
            let own_learnt = !self.learns_own && learned.tokenizer.is_none();
            let numbered = move |words: &[Word]| words.iter().map(|&word| numbers[word as usize]).collect::<Vec<_>>();
            return Ok(mean_of(move |image, candidate| {
                let learnt: Vec<_> = image.references().filter(|_| own_learnt).map(&numbered).collect();
                model.without(learnt.iter().map(Vec::as_slice)).geometric_mean(&numbered(image.candidate(candidate)))
            }));
        }
        let sentences = &corpus.references.sentences;
        let sentences: Vec<_> = (0..sentences.sentence_count()).map(|number| sentences.words(number)).collect();
        let mut counts = no_counts(self.order);
        count(&mut counts, &sentences, resources.threads);
        let model = Model::of(counts, resources.threads);
        Ok(mean_of(move |image, candidate| {
            let view = if self.learns_own { View::of(&model, 0) } else { model.without(image.references()) };
            view.geometric_mean(image.candidate(candidate))
        }))
    }
}

/// Counts of n-grams in the references, order by order.
#[derive(Debug)]
struct Model {
    orders: Vec<Order>,
}

/// Counts of the n-grams of one order.
#[derive(Debug)]
struct Order {
    ngrams: HashTable<Ngram, Count>,
    /// By the history with [`ANY`] after it.
    histories: HashTable<Ngram, History>,
    spectrum: Spectrum,
}

/// Of an n-gram.
#[derive(Debug, Default, Clone, Copy)]
struct Count {
    /// Its occurrences.
    times: u32,
    /// Distinct words before it.
    left: u32,
}

/// Counts of the words after a history.
#[derive(Debug, Default, Clone, Copy)]
struct History {
    /// Sum of the adjusted counts.
    total: u32,
    /// Words of an adjusted count of 1, of 2, of more.
    words: [u32; 3],
}

impl History {
    /// A word after it changes its adjusted count.
    fn change(&mut self, before: u32, after: u32) {
        self.total = self.total - before + after;
        if before > 0 {
            self.words[before.min(3) as usize - 1] -= 1;
        }
        if after > 0 {
            self.words[after.min(3) as usize - 1] += 1;
        }
    }
}

/// n-grams of an adjusted count of 1, 2, 3 and 4.
#[derive(Debug, Default, Clone, Copy)]
struct Spectrum([u32; 4]);

impl Spectrum {
    /// An n-gram changes its adjusted count.
    fn change(&mut self, before: u32, after: u32) {
        if (1..=4).contains(&before) {
            self.0[before as usize - 1] -= 1;
        }
        if (1..=4).contains(&after) {
            self.0[after as usize - 1] += 1;
        }
    }

    /// Discounts of adjusted counts of 1, of 2, of more (Chen and Goodman 1998, eq. 17), or ½, 1 and 1½ where too
    /// few n-grams are there for an estimate that leaves something to unseen words.
    fn discounts(self) -> [f64; 3] {
        let [n1, n2, n3, n4] = self.0.map(f64::from);
        let y = n1 / (n1 + 2.0 * n2);
        let estimates = [1.0 - 2.0 * y * n2 / n1, 2.0 - 3.0 * y * n3 / n2, 3.0 - 4.0 * y * n4 / n3];
        let usable = estimates.iter().zip([1.0, 2.0, 3.0]).all(|(&discount, most)| discount > 0.0 && discount <= most);
        if usable { estimates } else { [0.5, 1.0, 1.5] }
    }
}

/// The words between the marks of beginning and end.
fn marked(words: &[Word]) -> Vec<Word> {
    [&[START], words, &[END]].concat()
}

/// The n-grams of one order in a marked sentence; the beginning alone is not one.
fn ngrams(marked: &[Word], order: usize) -> impl Iterator<Item = Ngram> + '_ {
    marked[usize::from(order == 1)..].windows(order).map(Ngram::new)
}

fn history_of(ngram: Ngram) -> Ngram {
    ngram.prefix().push(ANY)
}

/// How often n-grams occur, order by order.
type Counts = Vec<HashTable<Ngram, Count>>;

/// Empty counts of n-grams of orders 1 to `order`.
fn no_counts(order: usize) -> Counts {
    vec![HashTable::with_capacity(0); order]
}

/// Counts the n-grams of sentences that have words.
fn count(counts: &mut Counts, sentences: &[&[Word]], threads: usize) {
    map_mut(counts, threads, |shorter, counts| {
        for words in sentences.iter().filter(|words| !words.is_empty()) {
            check();
            ngrams(&marked(words), shorter + 1).for_each(|ngram| counts.entry(ngram, ngram.hash()).times += 1);
        }
    });
}

impl Model {
    /// Learns from counts of occurrences.
    fn of(mut counts: Counts, threads: usize) -> Self {
        let order = counts.len();
        for longer in 1..order {
            let (shorter, longer) = counts.split_at_mut(longer);
            for (ngram, _) in longer[0].iter() {
                let end = ngram.suffix();
                shorter[shorter.len() - 1].entry(end, end.hash()).left += 1;
            }
        }
        let of_histories = map_each(order, threads, || (), |(), shorter| histories(&counts[shorter], order));
        let orders = counts.into_iter().zip(of_histories);
        Self { orders: orders.map(|(ngrams, (histories, spectrum))| Order { ngrams, histories, spectrum }).collect() }
    }

    fn order(&self) -> usize {
        self.orders.len()
    }

    fn count(&self, ngram: Ngram) -> Count {
        self.orders[ngram.order() - 1].ngrams.get(ngram).unwrap_or_default()
    }

    fn history(&self, key: Ngram) -> History {
        self.orders[key.order() - 1].histories.get(key).unwrap_or_default()
    }

    /// The model of the references without these, the same as if it had never learnt from them.
    fn without<'a>(&self, sentences: impl Iterator<Item = &'a [Word]>) -> View<'_> {
        let mut removed = HashTable::<Ngram, Count>::with_capacity(0);
        for words in sentences.filter(|words| !words.is_empty()) {
            let marked = marked(words);
            let all = (1..=self.order()).flat_map(|order| ngrams(&marked, order));
            all.for_each(|ngram| removed.entry(ngram, ngram.hash()).times += 1);
        }
        // What occurs nowhere else is a word less before its end.
        let only_here = |&(ngram, count): &(Ngram, Count)| ngram.order() > 1 && count.times == self.count(ngram).times;
        let vanishing: Vec<_> = removed.iter().filter(only_here).map(|(ngram, _)| ngram.suffix()).collect();
        for end in vanishing {
            removed.entry(end, end.hash()).left += 1;
        }
        let mut view = View::of(self, removed.iter().count());
        for (ngram, count) in removed.iter() {
            view.remove(ngram, adjusted(ngram, count, self.order()));
        }
        view
    }
}

/// The count that the formula uses, in a model of that order.
fn adjusted(ngram: Ngram, count: Count, order: usize) -> u32 {
    if ngram.order() == order || ngram.words().next() == Some(START) { count.times } else { count.left }
}

fn histories(counts: &HashTable<Ngram, Count>, order: usize) -> (HashTable<Ngram, History>, Spectrum) {
    let (mut histories, mut spectrum) = (HashTable::<Ngram, History>::with_capacity(0), Spectrum::default());
    for (ngram, count) in counts.iter() {
        let (key, count) = (history_of(ngram), adjusted(ngram, count, order));
        histories.entry(key, key.hash()).change(0, count);
        spectrum.change(0, count);
    }
    (histories, spectrum)
}

/// A model, and what is different in it where sentences were taken out.
struct View<'a> {
    model: &'a Model,
    counts: HashTable<Ngram, u32>,
    histories: HashTable<Ngram, History>,
    spectra: Vec<Spectrum>,
}

impl<'a> View<'a> {
    fn of(model: &'a Model, differences: usize) -> Self {
        Self {
            model,
            counts: HashTable::with_capacity(differences),
            histories: HashTable::with_capacity(differences),
            spectra: model.orders.iter().map(|order| order.spectrum).collect(),
        }
    }

    fn remove(&mut self, ngram: Ngram, count: u32) {
        let before = self.count(ngram);
        // What was never learnt, by a model from elsewhere, cannot be taken out.
        let after = before.saturating_sub(count);
        *self.counts.entry(ngram, ngram.hash()) = after;
        let key = history_of(ngram);
        let mut history = self.history(key);
        history.change(before, after);
        *self.histories.entry(key, key.hash()) = history;
        self.spectra[ngram.order() - 1].change(before, after);
    }

    fn count(&self, ngram: Ngram) -> u32 {
        let unchanged = || adjusted(ngram, self.model.count(ngram), self.model.order());
        self.counts.get(ngram).unwrap_or_else(unchanged)
    }

    fn history(&self, key: Ngram) -> History {
        self.histories.get(key).unwrap_or_else(|| self.model.history(key))
    }

    /// Distinct words learnt, the end of a sentence among them.
    fn words(&self) -> u32 {
        self.history(Ngram::new(&[ANY])).words.iter().sum()
    }

    /// Probability of the last word after those before it, the first of which begins the sentence.
    fn probability(&self, marked: &[Word], discounts: &[[f64; 3]]) -> f64 {
        // Every word, the end of a sentence among them, and one more for all words that are unknown.
        let mut probability = 1.0 / f64::from(self.words() + 1);
        for (order, discounts) in (1..=marked.len()).zip(discounts) {
            let ngram = Ngram::new(&marked[marked.len() - order..]);
            let history = self.history(history_of(ngram));
            if history.total == 0 {
                break;
            }
            let count = self.count(ngram);
            let discount = if count == 0 { 0.0 } else { discounts[count.min(3) as usize - 1] };
            let reserved: f64 = discounts.iter().zip(history.words).map(|(discount, n)| discount * f64::from(n)).sum();
            probability = (f64::from(count) - discount + reserved * probability) / f64::from(history.total);
        }
        probability
    }

    /// Geometric mean of the probabilities of a sentence's words and its end; 0 without words, or if nothing was learnt.
    fn geometric_mean(&self, words: &[Word]) -> f64 {
        if words.is_empty() || self.words() == 0 {
            return 0.0;
        }
        let discounts: Vec<_> = self.spectra.iter().map(|spectrum| spectrum.discounts()).collect();
        let marked = marked(words);
        let logarithms = (2..=marked.len()).map(|end| self.probability(&marked[..end], &discounts).ln());
        (logarithms.sum::<f64>() / (words.len() + 1) as f64).exp()
    }
}

// A model of references that come in parts, by words rather than by the numbers that each part gives them.

const FORMAT: Format<5> = Format { name: "a language model", magic: mark::LANGUAGE_MODEL, version: 1 };

/// Stands for all words that a model never met.
const UNKNOWN: Word = Word::MAX - 4;

/// Counts of n-grams in the references of some images.
#[derive(Debug)]
pub struct LanguageCounts {
    /// Number of images that were learnt from.
    pub images: u64,
    /// Words with the ends of sentences.
    length: u64,
    vocabulary: Vocabulary,
    counts: Counts,
    /// What cuts the captions that it learns from, if these are not the references being scored.
    pub tokenizer: Option<Tokenizer>,
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
    /// Number of images that it learnt from.
    pub images: u64,
    length: u64,
    /// The words that it learnt.
    pub vocabulary: Vocabulary,
    model: Model,
    /// What cut the captions that it learnt from, if they are not the references being scored.
    pub tokenizer: Option<Tokenizer>,
}

impl Resource for LanguageModel {
    const NAME: &'static str = "a language model";
}

impl LanguageModel {
    /// The longest n-gram.
    pub fn order(&self) -> usize {
        self.model.orders.len()
    }

    /// The model as bytes: [`LanguageCounts::from_bytes`] reads them.
    pub fn to_bytes(&self) -> Vec<u8> {
        let counts = self.model.orders.iter().map(|order| &order.ngrams);
        written([self.order() as u64, self.images, self.length], self.tokenizer, &self.vocabulary, counts)
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
    let is_known = |word: Word| u64::from(word) < words || word == START || word == END;
    let (keys, times) = (keys.as_chunks().0, times.as_chunks().0);
    let mut totals = [0_u64; MAX_ORDER];
    for (&key, &count) in keys.iter().zip(times) {
        let whole = key.as_chunks::<4>().0.iter().skip_while(|word| **word != [0; 4]).all(|word| *word == [0; 4]);
        let (ngram, count) = (Ngram::from_key(u128::from_le_bytes(key)), u32::from_le_bytes(count));
        let fits = whole && (1..=order).contains(&ngram.order()) && ngram.words().all(is_known);
        let order = fits.then(|| ngram.order() - 1)?;
        totals[order] += u64::from(count);
        read.counts[order].entry(ngram, ngram.hash()).times = count;
    }
    let fits = keys.len() == times.len() && totals.iter().all(|&total| total <= length);
    (fits && u32::try_from(length).is_ok()).then_some(read)
}

#[cfg(test)]
mod tests {

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
        let (mut references, mut candidates) = (CaptionsBuilder::default(), CaptionsBuilder::default());
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
            learns_own in any::<bool>(),
            cut in any::<prop::sample::Index>(),
            more in any::<prop::sample::Index>(),
        ) {
            let fluency = Fluency { order, learns_own };
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
            prop_assert_eq!(later.images, images.len() as u64);
            let model = later.finish(2);
            let model = Arc::new(LanguageCounts::from_bytes(&model.to_bytes()).unwrap().finish(1));
            prop_assert_eq!(model.images, images.len() as u64);
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
            let mut merged = LanguageCounts::new(order);
            if merged.merge(counts, PLENTY, 1).is_ok() {
                let model = Arc::new(merged.finish(1));
                scores(&corpus(&images, 0..images.len()), Fluency { order, learns_own: false }, Some(&model));
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
        let refused = evaluate(&corpus(&images, 0..4), &[&Fluency { order: 3, learns_own: true }], &resources);
        assert_eq!(refused.unwrap_err().1.0, "needs a language model of order 3, which were not given");
    }

    #[test]
    fn a_model_of_other_references_takes_nothing_out() {
        let images = example();
        let model = Arc::new(counts(&images, 0..1, 3).finish(1));
        let found = scores(&corpus(&images, 1..4), Fluency { order: 3, learns_own: false }, Some(&model));
        assert_eq!(found.len(), 2 * 3);
    }
}
