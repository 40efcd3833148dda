//! Words and their numbers.

use std::hash::Hasher;

use rust_stemmers::{Algorithm, Stemmer};
use rustc_hash::FxHasher;

use crate::numeric::part;
use crate::text::ngram::fold;

/// Number of a word in a [`Vocabulary`].
pub type Word = u32;

/// Words numbered in the order of first appearance: all of them in one text, so that a copy is one of a few blocks, and a
/// table from their keys to their numbers.
#[derive(Debug, Default, Clone)]
pub struct Vocabulary {
    pub(crate) text: String,
    /// Where each word ends in the text.
    pub(crate) ends: Vec<usize>,
    /// A word's slot is the first that was free from the place on that its key says.
    slots: Vec<Slot>,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    key: Key,
    number: Word,
}

impl Slot {
    const FREE: Self = Self { key: Key(0), number: Word::MAX };

    fn is_free(self) -> bool {
        self.number == Self::FREE.number
    }
}

impl PartialEq for Vocabulary {
    fn eq(&self, other: &Self) -> bool {
        (&self.text, &self.ends) == (&other.text, &other.ends)
    }
}

impl Eq for Vocabulary {}

impl Vocabulary {
    /// The distinct words that end at `ends` in the text; `None` where these do not cut it into words.
    pub fn of_text(text: String, ends: Vec<usize>) -> Option<Self> {
        let whole = ends.last().map_or(0, |&end| end) == text.len();
        if !(whole && ends.is_sorted() && ends.iter().all(|&end| text.is_char_boundary(end))) {
            return None;
        }
        let mut vocabulary = Self { text, ends, slots: Vec::new() };
        vocabulary.slots = vec![Slot::FREE; (2 * vocabulary.len()).next_power_of_two()];
        for number in 0..vocabulary.len() as Word {
            let key = Key::of(vocabulary.word(number));
            settle(&mut vocabulary.slots, Slot { key, number });
        }
        Some(vocabulary)
    }

    /// Number of distinct words.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether no word was met.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The number of the word, given now if it is new.
    pub fn intern(&mut self, word: &str) -> Word {
        if 2 * self.len() >= self.slots.len() {
            self.grow();
        }
        let key = Key::of(word);
        let place = self.place(word, key);
        if self.slots[place].is_free() {
            self.slots[place] = Slot { key, number: self.len() as Word };
            self.text.push_str(word);
            self.ends.push(self.text.len());
        }
        self.slots[place].number
    }

    /// The numbers of words, given now to the new ones.
    ///
    /// Each word's slot is read once before any is used: so the memory fetches many of them at a time.
    pub fn intern_all(&mut self, words: &[&str]) -> impl Iterator<Item = Word> {
        let mask = self.slots.len().wrapping_sub(1);
        let number = |word| self.slots.get(Key::of(word).place() & mask).map_or(0, |slot| slot.number);
        std::hint::black_box(words.iter().fold(0, |read, word| read ^ number(word)));
        words.iter().map(|word| self.intern(word))
    }

    /// The number of the word, if it is known.
    pub fn number(&self, word: &str) -> Option<Word> {
        if self.is_empty() {
            return None;
        }
        let slot = self.slots[self.place(word, Key::of(word))];
        (!slot.is_free()).then_some(slot.number)
    }

    /// The word of that number.
    pub fn word(&self, number: Word) -> &str {
        &self.text[part(&self.ends, number as usize)]
    }

    /// All words, in the order of their numbers.
    pub fn words(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|number| self.word(number as Word))
    }

    /// The number of each word's stem, and the stems, by Snowball English (Porter 2), as the CIDEr paper asks. Stems are
    /// numbered by first appearance, so a vocabulary that extends another keeps the other's stem numbers.
    pub fn stemmed(&self) -> (Vec<Word>, Self) {
        let (stemmer, mut stems) = (Stemmer::create(Algorithm::English), Self::default());
        let numbers = self.words().map(|word| stems.intern(&stemmer.stem(word))).collect();
        (numbers, stems)
    }

    /// The place of the word's slot, or of the free one that it would get.
    fn place(&self, word: &str, key: Key) -> usize {
        let is_whole_word = key.0 & 0xff < 8;
        let is_word = |slot: Slot| slot.key == key && (is_whole_word || self.word(slot.number) == word);
        let mask = self.slots.len() - 1;
        let mut place = key.place() & mask;
        while !self.slots[place].is_free() && !is_word(self.slots[place]) {
            place = (place + 1) & mask;
        }
        place
    }

    fn grow(&mut self) {
        let mut wider = vec![Slot::FREE; (4 * self.slots.len()).max(64)];
        self.slots.iter().filter(|slot| !slot.is_free()).for_each(|&slot| settle(&mut wider, slot));
        self.slots = wider;
    }
}

/// What words are told apart by: those of up to seven bytes are their key, longer ones have a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key(u64);

impl Key {
    fn of(word: &str) -> Self {
        if word.len() < 8 {
            return Self(short(word.as_bytes()) << 8 | word.len() as u64);
        }
        let mut hasher = FxHasher::default();
        hasher.write(word.as_bytes());
        Self(hasher.finish() | 0xff)
    }

    fn place(self) -> usize {
        fold(self.0, 0x9e37_79b9_7f4a_7c15) as usize
    }
}

/// Up to seven bytes as a number, by the same two reads for several lengths, which may overlap.
fn short(word: &[u8]) -> u64 {
    let two = |at: usize| u64::from(u16::from_le_bytes([word[at], word[at + 1]]));
    let four = |at: usize| two(at) | two(at + 2) << 16;
    match word.len() {
        0 => 0,
        1 => u64::from(word[0]),
        length @ 2..4 => two(0) | two(length - 2) << (8 * (length - 2)),
        length => four(0) | four(length - 4) << (8 * (length - 4)),
    }
}

/// Puts the slot of a new word into the first free place.
fn settle(slots: &mut [Slot], slot: Slot) {
    let mask = slots.len() - 1;
    let mut place = slot.key.place() & mask;
    while !slots[place].is_free() {
        place = (place + 1) & mask;
    }
    slots[place] = slot;
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn words_are_numbered_by_first_appearance(words in prop::collection::vec("[ab]{0,3}|[a-zé]{0,12}", 0..300)) {
            let (mut fast, mut slow) = (Vocabulary::default(), HashMap::new());
            for word in &words {
                let next = slow.len() as Word;
                prop_assert_eq!(fast.number(word), slow.get(word).copied());
                prop_assert_eq!(fast.intern(word), *slow.entry(word.clone()).or_insert(next));
            }
            let (mut together, borrowed) = (Vocabulary::default(), words.iter().map(String::as_str).collect::<Vec<_>>());
            let numbers = borrowed.chunks(7).flat_map(|some| together.intern_all(some).collect::<Vec<_>>());
            prop_assert!(numbers.eq(words.iter().map(|word| slow[word])));
            prop_assert_eq!(&together, &fast);
            let read = Vocabulary::of_text(fast.text.clone(), fast.ends.clone()).unwrap();
            for (word, &number) in &slow {
                prop_assert_eq!(fast.word(number), word);
                prop_assert_eq!([&fast, &read].map(|words| words.number(word)), [Some(number); 2]);
            }
            prop_assert_eq!(read.number("no such word"), None);
            prop_assert!(read.words().eq(fast.words()) && fast.len() == slow.len());
        }
    }

    #[test]
    fn a_text_that_is_not_cut_into_words_is_refused() {
        for ends in [vec![1], vec![2, 1, 4], vec![4], vec![3, 2], vec![]] {
            let refused = Vocabulary::of_text("aéb".to_owned(), ends.clone()).is_none();
            assert_eq!(refused, ends != [4], "{ends:?}");
        }
    }
}
