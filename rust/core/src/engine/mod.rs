//! The engine: one pass over the images for all metrics, and resampling of its statistics.
//!
//! A metric is statistics of one caption and a formula over their sums ([`Kernel`]). Statistics of images are added up
//! and the formula is applied to the sum, so the bootstrap, paired tests, shards and streaming exist once, for every
//! metric. The engine knows no metric by name: the module `metrics` lists them.

mod evaluate;
mod image;
mod kernel;
pub mod paired;
mod parameters;
pub mod resample;
mod resources;
mod sign_flips;
mod table;

pub use evaluate::evaluate;
pub use image::Image;
pub use kernel::{Built, Formula, Kernel, Prepared, Scorer, Unit, Worker, mean, mean_of, with_memory};
pub use parameters::{Parameters, Value};
pub use resources::{Resource, Resources, missing};
pub use table::Table;
