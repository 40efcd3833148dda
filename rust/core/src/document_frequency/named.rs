//! Document frequencies with a vocabulary of their own, so that they can be saved, merged and used on any corpus.

use rustc_hash::FxHashMap;

use super::count::document_counts;
use super::{Documents, Frequencies, Idf};
use crate::Refused;
use crate::text::ngram::{ImageNgrams, MAX_ORDER, Ngram};
use crate::text::sentences::Sentences;
use crate::text::vocabulary::{Vocabulary, Word};

/// The tokenizer of frequencies that came from elsewhere.
pub const UNKNOWN: &str = "unknown";

/// The tokenizer of frequencies of token ids.
const TOKEN_IDS: &str = "token-ids";

/// Token ids index an array, which a stray huge number must not inflate.
const LARGEST_ID: u32 = 1 << 24;

/// What is counted; frequencies of different kinds cannot be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kind {
    /// The longest n-gram.
    pub order: usize,
    /// Whether the words are stems, as CIDEr wants them, or word forms, as CIDEr-D does.
    pub stem: bool,
    /// The tokenizer behind the words.
    pub tokenizer: String,
}

impl Kind {
    pub(super) fn of(documents: Documents<'_>, order: usize) -> Self {
        Self { order, stem: documents.stem, tokenizer: documents.tokenizer.name().to_owned() }
    }

    /// Whether counts of this kind and of another can be added.
    pub(super) fn check(&self, other: &Self) -> Result<(), Refused> {
        let words =
            |kind: &Self| format!("{} (tokenizer {})", if kind.stem { "stems" } else { "tokens" }, kind.tokenizer);
        if self.order != other.order {
            return Err(Refused(format!(
                "document frequencies of n-grams up to {} cannot be added to those up to {}; build both with the same n",
                self.order, other.order
            )));
        }
        if self == other {
            return Ok(());
        }
        let [these, those] = [self, other].map(words);
        Err(Refused(format!(
            "document frequencies of {these} cannot be added to those of {those}; build both with the same tokenizer, and \
             both of stems or both of word forms"
        )))
    }
}

pub(super) fn overflow() -> Refused {
    Refused(format!("an n-gram's document frequency exceeds {}", u32::MAX))
}

/// Document frequencies keyed by words. Words are numbered in alphabetical order, so that equal contents always give
/// equal bytes.
#[derive(Debug, Clone)]
pub struct DocumentFrequency {
    /// What is counted.
    pub kind: Kind,
    pub(super) words: Vocabulary,
    pub(super) frequencies: Frequencies,
    pub(super) idf: Idf,
}

/// The vocabulary in alphabetical order, and each word's new number.
pub(super) fn sorted(words: &[&str]) -> (Vocabulary, Vec<Word>) {
    let mut order: Vec<usize> = (0..words.len()).collect();
    order.sort_unstable_by_key(|&word| words[word]);
    let mut sorted = Vocabulary::default();
    let mut numbers = vec![0; words.len()];
    for word in order {
        numbers[word] = sorted.intern(words[word]);
    }
    (sorted, numbers)
}

impl DocumentFrequency {
    /// Counts all n-grams of orders 1 to `order` in the sentences of each image.
    pub fn build(documents: Documents<'_>, order: usize, threads: usize) -> Self {
        let Documents { sentences, vocabulary, .. } = documents;
        let counts = document_counts(sentences, order, 1, false, threads).ngrams.concat();
        let words: Vec<&str> = vocabulary.words().collect();
        Self::of(Kind::of(documents, order), &words, counts, sentences.image_count() as u64)
    }

    /// Counts over references given as token ids, one image's after the other's (`sizes` says how many each has); the
    /// words are the ids in decimal.
    pub fn from_token_ids(references: &[&[Word]], sizes: &[usize], order: usize, threads: usize) -> Self {
        let mut vocabulary = Vocabulary::default();
        let (mut words, mut ends) = (Vec::new(), Vec::new());
        for ids in references {
            words.extend(ids.iter().map(|id| vocabulary.intern(&id.to_string())));
            ends.push(words.len());
        }
        let sentences = Sentences::from_words(sizes.iter().copied(), words, ends);
        let counts = document_counts(&sentences, order, 1, false, threads).ngrams.concat();
        let words: Vec<&str> = vocabulary.words().collect();
        let kind = Kind { order, stem: false, tokenizer: TOKEN_IDS.to_owned() };
        Self::of(kind, &words, counts, sentences.image_count() as u64)
    }

    /// Builds from counts of n-grams over any numbering of distinct words, cut by an unknown tokenizer; words that all
    /// are whole numbers are token ids.
    pub fn from_counts(words: &[&str], counts: Vec<(Ngram, u32)>, documents: u64, order: usize) -> Self {
        let is_id = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
        let tokenizer = if !words.is_empty() && words.iter().all(is_id) { TOKEN_IDS } else { UNKNOWN };
        Self::of(Kind { order, stem: false, tokenizer: tokenizer.to_owned() }, words, counts, documents)
    }

    pub(super) fn of(kind: Kind, words: &[&str], counts: Vec<(Ngram, u32)>, documents: u64) -> Self {
        let (words, numbers) = sorted(words);
        let entries: Vec<_> = counts.into_iter().map(|(ngram, count)| (renumber(ngram, &numbers), count)).collect();
        Self::new(kind, words, Frequencies::from_entries(documents, &[entries]))
    }

    /// `words` are in alphabetical order.
    pub(super) fn new(kind: Kind, words: Vocabulary, frequencies: Frequencies) -> Self {
        let idf = Idf::new(frequencies.documents());
        Self { kind, words, frequencies, idf }
    }

    /// Number of documents (images) behind the counts: the N of the IDF.
    pub fn documents(&self) -> u64 {
        self.frequencies.documents()
    }

    /// Number of distinct n-grams.
    pub fn ngram_count(&self) -> usize {
        self.frequencies.ngram_count()
    }

    /// Number of distinct words.
    pub fn word_count(&self) -> usize {
        self.words.len()
    }

    /// The counts, by the numbers of the words.
    pub fn frequencies(&self) -> &Frequencies {
        &self.frequencies
    }

    /// The weights of the counts.
    pub fn idf(&self) -> &Idf {
        &self.idf
    }

    /// The words, in alphabetical order.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.words()
    }

    /// In how many documents the n-gram of these words occurs.
    pub fn count(&self, words: &[&str]) -> u32 {
        if words.len() > MAX_ORDER {
            return 0;
        }
        let numbers: Option<Vec<Word>> = words.iter().map(|word| self.words.number(word)).collect();
        numbers.map_or(0, |numbers| self.frequencies.get(Ngram::new(&numbers)))
    }

    /// The sum: what building over both sets of references at once would give, as long as they share no image.
    pub fn merge(&self, other: &Self) -> Result<Self, Refused> {
        self.kind.check(&other.kind)?;
        let mut union = Vocabulary::default();
        let mut counts: FxHashMap<Ngram, u32> = FxHashMap::default();
        for side in [self, other] {
            let numbers: Vec<Word> = side.words().map(|word| union.intern(word)).collect();
            for (ngram, count) in side.frequencies.iter() {
                let sum = counts.entry(renumber(ngram, &numbers)).or_default();
                *sum = sum.checked_add(count).ok_or_else(overflow)?;
            }
        }
        let documents = self.documents() + other.documents();
        let words: Vec<&str> = union.words().collect();
        Ok(Self::of(self.kind.clone(), &words, counts.into_iter().collect(), documents))
    }

    /// Look-ups by the word numbers of another vocabulary.
    pub fn lookup<'w>(&self, words: impl Iterator<Item = &'w str>) -> Lookup {
        let counted = |word| {
            let number = self.words.number(word)?;
            Some((number, self.frequencies.get(Ngram::new(&[number]))))
        };
        let of_texts = ![UNKNOWN, TOKEN_IDS].contains(&&*self.kind.tokenizer);
        Lookup { words: words.map(counted).collect(), frequencies: self.frequencies.clone(), of_texts }
    }

    /// The number of each token id, where every word is one in decimal; otherwise a word that is not.
    pub fn token_ids(&self) -> Result<Vec<Option<Word>>, String> {
        let mut words = Vec::new();
        for (word, number) in self.words().zip(0..) {
            let id = word.parse().ok().filter(|id: &u32| *id <= LARGEST_ID && id.to_string() == word);
            let id = id.ok_or_else(|| word.to_owned())? as usize;
            words.resize(words.len().max(id + 1), None);
            words[id] = Some(number);
        }
        Ok(words)
    }
}

pub(super) fn renumber(ngram: Ngram, numbers: &[Word]) -> Ngram {
    ngram.words().fold(Ngram::default(), |ngram, word| ngram.push(numbers[word as usize]))
}

/// Document frequencies as a corpus asks for them, by its own word numbers.
#[derive(Debug, Clone)]
pub struct Lookup {
    frequencies: Frequencies,
    /// For each word, its number among those counted, and its count.
    words: Vec<Option<(Word, u32)>>,
    /// Whether they were counted here, so that no n-gram is in more documents than the one that it begins with. What was
    /// imported may say anything.
    of_texts: bool,
}

impl Lookup {
    /// In how many documents each of an image's n-grams occurs, by its number there.
    ///
    /// One order after the other, so that nothing is looked up that begins with an n-gram which is in no document. The
    /// look-ups of an order are made together.
    pub fn of_image(&self, ngrams: &ImageNgrams) -> Vec<u32> {
        let (known, by_order) = self.all_known(ngrams);
        let mut counts = vec![0; ngrams.distinct()];
        for &number in &by_order[0] {
            counts[number as usize] = self.words[ngrams.last_word(number) as usize].map_or(0, |(_, count)| count);
        }
        for mut numbers in by_order.into_iter().skip(1) {
            if self.of_texts {
                numbers.retain(|&number| ngrams.prefix(number).is_some_and(|prefix| counts[prefix as usize] > 0));
            }
            let asked: Vec<Ngram> = numbers.iter().map(|&number| known[number as usize]).collect();
            for (number, count) in numbers.into_iter().zip(self.frequencies.get_all(&asked)) {
                counts[number as usize] = count;
            }
        }
        counts
    }

    /// An image's n-grams by the numbers of the counted words, and which of each order have counted words alone.
    fn all_known(&self, ngrams: &ImageNgrams) -> (Vec<Ngram>, [Vec<u32>; MAX_ORDER]) {
        let mut known = Vec::with_capacity(ngrams.distinct());
        let mut by_order: [Vec<u32>; MAX_ORDER] = Default::default();
        for number in 0..ngrams.distinct() as u32 {
            let word = self.words.get(ngrams.last_word(number) as usize).copied().flatten();
            let before = ngrams.prefix(number).map(|prefix| known[prefix as usize]);
            let ngram = match word {
                Some((word, _)) if before != Some(Ngram::default()) => before.unwrap_or_default().push(word),
                _ => Ngram::default(),
            };
            known.push(ngram);
            if ngram != Ngram::default() {
                by_order[ngram.order() - 1].push(number);
            }
        }
        (known, by_order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::ngram::NgramCounter;
    use proptest::prelude::*;

    impl Lookup {
        /// In how many documents the n-gram of the corpus occurs; 0 when never.
        pub(in super::super) fn get(&self, ngram: Ngram) -> u32 {
            self.known(ngram).map_or(0, |ngram| self.frequencies.get(ngram))
        }

        /// The n-gram by the numbers of the counted words; None where one was not counted.
        fn known(&self, ngram: Ngram) -> Option<Ngram> {
            let mut words = ngram.words();
            words.try_fold(Ngram::default(), |known, word| {
                let (word, _) = (*self.words.get(word as usize)?)?;
                Some(known.push(word))
            })
        }
    }

    proptest! {
        /// Those that were counted, of which some may be left out, and those that came from elsewhere and say anything.
        #[test]
        fn an_image_is_looked_up_as_each_of_its_ngrams(
            documents in prop::collection::vec(prop::collection::vec(0_u32..5, 1..7), 1..8),
            imported in prop::collection::vec((prop::collection::vec(0_u32..5, 1..5), 0_u32..9), 0..30),
            sentences in prop::collection::vec(prop::collection::vec(0_u32..7, 0..7), 1..4),
            minimum in 1_u32..3,
        ) {
            let words = ["a", "b", "c", "d", "e", "f", "g"];
            let ends = documents.iter().scan(0, |end, own| { *end += own.len(); Some(*end) }).collect();
            let corpus = Sentences::from_words(documents.iter().map(|_| 1), documents.concat(), ends);
            let counts = document_counts(&corpus, MAX_ORDER, minimum, false, 1).ngrams.concat();
            let counted = DocumentFrequency::from_counts(&words[..5], counts, documents.len() as u64, MAX_ORDER);
            let counted = DocumentFrequency { kind: Kind { tokenizer: "ptb".to_owned(), ..counted.kind }, ..counted };
            let distinct: FxHashMap<_, _> = imported.iter().map(|(words, count)| (Ngram::new(words), *count)).collect();
            let imported = DocumentFrequency::from_counts(&words[..5], distinct.into_iter().collect(), 9, MAX_ORDER);
            let ngrams = NgramCounter::default().count([].into_iter(), sentences.iter().map(|words| &words[..]));
            for frequencies in [counted, imported] {
                let lookup = frequencies.lookup(words.into_iter());
                let each: Vec<u32> = ngrams.ngrams().into_iter().map(|ngram| lookup.get(ngram)).collect();
                prop_assert_eq!(lookup.of_image(&ngrams), each);
            }
        }
    }
}
