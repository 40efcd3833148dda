//! `rubric`: how many of the items that are asked for a caption says. An image's references are its items.

use super::lexicon::Lexicon;
use super::said::Said;
use super::{Paragraphs, share, supports};
use crate::corpus::Corpus;
use crate::engine::{Image, Kernel, ParameterError, Parameters, Prepared, Resources, Scorer, Worker};
use crate::parse::Memory;
use crate::wordnet::Synonyms;

#[derive(Debug, Clone, Copy)]
struct Rubric {
    /// What a match by a synonym is worth.
    synonyms: f64,
}

/// Builds the score.
pub(crate) fn build_rubric(parameters: &mut Parameters) -> Result<Box<dyn Kernel>, ParameterError> {
    Ok(Box::new(Rubric { synonyms: parameters.number("synonyms", 0.0..=1.0)? }))
}

impl Kernel for Rubric {
    /// Supports of the items, the number of items, of those that are said whole, and of those of which nothing is said.
    fn width(&self) -> usize {
        4
    }

    fn prepare<'a>(&'a self, corpus: &'a Corpus, resources: &'a Resources) -> Prepared<'a> {
        let (paragraphs, synonyms) = (resources.need::<Paragraphs>()?, resources.need::<Synonyms>()?);
        Ok(Box::new(CorpusScorer { worth: self.synonyms, corpus, paragraphs, synonyms }))
    }

    /// The mean over all items.
    fn score(&self, sums: &[f64]) -> f64 {
        if sums[1] > 0.0 { sums[0] / sums[1] } else { f64::NAN }
    }
}

struct CorpusScorer<'a> {
    worth: f64,
    corpus: &'a Corpus,
    paragraphs: &'a Paragraphs,
    synonyms: &'a Synonyms,
}

impl Scorer for CorpusScorer<'_> {
    fn worker(&self) -> Box<dyn Worker + '_> {
        let (memory, lexicon) = (self.paragraphs.parser.worker(), Lexicon::new(self.synonyms));
        Box::new(CorpusWorker { scorer: self, memory, lexicon })
    }
}

struct CorpusWorker<'a> {
    scorer: &'a CorpusScorer<'a>,
    memory: Memory,
    lexicon: Lexicon<'a>,
}

impl Worker for CorpusWorker<'_> {
    fn statistics(&mut self, image: &Image<'_>, candidate: usize, row: &mut [f64]) {
        let Self { scorer, memory, lexicon } = self;
        let CorpusScorer { worth, corpus, paragraphs, .. } = **scorer;
        for support in of_items(paragraphs, (memory, lexicon), corpus, (image.number(), candidate), worth) {
            row[0] += support.unwrap_or(0.0);
            row[1] += 1.0;
            row[2] += f64::from(support == Some(1.0));
            row[3] += f64::from(support == Some(0.0));
        }
    }
}

/// How far a candidate says each item of its image; none for an item that says nothing itself.
fn of_items(
    paragraphs: &Paragraphs,
    (memory, lexicon): (&mut Memory, &mut Lexicon<'_>),
    corpus: &Corpus,
    (image, candidate): (usize, usize),
    worth: f64,
) -> Vec<Option<f64>> {
    let caption = Said::of(&paragraphs.read(memory, paragraphs.candidate(corpus, image, candidate)), lexicon);
    let items = paragraphs.read(memory, paragraphs.references(corpus, image));
    let said = |item| share(&supports(&Said::of(std::slice::from_ref(item), lexicon), &caption, worth), None);
    items.iter().map(said).collect()
}

/// How far a candidate, by the numbers of its image and in it, says each item of the image: 1 for all of it, 0 for nothing
/// of it; none for an item that says nothing itself.
pub fn said_of_items(
    paragraphs: &Paragraphs,
    synonyms: &Synonyms,
    corpus: &Corpus,
    candidate: (usize, usize),
    worth: f64,
) -> Vec<Option<f64>> {
    let (mut memory, mut lexicon) = (paragraphs.parser.worker(), Lexicon::new(synonyms));
    of_items(paragraphs, (&mut memory, &mut lexicon), corpus, candidate, worth)
}
