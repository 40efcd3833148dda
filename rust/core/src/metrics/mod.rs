//! The metrics.

pub(crate) mod bleu;
pub mod cider;
pub(crate) mod combine;
pub mod diversity;
pub mod embedded;
pub(crate) mod fluency;
pub mod meteor;
pub(crate) mod rouge;
pub mod vifidel;
pub(crate) mod wmd;
