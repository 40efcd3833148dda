//! How varied the captions of one image are: statistics of a caption set, one row per image.
//!
//! The meaning of "no variety" is defined here: a set of one caption and a set of equal captions have no variety.

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
pub(crate) use spectral::{build_lsa, build_self_cider, build_vendi};
