//! Subset construction: a state is the set of positions that may have been read last.

use std::collections::HashMap;

use super::alphabet::Alphabet;
use super::positions::Positions;
use super::{Automaton, DEAD, START};

pub(super) fn determinise(positions: &Positions, alphabet: &Alphabet) -> Automaton {
    let mut subsets = Subsets::default();
    assert_eq!(subsets.number(Vec::new()), DEAD);
    assert_eq!(subsets.number(vec![0]), START);
    let mut next = Vec::new();
    while next.len() < subsets.all.len() {
        let reached = step(positions, alphabet, &subsets.all[next.len()]);
        next.push(reached.into_iter().map(|subset| subsets.number(subset)).collect());
    }
    let complete = |subset: &Vec<usize>| subset.iter().filter_map(|&position| positions.completes[position]).min();
    Automaton { next, accepts: subsets.all.iter().map(complete).collect() }
}

/// The subsets reached from one subset, by class.
fn step(positions: &Positions, alphabet: &Alphabet, subset: &[usize]) -> Vec<Vec<usize>> {
    let mut candidates: Vec<usize> = subset.iter().flat_map(|&position| &positions.follow[position]).copied().collect();
    candidates.sort_unstable();
    candidates.dedup();
    let mut reached = vec![Vec::new(); alphabet.classes];
    for position in candidates {
        for &class in alphabet.members(&positions.sets[position]) {
            reached[class].push(position);
        }
    }
    reached
}

#[derive(Default)]
struct Subsets {
    all: Vec<Vec<usize>>,
    numbers: HashMap<Vec<usize>, u32>,
}

impl Subsets {
    fn number(&mut self, subset: Vec<usize>) -> u32 {
        let fresh = u32::try_from(self.all.len()).expect("fewer than 2^32 states");
        *self.numbers.entry(subset).or_insert_with_key(|subset| {
            self.all.push(subset.clone());
            fresh
        })
    }
}
