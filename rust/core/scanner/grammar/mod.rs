//! The rules of the tokens of the COCO caption suite, by topic.
//!
//! The suite's behaviour, from a specification and from running it; the notation and the arrangement are ours. The
//! longest match wins, what follows the token included; among equally long matches the rule that comes first in `rules` wins.

#![allow(dead_code, reason = "each crate that includes this folder, build script and tests, uses a part of it")]
#![allow(clippy::precedence, reason = "that + binds tighter than | is how expressions are read here")]

use super::outcome;

mod abbreviations;
mod characters;
mod contractions;
pub(crate) mod expression;
mod markup;
mod numbers;
mod punctuation;
pub(crate) mod rule;
pub(crate) mod units;
mod web;
mod words;

use rule::Rule;

/// All rules, the most important first.
pub(crate) fn rules() -> Vec<Rule> {
    let groups = [
        words::programming_languages(),
        contractions::fused_words(),
        markup::tags_and_entities(),
        words::words(),
        contractions::kept_whole(),
        web::addresses(),
        contractions::detached_clitics(),
        numbers::numbers(),
        words::fixed_forms(),
        words::slashed_words(),
        numbers::money(),
        abbreviations::abbreviations(),
        numbers::two_digit_years(),
        web::file_names(),
        words::words_before_inner_marks(),
        numbers::phone_numbers(),
        punctuation::double_quotes(),
        markup::angle_brackets(),
        punctuation::faces(),
        punctuation::brackets(),
        punctuation::marks(),
        words::compounds(),
        punctuation::single_quotes(),
        punctuation::everything_else(),
    ];
    groups.into_iter().flatten().collect()
}
