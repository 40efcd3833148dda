//! Between Python's objects and the core's: arrays as bytes, files as maps, parameters by name.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::File;
use std::path::Path;

use memmap2::Mmap;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyMemoryView};
use sacrecap_core::Refused;
use sacrecap_core::engine::{Parameters, Value};
use sacrecap_core::numeric::parallel::{Interrupted, interruptible};
use sacrecap_core::tables::SharedBytes;

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

/// Numbers, which Python has as little-endian bytes.
pub(crate) struct Array<T>(pub(crate) Vec<T>);

macro_rules! arrays {
    ($($number:ident $name:literal),+) => {$(
        impl FromPyObject<'_, '_> for Array<$number> {
            type Error = PyErr;

            fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
                let bytes: PyBackedBytes = object.extract()?;
                let (numbers, rest) = bytes.as_chunks();
                if !rest.is_empty() {
                    refuse!("an array of {} with {} bytes too many", $name, rest.len());
                }
                Ok(Self(numbers.iter().map(|&number| $number::from_le_bytes(number)).collect()))
            }
        }

        impl<'py> IntoPyObject<'py> for Array<$number> {
            type Target = PyBytes;
            type Output = Bound<'py, PyBytes>;
            type Error = PyErr;

            fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
                PyBytes::new_with(py, self.0.len() * size_of::<$number>(), |bytes| {
                    let places = bytes.as_chunks_mut().0.iter_mut();
                    places.zip(self.0).for_each(|(place, number)| *place = number.to_le_bytes());
                    Ok(())
                })
            }
        }
    )+};
}
arrays!(f64 "float64", f32 "float32", u16 "u16", u32 "u32", u64 "u64", usize "usize");

/// Cuts ids into sequences of these lengths.
pub(crate) fn sequences<'a>(mut ids: &'a [u32], lengths: &[usize]) -> PyResult<Vec<&'a [u32]>> {
    let count = ids.len();
    let sequences: Option<_> = lengths.iter().map(|&length| ids.split_off(..length)).collect();
    let fault = || UsageError::new_err(format!("the lengths of the sequences do not add up to {count} ids"));
    sequences.filter(|_| ids.is_empty()).ok_or_else(fault)
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

/// What is read of a mapped file; an error names its path.
pub(crate) fn read_file<T: Send>(
    py: Python<'_>,
    path: &Path,
    read: impl FnOnce(&SharedBytes) -> Result<T, Refused> + Send,
) -> PyResult<T> {
    let read = py.detach(|| -> std::io::Result<_> { Ok(read(&map_file(path)?)) })?;
    read.map_err(|error| DataError::new_err(format!("{}: {error}", path.display())))
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
    let value = |parameter| match parameter {
        Parameter::Flag(flag) => Value::Flag(flag),
        Parameter::Number(number) => Value::Number(number),
        Parameter::Text(text) => Value::Text(text),
    };
    parameters.into_iter().map(|(name, parameter)| (name, value(parameter))).collect()
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
    /// Runs the handlers of signals that came; whether one of them raised.
    fn signal_raised() -> bool {
        // Without an interpreter, which is being shut down, there is nobody to ask.
        Python::try_attach(|py| py.check_signals().map_err(|raised| RAISED.set(Some(raised))).is_err()).unwrap_or(false)
    }
    py.detach(|| interruptible(signal_raised, work))
        .map_err(|Interrupted| RAISED.take().unwrap_or_else(|| PyKeyboardInterrupt::new_err(())))
}

/// How far the native work is that was begun last, 0 to 1; None where none is under way, or nothing counts it.
#[pyfunction]
pub(crate) fn share_done() -> Option<f64> {
    sacrecap_core::numeric::progress::share()
}
