//! The corpus: references and candidates of the same images, as word numbers.

use std::sync::{Arc, OnceLock};

use crate::document_frequency::{CountsAt, Documents, Frequencies, Idf};
use crate::numeric::parallel::threads_for;
use crate::text::captions::Captions;
use crate::text::ngram::MAX_ORDER;
use crate::text::sentences::Sentences;
use crate::text::tokenize::Tokenizer;
use crate::text::vocabulary::Vocabulary;

/// References of the images to score: encoded once, shared by all systems that are compared on them.
#[derive(Debug)]
pub struct References {
    /// Image ids, in the order of the reference file.
    pub images: Vec<Box<str>>,
    /// Words of the references.
    pub vocabulary: Vocabulary,
    /// Reference sentences, image by image.
    pub sentences: Sentences,
    /// The tokenizer that cut the captions into words.
    pub tokenizer: Tokenizer,
    /// Whether the words are stems.
    pub stem: bool,
    frequencies: OnceLock<OwnFrequencies>,
    stemmed: OnceLock<Arc<References>>,
}

/// Document frequencies of references among themselves. Only those above 1 are kept: CIDEr treats an n-gram that was
/// never seen as one that was seen once.
#[derive(Debug)]
pub struct OwnFrequencies {
    /// In how many images' references each n-gram occurs.
    pub of_ngrams: Frequencies,
    /// The same by the references' words; absent where the sentences have moved since they were counted.
    pub at_words: Option<CountsAt>,
    /// The weights of the counts.
    pub idf: Idf,
}

/// The number of threads for work on this many sentences; `requested` is 0 for one per core. So many take longer to
/// tokenise, count or score than a thread takes to start.
pub fn threads_for_sentences(requested: usize, sentences: usize) -> usize {
    threads_for(requested, sentences, 64)
}

/// Number of captions of the chosen images.
fn caption_count(captions: &Captions, images: impl Iterator<Item = u32>) -> usize {
    images.map(|image| captions.captions_of(image as usize).len()).sum()
}

impl References {
    /// Encodes the references of the chosen images (numbers in `captions`), in that order.
    pub fn encode(captions: &Captions, images: &[u32], tokenizer: Tokenizer, threads: usize) -> Self {
        let mut vocabulary = Vocabulary::default();
        let threads = threads_for_sentences(threads, caption_count(captions, images.iter().copied()));
        let chosen: Vec<Option<u32>> = images.iter().copied().map(Some).collect();
        let sentences = Sentences::encode(captions, &chosen, tokenizer, &mut vocabulary, threads);
        let images = images.iter().map(|&image| captions.image_id(image as usize).into()).collect();
        Self::of(images, vocabulary, sentences, tokenizer)
    }

    fn of(images: Vec<Box<str>>, vocabulary: Vocabulary, sentences: Sentences, tokenizer: Tokenizer) -> Self {
        let (frequencies, stemmed) = (OnceLock::new(), OnceLock::new());
        Self { images, vocabulary, sentences, tokenizer, stem: false, frequencies, stemmed }
    }

    /// Images without references, for scores that need none.
    pub fn none(images: Vec<Box<str>>, tokenizer: Tokenizer) -> Self {
        let sentences = Sentences::from_words(images.iter().map(|_| 0), Vec::new(), Vec::new());
        Self::of(images, Vocabulary::default(), sentences, tokenizer)
    }

    /// The references as documents, one per image, whose n-grams can be counted.
    pub fn documents(&self) -> Documents<'_> {
        let Self { sentences, vocabulary, tokenizer, stem, .. } = self;
        Documents { sentences, vocabulary, tokenizer: *tokenizer, stem: *stem }
    }

    /// Document frequencies of these references.
    pub fn frequencies(&self, threads: usize) -> &OwnFrequencies {
        self.frequencies.get_or_init(|| {
            let threads = threads_for_sentences(threads, self.sentences.sentence_count());
            let (of_ngrams, at_words) = Frequencies::count(&self.sentences, MAX_ORDER, 2, threads);
            OwnFrequencies { idf: Idf::new(of_ngrams.documents), of_ngrams, at_words: Some(at_words) }
        })
    }

    /// The same references with every word reduced to its stem.
    #[must_use]
    pub fn stemmed(&self) -> Arc<Self> {
        let stemmed = || {
            let (numbers, vocabulary) = self.vocabulary.stemmed();
            let sentences = self.sentences.renumbered(&numbers);
            Arc::new(Self { stem: true, ..Self::of(self.images.clone(), vocabulary, sentences, self.tokenizer) })
        };
        self.stemmed.get_or_init(stemmed).clone()
    }
}

/// References with the candidates of one system: one caption per image, or a set of several.
#[derive(Debug)]
pub struct Corpus {
    /// The references.
    pub references: Arc<References>,
    /// Words of references, then those that only candidates have.
    pub vocabulary: Vocabulary,
    /// Candidate sentences of the same images.
    pub candidates: Sentences,
}

impl Corpus {
    /// Encodes a system's captions, with the words of the references. `images` gives, for each image of `references`,
    /// its number in `captions`, or `None` for an image that the system left out, which then has one empty caption.
    pub fn encode(references: Arc<References>, captions: &Captions, images: &[Option<u32>], threads: usize) -> Self {
        let mut vocabulary = references.vocabulary.clone();
        let threads = threads_for_sentences(threads, caption_count(captions, images.iter().flatten().copied()));
        let candidates = Sentences::encode(captions, images, references.tokenizer, &mut vocabulary, threads);
        Self { references, vocabulary, candidates }
    }

    /// The same references with only the candidates of these numbers, in new sets.
    #[must_use]
    pub fn select(&self, sets: impl IntoIterator<Item = Vec<usize>>) -> Self {
        let candidates = self.candidates.select(sets.into_iter());
        Self { references: self.references.clone(), vocabulary: self.vocabulary.clone(), candidates }
    }

    /// For each set, the numbers of the `most` candidates with the highest scores, in their order; of equal ones the
    /// earlier.
    pub fn top(&self, scores: &[f64], most: usize) -> Vec<Vec<usize>> {
        let best = |image| {
            let mut numbers: Vec<usize> = self.candidates.of_image(image).collect();
            numbers.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
            numbers.truncate(most);
            numbers.sort_unstable();
            numbers
        };
        (0..self.candidates.image_count()).map(best).collect()
    }

    /// People as a system: each reference is the candidate of an image of its own, against the other references of its
    /// image; an image with a single reference is left out. Document frequencies stay those of all references.
    pub fn leave_one_out(references: &References, threads: usize) -> Self {
        let (mut images, mut candidates, mut peers) = (Vec::new(), Vec::new(), Vec::new());
        for (number, image) in references.images.iter().enumerate() {
            let sentences = references.sentences.of_image(number);
            if sentences.len() < 2 {
                continue;
            }
            for candidate in sentences.clone() {
                images.push(image.clone());
                candidates.push(vec![candidate]);
                peers.push(sentences.clone().filter(|&sentence| sentence != candidate).collect());
            }
        }
        let sentences = references.sentences.select(peers.into_iter());
        let OwnFrequencies { of_ngrams, idf, .. } = references.frequencies(threads);
        let moved = OwnFrequencies { of_ngrams: of_ngrams.clone(), idf: idf.clone(), at_words: None };
        let left = References {
            stem: references.stem,
            frequencies: OnceLock::from(moved),
            ..References::of(images, references.vocabulary.clone(), sentences, references.tokenizer)
        };
        Self {
            candidates: references.sentences.select(candidates.into_iter()),
            vocabulary: left.vocabulary.clone(),
            references: Arc::new(left),
        }
    }

    /// The same captions with every word reduced to its stem. The references' words have the same stem numbers for every
    /// system, so systems that share references share their stems, too.
    #[must_use]
    pub fn stemmed(&self) -> Self {
        let (numbers, vocabulary) = self.vocabulary.stemmed();
        Self { references: self.references.stemmed(), candidates: self.candidates.renumbered(&numbers), vocabulary }
    }

    /// Number of candidates and references.
    pub fn sentence_count(&self) -> usize {
        self.candidates.sentence_count() + self.references.sentences.sentence_count()
    }

    /// Number of candidate sentences: the rows of every table of statistics.
    pub fn rows(&self) -> usize {
        self.candidates.sentence_count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::captions::CaptionsBuilder;

    #[test]
    fn of_equally_accurate_captions_the_earlier_are_on_top() {
        let mut builder = CaptionsBuilder::default();
        for caption in ["a", "b", "c", "d"] {
            builder.caption("1", caption);
        }
        let captions = builder.finish();
        let references = Arc::new(References::none(vec!["1".into()], Tokenizer::None));
        let corpus = Corpus::encode(references, &captions, &[Some(0)], 1);
        assert_eq!(corpus.top(&[0.5; 4], 1), [[0]]);
        assert_eq!(corpus.top(&[0.5, 1.0, 0.5, 1.0], 1), [[1]]);
        assert_eq!(corpus.top(&[0.5, 1.0, 0.5, 1.0], 3), [[0, 1, 3]]);
    }
}
