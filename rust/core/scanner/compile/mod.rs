//! From rules to tables: position automaton, subset construction, minimisation, Rust source text.

mod alphabet;
mod determinise;
mod emit;
mod minimise;
mod positions;

use super::grammar::rule::Rule;
use super::outcome::Outcome;

/// A complete deterministic automaton. State 0 is dead, state 1 is the start.
struct Automaton {
    /// One row per state, one column per character class.
    next: Vec<Vec<u32>>,
    /// The rule, later the outcome, that a state accepts.
    accepts: Vec<Option<usize>>,
}

const DEAD: u32 = 0;
const START: u32 = 1;

/// The tables for these rules, as Rust source text.
pub(crate) fn tables(rules: &[Rule]) -> String {
    let positions = positions::Positions::of(rules);
    let alphabet = alphabet::Alphabet::of(&positions.sets);
    let mut automaton = determinise::determinise(&positions, &alphabet);
    let outcomes = name_outcomes(&mut automaton, rules);
    let automaton = minimise::minimise(&automaton);
    emit::source(&alphabet, &automaton, &outcomes)
}

/// Rules with the same outcome need not be distinguished any more.
fn name_outcomes(automaton: &mut Automaton, rules: &[Rule]) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for accepted in automaton.accepts.iter_mut().flatten() {
        let outcome = rules[*accepted].outcome;
        *accepted = outcomes.iter().position(|&known| known == outcome).unwrap_or_else(|| {
            outcomes.push(outcome);
            outcomes.len() - 1
        });
    }
    outcomes
}
