//! A sentence of a paragraph, with its tags put right.

use super::lexicon::{Class, is, is_name, is_person, is_thing};
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

    fn is_noun(&self, at: usize) -> bool {
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
        (0..3).any(|at| self.is(at, Class::Summary))
            || self.text(0) == "in" && sums.contains(&self.text(1))
            || [0, 1, 2].map(|at| self.text(at)) == ["all", "in", "all"]
    }
}

const NOUNS: [Tag; 4] = [Tag::Nn, Tag::Nns, Tag::Nnp, Tag::Nnps];
pub(super) const ADJECTIVES: [Tag; 3] = [Tag::Jj, Tag::Jjr, Tag::Jjs];
const PARTICIPLES: [Tag; 2] = [Tag::Vbn, Tag::Vbg];

/// Puts the words of a sentence in lower case, and right what the tagger, which knows short captions, takes amiss.
pub(super) fn repair(words: &mut [Word], is_break: &[bool]) {
    for at in 0..words.len() {
        if words[at].text.chars().any(char::is_uppercase) {
            words[at].text = words[at].text.to_lowercase();
        }
        if is_verb_in_s(words, is_break, at) {
            let word = &mut words[at];
            word.tag = Tag::Vbz;
            verb(&word.text).clone_into(&mut word.lemma);
        } else if is_doing(words, is_break, at) {
            let word = &mut words[at];
            word.tag = Tag::Vbg;
            word.lemma = verb_in_ing(&word.text);
        } else if is_colour_alone(words, is_break, at) {
            let word = &mut words[at];
            word.tag = Tag::Nn;
            word.lemma.clone_from(&word.text);
        } else {
            repair_by_lists(words, at);
        }
    }
}

/// Whether a plural is no plural: `a dog sleeps`, `the man grips`, `the tower stands`.
fn is_verb_in_s(words: &[Word], is_break: &[bool], at: usize) -> bool {
    if words[at].tag != Tag::Nns || at == 0 {
        return false;
    }
    let before = &words[at - 1];
    if is(&words[at].text, Class::VerbNotNoun) {
        return NOUNS[..3].contains(&before.tag) || before.tag == Tag::Wdt || is_break[at];
    }
    let ends_phrase = words.get(at + 1).is_none_or(|after| !NOUNS.contains(&after.tag) || is_break[at + 1]);
    let begins = |&place: &usize| is_break[place + 1] || !matches!(words[place].tag, Tag::Nn | Tag::Jj);
    let first = (0..at).rev().find(begins);
    let follows_a = first.is_some_and(|first| matches!(&*words[first].text, "a" | "an"));
    before.tag == Tag::Nn && !is_break[at] && ends_phrase && (follows_a || is_person(&before.text))
}

/// Whether a noun in -ing is what the person or the several before it do: `a man holding a frisbee`.
fn is_doing(words: &[Word], is_break: &[bool], at: usize) -> bool {
    let text = &words[at].text;
    let follows = at > 0
        && !is_break[at]
        && NOUNS.contains(&words[at - 1].tag)
        && (words[at - 1].tag == Tag::Nns || is_person(&words[at - 1].lemma));
    let is_verb = follows && text.ends_with("ing") && !is_thing(text) || is(text, Class::VerbInIng);
    words[at].tag == Tag::Nn && is_verb
}

/// The base form of a verb in -ing: `sit` of `sitting`, `ride` of `riding`, `hold` of `holding`.
fn verb_in_ing(text: &str) -> String {
    let stem = text.strip_suffix("ing").unwrap_or(text);
    let is_vowel = |letter: Option<&u8>| letter.is_some_and(|letter| b"aeiouy".contains(letter));
    let mut letters = stem.bytes().rev();
    let last: Vec<u8> = letters.by_ref().take(3).collect();
    let (end, before) = (last.first(), last.get(1));
    if end == before && !matches!(end, Some(b'l' | b's' | b'z' | b'e')) {
        return stem[..stem.len() - end.map_or(0, |_| 1)].to_owned();
    }
    let is_short = is_vowel(before) && !is_vowel(last.get(2)) && !letters.any(|letter| b"aeiouy".contains(&letter));
    let needs_e = matches!(end, Some(b'c' | b'v' | b'z' | b'u'))
        || end == Some(&b'l') && !is_vowel(before) && before != Some(&b'l')
        || is_short && !is_vowel(end) && !matches!(end, Some(b'w' | b'x'));
    if needs_e { format!("{stem}e") } else { stem.to_owned() }
}

/// Whether a colour stands for itself, behind a preposition: `hues of red and gold`, `dressed in white`.
fn is_colour_alone(words: &[Word], is_break: &[bool], at: usize) -> bool {
    let is_colour = |place: usize| is(&words[place].text, Class::Colour);
    if words[at].tag != Tag::Jj || at == 0 || !is_colour(at) {
        return false;
    }
    let goes_on = |&place: &usize| !is_break[place] && words[place].tag == Tag::Cc || words[place].tag == Tag::Jj;
    let behind = at + 1 + (at + 1..words.len()).take_while(goes_on).count();
    let nouns = (behind..words.len()).take_while(|&place| NOUNS.contains(&words[place].tag) && !is_break[place]);
    let before_noun = nouns.last().is_some_and(|last| !is_colour(last));
    let is_noun = |place: usize| is_colour(place) && words[place].tag == Tag::Nn;
    let follows = match words[at - 1].tag {
        Tag::In => true,
        Tag::Cc => at > 1 && is_noun(at - 2),
        _ if is(&words[at - 1].text, Class::Tint) => at > 1 && words[at - 2].tag == Tag::In,
        Tag::Jj | Tag::Vbg => {
            let first = (0..at).rev().find(|&place| !matches!(words[place].tag, Tag::Jj | Tag::Vbg | Tag::Rb));
            first.is_some_and(|first| words[first].tag == Tag::In || matches!(&*words[first].text, "a" | "an"))
        }
        _ => is_break[at] && is_noun(at - 1),
    };
    follows && !before_noun
}

fn repair_by_lists(words: &mut [Word], at: usize) {
    let after = words.get(at + 1).map(|after| after.tag);
    let word = &mut words[at];
    let in_class = |class| is(&word.text, class);
    let before_noun = after.is_some_and(|tag| NOUNS.contains(&tag) || ADJECTIVES.contains(&tag));
    if in_class(Class::Adjective) || NOUNS.contains(&word.tag) && in_class(Class::Colour) && before_noun {
        word.tag = Tag::Jj;
    } else if in_class(Class::Preposition) {
        word.tag = Tag::In;
    } else if in_class(Class::Adverb) {
        word.tag = Tag::Rb;
    } else if matches!(&*word.lemma, "suggest" | "provide") {
        word.tag = Tag::Vbz;
    } else if word.tag == Tag::Nns && word.lemma == word.text {
        match word.text.strip_suffix('s') {
            Some(singular) if is_name(singular) && !is_name(&word.text) => word.lemma = singular.to_owned(),
            _ => {}
        }
    }
}

/// The base form of a verb in -s: `stretch` of `stretches`.
fn verb(text: &str) -> &str {
    let hissing = ["ches", "shes", "sses", "xes"].iter().any(|ending| text.ends_with(ending));
    text.strip_suffix(if hissing { "es" } else { "s" }).unwrap_or(text)
}

// Noun phrases: `a long, white dress`, from its first word to its noun.

/// A noun with what stands before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NounPhrase {
    pub(super) start: usize,
    /// The place of the noun, the last word.
    pub(super) noun: usize,
}

/// The noun phrases of a sentence, in order.
pub(super) fn noun_phrases(sentence: &Sentence) -> Vec<NounPhrase> {
    let mut phrases = Vec::new();
    let mut at = 0;
    while at < sentence.len() {
        if !begins(sentence, at) {
            at += 1;
            continue;
        }
        let (noun, behind) = end(sentence, at);
        if let Some(noun) = noun {
            phrases.push(NounPhrase { start: at, noun });
        }
        at = noun.map_or(behind.max(at + 1), |noun| noun + 1);
    }
    phrases
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
    // Adjectives may go on behind a comma: `a long, white dress`.
    let adjectives = [Tag::Jj, Tag::Vbn, Tag::Vbg];
    let is_list = at > 0 && sentence.is_break(at) && [at - 1, at].iter().all(|&at| sentence.has_tag(at, &adjectives));
    if noun.is_none() && is_list {
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
