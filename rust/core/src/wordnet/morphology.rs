//! Base forms of English words by WordNet's suffix rules.

/// Endings with what replaces them, in the order in which they are tried: nouns, verbs, adjectives.
const ENDINGS: [(&str, &str); 18] = [
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

/// The first base form that `meaning` knows; none for words that are their own base.
pub(super) fn base_form<T>(word: &str, meaning: impl Fn(&str) -> Option<T>) -> Option<T> {
    if word.chars().count() <= 2 || word.ends_with("ss") {
        return None;
    }
    ENDINGS.iter().find_map(|(ending, replacement)| meaning(&format!("{}{replacement}", word.strip_suffix(ending)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
