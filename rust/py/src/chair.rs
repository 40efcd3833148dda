//! Words that name objects, in a corpus.

use std::sync::Arc;

use pyo3::prelude::*;
use sacrecap_core::metrics::chair as core;
use sacrecap_core::metrics::chair::Phrase;

use crate::convert::check_index;
use crate::corpus::Corpus;
use crate::errors::usage_error;

/// A vocabulary of objects: phrases, and the objects that they name.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct ObjectWords(Arc<core::ObjectWords>);

#[pymethods]
impl ObjectWords {
    /// `parts`: the number of different words of phrases; `phrases`: the parts and the term of each, of which the longest
    /// match counts, of equally long ones the first; `objects`: the object of each term, or None; `drops`: terms, each with
    /// the one beside which it does not count.
    #[new]
    fn new(
        parts: usize,
        phrases: Vec<(Vec<u32>, u32)>,
        objects: Vec<Option<u32>>,
        drops: Vec<(u32, u32)>,
    ) -> PyResult<Self> {
        let phrases = phrases.into_iter().map(|(parts, term)| Phrase { parts, term }).collect();
        core::ObjectWords::new(parts, phrases, objects, &drops).map(|words| Self(Arc::new(words))).map_err(usage_error)
    }
}

/// What a corpus names, and what is in its images: a resource of CHAIR.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct NamedObjects(pub(crate) Arc<core::NamedObjects>);

/// An object in a caption: the places of its first word and behind its last, and the object.
type Mention = (usize, usize, u32);

/// The mentions of candidates and of references, caption by caption, and the objects annotated.
type InImage = (Vec<Vec<Mention>>, Vec<Vec<Mention>>, Vec<u32>);

#[pymethods]
impl NamedObjects {
    /// `parts`: for each word of a corpus' vocabulary the part that it is, or None; `annotated`: the objects of each
    /// image; `breaks`: captions as word numbers, with the places of words that a mark stands before; `denied`: such
    /// captions, with the places of words that do not count.
    #[new]
    fn new(
        words: &Bound<'_, ObjectWords>,
        parts: Vec<Option<u32>>,
        annotated: Option<Vec<Vec<u32>>>,
        breaks: Vec<(Vec<u32>, Vec<usize>)>,
        denied: Vec<(Vec<u32>, Vec<usize>)>,
    ) -> PyResult<Self> {
        let [breaks, denied] =
            [breaks, denied].map(|of| of.into_iter().map(|(caption, places)| (caption.into(), places)).collect());
        let named = core::NamedObjects::new(words.get().0.clone(), parts, annotated, breaks, denied);
        Ok(Self(Arc::new(named.map_err(usage_error)?)))
    }

    /// What an image's candidates and references name, caption by caption, and the objects annotated in it.
    fn image(&self, corpus: &Bound<'_, Corpus>, image: usize) -> PyResult<InImage> {
        let corpus = &corpus.get().0;
        check_index("image", image, corpus.candidates.image_count())?;
        let named = |words: &[u32]| {
            let mut found = Vec::new();
            self.0.mentions(words, &mut found);
            found.into_iter().map(|mention| (mention.start, mention.end, mention.object)).collect::<Vec<Mention>>()
        };
        let all = |sentences: &sacrecap_core::text::sentences::Sentences| {
            sentences.of_image(image).map(|sentence| named(sentences.words(sentence))).collect()
        };
        Ok((all(&corpus.candidates), all(&corpus.references.sentences), self.0.annotated(image).to_vec()))
    }
}
