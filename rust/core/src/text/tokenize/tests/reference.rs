//! The rules applied by plain search: slow, with no tables and no shortcuts. The tests compare the scanner with it.

use std::collections::{BTreeSet, HashMap};

use super::super::grammar::expression::{Expression, Rule};
use super::super::outcome::Rewrite;

/// The end of the token at the start of the units, and what becomes of it.
pub(super) fn token(rules: &[Rule], units: &[u16]) -> (usize, Rewrite) {
    let mut search = Search { units, known: HashMap::new() };
    let mut longest = 0;
    let mut winner = None;
    for rule in rules {
        let Some((match_end, token_end)) = search.rule(rule) else { continue };
        // Among equals the first rule wins.
        if match_end > longest {
            longest = match_end;
            winner = Some((token_end, rule.outcome.rewrite));
        }
    }
    winner.expect("some rule matches everything")
}

struct Search<'u> {
    units: &'u [u16],
    /// Results, by address of the expression and start.
    known: HashMap<(*const Expression, usize), BTreeSet<usize>>,
}

impl Search<'_> {
    /// The ends of the longest match and of its token, which is as long as the match allows.
    fn rule(&mut self, rule: &Rule) -> Option<(usize, usize)> {
        let token_ends = self.ends(&rule.token, 0);
        let Some(follower) = &rule.followed_by else {
            return token_ends.last().map(|&end| (end, end));
        };
        let whole = |token_end: usize| self.ends(follower, token_end).last().map(|&match_end| (match_end, token_end));
        token_ends.into_iter().filter_map(whole).max()
    }

    /// Everywhere that a match beginning at `start` can end.
    fn ends(&mut self, expression: &Expression, start: usize) -> BTreeSet<usize> {
        let key = (std::ptr::from_ref(expression), start);
        if let Some(ends) = self.known.get(&key) {
            return ends.clone();
        }
        let ends = self.search(expression, start);
        self.known.insert(key, ends.clone());
        ends
    }

    fn search(&mut self, expression: &Expression, start: usize) -> BTreeSet<usize> {
        match expression {
            Expression::Nothing => BTreeSet::from([start]),
            Expression::One(set) => {
                let matches = self.units.get(start).is_some_and(|&unit| set.contains(unit));
                matches.then_some(start + 1).into_iter().collect()
            }
            Expression::Sequence(parts) => parts.iter().fold(BTreeSet::from([start]), |starts, part| {
                starts.into_iter().flat_map(|start| self.ends(part, start)).collect()
            }),
            Expression::Choice(branches) => branches.iter().flat_map(|branch| self.ends(branch, start)).collect(),
            Expression::Some(repeated) => self.repeat(repeated, start),
        }
    }

    fn repeat(&mut self, repeated: &Expression, start: usize) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut fresh = vec![start];
        while let Some(start) = fresh.pop() {
            let ends = self.ends(repeated, start);
            fresh.extend(ends.into_iter().filter(|&end| reached.insert(end)));
        }
        reached
    }
}
