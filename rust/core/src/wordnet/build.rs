//! Builds the sections of the table from WordNet's texts.

use std::collections::BTreeMap;
use std::str::FromStr;

use crate::tables::layout::{Lists, Strings};

/// A text that is not what METEOR 1.5 comes with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceError {
    /// The file.
    pub file: &'static str,
    /// The problem, and its place.
    pub problem: String,
}

impl std::fmt::Display for SourceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} cannot be read: {}", self.file, self.problem)
    }
}

impl std::error::Error for SourceError {}

/// Synonym sets of each word.
type Sets<'a> = BTreeMap<&'a str, Vec<u32>>;

/// The four sections of [`Meanings`](super::Meanings).
pub(crate) fn write(sets: &Sets<'_>) -> [Vec<u8>; 4] {
    let [text, bounds] = Strings::write(sets.keys().copied());
    let [list_bounds, values] = Lists::write(sets.values().map(|sets| sets.iter().copied()));
    [text, bounds, list_bounds, values]
}

/// Lines in pairs, with the number of the second.
fn pairs<'a>(
    text: &'a str,
    file: &'static str,
) -> impl Iterator<Item = Result<(&'a str, &'a str, usize), SourceError>> {
    let mut lines = text.lines();
    (1..).map_while(move |pair| {
        let first = lines.next()?;
        let odd = || SourceError { file, problem: format!("line {} has no second line", 2 * pair - 1) };
        Some(lines.next().ok_or_else(odd).map(|second| (first.trim(), second, 2 * pair)))
    })
}

/// The words of `english.synsets` with their sets.
pub(crate) fn synonyms(text: &str) -> Result<Sets<'_>, SourceError> {
    let file = "english.synsets";
    let mut synonyms = Sets::new();
    for pair in pairs(text, file) {
        let (word, numbers, line) = pair?;
        let sets = synonyms.entry(word).or_default();
        for number in numbers.split_ascii_whitespace() {
            let problem = || format!("line {line} has {number:?} for the number of a synonym set");
            sets.push(u32::from_str(number).map_err(|_| SourceError { file, problem: problem() })?);
        }
    }
    Ok(synonyms)
}

/// Synonym sets of the bases of each irregular form. A form whose bases mean nothing stays listed, so that the suffix
/// rules are not tried on it.
pub(crate) fn exceptions<'a>(text: &'a str, synonyms: &Sets<'_>) -> Result<Sets<'a>, SourceError> {
    let mut exceptions = Sets::new();
    for pair in pairs(text, "english.exceptions") {
        let (base, forms, _) = pair?;
        for form in forms.split_ascii_whitespace() {
            exceptions.entry(form).or_default().extend(synonyms.get(base).into_iter().flatten());
        }
    }
    Ok(exceptions)
}
