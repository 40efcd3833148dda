//! Forms of English words, in one place: plurals and singulars of nouns, base forms by WordNet's rules, and lemmas by
//! learned endings. Where the rules of two uses are the same they share a table; where they differ, the difference is
//! what published scores rest on.
//!
//! | use | rules |
//! | --- | --- |
//! | a vocabulary's words in captions (CHAIR) | [`plurals`]: every form that a writer may choose |
//! | a label among word vectors (VIFIDEL, WMD) | [`singulars`]: guesses, the likeliest first |
//! | CHAIR's forks by WordNet's lemmatiser | [`noun_base`]: the shortest noun of the list |
//! | synonym sets (METEOR, SPICE) | [`base_form`]: the first form with a meaning, whatever its part of speech |
//! | SPICE's parser | [`Endings`]: learned with the network, and part of its file |

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

/// Irregular nouns, one and several, also as the end of compounds: grandchild. A label is looked up by the first
/// [`BOTH_WAYS`] in the singular, too.
const IRREGULAR: [(&str, &str); 11] = [
    ("child", "children"),
    ("foot", "feet"),
    ("goose", "geese"),
    ("mouse", "mice"),
    ("ox", "oxen"),
    ("person", "people"),
    ("tooth", "teeth"),
    ("louse", "lice"),
    ("die", "dice"),
    ("penny", "pence"),
    ("this", "these"),
];
const BOTH_WAYS: usize = 7;
const NOT_COMPOUNDS: [&str; 3] = ["mongoose", "fox", "box"];
const NO_MEN: [&str; 8] = ["human", "german", "roman", "norman", "ottoman", "caiman", "talisman", "shaman"];
const ENDINGS_VES: [&str; 9] = ["lf", "leaf", "loaf", "thief", "sheaf", "scarf", "wharf", "hoof", "dwarf"];
const KNIVES: [&str; 3] = ["knife", "wife", "life"];
const LATIN: [(&str, &str); 5] = [("us", "i"), ("um", "a"), ("is", "es"), ("ix", "ices"), ("ex", "ices")];
const VOWELS: [char; 5] = ['a', 'e', 'i', 'o', 'u'];

/// The plural forms of a lower-case word, the usual one first; none for an empty word.
///
/// A form that nobody writes does no harm where words are looked up in both numbers, but a missing form leaves an object
/// unrecognised. If English has two forms, both are given: *buses* and *busses*, *scarfs* and *scarves*.
pub fn plurals(word: &str) -> Vec<String> {
    if word.is_empty() {
        return Vec::new();
    }
    let mut forms = Vec::new();
    let mut push = |form: String| {
        if !forms.contains(&form) {
            forms.push(form);
        }
    };
    irregular(word, &mut push);
    regular(word, &mut push);
    if word.chars().count() > 4 {
        replaced(word, &LATIN).for_each(&mut push);
    }
    forms
}

fn irregular(word: &str, push: &mut impl FnMut(String)) {
    let ends = |endings: &[&str]| endings.iter().any(|ending| word.ends_with(ending));
    if !NOT_COMPOUNDS.contains(&word) {
        replaced(word, &IRREGULAR).for_each(&mut *push);
    }
    if word.ends_with("man") && !NO_MEN.contains(&word) {
        push(format!("{}en", &word[..word.len() - 2]));
    }
    if ends(&ENDINGS_VES) {
        push(format!("{}ves", &word[..word.len() - 1]));
    }
    if ends(&KNIVES) {
        push(format!("{}ves", &word[..word.len() - 2]));
    }
}

fn regular(word: &str, push: &mut impl FnMut(String)) {
    let mut letters = word.chars().rev();
    let (last, before) = (letters.next(), letters.next());
    let after_vowel = before.is_some_and(|letter| VOWELS.contains(&letter));
    if last == Some('y') && before.is_some() && !after_vowel {
        push(format!("{}ies", &word[..word.len() - 1]));
    } else if ["s", "x", "z", "ch", "sh"].iter().any(|ending| word.ends_with(ending)) {
        push(format!("{word}es"));
        if let Some(letter @ ('s' | 'z')) = last
            && after_vowel
        {
            push(format!("{word}{letter}es"));
        }
    } else {
        push(format!("{word}s"));
        if last == Some('o') {
            push(format!("{word}es"));
        }
    }
}

/// The word with each ending that it has replaced.
fn replaced(word: &str, endings: &[(&str, &str)]) -> impl Iterator<Item = String> {
    endings.iter().filter_map(move |(old, new)| Some(format!("{}{new}", word.strip_suffix(old)?)))
}

/// Plural endings, longest first, each with possible singular endings, likeliest first.
const SINGULARS: [(&str, &[&str]); 13] = [
    ("ies", &["y", "ie"]),
    ("ves", &["f", "fe", "ve"]),
    ("sses", &["ss"]),
    ("ches", &["ch", "che"]),
    ("shes", &["sh"]),
    ("xes", &["x", "xe"]),
    ("zes", &["z", "ze", ""]),
    ("oes", &["o", "oe"]),
    ("ses", &["se", "s", "sis"]),
    ("ss", &[]),
    ("us", &[]),
    ("is", &[]),
    ("s", &[""]),
];

/// Possible singulars of a lower-case word, likeliest first; none if the word is no plural.
pub fn singulars(word: &str) -> Vec<String> {
    let mut singulars = Vec::new();
    let listed = IRREGULAR[..BOTH_WAYS].iter().find(|(_, plural)| *plural == word);
    singulars.extend(listed.map(|(singular, _)| (*singular).to_owned()));
    let letters = word.chars().count();
    // Firemen, policewomen; a whole word of these too, but no shorter compound.
    let compound = ["men", "women"].iter().any(|ending| word.ends_with(ending) && letters > ending.len() + 2);
    if compound || word == "men" || word == "women" {
        singulars.push(format!("{}an", &word[..word.len() - 2]));
    }
    if let Some((ending, endings)) = SINGULARS.iter().find(|(ending, _)| word.ends_with(ending))
        && letters > ending.len() + 1
    {
        let stem = &word[..word.len() - ending.len()];
        singulars.extend(endings.iter().map(|ending| format!("{stem}{ending}")));
    }
    singulars
}

/// WordNet's endings, with what replaces them, in the order in which they are tried: nouns, verbs, adjectives.
const WORDNET: [(&str, &str); 18] = [
    ("s", ""),
    ("ses", "s"),
    ("xes", "x"),
    ("zes", "z"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("men", "man"),
    ("ies", "y"),
    ("es", "e"),
    ("es", ""),
    ("ed", "e"),
    ("ed", ""),
    ("ing", "e"),
    ("ing", ""),
    ("er", ""),
    ("est", ""),
    ("er", "e"),
    ("est", "e"),
];
const NOUNS: usize = 8;
/// What NLTK's lemmatiser has for nouns in addition.
const LEMMATISER: [(&str, &str); 1] = [("ves", "f")];

/// The first base form that `meaning` knows; none for words that are their own base.
pub(crate) fn base_form<T>(word: &str, meaning: impl Fn(&str) -> Option<T>) -> Option<T> {
    if word.chars().count() <= 2 || word.ends_with("ss") {
        return None;
    }
    replaced(word, &WORDNET).find_map(|form| meaning(&form))
}

/// The nouns of WordNet 3.0 that decide whether a word's base form is a word of COCO's objects, one a line, and the
/// irregular forms, each with its base forms; `models/object-words` makes them.
static LISTED: LazyLock<Listed> = LazyLock::new(|| {
    let mut listed = Listed::default();
    for line in include_str!("nouns.txt").lines() {
        match *line.split(' ').collect::<Vec<_>>() {
            [noun] => {
                listed.nouns.insert(noun);
            }
            [form, ref bases @ ..] => {
                listed.irregular.insert(form, bases.to_vec());
            }
            [] => {}
        }
    }
    listed
});

#[derive(Default)]
struct Listed {
    nouns: FxHashSet<&'static str>,
    /// Base forms by irregular form.
    irregular: FxHashMap<&'static str, Vec<&'static str>>,
}

/// The base form of a lower-case noun among COCO's objects as NLTK's `WordNetLemmatizer` finds it; the word itself for
/// one that is no form of a listed noun.
///
/// Of the word itself and of what the endings, or the list of irregular forms, make of it: the shortest that is a noun of
/// WordNet, and of several the first.
pub fn noun_base(word: &str) -> String {
    let forms: Vec<String> = match LISTED.irregular.get(word) {
        Some(bases) => bases.iter().map(|base| (*base).to_owned()).collect(),
        None => replaced(word, &WORDNET[..NOUNS]).chain(replaced(word, &LEMMATISER)).collect(),
    };
    let all = std::iter::once(word).chain(forms.iter().map(String::as_str));
    let shortest = all.filter(|form| LISTED.nouns.contains(form)).min_by_key(|form| form.chars().count());
    shortest.unwrap_or(word).to_owned()
}

/// Lemmas as rewritten endings, which `models/parser/lemmas.py` learns: the changes to words with an ending. The longest
/// ending that a word has decides; `^` marks the start of a whole word.
#[derive(Debug, Default)]
pub(crate) struct Endings {
    rules: FxHashMap<Box<str>, (usize, Box<str>)>,
    /// Bytes of the longest ending that is no whole word.
    longest: usize,
}

impl Endings {
    /// From lines of ending, letters taken off, letters put on.
    pub(crate) fn read<'a>(lines: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut endings = Self::default();
        for line in lines {
            let mut fields = line.split('\t');
            let (ending, strip, add) = (fields.next()?, fields.next()?.parse().ok()?, fields.next()?);
            if !ending.starts_with('^') {
                endings.longest = endings.longest.max(ending.len());
            }
            endings.rules.insert(ending.into(), (strip, add.into()));
        }
        Some(endings)
    }

    /// The lemma of a word. `buffer` is for working in.
    pub(crate) fn lemma(&self, word: &str, buffer: &mut String) -> String {
        buffer.clear();
        buffer.push('^');
        buffer.push_str(word);
        let shorter = word.len().saturating_sub(self.longest);
        let starts = (shorter..=word.len()).filter(|&start| word.is_char_boundary(start));
        let rule = self
            .rules
            .get(buffer.as_str())
            .or_else(|| starts.into_iter().find_map(|start| self.rules.get(&word[start..])));
        let Some((strip, add)) = rule else { return word.to_owned() };
        // Letters are counted, not bytes; a word that is shorter than the rule wants stays as it is.
        let mut stem = word.chars();
        for _ in 0..*strip {
            if stem.next_back().is_none() {
                return word.to_owned();
            }
        }
        let lemma = [stem.as_str(), add].concat();
        if lemma.is_empty() { word.to_owned() } else { lemma }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_ending_decides() {
        let endings = Endings::read(["s\t1\t", "ies\t3\ty", "^ties\t1\t", "^was\t3\tbe"].into_iter()).unwrap();
        let lemmas = ["dogs", "ponies", "ties", "was", "glass", "é", "s", "", "dog"]
            .map(|word| endings.lemma(word, &mut String::new()));
        assert_eq!(lemmas, ["dog", "pony", "tie", "be", "glas", "é", "s", "", "dog"]);
    }

    #[test]
    fn broken_lines_are_refused() {
        for line in ["s", "s\t1", "s\tone\t"] {
            assert!(Endings::read([line].into_iter()).is_none(), "{line}");
        }
    }

    #[test]
    fn the_first_known_result_wins() {
        let known = |word: &str| {
            ["horse", "bus", "woman", "hike", "hik", "fly", "ad", "a"].contains(&word).then(|| word.to_owned())
        };
        let cases = [
            ("horses", Some("horse")),
            ("buses", Some("bus")),
            ("women", Some("woman")),
            ("hiking", Some("hike")),
            ("flies", Some("fly")),
            ("ads", Some("ad")),
            ("as", None),
            ("bus", None),
            ("ss", None),
            ("horse", None),
        ];
        for (word, expected) in cases {
            assert_eq!(base_form(word, known).as_deref(), expected, "{word}");
        }
    }

    #[test]
    fn one_and_several() {
        let joined = |forms: Vec<String>| forms.join(" ");
        let cases = [
            ("bus", "buses busses", ""),
            ("cactus", "cactuses cactusses cacti", ""),
            ("scarf", "scarves scarfs", ""),
            ("grandchild", "grandchildren grandchilds", ""),
            ("buses", "buseses busesses", "buse bus busis"),
            ("women", "womens", "woman"),
            ("firemen", "firemens", "fireman"),
            ("people", "peoples", "person"),
            ("knife", "knives knifes", ""),
            ("y", "ys", ""),
            ("", "", ""),
        ];
        for (word, several, one) in cases {
            assert_eq!((&*joined(plurals(word)), &*joined(singulars(word))), (several, one), "{word}");
        }
    }

    #[test]
    fn nouns_of_the_list_have_base_forms() {
        let bases = ["dogs", "women", "men", "vases", "skis", "xyzs"].map(noun_base);
        assert_eq!(bases, ["dog", "woman", "men", "vas", "ski", "xyzs"]);
    }
}
