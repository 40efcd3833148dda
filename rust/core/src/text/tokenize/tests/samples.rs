//! Random text that means trouble: pieces of rules, pieces of captions, any character.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::super::grammar;
use super::super::grammar::expression::{Expression, Rule};

pub(super) static RULES: LazyLock<Vec<Rule>> = LazyLock::new(grammar::rules);

/// A few pieces, with or without spaces between them. The only line end is U+000A: the scanner meets no other.
pub(super) fn text(pieces: usize) -> impl Strategy<Value = String> {
    let separator = prop_oneof![4 => Just(" "), 4 => Just(""), 1 => Just("."), 1 => Just(", "), 1 => Just("\n")];
    let pieces = prop::collection::vec((piece(), separator), 0..pieces);
    let join = |pieces: Vec<(String, &str)>| pieces.into_iter().map(|(piece, separator)| piece + separator).collect();
    pieces.prop_map(join).prop_map(|text: String| text.replace(['\r', '\u{B}', '\u{C}', '\u{2028}', '\u{2029}'], " "))
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => any::<u64>().prop_map(of_some_rule),
        2 => "[a-zA-Z]{1,8}",
        1 => "[aAtTsSnN019.,:;!?'\"\u{2019}`\\-_/&#@$%()<>\\[\\]{}=~^*+| \u{a0}\u{ad}\u{e9}\u{1f600}]{1,6}",
        1 => any::<char>().prop_map(String::from),
    ]
}

/// A text that a rule picked by the seed matches, less what UTF-16 cannot hold.
fn of_some_rule(seed: u64) -> String {
    let mut dice = Dice(seed | 1);
    let rule = &RULES[dice.below(RULES.len())];
    let mut units = Vec::new();
    dice.spell(&rule.token, &mut units);
    if let Some(follower) = &rule.followed_by {
        dice.spell(follower, &mut units);
    }
    String::from_utf16_lossy(&units)
}

struct Dice(u64);

impl Dice {
    /// Xorshift: good enough to pick branches.
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % bound
    }

    fn spell(&mut self, expression: &Expression, units: &mut Vec<u16>) {
        match expression {
            Expression::Nothing => {}
            Expression::One(set) => {
                // Mostly the first range: that is where ASCII is.
                let ranges = set.ranges();
                let (first, last) = if self.below(3) > 0 { ranges[0] } else { ranges[self.below(ranges.len())] };
                units.push(first + self.below(usize::from(last - first) + 1) as u16);
            }
            Expression::Sequence(parts) => parts.iter().for_each(|part| self.spell(part, units)),
            Expression::Choice(branches) => {
                let branch = self.below(branches.len());
                self.spell(&branches[branch], units);
            }
            Expression::Some(repeated) => (0..=self.below(3)).for_each(|_| self.spell(repeated, units)),
        }
    }
}
