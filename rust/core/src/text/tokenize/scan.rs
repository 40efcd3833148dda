//! The longest match at a place in the text.
//!
//! A longest-match scanner can run far past the token it ends up with: to the end of the text, at every `<a "`, for
//! the quotation mark that would make it a tag. To stay linear it remembers such excursions: every `LEG` bytes it notes
//! where it is and in which state, and when the excursion comes to nothing, the notes say so to all later ones.

use rustc_hash::FxHashSet;

use super::outcome::Rewrite;
use crate::text::tokenize::ptb::token_end;

use tables::{DEAD, HALF, START};

const LEG: usize = 128;

/// A place in the text and the state of the automaton there.
type Waypoint = (usize, u16);

pub(super) struct Scanner<'t> {
    text: &'t str,
    /// Waypoints after which nothing was accepted.
    barren: FxHashSet<Waypoint>,
    /// Waypoints of the excursion under way.
    trail: Vec<Waypoint>,
}

/// A token: where it ends, and what to make of it.
pub(super) struct Match {
    pub(super) end: usize,
    pub(super) rewrite: Rewrite,
}

/// The longest match so far. Where half a character was the last thing looked at, `end` is inside that character.
#[derive(Clone, Copy)]
struct Best {
    end: usize,
    state: u16,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, barren: FxHashSet::default(), trail: Vec::new() }
    }

    /// The token at `start`, which must be before the end of the text.
    pub(super) fn token_at(&mut self, start: usize) -> Match {
        let best = self.longest(start);
        let outcome = tables::outcome(best.state);
        let end = token_end(self.text, start, best.end, outcome.cut);
        Match { end, rewrite: outcome.rewrite }
    }

    fn longest(&mut self, start: usize) -> Best {
        let mut best = Best { end: start, state: START };
        let mut here = (start, START);
        loop {
            let leg_end = (here.0 / LEG + 1) * LEG;
            here = self.walk(here, leg_end, &mut best);
            let (at, state) = here;
            let exhausted = state == DEAD || at == self.text.len();
            if exhausted || (!self.barren.is_empty() && self.barren.contains(&here)) {
                self.remember(best);
                return best;
            }
            if at - best.end >= LEG {
                self.trail.push(here);
            }
        }
    }

    /// Steps until `leg_end`, the end of the text or the dead state. The waypoint it returns is the same for all walks
    /// that come by in the same state, wherever they began.
    fn walk(&self, (mut at, mut state): Waypoint, leg_end: usize, best: &mut Best) -> Waypoint {
        let bytes = self.text.as_bytes();
        let leg_end = leg_end.min(bytes.len());
        while at < leg_end {
            let byte = bytes[at];
            if byte.is_ascii() {
                state = tables::next(state, tables::CLASSES[usize::from(byte)]);
                at += 1;
            } else {
                (at, state) = self.step_over_character(at, state, best);
            }
            if state == DEAD {
                break;
            }
            if tables::accepts(state) {
                *best = Best { end: at, state };
            }
        }
        (at, state)
    }

    fn step_over_character(&self, at: usize, state: u16, best: &mut Best) -> Waypoint {
        let character = self.text[at..].chars().next().expect("a character boundary");
        let end = at + character.len_utf8();
        if let Ok(unit) = u16::try_from(u32::from(character)) {
            return (end, tables::next(state, tables::class_of(unit)));
        }
        let between = tables::next(state, HALF);
        if tables::accepts(between) {
            *best = Best { end: at + 2, state: between };
        }
        (end, tables::next(between, HALF))
    }

    /// Ends the excursion: what it passed after the best match led nowhere.
    fn remember(&mut self, best: Best) {
        self.barren.extend(self.trail.drain(..).filter(|&(at, _)| at >= best.end));
    }
}

/// The automaton's tables, as the build script wrote them.
mod tables {
    #![allow(clippy::unreadable_literal, clippy::enum_glob_use, reason = "for the generated part")]

    use super::super::outcome::{Cut::*, Outcome, Rewrite::*};

    include!(concat!(env!("OUT_DIR"), "/scanner_tables.rs"));

    /// No match can begin like this.
    pub(super) const DEAD: u16 = 0;

    /// The state before the first unit.
    pub(super) const START: u16 = 1;

    /// The class of a UTF-16 unit.
    pub(super) fn class_of(unit: u16) -> u8 {
        let [upper, lower] = unit.to_be_bytes();
        CLASSES[usize::from(PAGE_OF[usize::from(upper)]) * 256 + usize::from(lower)]
    }

    pub(super) fn next(state: u16, class: u8) -> u16 {
        NEXT[usize::from(state) * WIDTH + usize::from(class)]
    }

    pub(super) fn accepts(state: u16) -> bool {
        ACCEPTS[usize::from(state)] != 0
    }

    /// The outcome of an accepting state.
    pub(super) fn outcome(state: u16) -> Outcome {
        OUTCOMES[usize::from(ACCEPTS[usize::from(state)]) - 1]
    }
}
