//! `coverage`, `precision` and `rubric`: what a caption says, what its references or the items of a rubric say, and how
//! much of the one is in the other.
//!
//! What the references of other images say of a caption is chance, which is subtracted.
//!
//! A statement is a thing, a quality of a thing or a relation of two things in the scene graph of a text; or a content
//! word, or two of them near each other. Each distinct statement counts once. Words are compared by their stems, and parts
//! of the graph by synonyms, too, for which a match is worth less.

mod content;

use std::slice;
use std::sync::Arc;

use crate::corpus::Corpus;
use crate::engine::{Built, Kernel, Parameters, Prepared, Resource, Resources, with_memory};
use crate::graph::paragraph::{Text, graph};
use crate::parse::{Memory, Parser};
use crate::text::tokenize::Tokenizer;
use crate::wordnet::Synonyms;
pub use content::{Frequencies, Kind, Read};
use content::{Lexicon, Said};

/// The captions of a corpus as they were given, with what it takes to read them.
pub struct Paragraphs {
    /// The parser.
    pub parser: Arc<Parser>,
    /// Cuts captions into words.
    pub tokenizer: Tokenizer,
    /// All candidates, by their numbers in the corpus.
    pub candidates: Vec<String>,
    /// All references, likewise.
    pub references: Vec<String>,
}

impl Resource for Paragraphs {
    const NAME: &'static str = "captions as paragraphs";
}

impl Paragraphs {
    fn read(&self, memory: &mut Memory, captions: &[String]) -> Vec<Read> {
        let read = |caption: &String| {
            let text = Text::of(caption, self.tokenizer);
            let (graph, statuses) = graph(&self.parser, memory, &text);
            Read { tokens: text.tokens, ends: text.ends, graph, statuses }
        };
        captions.iter().map(read).collect()
    }

    fn candidate(&self, corpus: &Corpus, image: usize, candidate: usize) -> &[String] {
        let number = corpus.candidates.of_image(image).start + candidate;
        self.candidates.get(number..=number).unwrap_or_default()
    }

    fn references(&self, corpus: &Corpus, image: usize) -> &[String] {
        self.references.get(corpus.references.sentences.of_image(image)).unwrap_or_default()
    }
}

/// Which of the two sides is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// How much of what the references say the caption says.
    Coverage,
    /// How much of what the caption says the references say.
    Precision,
    /// Both together.
    F1,
    /// How much of each item, which is a reference, the caption says.
    Rubric,
}

#[derive(Debug, Clone, Copy)]
struct Share {
    figure: Asked,
    /// None: all kinds.
    kind: Option<Kind>,
    /// What a match by a synonym is worth.
    synonyms: f64,
}

/// All statements, and those of each kind, by name.
fn categories() -> Vec<(&'static str, Option<Kind>)> {
    [("all", None)].into_iter().chain(Kind::ALL.map(|kind| (kind.name(), Some(kind)))).collect()
}

/// Builds a score: `category`, but for the rubric, and `synonyms`.
pub(crate) fn build(figure: Asked, parameters: &mut Parameters) -> Built {
    let kind = if figure == Asked::Rubric { None } else { parameters.choice("category", &categories())? };
    Ok(Box::new(Share { figure, kind, synonyms: parameters.number("synonyms", 0.0..=1.0)? }))
}

/// The scores in a row, in this order, each with the 1 of a mean.
const SCORES: [Asked; 3] = [Asked::Coverage, Asked::Precision, Asked::F1];

/// Columns of a row: the scores of the candidate; those of the first reference, by all others; four numbers for each kind:
/// see [`Counts`].
const WIDTH: usize = 4 * SCORES.len() + 4 * Kind::ALL.len();

/// Columns of a rubric's row: supports of the items, the number of items, of those that are said whole, and of those of
/// which nothing is said.
const RUBRIC_WIDTH: usize = 4;

impl Kernel for Share {
    fn width(&self) -> usize {
        if self.figure == Asked::Rubric { RUBRIC_WIDTH } else { WIDTH }
    }

    fn shared_statistics(&self) -> Option<&'static str> {
        let usual = self.figure != Asked::Rubric && self.kind.is_none() && self.synonyms.to_bits() == 0.5_f64.to_bits();
        usual.then_some("statements")
    }

    fn prepare<'a>(&'a self, corpus: &'a Corpus, resources: &'a Resources) -> Prepared<'a> {
        let (paragraphs, synonyms) = (resources.need::<Paragraphs>()?, resources.need::<Synonyms>()?);
        let memory = || (paragraphs.parser.worker(), Lexicon::new(synonyms));
        if self.figure == Asked::Rubric {
            return Ok(with_memory(memory, |(memory, lexicon), image, candidate, row| {
                let of = (image.number, candidate);
                for support in of_items(paragraphs, (memory, lexicon), corpus, of, self.synonyms) {
                    row[0] += support.unwrap_or(0.0);
                    row[1] += 1.0;
                    row[2] += f64::from(support == Some(1.0));
                    row[3] += f64::from(support == Some(0.0));
                }
            }));
        }
        let frequencies = resources.need::<Frequencies>()?;
        // With what an image's references say, by the image's number: the next candidate is often of the same image.
        let memory = move || (memory(), None::<(usize, Expected, [f64; 2 * SCORES.len()])>);
        Ok(with_memory(memory, move |((memory, lexicon), last), image, candidate, row| {
            let number = image.number;
            if last.as_ref().is_none_or(|(image, ..)| *image != number) {
                let read = paragraphs.read(memory, paragraphs.references(corpus, number));
                let expected = Expected::of(&read, lexicon, self.synonyms);
                let mut people = [0.0; 2 * SCORES.len()];
                if let [first, rest @ ..] = &read[..]
                    && !rest.is_empty()
                {
                    let (first, rest) =
                        (Said::of(slice::from_ref(first), lexicon), Expected::of(rest, lexicon, self.synonyms));
                    people =
                        Counts::of(&first, &rest, (frequencies, &expected.content), self.synonyms).scores(self.kind);
                }
                *last = Some((number, expected, people));
            }
            let Some((_, expected, people)) = last else { return };
            let content = Said::of(&paragraphs.read(memory, paragraphs.candidate(corpus, number, candidate)), lexicon);
            let counts = Counts::of(&content, expected, (frequencies, &expected.content), self.synonyms);
            row.copy_from_slice(&[&counts.scores(self.kind)[..], people, counts.by_kind.as_flattened()].concat());
        }))
    }

    /// The mean over the images that have a score; none if there is no such image.
    fn score(&self, sums: &[f64]) -> f64 {
        let place = 2 * SCORES.iter().position(|&score| score == self.figure).unwrap_or_default();
        if sums[place + 1] > 0.0 { sums[place] / sums[place + 1] } else { f64::NAN }
    }
}

/// What references say together, and for each kind how much one of them says in the mean.
struct Expected {
    content: Said,
    length: [f64; Kind::ALL.len()],
}

impl Expected {
    fn of(references: &[Read], lexicon: &mut Lexicon<'_>, synonyms: f64) -> Self {
        let mut length = [0.0; Kind::ALL.len()];
        for reference in references {
            let content = Said::of(slice::from_ref(reference), lexicon);
            for (number, statement) in content.statements.iter().enumerate() {
                length[statement.kind as usize] += weight(&content, number, synonyms) / references.len() as f64;
            }
        }
        Self { content: Said::of(references, lexicon), length }
    }
}

struct Counts {
    /// For each kind, with what chance would give subtracted: the candidate's statements that the references say, and all
    /// of the candidate's, without that; the references' that the candidate says, and all of the references'.
    by_kind: [[f64; 4]; Kind::ALL.len()],
    /// For each kind, what one reference says in the mean.
    length: [f64; Kind::ALL.len()],
}

impl Counts {
    /// Chance is by the frequencies without the image whose references say `excluded`.
    fn of(caption: &Said, expected: &Expected, (frequencies, excluded): (&Frequencies, &Said), synonyms: f64) -> Self {
        let precision = supports(caption, &expected.content, synonyms);
        let coverage = supports(&expected.content, caption, synonyms);
        let mut by_chance = [0.0; Kind::ALL.len()];
        for (number, statement) in caption.statements.iter().enumerate() {
            let chance = frequencies.chance(caption, statement, excluded, synonyms);
            by_chance[statement.kind as usize] += weight(caption, number, synonyms) * chance;
        }
        let by_kind = std::array::from_fn(|kind| {
            let ([supported, stated], [covered, expected]) = (precision[kind], coverage[kind]);
            [supported - by_chance[kind], stated, covered - by_chance[kind], expected]
        });
        Self { by_kind, length: expected.length }
    }

    /// Each score and a 1; zeros where nothing of the kind is said. All are 0 where a side says nothing at all.
    ///
    /// What a caption says less than a reference counts half as said: who says only what is surest is not more precise.
    fn scores(&self, kind: Option<Kind>) -> [f64; 2 * SCORES.len()] {
        let kinds = kind.map_or(0..Kind::ALL.len(), |kind| kind as usize..kind as usize + 1);
        let sum = |place| self.by_kind[kinds.clone()].iter().map(|numbers| numbers[place]).sum();
        let [supported, stated, covered, expected]: [f64; 4] = std::array::from_fn(sum);
        let length: f64 = self.length[kinds.clone()].iter().sum();
        let silent = kind.is_none() && (stated == 0.0 || expected == 0.0);
        let stated = if stated > 0.0 { stated.max(f64::midpoint(stated, length)) } else { 0.0 };
        let shares = [(covered, expected), (supported, stated), (supported + covered, stated + expected)];
        let score = |(part, whole)| {
            if silent {
                [0.0, 1.0]
            } else if whole > 0.0 {
                [part / whole, 1.0]
            } else {
                [0.0; 2]
            }
        };
        std::array::from_fn(|place| score(shares[place / 2])[place % 2])
    }
}

/// For each kind, what a side says: the weight that the other side supports, and the whole weight.
type Supports = [[f64; 2]; Kind::ALL.len()];

fn supports(side: &Said, other: &Said, synonyms: f64) -> Supports {
    let mut supports = [[0.0; 2]; Kind::ALL.len()];
    for (number, statement) in side.statements.iter().enumerate() {
        let (weight, support) = weighed(side, other, number, synonyms);
        let kind = &mut supports[statement.kind as usize];
        kind[0] += weight * support;
        kind[1] += weight;
    }
    supports
}

/// The supported share of one kind, or of all; none where nothing of it is said.
fn share(supports: &Supports, kind: Option<Kind>) -> Option<f64> {
    let [part, whole] = match kind {
        Some(kind) => supports[kind as usize],
        None => [0, 1].map(|place| supports.iter().map(|numbers| numbers[place]).sum()),
    };
    (whole > 0.0).then(|| part / whole)
}

/// The weight of a statement, and how far the other side says it: 1, `synonyms` or 0.
fn weighed(side: &Said, other: &Said, number: usize, synonyms: f64) -> (f64, f64) {
    let statement = &side.statements[number];
    let support = if other.same(statement).is_some() {
        1.0
    } else if synonyms > 0.0 && !other.alike(side, statement).is_empty() {
        synonyms
    } else {
        0.0
    };
    (weight(side, number, synonyms), support)
}

/// Statements of one side that say the same by synonyms share the weight of one: `couch` and `sofa` are one thing.
fn weight(side: &Said, number: usize, synonyms: f64) -> f64 {
    if synonyms > 0.0 { 1.0 / side.alike(side, &side.statements[number]).len() as f64 } else { 1.0 }
}

// `rubric`: how many of the items that are asked for a caption says. An image's references are its items.

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
    let support = |item| share(&supports(&Said::of(std::slice::from_ref(item), lexicon), &caption, worth), None);
    items.iter().map(support).collect()
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

// Coverage and precision of one image, for inspection.

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
    let content = Said::of(&candidate, &mut lexicon);
    let expected = Expected::of(&references, &mut lexicon, worth);
    let counts = Counts::of(&content, &expected, (frequencies, &expected.content), worth);
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
        candidate: (candidate, explained(&content, &expected.content, Some(frequencies))),
        references: (references, explained(&expected.content, &content, None)),
        scores,
    }
}
