//! Words and their numbers.

use rustc_hash::FxHashMap;

/// Number of a word in a [`Vocabulary`].
pub type Word = u32;

/// Words numbered in the order of first appearance.
#[derive(Debug, Default, Clone)]
pub struct Vocabulary {
    numbers: FxHashMap<Box<str>, Word>,
    words: Vec<Box<str>>,
}

impl Vocabulary {
    /// Number of distinct words.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether no word was met.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The number of the word, given now if it is new.
    pub fn intern(&mut self, word: &str) -> Word {
        if let Some(&number) = self.numbers.get(word) {
            return number;
        }
        let number = self.words.len() as Word;
        self.numbers.insert(word.into(), number);
        self.words.push(word.into());
        number
    }

    /// The number of the word, if it is known.
    pub fn number(&self, word: &str) -> Option<Word> {
        self.numbers.get(word).copied()
    }

    /// The word of that number.
    pub fn word(&self, number: Word) -> &str {
        &self.words[number as usize]
    }

    /// All words, in the order of their numbers.
    pub fn words(&self) -> impl ExactSizeIterator<Item = &str> {
        self.words.iter().map(AsRef::as_ref)
    }
}
