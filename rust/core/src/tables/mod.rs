//! Tables that are used where they lie, in memory or in a mapped file.

pub(crate) mod layout;
