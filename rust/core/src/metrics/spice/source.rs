//! Where scene graphs come from.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::engine::Resource;
use crate::graph::SceneGraph;
use crate::parse::{Memory, Parser};

/// The scene graphs of captions: from the parser here, or made elsewhere.
pub enum Graphs {
    /// Parsed as they are asked for.
    Parsed(Arc<Parser>),
    /// By caption: its tokens joined by blanks.
    Given(FxHashMap<Box<str>, SceneGraph>),
}

impl Resource for Graphs {
    const NAME: &'static str = "scene graphs";
}

impl Graphs {
    /// Graphs of captions for one thread.
    pub fn captions(&self) -> Captions<'_> {
        match self {
            Self::Parsed(parser) => Captions::Parsed(parser, Box::new(parser.memory())),
            Self::Given(graphs) => Captions::Given(graphs),
        }
    }
}

/// Graphs with the working memory of a thread.
pub enum Captions<'a> {
    /// Parsed as they are asked for.
    Parsed(&'a Parser, Box<Memory>),
    /// By caption.
    Given(&'a FxHashMap<Box<str>, SceneGraph>),
}

impl Captions<'_> {
    /// The graph of a caption, with the words that it counts by: the parser cuts `cannot` in two.
    pub fn words_and_graph(&mut self, tokens: &[&str]) -> (Vec<String>, SceneGraph) {
        if let Self::Parsed(parser, memory) = self {
            let words = parser.parse(memory, tokens);
            let graph = SceneGraph::of(&words);
            return (words.into_iter().map(|word| word.text).collect(), graph);
        }
        let mut found = SceneGraph::default();
        self.graph(tokens, |graph| found.clone_from(graph));
        (tokens.iter().map(|&token| token.to_owned()).collect(), found)
    }

    /// Calls `use_` with the graph of a caption; an unknown one says nothing.
    pub fn graph(&mut self, tokens: &[&str], use_: impl FnOnce(&SceneGraph)) {
        match self {
            Self::Parsed(parser, memory) => use_(&SceneGraph::of(&parser.parse(memory, tokens))),
            Self::Given(graphs) => {
                if let Some(graph) = graphs.get(&*tokens.join(" ")) {
                    use_(graph);
                }
            }
        }
    }
}
