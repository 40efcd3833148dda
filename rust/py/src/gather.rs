//! Captions from Python objects: the one rule of image ids and of holes; offenders are counted, or noted row by row.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyFloat, PyFrozenSet, PyInt, PyList, PyMapping, PyMemoryView, PySet, PySlice,
    PyString, PyTuple,
};
use sacrecap_core::numeric::part;
use sacrecap_core::read::{MEND_SURROGATES, Tally};
use sacrecap_core::text::captions::{Captions, CaptionsBuilder};

use crate::convert::DataError;

/// Takes image ids with their captions, as Python has them.
#[derive(Default)]
pub(crate) struct Gather {
    pub(crate) builder: CaptionsBuilder,
    pub(crate) offenders: Option<Tally>,
    /// What is wrong with rows, by their numbers, where these are noted and no error.
    pub(crate) bad: Option<Vec<(usize, String)>>,
}

impl Gather {
    /// An image id as text; `None`, and an offence, when it is not an id.
    pub(crate) fn id(&mut self, id: &Bound<'_, PyAny>, row: Option<usize>) -> PyResult<Option<String>> {
        let read = id_text(id)?;
        Ok(read.map_err(|reason| self.offend(None, row, "the image id", &reason)).ok())
    }

    /// Adds one caption, or a list of them, to an image; of an empty list the image has none.
    pub(crate) fn captions(&mut self, id: &str, value: &Bound<'_, PyAny>, row: Option<usize>) -> PyResult<()> {
        if value.is_instance_of::<PyString>() {
            return self.caption(id, value, row);
        }
        let is_usual = value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>();
        if !is_usual && let Some(inner) = inside(value) {
            return self.captions(id, &inner, row);
        }
        let captions = if is_usual || is_list(value) { value.try_iter().ok() } else { None };
        let Some(captions) = captions else {
            if is_missing(value) {
                return self.caption(id, value, row);
            }
            let reason = format!("{}; it must be a string or a list of strings", kind(value)?);
            self.offend(Some(id), row, "the caption", &reason);
            return Ok(());
        };
        self.builder.image(id);
        let mut several = captions.peekable();
        if is_usual
            && value.len()? == 1
            && let Some(Ok(only)) = several.peek()
            && (only.is_instance_of::<PyList>() || only.is_instance_of::<PyTuple>())
        {
            return self.captions(id, &only.clone(), row); // a batch of one
        }
        for caption in several {
            self.caption(id, &caption?, row)?;
        }
        Ok(())
    }

    fn caption(&mut self, id: &str, caption: &Bound<'_, PyAny>, row: Option<usize>) -> PyResult<()> {
        match caption.cast::<PyString>().map(|text| text.to_str()) {
            Ok(Ok(text)) => self.builder.caption(id, text),
            Ok(Err(_)) => self.offend(Some(id), row, "the caption", HALF),
            Err(_) if is_missing(caption) => self.builder.caption(id, ""),
            Err(_) => {
                if let Some(inner) = inside(caption) {
                    return self.caption(id, &inner, row);
                }
                let reason = format!("{}; captions must be strings", kind(caption)?);
                self.offend(Some(id), row, "the caption", &reason);
            }
        }
        Ok(())
    }

    /// Counts an offender: `what` of the image or row is `fault`.
    pub(crate) fn offend(&mut self, image: Option<&str>, row: Option<usize>, what: &str, fault: &str) {
        if let (Some(bad), Some(row)) = (&mut self.bad, row) {
            let remedy = if fault == HALF { format!("; {MEND_SURROGATES}") } else { String::new() };
            return bad.push((row, format!("{what} is {fault}{remedy}")));
        }
        let name = match (image, row) {
            (Some(image), _) => format!("image {image}"),
            (None, Some(row)) => format!("row {row}"),
            (None, None) => "an image".to_owned(),
        };
        match &mut self.offenders {
            Some(tally) => tally.add(name),
            None if fault == HALF => {
                self.offenders = Some(Tally::new(format!("{what} of {name} is {HALF}; {MEND_SURROGATES}"), name));
            }
            None => self.offenders = Some(Tally::new(format!("{what} of {name} is {fault}"), name)),
        }
    }

    /// The captions, or a `DataError` that reports the offenders.
    pub(crate) fn finish(self) -> PyResult<Captions> {
        match self.offenders {
            None => Ok(self.builder.finish()),
            Some(tally) => Err(DataError::new_err(tally.sentence())),
        }
    }
}

/// The error for a text that UTF-8 cannot hold.
const HALF: &str = "not text: it holds half a surrogate pair";

/// The numbers above which a float does not tell all whole numbers apart.
const WHOLE_FLOATS: f64 = 9_007_199_254_740_992.0;

/// An image id as text: a text, a whole number, or a float without fraction, which is that whole number; also as a scalar
/// of NumPy, Arrow or PyTorch. Else what it is instead.
pub(crate) fn id_text(id: &Bound<'_, PyAny>) -> PyResult<Result<String, String>> {
    let accepted = "image ids must be strings or whole numbers";
    if let Ok(text) = id.cast::<PyString>() {
        return Ok(match text.to_str() {
            Ok(text) if text.trim().is_empty() => Err(format!("empty; drop such rows, or give them ids ({accepted})")),
            Ok(text) => Ok(text.to_owned()),
            Err(_) => Err(HALF.to_owned()),
        });
    }
    if let Ok(number) = id.cast_exact::<PyFloat>() {
        let number = number.extract::<f64>()?;
        return Ok(if number.is_nan() {
            Err(format!("NaN, so there is none; drop such rows, or give them ids ({accepted})"))
        } else if number.abs() >= WHOLE_FLOATS {
            Err(format!("the number {number:e}, of which a float has lost the last digits; read ids as text or int64"))
        } else if number.fract() == 0.0 {
            Ok(format!("{}", number as i64))
        } else {
            Err(format!("the number {number}; {accepted}: make them such by .astype(\"int64\") or .astype(str)"))
        });
    }
    if id.is_instance_of::<PyBool>() || id.is_none() {
        return Ok(Err(format!("{}; {accepted}", kind(id)?)));
    }
    if id.is_instance_of::<PyInt>()
        && let Ok(digits) = id.str()
    {
        return Ok(Ok(digits.to_str()?.to_owned()));
    }
    for scalar in ["as_py", "item"] {
        if let Ok(inner) = id.call_method0(scalar)
            && !inner.is(id)
            && !inner.hasattr(scalar)?
        {
            return id_text(&inner);
        }
    }
    if let Ok(digits) = id.call_method0("__index__").and_then(|number| number.str()) {
        return Ok(Ok(digits.to_str()?.to_owned()));
    }
    match id.call_method0("__float__") {
        Ok(number) if number.is_exact_instance_of::<PyFloat>() => id_text(&number),
        _ => Ok(Err(format!("{}; {accepted}", kind(id)?))),
    }
}

/// What stands in an annotation, `{"caption": "a dog"}`, as pycocoevalcap has them, and in a scalar of Arrow.
fn inside<'py>(value: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    if is_mapping(value) {
        return value.get_item("caption").ok();
    }
    let is_scalar = value.hasattr("as_py").is_ok_and(|has| has);
    if is_scalar { value.call_method0("as_py").ok().filter(|inner| !inner.is(value)) } else { None }
}

/// Whether a value stands for a missing caption, which is an empty one: None, NaN, pandas' NA and NaT.
fn is_missing(value: &Bound<'_, PyAny>) -> bool {
    value.is_none()
        || value.extract::<f64>().is_ok_and(f64::is_nan)
        || value.get_type().name().is_ok_and(|name| name == "NAType" || name == "NaTType")
}

/// Whether it is a mapping; what captions usually are is told at once.
fn is_mapping(value: &Bound<'_, PyAny>) -> bool {
    !value.is_instance_of::<PyString>() && !value.is_instance_of::<PyList>() && value.cast::<PyMapping>().is_ok()
}

/// Whether iterating over the value gives captions in an order: not so for bytes, mappings, sets, tables.
fn is_list(value: &Bound<'_, PyAny>) -> bool {
    let is_table = ["iterrows", "column_names", "columns", "read"];
    !(value.is_none()
        || value.is_instance_of::<PyBytes>()
        || value.is_instance_of::<PyByteArray>()
        || value.is_instance_of::<PySet>()
        || value.is_instance_of::<PyFrozenSet>()
        || is_mapping(value)
        || is_table.iter().any(|name| value.hasattr(name).is_ok_and(|has| has)))
}

/// Names the kind of a value.
pub(crate) fn kind(value: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(if value.is_none() { "None".to_owned() } else { format!("of type {}", value.get_type().name()?) })
}

// Columns of Arrow, as pyarrow's arrays hold them: the texts are copied out of its buffers, and no object of Python is
// made of any of them.

/// The texts of a column, one after the other.
#[derive(Default)]
pub(crate) struct Texts {
    pub(crate) text: String,
    pub(crate) ends: Vec<usize>,
}

impl Texts {
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.ends.len()).map(|place| &self.text[part(&self.ends, place)])
    }

    /// Adds those of an array of the type large_string.
    fn extend(&mut self, chunk: &Bound<'_, PyAny>) -> PyResult<()> {
        let length = chunk.len()?;
        if length == 0 {
            return Ok(());
        }
        let ends = numbers(chunk, length + 1)?;
        let (first, last) = (ends[0], ends[length]);
        let text = chunk.call_method0("buffers")?.get_item(2)?;
        let text = if first == last { None } else { Some(bytes(&text, first, last)?) };
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

/// The number of captions of each row of an array of strings or lists of strings, and the captions, where a null is an
/// empty one; `None` for anything else, whose values are looked at one by one.
pub(crate) fn cells(array: &Bound<'_, PyAny>) -> PyResult<Option<(Vec<usize>, Texts)>> {
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
        if chunk.len()? > 0 {
            let lengths = chunk.call_method0("value_lengths")?.call_method1("cast", ("int64",))?;
            counts.extend(numbers(&lengths, lengths.len()?)?);
        }
    }
    Ok(Some((counts, texts)))
}

/// The strings, with empty ones in the place of nulls.
fn without_nulls<'py>(chunk: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let nulls: usize = chunk.getattr("null_count")?.extract()?;
    // Of every type of strings (views, dictionaries, short offsets) Arrow makes this one, the last two without a copy of the
    // text.
    let chunk = chunk.call_method1("cast", ("large_string",))?;
    if nulls == 0 { Ok(chunk) } else { chunk.call_method1("fill_null", ("",)) }
}

/// So many 64-bit numbers of an array, none of which is null, or ends of its strings.
fn numbers(array: &Bound<'_, PyAny>, count: usize) -> PyResult<Vec<usize>> {
    let start: usize = array.getattr("offset")?.extract()?;
    let buffer = array.call_method0("buffers")?.get_item(1)?;
    let numbers = bytes(&buffer, 8 * start, 8 * (start + count))?;
    Ok(numbers.as_chunks().0.iter().map(|&number| usize::from_le_bytes(number)).collect())
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
