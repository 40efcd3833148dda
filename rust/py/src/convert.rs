//! Between Python's objects and the core's: arrays as bytes, files as maps, parameters by name.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};
use sacrecap_core::engine::{Kernel, Parameters, Value};
use sacrecap_core::numeric::parallel::{Interrupted, interruptible};
use sacrecap_core::tables::SharedBytes;
use sacrecap_core::{Refused, metrics};

/// The object as `bytes`: itself, or a copy of any other object with a buffer.
pub(crate) fn as_bytes<'py>(data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    match data.cast::<PyBytes>() {
        Ok(bytes) => Ok(bytes.clone()),
        Err(_) => Ok(PyMemoryView::from(data)?.call_method0("tobytes")?.cast_into::<PyBytes>()?),
    }
}

/// The bytes of an object with a buffer, without a copy where nobody can write them.
pub(crate) fn held(data: &Bound<'_, PyAny>) -> PyResult<SharedBytes> {
    let array = data.py().import("numpy")?.call_method1("frombuffer", (data, "u1"))?;
    let (start, read_only): (usize, bool) = array.getattr("__array_interface__")?.get_item("data")?.extract()?;
    let length = array.len()?;
    if !read_only || length == 0 {
        return Ok(SharedBytes::new(as_bytes(data)?.as_bytes().to_vec()));
    }
    Ok(SharedBytes::new(Held { _owner: array.unbind(), start, length }))
}

/// Bytes of an object of Python.
struct Held {
    _owner: Py<PyAny>,
    start: usize,
    length: usize,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: NumPy says where the bytes are and that they are read-only; the array, which is alive as long as this,
        // keeps the buffer from being freed or resized.
        unsafe { std::slice::from_raw_parts(self.start as *const u8, self.length) }
    }
}

/// Numbers as little-endian float64.
pub(crate) fn to_bytes(py: Python<'_>, numbers: impl Iterator<Item = f64>) -> Bound<'_, PyBytes> {
    PyBytes::new(py, &numbers.flat_map(f64::to_le_bytes).collect::<Vec<u8>>())
}

/// Little-endian float64.
pub(crate) fn floats(bytes: &[u8]) -> PyResult<Vec<f64>> {
    numbers(bytes, "float64", f64::from_le_bytes)
}

/// Little-endian u32.
pub(crate) fn whole_numbers(bytes: &[u8]) -> PyResult<Vec<u32>> {
    numbers(bytes, "u32", u32::from_le_bytes)
}

fn numbers<T, const SIZE: usize>(bytes: &[u8], kind: &str, of: fn([u8; SIZE]) -> T) -> PyResult<Vec<T>> {
    let (numbers, rest) = bytes.as_chunks();
    if !rest.is_empty() {
        refuse!("an array of {kind} with {} bytes too many", rest.len());
    }
    Ok(numbers.iter().map(|&number| of(number)).collect())
}

/// Cuts ids into sequences of these lengths.
pub(crate) fn sequences<'a>(mut ids: &'a [u32], lengths: &[usize]) -> PyResult<Vec<&'a [u32]>> {
    if lengths.iter().try_fold(0_usize, |total, &length| total.checked_add(length)) != Some(ids.len()) {
        refuse!("the lengths of the sequences do not add up to {} ids", ids.len());
    }
    let mut sequences = Vec::with_capacity(lengths.len());
    for &length in lengths {
        let (sequence, rest) = ids.split_at(length);
        sequences.push(sequence);
        ids = rest;
    }
    Ok(sequences)
}

/// Checks that groups of these sizes are all of `count` things.
pub(crate) fn check_sizes(sizes: &[usize], count: usize) -> PyResult<()> {
    if sizes.iter().try_fold(0_usize, |total, &size| total.checked_add(size)) != Some(count) {
        refuse!("the sizes of the groups do not add up to {count}");
    }
    Ok(())
}

/// Checks a number that Python counts by.
pub(crate) fn check_index(kind: &str, number: usize, count: usize) -> PyResult<()> {
    if number >= count {
        refuse!("there is no {kind} {number} among {count}");
    }
    Ok(())
}

/// The file's bytes, mapped into memory.
pub(crate) fn map_file(path: &Path) -> std::io::Result<SharedBytes> {
    let file = File::open(path)?;
    // SAFETY: the file is read through the map only. Another process that truncates it meanwhile would end this one with
    // SIGBUS, as with every memory-mapped reader; our own writer replaces files and never truncates.
    Ok(SharedBytes::new(unsafe { Mmap::map(&file)? }))
}

/// A metric's parameter as Python holds it.
#[derive(Clone, FromPyObject, IntoPyObject)]
pub(crate) enum Parameter {
    Flag(bool),
    Number(f64),
    Text(String),
}

/// A metric's parameters by name.
pub(crate) type NamedParameters = BTreeMap<String, Parameter>;

/// Parameters as the core takes them.
pub(crate) fn core_parameters(parameters: NamedParameters) -> Parameters {
    parameters.into_iter().map(|(name, parameter)| (name, core_value(parameter))).collect()
}

fn core_value(parameter: Parameter) -> Value {
    match parameter {
        Parameter::Flag(flag) => Value::Flag(flag),
        Parameter::Number(number) => Value::Number(number),
        Parameter::Text(text) => Value::Text(text),
    }
}

/// Builds the kernel of that name.
pub(crate) fn kernel(name: &str, parameters: NamedParameters) -> Result<Arc<dyn Kernel>, Refused> {
    metrics::kernel(name, core_parameters(parameters)).map(Arc::from)
}

// Core errors as the Python error tree of `sacrecap.errors`, which is imported when the first error is raised.

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
        return Err($crate::convert::UsageError::new_err(format!($($words)+)))
    };
}

pub(crate) use refuse;

// Native work without the GIL that Ctrl-C can interrupt.

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
