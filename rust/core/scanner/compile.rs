//! From rules to tables: character classes, an automaton over them by `regex-automata`, Rust source text.

use std::collections::{HashMap, HashSet};
use std::fmt::{Debug, Write};
use std::iter;

use regex_automata::Anchored;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson::NFA;
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, Hir, Repetition};

use super::grammar::expression::{Expression, Rule, UnitSet};
use super::outcome::Outcome;

/// The tables for these rules, as Rust source text.
pub(crate) fn tables(rules: &[Rule]) -> String {
    let alphabet = Alphabet::of(rules);
    let automaton = compile(rules, &alphabet);
    let mut outcomes: Vec<Outcome> = Vec::new();
    let outcome_of: Vec<usize> = rules.iter().map(|rule| position_of(rule.outcome, &mut outcomes)).collect();
    let states = States::of(&automaton, &alphabet, &outcome_of);
    source(&alphabet, &states, &outcomes)
}

/// The place of the value, which is added if it is new.
fn position_of<T: PartialEq>(value: T, values: &mut Vec<T>) -> usize {
    values.iter().position(|other| *other == value).unwrap_or_else(|| {
        values.push(value);
        values.len() - 1
    })
}

/// Character classes: units that no rule distinguishes share a column in the tables.
struct Alphabet {
    /// The class of each of the 65536 units. That of U+0000 is class 0.
    class_of: Vec<u8>,
    /// The first unit of each class.
    examples: Vec<u16>,
}

impl Alphabet {
    fn of(rules: &[Rule]) -> Self {
        let mut sets = HashSet::new();
        for rule in rules {
            for expression in iter::once(&rule.token).chain(&rule.followed_by) {
                collect_sets(expression, &mut sets);
            }
        }
        let mut classes: HashMap<Vec<bool>, u8> = HashMap::new();
        let mut examples = Vec::new();
        let class_of = (0..=u16::MAX)
            .map(|unit| {
                let signature = sets.iter().map(|set| set.contains(unit)).collect();
                *classes.entry(signature).or_insert_with(|| {
                    examples.push(unit);
                    u8::try_from(examples.len() - 1).expect("at most 256 classes")
                })
            })
            .collect();
        Self { class_of, examples }
    }

    /// What the automaton reads at the end of a rule, which is no class.
    fn end(&self) -> u8 {
        u8::try_from(self.examples.len()).expect("at most 255 classes")
    }

    /// The expression, with classes in place of units.
    fn spell(&self, expression: &Expression) -> Hir {
        let all = |parts: &[Expression]| parts.iter().map(|part| self.spell(part)).collect();
        match expression {
            Expression::Nothing => Hir::empty(),
            Expression::One(set) => {
                let members = (0..self.end()).filter(|&class| set.contains(self.examples[usize::from(class)]));
                Hir::class(Class::Bytes(ClassBytes::new(members.map(|class| ClassBytesRange::new(class, class)))))
            }
            Expression::Sequence(parts) => Hir::concat(all(parts)),
            Expression::Choice(branches) => Hir::alternation(all(branches)),
            Expression::Some(repeated) => {
                Hir::repetition(Repetition { min: 1, max: None, greedy: true, sub: Box::new(self.spell(repeated)) })
            }
        }
    }
}

fn collect_sets<'r>(expression: &'r Expression, sets: &mut HashSet<&'r UnitSet>) {
    match expression {
        Expression::Nothing => {}
        Expression::One(set) => {
            sets.insert(set);
        }
        Expression::Sequence(parts) | Expression::Choice(parts) => {
            for part in parts {
                collect_sets(part, sets);
            }
        }
        Expression::Some(repeated) => collect_sets(repeated, sets),
    }
}

/// The automaton of all rules. Each rule reads `Alphabet::end` at last: a step over it leads from a state to the first of
/// the rules that are complete there, and no shorter match stops a longer one.
fn compile(rules: &[Rule], alphabet: &Alphabet) -> dense::DFA<Vec<u32>> {
    let spell = |rule: &Rule| {
        let follower = rule.followed_by.as_ref().map_or_else(Hir::empty, |what| alphabet.spell(what));
        Hir::concat(vec![alphabet.spell(&rule.token), follower, Hir::literal([alphabet.end()])])
    };
    let patterns: Vec<Hir> = rules.iter().map(spell).collect();
    let nfa = NFA::compiler().build_many_from_hir(&patterns).expect("rules of a moderate size");
    let settings = dense::Config::new().start_kind(StartKind::Anchored).accelerate(false).minimize(true);
    dense::Builder::new().configure(settings).build_from_nfa(&nfa).expect("an automaton of a moderate size")
}

/// The states as the tables number them: 0 is dead, 1 is the start.
struct States {
    /// The state after each state and class, row by row.
    next: Vec<usize>,
    /// The outcome a state accepts, plus one; 0 for none.
    accepts: Vec<usize>,
}

impl States {
    fn of(automaton: &dense::DFA<Vec<u32>>, alphabet: &Alphabet, outcome_of: &[usize]) -> Self {
        let start = automaton.universal_start_state(Anchored::Yes).expect("rules do not look back");
        let mut alive = vec![start];
        let mut numbers = HashMap::from([(start, 1)]);
        let mut states = Self { next: vec![0; alphabet.examples.len()], accepts: vec![0] };
        while let Some(&state) = alive.get(states.accepts.len() - 1) {
            for class in 0..alphabet.end() {
                let reached = automaton.next_state(state, class);
                if automaton.is_dead_state(reached) {
                    states.next.push(0);
                    continue;
                }
                states.next.push(*numbers.entry(reached).or_insert_with(|| {
                    alive.push(reached);
                    alive.len()
                }));
            }
            let ended = automaton.next_eoi_state(automaton.next_state(state, alphabet.end()));
            let accepts = automaton.is_match_state(ended);
            states.accepts.push(if accepts { outcome_of[automaton.match_pattern(ended, 0)] + 1 } else { 0 });
        }
        assert_eq!(states.accepts[1], 0, "a rule matches nothing");
        states
    }
}

/// The tables as Rust source text.
fn source(alphabet: &Alphabet, states: &States, outcomes: &[Outcome]) -> String {
    let mut text = String::from("// Written by build.rs.\n");
    // The class table is cut into pages, of which one copy each is kept.
    let mut pages = Vec::new();
    let page_of: Vec<usize> = alphabet.class_of.chunks(256).map(|page| position_of(page, &mut pages)).collect();
    constant(
        &mut text,
        "Classes of the units, in pages of 256 units. Page 0 is U+0000 to U+00FF.",
        "CLASSES",
        "u8",
        &pages.concat(),
    );
    constant(&mut text, "The page that holds the classes of units with a given upper byte.", "PAGE_OF", "u8", &page_of);

    let surrogates = &alphabet.class_of[0xD800..0xE000];
    assert!(surrogates.iter().all(|class| *class == surrogates[0]), "no rule may tell surrogates apart");
    let counts = format!(
        "/// The class of either half of a character beyond the basic plane.\n\
         pub(super) const HALF: u8 = {};\n\
         /// Number of classes, the width of a row of `NEXT`.\n\
         pub(super) const WIDTH: usize = {};\n",
        surrogates[0],
        alphabet.examples.len()
    );
    text.push_str(&counts);

    constant(&mut text, "The state after each state and class, row by row.", "NEXT", "u16", &states.next);
    constant(&mut text, "The outcome a state accepts, plus one; 0 for none.", "ACCEPTS", "u8", &states.accepts);
    constant(&mut text, "What the rules make of their tokens.", "OUTCOMES", "Outcome", outcomes);
    text
}

fn constant(text: &mut String, comment: &str, name: &str, item: &str, values: &[impl Debug]) {
    writeln!(text, "/// {comment}\npub(super) static {name}: [{item}; {}] = {values:?};", values.len())
        .expect("a String takes everything");
}
