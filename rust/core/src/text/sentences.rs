//! Captions as word numbers: tokenised once, interned once.

use std::ops::Range;

use crate::numeric::parallel::{check, map_parts};
use crate::numeric::part;
use crate::text::captions::Captions;
use crate::text::tokenize::{Tokenizer, tokenize_stream};
use crate::text::vocabulary::{Vocabulary, Word};

/// Sentences of many images in one arena of word numbers.
///
/// The COCO suite sees a caption in two ways: BLEU and CIDEr split it at any white space, ROUGE at U+0020 only. They
/// differ where a token holds a no-break space (`1\u{a0}1/2`), or is empty: `words` is the first view, `tokens` the
/// second.
#[derive(Debug, Default, Clone)]
pub struct Sentences {
    /// Sentences of image `i` are numbers `first[i]..first[i + 1]`.
    first: Vec<u32>,
    words: Arena,
    /// Absent while both views are the same, which is nearly always.
    tokens: Option<Arena>,
}

/// Word numbers of many sentences, one after the other.
#[derive(Debug, Default, Clone)]
pub(crate) struct Arena {
    pub(crate) words: Vec<Word>,
    pub(crate) ends: Vec<usize>,
}

impl Arena {
    pub(crate) fn push(&mut self, words: impl IntoIterator<Item = Word>) {
        self.words.extend(words);
        self.ends.push(self.words.len());
    }

    pub(crate) fn get(&self, sentence: usize) -> &[Word] {
        &self.words[part(&self.ends, sentence)]
    }
}

impl Sentences {
    /// Tokenises and interns all captions of the chosen images, in that order; `None` stands for an empty caption.
    pub fn encode(
        captions: &Captions,
        images: &[Option<u32>],
        tokenizer: Tokenizer,
        vocabulary: &mut Vocabulary,
        threads: usize,
    ) -> Self {
        let mut first = vec![0];
        let mut texts: Vec<&str> = Vec::new();
        for image in images {
            match image {
                Some(image) => texts.extend(captions.captions_of(*image as usize).map(|k| captions.caption(k))),
                None => texts.push(""),
            }
            first.push(texts.len() as u32);
        }
        let cut = if tokenizer == Tokenizer::PtbStream { 1 } else { threads };
        let parts = map_parts(texts.len(), cut, |range| Part::of(&texts[range], tokenizer));
        let (words, tokens) = join(parts, vocabulary, threads);
        Self { first, words, tokens }
    }

    /// Sentences of the same grouping with ready word numbers, as training code has them.
    pub fn from_words(groups: impl Iterator<Item = usize>, words: Vec<Word>, ends: Vec<usize>) -> Self {
        let mut first = vec![0];
        let mut total = 0;
        for size in groups {
            total += size as u32;
            first.push(total);
        }
        Self { first, words: Arena { words, ends }, tokens: None }
    }

    /// The sentences of these numbers, in new groups.
    #[must_use]
    pub fn select(&self, groups: impl Iterator<Item = Vec<usize>>) -> Self {
        let mut selected = Self { first: vec![0], words: Arena::default(), tokens: None };
        let mut tokens = Arena::default();
        for sentence_numbers in groups {
            for sentence in sentence_numbers {
                selected.words.push(self.words(sentence).iter().copied());
                tokens.push(self.tokens(sentence).iter().copied());
            }
            selected.first.push(selected.words.ends.len() as u32);
        }
        selected.tokens = self.tokens.is_some().then_some(tokens);
        selected
    }

    /// The same sentences with another number for each word: that at its place in `numbers`.
    #[must_use]
    pub fn renumbered(&self, numbers: &[Word]) -> Self {
        let renumber = |arena: &Arena| Arena {
            words: arena.words.iter().map(|&word| numbers[word as usize]).collect(),
            ends: arena.ends.clone(),
        };
        Self { first: self.first.clone(), words: renumber(&self.words), tokens: self.tokens.as_ref().map(renumber) }
    }

    /// Number of images.
    pub fn image_count(&self) -> usize {
        self.first.len().saturating_sub(1)
    }

    /// Number of sentences over all images.
    pub fn sentence_count(&self) -> usize {
        self.words.ends.len()
    }

    /// Numbers of the sentences of an image.
    pub fn of_image(&self, image: usize) -> Range<usize> {
        self.first[image] as usize..self.first[image + 1] as usize
    }

    /// Words of all sentences, one after the other.
    pub fn all_words(&self) -> &[Word] {
        &self.words.words
    }

    /// The range of the words of a sentence among all words.
    pub fn span(&self, sentence: usize) -> Range<usize> {
        part(&self.words.ends, sentence)
    }

    /// Words of a sentence, split at any white space.
    pub fn words(&self, sentence: usize) -> &[Word] {
        self.words.get(sentence)
    }

    /// Tokens of a sentence, split at U+0020 only.
    pub fn tokens(&self, sentence: usize) -> &[Word] {
        self.tokens.as_ref().unwrap_or(&self.words).get(sentence)
    }
}

/// The words that one thread encodes, in both views, with its own numbers.
#[derive(Default)]
struct Part {
    vocabulary: Vocabulary,
    words: Arena,
    /// Absent while no token differs from its words.
    tokens: Option<Arena>,
}

impl Part {
    /// In one stream a caption's tokens can depend on the next caption.
    fn of(texts: &[&str], tokenizer: Tokenizer) -> Self {
        let mut part = Self::default();
        if tokenizer == Tokenizer::PtbStream {
            tokenize_stream(texts.iter().copied(), |caption, token| {
                check();
                part.end_before(caption);
                part.push(token);
            });
        } else {
            for (sentence, text) in texts.iter().enumerate() {
                check();
                part.end_before(sentence);
                tokenizer.tokenize(text, |token: &str| part.push(token));
            }
        }
        part.end_before(texts.len());
        part
    }

    /// Appends a token to the sentence that is open. White space other than U+0020 cuts it into several words, or, if
    /// there is nothing else in it, into none.
    fn push(&mut self, token: &str) {
        // While both views are the same, no word that is known has white space: only new ones are looked at.
        if self.tokens.is_none()
            && let Some(word) = self.vocabulary.number(token)
        {
            return self.words.words.push(word);
        }
        let plain = token.bytes().all(|byte| byte.is_ascii_graphic());
        if !token.is_empty() && (plain || !token.contains(char::is_whitespace)) {
            let word = self.vocabulary.intern(token);
            self.words.words.push(word);
            if let Some(tokens) = &mut self.tokens {
                tokens.words.push(word);
            }
            return;
        }
        let tokens = self.tokens.get_or_insert_with(|| self.words.clone());
        self.words.words.extend(token.split_whitespace().map(|piece| self.vocabulary.intern(piece)));
        tokens.words.push(self.vocabulary.intern(token));
    }

    /// Ends the open sentence, and empty ones behind it, so that the next one has this number.
    fn end_before(&mut self, sentence: usize) {
        for view in [Some(&mut self.words), self.tokens.as_mut()].into_iter().flatten() {
            view.ends.resize(sentence, view.words.len());
        }
    }
}

/// One arena with common numbers. Parts come in text order and each numbers its words by first appearance, so the
/// common numbers are those of a single pass, however the text was cut.
fn join(mut parts: Vec<Part>, vocabulary: &mut Vocabulary, threads: usize) -> (Arena, Option<Arena>) {
    if parts.len() == 1 && vocabulary.is_empty() {
        let Part { vocabulary: own, mut words, tokens } = parts.remove(0);
        *vocabulary = own;
        words.words.shrink_to_fit();
        return (words, tokens);
    }
    let numbers: Vec<Vec<Word>> =
        parts.iter().map(|part| part.vocabulary.words().map(|word| vocabulary.intern(word)).collect()).collect();
    let tokens = parts.iter().any(|part| part.tokens.is_some()).then(|| {
        let tokens = parts.iter().map(|part| part.tokens.as_ref().unwrap_or(&part.words).clone()).collect();
        concatenate(tokens, &numbers, threads)
    });
    let words = concatenate(parts.into_iter().map(|part| part.words).collect(), &numbers, threads);
    (words, tokens)
}

fn concatenate(mut parts: Vec<Arena>, numbers: &[Vec<Word>], threads: usize) -> Arena {
    let renumbered = map_parts(parts.len(), threads, |range| {
        range.map(|k| parts[k].words.iter().map(|&word| numbers[k][word as usize]).collect()).collect::<Vec<Vec<_>>>()
    });
    let mut whole = Arena::default();
    for (part, words) in parts.iter_mut().zip(renumbered.into_iter().flatten()) {
        let shift = whole.words.len();
        if shift == 0 {
            whole.words = words;
        } else {
            whole.words.extend(words);
        }
        whole.ends.extend(std::mem::take(&mut part.ends).into_iter().map(|end| end + shift));
    }
    whole
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::captions::CaptionsBuilder;

    /// A word, one of all white space characters (U+0020 more often than others), or both as one token.
    fn piece() -> impl Strategy<Value = String> {
        let spaces: Vec<char> = ('\0'..=char::MAX).filter(|c| c.is_whitespace()).collect();
        let space = prop_oneof![Just(' '), prop::sample::select(spaces)];
        let word = prop::sample::select(vec!["a", "dog", "1/2", "cannot", "U.S.", "."]);
        prop_oneof![
            word.clone().prop_map(str::to_owned),
            Just(" ".to_owned()),
            prop::collection::vec(space.clone(), 1..3).prop_map(String::from_iter),
            (word.clone(), space, word).prop_map(|(one, between, other)| format!("{one}{between}{other}")),
        ]
    }

    fn caption() -> impl Strategy<Value = String> {
        prop::collection::vec(piece(), 0..6).prop_map(|pieces| pieces.concat())
    }

    /// The tokens of each caption, kept apart from the start.
    fn tokens_of(captions: &[String], tokenizer: Tokenizer) -> Vec<Vec<String>> {
        let mut tokens = vec![Vec::new(); captions.len()];
        if tokenizer == Tokenizer::PtbStream {
            tokenize_stream(captions.iter().map(String::as_str), |k, token| tokens[k].push(token.to_owned()));
        } else {
            for (caption, tokens) in captions.iter().zip(&mut tokens) {
                tokenizer.tokenize(caption, |token| tokens.push(token.to_owned()));
            }
        }
        tokens
    }

    proptest! {
        #[test]
        fn a_sentence_has_the_tokens_of_its_caption(
            images in prop::collection::vec(prop::collection::vec(caption(), 1..4), 1..6),
            threads in 1_usize..4,
        ) {
            let mut builder = CaptionsBuilder::default();
            for (number, captions) in images.iter().enumerate() {
                for caption in captions {
                    builder.caption(&number.to_string(), caption);
                }
            }
            let numbers: Vec<_> = (0..images.len() as u32).map(Some).collect();
            let captions = builder.finish();
            for tokenizer in Tokenizer::all() {
                let mut vocabulary = Vocabulary::default();
                let sentences = Sentences::encode(&captions, &numbers, tokenizer, &mut vocabulary, threads);
                let spell = |words: &[Word]| words.iter().map(|&k| vocabulary.word(k).to_owned()).collect::<Vec<_>>();
                for (sentence, tokens) in tokens_of(&images.concat(), tokenizer).into_iter().enumerate() {
                    let words: Vec<_> = tokens.iter().flat_map(|token| token.split_whitespace()).collect();
                    prop_assert_eq!(spell(sentences.words(sentence)), words, "words, {}", tokenizer);
                    prop_assert_eq!(spell(sentences.tokens(sentence)), tokens, "tokens, {}", tokenizer);
                }
            }
        }
    }
}
