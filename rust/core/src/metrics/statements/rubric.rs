//! `rubric`: how many of the items that are asked for a caption says. An image's references are its items.

use super::said::{Lexicon, Said};
use super::{Paragraphs, share, supports};
use crate::corpus::Corpus;
use crate::parse::Memory;
use crate::wordnet::Synonyms;

/// Columns of a row: supports of the items, the number of items, of those that are said whole, and of those of which
/// nothing is said.
pub(super) const WIDTH: usize = 4;

/// Counts an image's items, of which a candidate says so much.
pub(super) fn count(supports: Vec<Option<f64>>, row: &mut [f64]) {
    for support in supports {
        row[0] += support.unwrap_or(0.0);
        row[1] += 1.0;
        row[2] += f64::from(support == Some(1.0));
        row[3] += f64::from(support == Some(0.0));
    }
}

/// How far a candidate says each item of its image; none for an item that says nothing itself.
pub(super) fn of_items(
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
