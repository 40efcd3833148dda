//! SPICE: compares the candidate's propositions with those of all references together.
//!
//! Anderson, Fernando, Johnson, Gould, *SPICE: Semantic Propositional Image Caption Evaluation* (ECCV 2016). F of the
//! candidate's propositions and those of the references, as the authors' program counts them:
//! * Names that share a synonym set of WordNet are one concept, merged in their order: see [`concept::place`].
//! * A candidate's proposition is true if it matches *any* of the references'. Two may match the same one, so that recall,
//!   true propositions over those of the references, and F can exceed 1.
//! * A category has no score where the references say nothing of the kind.

mod concept;
mod explain;
mod scene;
mod source;

use concept::Lexicon;
pub use concept::Rule;
pub use explain::{Explained, Explanation, explain};
use scene::{Proposition, Scene};
pub use source::{Caption, Ends, Graphs, Reader};

use crate::corpus::Corpus;
use crate::engine::{Built, Kernel, Parameters, Prepared, Resources, with_memory};
use crate::graph::Category;
use crate::wordnet::Synonyms;

/// The propositions that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// All.
    All,
    /// That an object is there.
    Objects,
    /// That an object has an attribute.
    Attributes,
    /// That an object is related to another.
    Relations,
    /// That an object has an attribute of that category.
    Of(Category),
}

/// SPICE of all propositions, or of those of one category.
#[derive(Debug, Clone, Copy)]
pub struct Spice {
    counted: Counted,
}

/// Builds SPICE: `category` is `all` or the name of one.
pub(crate) fn build(parameters: &mut Parameters) -> Built {
    let categories = [
        ("all", Counted::All),
        ("object", Counted::Objects),
        ("attribute", Counted::Attributes),
        ("relation", Counted::Relations),
        ("color", Counted::Of(Category::Color)),
        ("count", Counted::Of(Category::Cardinality)),
        ("size", Counted::Of(Category::Size)),
    ];
    Ok(Box::new(Spice { counted: parameters.choice("category", &categories)? }))
}

/// Columns of a row: the score and the 1 of a mean; the numbers of propositions behind it; of the candidate's words,
/// those that the parser knows, and all.
const WIDTH: usize = 7;

impl Kernel for Spice {
    fn width(&self) -> usize {
        WIDTH
    }

    fn prepare<'a>(&'a self, corpus: &'a Corpus, resources: &'a Resources) -> Prepared<'a> {
        let (graphs, synonyms) = (resources.need::<Graphs>()?, resources.need::<Synonyms>()?);
        // With the scene of an image's references, by the image's number: the next candidate is often of the same image.
        let memory = || (graphs.reader(), Lexicon::new(synonyms), None::<(usize, Scene)>);
        Ok(with_memory(memory, |(reader, lexicon, known), image, candidate, row| {
            let number = image.number();
            let said = match known {
                Some((image, scene)) if *image == number => scene,
                _ => {
                    let scene = reader.scene(&graphs.references(corpus, number), lexicon);
                    &mut known.insert((number, scene)).1
                }
            };
            let own = [graphs.candidate(corpus, corpus.candidates.of_image(number).start + candidate)];
            let counts = Counts::of(&reader.scene(&own, lexicon), said, self.counted, lexicon);
            let (words_known, words) = graphs.known(&own[0]);
            if let Some(score) = counts.f() {
                row[..2].copy_from_slice(&[score, 1.0]);
            }
            let numbers = [counts.matched, counts.candidate, counts.references, words_known, words];
            row[2..].copy_from_slice(&numbers.map(|number| number as f64));
        }))
    }

    /// The mean over the images whose references say something of the category; none if there is no such image.
    fn score(&self, sums: &[f64]) -> f64 {
        if sums[1] > 0.0 { sums[0] / sums[1] } else { f64::NAN }
    }
}

/// Numbers of propositions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Of the candidate's, those that match one of the references'.
    pub matched: usize,
    /// The candidate's.
    pub candidate: usize,
    /// The references'.
    pub references: usize,
    of_all: bool,
}

impl Counts {
    fn of(candidate: &Scene, references: &Scene, counted: Counted, lexicon: &Lexicon<'_>) -> Self {
        let is_counted = |proposition: &Proposition<'_>| proposition.is_counted(counted, lexicon);
        let said: Vec<Proposition<'_>> = references.propositions().filter(is_counted).collect();
        let mut counts = Self { matched: 0, candidate: 0, references: said.len(), of_all: counted == Counted::All };
        for proposition in candidate.propositions().filter(is_counted) {
            counts.candidate += 1;
            counts.matched += usize::from(said.iter().any(|other| proposition.matches(*other).is_some()));
        }
        counts
    }

    /// Share of the candidate's propositions that match.
    pub fn precision(&self) -> f64 {
        share(self.matched, self.candidate)
    }

    /// Matches over the references' propositions; above 1 where several match the same one.
    pub fn recall(&self) -> f64 {
        share(self.matched, self.references)
    }

    /// The harmonic mean of the two; None for a category of which the references have nothing.
    pub fn f(&self) -> Option<f64> {
        if self.references == 0 && !self.of_all {
            return None;
        }
        let (precision, recall) = (self.precision(), self.recall());
        Some(if self.matched > 0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 })
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole > 0 { part as f64 / whole as f64 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_nothing_has_no_share() {
        let counts = |candidate, references| Counts { matched: 0, candidate, references, of_all: true };
        for (candidate, references) in [(0, 0), (0, 3), (3, 0)] {
            let counts = counts(candidate, references);
            assert_eq!((counts.precision(), counts.recall(), counts.f()), (0.0, 0.0, Some(0.0)));
        }
        assert_eq!(Counts { of_all: false, ..counts(3, 0) }.f(), None);
    }
}
