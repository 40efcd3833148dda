//! Native work without the GIL that Ctrl-C can interrupt.

use std::cell::RefCell;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use sacrecap_core::numeric::interrupt::{Interrupted, interruptible};

thread_local! {
    /// What a signal's handler raised on this thread while it worked.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Runs long work without the GIL; the exception of a signal's handler, such as `KeyboardInterrupt`, ends it.
///
/// Python runs handlers on its main thread alone, so only work that was called there can be ended.
pub(crate) fn detach<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> PyResult<R> {
    py.detach(|| interruptible(signal_raised, work))
        .map_err(|Interrupted| RAISED.take().unwrap_or_else(|| PyKeyboardInterrupt::new_err(())))
}

/// How far the native work is that was begun last, 0 to 1; None where none is under way, or nothing counts it.
#[pyfunction]
pub(crate) fn share_done() -> Option<f64> {
    sacrecap_core::numeric::progress::share()
}

/// Runs the handlers of signals that came; whether one of them raised.
fn signal_raised() -> bool {
    // Without an interpreter, which is being shut down, there is nobody to ask.
    Python::try_attach(|py| py.check_signals().map_err(|raised| RAISED.set(Some(raised))).is_err()).unwrap_or(false)
}
