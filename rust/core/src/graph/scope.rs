//! Which words of a text are denied, and which hedged: the reach of `no`, `not`, `without`, `possibly`, `may` and the like,
//! read from words and tags. Only the subject of `is not visible` is looked up among dependencies.

use super::Status;
use super::paragraph::Text;
use super::paragraph::lexicon::{Class, is};
use super::tree::is_listed;
use crate::numeric::parts;
use crate::parse::{Memory, Parser, Relation, Tag, Word};
use crate::text::tokenize::Tokenizer;

/// Two words that deny what follows; the first alone does not.
const DENYING_PAIRS: &str = "
    absence of, lack of, devoid of, free of, empty of, void of, bereft of, nothing like, contrary to, opposed to,
    free from, instead of, rather than";
/// Words after `no`, `not` and `without` with which nothing is denied: `no longer`, `not only`, `without a doubt`.
const NOT_DENYING: [&str; 14] = [
    "longer", "doubt", "matter", "more", "less", "fewer", "only", "just", "far", "quite", "question", "fail", "fails",
    "false",
];

/// The status of each word of a text. Of `text`, ends, breaks and questions count.
pub fn statuses(words: &[Word], text: &Text) -> Vec<Status> {
    let mut statuses = vec![Status::Stated; words.len()];
    let is_break = text.is_break(words.len());
    for range in parts(&text.ends, words.len()) {
        let first = range.start;
        let (words, is_break) = (&words[range.clone()], &is_break[range.clone()]);
        let mut scopes = Scopes { words, is_break, statuses: &mut statuses[range.clone()] };
        scopes.hedge(first);
        scopes.deny(first);
        if text.questions.contains(&range.end) || scopes.states_nothing() {
            scopes.statuses.iter_mut().for_each(|status| *status = Status::Aside.max(*status));
        }
        match scopes.deny_frames(first) {
            Others::Behind => {
                statuses[first..].fill(Status::Denied);
                return statuses;
            }
            Others::Before => statuses[..first].fill(Status::Denied),
            Others::None => {}
        }
    }
    statuses
}

/// The tokens of a caption, and the places of those that it denies: `no dog`. Captions in which no word denies are not
/// parsed.
pub fn denied(parser: &Parser, memory: &mut Memory, caption: &str, tokenizer: Tokenizer) -> (Vec<String>, Vec<usize>) {
    let mut tokens = Vec::new();
    tokenizer.tokenize(caption, |token| tokens.extend(token.split_whitespace().map(str::to_owned)));
    let classes = [Class::Deny, Class::DenyAll, Class::Nobody, Class::Fail, Class::Missing, Class::False];
    let denies = |token: &str| {
        classes.iter().any(|&class| is(token, class))
            || DENYING_PAIRS.split(',').any(|pair| pair.split_ascii_whitespace().next() == Some(token))
    };
    if !tokens.iter().any(|token| denies(token)) {
        return (tokens, Vec::new());
    }
    let mut text = Text::of(caption, tokenizer);
    if text.tokens != tokens {
        text = Text { tokens, ..Text::default() };
    }
    let spelled: Vec<&str> = text.tokens.iter().map(String::as_str).collect();
    let words = parser.parse_sentences(memory, &spelled, &text.ends);
    let statuses = statuses(&words, &text);
    let places = (0..words.len()).filter(|&place| statuses[place] == Status::Denied).collect();
    (text.tokens, places)
}

/// A sentence and the statuses of its words.
struct Scopes<'a> {
    words: &'a [Word],
    pub(super) is_break: &'a [bool],
    pub(super) statuses: &'a mut [Status],
}

impl Scopes<'_> {
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    pub(super) fn text(&self, at: usize) -> &str {
        self.words.get(at).map_or("", |word| &word.text)
    }

    pub(super) fn tag(&self, at: usize) -> Option<Tag> {
        self.words.get(at).map(|word| word.tag)
    }

    pub(super) fn is(&self, at: usize, class: Class) -> bool {
        is(self.text(at), class)
    }

    fn is_noun(&self, at: usize) -> bool {
        matches!(self.tag(at), Some(Tag::Nn | Tag::Nns | Tag::Nnp | Tag::Nnps))
    }

    fn is_modifier(&self, at: usize) -> bool {
        let tags = [Tag::Dt, Tag::Pdt, Tag::Cd, Tag::Jj, Tag::Jjr, Tag::Jjs, Tag::PrpPossessive];
        self.tag(at).is_some_and(|tag| tags.contains(&tag))
    }

    pub(super) fn is_definite(&self, at: usize) -> bool {
        self.text(at) == "the" || self.tag(at) == Some(Tag::PrpPossessive)
    }

    pub(super) fn is_finite(&self, at: usize) -> bool {
        matches!(self.tag(at), Some(Tag::Vbz | Tag::Vbp | Tag::Vbd | Tag::Md))
    }

    fn is_participle(&self, at: usize) -> bool {
        matches!(self.tag(at), Some(Tag::Vbg | Tag::Vbn))
    }

    fn is_verb(&self, at: usize) -> bool {
        self.is_finite(at) || self.is_participle(at) || self.tag(at) == Some(Tag::Vb)
    }

    /// Everything between a hedge and the next mark or clause may be so; of what is `possibly visible`, the subject.
    fn hedge(&mut self, first: usize) {
        for start in 0..self.len() {
            if !self.is_hedge(start) {
                continue;
            }
            if let Some(seen) = self.seen_behind(start) {
                if self.text(start) != "could" {
                    self.mark_subject(start..=seen, first, Status::Hedged);
                }
                continue;
            }
            for at in start + 1..self.len() {
                if self.is_break[at] || self.begins_clause(at) {
                    break;
                }
                self.statuses[at] = Status::Hedged;
            }
        }
    }

    /// The place of `visible` in `possibly visible`, `may be visible`, `appears to be clearly visible`.
    fn seen_behind(&self, hedge: usize) -> Option<usize> {
        let behind = (hedge + 1..self.len()).find(|&at| {
            let goes_on = self.is_verb(at) || matches!(self.tag(at), Some(Tag::Rb | Tag::To));
            self.is(at, Class::Seen) || self.is_break[at] || !goes_on
        })?;
        (self.is(behind, Class::Seen) && !self.is_break[behind]).then_some(behind)
    }

    fn is_hedge(&self, at: usize) -> bool {
        let next = self.text(at + 1);
        match self.text(at) {
            "appear" | "appears" | "appeared" | "appearing" => matches!(next, "to" | "as"),
            "look" | "looks" | "looking" => matches!(next, "like" | "as"),
            "as" => matches!(next, "if" | "though"),
            "may" | "might" => self.tag(at) == Some(Tag::Md),
            _ => self.is(at, Class::Hedge) && !self.is_noun(at),
        }
    }

    /// Whether `and a man stands` or `while` begins here.
    fn begins_clause(&self, at: usize) -> bool {
        match self.text(at) {
            "but" | "while" | "although" | "though" | "whereas" => true,
            "and" => {
                let behind = (at + 1..self.len()).find(|&next| !self.is_noun(next) && !self.is_modifier(next));
                behind.is_some_and(|next| next > at + 1 && self.is_finite(next))
            }
            _ => false,
        }
    }

    fn deny(&mut self, first: usize) {
        for at in 0..self.len() {
            if NOT_DENYING.iter().any(|word| [at + 1, at + 2].iter().any(|&next| self.text(next) == *word)) {
                continue;
            }
            let pair = [self.text(at), self.text(at + 1)];
            let named = match self.text(at) {
                "no" => at.checked_sub(1),
                "not" if at > 0 && self.text(at - 1) == "do" => at.checked_sub(2),
                _ => None,
            };
            if named.is_some_and(|article| self.tag(article) == Some(Tag::Dt)) {
                // `A no parking sign` and `a do not enter sign` are there.
                continue;
            }
            if is_listed(DENYING_PAIRS, &pair) {
                self.deny_things(at + 2);
            } else if self.is(at, Class::Deny) && pair != ["lack", "of"] {
                self.statuses[at] = Status::Denied;
                self.deny_things(at + 1);
            } else if self.is(at, Class::DenyAll) {
                self.deny_verb(at, first);
            }
        }
    }

    /// Denies the things from here on: a noun with its adjectives, and those that are listed with it.
    fn deny_things(&mut self, start: usize) {
        let mut had_noun = false;
        // What comes with something that is not there is not there: `no man with a hat`.
        let comes_along = (start.saturating_sub(2)..start).all(|at| !matches!(self.text(at), "with" | "without"));
        for at in start..self.len() {
            let goes_on = if self.is_break[at] && at > start {
                let goes_on = had_noun && self.list_goes_on(at);
                had_noun = self.is_noun(at);
                goes_on
            } else if self.is_noun(at) || matches!(self.tag(at), Some(Tag::Rb)) {
                had_noun |= self.is_noun(at);
                true
            } else if self.is_modifier(at) || self.is_participle(at) {
                !had_noun || !(self.is_noun(at + 1) || self.is_modifier(at + 1) || self.tag(at) == Some(Tag::Dt))
            } else if had_noun && self.tag(at) == Some(Tag::Cc) {
                had_noun = false;
                self.text(at) != "but" && !self.begins_clause(at)
            } else {
                let goes_on = self.text(at) == "of"
                    || had_noun && comes_along && self.text(at) == "with" && !self.is_definite(at + 1);
                had_noun &= !goes_on;
                goes_on
            };
            if !goes_on {
                return;
            }
            self.statuses[at] = Status::Denied;
        }
    }

    /// Whether a list of nouns that reached a comma has more nouns: `or` or `and` comes before any verb.
    fn list_goes_on(&self, start: usize) -> bool {
        let joins = (start..self.len()).find(|&at| self.tag(at) == Some(Tag::Cc) || self.is_finite(at));
        joins.is_some_and(|at| {
            let or = matches!(self.text(at), "or" | "nor");
            let has_preposition = (start..at).any(|at| matches!(self.tag(at), Some(Tag::In | Tag::To)));
            (or || self.text(at) == "and" && at > start && !self.begins_clause(at)) && !has_preposition
        })
    }

    /// Denies what a verb says: the verb, its preposition, things that are new; or its subject, if that is not seen.
    fn deny_verb(&mut self, not: usize, first: usize) {
        self.statuses[not] = Status::Denied;
        let mut at = not + 1;
        let mut shows = self.is(not, Class::Show) || (not.saturating_sub(2)..not).any(|at| self.text(at) == "there");
        while self.tag(at) == Some(Tag::Rb) || self.is_verb(at) || self.tag(at).is_some_and(|tag| tag == Tag::Rp) {
            if self.is(at, Class::Seen) {
                break;
            }
            self.statuses[at] = Status::Denied;
            shows |= self.is(at, Class::Show);
            at += 1;
        }
        if self.is(at, Class::Seen) {
            self.statuses[at] = Status::Denied;
            return self.mark_subject(not..=at, first, Status::Denied);
        }
        match self.tag(at) {
            Some(Tag::In | Tag::To) => self.statuses[at] = Status::Denied,
            _ if self.is_definite(at) && !shows => {}
            _ => self.deny_things(at),
        }
    }

    /// Gives the subject of what these words say its status.
    fn mark_subject(&mut self, words: std::ops::RangeInclusive<usize>, first: usize, status: Status) {
        let predicate = *words.end();
        let is_subject = |at: &usize| {
            let word = &self.words[*at];
            let head = word.head.and_then(|head| head.checked_sub(first));
            let near = head.is_some_and(|head| words.contains(&head) || head.abs_diff(predicate) <= 2);
            near && matches!(word.relation, Relation::Nsubj | Relation::Nsubjpass)
        };
        let Some(subject) = (0..predicate).rev().find(is_subject) else { return };
        let start = (0..subject).rev().find(|&at| !self.is_modifier(at) && !self.is_noun(at)).map_or(0, |at| at + 1);
        if status == Status::Denied {
            self.deny_things(start);
        }
        self.statuses[start..=subject].fill(status);
    }
}

// What a frame does to the clause that it governs: `it is false that` and `none of the following` deny it; questions and
// commands state nothing.

impl Scopes<'_> {
    /// Denies what frames govern in a sentence; which other sentences they deny.
    fn deny_frames(&mut self, first: usize) -> Others {
        let mut denied_sentences = Others::None;
        for at in 0..self.len() {
            if let Some(denied) = self.header(at) {
                denied_sentences = denied;
                self.statuses.fill(Status::Denied);
            } else if let Some(start) = self.denied_clause(at) {
                let ends =
                    |&end: &usize| matches!(self.text(end), "but" | "however" | "although" | "though" | "whereas");
                let end = (start..self.len()).find(ends).unwrap_or(self.len());
                self.statuses[start..end].fill(Status::Denied);
            } else if matches!(self.text(at), "contrary" | "opposed") && self.text(at + 1) == "to" {
                let end = self.next_break(at);
                self.statuses[at..end].fill(Status::Denied);
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
        denied_sentences
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
        let pointed_at = match self.text(at) {
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
        let rest = (0..at).chain(at + 1..self.next_break(at).min(at + 6));
        let is_denial = |place: &usize| {
            self.negates(*place) || [Class::False, Class::Missing].iter().any(|&class| self.is(*place, class))
        };
        (rest.filter(is_denial).count() % 2 == 1).then_some(pointed_at)
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
        self.statuses[at] = Status::Denied;
        let mut start = at + 1;
        if self.text(start) == "to" {
            self.statuses.iter_mut().skip(start).take(2).for_each(|status| *status = Status::Denied);
            start += 2;
            if self.is_definite(start) && !self.is(start - 1, Class::Show) {
                return;
            }
        }
        self.deny_things(start);
    }

    /// `a dog is missing`, `a plate missing a slice`, `absent is a dog`.
    fn deny_what_misses(&mut self, at: usize, first: usize) {
        self.statuses[at] = Status::Denied;
        let next = at + 1 + usize::from(self.is_finite(at + 1));
        if self.tag(next).is_some_and(|tag| tag != Tag::In && tag != Tag::To) && !self.is_break[next] {
            self.deny_things(next);
        } else {
            self.mark_subject(at..=at, first, Status::Denied);
        }
    }

    /// Whether the sentence is a question by the order of its words, or a command to look, to think or to tell.
    fn states_nothing(&self) -> bool {
        let opens = |&at: &usize| !matches!(self.text(at), "please" | "now" | "just" | "and" | "so" | "then" | "first");
        let Some(start) = (0..self.len()).find(opens) else { return false };
        let tags = [Tag::Dt, Tag::Cd, Tag::Prp, Tag::PrpPossessive, Tag::Wp, Tag::Wrb, Tag::Ex];
        let names = self.tag(start + 1).is_some_and(|tag| tags.contains(&tag)) || self.text(start + 1) == "any";
        let goes_on = self.is_break.get(start + 1) == Some(&false) && self.text(start + 1) != "of";
        self.is(start, Class::Command) && goes_on
            || self.is(start, Class::Look) && (names || matches!(self.text(start + 1), "at" | "for"))
            || self.is(start, Class::Ask) && (names || self.text(start + 1) == "there")
    }
}

/// Which other sentences a frame denies beside its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Others {
    None,
    Before,
    Behind,
}
