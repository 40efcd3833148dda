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

use crate::corpus::Corpus;
use crate::engine::{Built, Kernel, Parameters, Prepared, Resources, mean_of};
use crate::numeric::hash_table::{HashTable, Key};
use crate::numeric::interrupt::check;
use crate::numeric::parallel::{map_mut, map_parts};
use crate::text::ngram::{MAX_ORDER, Ngram};
use crate::text::vocabulary::Word;

mod learned;

pub use learned::{LanguageCounts, LanguageModel};

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
    own: bool,
}

/// Builds fluency: `n`, the model's order, and `own`.
pub(crate) fn build(parameters: &mut Parameters) -> Built {
    Ok(Box::new(Fluency { order: parameters.count("n", 1..=MAX_ORDER)?, own: parameters.flag("own")? }))
}

impl Kernel for Fluency {
    /// The model is of the corpus' own references, unless one is given; one that is kept learnt from none of them.
    fn prepare<'a>(&'a self, corpus: &'a Corpus, resources: &'a Resources) -> Prepared<'a> {
        if let Some(learned) = resources.get::<LanguageModel>() {
            let model = learned.of_order(self.order)?;
            let numbers = learned.numbers(&corpus.vocabulary);
            let own_learnt = !self.own && learned.tokenizer.is_none();
            let numbered = move |words: &[Word]| words.iter().map(|&word| numbers[word as usize]).collect::<Vec<_>>();
            return Ok(mean_of(move |image, candidate| {
                let own: Vec<_> = image.references().filter(|_| own_learnt).map(&numbered).collect();
                model.without(own.iter().map(Vec::as_slice)).geometric_mean(&numbered(image.candidate(candidate)))
            }));
        }
        let sentences = &corpus.references.sentences;
        let sentences: Vec<_> = (0..sentences.sentence_count()).map(|number| sentences.words(number)).collect();
        let model = Model::train(&sentences, self.order, resources.threads());
        Ok(mean_of(move |image, candidate| {
            let view = if self.own { model.whole() } else { model.without(image.references()) };
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
    /// Learns from all sentences that have words.
    fn train(sentences: &[&[Word]], order: usize, threads: usize) -> Self {
        let mut counts = no_counts(order);
        count(&mut counts, sentences, threads);
        Self::of(counts, threads)
    }

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
        let known = map_each(order, threads, |k| histories(&counts[k], order));
        let orders = counts.into_iter().zip(known);
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

    /// The model of all references.
    fn whole(&self) -> View<'_> {
        View::of(self, 0)
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

fn map_each<R: Send>(len: usize, threads: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let checked = |number| {
        check();
        work(number)
    };
    map_parts(len, threads, |range| range.map(checked).collect::<Vec<_>>()).into_iter().flatten().collect()
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
