//! The automaton's tables, as the build script wrote them.

#![allow(clippy::unreadable_literal, clippy::enum_glob_use, reason = "for the generated part")]

use super::outcome::{Cut::*, Outcome, Rewrite::*};

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
