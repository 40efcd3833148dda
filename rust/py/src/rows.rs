//! The rows of pieces of text as columns: for Python as lists, for Arrow as the buffers of an array.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use sacrecap_core::read;
use sacrecap_core::read::rows::{self, Cell, Column, Rows};

use crate::convert::as_bytes;
use crate::errors::{UsageError, read_error};

/// Rows of a piece of text, in the columns that are named; the first has the image ids.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct RowsOfText {
    inner: Rows,
}

/// The buffers of an array of Arrow: validity, offsets, then those of its texts (lists), or the text.
type Buffers<'py> = (bool, Vec<Option<Bound<'py, PyBytes>>>);

#[pymethods]
impl RowsOfText {
    /// The rows of JSON lines, numbered from `first`, blank lines too.
    #[staticmethod]
    fn of_lines(py: Python<'_>, data: &Bound<'_, PyAny>, names: Vec<String>, first: u64) -> PyResult<Self> {
        let data = as_bytes(data)?;
        let bytes = data.as_bytes();
        Ok(Self { inner: py.detach(|| rows::lines(bytes, &names, first)) })
    }

    /// The rows of a piece of a table with these columns; the last row only of the `last` piece.
    #[staticmethod]
    fn of_table(
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        columns: Vec<String>,
        delimiter: &str,
        names: Vec<String>,
        first: u64,
        last: bool,
    ) -> PyResult<Self> {
        let &[delimiter] = delimiter.as_bytes() else {
            return Err(UsageError::new_err("a delimiter is one character"));
        };
        let header = read::Header { names: columns, delimiter, end: 0 };
        let data = as_bytes(data)?;
        let bytes = data.as_bytes();
        let inner = py.detach(|| rows::table(bytes, &header, &names, first, last));
        Ok(Self { inner: inner.map_err(read_error)? })
    }

    /// The number of each row: u64, little-endian.
    #[getter]
    fn numbers<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, self.inner.numbers.iter().copied())
    }

    /// The rows that cannot be used: number, image where that is known, and what is wrong.
    #[getter]
    fn bad(&self) -> Vec<(u64, Option<&str>, &str)> {
        self.inner.bad.iter().map(|row| (row.number, row.image.as_deref(), row.reason.as_str())).collect()
    }

    /// How many bytes were read.
    #[getter]
    fn read(&self) -> usize {
        self.inner.read
    }

    /// How many numbers were given.
    #[getter]
    fn count(&self) -> u64 {
        self.inner.count
    }

    /// The values of a column: a text, a list of texts, or None.
    fn values<'py>(&self, py: Python<'py>, place: usize) -> PyResult<Bound<'py, PyList>> {
        let column = self.column(place)?;
        let mut texts = column.ends.iter().enumerate().map(|(place, &(end, is_text))| {
            let start = if place == 0 { 0 } else { column.ends[place - 1].0 };
            is_text.then(|| String::from_utf8_lossy(&column.text[start as usize..end as usize]))
        });
        let values = PyList::empty(py);
        for cell in &column.cells {
            match *cell {
                Cell::Null => values.append(py.None())?,
                Cell::Text => values.append(texts.next().flatten())?,
                Cell::List(length) => {
                    values.append(PyList::new(py, texts.by_ref().take(length as usize).collect::<Vec<_>>())?)?;
                }
            }
        }
        Ok(values)
    }

    /// A column as the buffers of an Arrow array of large strings, or of large lists where a row has one: then a text is a
    /// list of it. Validity, offsets, and the text; of lists, validity and offsets of their texts before it.
    fn buffers<'py>(&self, py: Python<'py>, place: usize) -> PyResult<Buffers<'py>> {
        let column = self.column(place)?;
        let lists = column.cells.iter().any(|cell| matches!(cell, Cell::List(_)));
        let valid = bits(py, column.cells.iter().map(|cell| *cell != Cell::Null));
        let text = Some(PyBytes::new(py, &column.text));
        let buffers = if lists {
            let texts_valid = bits(py, column.ends.iter().map(|end| end.1));
            let ends = bytes(py, std::iter::once(0).chain(column.ends.iter().map(|end| end.0)));
            vec![valid, Some(bytes(py, offsets(column, |texts| texts as u64))), texts_valid, Some(ends), text]
        } else {
            let end = |texts: usize| if texts == 0 { 0 } else { column.ends[texts - 1].0 };
            vec![valid, Some(bytes(py, offsets(column, end))), text]
        };
        Ok((lists, buffers))
    }
}

impl RowsOfText {
    fn column(&self, place: usize) -> PyResult<&Column> {
        self.inner.columns.get(place).ok_or_else(|| UsageError::new_err(format!("there is no column {place}")))
    }
}

/// Where each row's value ends, and 0 before; `at` says where so many texts end.
fn offsets(column: &Column, at: impl Fn(usize) -> u64) -> impl Iterator<Item = u64> {
    let mut texts = 0;
    std::iter::once(0).chain(column.cells.iter().map(move |cell| {
        texts += match *cell {
            Cell::Null => 0,
            Cell::Text => 1,
            Cell::List(length) => length as usize,
        };
        at(texts)
    }))
}

fn bytes(py: Python<'_>, numbers: impl Iterator<Item = u64>) -> Bound<'_, PyBytes> {
    let mut bytes = Vec::with_capacity(8 * numbers.size_hint().0);
    numbers.for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    PyBytes::new(py, &bytes)
}

/// A bit per value, eight in a byte, the first the lowest; None if all are set.
fn bits(py: Python<'_>, values: impl ExactSizeIterator<Item = bool> + Clone) -> Option<Bound<'_, PyBytes>> {
    if values.clone().all(|value| value) {
        return None;
    }
    let mut bits = vec![0_u8; values.len().div_ceil(8)];
    values.enumerate().filter(|(_, value)| *value).for_each(|(place, _)| bits[place / 8] |= 1 << (place % 8));
    Some(PyBytes::new(py, &bits))
}
