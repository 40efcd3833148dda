//! n-grams of up to four words, and their counts in the sentences of one image.

use crate::vocabulary::Word;

/// The longest n-gram: four 32-bit words fill the 128-bit key, which makes keys exact.
pub const MAX_ORDER: usize = 4;

/// An n-gram: word numbers plus one, packed; zero means "no word", so orders never collide.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ngram(u128);

impl Ngram {
    /// The n-gram of these words (at most [`MAX_ORDER`]).
    pub fn new(words: &[Word]) -> Self {
        words.iter().fold(Self::default(), |ngram, &word| ngram.push(word))
    }

    /// This n-gram with one more word at its end.
    #[must_use]
    pub fn push(self, word: Word) -> Self {
        Self(self.0 << 32 | (u128::from(word) + 1))
    }

    /// Number of words.
    pub fn order(self) -> usize {
        (128 - self.0.leading_zeros() as usize).div_ceil(32)
    }

    /// The words, first to last.
    pub fn words(self) -> impl Iterator<Item = Word> {
        (0..self.order()).rev().map(move |k| (self.0 >> (32 * k)) as Word - 1)
    }

    /// A well-mixed 64-bit hash: two folded multiplications.
    pub fn hash(self) -> u64 {
        let fold = |a: u64, b: u64| {
            let product = u128::from(a) * u128::from(b);
            (product >> 64) as u64 ^ product as u64
        };
        let low = fold(self.0 as u64 ^ 0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93);
        fold(low ^ (self.0 >> 64) as u64 ^ 0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db)
    }

    /// The packed key.
    pub fn key(self) -> u128 {
        self.0
    }

    /// The n-gram of a packed key.
    pub fn from_key(key: u128) -> Self {
        Self(key)
    }
}

/// Calls `visit` with every n-gram of the sentence, of orders 1 to `order`.
pub fn each_ngram(words: &[Word], stems: Option<&[Word]>, order: usize, mut visit: impl FnMut(Ngram)) {
    for start in 0..words.len() {
        let mut ngram = Ngram::default();
        for &word in &words[start..words.len().min(start + order)] {
            ngram = ngram.push(stems.map_or(word, |stems| stems[word as usize]));
            visit(ngram);
        }
    }
}

/// The distinct n-grams of an image's sentences, numbered, and each sentence's counts of them.
#[derive(Debug, Default)]
pub struct ImageNgrams {
    ngrams: Vec<Ngram>,
    entries: Vec<Entry>,
    /// Entries of sentence `s` and order `n` end at `ends[s][n - 1]`; they begin where the one before ends.
    ends: Vec<[u32; MAX_ORDER]>,
}

/// How often a sentence holds an n-gram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The n-gram's number within the image.
    pub ngram: u32,
    /// Its count in the sentence.
    pub count: u32,
}

impl ImageNgrams {
    /// Counts the n-grams of all sentences of an image, after mapping words to `stems` where given.
    pub fn count<'a>(sentences: impl Iterator<Item = &'a [Word]> + Clone, stems: Option<&[Word]>) -> Self {
        let occurrences: usize = sentences.clone().map(|words| words.len() * MAX_ORDER).sum();
        let mut numbering = Numbering::with_capacity(occurrences);
        let mut image = Self { entries: Vec::with_capacity(occurrences), ..Self::default() };
        for words in sentences {
            image.push(words, stems, &mut numbering);
        }
        image.ngrams = numbering.ngrams;
        image
    }

    fn push(&mut self, words: &[Word], stems: Option<&[Word]>, numbering: &mut Numbering) {
        let stemmed: Vec<Word>;
        let words = match stems {
            Some(stems) => {
                stemmed = words.iter().map(|&word| stems[word as usize]).collect();
                &stemmed
            }
            None => words,
        };
        let mut ends = [0; MAX_ORDER];
        for order in 1..=MAX_ORDER {
            let first_entry = self.entries.len() as u32;
            for window in words.windows(order) {
                let number = numbering.number(Ngram::new(window));
                let entry = &mut numbering.entry[number as usize];
                if *entry != u32::MAX && *entry >= first_entry {
                    self.entries[*entry as usize].count += 1;
                } else {
                    *entry = self.entries.len() as u32;
                    self.entries.push(Entry { ngram: number, count: 1 });
                }
            }
            ends[order - 1] = self.entries.len() as u32;
        }
        self.ends.push(ends);
    }

    /// The distinct n-grams of the image, by number.
    pub fn ngrams(&self) -> &[Ngram] {
        &self.ngrams
    }

    /// Distinct n-grams of order `order` in sentence number `sentence`, with counts.
    pub fn entries(&self, sentence: usize, order: usize) -> &[Entry] {
        let start = match (sentence, order) {
            (0, 1) => 0,
            (_, 1) => self.ends[sentence - 1][MAX_ORDER - 1],
            _ => self.ends[sentence][order - 2],
        };
        &self.entries[start as usize..self.ends[sentence][order - 1] as usize]
    }
}

/// Open addressing from n-gram to number within the image.
struct Numbering {
    slots: Vec<u32>,
    ngrams: Vec<Ngram>,
    /// Where the sentence last counted put this n-gram among the entries.
    entry: Vec<u32>,
}

impl Numbering {
    fn with_capacity(occurrences: usize) -> Self {
        let slots = (occurrences * 2).next_power_of_two().max(16);
        Self {
            slots: vec![u32::MAX; slots],
            ngrams: Vec::with_capacity(occurrences / 2),
            entry: Vec::with_capacity(occurrences / 2),
        }
    }

    fn number(&mut self, ngram: Ngram) -> u32 {
        let mask = self.slots.len() - 1;
        let mut slot = ngram.hash() as usize & mask;
        loop {
            match self.slots[slot] {
                u32::MAX => {
                    let number = self.ngrams.len() as u32;
                    self.slots[slot] = number;
                    self.ngrams.push(ngram);
                    self.entry.push(u32::MAX);
                    return number;
                }
                number if self.ngrams[number as usize] == ngram => return number,
                _ => slot = (slot + 1) & mask,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_words_come_back() {
        for words in [vec![0], vec![0, 0], vec![7, 0, 4_000_000_000], vec![1, 2, 3, 4]] {
            let ngram = Ngram::new(&words);
            assert_eq!(ngram.order(), words.len());
            assert_eq!(ngram.words().collect::<Vec<_>>(), words);
        }
    }

    #[test]
    fn counts_are_per_sentence_and_numbers_per_image() {
        let (first, second) = ([1, 2, 1, 2], [2, 1]);
        let image = ImageNgrams::count([&first[..], &second[..]].into_iter(), None);
        let counts = |sentence, order| {
            let mut counts: Vec<_> = image
                .entries(sentence, order)
                .iter()
                .map(|entry| (image.ngrams()[entry.ngram as usize].words().collect::<Vec<_>>(), entry.count))
                .collect();
            counts.sort();
            counts
        };
        assert_eq!(counts(0, 1), [(vec![1], 2), (vec![2], 2)]);
        assert_eq!(counts(0, 2), [(vec![1, 2], 2), (vec![2, 1], 1)]);
        assert_eq!(counts(1, 2), [(vec![2, 1], 1)]);
        assert!(counts(1, 3).is_empty());
    }
}
