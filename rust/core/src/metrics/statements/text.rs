//! A caption as it is read: its words, its sentences, and its scene graph.

use crate::graph::{SceneGraph, Status};

/// A caption that was read.
#[derive(Debug, Default)]
pub struct Read {
    /// Its tokens.
    pub tokens: Vec<String>,
    /// The places behind the last token of each sentence but the last.
    pub ends: Vec<usize>,
    /// Its graph, whose words are numbers of tokens.
    pub graph: SceneGraph,
}

impl Read {
    /// Whether each word counts: not if it stands only for what is denied.
    pub(super) fn counted_words(&self) -> Vec<bool> {
        let graph = &self.graph;
        let objects = graph.objects.iter().map(|one| (&one.words, one.status));
        let attributes = graph.attributes.iter().map(|one| (&one.words, one.status));
        let relations = graph.relations.iter().map(|one| (&one.words, one.status));
        let (mut said, mut denied) = (vec![false; self.tokens.len()], vec![false; self.tokens.len()]);
        for (words, status) in objects.chain(attributes).chain(relations) {
            let told = if status == Status::Denied { &mut denied } else { &mut said };
            for &word in words {
                told[word] = true;
            }
        }
        said.iter().zip(&denied).map(|(said, denied)| *said || !denied).collect()
    }
}
