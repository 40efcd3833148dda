//! One image of a corpus, as a metric sees it.

use std::cell::{OnceCell, RefCell};

use crate::corpus::Corpus;
use crate::text::ngram::{ImageNgrams, NgramCounter};
use crate::text::vocabulary::Word;

/// One image's sentences, with its n-gram counts made on first use and shared by all metrics.
pub struct Image<'a> {
    corpus: &'a Corpus,
    number: usize,
    counter: &'a RefCell<NgramCounter>,
    ngrams: OnceCell<ImageNgrams>,
}

impl<'a> Image<'a> {
    /// Image number `number` of the corpus; `counter` keeps its tables from image to image.
    pub fn new(corpus: &'a Corpus, number: usize, counter: &'a RefCell<NgramCounter>) -> Self {
        Self { corpus, number, counter, ngrams: OnceCell::new() }
    }

    /// Its number in the corpus.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Number of candidates (1 unless the corpus holds caption sets).
    pub fn candidate_count(&self) -> usize {
        self.corpus.candidates.of_image(self.number).len()
    }

    /// Number of references.
    pub fn reference_count(&self) -> usize {
        self.corpus.references.sentences.of_image(self.number).len()
    }

    /// Words of a candidate.
    pub fn candidate(&self, candidate: usize) -> &'a [Word] {
        self.corpus.candidates.words(self.corpus.candidates.of_image(self.number).start + candidate)
    }

    /// Words of each reference.
    pub fn references(&self) -> impl Iterator<Item = &'a [Word]> + Clone + use<'a> {
        let sentences = &self.corpus.references.sentences;
        sentences.of_image(self.number).map(|sentence| sentences.words(sentence))
    }

    /// The place where the words of its references start among those of all references.
    pub fn first_reference_word(&self) -> usize {
        let sentences = &self.corpus.references.sentences;
        sentences.of_image(self.number).next().map_or(0, |sentence| sentences.span(sentence).start)
    }

    /// Tokens (split at U+0020 only) of a candidate.
    pub fn candidate_tokens(&self, candidate: usize) -> &'a [Word] {
        self.corpus.candidates.tokens(self.corpus.candidates.of_image(self.number).start + candidate)
    }

    /// Tokens of each reference.
    pub fn reference_tokens(&self) -> impl Iterator<Item = &'a [Word]> + Clone + use<'a> {
        let sentences = &self.corpus.references.sentences;
        sentences.of_image(self.number).map(|sentence| sentences.tokens(sentence))
    }

    /// n-gram counts; sentences are the candidates, then the references.
    pub fn ngrams(&self) -> &ImageNgrams {
        let candidates = &self.corpus.candidates;
        let sentences = candidates.of_image(self.number).map(|sentence| candidates.words(sentence));
        self.ngrams.get_or_init(|| self.counter.borrow_mut().count(sentences, self.references()))
    }

    /// Gives the counts' memory back to the counter.
    pub(super) fn recycle(self) {
        if let Some(counts) = self.ngrams.into_inner() {
            self.counter.borrow_mut().recycle(counts);
        }
    }
}
