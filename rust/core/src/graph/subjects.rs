//! Who does or is what.

use super::links::Link;
use super::tree::Tree;
use crate::parse::{Relation, Tag};

/// A word and what is said of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject {
    /// Who does or is something.
    pub(super) word: usize,
    /// What it does or is.
    pub(super) head: usize,
    /// Whether a clause describes the word: `dog` of `a dog wearing a hat`.
    pub(super) is_described: bool,
}

/// All subjects of a caption, in the order of what is said of them.
///
/// `a dog barks` → dog, barks; `a dog sits and barks` → dog, sits; dog, barks; `a dog wearing a hat` → dog, wearing.
pub(super) struct Subjects(Vec<Subject>);

impl Subjects {
    pub(super) fn of_links(tree: &Tree, links: &[Link]) -> Self {
        let mut subjects = Vec::new();
        for link in links {
            match link.relation {
                Relation::Nsubj => subjects.push(Subject { word: link.word, head: link.head, is_described: false }),
                Relation::Acl if tree.is_verb(link.word) => {
                    subjects.push(Subject { word: link.head, head: link.word, is_described: true });
                }
                _ => {}
            }
        }
        for head in 0..tree.len() {
            let shared = shared(tree, head);
            subjects.extend(shared.map(|word| Subject { word, head, is_described: false }));
        }
        subjects.sort_by_key(|subject| subject.head);
        Self(subjects)
    }

    pub(super) fn all(&self) -> &[Subject] {
        &self.0
    }

    /// The subjects of a verb, or of another word that is said of them.
    pub(super) fn of(&self, head: usize) -> &[Subject] {
        let start = self.0.partition_point(|subject| subject.head < head);
        let count = self.0[start..].partition_point(|subject| subject.head == head);
        &self.0[start..start + count]
    }
}

/// The subjects that a word shares with the word that it is joined to: `barks` of `a dog sits and barks`.
///
/// Passive verbs share none (`a dog sits and is fed`); from a passive verb only plain present forms and adjectives do
/// (`a dog is fed and sleeps`, not `a dog was fed and slept`).
fn shared<'a>(tree: &'a Tree, head: usize) -> impl Iterator<Item = usize> + 'a {
    let has_own = tree.has(head, Relation::Nsubj) || tree.has(head, Relation::Nsubjpass);
    let joins = tree.relation(head) == Relation::Conj && (tree.is_verb(head) || tree.is_adjective(head));
    let first = tree.head(head).filter(|_| joins && !has_own && !tree.has(head, Relation::Auxpass));
    let is_plain = matches!(tree.tag(head), Tag::Vb | Tag::Vbp | Tag::Vbz) || tree.is_adjective(head);
    first.into_iter().flat_map(|first| tree.dependents(first)).filter(move |&word| match tree.relation(word) {
        Relation::Nsubj => true,
        Relation::Nsubjpass => is_plain,
        _ => false,
    })
}
