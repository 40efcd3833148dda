//! The Python face of capeval-core: convert, release the GIL, call, map errors.
use pyo3::prelude::*;

/// Native core of capeval.
#[pymodule(name = "_core", gil_used = false)]
fn core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
