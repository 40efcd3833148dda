//! n-grams of up to four words, and their counts in the sentences of one image.

use crate::numeric::hash_table::Key;
use crate::text::vocabulary::Word;

/// The longest n-gram: four 32-bit words fill the 128-bit key, which makes keys exact.
pub const MAX_ORDER: usize = 4;

/// An n-gram: word numbers plus one, packed; zero means "no word", so orders never collide. Aligned like a count, so that
/// the two together take 20 bytes, not 32: tables of them are mostly waiting for memory.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(Rust, packed(4))]
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

    /// This n-gram without its last word.
    #[must_use]
    pub fn prefix(self) -> Self {
        Self(self.0 >> 32)
    }

    /// This n-gram without its first word.
    #[must_use]
    pub fn suffix(self) -> Self {
        let words_left = self.order().saturating_sub(1);
        Self(self.0 & ((1_u128 << (32 * words_left)) - 1))
    }

    /// Number of words.
    pub fn order(self) -> usize {
        (128 - self.0.leading_zeros() as usize).div_ceil(32)
    }

    /// The words, first to last.
    pub fn words(self) -> impl Iterator<Item = Word> {
        (0..self.order()).rev().map(move |k| (self.0 >> (32 * k)) as Word - 1)
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

impl Key for Ngram {
    /// Two folded multiplications.
    fn hash(self) -> u64 {
        let low = fold(self.0 as u64 ^ 0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93);
        fold(low ^ (self.0 >> 64) as u64 ^ 0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db)
    }
}

/// Both halves of the 128-bit product, folded: every bit of `a` affects every bit of the result.
pub(crate) fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}

/// The distinct n-grams of an image's sentences, numbered, and each sentence's counts of them.
#[derive(Debug, Default)]
pub struct ImageNgrams {
    /// Of each n-gram, the number plus one of the n-gram without its last word (0 if there is none), and the last word.
    keys: Vec<u64>,
    places: Vec<u32>,
    entries: Vec<Entry>,
    /// Entries of sentence `s` and order `n` end at `ends[s][n - 1]`; they begin where the one before ends.
    ends: Vec<[u32; MAX_ORDER]>,
}

/// Marks an n-gram that no reference holds.
const NOWHERE: u32 = u32::MAX;

/// How often a sentence holds an n-gram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The n-gram's number within the image.
    pub ngram: u32,
    /// Its count in the sentence.
    pub count: u32,
}

impl ImageNgrams {
    /// Number of distinct n-grams.
    pub fn distinct(&self) -> usize {
        self.keys.len()
    }

    /// The number of the n-gram without its last word, which is smaller than its own.
    pub fn prefix(&self, ngram: u32) -> Option<u32> {
        ((self.keys[ngram as usize] >> 32) as u32).checked_sub(1)
    }

    /// Its last word.
    pub fn last_word(&self, ngram: u32) -> Word {
        self.keys[ngram as usize] as Word
    }

    /// The n-gram of that number.
    pub fn ngram(&self, ngram: u32) -> Ngram {
        self.prefix(ngram).map_or(Ngram::default(), |prefix| self.ngram(prefix)).push(self.last_word(ngram))
    }

    /// All n-grams, by number.
    pub fn ngrams(&self) -> Vec<Ngram> {
        let mut ngrams: Vec<Ngram> = Vec::with_capacity(self.distinct());
        for number in 0..self.distinct() as u32 {
            let prefix = self.prefix(number).map_or(Ngram::default(), |prefix| ngrams[prefix as usize]);
            ngrams.push(prefix.push(self.last_word(number)));
        }
        ngrams
    }

    /// A place where the n-gram starts among the words of the references; None if no reference holds it.
    pub fn place(&self, ngram: u32) -> Option<usize> {
        let place = self.places[ngram as usize];
        (place != NOWHERE).then_some(place as usize)
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

/// Counts the n-grams of one image after another. What an image needs is small and short-lived, so the tables are kept
/// from image to image and never cleared: a slot counts as taken only if it bears the current image's stamp.
#[derive(Debug, Default)]
pub struct NgramCounter {
    slots: Vec<Slot>,
    stamp: u32,
    /// Of each n-gram, the place after its last entry.
    last_entry: Vec<u32>,
    /// The place where the numbers of the n-grams of the order before start in the sentence at hand.
    starts: Vec<u32>,
    spare: Vec<ImageNgrams>,
    /// Longest n-grams that are not counted, as nobody wants them.
    left_out: usize,
}

#[derive(Debug, Default, Clone, Copy)]
struct Slot {
    stamp: u32,
    ngram: u32,
}

impl NgramCounter {
    /// One that counts n-grams of up to `order` words; of longer ones there are no entries.
    pub fn up_to(order: usize) -> Self {
        Self { left_out: MAX_ORDER - order, ..Self::default() }
    }

    /// Counts the n-grams of an image's candidates, then of its references.
    pub fn count<'a>(
        &mut self,
        candidates: impl Iterator<Item = &'a [Word]> + Clone,
        references: impl Iterator<Item = &'a [Word]> + Clone,
    ) -> ImageNgrams {
        let words: usize = candidates.clone().chain(references.clone()).map(<[Word]>::len).sum();
        self.start(words * (MAX_ORDER - self.left_out));
        let mut image = self.spare.pop().unwrap_or_default();
        for words in candidates {
            self.count_sentence(words, None, &mut image);
        }
        let mut first = 0;
        for words in references {
            self.count_sentence(words, Some(first), &mut image);
            first += words.len() as u32;
        }
        image
    }

    /// Takes counts back, whose memory the next image can use.
    pub fn recycle(&mut self, mut image: ImageNgrams) {
        image.keys.clear();
        image.places.clear();
        image.entries.clear();
        image.ends.clear();
        self.spare.push(image);
    }

    fn start(&mut self, occurrences: usize) {
        let room = (2 * occurrences).next_power_of_two().max(16);
        self.stamp = self.stamp.wrapping_add(1);
        if self.slots.len() < room || self.stamp == 0 {
            self.stamp = 1;
            self.slots = vec![Slot::default(); room.max(self.slots.len())];
        }
        self.last_entry.clear();
    }

    /// `first`: where the sentence starts among the words of the references; None for a candidate.
    fn count_sentence(&mut self, words: &[Word], first: Option<u32>, image: &mut ImageNgrams) {
        let mut ends = [0; MAX_ORDER];
        self.starts.clear();
        self.starts.resize(words.len(), 0);
        let longest = MAX_ORDER - self.left_out;
        for order in 1..=longest {
            let first_entry = image.entries.len() as u32;
            for start in 0..(words.len() + 1).saturating_sub(order) {
                let prefix = (order > 1).then(|| self.starts[start]);
                let ngram = self.number(prefix, words[start + order - 1], image);
                self.starts[start] = ngram;
                // Candidates come first: a reference's place is not lost again.
                image.places[ngram as usize] = first.map_or(NOWHERE, |first| first + start as u32);
                let last = &mut self.last_entry[ngram as usize];
                if *last > first_entry {
                    image.entries[*last as usize - 1].count += 1;
                } else {
                    image.entries.push(Entry { ngram, count: 1 });
                    *last = image.entries.len() as u32;
                }
            }
            ends[order - 1] = image.entries.len() as u32;
        }
        ends[longest..].fill(image.entries.len() as u32);
        image.ends.push(ends);
    }

    /// The number of the n-gram that is `prefix` and one more word.
    fn number(&mut self, prefix: Option<u32>, word: Word, image: &mut ImageNgrams) -> u32 {
        let key = prefix.map_or(0, |prefix| u64::from(prefix) + 1) << 32 | u64::from(word);
        let mask = self.slots.len() - 1;
        let mut place = fold(key ^ 0xa076_1d64_78bd_642f, 0x9e37_79b9_7f4a_7c15) as usize & mask;
        loop {
            let slot = &mut self.slots[place];
            if slot.stamp != self.stamp {
                let ngram = image.keys.len() as u32;
                *slot = Slot { stamp: self.stamp, ngram };
                self.last_entry.push(0);
                image.keys.push(key);
                image.places.push(NOWHERE);
                return ngram;
            }
            if image.keys[slot.ngram as usize] == key {
                return slot.ngram;
            }
            place = (place + 1) & mask;
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
        let mut counter = NgramCounter::default();
        // An image before this one must leave no trace.
        counter.count([&second[..]; 2].into_iter(), [].into_iter());
        let image = counter.count([&first[..]].into_iter(), [&second[..]].into_iter());
        let counts = |sentence, order| {
            let mut counts: Vec<_> = image
                .entries(sentence, order)
                .iter()
                .map(|entry| (image.ngram(entry.ngram).words().collect::<Vec<_>>(), entry.count))
                .collect();
            counts.sort();
            counts
        };
        assert_eq!(counts(0, 1), [(vec![1], 2), (vec![2], 2)]);
        assert_eq!(counts(0, 2), [(vec![1, 2], 2), (vec![2, 1], 1)]);
        assert_eq!(counts(1, 2), [(vec![2, 1], 1)]);
        assert!(counts(1, 3).is_empty());
        let numbers = 0..image.distinct() as u32;
        assert_eq!(numbers.clone().map(|number| image.ngram(number)).collect::<Vec<_>>(), image.ngrams());
        let placed = numbers.filter_map(|number| Some((image.ngram(number), image.place(number)?)));
        let expected = [(Ngram::new(&[1]), 1), (Ngram::new(&[2]), 0), (Ngram::new(&[2, 1]), 0)];
        assert_eq!(placed.collect::<Vec<_>>(), expected);
    }
}
