//! Where scene graphs come from.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::lexicon::Lexicon;
use super::scene::Scene;
use crate::engine::Resource;
use crate::graph::SceneGraph;
use crate::parse::{Memory, Parser};

/// Scene graphs of captions: by the parser here, or computed elsewhere.
pub enum Graphs {
    /// Parsed as they are asked for, each as one sentence but those whose sentences' ends are here, by their tokens
    /// joined by blanks: see [`Parser::parse_sentences`].
    Parsed(Arc<Parser>, FxHashMap<Box<str>, Vec<usize>>),
    /// A graph per caption, by its tokens joined by blanks.
    Given(FxHashMap<Box<str>, SceneGraph>),
    /// The scene of one side of the comparison, a candidate or all references of an image, with names merged already:
    /// tuples of one to three parts, whose names are joined by `/`; the key is the captions in their order, one per
    /// line.
    Merged(FxHashMap<Box<str>, Vec<Vec<String>>>),
}

impl Resource for Graphs {
    const NAME: &'static str = "scene graphs";
}

impl Graphs {
    /// A reader of them for one thread.
    pub fn reader(&self) -> Reader<'_> {
        let memory = match self {
            Self::Parsed(parser, _) => Some(Box::new(parser.worker())),
            _ => None,
        };
        Reader { graphs: self, memory }
    }
}

/// Scene graphs with the working memory of a thread.
pub struct Reader<'a> {
    graphs: &'a Graphs,
    memory: Option<Box<Memory>>,
}

impl Reader<'_> {
    /// The words that a caption's graph counts, and the graph; an unknown caption has an empty graph.
    pub fn words_and_graph(&mut self, tokens: &[&str]) -> (Vec<String>, SceneGraph) {
        match (self.graphs, &mut self.memory) {
            (Graphs::Parsed(parser, sentences), Some(memory)) => {
                let known = if sentences.is_empty() { None } else { sentences.get(&*tokens.join(" ")) };
                let words = parser.parse_sentences(memory, tokens, known.map_or(&[], Vec::as_slice));
                let graph = SceneGraph::of(&words);
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
    pub(super) fn scene(&mut self, captions: &[Vec<&str>], lexicon: &mut Lexicon<'_>) -> Scene {
        if let Graphs::Merged(sides) = self.graphs {
            let lines: Vec<String> = captions.iter().map(|tokens| tokens.join(" ")).collect();
            let tuples = sides.get(&*lines.join("\n"));
            return Scene::of_tuples(tuples.map_or(&[], Vec::as_slice), lexicon);
        }
        let mut scene = Scene::default();
        for tokens in captions {
            scene.add(&self.words_and_graph(tokens).1, lexicon);
        }
        scene
    }
}
