//! Lemmas as rewritten endings. `models/parser/lemmas.py` learns them.

use rustc_hash::FxHashMap;

/// The changes to words with an ending. The longest ending that a word has decides; `^` marks the start of a whole
/// word.
#[derive(Debug, Default)]
pub(super) struct Endings {
    rules: FxHashMap<Box<str>, (usize, Box<str>)>,
    /// Bytes of the longest ending that is no whole word.
    longest: usize,
}

impl Endings {
    /// From lines of ending, letters taken off, letters put on.
    pub(super) fn read<'a>(lines: impl Iterator<Item = &'a str>) -> Option<Self> {
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
    pub(super) fn lemma(&self, word: &str, buffer: &mut String) -> String {
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
        let mut kept = word.chars();
        for _ in 0..*strip {
            if kept.next_back().is_none() {
                return word.to_owned();
            }
        }
        let lemma = [kept.as_str(), add].concat();
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
}
