//! METEOR 1.5 (Denkowski and Lavie, *Meteor Universal: Language Specific Translation Evaluation for Any Target
//! Language*, WMT 2014), as the COCO caption evaluation code runs it: in English.
//!
//! Words of the candidate and of a reference are aligned one to one: by the same word, the same stem, a common synonym
//! set, or as paraphrases. Of all alignments the one is taken that covers most words, then has fewest chunks (runs that
//! are contiguous and in order on both sides), then links the nearest words. With content and function words weighted
//! δ and 1 − δ and the matches of module i weighted wᵢ,
//!
//! ```text
//! P = Σᵢ wᵢ (δ mᵢ(c) + (1 − δ) mᵢ(f)) / (δ |c| + (1 − δ) |f|)     over the candidate's words; R over the reference's
//! F = P R / (α P + (1 − α) R)
//! score = F · (1 − γ (chunks / matches)^β)
//! ```
//!
//! The score of a caption is that of its best reference; the score of a corpus is the formula over the summed counts of
//! best references.
//!
//! | point | paper | the program (1.5) | here |
//! | --- | --- | --- | --- |
//! | search | beam: words, chunks, distance | beam of 40; ties by order of discovery | as the program |
//! | weights in the search | those of the score | 1 exact, ½ others, rounded down per match | as the program |
//! | distance of a match | its own | counts for its later siblings, not for its path | as the program |
//! | same word, same stem | by text | by 32-bit hash: `or` is `q4` | as the program |
//! | a lone non-exact word | matched | only if nothing else covers its words, or in a chunk | as the program |
//! | chunks of a complete match | 1 | penalty 0; adds no chunk to the corpus | as the program |
//! | `pow` | – | Java's, 1 unit in the last place off the C library's in 1 of 700 | the C library's |
//! | word-final Σ | – | lower-cased by word break | lower-cased by the neighbouring letters |
//! | no references | – | an error | all counts 0, score 0 |
//!
//! Time grows with the matches of a pair, whose number may be the product of the lengths; memory with the length of a text
//! that repeats itself.
//!
//! [`Resources`] come with the package `sacrecap-meteor`; [`Meteor`] is the engine's kernel, [`align`] shows what
//! was matched.

mod align;
mod corpus;
mod explain;
mod kernel;
mod lexicon;
mod matchers;
mod normalize;
mod resources;
mod score;
mod sentences;

#[cfg(test)]
mod tests;

pub use explain::{Alignment, Link, align, align_best};
pub use kernel::Meteor;
pub(crate) use kernel::build;
pub use resources::Resources;
pub use score::{CHUNKS, COUNTS, Counts, Module, Parts, TASKS, Weights};
