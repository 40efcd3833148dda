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
    /// Of an array, chunked or not, of strings or whole numbers; `what` names it in messages.
    pub(crate) fn of(array: &Bound<'_, PyAny>, what: &str) -> PyResult<Self> {
        let mut texts = Self::default();
        for chunk in chunks(array)? {
            let kind = value_kind(&chunk)?;
            if !is_text(&kind) && !is_whole(&kind) {
                return Err(DataError::new_err(format!("{what} are of the Arrow type {kind}, not strings")));
            }
            texts.extend(&chunk, what)?;
        }
        Ok(texts)
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|place| &self.text[if place == 0 { 0 } else { self.ends[place - 1] }..self.ends[place]])
    }

    fn extend(&mut self, chunk: &Bound<'_, PyAny>, what: &str) -> PyResult<()> {
        check_no_nulls(chunk, what)?;
        let length = chunk.len()?;
        if length == 0 {
            return Ok(());
        }
        // Of every type of strings (views, dictionaries, short offsets) Arrow makes this one, the last two without a copy of
        // the text.
        let array = chunk.call_method1("cast", ("large_string",))?;
        let start: usize = array.getattr("offset")?.extract()?;
        let buffers: Vec<Bound<'_, PyAny>> = array.call_method0("buffers")?.extract()?;
        let ends = bytes(&buffers[1], 8 * start, 8 * (start + length + 1))?;
        let ends = ends.as_chunks().0.iter().map(|&end| usize::from_le_bytes(end)).collect::<Vec<_>>();
        let (first, last) = (ends[0], ends[length]);
        let text = if first == last { None } else { Some(bytes(&buffers[2], first, last)?) };
        let text = text.as_deref().unwrap_or_default();
        let damaged = || DataError::new_err(format!("{what} are not UTF-8; convert the file to UTF-8"));
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

/// Captions of a column: the number of each row's, and their texts.
pub(crate) fn captions(array: &Bound<'_, PyAny>) -> PyResult<(Vec<usize>, Texts)> {
    let (mut counts, mut texts) = (Vec::new(), Texts::default());
    for chunk in chunks(array)? {
        let kind = value_kind(&chunk)?;
        if is_text(&kind) {
            texts.extend(&chunk, "the captions")?;
            counts.resize(counts.len() + chunk.len()?, 1);
            continue;
        }
        check_no_nulls(&chunk, "the lists of captions")?;
        let is_list = ["list", "large_list", "fixed_size_list"].iter().any(|name| kind.starts_with(name));
        let values = if is_list { Some(chunk.call_method0("flatten")?) } else { None };
        let Some(values) = values.filter(|values| value_kind(values).is_ok_and(|kind| is_text(&kind))) else {
            return Err(DataError::new_err(format!(
                "the captions are of the Arrow type {kind}; it must be string or list of string"
            )));
        };
        texts.extend(&values, "the captions")?;
        if chunk.len()? > 0 {
            let lengths = chunk.call_method0("value_lengths")?.call_method1("cast", ("int64",))?;
            let start: usize = lengths.getattr("offset")?.extract()?;
            let buffers: Vec<Bound<'_, PyAny>> = lengths.call_method0("buffers")?.extract()?;
            let lengths = bytes(&buffers[1], 8 * start, 8 * (start + chunk.len()?))?;
            counts.extend(lengths.as_chunks().0.iter().map(|&length| usize::from_le_bytes(length)));
        }
    }
    Ok((counts, texts))
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

fn is_whole(kind: &str) -> bool {
    ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"].contains(&kind)
}

fn check_no_nulls(chunk: &Bound<'_, PyAny>, what: &str) -> PyResult<()> {
    let nulls: usize = chunk.getattr("null_count")?.extract()?;
    if nulls == 0 {
        return Ok(());
    }
    Err(DataError::new_err(format!("{what} have {nulls} nulls; remove their rows")))
}

/// Bytes of a buffer of Arrow.
fn bytes(buffer: &Bound<'_, PyAny>, start: usize, end: usize) -> PyResult<PyBackedBytes> {
    let view = PyMemoryView::from(buffer)?;
    let slice = PySlice::new(buffer.py(), start.cast_signed(), end.cast_signed(), 1);
    Ok(view.get_item(slice)?.call_method0("tobytes")?.extract()?)
}
