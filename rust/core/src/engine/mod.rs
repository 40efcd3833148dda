//! The engine: one pass over the images for all metrics, and resampling of its statistics.

pub mod kernel;
pub mod paired;
pub mod resample;
