//! What one look at the captions finds: counts with an example each, which add up over parts of a corpus.
//!
//! The counts say what is there, and judge nothing: whoever reads them knows how much is too much.

mod marks;
mod sample;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::corpus::{Corpus, threads_for_sentences};
use crate::numeric::parallel::map_parts;
use crate::text::captions::Captions;
use crate::text::vocabulary::Word;

pub use marks::Mark;
pub use sample::{key, mixed, sampled};

/// Parts of 1 in a ratio of lengths.
pub const RATIO_PARTS: usize = 20;
/// The largest ratio that is told from larger ones.
pub const LARGEST_RATIO: usize = 10;
/// Characters of a caption that an example shows.
const SHOWN: usize = 200;

/// What is counted: the part that has it (`candidates`, `references` or nothing), its name, and a number for lengths.
pub type Name = (&'static str, &'static str, usize);

/// How many captions or images are so, and the one of the smallest id: the same whatever their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of captions, or of images.
    pub count: u64,
    /// Image id and caption.
    pub example: Option<(Box<str>, Box<str>)>,
}

impl Tally {
    fn add(&mut self, id: &str, caption: &str) {
        self.count += 1;
        if self.example.as_ref().is_none_or(|(least, _)| id < &**least) {
            let end = caption.char_indices().nth(SHOWN).map_or(caption.len(), |(place, _)| place);
            self.example = Some((id.into(), caption[..end].into()));
        }
    }

    fn merge(&mut self, other: Self) {
        self.count += other.count;
        if let Some(example) = other.example
            && self.example.as_ref().is_none_or(|least| example.0 < least.0)
        {
            self.example = Some(example);
        }
    }
}

/// Counts by name.
pub type Tallies = BTreeMap<Name, Tally>;

/// Looks at every image of a corpus.
///
/// `described` and `captions` hold the references and the candidates as they were given, by image id.
pub fn seen(corpus: &Corpus, described: &Captions, captions: &Captions, threads: usize) -> Tallies {
    let images = &corpus.references.images;
    let threads = threads_for_sentences(threads, corpus.sentence_count());
    let parts = map_parts(images.len(), threads, |range| {
        let mut look = Look { corpus, described, captions, found: FxHashMap::default() };
        for image in range {
            look.at(image, &images[image]);
        }
        look.found.into_iter().collect()
    });
    parts.into_iter().reduce(merged).unwrap_or_default()
}

fn merged(mut all: Tallies, part: Tallies) -> Tallies {
    for (name, tally) in part {
        all.entry(name).or_default().merge(tally);
    }
    all
}

struct Look<'a> {
    corpus: &'a Corpus,
    described: &'a Captions,
    captions: &'a Captions,
    found: FxHashMap<Name, Tally>,
}

/// The captions of an image as they were given.
fn given<'a>(captions: &'a Captions, id: &str) -> Vec<&'a str> {
    let own = captions.image(id).map(|image| captions.captions_of(image)).unwrap_or_default();
    own.map(|caption| captions.caption(caption)).collect()
}

impl Look<'_> {
    fn count(&mut self, name: Name, id: &str, caption: &str) {
        self.found.entry(name).or_default().add(id, caption);
    }

    fn at(&mut self, image: usize, id: &str) {
        let corpus = self.corpus;
        let (own, others) = (&corpus.candidates, &corpus.references.sentences);
        let references: Vec<&[Word]> = others.of_image(image).map(|one| others.tokens(one)).collect();
        let candidates: Vec<&[Word]> = own.of_image(image).map(|one| own.tokens(one)).collect();
        let (described, captions) = (given(self.described, id), given(self.captions, id));
        self.part("references", id, &references, &described);
        self.part("candidates", id, &candidates, &captions);
        if references.iter().all(|reference| reference.is_empty()) {
            return;
        }
        let words: usize = references.iter().map(|reference| reference.len()).sum();
        for (place, candidate) in candidates.iter().enumerate().filter(|(_, candidate)| !candidate.is_empty()) {
            let caption = captions.get(place).copied().unwrap_or_default();
            let ratio = candidate.len() * references.len() * RATIO_PARTS / words;
            self.count(("", "ratio", ratio.min(LARGEST_RATIO * RATIO_PARTS)), id, caption);
            if references.contains(candidate) {
                self.count(("", "own reference", 0), id, caption);
            }
        }
    }

    fn part(&mut self, part: &'static str, id: &str, sentences: &[&[Word]], captions: &[&str]) {
        for (place, words) in sentences.iter().enumerate() {
            let caption = captions.get(place).copied().unwrap_or_default();
            self.count((part, "words", words.len()), id, caption);
            if caption.trim().is_empty() {
                self.count((part, "empty", 0), id, caption);
            }
            for mark in marks::marks(caption) {
                self.count((part, mark.name(), 0), id, caption);
            }
        }
        if let [first, others @ ..] = sentences
            && !others.is_empty()
        {
            self.count((part, "several", 0), id, "");
            if others.iter().all(|other| other == first) {
                self.count((part, "all equal", 0), id, captions.first().copied().unwrap_or_default());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::corpus::References;
    use crate::text::captions::CaptionsBuilder;
    use crate::text::tokenize::Tokenizer;

    fn captions(images: &[(&str, &[&str])]) -> Captions {
        let mut builder = CaptionsBuilder::new();
        for (id, captions) in images {
            builder.image(id);
            for caption in *captions {
                builder.caption(id, caption);
            }
        }
        builder.finish()
    }

    fn corpus(described: &Captions, own: &Captions) -> Corpus {
        let images: Vec<u32> = (0..described.image_count() as u32).collect();
        let references = Arc::new(References::encode(described, &images, Tokenizer::Ptb, 1));
        let places: Vec<_> = described.images().map(|id| own.image(id).map(|place| place as u32)).collect();
        Corpus::encode(references, own, &places, 1)
    }

    #[test]
    fn counts_add_up_whatever_the_parts() {
        let described = captions(&[("b", &["a dog", "a dog"]), ("a", &["a cat runs", "one cat"]), ("c", &["a bus"])]);
        let own = captions(&[("b", &["<s> a dog"]), ("a", &["A cat runs!"]), ("c", &["ein Hund"])]);
        let corpus = corpus(&described, &own);
        let found = seen(&corpus, &described, &own, 1);
        let count = |part, name, number| found.get(&(part, name, number)).map_or(0, |tally| tally.count);
        assert_eq!(count("candidates", "token", 0), 1);
        assert_eq!(count("references", "several", 0), 2);
        assert_eq!(count("references", "all equal", 0), 1);
        assert_eq!(count("", "own reference", 0), 1);
        assert_eq!(count("", "ratio", 3 * 2 * RATIO_PARTS / 5), 1);
        assert_eq!(found[&("references", "words", 2)].example, Some(("a".into(), "one cat".into())));
        for threads in 2..5 {
            assert_eq!(seen(&corpus, &described, &own, threads), found);
        }
    }
}
