//! A sentence of a paragraph, with its tags put right.

use super::lexicon::{Class, is, is_name};
use crate::graph::Status;
use crate::parse::{Tag, Word};

/// A sentence of a text. Its words have numbers from 0; `first` is the number of the first in the text.
pub(super) struct Sentence<'a> {
    pub(super) words: &'a [Word],
    pub(super) first: usize,
    /// Whether a comma or another mark stands before each word.
    pub(super) is_break: &'a [bool],
    pub(super) statuses: &'a [Status],
}

impl<'a> Sentence<'a> {
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// The word in lower case; nothing behind the end.
    pub(super) fn text(&self, at: usize) -> &'a str {
        self.words.get(at).map_or("", |word| &word.text)
    }

    pub(super) fn lemma(&self, at: usize) -> &'a str {
        self.words.get(at).map_or("", |word| &word.lemma)
    }

    pub(super) fn tag(&self, at: usize) -> Option<Tag> {
        self.words.get(at).map(|word| word.tag)
    }

    pub(super) fn has_tag(&self, at: usize, tags: &[Tag]) -> bool {
        self.tag(at).is_some_and(|tag| tags.contains(&tag))
    }

    pub(super) fn is_noun(&self, at: usize) -> bool {
        self.has_tag(at, &NOUNS)
    }

    pub(super) fn is_break(&self, at: usize) -> bool {
        self.is_break.get(at).is_some_and(|&is_break| is_break)
    }

    pub(super) fn is(&self, at: usize, class: Class) -> bool {
        is(self.text(at), class)
    }

    /// Whether it sums up what was said before.
    pub(super) fn is_summary(&self) -> bool {
        let sums = ["summary", "essence", "conclusion", "sum", "short"];
        self.is(0, Class::Summary)
            || self.text(0) == "in" && sums.contains(&self.text(1))
            || [0, 1, 2].map(|at| self.text(at)) == ["all", "in", "all"]
    }
}

pub(super) const NOUNS: [Tag; 4] = [Tag::Nn, Tag::Nns, Tag::Nnp, Tag::Nnps];
pub(super) const ADJECTIVES: [Tag; 3] = [Tag::Jj, Tag::Jjr, Tag::Jjs];
pub(super) const PARTICIPLES: [Tag; 2] = [Tag::Vbn, Tag::Vbg];

/// Puts the words of a sentence in lower case, and right what the tagger, which knows short captions, takes amiss.
pub(super) fn repair(words: &mut [Word], is_break: &[bool]) {
    for at in 0..words.len() {
        if words[at].text.chars().any(char::is_uppercase) {
            words[at].text = words[at].text.to_lowercase();
        }
        let before = at.checked_sub(1).map(|before| words[before].tag);
        let after = words.get(at + 1).map(|after| after.tag);
        let word = &mut words[at];
        let tag = word.tag;
        let in_class = |class| is(&word.text, class);
        let follows_noun = before.is_some_and(|tag| NOUNS[..3].contains(&tag) || tag == Tag::Wdt);
        let before_noun = after.is_some_and(|tag| NOUNS.contains(&tag) || ADJECTIVES.contains(&tag));
        if tag == Tag::Nns && in_class(Class::VerbNotNoun) && at > 0 && (follows_noun || is_break[at]) {
            word.tag = Tag::Vbz;
            word.lemma = verb(&word.text).to_owned();
        } else if in_class(Class::Adjective) || NOUNS.contains(&tag) && in_class(Class::Colour) && before_noun {
            word.tag = Tag::Jj;
        } else if in_class(Class::Adverb) {
            word.tag = Tag::Rb;
        } else if matches!(&*word.lemma, "suggest" | "provide") {
            word.tag = Tag::Vbz;
        } else if tag == Tag::Nns && word.lemma == word.text {
            match word.text.strip_suffix('s') {
                Some(singular) if is_name(singular) && !is_name(&word.text) => word.lemma = singular.to_owned(),
                _ => {}
            }
        }
    }
}

/// The base form of a verb in -s: `stretch` of `stretches`.
fn verb(text: &str) -> &str {
    let hissing = ["ches", "shes", "sses", "xes"].iter().any(|ending| text.ends_with(ending));
    text.strip_suffix(if hissing { "es" } else { "s" }).unwrap_or(text)
}
