//! What is known of words: `words.txt` has small classes of words, `prepositions.txt` prepositions of several words,
//! `things.txt` the nouns of WordNet that are things (`models/things`).

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::named::named;

named! {
    /// Classes of words, each with its name in `words.txt`, which says what it is for.
    pub(crate) enum Class {
        Aside "aside", Viewer "viewer", Thing "thing", Label "label", Person "person", Clothes "clothes", Limb "limb",
        Compound "compound", Material "material", Part "part", KeptPart "kept-part", ColourNoun "colour-noun",
        Colour "colour", Tint "tint", NoAttribute "no-attribute", Possessive "possessive",
        VerbNotNoun "verb-not-noun", VerbInIng "verb-in-ing", Adjective "adjective", Adverb "adverb",
        Preposition "preposition", VaguePreposition "vague-preposition", FrontPreposition "front-preposition",
        Be "be", Have "have", Wear "wear", Clothe "clothe", Surround "surround", Dot "dot", Mark "mark", Place "place", Hold "hold",
        Still "still", Attach "attach", NoRelation "no-relation", NeverRelation "never-relation",
        Deny "deny", DenyAll "deny-all", Nobody "nobody", False "false", Claim "claim", Fail "fail", Missing "missing",
        Show "show", Ask "ask", Command "command", Look "look", Seen "seen", Hedge "hedge", Summary "summary",
    }
}

struct Lexicon {
    /// A bit for each class.
    classes: FxHashMap<&'static str, u64>,
    /// By the first word of prepositions, longest first: their words, and what they are in relations.
    prepositions: FxHashMap<&'static str, Vec<(Vec<&'static str>, &'static str)>>,
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon {
    classes: classes(include_str!("words.txt")),
    prepositions: prepositions(include_str!("prepositions.txt")),
});

/// The lists of `things.txt`: people, clothes, other things. Each is sorted, a word or two on a line.
static THINGS: LazyLock<[&'static str; 3]> = LazyLock::new(|| {
    let mut lists = include_str!("things.txt").trim_end().split("\n\n");
    std::array::from_fn(|_| lists.next().expect("three lists"))
});

fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

fn classes(text: &'static str) -> FxHashMap<&'static str, u64> {
    let mut classes = FxHashMap::default();
    let mut bit = 0;
    for line in lines(text) {
        let words = match line.split_once(':') {
            Some((name, words)) => {
                bit = 1 << Class::of(name).expect("the name of a class") as u64;
                words
            }
            None => line,
        };
        for word in words.split_ascii_whitespace() {
            *classes.entry(word).or_default() |= bit;
        }
    }
    classes
}

fn prepositions(text: &'static str) -> FxHashMap<&'static str, Vec<(Vec<&'static str>, &'static str)>> {
    let mut prepositions: FxHashMap<_, Vec<(Vec<_>, _)>> = FxHashMap::default();
    for line in lines(text) {
        let (written, meant) = line.split_once(" > ").unwrap_or((line, line));
        let words: Vec<_> = written.split(' ').collect();
        let same_first = prepositions.entry(words[0]).or_default();
        same_first.push((words, meant));
        same_first.sort_by_key(|(words, _)| std::cmp::Reverse(words.len()));
    }
    prepositions
}

/// Whether the word, in lower case, is in a class.
pub(crate) fn is(word: &str, class: Class) -> bool {
    LEXICON.classes.get(word).is_some_and(|bits| bits >> class as u64 & 1 == 1)
}

/// The preposition of the table that begins here: how many words it has, and what it is in relations.
pub(crate) fn preposition<'a>(word: impl Fn(usize) -> Option<&'a str>) -> Option<(usize, &'static str)> {
    let same_first = LEXICON.prepositions.get(word(0)?)?;
    let longest =
        same_first.iter().find(|(words, _)| words.iter().enumerate().all(|(at, text)| word(at) == Some(text)));
    longest.map(|(words, meant)| (words.len(), *meant))
}

/// Whether a noun, of one word or more, names a person.
pub(crate) fn is_person(noun: &str) -> bool {
    is(noun, Class::Person) || is_listed(THINGS[0], noun)
}

/// Whether a noun names something to wear.
pub(crate) fn is_clothes(noun: &str) -> bool {
    is(noun, Class::Clothes) || is_listed(THINGS[1], noun) || apart(noun).any(|part| is_listed(THINGS[1], &part))
}

/// Whether WordNet has a noun of several words as the name of a thing.
pub(crate) fn is_name(noun: &str) -> bool {
    THINGS.iter().any(|list| is_listed(list, noun))
}

/// Whether a noun names a thing that can be in a picture. What WordNet does not know is what its last part is.
pub(crate) fn is_thing(noun: &str) -> bool {
    if is(noun, Class::Aside) {
        return false;
    }
    if is(noun, Class::Thing)
        || is_name(noun)
        || ["s", "es"].iter().any(|end| noun.strip_suffix(end).is_some_and(is_name))
    {
        return true;
    }
    match noun.rsplit_once(['-', ' ']) {
        Some((_, last)) => is_thing(last),
        None => apart(noun).any(|part| is_name(&part)),
    }
}

/// A noun as two words: WordNet has `wet suit`, captions `wetsuit`.
fn apart(noun: &str) -> impl Iterator<Item = String> {
    let places = noun.char_indices().map(|(at, _)| at).filter(|at| (2..noun.len().saturating_sub(2)).contains(at));
    places.map(|at| format!("{} {}", &noun[..at], &noun[at..]))
}

/// Whether sorted lines have a line.
fn is_listed(lines: &str, line: &str) -> bool {
    let (mut low, mut high) = (0, lines.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let start = lines[..middle].rfind('\n').map_or(0, |at| at + 1);
        let end = lines[middle..].find('\n').map_or(lines.len(), |at| middle + at);
        match lines[start..end].cmp(line) {
            std::cmp::Ordering::Less => low = end + 1,
            std::cmp::Ordering::Equal => return true,
            std::cmp::Ordering::Greater => high = start.saturating_sub(1).max(low),
        }
    }
    false
}
