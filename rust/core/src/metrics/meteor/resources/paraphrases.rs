//! The paraphrase table: phrases as a trie of word numbers, and for each phrase the list of its paraphrases.
//!
//! Nodes are numbered level by level and, within a level, by parent and word. So a phrase of one word has its word's
//! number, the children of a node are consecutive, and the trie is two arrays: the word of each node, and where its
//! children start. A paraphrase is the number of a node too: comparing phrases is comparing numbers.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::metrics::meteor::normalize::split;
use crate::tables::layout::{Bounds, Lists, Numbers, Strings, ToCheck};
use crate::text::vocabulary::Vocabulary;

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

/// Collects the table, with numbers in the order of first appearance.
#[derive(Default)]
pub(super) struct Collector {
    words: Vocabulary,
    numbers: FxHashMap<(u32, u32), u32>,
    nodes: Vec<Node>,
    pairs: Vec<(u32, u32)>,
}

struct Node {
    parent: u32,
    word: u32,
}

const ROOT: u32 = u32::MAX;

impl Collector {
    /// The number of a phrase; none for one without words.
    pub(super) fn phrase(&mut self, words: &str) -> Option<u32> {
        let mut node = ROOT;
        for word in split(words) {
            let known = self.words.len();
            let word = self.words.intern(word);
            if self.words.len() > known {
                // Every word is a node: the final numbers of words and of one-word phrases then agree.
                self.child(ROOT, word);
            }
            node = self.child(node, word);
        }
        (node != ROOT).then_some(node)
    }

    fn child(&mut self, parent: u32, word: u32) -> u32 {
        let next = self.nodes.len() as u32;
        *self.numbers.entry((parent, word)).or_insert_with(|| {
            self.nodes.push(Node { parent, word });
            next
        })
    }

    pub(super) fn push(&mut self, phrase: u32, paraphrase: u32) {
        self.pairs.push((phrase, paraphrase));
    }

    /// The six sections of the table.
    pub(super) fn write(self) -> [Vec<u8>; 6] {
        drop(self.numbers);
        let (words, ranks) = ranked(&self.words);
        let Renumbered { numbers, last, children } = renumber(&self.nodes, &ranks);
        let [bounds, values] = lists(&self.pairs, &numbers);
        let [text, text_bounds] = Strings::write(words.into_iter());
        let flat = |numbers: Vec<u32>| numbers.into_iter().flat_map(u32::to_le_bytes).collect();
        [text, text_bounds, flat(last), flat(children), flat(bounds), flat(values)]
    }
}

/// The words sorted, and the place of each among them.
fn ranked(words: &Vocabulary) -> (Vec<&str>, Vec<u32>) {
    let mut order: Vec<u32> = (0..words.len() as u32).collect();
    order.sort_unstable_by_key(|&word| words.word(word));
    let mut ranks = vec![0; order.len()];
    (0..).zip(&order).for_each(|(rank, &word)| ranks[word as usize] = rank);
    (order.into_iter().map(|word| words.word(word)).collect(), ranks)
}

struct Renumbered {
    numbers: Vec<u32>,
    last: Vec<u32>,
    children: Vec<u32>,
}

/// Final numbers: level by level, by parent and word.
fn renumber(nodes: &[Node], ranks: &[u32]) -> Renumbered {
    let mut levels: Vec<Vec<u32>> = Vec::new();
    let mut depths: Vec<u8> = Vec::with_capacity(nodes.len());
    for (number, node) in (0..).zip(nodes) {
        let depth = if node.parent == ROOT { 0 } else { depths[node.parent as usize].saturating_add(1) };
        depths.push(depth);
        levels.resize_with(levels.len().max(usize::from(depth) + 1), Vec::new);
        levels[usize::from(depth)].push(number);
    }
    let mut numbers = vec![0_u32; nodes.len()];
    let mut last = Vec::with_capacity(nodes.len());
    let mut counts = vec![0_u32; nodes.len()];
    for mut level in levels {
        let parent = |node: &Node| if node.parent == ROOT { 0 } else { numbers[node.parent as usize] };
        level.sort_by_cached_key(|&number| {
            let node = &nodes[number as usize];
            (parent(node), ranks[node.word as usize])
        });
        for number in level {
            let node = &nodes[number as usize];
            if node.parent != ROOT {
                counts[numbers[node.parent as usize] as usize] += 1;
            }
            numbers[number as usize] = last.len() as u32;
            last.push(ranks[node.word as usize]);
        }
    }
    let mut next = ranks.len() as u32;
    let mut children = vec![next];
    children.extend(counts.into_iter().map(|count| {
        next += count;
        next
    }));
    Renumbered { numbers, last, children }
}

/// Paraphrases by phrase, each list in the order of the table: bounds and values.
fn lists(pairs: &[(u32, u32)], numbers: &[u32]) -> [Vec<u32>; 2] {
    let mut bounds = vec![0_u32; numbers.len() + 1];
    for &(phrase, _) in pairs {
        bounds[numbers[phrase as usize] as usize + 1] += 1;
    }
    for at in 1..bounds.len() {
        bounds[at] += bounds[at - 1];
    }
    let mut next = bounds.clone();
    let mut values = vec![0; pairs.len()];
    for &(phrase, paraphrase) in pairs {
        let place = &mut next[numbers[phrase as usize] as usize];
        values[*place as usize] = numbers[paraphrase as usize];
        *place += 1;
    }
    [bounds, values]
}
