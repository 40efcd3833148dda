//! SPICE of one image, for inspection: both sides' propositions, and which of them match.

use super::concept::{Concept, Lexicon, Rule};
use super::scene::{Proposition, Scene};
use super::{Counted, Counts, Graphs};
use crate::corpus::Corpus;
use crate::wordnet::Synonyms;

/// A proposition of one side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained {
    /// Its parts: object; object and attribute; subject, predicate and object. A part that was merged has several names,
    /// the first that was met first.
    pub parts: Vec<Vec<String>>,
    /// The number of the first proposition of the other side that it matches, one by lemma before one by synonyms, and
    /// the rule.
    pub matched: Option<(usize, Rule)>,
}

/// The explanation of an image's score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// What the candidate says.
    pub candidate: Vec<Explained>,
    /// What the references together say.
    pub references: Vec<Explained>,
    /// Numbers of all propositions.
    pub counts: Counts,
}

/// Explains the score of an image's first candidate.
pub fn explain(graphs: &Graphs, synonyms: &Synonyms, corpus: &Corpus, image: usize) -> Explanation {
    let (mut reader, mut lexicon) = (graphs.reader(), Lexicon::new(synonyms));
    let candidate = graphs.candidate(corpus, corpus.candidates.of_image(image).start);
    let candidate = reader.scene(&[candidate], &mut lexicon);
    let references = reader.scene(&graphs.references(corpus, image), &mut lexicon);
    Explanation {
        candidate: side(&candidate, &references, &lexicon),
        references: side(&references, &candidate, &lexicon),
        counts: Counts::of(&candidate, &references, Counted::All, &lexicon),
    }
}

fn side(own: &Scene, other: &Scene, lexicon: &Lexicon<'_>) -> Vec<Explained> {
    let others: Vec<Proposition<'_>> = other.propositions().collect();
    let names = |concept: &Concept| concept.names().iter().map(|&name| lexicon.name(name).to_owned()).collect();
    let matched = |proposition: Proposition<'_>| {
        let matches = others.iter().enumerate().filter_map(|(at, other)| Some((at, proposition.matches(*other)?)));
        matches.min_by_key(|&(at, rule)| (rule, at))
    };
    own.propositions()
        .map(|proposition| Explained { parts: proposition.parts().map(names).collect(), matched: matched(proposition) })
        .collect()
}
