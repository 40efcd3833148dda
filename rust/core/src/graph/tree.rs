//! The basic dependencies of a caption, to be walked from heads to their dependents.

use crate::parse::{Relation, Tag, Word};

/// A quantity of several words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Count {
    /// The word that is counted.
    pub(super) counted: usize,
    /// The word that says how many there are.
    pub(super) amount: usize,
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
    pub(super) counts: Vec<Count>,
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
    fn index(&mut self) {
        self.starts = vec![0; self.len() + 1];
        for &head in self.heads.iter().flatten() {
            self.starts[head + 1] += 1;
        }
        for number in 0..self.len() {
            self.starts[number + 1] += self.starts[number];
        }
        let mut next = self.starts.clone();
        self.dependents.resize(self.starts[self.len()] as usize, 0);
        self.present = vec![0; self.len()];
        for (number, head) in self.heads.iter().enumerate() {
            if let &Some(head) = head {
                self.dependents[next[head] as usize] = number as u32;
                next[head] += 1;
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

    pub(super) fn is_plural(&self, number: usize) -> bool {
        matches!(self.tag(number), Tag::Nns | Tag::Nnps)
    }

    /// The dependents of a word, in the order of the caption.
    fn dependents(&self, head: usize) -> impl DoubleEndedIterator<Item = usize> + '_ {
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

// A few words of a caption, such as a preposition of several words.

/// A few words of the caption, in order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Phrase {
    words: [u32; Self::MOST],
    count: u8,
}

impl Phrase {
    const MOST: usize = 6;

    /// Adds a word; a phrase that is full stays as it is.
    pub(super) fn push(&mut self, word: usize) {
        if usize::from(self.count) < Self::MOST {
            self.words[usize::from(self.count)] = word as u32;
            self.count += 1;
        }
    }

    /// The words of this phrase, then those of another.
    pub(super) fn with(mut self, other: Self) -> Self {
        other.words().for_each(|word| self.push(word));
        self
    }

    pub(super) fn words(&self) -> impl Iterator<Item = usize> + '_ {
        self.words[..usize::from(self.count)].iter().map(|&word| word as usize)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl FromIterator<usize> for Phrase {
    fn from_iter<T: IntoIterator<Item = usize>>(words: T) -> Self {
        let mut phrase = Self::default();
        words.into_iter().for_each(|word| phrase.push(word));
        phrase
    }
}

// Quantities of several words: in `a couple of dogs run` and in `one of the dogs runs`, the dogs run.

/// Nouns that are quantities after an article: `a couple of dogs`.
const AFTER_ARTICLE: &str = "
    array assortment bit bunch clutch couple dozen form handful heap kind litany lot mountain multitude number pair
    plethora range series sheaf slew sort spate string ton total triple type variety version wad wave";

/// Words that are quantities without article: `lots of dogs`.
const ALONE: &str = "
    dozens hundreds loads lots many millions mountains multitudes pairs plenty several thousands tons";

/// Words that are quantities before `of the` and `of them`: `some of the dogs`. Numbers are too.
const BEFORE_OF_THE: [&str; 3] = ["all", "both", "some"];

/// Replaces a quantity by the word that is counted.
///
/// `a bunch of kids run` → `kids` is the subject. What is said of their number is the first word of the quantity: `a` here,
/// `lots` of `lots of dogs run`, but `with` of `with lots of dogs`.
pub(super) fn turn_quantities(tree: &mut Tree) {
    let mut turned = false;
    for quantity in 0..tree.len().saturating_sub(2) {
        let of = quantity + 1;
        if tree.text(of) != "of" || tree.relation(of) != Relation::Case {
            continue;
        }
        let Some(counted) = tree.head(of).filter(|&counted| tree.head(counted) == Some(quantity)) else { continue };
        if tree.relation(counted) != Relation::Nmod || !is_quantity(tree, quantity) {
            continue;
        }
        let first = match tree.by(quantity, Relation::Det).next() {
            Some(article) => article,
            None => tree.dependents(quantity).next().filter(|&first| first < quantity).unwrap_or(quantity),
        };
        replace_quantity(tree, quantity, counted, first);
        turned = true;
    }
    if turned {
        tree.index();
    }
}

fn is_quantity(tree: &Tree, quantity: usize) -> bool {
    let text = tree.text(quantity);
    let article = tree.by(quantity, Relation::Det).next();
    match article.map(|article| tree.lemma(article)) {
        Some("a" | "an") => has_word(AFTER_ARTICLE, text),
        Some(_) => false,
        None => {
            let is_partial = BEFORE_OF_THE.contains(&text) || tree.tag(quantity) == Tag::Cd;
            has_word(ALONE, text)
                || (is_partial && (tree.text(quantity + 2) == "the" || tree.tag(quantity + 2) == Tag::Prp))
        }
    }
}

/// Whether a list of words has the word.
fn has_word(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

/// The `of` that still links a quantity with a word: in `a bunch of apples and pears` the apples take the place of the
/// bunch, but the pears stay in it.
fn quantity_before(tree: &Tree, word: usize) -> Option<Phrase> {
    let quantity = tree.head(word).filter(|_| tree.relation(word) == Relation::Nmod)?;
    let is_part = |number: usize| number < tree.len() && tree.relation(number) == Relation::Mwe;
    let is_quantity = is_part(quantity) && is_part(quantity + 1) && tree.text(quantity + 1) == "of";
    is_quantity.then(|| std::iter::once(quantity + 1).collect())
}

/// Attaches what is counted to the head of the quantity, and the quantity to what is counted.
fn replace_quantity(tree: &mut Tree, quantity: usize, counted: usize, amount: usize) {
    let (head, relation) = (tree.head(quantity), tree.relation(quantity));
    let dependents: Vec<usize> = tree.dependents(quantity).collect();
    let joined: Vec<usize> = tree.by(counted, Relation::Conj).collect();
    for word in joined {
        tree.attach(word, Some(quantity), Relation::Nmod);
    }
    for word in dependents {
        match tree.relation(word) {
            relation @ (Relation::Case | Relation::Advmod | Relation::Conj) => {
                tree.attach(word, Some(counted), relation);
            }
            Relation::Amod | Relation::Compound | Relation::Nummod => tree.attach(word, Some(counted), Relation::Mwe),
            _ => {}
        }
    }
    tree.attach(counted, head, relation);
    tree.attach(quantity, Some(counted), Relation::Mwe);
    tree.attach(quantity + 1, Some(counted), Relation::Mwe);
    tree.counts.push(Count { counted, amount });
}

// Prepositions of several words.

/// Pairs that make one preposition where both depend on the noun: `a cigarette out of a box`.
const BEFORE_NOUN: &str = "
    across from, along with, apart from, as for, as from, as of, as per, as to, aside from, based on, compared to,
    compared with, except for, far from, inside of, near to, next to, off of, out of, together with";

/// Pairs that make one preposition where the noun depends on the first word, which may be a noun itself, except for
/// `inside`: `a dog sits next to a cat`, `a dog outside of a house`.
const WITH_NOUN: &str = "
    across from, apart from, as from, aside from, away from, close by, close to, contrary to, far from, inside of,
    near to, next to, outside of, regardless of";

/// Triples that make one preposition: `a dog sits in front of a cat`.
const TRIPLES: &str = "
    by means of, in accordance with, in addition to, in case of, in front of, in lieu of, in place of, in spite of,
    on account of, on behalf of, on top of, with regard to, with respect to";

/// Whether a list has these words together.
pub(super) fn is_listed(list: &str, words: &[&str]) -> bool {
    list.split(',').any(|listed| listed.split_ascii_whitespace().eq(words.iter().copied()))
}

/// Puts the noun after a preposition of several words in the place of the word that it depended on, with all that
/// depended there.
///
/// `a dog sits next to a cat` → `cat` depends on `sits`; `a dog is in front of a cat` → `cat` is what the dog is said to be.
pub(super) fn turn_prepositions(tree: &mut Tree) {
    let mut turned = false;
    for inner in 0..tree.len().saturating_sub(1) {
        let case = inner + 1;
        let Some(noun) = tree.head(case).filter(|_| tree.relation(case) == Relation::Case) else { continue };
        if tree.head(noun) != Some(inner) || tree.relation(noun) != Relation::Nmod {
            continue;
        }
        let first = inner.checked_sub(1).filter(|&first| tree.head(first) == Some(inner));
        let triple = first.filter(|&first| is_listed(TRIPLES, &[tree.text(first), tree.text(inner), tree.text(case)]));
        let is_pair = is_listed(WITH_NOUN, &[tree.text(inner), tree.text(case)])
            && !(tree.is_noun(inner) && tree.text(inner) == "inside");
        if triple.is_some() || is_pair {
            replace_inner(tree, inner, noun);
            for part in triple.into_iter().chain([inner]) {
                tree.attach(part, Some(case), Relation::Mwe);
            }
            turned = true;
        }
    }
    if turned {
        tree.index();
    }
}

fn replace_inner(tree: &mut Tree, inner: usize, noun: usize) {
    let is_clause = tree.has(inner, Relation::Nsubj) || tree.head(inner).is_none();
    let relation = match tree.relation(inner) {
        Relation::Conj if !tree.head(inner).is_some_and(|head| tree.is_verb(head)) => Relation::Conj,
        relation if is_clause => relation,
        _ => Relation::Nmod,
    };
    let moved: Vec<usize> = tree.dependents(inner).filter(|&word| word != noun).collect();
    tree.attach(noun, tree.head(inner), relation);
    for word in moved {
        tree.attach(word, Some(noun), tree.relation(word));
    }
}

/// The first preposition of a noun: `on` of `the lamp is on in a house`.
pub(super) fn first_preposition(tree: &Tree, noun: usize) -> Option<Phrase> {
    let mut cases = tree.by(noun, Relation::Case);
    let case = cases.next()?;
    let is_pair = |&next: &usize| is_listed(BEFORE_NOUN, &[tree.text(case), tree.text(next)]) && next == case + 1;
    Some(cases.next().filter(is_pair).map_or_else(|| paired(tree, noun, case), |next| paired(tree, noun, next)))
}

/// A preposition of a noun with what it makes one preposition with: `out of`, `because of`, `in front of`.
fn paired(tree: &Tree, noun: usize, case: usize) -> Phrase {
    let is_pair = |&before: &usize| {
        tree.head(before) == Some(noun) && is_listed(BEFORE_NOUN, &[tree.text(before), tree.text(case)])
    };
    let before = case.checked_sub(1).filter(is_pair);
    let parts = || tree.by(case, Relation::Mwe);
    let opening = parts().filter(|&part| part < case);
    before.into_iter().chain(opening).chain([case]).chain(parts().filter(|&part| part > case)).collect()
}

// Collapsed dependencies: prepositions are part of the link between two words, and what holds of one conjunct holds of
// all.

/// A collapsed dependency.
#[derive(Debug, Clone, Copy)]
pub(super) struct Link {
    pub(super) head: usize,
    pub(super) word: usize,
    pub(super) relation: Relation,
    /// The prepositions of a modifier: `in front of`.
    pub(super) preposition: Phrase,
}

/// Every collapsed dependency, in the order of the words that depend.
pub(super) fn links(tree: &Tree) -> Vec<Link> {
    let mut links = Vec::with_capacity(tree.len() + 4);
    for number in 0..tree.len() {
        let Some(head) = tree.head(number) else { continue };
        let relation = tree.relation(number);
        if relation == Relation::Conj {
            continue;
        }
        for word in std::iter::once(number).chain(tree.by(number, Relation::Conj)) {
            let marked = if tree.has(word, Relation::Case) { word } else { number };
            let last = tree.by(marked, Relation::Case).next_back().map(|case| paired(tree, marked, case));
            let preposition = last.or_else(|| quantity_before(tree, word));
            let link = Link { head, word, relation, preposition: preposition.unwrap_or_default() };
            links.push(link);
            for other in tree.by(marked, Relation::Case).flat_map(|case| tree.by(case, Relation::Conj)) {
                links.push(Link { preposition: [other].into_iter().collect(), ..link });
            }
        }
    }
    links
}

// What pronouns stand for.

/// Pronouns that may stand for several; all others stand for nouns in the singular only.
const PLURAL: [&str; 12] =
    ["they", "them", "their", "theirs", "themselves", "we", "us", "our", "ourselves", "you", "your", "yourselves"];

/// For each word the word that it stands for: itself, unless it is a pronoun.
///
/// A pronoun stands for the noun that is nearest to the root of the tree, and is left alone where that noun comes after it:
/// `a man sits on a bench with his dog` → `his` is the man's; `a man is on his bike` → nobody's, as `bike` is the root.
pub(super) fn referents(tree: &Tree) -> Vec<usize> {
    let mut referents: Vec<usize> = (0..tree.len()).collect();
    if !(0..tree.len()).any(|word| tree.is_pronoun(word)) {
        return referents;
    }
    let depths = depths(tree);
    let nouns = || (0..tree.len()).filter(|&word| tree.is_noun(word));
    let any = nouns().min_by_key(|&noun| depths[noun]);
    let singular = nouns().filter(|&noun| !tree.is_plural(noun)).min_by_key(|&noun| depths[noun]);
    for (word, referent) in referents.iter_mut().enumerate().filter(|(word, _)| tree.is_pronoun(*word)) {
        let noun = if PLURAL.contains(&tree.text(word)) { any } else { singular };
        *referent = noun.filter(|&noun| noun < word).unwrap_or(word);
    }
    referents
}

/// How many links lead from the root to each word. Words that are joined are as deep as the first of them.
fn depths(tree: &Tree) -> Vec<usize> {
    let mut depths = vec![usize::MAX; tree.len()];
    let mut reached: Vec<usize> = (0..tree.len()).filter(|&word| tree.head(word).is_none()).collect();
    for &root in &reached {
        depths[root] = 0;
    }
    let mut next = 0;
    while next < reached.len() {
        let head = reached[next];
        next += 1;
        for word in tree.dependents(head) {
            let is_joined = tree.relation(word) == Relation::Conj && depths[head] > 0;
            depths[word] = depths[head] + usize::from(!is_joined);
            reached.push(word);
        }
    }
    depths
}

// Who does or is what.

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
pub(super) struct Subjects(pub(super) Vec<Subject>);

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_keeps_its_first_six_words() {
        let words = |phrase: Phrase| phrase.words().collect::<Vec<_>>();
        assert_eq!(words((0..8).collect()), [0, 1, 2, 3, 4, 5]);
        assert_eq!(words((0..4).collect::<Phrase>().with((7..11).collect())), [0, 1, 2, 3, 7, 8]);
    }
}
