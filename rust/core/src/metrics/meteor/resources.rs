//! METEOR's knowledge of English in one block of bytes, mapped.
//!
//! The file is made of those of METEOR (LGPL) and WordNet, by `models/meteor`; it is no part of this package.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::Refused;
use crate::tables::{Bounds, Format, Lists, Numbers, SharedBytes, Strings, ToCheck, mark};
use crate::wordnet::{Meanings, sets_of};

/// Function words, prefixes, prefixes before numbers (2 each), synonyms, exceptions, paraphrases (4, 4, 6), then
/// [`ENGLISH`] (1).
const SECTIONS: usize = 21;
/// METEOR's name of the language, and a `+` for paraphrases: tables of no other kind are read.
const ENGLISH: &[u8] = b"en+";
const FORMAT: Format<SECTIONS> = Format { name: "a file of METEOR's tables", magic: mark::METEOR, version: 2 };

/// Function words, abbreviations, synonym sets and paraphrases of English.
#[derive(Debug, Clone)]
pub struct Resources {
    bytes: SharedBytes,
    /// A checksum of the contents, to name them by in signatures.
    pub checksum: u32,
    function_words: FxHashSet<Box<str>>,
    prefixes: Prefixes,
    synonyms: Meanings,
    exceptions: Meanings,
    paraphrases: Paraphrases,
}

impl Resources {
    /// The version of the file's format.
    pub const VERSION: u32 = FORMAT.version;

    /// Reads a file that is already in memory or mapped into it; the tables stay where they are.
    pub fn from_bytes(shared: &SharedBytes) -> Result<Self, Refused> {
        Self::read(shared, FORMAT.read(shared)?, Some(shared))
    }

    /// As [`Resources::from_bytes`], of a file that it has read before and that did not change since: a word is read
    /// when it is looked up.
    pub fn from_checked(shared: &SharedBytes) -> Result<Self, Refused> {
        Self::read(shared, FORMAT.read_header(shared)?, None)
    }

    fn read(
        shared: &SharedBytes,
        (sections, checksum): ([Range<usize>; SECTIONS], u32),
        to_check: ToCheck<'_>,
    ) -> Result<Self, Refused> {
        let bytes: &[u8] = shared;
        let read = || {
            let s = |section: usize| &sections[section];
            let strings = |first: usize| Strings::new(to_check, [s(first), s(first + 1)]);
            let prefixes = |first: usize, kind: Prefix| -> Option<Vec<(String, Prefix)>> {
                Some(strings(first)?.iter(bytes).map(|prefix| (prefix.to_owned(), kind)).collect())
            };
            let meanings = |first: usize| Meanings::new(to_check, [s(first), s(first + 1), s(first + 2), s(first + 3)]);
            let paraphrases = Paraphrases::new(to_check, strings(14)?, [s(16), s(17)], [s(18), s(19)])?;
            (&bytes[s(20).clone()] == ENGLISH).then_some(())?;
            Some(Self {
                bytes: shared.clone(),
                checksum,
                function_words: strings(0)?.iter(bytes).map(Into::into).collect(),
                prefixes: [prefixes(2, Prefix::Always)?, prefixes(4, Prefix::BeforeNumber)?]
                    .concat()
                    .into_iter()
                    .collect(),
                synonyms: meanings(6)?,
                exceptions: meanings(10)?,
                paraphrases,
            })
        };
        read().ok_or_else(|| FORMAT.damaged())
    }

    /// The bytes of the file.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The line as METEOR sees it: normalised, lower-cased, cut into tokens.
    pub fn tokens(&self, line: &str) -> Vec<String> {
        split(&self.normalize(line)).map(str::to_owned).collect()
    }

    pub(super) fn normalize(&self, line: &str) -> String {
        normalize(line, &self.prefixes)
    }

    /// Whether the token counts as a function word.
    pub fn is_function_word(&self, token: &str) -> bool {
        self.function_words.contains(token)
    }

    /// Numbers of the synonym sets of the word and its base forms, sorted.
    ///
    /// A listed irregular form has the bases that the list gives; any other word the one that the suffix rules find.
    pub fn synonym_sets(&self, word: &str) -> Vec<u32> {
        sets_of(&self.bytes, &self.synonyms, &self.exceptions, word)
    }

    /// Number of a word in the paraphrase table.
    pub(super) fn paraphrase_word(&self, word: &str) -> Option<u32> {
        self.paraphrases.words.find(&self.bytes, word).map(|number| number as u32)
    }

    /// The phrase that is `phrase` with one more word, where the table has it or a longer one that begins so.
    pub(super) fn child(&self, phrase: u32, word: u32) -> Option<u32> {
        let Paraphrases { last, children, .. } = &self.paraphrases;
        let children = children.part(&self.bytes, phrase as usize);
        let place = last.slice(children.clone()).binary_search(&self.bytes, word)?;
        Some((children.start + place) as u32)
    }

    /// The paraphrases of a phrase, in the order of the table.
    pub(super) fn paraphrases(&self, phrase: u32) -> impl Iterator<Item = u32> + '_ {
        self.paraphrases.lists.get(&self.bytes, phrase as usize)
    }

    /// Number of phrases, and of beginnings of phrases.
    pub(super) fn phrase_count(&self) -> usize {
        self.paraphrases.last.len
    }
}

/// The paraphrase table: phrases as a trie of word numbers, and for each phrase the list of its paraphrases.
///
/// Nodes are numbered level by level and, within a level, by parent and word. So a phrase of one word has its word's
/// number, the children of a node are consecutive, and the trie is two arrays: the word of each node, and where its
/// children start. A paraphrase is the number of a node too: comparing phrases is comparing numbers.
#[derive(Debug, Clone)]
struct Paraphrases {
    words: Strings,
    /// The last word of each phrase.
    last: Numbers,
    children: Bounds,
    lists: Lists,
}

impl Paraphrases {
    fn new(
        bytes: ToCheck<'_>,
        words: Strings,
        [last, children]: [&Range<usize>; 2],
        lists: [&Range<usize>; 2],
    ) -> Option<Self> {
        let last = Numbers::new(last)?;
        let children = Bounds::new(bytes, children, words.len() as u32, last.len)?;
        let lists = Lists::new(bytes, lists, last.len)?;
        let fits = bytes.is_none_or(|bytes| {
            // A node whose children come before it would let a walk go round in circles.
            let forward = (0..children.parts()).all(|node| children.part(bytes, node).start > node);
            forward && lists.values.iter(bytes).all(|phrase| (phrase as usize) < last.len)
        });
        (children.parts() == last.len && fits).then_some(Self { words, last, children, lists })
    }
}

// METEOR's `-norm`: a line of text to lower-case tokens, punctuation kept.
//
// The steps rewrite the line one after the other, each working on what the one before left; their order and what a
// match consumes decide the result on odd input, so every step is a single left-to-right pass over characters.

/// Abbreviations whose final dot does not end a sentence.
type Prefixes = FxHashMap<String, Prefix>;

/// When a prefix keeps its dot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prefix {
    /// Before anything: `Mr.`
    Always,
    /// Before a number only: `No. 7`
    BeforeNumber,
}

/// Whether normalising a line of such tokens, joined by single blanks, gives the same tokens back.
///
/// No step touches ASCII lower-case letters and digits, or a single blank between them.
pub(super) fn is_plain(token: &str) -> bool {
    !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// The normalised line; [`split`] cuts it into tokens.
pub(super) fn normalize(line: &str, prefixes: &Prefixes) -> String {
    let mut text: Text = Vec::with_capacity(2 * line.len() + 2);
    text.push(' ');
    text.extend(line.chars());
    text.push(' ');
    let text = set_off_symbols(&text);
    let text = hide_dot_runs(&text);
    let text = set_off_commas(text);
    let text = unify_quotes(&text);
    let text = unify_dashes(&text);
    let text = rewrite(&text, |c| is_alphanumeric(c) || c == '.', '-', is_alphanumeric, " ");
    let text = split_apostrophes(text);
    let text = final_dots(&text, prefixes);
    let text = show_dot_runs(&text);
    collapse_blanks(&text).to_lowercase()
}

/// The tokens of a normalised line.
pub(super) fn split(line: &str) -> impl Iterator<Item = &str> {
    line.split(is_separator).filter(|token| !token.is_empty())
}

type Text = Vec<char>;

fn is_separator(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}')
}

fn is_letter(c: char) -> bool {
    match c {
        'A'..='Z' | 'a'..='z' => true,
        _ if c < '\u{c0}' => false,
        _ => matches!(c,
            '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{17e}' | '\u{400}'..='\u{527}'
            | '\u{a640}'..='\u{a66e}' | '\u{a67e}'..='\u{a697}' | '\u{1d00}'..='\u{1d7f}'),
    }
}

fn is_alphanumeric(c: char) -> bool {
    c.is_ascii_digit() || is_letter(c)
}

/// Replaces the middle of every `left` `middle` `right`. A match takes all three characters with it, so of two that
/// share one the second stays.
fn rewrite(
    text: &[char],
    left: impl Fn(char) -> bool,
    middle: char,
    right: impl Fn(char) -> bool,
    replacement: &str,
) -> Text {
    let mut out = Text::with_capacity(text.len() + 16);
    let mut at = 0;
    while at < text.len() {
        out.push(text[at]);
        match text.get(at + 1..at + 3) {
            Some(&[found, next]) if found == middle && left(text[at]) && right(next) => {
                out.extend(replacement.chars());
                out.push(next);
                at += 3;
            }
            _ => at += 1,
        }
    }
    out
}

fn set_off(out: &mut Text, c: char) {
    out.extend([' ', c, ' ']);
}

/// Blanks round everything that no later step decides on.
fn set_off_symbols(text: &[char]) -> Text {
    let mut out = Text::with_capacity(2 * text.len());
    for &c in text {
        let is_for_later = matches!(c, ' ' | '\t'..='\r' | '.' | '\'' | '`' | ',' | '-' | '\u{2018}' | '\u{2019}');
        if is_for_later || is_alphanumeric(c) {
            out.push(c);
        } else {
            set_off(&mut out, c);
        }
    }
    out
}

/// Commas leave words, but stay within numbers.
fn set_off_commas(text: Text) -> Text {
    if !text.contains(&',') {
        return text;
    }
    let digit = |c: char| c.is_ascii_digit();
    let other = |c: char| !c.is_ascii_digit();
    let text = rewrite(&text, other, ',', other, " , ");
    let text = rewrite(&text, digit, ',', other, " , ");
    rewrite(&text, other, ',', digit, " , ")
}

fn unify_quotes(text: &[char]) -> Text {
    let single = |c: char| if matches!(c, '`' | '\u{2018}' | '\u{2019}') { '\'' } else { c };
    let mut out = Text::with_capacity(text.len() + 8);
    let mut at = 0;
    while at < text.len() {
        let c = single(text[at]);
        let doubled = c == '\'' && text.get(at + 1).is_some_and(|&next| single(next) == '\'');
        if doubled || matches!(c, '\u{201c}' | '\u{201d}') {
            set_off(&mut out, '"');
        } else {
            out.push(c);
        }
        at += if doubled { 2 } else { 1 };
    }
    out
}

fn unify_dashes(text: &[char]) -> Text {
    let is_dash = |c: char| matches!(c, '-' | '\u{2013}');
    let mut out = Text::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let doubled = is_dash(text[at]) && text.get(at + 1).is_some_and(|&next| is_dash(next));
        out.push(if is_dash(text[at]) { '-' } else { text[at] });
        at += if doubled { 2 } else { 1 };
    }
    out
}

/// What an apostrophe begins leaves the word: `it 's`.
fn split_apostrophes(text: Text) -> Text {
    if !text.contains(&'\'') {
        return text;
    }
    let other = |c: char| !is_letter(c);
    let text = rewrite(&text, other, '\'', other, " ' ");
    let text = rewrite(&text, |c| !is_alphanumeric(c), '\'', is_letter, " ' ");
    let text = rewrite(&text, is_letter, '\'', other, " ' ");
    let text = rewrite(&text, is_letter, '\'', is_letter, " '");
    rewrite(&text, |c| c.is_ascii_digit(), '\'', |c| c == 's', " '")
}

/// A word's final dot becomes a token, unless the word is an abbreviation or the sentence goes on.
fn final_dots(text: &[char], prefixes: &Prefixes) -> Text {
    let mut words = text.split(|&c| is_separator(c)).filter(|word| !word.is_empty()).peekable();
    let mut out = Text::with_capacity(text.len() + 8);
    while let Some(word) = words.next() {
        let next = words.peek().map(|next| next[0]);
        match word {
            [stem @ .., '.'] if !stem.is_empty() => final_dot(stem, next, prefixes, &mut out),
            _ => out.extend(word),
        }
        out.push(' ');
    }
    out
}

fn final_dot(stem: &[char], next: Option<char>, prefixes: &Prefixes, out: &mut Text) {
    if stem.contains(&'.') && stem.iter().any(|&c| is_letter(c)) {
        out.extend(stem.iter().filter(|&&c| c != '.'));
        return;
    }
    out.extend(stem);
    let prefix = prefixes.get(&stem.iter().collect::<String>()).copied();
    let goes_on = next.is_some_and(|c| c.is_ascii_lowercase());
    let number = next.is_some_and(|c| c.is_ascii_digit());
    if !(prefix == Some(Prefix::Always) || goes_on || prefix == Some(Prefix::BeforeNumber) && number) {
        out.push(' ');
    }
    out.push('.');
}

fn collapse_blanks(text: &[char]) -> String {
    let blank = |c: char| matches!(c, ' ' | '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}');
    let mut out = String::with_capacity(text.len());
    for &c in text {
        if !blank(c) {
            out.push(c);
        } else if !out.ends_with(' ') {
            out.push(' ');
        }
    }
    out.trim_matches(|c| c <= ' ').to_owned()
}

/// Stands for a run of dots until final dots are dealt with: one `DOT` per dot, and this ending. It is made of
/// letters on purpose, and the same word in the input takes part.
const MARKER: [char; 8] = ['D', 'O', 'T', 'M', 'U', 'L', 'T', 'I'];
const DOT: [char; 3] = ['D', 'O', 'T'];

/// Runs of two and more dots become words of their own, made of letters.
///
/// A marker that the input itself holds counts when one dot follows it. A match also consumes the character behind the
/// dot, so of two markers that touch, only the first gets a blank.
fn hide_dot_runs(text: &[char]) -> Text {
    let mut out = Text::with_capacity(text.len() + 16);
    let mut consumed = usize::MAX;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let dots = rest.iter().take_while(|&&c| c == '.').count();
        let foreign = rest.starts_with(&MARKER)
            && rest.get(MARKER.len()) == Some(&'.')
            && rest.get(MARKER.len() + 1).is_some_and(|&c| c != '.');
        if dots >= 2 {
            out.push(' ');
            (1..dots).for_each(|_| out.extend(DOT));
            out.extend(MARKER);
            out.push(' ');
            at += dots;
            if dots == 2 {
                consumed = at;
            }
        } else if foreign {
            out.extend(DOT);
            out.extend(MARKER);
            let free = consumed != at;
            at += MARKER.len() + 1;
            if free {
                out.push(' ');
                consumed = at;
            }
        } else {
            out.push(text[at]);
            at += 1;
        }
    }
    out
}

/// Undoes [`hide_dot_runs`].
fn show_dot_runs(text: &[char]) -> Text {
    let mut out = Text::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let dots = text[at..].chunks_exact(DOT.len()).take_while(|chunk| **chunk == DOT).count();
        if dots == 0 {
            out.push(text[at]);
            at += 1;
            continue;
        }
        let end = at + dots * DOT.len();
        let ending = &MARKER[DOT.len()..];
        if text[end..].starts_with(ending) {
            out.extend((0..dots).map(|_| '.'));
            at = end + ending.len();
        } else {
            out.extend(&text[at..end]);
            at = end;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::meteor::tests::resources;
    use crate::tables::tests::test_reader;

    fn read(bytes: &[u8]) -> Result<Resources, Refused> {
        Resources::from_bytes(&SharedBytes::new(bytes.to_vec()))
    }

    #[test]
    fn a_file_reads_back() {
        let built = resources();
        let read = read(built.as_bytes()).unwrap();
        assert_eq!(read.as_bytes(), built.as_bytes());
        assert_eq!(read.checksum, built.checksum);
        assert_eq!(read.synonym_sets("dogs"), built.synonym_sets("dogs"));
    }

    #[test]
    fn a_file_known_to_be_good_is_not_read_whole() {
        let built = resources();
        let mut bytes = built.as_bytes().to_vec();
        let known = |bytes: &[u8]| Resources::from_checked(&SharedBytes::new(bytes.to_vec()));
        assert_eq!(known(&bytes).unwrap().synonym_sets("dogs"), built.synonym_sets("dogs"));
        assert!(known(&bytes[..bytes.len() - 1]).is_err());
        bytes[12] ^= 1; // the checksum
        assert_eq!(known(&bytes).unwrap().synonym_sets("dogs"), built.synonym_sets("dogs"));
        bytes[8] ^= 1; // the version
        assert!(known(&bytes).is_err());
    }

    #[test]
    fn a_damaged_file_is_an_error_and_a_deceiving_one_never_panics() {
        let align = |resources: &Resources| {
            crate::metrics::meteor::align(resources, "a big dog runs in the park", "a large dog in a lot of dogs ran");
        };
        test_reader(resources().as_bytes(), read, align);
    }
}

#[cfg(test)]
mod normalize_tests {
    use super::*;
    use proptest::prelude::*;

    fn prefixes() -> Prefixes {
        let prefixes = [("mr", Prefix::Always), ("v", Prefix::Always), ("pp", Prefix::BeforeNumber)];
        prefixes.map(|(prefix, kind)| (prefix.to_owned(), kind)).into_iter().collect()
    }

    fn tokens(line: &str) -> Vec<String> {
        split(&normalize(line, &prefixes())).map(str::to_owned).collect()
    }

    #[test]
    fn punctuation_leaves_words() {
        let cases = [
            ("A dog, a cat.", "a dog , a cat ."),
            ("1,000 dogs,cats", "1,000 dogs , cats"),
            ("a,,b", "a , ,b"),
            ("it's the 90's", "it 's the 90 's"),
            ("l'homme rock'n'roll", "l 'homme rock 'n'roll"),
            ("``hi'' ‘x’", "\" hi \" ' x '"),
            ("black-and-white a-b-c", "black and white a b-c"),
            ("x – y -- z — w", "x - y - z — w"),
            ("50% of $3", "50 % of $ 3"),
            ("a\u{a0}b\u{3000}c", "a b c"),
        ];
        for (line, expected) in cases {
            assert_eq!(tokens(line).join(" "), expected, "{line}");
        }
    }

    #[test]
    fn final_dots_stay_with_abbreviations_and_before_lower_case() {
        let cases = [
            ("mr. Smith", "mr. smith"),
            ("etc. and", "etc. and"),
            ("the end. Then", "the end . then"),
            ("U.S. troops", "us troops"),
            ("pp. 7", "pp. 7"),
            ("pp. X", "pp . x"),
            ("wait....x", "wait .... x"),
            (".", "."),
        ];
        for (line, expected) in cases {
            assert_eq!(tokens(line).join(" "), expected, "{line}");
        }
    }

    proptest! {
        #[test]
        fn plain_tokens_stay(words in prop::collection::vec("[a-z0-9]{1,8}", 0..12)) {
            prop_assert!(words.iter().all(|word| is_plain(word)));
            prop_assert_eq!(tokens(&words.join(" ")), words);
        }

        #[test]
        fn any_line_has_tokens_without_separators(line in any::<String>()) {
            prop_assert!(tokens(&line).iter().all(|token| !token.is_empty() && !token.contains(is_separator)));
        }
    }

    /// The dot steps as the specification words them: rewriting until nothing changes.
    fn hide_by_rewriting(text: &str) -> String {
        let mut out = String::new();
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            if c == '.' && rest.peek() == Some(&'.') {
                out.push_str(" DOTMULTI");
                while let Some(dot) = rest.next_if_eq(&'.') {
                    out.push(dot);
                }
            } else {
                out.push(c);
            }
        }
        while out.contains("DOTMULTI.") {
            let mut next = String::new();
            let mut at = 0;
            while at < out.len() {
                let after = out[at..].strip_prefix("DOTMULTI.").and_then(|rest| rest.chars().next());
                let c = out[at..].chars().next().unwrap();
                if let Some(c) = after.filter(|&c| c != '.') {
                    next.push_str("DOTDOTMULTI ");
                    next.push(c);
                    at += "DOTMULTI.".len() + c.len_utf8();
                } else {
                    next.push(c);
                    at += c.len_utf8();
                }
            }
            out = next.replace("DOTMULTI.", "DOTDOTMULTI");
        }
        out
    }

    fn show_by_rewriting(text: &str) -> String {
        let mut out = text.to_owned();
        while out.contains("DOTDOTMULTI") {
            out = out.replace("DOTDOTMULTI", "DOTMULTI.");
        }
        out.replace("DOTMULTI", ".")
    }

    proptest! {
        #[test]
        fn dot_runs_in_one_pass_equal_rewriting(
            pieces in prop::collection::vec("[.]{1,4}|DOT|MULTI|DOTMULTI|[a ]|D", 0..14),
        ) {
            let text = format!(" {} ", pieces.concat());
            let chars: Text = text.chars().collect();
            prop_assert_eq!(hide_dot_runs(&chars).iter().collect::<String>(), hide_by_rewriting(&text));
            prop_assert_eq!(show_dot_runs(&chars).iter().collect::<String>(), show_by_rewriting(&text));
        }
    }
}
