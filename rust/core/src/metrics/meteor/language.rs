//! The languages of METEOR 1.5: what the program does differently for each.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};

use super::apostrophes::Apostrophes;
use super::score::{Module, TASKS, Weights, weights};
use crate::named::named;

named! {
    /// A language, as METEOR names it: not always by the ISO code, Czech is `cz`, Swedish `se`.
    #[derive(Default)]
    pub enum Language {
        /// English
        #[default]
        En "en",
        /// Czech
        Cz "cz",
        /// German
        De "de",
        /// Spanish
        Es "es",
        /// French
        Fr "fr",
        /// Russian
        Ru "ru",
        /// Danish
        Da "da",
        /// Hungarian
        Hu "hu",
        /// Italian
        It "it",
        /// Dutch
        Nl "nl",
        /// Norwegian
        No "no",
        /// Portuguese
        Pt "pt",
        /// Romanian
        Ro "ro",
        /// Swedish
        Se "se",
        /// Turkish
        Tr "tr",
        /// Any other: lower-cased, same words only
        Other "other",
    }
}

/// The task for which nothing was tuned: every language has it.
const INDEPENDENT: (&str, Weights) = ("li", weights([0.75, 1.4, 0.7, 0.5], [1.0, 0.5, 0.5, 0.5]));

const CZECH: [(&str, Weights); 2] = [("rank", weights([0.95, 0.2, 0.6, 0.8], [1.0, 0.0, 0.0, 0.4])), INDEPENDENT];
const GERMAN: [(&str, Weights); 2] = [("rank", weights([0.95, 1.0, 0.55, 0.55], [1.0, 0.8, 0.0, 0.2])), INDEPENDENT];
const SPANISH: [(&str, Weights); 2] = [("rank", weights([0.65, 1.3, 0.5, 0.8], [1.0, 0.8, 0.0, 0.6])), INDEPENDENT];
const FRENCH: [(&str, Weights); 2] = [("rank", weights([0.9, 1.4, 0.6, 0.65], [1.0, 0.2, 0.0, 0.4])), INDEPENDENT];
/// The program's Russian ranking parameters are the independent ones.
const RUSSIAN: [(&str, Weights); 2] = [("rank", INDEPENDENT.1), INDEPENDENT];
const OTHERS: [(&str, Weights); 1] = [INDEPENDENT];

impl Language {
    /// The name of its file `nonbreaking/NAME.prefixes`; none for languages that are only lower-cased.
    pub fn prefixes(self) -> Option<&'static str> {
        match self {
            Self::En => Some("english"),
            Self::Cz => Some("czech"),
            Self::De => Some("german"),
            Self::Es => Some("spanish"),
            Self::Fr => Some("french"),
            Self::Ru => Some("russian"),
            _ => None,
        }
    }

    /// The kinds of match that the program looks for.
    pub fn modules(self) -> &'static [Module] {
        match self {
            Self::En => &Module::ALL,
            Self::Cz => &[Module::Exact, Module::Paraphrase],
            Self::De | Self::Es | Self::Fr | Self::Ru => &[Module::Exact, Module::Stem, Module::Paraphrase],
            Self::Other => &[Module::Exact],
            _ => &[Module::Exact, Module::Stem],
        }
    }

    /// The tasks that the program has parameters for, its default first. Modules that the language lacks weigh nothing
    /// in ranking, and match nothing in any task.
    pub fn tasks(self) -> &'static [(&'static str, Weights)] {
        match self {
            Self::En => &TASKS,
            Self::Cz => &CZECH,
            Self::De => &GERMAN,
            Self::Es => &SPANISH,
            Self::Fr => &FRENCH,
            Self::Ru => &RUSSIAN,
            _ => &OTHERS,
        }
    }

    /// The effect of normalising on apostrophes; none for languages whose lines are only lower-cased.
    pub(super) fn apostrophes(self) -> Option<Apostrophes> {
        match self {
            Self::En => Some(Apostrophes::English),
            Self::Fr => Some(Apostrophes::French),
            Self::Cz | Self::De | Self::Es | Self::Ru => Some(Apostrophes::Apart),
            _ => None,
        }
    }

    pub(super) fn stems(self) -> Stems {
        let algorithm = match self {
            Self::En => Algorithm::English,
            Self::De => Algorithm::German,
            Self::Es => Algorithm::Spanish,
            Self::Fr => Algorithm::French,
            Self::Ru => Algorithm::Russian,
            Self::Da => Algorithm::Danish,
            Self::Hu => Algorithm::Hungarian,
            Self::It => Algorithm::Italian,
            Self::Nl => Algorithm::Dutch,
            Self::No => Algorithm::Norwegian,
            Self::Pt => Algorithm::Portuguese,
            Self::Ro => Algorithm::Romanian,
            Self::Se => Algorithm::Swedish,
            Self::Tr => Algorithm::Turkish,
            Self::Cz | Self::Other => return Stems { language: self, stemmer: None },
        };
        Stems { language: self, stemmer: Some(Stemmer::create(algorithm)) }
    }
}

/// The stemmer of a language, in the state of METEOR's copy of Snowball.
pub(super) struct Stems {
    language: Language,
    stemmer: Option<Stemmer>,
}

impl Stems {
    /// The stem; the word itself where the language has no stemmer.
    pub(super) fn stem<'a>(&self, word: &'a str) -> Cow<'a, str> {
        let Some(stemmer) = &self.stemmer else { return Cow::Borrowed(word) };
        match self.language {
            Language::De => german(stemmer, word),
            Language::Hu => hungarian(stemmer, word),
            Language::Pt => portuguese(stemmer, word),
            _ => stemmer.stem(word),
        }
    }
}

/// Without the later rule that takes an s from `niss` before a removed `e`, `en` or `es`.
fn german<'a>(stemmer: &Stemmer, word: &'a str) -> Cow<'a, str> {
    let stem = stemmer.stem(word);
    let endings = ["nisse", "nissen", "nisses", "niße", "nißen", "nißes"];
    if stem.ends_with("nis") && endings.iter().any(|ending| word.ends_with(ending)) {
        return Cow::Owned(format!("{stem}s"));
    }
    stem
}

/// METEOR's Hungarian rules were read in the wrong character set: they have `õ` and `û` for `ő` and `ű`.
fn hungarian<'a>(stemmer: &Stemmer, word: &'a str) -> Cow<'a, str> {
    const MISREAD: [char; 4] = ['ő', 'õ', 'ű', 'û'];
    if !word.contains(MISREAD) {
        return stemmer.stem(word);
    }
    let swap = |text: &str| -> String {
        let swapped = |c: char| MISREAD.iter().position(|&other| other == c).map_or(c, |at| MISREAD[at ^ 1]);
        text.chars().map(swapped).collect()
    };
    Cow::Owned(swap(&stemmer.stem(&swap(word))))
}

/// Without the later endings `ução` and `uções`, of which only `o` and `es` go.
fn portuguese<'a>(stemmer: &Stemmer, word: &'a str) -> Cow<'a, str> {
    let stem = stemmer.stem(word);
    let kept = match word.strip_prefix(&*stem) {
        Some("ção") if stem.ends_with('u') => &word[..word.len() - "o".len()],
        Some("ções") if stem.ends_with('u') => &word[..word.len() - "es".len()],
        _ => return stem,
    };
    Cow::Borrowed(kept)
}
