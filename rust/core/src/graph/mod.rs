//! Scene graphs: the objects in a parsed caption, their attributes and the relations between them.
//! The rules imitate the original SPICE program; they were derived from its answers to thousands of captions.
//! In reading order: `tree` holds the basic dependencies, turned around in `a couple of dogs` and `next to a dog`, collapses
//! them (prepositions become parts of links, what holds of one conjunct holds of all), and finds what pronouns stand for
//! and who does what; `builder` reads the graph off all this. [`Category`] says which attributes are colours, sizes and
//! numbers.

mod builder;
pub mod paragraph;
mod scope;
#[cfg(test)]
mod tests;
mod tree;

use crate::named::named;
use crate::numeric::parts;
use crate::parse::Word;
pub use scope::{denied, statuses};

named! {
    /// What a text says of a thing, of a quality, of a relation: that it is in the picture, that it may be, or that it is
    /// not; or nothing of the kind. From the surest to the least sure.
    #[derive(Default)]
    pub enum Status {
        /// It is there.
        #[default]
        Stated "stated",
        /// It may be there: `possibly`, `appears to be`.
        Hedged "hedged",
        /// It is said about the picture, or is no thing: `the image`, `a sense of calm`; or a summary repeats it.
        Aside "aside",
        /// It is not there: `no people`, `without`.
        Denied "denied",
    }
}

impl Status {
    /// Whether the text says that it is, or may be, in the picture.
    pub fn is_said(self) -> bool {
        self <= Self::Hedged
    }
}

/// What a caption describes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SceneGraph {
    /// In the order of the words that name them. The same name may come several times: once for each mention.
    pub objects: Vec<Object>,
    /// In the order of their objects.
    pub attributes: Vec<Attribute>,
    /// Those of verbs and prepositions in the order of their second objects, then those of `is`.
    pub relations: Vec<Relation>,
}

/// A thing that the caption mentions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Lemma of its word.
    pub name: String,
    /// Numbers of its words in the caption: the noun and the pronouns that stand for it.
    pub words: Vec<usize>,
    /// Whether the caption says that it is there.
    pub status: Status,
}

/// A quality of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    /// Number of the object in [`SceneGraph::objects`].
    pub object: usize,
    /// Lemma of its word.
    pub name: String,
    /// Numbers of its words in the caption.
    pub words: Vec<usize>,
    /// Whether the caption says that the object has it.
    pub status: Status,
}

/// A relation between two objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relation {
    /// Number of the first object in [`SceneGraph::objects`].
    pub subject: usize,
    /// Lemma of a verb with its particles and prepositions, or a preposition alone: `stand in front of`, `on`.
    pub predicate: String,
    /// Number of the second object.
    pub object: usize,
    /// Numbers of the words of the predicate in the caption.
    pub words: Vec<usize>,
    /// Whether the caption says that it holds.
    pub status: Status,
}

impl SceneGraph {
    /// The scene graph of a parsed caption. Any heads are accepted, also circles and numbers out of range.
    pub fn of(words: &[Word]) -> Self {
        Self::of_sentences(words, &[])
    }

    /// The scene graph of a parsed text: what its sentences say, one after the other. A pronoun stands for a noun of
    /// its own sentence. `ends` are the places behind the last word of each sentence, as [`crate::parse::Parser`]
    /// takes them.
    pub fn of_sentences(words: &[Word], ends: &[usize]) -> Self {
        let mut graph = Self::default();
        for sentence in parts(ends, words.len()) {
            let start = sentence.start;
            // The heads of words count from the first word of the text.
            let mut tree = tree::Tree::of(&words[sentence], start);
            tree::turn_quantities(&mut tree);
            tree::turn_prepositions(&mut tree);
            let links = tree::links(&tree);
            let referents = tree::referents(&tree);
            let subjects = tree::Subjects::of_links(&tree, &links);
            let mut builder = builder::Builder::new(&tree, &links, &referents);
            builder::read_relations(&tree, &links, &subjects, &mut builder);
            builder::read_attributes(&tree, &links, &subjects, &mut builder);
            builder.add_to(&mut graph, start);
        }
        graph
    }

    /// Gives everything the status of its words, and no better one than its objects have.
    pub fn mark(&mut self, statuses: &[Status]) {
        let of = |words: &[usize]| words.iter().map(|&word| statuses[word]).max().unwrap_or_default();
        for object in &mut self.objects {
            object.status = of(&object.words[..1]);
        }
        for attribute in &mut self.attributes {
            attribute.status = of(&attribute.words).max(self.objects[attribute.object].status);
        }
        for relation in &mut self.relations {
            let ends = self.objects[relation.subject].status.max(self.objects[relation.object].status);
            relation.status = of(&relation.words).max(ends);
        }
    }
}

// Colours, sizes and numbers among attributes.

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
mod category_tests {
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
