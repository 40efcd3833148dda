//! Noun phrases: `a long, white dress`, from its first word to its noun.

use super::lexicon::{Class, is, is_name};
use super::sentence::{ADJECTIVES, NOUNS, PARTICIPLES, Sentence};
use crate::parse::Tag;

/// A noun with what stands before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NounPhrase {
    pub(super) start: usize,
    /// The place of the noun, the last word.
    pub(super) noun: usize,
}

/// The noun phrases of a sentence, in order.
pub(super) fn find(sentence: &Sentence) -> Vec<NounPhrase> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < sentence.len() {
        if !begins(sentence, at) {
            at += 1;
            continue;
        }
        let (noun, behind) = end(sentence, at);
        if let Some(noun) = noun {
            found.push(NounPhrase { start: at, noun });
        }
        at = noun.map_or(behind.max(at + 1), |noun| noun + 1);
    }
    found
}

fn begins(sentence: &Sentence, at: usize) -> bool {
    if sentence.has_tag(at, &PARTICIPLES) {
        let after = [Tag::Dt, Tag::PrpPossessive, Tag::Jj, Tag::Cd, Tag::In, Tag::Cc];
        return before_noun(sentence, at) && (at == 0 || sentence.has_tag(at - 1, &after));
    }
    is_modifier(sentence, at) || sentence.is_noun(at)
}

fn is_modifier(sentence: &Sentence, at: usize) -> bool {
    sentence.has_tag(at, &[Tag::Dt, Tag::PrpPossessive, Tag::Cd]) || sentence.has_tag(at, &ADJECTIVES)
}

fn before_noun(sentence: &Sentence, at: usize) -> bool {
    sentence.has_tag(at + 1, &NOUNS) || sentence.has_tag(at + 1, &ADJECTIVES)
}

/// The noun of the phrase that begins here, and where the search for it ended.
fn end(sentence: &Sentence, start: usize) -> (Option<usize>, usize) {
    let (mut noun, mut at) = (None, start);
    while at < sentence.len() && (at == start || !sentence.is_break(at)) {
        if sentence.is_noun(at) {
            noun = Some(at);
            if is(sentence.lemma(at), Class::Label)
                && !is_name(&format!("{} {}", sentence.lemma(at), sentence.lemma(at + 1)))
            {
                return (noun, at);
            }
        } else if noun.is_some() || !goes_on(sentence, start, at) {
            break;
        }
        at += 1;
    }
    if noun.is_none() && is_adjective_list(sentence, at) {
        let listed = |&place: &usize| !sentence.has_tag(place, &[Tag::Jj, Tag::Vbn, Tag::Vbg, Tag::Rb, Tag::Cc]);
        let nouns = (at..sentence.len()).find(listed).unwrap_or(at);
        let in_noun = |&place: &usize| sentence.is_noun(place) && (place == nouns || !sentence.is_break(place));
        noun = (nouns..sentence.len()).take_while(in_noun).last();
    }
    (noun, at)
}

fn goes_on(sentence: &Sentence, start: usize, at: usize) -> bool {
    let joins = || at > start && sentence.tag(at - 1) == Some(Tag::Jj) && sentence.tag(at + 1) == Some(Tag::Jj);
    is_modifier(sentence, at)
        || sentence.has_tag(at, &PARTICIPLES) && before_noun(sentence, at)
        || sentence.tag(at) == Some(Tag::Rb) && sentence.has_tag(at + 1, &[Tag::Jj, Tag::Vbn])
        || sentence.tag(at) == Some(Tag::Cc) && joins()
}

/// Whether adjectives go on behind a comma here: `a long, white dress`.
fn is_adjective_list(sentence: &Sentence, at: usize) -> bool {
    let adjectives = [Tag::Jj, Tag::Vbn, Tag::Vbg];
    at > 0 && sentence.is_break(at) && sentence.has_tag(at - 1, &adjectives) && sentence.has_tag(at, &adjectives)
}
