//! The position automaton (Glushkov): a state for every place in the rules where a unit is read.

use crate::grammar::expression::Expression;
use crate::grammar::rule::Rule;
use crate::grammar::units::UnitSet;

/// Position 0 is the start of all rules; it reads nothing.
pub(super) struct Positions {
    /// The characters that each position reads.
    pub(super) sets: Vec<UnitSet>,
    /// The positions where a match may go on after each position.
    pub(super) follow: Vec<Vec<usize>>,
    /// The most important rule that is complete after each position.
    pub(super) completes: Vec<Option<usize>>,
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
    pub(super) fn of(rules: &[Rule]) -> Self {
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
