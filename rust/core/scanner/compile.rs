//! From rules to tables: position automaton, subset construction, minimisation, Rust source text.

use std::collections::HashMap;
use std::fmt::{Debug, Write};
use std::hash::Hash;

use super::grammar::expression::{Expression, Rule, UnitSet};
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
    let positions = Positions::of(rules);
    let alphabet = Alphabet::of(&positions.sets);
    let mut automaton = determinise(&positions, &alphabet);
    let outcomes = name_outcomes(&mut automaton, rules);
    let automaton = minimise(&automaton);
    source(&alphabet, &automaton, &outcomes)
}

/// Rules with the same outcome need not be distinguished any more.
fn name_outcomes(automaton: &mut Automaton, rules: &[Rule]) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for accepted in automaton.accepts.iter_mut().flatten() {
        let outcome = rules[*accepted].outcome;
        *accepted = outcomes.iter().position(|&other| other == outcome).unwrap_or_else(|| {
            outcomes.push(outcome);
            outcomes.len() - 1
        });
    }
    outcomes
}

/// The position automaton (Glushkov): a state for every place in the rules where a unit is read. Position 0 is the start of
/// all rules; it reads nothing.
struct Positions {
    /// The characters that each position reads.
    sets: Vec<UnitSet>,
    /// The positions where a match may go on after each position.
    follow: Vec<Vec<usize>>,
    /// The most important rule that is complete after each position.
    completes: Vec<Option<usize>>,
}

/// The positions where an expression can begin and end, and whether it can be empty.
struct Ends {
    first: Vec<usize>,
    last: Vec<usize>,
    empty: bool,
}

impl Ends {
    fn nothing() -> Self {
        Ends { first: Vec::new(), last: Vec::new(), empty: true }
    }
}

impl Positions {
    fn of(rules: &[Rule]) -> Self {
        let start = (UnitSet::default(), Vec::new(), None);
        let mut all = Self { sets: vec![start.0], follow: vec![start.1], completes: vec![start.2] };
        for (number, rule) in rules.iter().enumerate() {
            let token = all.add(&rule.token);
            let rest = rule.followed_by.as_ref().map_or_else(Ends::nothing, |what| all.add(what));
            let whole = all.chain(token, rest);
            assert!(!whole.empty, "rule {number} matches nothing");
            for position in whole.last {
                all.completes[position].get_or_insert(number);
            }
            all.follow[0].extend(whole.first);
        }
        all
    }

    fn add(&mut self, expression: &Expression) -> Ends {
        match expression {
            Expression::Nothing => Ends::nothing(),
            Expression::One(set) => self.add_position(set),
            Expression::Sequence(parts) => parts.iter().fold(Ends::nothing(), |before, part| {
                let part = self.add(part);
                self.chain(before, part)
            }),
            Expression::Choice(branches) => self.add_choice(branches),
            Expression::Some(repeated) => {
                let ends = self.add(repeated);
                self.link(&ends.last, &ends.first);
                ends
            }
        }
    }

    fn add_position(&mut self, set: &UnitSet) -> Ends {
        let position = self.sets.len();
        self.sets.push(set.clone());
        self.follow.push(Vec::new());
        self.completes.push(None);
        Ends { first: vec![position], last: vec![position], empty: false }
    }

    fn add_choice(&mut self, branches: &[Expression]) -> Ends {
        let mut ends = Ends { empty: false, ..Ends::nothing() };
        for branch in branches {
            let branch = self.add(branch);
            ends.first.extend(branch.first);
            ends.last.extend(branch.last);
            ends.empty |= branch.empty;
        }
        ends
    }

    fn chain(&mut self, mut before: Ends, mut after: Ends) -> Ends {
        self.link(&before.last, &after.first);
        if before.empty {
            before.first.append(&mut after.first);
        }
        if after.empty {
            after.last.append(&mut before.last);
        }
        Ends { first: before.first, last: after.last, empty: before.empty && after.empty }
    }

    fn link(&mut self, from: &[usize], to: &[usize]) {
        for &position in from {
            self.follow[position].extend_from_slice(to);
        }
    }
}

/// Character classes: units that no rule distinguishes share a column in the tables.
struct Alphabet {
    /// The class of each of the 65536 units. That of U+0000 is class 0.
    class_of: Vec<u8>,
    classes: usize,
    /// The classes that make up a set.
    members: HashMap<UnitSet, Vec<usize>>,
}

impl Alphabet {
    fn of(sets: &[UnitSet]) -> Self {
        let mut distinct: Vec<&UnitSet> = Vec::new();
        for set in sets {
            if !distinct.contains(&set) {
                distinct.push(set);
            }
        }
        let mut alphabet = Self { class_of: Vec::new(), classes: 0, members: HashMap::new() };
        let signatures = alphabet.classify(&distinct);
        for (number, set) in distinct.iter().enumerate() {
            let members = (0..alphabet.classes).filter(|&class| signatures[class][number]).collect();
            alphabet.members.insert((*set).clone(), members);
        }
        alphabet
    }

    /// Fills `class_of`; returns, for each class, which sets it belongs to.
    fn classify(&mut self, sets: &[&UnitSet]) -> Vec<Vec<bool>> {
        let mut classes: HashMap<Vec<bool>, u8> = HashMap::new();
        let mut signatures = Vec::new();
        // Membership changes only where some range begins or has ended.
        let mut changes = vec![false; 1 << 16];
        for &(first, last) in sets.iter().flat_map(|set| set.ranges()) {
            changes[usize::from(first)] = true;
            if let Some(after) = last.checked_add(1) {
                changes[usize::from(after)] = true;
            }
        }
        let mut class = 0;
        for unit in 0..=u16::MAX {
            if unit == 0 || changes[usize::from(unit)] {
                let signature: Vec<bool> = sets.iter().map(|set| set.contains(unit)).collect();
                class = *classes.entry(signature).or_insert_with_key(|signature| {
                    signatures.push(signature.clone());
                    u8::try_from(signatures.len() - 1).expect("at most 256 classes")
                });
            }
            self.class_of.push(class);
        }
        self.classes = signatures.len();
        signatures
    }

    fn members(&self, set: &UnitSet) -> &[usize] {
        &self.members[set]
    }
}

/// Subset construction: a state is the set of positions that may have been read last.
fn determinise(positions: &Positions, alphabet: &Alphabet) -> Automaton {
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

/// Minimisation by refinement (Moore): states are separate when they accept different outcomes, and are separated when some
/// class leads them to separate states.
fn minimise(automaton: &Automaton) -> Automaton {
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

/// The tables as Rust source text.
fn source(alphabet: &Alphabet, automaton: &Automaton, outcomes: &[Outcome]) -> String {
    let mut text = String::from("// Written by build.rs.\n");
    let (pages, page_of) = paged(&alphabet.class_of);
    constant(
        &mut text,
        "Classes of the units, in pages of 256 units. Page 0 is U+0000 to U+00FF.",
        "CLASSES",
        "u8",
        &pages,
    );
    constant(&mut text, "The page that holds the classes of units with a given upper byte.", "PAGE_OF", "u8", &page_of);

    let surrogates = &alphabet.class_of[0xD800..0xE000];
    assert!(surrogates.iter().all(|class| *class == surrogates[0]), "no rule may tell surrogates apart");
    let counts = format!(
        "/// The class of either half of a character beyond the basic plane.\n\
         pub(super) const HALF: u8 = {};\n\
         /// Number of classes, the width of a row of `NEXT`.\n\
         pub(super) const WIDTH: usize = {};\n",
        surrogates[0], alphabet.classes
    );
    text.push_str(&counts);

    let next: Vec<u32> = automaton.next.iter().flatten().copied().collect();
    constant(&mut text, "The state after each state and class, row by row.", "NEXT", "u16", &next);

    let accepts: Vec<usize> =
        automaton.accepts.iter().map(|accepted| accepted.map_or(0, |number| number + 1)).collect();
    constant(&mut text, "The outcome a state accepts, plus one; 0 for none.", "ACCEPTS", "u8", &accepts);
    constant(&mut text, "What the rules make of their tokens.", "OUTCOMES", "Outcome", outcomes);
    text
}
/// Cuts the class table into pages and keeps one copy of each.
fn paged(class_of: &[u8]) -> (Vec<u8>, Vec<usize>) {
    let mut pages: Vec<&[u8]> = Vec::new();
    let mut page_of = Vec::new();
    for page in class_of.chunks(256) {
        let number = pages.iter().position(|other| *other == page).unwrap_or_else(|| {
            pages.push(page);
            pages.len() - 1
        });
        page_of.push(number);
    }
    (pages.concat(), page_of)
}

fn constant(text: &mut String, comment: &str, name: &str, item: &str, values: &[impl Debug]) {
    writeln!(text, "/// {comment}\npub(super) static {name}: [{item}; {}] = {values:?};", values.len())
        .expect("a String takes everything");
}
