//! A caption as it is read: its words, its sentences, and its scene graph.

use crate::graph::SceneGraph;

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
    /// Whether each word counts: not if the graph says only what is denied, or not in the picture, by it.
    pub(super) fn counted_words(&self) -> Vec<bool> {
        let graph = &self.graph;
        let objects = graph.objects.iter().map(|one| (&one.words, one.status));
        let attributes = graph.attributes.iter().map(|one| (&one.words, one.status));
        let relations = graph.relations.iter().map(|one| (&one.words, one.status));
        let (mut said, mut unsaid) = (vec![false; self.tokens.len()], vec![false; self.tokens.len()]);
        for (words, status) in objects.chain(attributes).chain(relations) {
            let told: &mut Vec<bool> = if status.is_said() { &mut said } else { &mut unsaid };
            for &word in words {
                told[word] = true;
            }
        }
        said.iter().zip(&unsaid).map(|(said, unsaid)| *said || !unsaid).collect()
    }
}
