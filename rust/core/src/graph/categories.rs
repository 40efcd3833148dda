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

impl Category {
    /// The category of an attribute, by its lemma; None for most words.
    pub fn of(attribute: &str) -> Option<Self> {
        match attribute {
            "beige" | "black" | "blue" | "brown" | "cream" | "dark" | "gray" | "green" | "grey" | "light"
            | "maroon" | "orange" | "pink" | "purple" | "red" | "violet" | "white" | "yellow" => Some(Self::Color),
            "eight" | "five" | "four" | "nine" | "one" | "seven" | "six" | "ten" | "three" | "two" => {
                Some(Self::Cardinality)
            }
            "baby" | "big" | "broad" | "bulky" | "colossal" | "compact" | "enormous" | "expansive" | "extensive"
            | "fat" | "full-size" | "gargantuan" | "giant" | "gigantic" | "grand" | "great" | "heavy" | "hefty"
            | "huge" | "immense" | "infinitesimal" | "large" | "lean" | "life-size" | "little" | "mammoth"
            | "massive" | "microscopic" | "mini" | "miniature" | "minute" | "narrow" | "obese" | "outsized"
            | "oversize" | "overweight" | "petite" | "plump" | "puny" | "short" | "sizable" | "skimpy" | "skinny"
            | "slender" | "slim" | "small" | "stout" | "tall" | "teensy" | "teeny" | "thick" | "thin" | "tiny"
            | "titanic" | "towering" | "trim" | "undersized" | "vast" | "wee" | "whopping" | "wide" => Some(Self::Size),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
