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
    /// The status of each token.
    pub statuses: Vec<Status>,
}

impl Read {
    /// Whether each word counts: not if the caption denies it, asks or commands, nor if it stands only for what is denied.
    pub(super) fn counted_words(&self) -> Vec<bool> {
        let graph = &self.graph;
        let objects = graph.objects.iter().map(|one| (&one.words, one.status));
        let attributes = graph.attributes.iter().map(|one| (&one.words, one.status));
        let relations = graph.relations.iter().map(|one| (&one.words, one.status));
        let mut counted: Vec<bool> = self.statuses.iter().map(|status| status.is_said()).collect();
        let (said, denied): (Vec<_>, Vec<_>) = objects
            .chain(attributes)
            .chain(relations)
            .filter(|(_, status)| *status != Status::Aside)
            .partition(|(_, status)| *status != Status::Denied);
        for (words, counts) in
            denied.into_iter().map(|one| (one.0, false)).chain(said.into_iter().map(|one| (one.0, true)))
        {
            for &word in words {
                counted[word] = counts;
            }
        }
        counted
    }
}
