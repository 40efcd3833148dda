//! Captions from Python objects: ids and texts are checked one by one, offenders are counted.
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyFrozenSet, PyList, PyMapping, PySet, PyString};
use sacrecap_core::read::{MEND_SURROGATES, Tally};
use sacrecap_core::text::captions::{Captions, CaptionsBuilder};

use crate::errors::DataError;

/// Takes image ids with their captions, as Python has them.
#[derive(Default)]
pub(crate) struct Gather {
    builder: CaptionsBuilder,
    offenders: Option<Tally>,
}

impl Gather {
    /// An image id as text; `None`, and an offence, when it is not an id.
    pub(crate) fn id(&mut self, id: &Bound<'_, PyAny>, row: Option<usize>) -> PyResult<Option<String>> {
        if let Ok(text) = id.cast::<PyString>() {
            let read = text.to_str().map(str::to_owned);
            return Ok(read.map_err(|_| self.offend(None, row, "the image id", HALF)).ok());
        }
        if !id.is_instance_of::<PyBool>()
            && let Ok(digits) = id.call_method0("__index__").and_then(|number| number.str())
        {
            return Ok(Some(digits.to_str()?.to_owned()));
        }
        let found = format!("{}; image ids must be strings or whole numbers", kind(id)?);
        self.offend(None, row, "the image id", &found);
        Ok(None)
    }

    /// Gives an image its place; returns its number.
    pub(crate) fn image(&mut self, id: &str) -> u32 {
        self.builder.image(id)
    }

    /// Adds one caption, or a list of them, to an image.
    pub(crate) fn captions(&mut self, id: &str, value: &Bound<'_, PyAny>, row: Option<usize>) -> PyResult<()> {
        if let Some(inner) = annotated(value) {
            return self.captions(id, &inner, row);
        }
        if value.is_instance_of::<PyString>() {
            return self.caption(id, value, row);
        }
        let captions = if is_list(value) { value.try_iter().ok() } else { None };
        let Some(captions) = captions else {
            if is_missing(value) {
                return self.caption(id, value, row);
            }
            let found = format!("{}; it must be a string or a list of strings", kind(value)?);
            self.offend(Some(id), row, "the caption", &found);
            return Ok(());
        };
        self.image(id);
        for caption in captions {
            self.caption(id, &caption?, row)?;
        }
        Ok(())
    }

    fn caption(&mut self, id: &str, caption: &Bound<'_, PyAny>, row: Option<usize>) -> PyResult<()> {
        if let Some(inner) = annotated(caption) {
            return self.caption(id, &inner, row);
        }
        match caption.cast::<PyString>().map(|text| text.to_str()) {
            Ok(Ok(text)) => self.builder.caption(id, text),
            Ok(Err(_)) => self.offend(Some(id), row, "the caption", HALF),
            Err(_) if is_missing(caption) => self.builder.caption(id, ""),
            Err(_) => {
                let found = format!("{}; captions must be strings", kind(caption)?);
                self.offend(Some(id), row, "the caption", &found);
            }
        }
        Ok(())
    }

    /// Counts an image whose id came before.
    pub(crate) fn repeated(&mut self, id: &str) {
        self.offend(Some(id), None, "the id", "given twice, as a number and as text; keep one of them");
    }

    /// Counts an offender: `what` of the image or row is `found`.
    fn offend(&mut self, image: Option<&str>, row: Option<usize>, what: &str, found: &str) {
        let name = match (image, row) {
            (Some(image), _) => format!("image {image}"),
            (None, Some(row)) => format!("row {row}"),
            (None, None) => "an image".to_owned(),
        };
        match &mut self.offenders {
            Some(tally) => tally.add(name),
            None if found == HALF => {
                self.offenders = Some(Tally::new(format!("{what} of {name} is {HALF}; {MEND_SURROGATES}"), name));
            }
            None => self.offenders = Some(Tally::new(format!("{what} of {name} is {found}"), name)),
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

/// The caption of an annotation, `{"caption": "a dog"}`, as pycocoevalcap has them.
fn annotated<'py>(value: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    if is_mapping(value) { value.get_item("caption").ok() } else { None }
}

/// Whether a value stands for a missing caption, which is an empty one: None, NaN, pandas' NA.
fn is_missing(value: &Bound<'_, PyAny>) -> bool {
    value.is_none()
        || value.extract::<f64>().is_ok_and(f64::is_nan)
        || value.get_type().name().is_ok_and(|name| name == "NAType")
}

/// Whether it is a mapping; what captions usually are is told at once.
fn is_mapping(value: &Bound<'_, PyAny>) -> bool {
    !value.is_instance_of::<PyString>() && !value.is_instance_of::<PyList>() && value.cast::<PyMapping>().is_ok()
}

/// Whether iterating over the value gives captions in an order: not so for bytes, mappings and sets.
fn is_list(value: &Bound<'_, PyAny>) -> bool {
    !(value.is_instance_of::<PyBytes>()
        || value.is_instance_of::<PyByteArray>()
        || value.is_instance_of::<PySet>()
        || value.is_instance_of::<PyFrozenSet>()
        || is_mapping(value))
}

/// Names the kind of a value.
pub(crate) fn kind(value: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(if value.is_none() { "None".to_owned() } else { format!("of type {}", value.get_type().name()?) })
}
