//! Numerical building blocks that know nothing of captions.

pub mod exact;
pub mod f_measure;
pub mod generator;
pub mod hash_table;
pub mod interrupt;
pub mod parallel;
pub mod progress;
pub mod spectrum;
pub mod ties;
pub mod transport;
