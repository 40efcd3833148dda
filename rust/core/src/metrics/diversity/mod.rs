//! How varied the captions of one image are: statistics of a caption set, one row per image.
//!
//! What a set without variety means is said once, here: a set of one caption, as one of equal captions, has none.

mod accuracy;
mod distinct;
mod mbleu;
mod novelty;
pub mod similarity;
pub mod spectral;

pub use accuracy::{CaptionPool, grouped};
pub(crate) use distinct::{build_distinct, build_div};
pub(crate) use mbleu::{build_mbleu, build_mix};
pub use novelty::novel_captions;
pub(crate) use spectral::{build_lsa, build_self_cider};
