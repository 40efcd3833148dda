//! Where scene graphs come from.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::concept::Lexicon;
use super::scene::Scene;
use crate::corpus::Corpus;
use crate::engine::Resource;
use crate::graph::paragraph::Text;
use crate::graph::{SceneGraph, statuses};
use crate::parse::{Memory, Parser};
use crate::text::vocabulary::Word;

/// The ends of the sentences of captions that have several, by the caption's number: see [`Parser::parse_sentences`].
pub type Ends = FxHashMap<usize, Vec<usize>>;

/// A caption as its tokens, and the ends of its sentences.
pub struct Caption<'a> {
    /// The tokens.
    pub tokens: Vec<&'a str>,
    /// The places behind the last token of each sentence but the last.
    pub ends: &'a [usize],
}

/// Scene graphs of captions: by the parser here, or computed elsewhere.
pub enum Graphs {
    /// Parsed as they are asked for.
    Parsed {
        /// The parser.
        parser: Arc<Parser>,
        /// Of the corpus' candidates.
        candidates: Ends,
        /// Of the corpus' references.
        references: Ends,
    },
    /// A graph per caption, by its tokens joined by blanks.
    Given(FxHashMap<Box<str>, SceneGraph>),
}

impl Resource for Graphs {
    const NAME: &'static str = "scene graphs";
}

impl Graphs {
    /// A reader of them for one thread.
    pub fn reader(&self) -> Reader<'_> {
        let memory = match self {
            Self::Parsed { parser, .. } => Some(Box::new(parser.worker())),
            Self::Given(_) => None,
        };
        Reader { graphs: self, memory }
    }

    /// A candidate of a corpus, by the number of its sentence.
    pub(super) fn candidate<'a>(&'a self, corpus: &'a Corpus, number: usize) -> Caption<'a> {
        let ends = if let Self::Parsed { candidates, .. } = self { candidates.get(&number) } else { None };
        caption(corpus, corpus.candidates.words(number), ends)
    }

    /// The references of an image of a corpus.
    pub(super) fn references<'a>(&'a self, corpus: &'a Corpus, image: usize) -> Vec<Caption<'a>> {
        let known = if let Self::Parsed { references, .. } = self { Some(references) } else { None };
        let sentences = &corpus.references.sentences;
        let ends = |number: usize| known.and_then(|known| known.get(&number));
        sentences.of_image(image).map(|number| caption(corpus, sentences.words(number), ends(number))).collect()
    }

    /// How many of the tokens the parser knows, and how many there are; neither where captions were parsed elsewhere.
    pub(super) fn known(&self, caption: &Caption<'_>) -> (usize, usize) {
        let Self::Parsed { parser, .. } = self else { return (0, 0) };
        (caption.tokens.iter().filter(|token| parser.knows(token)).count(), caption.tokens.len())
    }
}

fn caption<'a>(corpus: &'a Corpus, words: &[Word], ends: Option<&'a Vec<usize>>) -> Caption<'a> {
    let tokens = words.iter().map(|&word| corpus.vocabulary.word(word)).collect();
    Caption { tokens, ends: ends.map_or(&[], Vec::as_slice) }
}

/// Scene graphs with the working memory of a thread.
pub struct Reader<'a> {
    graphs: &'a Graphs,
    memory: Option<Box<Memory>>,
}

impl Reader<'_> {
    /// The words that a caption's graph counts, and the graph, in which what the caption denies or hedges is marked.
    pub fn marked_graph(&mut self, caption: &Caption<'_>) -> (Vec<String>, SceneGraph) {
        let (Graphs::Parsed { parser, .. }, Some(memory)) = (self.graphs, &mut self.memory) else {
            return self.words_and_graph(caption);
        };
        let words = parser.parse_sentences(memory, &caption.tokens, caption.ends);
        let mut graph = SceneGraph::of_sentences(&words, caption.ends);
        let text = Text { ends: caption.ends.to_vec(), ..Text::default() };
        graph.mark(&statuses(&words, &text));
        (words.into_iter().map(|word| word.text).collect(), graph)
    }

    /// The words that a caption's graph counts, and the graph; an unknown caption has an empty graph.
    pub fn words_and_graph(&mut self, Caption { tokens, ends }: &Caption<'_>) -> (Vec<String>, SceneGraph) {
        match (self.graphs, &mut self.memory) {
            (Graphs::Parsed { parser, .. }, Some(memory)) => {
                let words = parser.parse_sentences(memory, tokens, ends);
                let graph = SceneGraph::of_sentences(&words, ends);
                (words.into_iter().map(|word| word.text).collect(), graph)
            }
            (Graphs::Given(graphs), _) => {
                let words = tokens.iter().map(|&token| token.to_owned()).collect();
                (words, graphs.get(&*tokens.join(" ")).cloned().unwrap_or_default())
            }
            _ => Default::default(),
        }
    }

    /// The scene of all captions of one side together.
    pub(super) fn scene(&mut self, captions: &[Caption<'_>], lexicon: &mut Lexicon<'_>) -> Scene {
        let mut scene = Scene::default();
        for caption in captions {
            scene.add(&self.words_and_graph(caption).1, lexicon);
        }
        scene
    }
}
