//! The basic dependencies of a caption, to be walked from heads to their dependents.

use crate::parse::{Relation, Tag, Word};

/// A quantity of several words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Count {
    /// The word that is counted.
    pub(super) counted: usize,
    /// The word that says how many there are.
    pub(super) said: usize,
}

/// A parsed caption and the dependents of each of its words.
/// Any heads are accepted: a word whose head is out of range or itself depends on none, and nothing here follows heads
/// upwards without end.
#[derive(Default)]
pub(super) struct Tree<'a> {
    words: &'a [Word],
    heads: Vec<Option<usize>>,
    relations: Vec<Relation>,
    /// Where the dependents of each word start in `dependents`; one more at the end.
    starts: Vec<u32>,
    dependents: Vec<u32>,
    /// The relations by which each word has dependents: one bit for each of [`Relation::ALL`].
    present: Vec<u64>,
    /// Quantities of several words.
    counts: Vec<Count>,
}

impl<'a> Tree<'a> {
    /// The tree of words whose heads count from a word of number `first`.
    pub(super) fn of(words: &'a [Word], first: usize) -> Self {
        let head = |(number, word): (usize, &Word)| {
            let head = word.head.and_then(|head| head.checked_sub(first));
            head.filter(|&head| head < words.len() && head != number)
        };
        let heads = words.iter().enumerate().map(head).collect();
        let relations = words.iter().map(|word| word.relation).collect();
        let mut tree = Self { words, heads, relations, ..Self::default() };
        tree.index();
        tree
    }

    /// Lists the dependents of each word.
    pub(super) fn index(&mut self) {
        self.starts.clear();
        self.starts.resize(self.len() + 1, 0);
        for &head in self.heads.iter().flatten() {
            self.starts[head + 1] += 1;
        }
        for number in 0..self.len() {
            self.starts[number + 1] += self.starts[number];
        }
        let mut next = self.starts.clone();
        self.dependents.resize(self.starts[self.len()] as usize, 0);
        for (number, head) in self.heads.iter().enumerate() {
            if let &Some(head) = head {
                self.dependents[next[head] as usize] = number as u32;
                next[head] += 1;
            }
        }
        self.present.clear();
        self.present.resize(self.len(), 0);
        for (number, head) in self.heads.iter().enumerate() {
            if let &Some(head) = head {
                self.present[head] |= bit(self.relations[number]);
            }
        }
    }

    /// Number of words.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// The word as it stands in the caption.
    pub(super) fn text(&self, number: usize) -> &'a str {
        &self.words[number].text
    }

    /// The base form of a word.
    pub(super) fn lemma(&self, number: usize) -> &'a str {
        &self.words[number].lemma
    }

    pub(super) fn tag(&self, number: usize) -> Tag {
        self.words[number].tag
    }

    pub(super) fn head(&self, number: usize) -> Option<usize> {
        self.heads[number]
    }

    pub(super) fn relation(&self, number: usize) -> Relation {
        self.relations[number]
    }

    /// Makes a word depend on another one. The lists of dependents stay as they were until `index`.
    pub(super) fn attach(&mut self, number: usize, head: Option<usize>, relation: Relation) {
        self.heads[number] = head.filter(|&head| head != number);
        self.relations[number] = relation;
    }

    /// Notes a quantity.
    pub(super) fn count(&mut self, count: Count) {
        self.counts.push(count);
    }

    /// The quantities of several words.
    pub(super) fn counts(&self) -> &[Count] {
        &self.counts
    }

    pub(super) fn is_plural(&self, number: usize) -> bool {
        matches!(self.tag(number), Tag::Nns | Tag::Nnps)
    }

    /// The dependents of a word, in the order of the caption.
    pub(super) fn dependents(&self, head: usize) -> impl DoubleEndedIterator<Item = usize> + '_ {
        let range = self.starts[head] as usize..self.starts[head + 1] as usize;
        self.dependents[range].iter().map(|&number| number as usize)
    }

    /// The dependents of a word by one relation, in the order of the caption.
    pub(super) fn by(&self, head: usize, relation: Relation) -> impl DoubleEndedIterator<Item = usize> + '_ {
        let all = self.has(head, relation).then(|| self.dependents(head));
        all.into_iter().flatten().filter(move |&number| self.relations[number] == relation)
    }

    /// Whether a word has a dependent by this relation.
    pub(super) fn has(&self, head: usize, relation: Relation) -> bool {
        self.present[head] & bit(relation) != 0
    }

    pub(super) fn is_noun(&self, number: usize) -> bool {
        matches!(self.tag(number), Tag::Nn | Tag::Nns | Tag::Nnp | Tag::Nnps)
    }

    pub(super) fn is_verb(&self, number: usize) -> bool {
        matches!(self.tag(number), Tag::Vb | Tag::Vbd | Tag::Vbg | Tag::Vbn | Tag::Vbp | Tag::Vbz)
    }

    pub(super) fn is_adjective(&self, number: usize) -> bool {
        matches!(self.tag(number), Tag::Jj | Tag::Jjr | Tag::Jjs)
    }

    /// Whether the word is a personal pronoun: `it`, `them`, `her` of `her dog`.
    pub(super) fn is_pronoun(&self, number: usize) -> bool {
        matches!(self.tag(number), Tag::Prp | Tag::PrpPossessive)
    }
}

const _: () = assert!(Relation::ALL.len() <= 64, "a bit for each relation");

fn bit(relation: Relation) -> u64 {
    1 << relation as u32
}
