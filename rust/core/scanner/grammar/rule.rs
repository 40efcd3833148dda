//! A rule: a token, what must follow it, and the outcome.

use super::expression::Expression;
use super::outcome::{Cut, Outcome, Rewrite};

#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) token: Expression,
    /// Counts in the length of the match, and is then given back.
    pub(crate) followed_by: Option<Expression>,
    pub(crate) outcome: Outcome,
}

impl Rule {
    /// A token kept as it stands, whatever follows.
    pub(crate) fn new(token: Expression) -> Self {
        Self { token, followed_by: None, outcome: Outcome { cut: Cut::Nowhere, rewrite: Rewrite::Keep } }
    }

    /// `cut` must find where `token` ends in every match; the tests compare it with a search.
    pub(crate) fn followed_by(mut self, what: Expression, cut: Cut) -> Self {
        self.followed_by = Some(what);
        self.outcome.cut = cut;
        self
    }

    pub(crate) fn rewrite(mut self, rewrite: Rewrite) -> Self {
        self.outcome.rewrite = rewrite;
        self
    }
}
