//! The beam search for the alignment that covers most words in fewest chunks.
//!
//! A path decides on the reference words one after the other: match it or skip it. After every word the 40 best paths
//! go on. Paths are ranked by matched words, then chunks, then the distance of matches from the diagonal, then by the
//! order in which they were found; so the choice among equal alignments, and what leaves the beam, is well defined.
//!
//! A round first lists its continuations as small values, and copies the sets of used words for the survivors only. What
//! 40 that are listed are better than is not listed at all, so that long sentences, where a word has a hundred
//! counterparts, stay cheap. Words of the reference need no set: those before a path's position are decided, and of those
//! behind it only the ones of fixed matches are used, which no other match covers.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::Module;
use super::sentences::{Lexicon, Sentence, Sentences, Span};
use crate::numeric::part;
use crate::text::vocabulary::Word;

/// Paths that survive a round.
const BEAM: usize = 40;
const NONE: u32 = u32::MAX;
/// Ranks that are listed before the worst are dropped.
const ROOM: usize = 2 * BEAM;
/// Matches at a word that are tried as they are.
const FEW: usize = 8;
/// Bits of a rank that hold the number of a step. Siblings are listed from better to worse within each kind (what they
/// gain, and whether they break the chunk), so a path lists at most [`ROOM`] of each, and a round far fewer than these.
const NUMBER_BITS: u32 = 20;

/// The search, with the memory it reuses from pair to pair.
#[derive(Debug, Default)]
pub(super) struct Search {
    beam: Beam,
    next: Beam,
    round: Round,
    /// The matches at the round's word, with their numbers, that some path can take.
    free: Vec<(u32, Match)>,
    /// The words of the hypothesis that all paths have used.
    used: Vec<u64>,
    /// Matches that paths took, each with the one taken before it.
    history: Vec<(Match, u32)>,
    /// By reference word, the match that every path takes there.
    fixed: Vec<Option<Match>>,
    /// The alignment of the last run.
    pub(super) chosen: Vec<Match>,
}

/// Paths with the words of the hypothesis that they have used: for each path, a bit for each word.
#[derive(Debug, Default)]
struct Beam {
    paths: Vec<Path>,
    used: Vec<u64>,
}

#[derive(Debug, Clone, Copy)]
struct Path {
    matched: u32,
    chunks: u32,
    distance: u64,
    /// The reference word to decide on next.
    position: u32,
    /// End of the last match in the hypothesis while its chunk is open.
    open: u32,
    /// The last match taken, in [`Search::history`].
    last: u32,
}

/// The continuations of a round that may be among its best.
#[derive(Debug, Default)]
struct Round {
    steps: Vec<Step>,
    /// Ranks of the best steps, with their numbers in the last bits.
    ranks: Vec<u128>,
    /// The rank that a step must have less than.
    limit: u128,
}

/// A continuation of a path.
#[derive(Debug, Clone, Copy)]
struct Step {
    path: Path,
    parent: u32,
    /// The match that it takes.
    took: u32,
}

impl Round {
    fn clear(&mut self) {
        self.steps.clear();
        self.ranks.clear();
        self.limit = u128::MAX;
    }

    fn push(&mut self, step: Step) {
        let rank = step.path.rank(self.steps.len());
        if rank < self.limit {
            self.ranks.push(rank);
            self.steps.push(step);
            if self.ranks.len() == ROOM {
                self.limit = self.keep_best();
            }
        }
    }

    /// Keeps the best ranks, and returns the worst of them.
    fn keep_best(&mut self) -> u128 {
        let worst = *self.ranks.select_nth_unstable(BEAM - 1).1;
        self.ranks.truncate(BEAM);
        worst
    }
}

impl Path {
    const START: Self = Self { matched: 0, chunks: 0, distance: 0, position: 0, open: NONE, last: NONE };

    fn take(&mut self, match_: &Match) {
        self.matched += gain(match_);
        self.chunks += u32::from(self.is_broken_by(match_));
        self.position = match_.reference_end();
        self.open = match_.hypothesis_end();
    }

    /// Whether the open chunk ends because the match does not continue it.
    fn is_broken_by(&self, match_: &Match) -> bool {
        self.open != NONE && self.open != match_.hypothesis
    }

    /// No continuation is better that takes none of the matches before: at most so much is gained, and the chunk may
    /// have to end.
    fn best(self, gain: u32, breaks: bool) -> Self {
        Self { matched: self.matched + gain, chunks: self.chunks + u32::from(breaks), ..self }
    }

    fn close_chunk(&mut self) {
        self.chunks += u32::from(self.open != NONE);
        self.open = NONE;
    }

    /// Smaller is better: most words, then fewest chunks, then the shortest distance, then the first listed.
    fn rank(&self, number: usize) -> u128 {
        let most = u128::from(u32::MAX - self.matched) << 96;
        most | u128::from(self.chunks & 0xff_ffff) << 72 | u128::from(self.distance) << NUMBER_BITS | number as u128
    }
}

/// Words that a match counts for in the search: all of an exact match, half of any other, rounded down on each side.
fn gain(match_: &Match) -> u32 {
    let (hypothesis, reference) = (u32::from(match_.hypothesis_length), u32::from(match_.reference_length));
    if match_.module == Module::Exact { hypothesis + reference } else { hypothesis / 2 + reference / 2 }
}

fn distance(match_: &Match) -> u64 {
    u64::from(match_.reference.abs_diff(match_.hypothesis))
}

impl Search {
    /// The best alignment of sentences of these lengths, in the order of the reference.
    pub(super) fn run(&mut self, candidates: &Candidates, hypothesis: usize, reference: usize) -> &[Match] {
        let blocks = hypothesis.div_ceil(64);
        self.start(candidates, blocks, reference);
        for word in 0..reference {
            if self.fixed[word].is_none() {
                self.find_free(candidates, blocks, word);
            }
            self.list_steps(candidates.most[candidates.lists[word]], blocks, word);
            self.keep_best(candidates, blocks, word);
        }
        self.beam.paths.iter_mut().for_each(Path::close_chunk);
        let ranked = self.beam.paths.iter().enumerate().min_by_key(|(number, path)| path.rank(*number));
        let mut last = ranked.map_or(NONE, |(_, path)| path.last);
        self.chosen.clear();
        self.chosen.extend(self.fixed.iter().flatten());
        while last != NONE {
            let (match_, before) = self.history[last as usize];
            self.chosen.push(match_);
            last = before;
        }
        self.chosen.sort_unstable_by_key(|match_| match_.reference);
        &self.chosen
    }

    /// One path, which holds the matches that no other competes with.
    fn start(&mut self, candidates: &Candidates, blocks: usize, reference: usize) {
        self.history.clear();
        self.fixed.clear();
        self.fixed.resize(reference, None);
        self.beam.paths.clear();
        self.beam.paths.push(Path::START);
        self.beam.used.clear();
        self.beam.used.resize(blocks, 0);
        for word in 0..reference {
            let mut matches = candidates.at(word).1;
            let (Some(only), None) = (matches.next(), matches.next()) else { continue };
            let alone =
                |cover: &[u32], start: u32, end: u32| cover[start as usize..end as usize].iter().all(|&n| n == 1);
            if alone(&candidates.reference_cover, only.reference, only.reference_end())
                && alone(&candidates.hypothesis_cover, only.hypothesis, only.hypothesis_end())
            {
                mark(&mut self.beam.used, &only);
                self.fixed[word] = Some(only);
            }
        }
    }

    /// Lists the matches at a reference word, but of many only those that some path can take.
    fn find_free(&mut self, candidates: &Candidates, blocks: usize, word: usize) {
        let Self { beam, free, used, .. } = self;
        let (first, matches) = candidates.at(word);
        free.clear();
        if matches.len() <= FEW {
            free.extend((first..).zip(matches));
            return;
        }
        used.clear();
        used.resize(blocks, u64::MAX);
        for path in beam.used.chunks_exact(blocks) {
            used.iter_mut().zip(path).for_each(|(all, of_path)| *all &= of_path);
        }
        free.extend((first..).zip(matches).filter(|(_, match_)| is_free(used, match_)));
    }

    /// Lists all ways to go on at a reference word: to leave things as they are, the last of each path, and to take a
    /// match.
    fn list_steps(&mut self, most: u32, blocks: usize, word: usize) {
        let Self { beam, round, free, fixed, .. } = self;
        round.clear();
        'paths: for (parent, &path) in (0..).zip(&beam.paths) {
            let mut path = path;
            if path.position as usize == word {
                if let Some(match_) = &fixed[word] {
                    path.take(match_);
                    path.distance += distance(match_);
                } else {
                    let used = &beam.used[parent as usize * blocks..][..blocks];
                    let mut continuing = free.iter().filter(|(_, match_)| !path.is_broken_by(match_)).count();
                    for &(took, ref match_) in &*free {
                        if round.steps.len() >= ROOM && path.best(most, continuing == 0).rank(0) >= round.limit {
                            continue 'paths;
                        }
                        continuing -= usize::from(!path.is_broken_by(match_));
                        if is_free(used, match_) {
                            let mut copy = path;
                            copy.take(match_);
                            round.push(Step { path: copy, parent, took });
                            // It counts for the siblings that follow, not for the path that takes the match.
                            path.distance += distance(match_);
                        }
                    }
                    path.close_chunk();
                    path.position += 1;
                }
            }
            round.push(Step { path, parent, took: NONE });
        }
    }

    /// Makes the best steps the next round's paths.
    fn keep_best(&mut self, candidates: &Candidates, blocks: usize, word: usize) {
        let Round { steps, ranks, .. } = &self.round;
        if steps.len() == self.beam.paths.len() && ranks.is_sorted() {
            // No path takes a match, and all keep their places.
            self.beam.paths.iter_mut().zip(steps).for_each(|(path, step)| *path = step.path);
            return;
        }
        if ranks.len() > BEAM {
            self.round.keep_best();
        }
        self.round.ranks.sort_unstable();
        self.next.paths.clear();
        self.next.used.clear();
        for rank in &self.round.ranks {
            let step = &self.round.steps[(rank & ((1 << NUMBER_BITS) - 1)) as usize];
            let mut path = step.path;
            let start = self.next.used.len();
            self.next.used.extend(&self.beam.used[step.parent as usize * blocks..][..blocks]);
            if step.took != NONE {
                let match_ = candidates.matches[step.took as usize].at(word);
                mark(&mut self.next.used[start..], &match_);
                self.history.push((match_, path.last));
                path.last = self.history.len() as u32 - 1;
            }
            self.next.paths.push(path);
        }
        std::mem::swap(&mut self.beam, &mut self.next);
    }
}

/// The bit of a word, and the block it is in.
fn place(word: u32) -> (usize, u64) {
    (word as usize / 64, 1 << (word % 64))
}

/// Marks the words of the hypothesis that the match takes as used.
fn mark(used: &mut [u64], match_: &Match) {
    for (block, bit) in (match_.hypothesis..match_.hypothesis_end()).map(place) {
        used[block] |= bit;
    }
}

/// Whether all words of the hypothesis that the match would take are free.
fn is_free(used: &[u64], match_: &Match) -> bool {
    (match_.hypothesis..match_.hypothesis_end()).map(place).all(|(block, bit)| used[block] & bit == 0)
}

// Everything that could be matched: by the same word, by stem, by synonym, by paraphrase.

/// Words of the hypothesis that could stand for words of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) module: Module,
    hypothesis_length: u8,
    reference_length: u8,
    pub(super) hypothesis: u32,
    pub(super) reference: u32,
}

impl Match {
    fn of_words(module: Module, hypothesis: usize, reference: usize) -> Self {
        let (hypothesis, reference) = (hypothesis as u32, reference as u32);
        Self { module, hypothesis_length: 1, reference_length: 1, hypothesis, reference }
    }

    /// The same at another reference word.
    fn at(&self, reference: usize) -> Self {
        Self { reference: reference as u32, ..*self }
    }

    pub(super) fn hypothesis_end(&self) -> u32 {
        self.hypothesis + u32::from(self.hypothesis_length)
    }

    pub(super) fn reference_end(&self) -> u32 {
        self.reference + u32::from(self.reference_length)
    }

    /// The words of the hypothesis.
    pub(super) fn of_hypothesis(&self) -> Range<usize> {
        self.hypothesis as usize..self.hypothesis_end() as usize
    }

    /// The words of the reference.
    pub(super) fn of_reference(&self) -> Range<usize> {
        self.reference as usize..self.reference_end() as usize
    }
}

/// The matches of a pair of sentences, by the reference word at which they start.
///
/// Words of a long reference at which the same phrases start have one list, so that memory grows with the length of a
/// text that repeats itself and not with its square.
///
/// Their order decides between alignments that are equally good, and is the original's: module by module, and within
/// one by the place in the hypothesis, except that paraphrases of hypothesis phrases come last.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// List by list; the place in the reference is that of whoever asks.
    matches: Vec<Match>,
    ends: Vec<usize>,
    /// By list, the most that a match in it gains.
    most: Vec<u32>,
    /// The list of each reference word.
    lists: Vec<usize>,
    /// The first word that has each list.
    firsts: Vec<usize>,
    /// For each word, how many matches cover it.
    hypothesis_cover: Vec<u32>,
    reference_cover: Vec<u32>,
    unsorted: Vec<Match>,
    /// For each trait, the words of the hypothesis that have it, as bits; all 0 between uses.
    carriers: Vec<u64>,
    places: Places,
}

impl Candidates {
    /// All matches that start at the reference word, with the number of the first.
    pub(super) fn at(&self, word: usize) -> (u32, impl ExactSizeIterator<Item = Match> + '_) {
        let list = part(&self.ends, self.lists[word]);
        (list.start as u32, self.matches[list].iter().map(move |match_| match_.at(word)))
    }

    /// Finds the matches of a pair, in place of those of the pair before.
    pub(super) fn find(&mut self, sentences: &Sentences, hypothesis: Sentence<'_>, reference: Sentence<'_>) {
        self.unsorted.clear();
        self.share_lists(reference);
        let lexicon = &sentences.lexicon;
        self.carriers.resize(lexicon.traits, 0);
        let words = [hypothesis.words, reference.words];
        self.match_words(Module::Exact, lexicon, words, |word| lexicon.same_word(word));
        let [h, r] = words.map(|words| words.iter().map(|&word| lexicon.same_word(word)));
        if !h.eq(r) {
            self.match_words(Module::Stem, lexicon, words, |word| lexicon.same_stem(word));
            self.match_words(Module::Synonym, lexicon, words, |word| lexicon.synonyms(word));
            self.match_paraphrases(sentences, hypothesis, reference);
        }
        self.sort_by_list();
        self.count_cover(hypothesis.words.len(), reference.words.len());
    }

    /// Gives each word of the reference its list: of a short one, each word its own.
    fn share_lists(&mut self, reference: Sentence<'_>) {
        self.lists.clear();
        self.firsts.clear();
        if reference.words.len() <= SHORT {
            self.lists.extend(0..reference.words.len());
            self.firsts.extend(0..reference.words.len());
            return;
        }
        // The longest phrase at a word tells all that start there: the others are its beginnings.
        let mut phrases = vec![u32::MAX; reference.words.len()];
        reference.spans.iter().for_each(|span| phrases[span.start as usize] = span.phrase);
        let mut list_of_key = FxHashMap::default();
        for (place, key) in reference.words.iter().zip(phrases).enumerate() {
            let list = *list_of_key.entry(key).or_insert(self.firsts.len());
            if list == self.firsts.len() {
                self.firsts.push(place);
            }
            self.lists.push(list);
        }
    }

    /// Matches words that have a trait in common. Sixty-four words of the hypothesis are looked at together.
    fn match_words<'a>(
        &mut self,
        module: Module,
        lexicon: &Lexicon,
        [hypothesis, reference]: [&[Word]; 2],
        traits: impl Fn(Word) -> &'a [u32],
    ) {
        let same_word = |word: Word| lexicon.same_word(word)[0] as usize;
        for (block, words) in hypothesis.chunks(64).enumerate() {
            for (bit, &word) in words.iter().enumerate() {
                for &quality in traits(word) {
                    self.carriers[quality as usize] |= 1 << bit;
                }
                self.carriers[same_word(word)] |= 1 << bit;
            }
            for (list, &first) in self.firsts.iter().enumerate() {
                let word = reference[first];
                let mut bits = traits(word).iter().fold(0, |bits, &quality| bits | self.carriers[quality as usize]);
                if module != Module::Exact {
                    bits &= !self.carriers[same_word(word)];
                }
                while bits != 0 {
                    self.unsorted.push(Match::of_words(module, 64 * block + bits.trailing_zeros() as usize, list));
                    bits &= bits - 1;
                }
            }
            for &word in words {
                for &quality in traits(word) {
                    self.carriers[quality as usize] = 0;
                }
                self.carriers[same_word(word)] = 0;
            }
        }
    }

    fn match_paraphrases(&mut self, sentences: &Sentences, hypothesis: Sentence<'_>, reference: Sentence<'_>) {
        let Self { lists, firsts, unsorted, places, .. } = self;
        // A list is filled for its first word.
        let of_reference =
            || reference.spans.iter().filter(|span| firsts[lists[span.start as usize]] == span.start as usize);
        let of_hypothesis = || hypothesis.spans.iter();
        let mut add = |(h, hypothesis_length): (u32, u8), (r, reference_length): (u32, u8)| {
            let reference = lists[r as usize] as u32;
            unsorted.push(Match {
                module: Module::Paraphrase,
                hypothesis_length,
                reference_length,
                hypothesis: h,
                reference,
            });
        };
        places.pair(sentences, of_reference(), of_hypothesis(), |here, there| add(there, here));
        places.pair(sentences, of_hypothesis(), of_reference(), add);
    }

    fn count_cover(&mut self, hypothesis: usize, reference: usize) {
        let mut covers = [std::mem::take(&mut self.hypothesis_cover), std::mem::take(&mut self.reference_cover)];
        for (cover, words) in covers.iter_mut().zip([hypothesis, reference]) {
            cover.clear();
            cover.resize(words, 0);
        }
        for match_ in (0..reference).flat_map(|word| self.at(word).1) {
            covers[0][match_.of_hypothesis()].iter_mut().for_each(|count| *count += 1);
            covers[1][match_.of_reference()].iter_mut().for_each(|count| *count += 1);
        }
        [self.hypothesis_cover, self.reference_cover] = covers;
    }

    /// Puts the matches in their lists, each in the order of finding.
    fn sort_by_list(&mut self) {
        let lists = self.firsts.len();
        self.ends.clear();
        self.ends.resize(lists + 1, 0);
        for match_ in &self.unsorted {
            self.ends[match_.reference as usize + 1] += 1;
        }
        for list in 1..=lists {
            self.ends[list] += self.ends[list - 1];
        }
        // Filling a list moves its start to its end, which is what is kept.
        self.matches.clear();
        if let Some(&any) = self.unsorted.first() {
            self.matches.resize(self.unsorted.len(), any);
        }
        self.most.clear();
        self.most.resize(lists, 0);
        for &match_ in &self.unsorted {
            let list = match_.reference as usize;
            self.matches[self.ends[list]] = match_;
            self.ends[list] += 1;
            self.most[list] = self.most[list].max(gain(&match_));
        }
    }
}

/// Words of a reference up to which nothing is won by sharing lists.
const SHORT: usize = 64;

/// Places of each phrase in a sentence, as chains through its spans.
#[derive(Debug, Default)]
struct Places {
    /// By phrase: its first place; all are [`NONE`] between uses.
    first: Vec<u32>,
    /// Start of each place, and the next.
    places: Vec<(u32, u32)>,
}

impl Places {
    /// All places, with their lengths, where a phrase of `from` and one of its paraphrases in `to` are.
    fn pair<'a>(
        &mut self,
        sentences: &Sentences,
        from: impl Iterator<Item = &'a Span>,
        to: impl DoubleEndedIterator<Item = &'a Span> + Clone,
        mut report: impl FnMut((u32, u8), (u32, u8)),
    ) {
        self.first.resize(sentences.lengths.len(), NONE);
        self.places.clear();
        for span in to.clone().rev() {
            let next = std::mem::replace(&mut self.first[span.phrase as usize], self.places.len() as u32);
            self.places.push((span.start, next));
        }
        for span in from {
            for &paraphrase in sentences.paraphrases(span.phrase) {
                let mut place = self.first[paraphrase as usize];
                while place != NONE {
                    let (start, next) = self.places[place as usize];
                    report((span.start, span.length), (start, sentences.lengths[paraphrase as usize]));
                    place = next;
                }
            }
        }
        to.for_each(|span| self.first[span.phrase as usize] = NONE);
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::sentences::{Sentences, Tokens};
    use super::super::tests::{long_sentence, resources, sentence};
    use super::*;

    /// A path that knows all that it took and used.
    #[derive(Clone, Default)]
    struct Slow {
        taken: Vec<Match>,
        used: [BTreeSet<usize>; 2],
        matched: u32,
        chunks: u32,
        distance: u64,
        open: Option<usize>,
    }

    impl Slow {
        fn take(&mut self, found: &Match) {
            self.matched += gain(found);
            self.chunks += u32::from(self.open.is_some_and(|open| open != found.of_hypothesis().start));
            self.open = Some(found.of_hypothesis().end);
            self.taken.push(*found);
            self.reserve(found);
        }

        fn reserve(&mut self, found: &Match) {
            self.used[0].extend(found.of_hypothesis());
            self.used[1].extend(found.of_reference());
        }

        fn close(&mut self) {
            self.chunks += u32::from(self.open.take().is_some());
        }

        fn rank(&self) -> (Reverse<u32>, u32, u64) {
            (Reverse(self.matched), self.chunks, self.distance)
        }
    }

    fn slow(candidates: &Candidates, reference: usize) -> Vec<Match> {
        let all: Vec<Match> = (0..reference).flat_map(|word| candidates.at(word).1).collect();
        let shares = |a: &Match, b: &Match| {
            let both = |a: std::ops::Range<usize>, b: std::ops::Range<usize>| a.start < b.end && b.start < a.end;
            both(a.of_hypothesis(), b.of_hypothesis()) || both(a.of_reference(), b.of_reference())
        };
        let is_alone = |found: &&Match| all.iter().filter(|other| shares(found, other)).count() == 1;
        let fixed: Vec<Match> = all.iter().filter(is_alone).copied().collect();
        let is_fixed = |found: &Match| fixed.contains(found);
        let mut start = Slow::default();
        for found in &fixed {
            start.reserve(found);
        }
        let mut beam = vec![start];
        for word in 0..reference {
            let here: Vec<Match> = candidates.at(word).1.collect();
            let mut next = Vec::new();
            for mut path in beam {
                if let Some(fixed) = here.iter().find(|found| is_fixed(found)) {
                    path.take(fixed);
                    path.distance += distance(fixed);
                } else if !path.used[1].contains(&word) {
                    for found in &here {
                        let is_free = found.of_hypothesis().all(|word| !path.used[0].contains(&word))
                            && found.of_reference().all(|word| !path.used[1].contains(&word));
                        if is_free {
                            let mut copy = path.clone();
                            copy.take(found);
                            next.push(copy);
                            path.distance += distance(found);
                        }
                    }
                    path.close();
                }
                next.push(path);
            }
            next.sort_by_key(Slow::rank);
            next.truncate(BEAM);
            beam = next;
        }
        beam.iter_mut().for_each(Slow::close);
        beam.into_iter().min_by_key(Slow::rank).expect("a path").taken
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]

        #[test]
        fn the_search_equals_one_that_keeps_all_sets(hypothesis in sentence(), reference in sentence()) {
            check(&hypothesis, &reference)?;
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn the_search_of_long_sentences_drops_only_what_does_not_survive(
            hypothesis in long_sentence(),
            reference in long_sentence(),
        ) {
            check(&hypothesis, &reference)?;
        }
    }

    fn check(hypothesis: &str, reference: &str) -> Result<(), TestCaseError> {
        let resources = resources();
        let mut tokens = Tokens::default();
        for line in [hypothesis, reference] {
            tokens.push(resources.tokens(line).iter().map(String::as_str));
        }
        let sentences = Sentences::new(tokens, &resources, 1);
        let (h, r) = (sentences.get(0), sentences.get(1));
        let mut candidates = Candidates::default();
        candidates.find(&sentences, h, r);
        let expected = slow(&candidates, r.words.len());
        let mut search = Search::default();
        prop_assert_eq!(search.run(&candidates, h.words.len(), r.words.len()), expected);
        Ok(())
    }
}
