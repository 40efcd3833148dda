//! A few words of a caption, such as a preposition of several words.

/// A few words of the caption, in order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Phrase {
    words: [u32; Self::MOST],
    count: u8,
}

impl Phrase {
    const MOST: usize = 6;

    /// Adds a word; a phrase that is full stays as it is.
    pub(super) fn push(&mut self, word: usize) {
        if usize::from(self.count) < Self::MOST {
            self.words[usize::from(self.count)] = word as u32;
            self.count += 1;
        }
    }

    /// The words of this phrase, then those of another.
    pub(super) fn with(mut self, other: Self) -> Self {
        other.words().for_each(|word| self.push(word));
        self
    }

    pub(super) fn words(&self) -> impl Iterator<Item = usize> + '_ {
        self.words[..usize::from(self.count)].iter().map(|&word| word as usize)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl FromIterator<usize> for Phrase {
    fn from_iter<T: IntoIterator<Item = usize>>(words: T) -> Self {
        let mut phrase = Self::default();
        words.into_iter().for_each(|word| phrase.push(word));
        phrase
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_keeps_its_first_six_words() {
        let words = |phrase: Phrase| phrase.words().collect::<Vec<_>>();
        assert_eq!(words((0..8).collect()), [0, 1, 2, 3, 4, 5]);
        assert_eq!(words((0..4).collect::<Phrase>().with((7..11).collect())), [0, 1, 2, 3, 7, 8]);
    }
}
