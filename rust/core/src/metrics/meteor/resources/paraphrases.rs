//! The paraphrase table: phrases as a trie of word numbers, and for each phrase the list of its paraphrases.
//!
//! Nodes are numbered level by level and, within a level, by parent and word. So a phrase of one word has its word's
//! number, the children of a node are consecutive, and the trie is two arrays: the word of each node, and where its
//! children start. A paraphrase is the number of a node too: comparing phrases is comparing numbers.

use std::ops::Range;

use crate::tables::layout::{Bounds, Lists, Numbers, Strings, ToCheck};

#[derive(Debug, Clone)]
pub(super) struct Paraphrases {
    pub(super) words: Strings,
    /// The last word of each phrase.
    last: Numbers,
    children: Bounds,
    pub(super) lists: Lists,
}

impl Paraphrases {
    pub(super) fn new(
        bytes: ToCheck<'_>,
        words: Strings,
        [last, children]: [&Range<usize>; 2],
        lists: [&Range<usize>; 2],
    ) -> Option<Self> {
        let last = Numbers::new(last)?;
        let children = Bounds::new(bytes, children, words.len() as u32, last.len)?;
        let lists = Lists::new(bytes, lists, last.len)?;
        let fits = bytes.is_none_or(|bytes| {
            // A node whose children come before it would let a walk go round in circles.
            let forward = (0..children.parts()).all(|node| children.part(bytes, node).start > node);
            forward && lists.values().iter(bytes).all(|phrase| (phrase as usize) < last.len)
        });
        (children.parts() == last.len && fits).then_some(Self { words, last, children, lists })
    }

    pub(super) fn len(&self) -> usize {
        self.last.len
    }

    pub(super) fn child(&self, bytes: &[u8], phrase: u32, word: u32) -> Option<u32> {
        let children = self.children.part(bytes, phrase as usize);
        let place = self.last.slice(children.clone()).binary_search(bytes, word)?;
        Some((children.start + place) as u32)
    }
}
