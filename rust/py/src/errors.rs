//! Core errors as the Python error tree of `sacrecap.errors`, which is imported when the first error is raised.
use std::fmt::Display;

use pyo3::prelude::*;

pyo3::import_exception!(sacrecap.errors, DataError);
pyo3::import_exception!(sacrecap.errors, UsageError);

/// Bad data, in the core's words.
pub(crate) fn data_error(error: impl Display) -> PyErr {
    DataError::new_err(error.to_string())
}

/// Bad usage, in the core's words.
pub(crate) fn usage_error(error: impl Display) -> PyErr {
    UsageError::new_err(error.to_string())
}

/// Returns with bad usage, in these words.
macro_rules! refuse {
    ($($words:tt)+) => {
        return Err($crate::errors::UsageError::new_err(format!($($words)+)))
    };
}

pub(crate) use refuse;
