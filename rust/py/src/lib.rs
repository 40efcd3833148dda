//! The Python face of capeval-core: convert, release the GIL, call, map errors.
use capeval_core::read::Format;
use pyo3::prelude::*;

mod captions;
mod errors;
mod gather;

/// Native core of capeval.
#[pymodule(name = "_core", gil_used = false)]
fn core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<captions::Captions>()?;
    module.add_class::<captions::CaptionsBuilder>()?;
    module.add("CAPTION_FORMATS", Format::ALL.map(Format::name).to_vec())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
