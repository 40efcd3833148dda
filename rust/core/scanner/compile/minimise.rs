//! Minimisation by refinement (Moore): states are separate when they accept different outcomes, and are separated when
//! some class leads them to separate states.

use std::collections::HashMap;
use std::hash::Hash;

use super::{Automaton, DEAD, START};

pub(super) fn minimise(automaton: &Automaton) -> Automaton {
    let mut group = number_alike(automaton.accepts.iter().copied());
    loop {
        let signature = |state: usize| -> (u32, Vec<u32>) {
            (group[state], automaton.next[state].iter().map(|&to| group[to as usize]).collect())
        };
        let refined = number_alike((0..group.len()).map(signature));
        if refined.iter().max() == group.iter().max() {
            return merge(automaton, &group);
        }
        group = refined;
    }
}

/// Equal values get equal numbers, in order of first appearance.
fn number_alike<T: Hash + Eq>(values: impl Iterator<Item = T>) -> Vec<u32> {
    let mut numbers = HashMap::new();
    values
        .map(|value| {
            let fresh = numbers.len() as u32;
            *numbers.entry(value).or_insert(fresh)
        })
        .collect()
}

fn merge(automaton: &Automaton, group: &[u32]) -> Automaton {
    assert_eq!((group[DEAD as usize], group[START as usize]), (DEAD, START));
    let mut merged = Automaton { next: Vec::new(), accepts: Vec::new() };
    for (state, &number) in group.iter().enumerate() {
        if number as usize == merged.next.len() {
            merged.next.push(automaton.next[state].iter().map(|&to| group[to as usize]).collect());
            merged.accepts.push(automaton.accepts[state]);
        }
    }
    merged
}
