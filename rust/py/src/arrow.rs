//! Columns of Arrow, as pyarrow's arrays hold them: the texts are copied out of its buffers, and no object of Python is
//! made of any of them.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyMemoryView, PySlice};

use crate::errors::DataError;

/// The texts of a column, one after the other.
#[derive(Default)]
pub(crate) struct Texts {
    pub(crate) text: String,
    pub(crate) ends: Vec<usize>,
}

impl Texts {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|place| &self.text[if place == 0 { 0 } else { self.ends[place - 1] }..self.ends[place]])
    }

    /// Adds those of an array of the type large_string.
    fn extend(&mut self, chunk: &Bound<'_, PyAny>) -> PyResult<()> {
        let length = chunk.len()?;
        if length == 0 {
            return Ok(());
        }
        let start: usize = chunk.getattr("offset")?.extract()?;
        let buffers: Vec<Bound<'_, PyAny>> = chunk.call_method0("buffers")?.extract()?;
        let ends = bytes(&buffers[1], 8 * start, 8 * (start + length + 1))?;
        let ends = ends.as_chunks().0.iter().map(|&end| usize::from_le_bytes(end)).collect::<Vec<_>>();
        let (first, last) = (ends[0], ends[length]);
        let text = if first == last { None } else { Some(bytes(&buffers[2], first, last)?) };
        let text = text.as_deref().unwrap_or_default();
        let damaged = || DataError::new_err("the captions are not UTF-8; convert the file to UTF-8");
        let text = std::str::from_utf8(text).map_err(|_| damaged())?;
        let before = self.text.len();
        if !ends.iter().all(|&end| end >= first && text.is_char_boundary(end - first)) {
            return Err(damaged());
        }
        self.text.push_str(text);
        self.ends.extend(ends[1..].iter().map(|end| before + end - first));
        Ok(())
    }
}

/// The cells of a column of captions.
pub(crate) struct Cells {
    /// The number of captions of each row.
    pub(crate) counts: Vec<usize>,
    pub(crate) texts: Texts,
}

/// The captions of each row of an array of strings or lists of strings, where a null is one empty caption; `None` for
/// anything else, whose values are looked at one by one.
pub(crate) fn cells(array: &Bound<'_, PyAny>) -> PyResult<Option<Cells>> {
    if !is_arrow(array) {
        return Ok(None);
    }
    let (mut counts, mut texts) = (Vec::new(), Texts::default());
    for chunk in chunks(array)? {
        let kind = value_kind(&chunk)?;
        if is_text(&kind) {
            texts.extend(&without_nulls(&chunk)?)?;
            counts.resize(counts.len() + chunk.len()?, 1);
            continue;
        }
        let nulls: usize = chunk.getattr("null_count")?.extract()?;
        let is_list = ["list<", "large_list<"].iter().any(|name| kind.starts_with(name));
        if nulls > 0 || !is_list || !value_kind(&chunk.call_method0("flatten")?).is_ok_and(|kind| is_text(&kind)) {
            return Ok(None);
        }
        texts.extend(&without_nulls(&chunk.call_method0("flatten")?)?)?;
        counts.extend(lengths(&chunk)?);
    }
    Ok(Some(Cells { counts, texts }))
}

/// The strings, with empty ones in the place of nulls.
fn without_nulls<'py>(chunk: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let nulls: usize = chunk.getattr("null_count")?.extract()?;
    // Of every type of strings (views, dictionaries, short offsets) Arrow makes this one, the last two without a copy of the
    // text.
    let chunk = chunk.call_method1("cast", ("large_string",))?;
    if nulls == 0 { Ok(chunk) } else { chunk.call_method1("fill_null", ("",)) }
}

/// The lengths of the lists of an array, none of which is null.
fn lengths(chunk: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    if chunk.len()? == 0 {
        return Ok(Vec::new());
    }
    let lengths = chunk.call_method0("value_lengths")?.call_method1("cast", ("int64",))?;
    let start: usize = lengths.getattr("offset")?.extract()?;
    let buffers: Vec<Bound<'_, PyAny>> = lengths.call_method0("buffers")?.extract()?;
    let lengths = bytes(&buffers[1], 8 * start, 8 * (start + chunk.len()?))?;
    Ok(lengths.as_chunks().0.iter().map(|&length| usize::from_le_bytes(length)).collect())
}

/// Whether it is an array of Arrow, chunked or not.
pub(crate) fn is_arrow(array: &Bound<'_, PyAny>) -> bool {
    array.hasattr("null_count").is_ok_and(|has| has) && array.hasattr("type").is_ok_and(|has| has)
}

fn chunks<'py>(array: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if array.hasattr("chunks")? { array.getattr("chunks")?.extract() } else { Ok(vec![array.clone()]) }
}

/// The name of the type of an array's values.
fn value_kind(array: &Bound<'_, PyAny>) -> PyResult<String> {
    let kind = array.getattr("type")?;
    let values = if kind.hasattr("index_type")? { kind.getattr("value_type")? } else { kind };
    Ok(values.str()?.to_str()?.to_owned())
}

fn is_text(kind: &str) -> bool {
    ["string", "large_string", "string_view"].contains(&kind)
}

/// Bytes of a buffer of Arrow.
fn bytes(buffer: &Bound<'_, PyAny>, start: usize, end: usize) -> PyResult<PyBackedBytes> {
    let view = PyMemoryView::from(buffer)?;
    let slice = PySlice::new(buffer.py(), start.cast_signed(), end.cast_signed(), 1);
    Ok(view.get_item(slice)?.call_method0("tobytes")?.extract()?)
}
