//! Coverage and precision of one image, for inspection.

use super::said::{Kind, Lexicon, Said};
use super::{Counts, Expected, Frequencies, Paragraphs, Read, categories, weighed};
use crate::corpus::Corpus;
use crate::wordnet::Synonyms;

/// A statement of one side.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    /// Its kind.
    pub kind: Kind,
    /// Object; object and attribute; subject, predicate and object; one word; or two.
    pub parts: Vec<String>,
    /// The numbers of the caption and of the word in it, for each word that says it.
    pub words: Vec<(usize, usize)>,
    /// How much it counts.
    pub weight: f64,
    /// How far the other side says it.
    pub support: f64,
    /// How far the references of other images say it, in the mean; of a reference, 0.
    pub chance: f64,
}

/// The explanation of an image's scores: the captions of each side as they were read, and what they say.
#[derive(Debug)]
pub struct Explanation {
    /// The candidate.
    pub candidate: (Vec<Read>, Vec<Explained>),
    /// The references.
    pub references: (Vec<Read>, Vec<Explained>),
    /// Coverage, precision and long-f1 of all statements, and of each kind; 0 where there is none.
    pub scores: Vec<(&'static str, [f64; 3])>,
}

/// Explains the scores of an image's first candidate; a match by a synonym is worth `worth`.
pub fn explain(
    paragraphs: &Paragraphs,
    synonyms: &Synonyms,
    frequencies: &Frequencies,
    corpus: &Corpus,
    (image, worth): (usize, f64),
) -> Explanation {
    let (mut memory, mut lexicon) = (paragraphs.parser.worker(), Lexicon::new(synonyms));
    let [candidate, references] = [paragraphs.candidate(corpus, image, 0), paragraphs.references(corpus, image)]
        .map(|captions| paragraphs.read(&mut memory, captions));
    let said = Said::of(&candidate, &mut lexicon);
    let expected = Expected::of(&references, &mut lexicon, worth);
    let counts = Counts::of(&said, &expected, (frequencies, &expected.said), worth);
    let of = |(name, kind)| (name, [0, 2, 4].map(|place| counts.scores(kind)[place]));
    let scores = categories().into_iter().map(of).collect();
    let explained = |side: &Said, other: &Said, frequencies: Option<&Frequencies>| {
        let statements = side.statements.iter().enumerate().map(|(number, statement)| {
            let (weight, support) = weighed(side, other, number, worth);
            let chance = frequencies.map_or(0.0, |frequencies| frequencies.chance(side, statement, other, worth));
            let (parts, words) = (statement.parts.clone(), statement.words.clone());
            Explained { kind: statement.kind, parts, words, weight, support, chance }
        });
        statements.collect()
    };
    Explanation {
        candidate: (candidate, explained(&said, &expected.said, Some(frequencies))),
        references: (references, explained(&expected.said, &said, None)),
        scores,
    }
}
