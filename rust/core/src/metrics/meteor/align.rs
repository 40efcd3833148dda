//! The beam search for the alignment that covers most words in fewest chunks.
//!
//! A path decides on the reference words one after the other: match it or skip it. After every word the 40 best paths
//! go on. Paths are ranked by matched words, then chunks, then the distance of matches from the diagonal, then by the
//! order in which they were found; so the choice among equal alignments, and what leaves the beam, is well defined.
//!
//! A round first lists its continuations as small values, and copies the sets of used words for the survivors only.

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

/// Paths with the words they have used: for each path, bits of the reference, then bits of the hypothesis.
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
        let sides = Sides { reference: reference.div_ceil(64), all: reference.div_ceil(64) + hypothesis.div_ceil(64) };
        self.start(candidates, sides, reference);
        for word in 0..reference {
            self.list_steps(candidates, sides, word);
            self.keep_best(candidates, sides);
        }
        self.beam.paths.iter_mut().for_each(Path::close_chunk);
        let ranked = self.beam.paths.iter().enumerate().min_by_key(|(number, path)| path.rank(*number));
        let best = ranked.map_or(NONE, |(_, path)| path.taken);
        self.collect(candidates, best)
    }

    /// One path, which holds the matches that no other competes with.
    fn start(&mut self, candidates: &Candidates, sides: Sides, reference: usize) {
        self.taken.clear();
        self.fixed.clear();
        self.fixed.resize(reference, NONE);
        self.beam.paths.clear();
        self.beam.paths.push(Path::START);
        self.beam.used.clear();
        self.beam.used.resize(sides.all, 0);
        for word in 0..reference {
            let (number, [only]) = candidates.at(word) else { continue };
            let alone =
                |cover: &[u32], start: u32, end: u32| cover[start as usize..end as usize].iter().all(|&n| n == 1);
            if alone(&candidates.reference_cover, only.reference, only.reference_end())
                && alone(&candidates.hypothesis_cover, only.hypothesis, only.hypothesis_end())
            {
                self.fixed[word] = number as u32;
                sides.mark(&mut self.beam.used, only);
            }
        }
    }

    /// Lists all ways to go on at a reference word.
    fn list_steps(&mut self, candidates: &Candidates, sides: Sides, word: usize) {
        self.steps.clear();
        self.ranks.clear();
        let (first, matches) = candidates.at(word);
        for (parent, &path) in (0..).zip(&self.beam.paths) {
            let used = &self.beam.used[parent as usize * sides.all..][..sides.all];
            let mut path = path;
            let mut push = |path: Path, took: usize| {
                self.ranks.push(path.rank(self.steps.len()));
                self.steps.push(Step { path, parent, took: took as u32 });
            };
            if !is_used(&used[..sides.reference], word as u32, 1) {
                let mut listed = Listed::default();
                for (number, found) in (first..).zip(matches) {
                    if sides.is_free(used, found) {
                        if listed.may_survive(found, path.is_broken_by(found)) {
                            let mut copy = path;
                            copy.take(found);
                            push(copy, number);
                        }
                        // The distance of a match counts for the siblings that follow, not for the path that takes it.
                        path.distance += distance(found);
                    }
                }
                path.close_chunk();
                path.position += 1;
                push(path, NONE as usize);
            } else if (word as u32) < path.position {
                push(path, NONE as usize);
            } else if self.fixed[word] != NONE {
                let found = candidates.get(self.fixed[word] as usize);
                path.take(&found);
                path.distance += distance(&found);
                push(path, NONE as usize);
            }
        }
    }

    /// Makes the best steps the next round's paths. Without any step, the best path of this round stays.
    fn keep_best(&mut self, candidates: &Candidates, sides: Sides) {
        if self.steps.is_empty() {
            self.beam.paths.truncate(1);
            self.beam.used.truncate(sides.all);
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
            self.next.used.extend_from_slice(&self.beam.used[step.parent as usize * sides.all..][..sides.all]);
            if step.took != NONE {
                sides.mark(&mut self.next.used[start..], &candidates.get(step.took as usize));
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

/// Number of 64-bit blocks that the used words take.
#[derive(Clone, Copy)]
struct Sides {
    reference: usize,
    all: usize,
}

impl Sides {
    fn mark(self, used: &mut [u64], found: &Match) {
        let (reference, hypothesis) = used.split_at_mut(self.reference);
        mark(reference, found.reference, found.reference_length);
        mark(hypothesis, found.hypothesis, found.hypothesis_length);
    }

    /// Whether a match that starts at a free reference word has all its words free.
    fn is_free(self, used: &[u64], found: &Match) -> bool {
        let (reference, hypothesis) = used.split_at(self.reference);
        !is_used(hypothesis, found.hypothesis, found.hypothesis_length)
            && !is_used(reference, found.reference + 1, found.reference_length - 1)
    }
}

/// The bit of a word, and the block it is in.
fn place(word: u32) -> (usize, u64) {
    (word as usize / 64, 1 << (word % 64))
}

fn mark(bits: &mut [u64], start: u32, length: u8) {
    for (block, bit) in (start..start + u32::from(length)).map(place) {
        bits[block] |= bit;
    }
}

fn is_used(bits: &[u64], start: u32, length: u8) -> bool {
    (start..start + u32::from(length)).map(place).any(|(block, bit)| bits[block] & bit != 0)
}
