//! The beam search for the alignment that covers most words in fewest chunks.
//!
//! A path decides on the reference words one after the other: match it or skip it. After every word the 40 best paths
//! go on. Paths are ranked by matched words, then chunks, then the distance of matches from the diagonal, then by the
//! order in which they were found; so the choice among equal alignments, and what leaves the beam, is well defined.
//!
//! A round first lists its continuations as small values, and copies the sets of used words for the survivors only. Words
//! of the reference need no set: those before a path's position are decided, and of those behind it only the ones of
//! fixed matches are used, which no other match covers.

use super::matchers::{Candidates, Match};
use super::score::Module;

/// Paths that survive a round.
const BEAM: usize = 40;
const NONE: u32 = u32::MAX;
/// Bits of a rank that hold the number of a step: a round lists a few thousand at most.
const NUMBER_BITS: u32 = 20;

/// The search, with the memory it reuses from pair to pair.
#[derive(Debug, Default)]
pub(super) struct Search {
    beam: Beam,
    next: Beam,
    steps: Vec<Step>,
    /// Ranks of the steps, with their numbers in the last bits.
    ranks: Vec<u128>,
    /// Matches that paths took, each with the one taken before it.
    taken: Vec<(u32, u32)>,
    /// By reference word, the match that every path takes there.
    fixed: Vec<u32>,
    chosen: Vec<Match>,
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
    /// The last match taken, in [`Search::taken`].
    taken: u32,
}

/// A continuation of a path.
#[derive(Debug, Clone, Copy)]
struct Step {
    path: Path,
    parent: u32,
    /// The match that it takes.
    took: u32,
}

impl Path {
    const START: Self = Self { matched: 0, chunks: 0, distance: 0, position: 0, open: NONE, taken: NONE };

    fn take(&mut self, found: &Match) {
        self.matched += gain(found);
        self.chunks += u32::from(self.is_broken_by(found));
        self.position = found.reference_end();
        self.open = found.hypothesis_end();
    }

    /// Whether the open chunk ends because the match does not continue it.
    fn is_broken_by(&self, found: &Match) -> bool {
        self.open != NONE && self.open != found.hypothesis
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
fn gain(found: &Match) -> u32 {
    let (hypothesis, reference) = (u32::from(found.hypothesis_length), u32::from(found.reference_length));
    if found.module == Module::Exact { hypothesis + reference } else { hypothesis / 2 + reference / 2 }
}

fn distance(found: &Match) -> u64 {
    u64::from(found.reference.abs_diff(found.hypothesis))
}

impl Search {
    /// The best alignment of sentences of these lengths, in the order of the reference.
    pub(super) fn run(&mut self, candidates: &Candidates, hypothesis: usize, reference: usize) -> &[Match] {
        let blocks = hypothesis.div_ceil(64);
        self.start(candidates, blocks, reference);
        for word in 0..reference {
            self.list_steps(candidates, blocks, word);
            self.keep_best(candidates, blocks);
        }
        self.beam.paths.iter_mut().for_each(Path::close_chunk);
        let ranked = self.beam.paths.iter().enumerate().min_by_key(|(number, path)| path.rank(*number));
        let best = ranked.map_or(NONE, |(_, path)| path.taken);
        self.collect(candidates, best)
    }

    /// One path, which holds the matches that no other competes with.
    fn start(&mut self, candidates: &Candidates, blocks: usize, reference: usize) {
        self.taken.clear();
        self.fixed.clear();
        self.fixed.resize(reference, NONE);
        self.beam.paths.clear();
        self.beam.paths.push(Path::START);
        self.beam.used.clear();
        self.beam.used.resize(blocks, 0);
        for word in 0..reference {
            let (number, [only]) = candidates.at(word) else { continue };
            let alone =
                |cover: &[u32], start: u32, end: u32| cover[start as usize..end as usize].iter().all(|&n| n == 1);
            if alone(&candidates.reference_cover, only.reference, only.reference_end())
                && alone(&candidates.hypothesis_cover, only.hypothesis, only.hypothesis_end())
            {
                self.fixed[word] = number as u32;
                mark(&mut self.beam.used, only);
            }
        }
    }

    /// Lists all ways to go on at a reference word: to leave things as they are, the last of each path, and to take a
    /// match.
    fn list_steps(&mut self, candidates: &Candidates, blocks: usize, word: usize) {
        self.steps.clear();
        self.ranks.clear();
        let (first, matches) = candidates.at(word);
        let fixed = (self.fixed[word] != NONE).then(|| candidates.get(self.fixed[word] as usize));
        for (parent, &path) in (0..).zip(&self.beam.paths) {
            let mut path = path;
            let mut push = |path: Path, took: usize| {
                self.ranks.push(path.rank(self.steps.len()));
                self.steps.push(Step { path, parent, took: took as u32 });
            };
            if path.position as usize == word {
                if let Some(found) = &fixed {
                    path.take(found);
                    path.distance += distance(found);
                } else {
                    let used = &self.beam.used[parent as usize * blocks..][..blocks];
                    let mut listed = (matches.len() > BEAM).then(Listed::default);
                    for (number, found) in (first..).zip(matches) {
                        if is_free(used, found) {
                            let breaks = path.is_broken_by(found);
                            if listed.as_mut().is_none_or(|listed| listed.may_survive(found, breaks)) {
                                let mut copy = path;
                                copy.take(found);
                                push(copy, number);
                            }
                            // It counts for the siblings that follow, not for the path that takes the match.
                            path.distance += distance(found);
                        }
                    }
                    path.close_chunk();
                    path.position += 1;
                }
            }
            push(path, NONE as usize);
        }
    }

    /// Makes the best steps the next round's paths.
    fn keep_best(&mut self, candidates: &Candidates, blocks: usize) {
        if self.steps.len() == self.beam.paths.len() && self.ranks.is_sorted() {
            // No path takes a match, and all keep their places.
            self.beam.paths.iter_mut().zip(&self.steps).for_each(|(path, step)| *path = step.path);
            return;
        }
        if self.ranks.len() > BEAM {
            self.ranks.select_nth_unstable(BEAM - 1);
            self.ranks.truncate(BEAM);
        }
        self.ranks.sort_unstable();
        self.next.paths.clear();
        self.next.used.clear();
        for rank in &self.ranks {
            let step = &self.steps[(rank & ((1 << NUMBER_BITS) - 1)) as usize];
            let mut path = step.path;
            let start = self.next.used.len();
            self.next.used.extend(&self.beam.used[step.parent as usize * blocks..][..blocks]);
            if step.took != NONE {
                mark(&mut self.next.used[start..], &candidates.get(step.took as usize));
                self.taken.push((step.took, path.taken));
                path.taken = self.taken.len() as u32 - 1;
            }
            self.next.paths.push(path);
        }
        std::mem::swap(&mut self.beam, &mut self.next);
    }

    /// The alignment found last.
    pub(super) fn chosen(&self) -> &[Match] {
        &self.chosen
    }

    fn collect(&mut self, candidates: &Candidates, last: u32) -> &[Match] {
        self.chosen.clear();
        let fixed = self.fixed.iter().filter(|&&number| number != NONE);
        self.chosen.extend(fixed.map(|&number| candidates.get(number as usize)));
        let mut at = last;
        while at != NONE {
            let (number, before) = self.taken[at as usize];
            self.chosen.push(candidates.get(number as usize));
            at = before;
        }
        self.chosen.sort_unstable_by_key(|found| found.reference);
        &self.chosen
    }
}

/// Siblings already listed, by what they gain and whether they break the open chunk. Distances grow from sibling to
/// sibling, so behind 40 of its own kind none can survive the round: long sentences of one word stay cheap.
#[derive(Default)]
struct Listed([[u8; 2]; 32]);

impl Listed {
    fn may_survive(&mut self, found: &Match, breaks: bool) -> bool {
        let Some(count) = self.0.get_mut(gain(found) as usize).map(|kind| &mut kind[usize::from(breaks)]) else {
            return true;
        };
        *count = (*count + 1).min(BEAM as u8 + 1);
        usize::from(*count) <= BEAM
    }
}

/// The bit of a word, and the block it is in.
fn place(word: u32) -> (usize, u64) {
    (word as usize / 64, 1 << (word % 64))
}

/// Marks the words of the hypothesis that the match takes as used.
fn mark(used: &mut [u64], found: &Match) {
    for (block, bit) in (found.hypothesis..found.hypothesis_end()).map(place) {
        used[block] |= bit;
    }
}

/// Whether all words of the hypothesis that the match would take are free.
fn is_free(used: &[u64], found: &Match) -> bool {
    (found.hypothesis..found.hypothesis_end()).map(place).all(|(block, bit)| used[block] & bit == 0)
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::sentences::{Arena, Sentences};
    use super::super::tests::{resources, sentence};
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
        let all: Vec<Match> = (0..reference).flat_map(|word| candidates.at(word).1.to_vec()).collect();
        let shares = |a: &Match, b: &Match| {
            let both = |a: std::ops::Range<usize>, b: std::ops::Range<usize>| a.start < b.end && b.start < a.end;
            both(a.of_hypothesis(), b.of_hypothesis()) || both(a.of_reference(), b.of_reference())
        };
        let is_fixed = |found: &Match| all.iter().filter(|other| shares(found, other)).count() == 1;
        let mut start = Slow::default();
        all.iter().filter(|found| is_fixed(found)).for_each(|found| start.reserve(found));
        let mut beam = vec![start];
        for word in 0..reference {
            let here = candidates.at(word).1;
            let mut next = Vec::new();
            for mut path in beam {
                if let Some(fixed) = here.iter().find(|found| is_fixed(found)) {
                    path.take(fixed);
                    path.distance += distance(fixed);
                } else if !path.used[1].contains(&word) {
                    for found in here {
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
            let resources = resources();
            let mut arena = Arena::default();
            for line in [&hypothesis, &reference] {
                arena.push_tokens(resources.tokens(line).iter().map(String::as_str));
            }
            let sentences = Sentences::new(arena, &resources, 1);
            let (h, r) = (sentences.get(0), sentences.get(1));
            let mut candidates = Candidates::default();
            candidates.find(&sentences, h, r);
            let expected = slow(&candidates, r.words.len());
            let mut search = Search::default();
            prop_assert_eq!(search.run(&candidates, h.words.len(), r.words.len()), expected);
        }
    }
}
