//! Colours, sizes and numbers among attributes.

/// What kind of attribute a word is, for the sub-scores of SPICE.
///
/// The lists hold the words that the original counts, of about 480 that it was asked about, and that occurred as attributes: `turquoise` is no colour to it,
/// `12` and `twelve` no numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Category {
    /// A colour, or how light one is: `red`, `dark`.
    Color,
    /// How many, up to ten: `two`.
    Cardinality,
    /// How large: `tiny`.
    Size,
}

/// Sorted, as are the other lists.
const COLORS: [&str; 18] = [
    "beige", "black", "blue", "brown", "cream", "dark", "gray", "green", "grey", "light", "maroon", "orange", "pink",
    "purple", "red", "violet", "white", "yellow",
];

const NUMBERS: [&str; 10] = ["eight", "five", "four", "nine", "one", "seven", "six", "ten", "three", "two"];

const SIZES: [&str; 61] = [
    "baby",
    "big",
    "broad",
    "bulky",
    "colossal",
    "compact",
    "enormous",
    "expansive",
    "extensive",
    "fat",
    "full-size",
    "gargantuan",
    "giant",
    "gigantic",
    "grand",
    "great",
    "heavy",
    "hefty",
    "huge",
    "immense",
    "infinitesimal",
    "large",
    "lean",
    "life-size",
    "little",
    "mammoth",
    "massive",
    "microscopic",
    "mini",
    "miniature",
    "minute",
    "narrow",
    "obese",
    "outsized",
    "oversize",
    "overweight",
    "petite",
    "plump",
    "puny",
    "short",
    "sizable",
    "skimpy",
    "skinny",
    "slender",
    "slim",
    "small",
    "stout",
    "tall",
    "teensy",
    "teeny",
    "thick",
    "thin",
    "tiny",
    "titanic",
    "towering",
    "trim",
    "undersized",
    "vast",
    "wee",
    "whopping",
    "wide",
];

impl Category {
    /// The category of an attribute, by its lemma; None for most words.
    pub fn of(attribute: &str) -> Option<Self> {
        let lists = [(&COLORS[..], Self::Color), (&NUMBERS[..], Self::Cardinality), (&SIZES[..], Self::Size)];
        lists.into_iter().find(|(words, _)| words.binary_search(&attribute).is_ok()).map(|(_, category)| category)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted_and_apart() {
        for list in [&COLORS[..], &NUMBERS[..], &SIZES[..]] {
            assert!(list.is_sorted_by(|one, next| one < next), "{list:?}");
        }
        let all = || COLORS.iter().chain(&NUMBERS).chain(&SIZES);
        assert_eq!(all().collect::<std::collections::HashSet<_>>().len(), all().count());
    }

    #[test]
    fn a_word_has_one_category_or_none() {
        let cases = [
            ("red", Some(Category::Color)),
            ("dark", Some(Category::Color)),
            ("two", Some(Category::Cardinality)),
            ("tiny", Some(Category::Size)),
            ("turquoise", None),
            ("12", None),
            ("small/little", None),
            ("", None),
        ];
        for (word, category) in cases {
            assert_eq!(Category::of(word), category, "{word}");
        }
    }
}
