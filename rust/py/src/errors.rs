//! Core errors as the Python error tree of `sacrecap.errors`, which is imported when the first error is raised.
use pyo3::prelude::*;
use sacrecap_core::read::{ReadError, ReadErrorKind, UnknownFormat};

pyo3::import_exception!(sacrecap.errors, DataError);
pyo3::import_exception!(sacrecap.errors, UsageError);

/// A file that cannot be read is bad data; a split asked of a format without splits is bad usage.
pub(crate) fn read_error(error: &ReadError) -> PyErr {
    match error.kind {
        ReadErrorKind::SplitUnsupported | ReadErrorKind::UnknownSplit => UsageError::new_err(error.to_string()),
        _ => DataError::new_err(error.to_string()),
    }
}

/// A format name that there is not.
pub(crate) fn unknown_format(error: &UnknownFormat) -> PyErr {
    UsageError::new_err(error.to_string())
}
