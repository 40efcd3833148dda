//! What a frame does to the clause that it governs: `it is false that` and `none of the following` deny it; questions and
//! commands state nothing.

use super::Status;
use super::paragraph::lexicon::Class;
use super::scope::Scopes;
use crate::parse::Tag;

impl Scopes<'_> {
    /// Denies what frames govern in a sentence; which other sentences they deny.
    pub(super) fn deny_frames(&mut self, first: usize) -> Others {
        let mut others = Others::None;
        for at in 0..self.len() {
            if let Some(denied) = self.header(at) {
                others = denied;
                self.found.fill(Status::Denied);
            } else if let Some(start) = self.denied_clause(at) {
                let ends =
                    |&end: &usize| matches!(self.text(end), "but" | "however" | "although" | "though" | "whereas");
                let end = (start..self.len()).find(ends).unwrap_or(self.len());
                self.found[start..end].fill(Status::Denied);
            } else if matches!(self.text(at), "contrary" | "opposed") && self.text(at + 1) == "to" {
                let end = self.next_break(at);
                self.found[at..end].fill(Status::Denied);
            } else if self.is(at, Class::Fail) && !self.is_negated(at) {
                self.deny_what_fails(at);
            } else if self.is(at, Class::Missing) && !self.is_negated(at) {
                self.deny_what_misses(at, first);
            } else if self.is_nobody(at) {
                // What nobody does: `nobody wears a hat`, `none of the people is a clown`.
                if let Some(verb) = (at + 1..self.next_break(at)).find(|&verb| self.is_finite(verb)) {
                    self.deny_verb(verb, first);
                }
            }
        }
        others
    }

    /// `nobody`, `no one`, `no part of the picture`; not `nothing but`.
    fn is_nobody(&self, at: usize) -> bool {
        let next = self.text(at + 1);
        self.is(at, Class::Nobody) && !matches!(next, "but" | "like")
            || self.text(at) == "no" && matches!(next, "one" | "part" | "area" | "portion" | "section" | "corner")
    }

    /// The place of the next mark, or of the end.
    fn next_break(&self, at: usize) -> usize {
        (at + 1..self.len()).find(|&next| self.is_break[next]).unwrap_or(self.len())
    }

    /// Whether a denying word stands up to six words before, in the same part of the sentence.
    fn is_negated(&self, at: usize) -> bool {
        let start = (0..=at).rev().find(|&start| start == 0 || self.is_break[start]).unwrap_or(0);
        (start.max(at.saturating_sub(6))..at).any(|before| self.negates(before))
    }

    fn negates(&self, at: usize) -> bool {
        matches!(self.text(at), "hardly" | "scarcely" | "far")
            || [Class::Deny, Class::DenyAll, Class::Nobody].iter().any(|&class| self.is(at, class))
    }

    /// `none of the following`, `the following is not true`, `all of the above is false`, `none of this is so`.
    fn header(&self, at: usize) -> Option<Others> {
        let before = self.text(at.checked_sub(1)?);
        let others = match self.text(at) {
            "following" | "follows" | "below" if matches!(before, "the" | "what" | "of") => Others::Behind,
            "above" if matches!(before, "the" | "of") => Others::Before,
            "this" | "these" if before == "of" && self.is_finite(at + 1) => {
                if self.next_break(at) == self.len() {
                    Others::Before
                } else {
                    Others::None
                }
            }
            _ => return None,
        };
        let said = (0..at).chain(at + 1..self.next_break(at).min(at + 6));
        let is_denial = |place: &usize| {
            self.negates(*place) || [Class::False, Class::Missing].iter().any(|&class| self.is(*place, class))
        };
        (said.filter(is_denial).count() % 2 == 1).then_some(others)
    }

    /// Where the clause begins that a frame denies which ends here: `it is false`, `no evidence that`, `wrong to say`,
    /// `fails to show that`.
    fn denied_clause(&self, at: usize) -> Option<usize> {
        if self.text(at) == "nowhere" && (at == 0 || self.is_break[at]) {
            return Some(at + 1);
        }
        let (is_false, is_claim) = (self.is(at, Class::False), self.is(at, Class::Claim));
        let is_failing =
            self.is(at, Class::Fail) || at > 1 && self.text(at - 1) == "to" && self.is(at - 2, Class::Fail);
        let is_denied = is_false && !self.is_negated(at) || is_claim && self.is_negated(at);
        if is_failing && !self.is_negated(at) && self.text(at + 1) == "that" {
            return Some(at + 1);
        }
        if !is_denied {
            return None;
        }
        // `The claim that a dog runs is false.`
        let is_named = |&place: &usize| self.text(place) == "that" && (place == 0 || self.is(place - 1, Class::Claim));
        let is_predicate = (at.saturating_sub(2)..at).any(|verb| self.is_finite(verb));
        if let Some(named) = (0..at.min(4)).find(is_named).filter(|_| is_predicate) {
            return Some(named);
        }
        let behind = at + 1 + usize::from(is_false && self.is(at + 1, Class::Claim));
        let takes_clause =
            self.text(behind) == "that" || self.text(behind) == "to" && self.is(behind + 1, Class::Claim);
        let is_alone = self.is_break.get(at + 1) == Some(&true) && (0..at).all(|place| self.negates(place));
        (takes_clause || is_alone || self.is_impersonal(at)).then_some(behind.min(self.len()))
    }

    /// Whether the sentence begins with `it is`, `this would be a` and the like, right before.
    fn is_impersonal(&self, at: usize) -> bool {
        let tags = [Tag::Md, Tag::Vb, Tag::Vbz, Tag::Vbd, Tag::Rb, Tag::Dt, Tag::Pos];
        let is_light = |place: usize| self.tag(place).is_some_and(|tag| tags.contains(&tag)) || self.negates(place);
        at > 1 && matches!(self.text(0), "it" | "this" | "that") && (1..at).all(is_light)
    }

    /// `fails to show a dog`, `omits the dog`, `denies that`.
    fn deny_what_fails(&mut self, at: usize) {
        self.found[at] = Status::Denied;
        let mut start = at + 1;
        if self.text(start) == "to" {
            self.found.iter_mut().skip(start).take(2).for_each(|status| *status = Status::Denied);
            start += 2;
            if self.is_definite(start) && !self.is(start - 1, Class::Show) {
                return;
            }
        }
        self.deny_things(start);
    }

    /// `a dog is missing`, `a plate missing a slice`, `absent is a dog`.
    fn deny_what_misses(&mut self, at: usize, first: usize) {
        self.found[at] = Status::Denied;
        let next = at + 1 + usize::from(self.is_finite(at + 1));
        if self.tag(next).is_some_and(|tag| tag != Tag::In && tag != Tag::To) && !self.is_break[next] {
            self.deny_things(next);
        } else {
            self.mark_subject(at..=at, first, Status::Denied);
        }
    }

    /// Whether the sentence is a question by the order of its words, or a command to look, to think or to tell.
    pub(super) fn states_nothing(&self) -> bool {
        let opens = |&at: &usize| !matches!(self.text(at), "please" | "now" | "just" | "and" | "so" | "then" | "first");
        let Some(start) = (0..self.len()).find(opens) else { return false };
        let tags = [Tag::Dt, Tag::Cd, Tag::Prp, Tag::PrpPossessive, Tag::Wp, Tag::Wrb, Tag::Ex];
        let names = self.tag(start + 1).is_some_and(|tag| tags.contains(&tag)) || self.text(start + 1) == "any";
        self.is(start, Class::Command) && self.is_word(start + 1)
            || self.is(start, Class::Look) && (names || matches!(self.text(start + 1), "at" | "for"))
            || self.is(start, Class::Ask) && (names || self.text(start + 1) == "there")
    }

    fn is_word(&self, at: usize) -> bool {
        at < self.len() && !self.is_break[at] && self.text(at) != "of"
    }
}

/// Which other sentences a frame denies beside its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Others {
    None,
    Before,
    Behind,
}
