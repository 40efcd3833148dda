//! Captions for Python: read-only, and kept in Rust until one is requested.
use std::sync::Arc;

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyDict, PyList, PyMapping};
use sacrecap_core::read;
use sacrecap_core::text::captions::{Captions as CoreCaptions, CaptionsBuilder as CoreCaptionsBuilder, ColumnsError};

use crate::arrow::{self, Texts};
use crate::convert::check_index;
use crate::errors::{DataError, UsageError};
use crate::gather::{Gather, kind};

/// Arguments of `Captions.restored`.
type Apart<'py> = ((String, Vec<usize>), (String, Bound<'py, PyBytes>), Bound<'py, PyBytes>, Option<String>);

/// Numbers as little-endian u64.
fn packed<'py>(py: Python<'py>, numbers: &[usize]) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &numbers.iter().flat_map(|&number| (number as u64).to_le_bytes()).collect::<Vec<u8>>())
}

fn sizes(bytes: &[u8]) -> Vec<usize> {
    bytes.as_chunks().0.iter().map(|&number| u64::from_le_bytes(number) as usize).collect()
}

fn of_columns(error: ColumnsError) -> PyErr {
    match error {
        ColumnsError::Repeated(id) => DataError::new_err(format!("the image id {id} is there twice")),
        ColumnsError::Cut => DataError::new_err("the lists of captions are not cut where they say"),
    }
}

/// Captions of many images, in the order of the file they came from.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct Captions {
    pub(crate) inner: Arc<CoreCaptions>,
    /// Name, in messages, of the file they came from.
    source: Option<String>,
}

impl Captions {
    fn new(captions: CoreCaptions) -> Self {
        Self { inner: Arc::new(captions), source: None }
    }

    fn texts(&self, image: usize) -> impl ExactSizeIterator<Item = &str> {
        self.inner.captions_of(image).map(|caption| self.inner.caption(caption))
    }
}

#[pymethods]
impl Captions {
    /// Reads a file as it usually is: its captions, its shape, and the keys of its rows; None for any other.
    #[staticmethod]
    fn usual(py: Python<'_>, data: &Bound<'_, PyBytes>) -> PyResult<Option<(Self, &'static str, Vec<String>)>> {
        let bytes = data.as_bytes();
        let found = py.detach(|| read::usual(bytes)).map_err(|error| PyMemoryError::new_err(error.to_string()))?;
        Ok(found.map(|found| (Self::new(found.captions), found.shape, found.names)))
    }

    /// Takes a mapping from image id (text or whole number) to a caption or a list of captions.
    #[staticmethod]
    fn from_dict(captions: &Bound<'_, PyAny>) -> PyResult<Self> {
        let Ok(mapping) = captions.cast::<PyMapping>() else {
            let found = kind(captions)?;
            return Err(DataError::new_err(format!(
                "captions must be a mapping from image id to a caption or a list of captions, not {found}"
            )));
        };
        let mut gather = Gather::default();
        let mut images = 0;
        for item in mapping.items()? {
            let (id, value) = item.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
            let Some(id) = gather.id(&id, None)? else { continue };
            if gather.image(&id) == images {
                images += 1;
                gather.captions(&id, &value, None)?;
            } else {
                gather.repeated(&id);
            }
        }
        Ok(Self::new(gather.finish()?))
    }

    /// Takes columns of Arrow: a row per image, with its id and a caption or a list of captions.
    #[staticmethod]
    fn of_arrow(ids: &Bound<'_, PyAny>, captions: &Bound<'_, PyAny>) -> PyResult<Self> {
        let ids = Texts::of(ids, "the image ids")?;
        let (counts, texts) = arrow::captions(captions)?;
        if ids.len() != counts.len() {
            let message = format!("{} image ids for the captions of {} images", ids.len(), counts.len());
            return Err(UsageError::new_err(message));
        }
        let captions = CoreCaptions::of_columns(ids.iter(), &counts, &texts.ends, texts.text);
        captions.map(Self::new).map_err(of_columns)
    }

    /// Images with their captions, in order, and what messages call them.
    #[staticmethod]
    fn of_images(images: Vec<(String, Vec<String>)>, source: Option<String>) -> Self {
        let mut builder = CoreCaptionsBuilder::new();
        for (id, captions) in &images {
            builder.image(id);
            for caption in captions {
                builder.caption(id, caption);
            }
        }
        Self { source, ..Self::new(builder.finish()) }
    }

    /// The captions of the images of these numbers, under these ids; None for an image with an empty caption.
    fn aligned(&self, py: Python<'_>, ids: Vec<PyBackedStr>, images: Vec<Option<usize>>) -> PyResult<Self> {
        images.iter().flatten().try_for_each(|&image| check_index("image", image, self.inner.image_count()))?;
        py.detach(|| {
            let (mut text, mut ends, mut counts) = (String::new(), Vec::new(), Vec::with_capacity(images.len()));
            for &image in &images {
                let before = ends.len();
                for own in image.map_or_else(|| 0..0, |image| self.inner.captions_of(image)) {
                    text.push_str(self.inner.caption(own));
                    ends.push(text.len());
                }
                if image.is_none() {
                    ends.push(text.len());
                }
                counts.push(ends.len() - before);
            }
            let captions = CoreCaptions::of_columns(ids.iter().map(|id| &**id), &counts, &ends, text);
            captions.map(|inner| Self { source: self.source.clone(), ..Self::new(inner) }).map_err(of_columns)
        })
    }

    /// What `__reduce__` took apart: the ids and the captions as text and where each ends, and how many each image has.
    #[staticmethod]
    fn restored(
        ids: (String, Vec<usize>),
        captions: (String, PyBackedBytes),
        counts: PyBackedBytes,
        source: Option<String>,
    ) -> PyResult<Self> {
        let starts = std::iter::once(0).chain(ids.1.iter().copied());
        let ids: Option<Vec<&str>> = starts.zip(&ids.1).map(|(start, &end)| ids.0.get(start..end)).collect();
        let ids = ids.ok_or_else(|| of_columns(ColumnsError::Cut))?;
        let (counts, ends) = (sizes(&counts), sizes(&captions.1));
        let inner = CoreCaptions::of_columns(ids.into_iter(), &counts, &ends, captions.0).map_err(of_columns)?;
        Ok(Self { source, ..Self::new(inner) })
    }

    /// For `pickle` and `copy`.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Apart<'py>)> {
        let joined = |texts: &mut dyn Iterator<Item = &str>| {
            let (mut text, mut ends) = (String::new(), Vec::new());
            for own in texts {
                text.push_str(own);
                ends.push(text.len());
            }
            (text, ends)
        };
        let inner = &self.inner;
        let (text, ends) = joined(&mut (0..inner.image_count()).flat_map(|image| self.texts(image)));
        let counts = packed(py, &self.caption_counts());
        let made = (joined(&mut inner.images()), (text, packed(py, &ends)), counts, self.source.clone());
        Ok((py.get_type::<Self>().getattr("restored")?, made))
    }

    /// The captions as a dictionary from image id to list of captions.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (image, id) in self.inner.images().enumerate() {
            dict.set_item(id, PyList::new(py, self.texts(image))?)?;
        }
        Ok(dict)
    }

    /// The captions of one image, whose id is text or a whole number.
    fn captions<'py>(&self, image_id: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let mut gather = Gather::default();
        let Some(id) = gather.id(image_id, None)? else {
            return Err(gather.finish().expect_err("a value that is not an id was counted"));
        };
        match self.inner.image(&id) {
            Some(image) => PyList::new(image_id.py(), self.texts(image)),
            None => Err(DataError::new_err(format!("no image has the id {id}"))),
        }
    }

    /// The image ids, in order.
    #[getter]
    fn image_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.inner.images())
    }

    /// How many captions each image has, in order.
    fn caption_counts(&self) -> Vec<usize> {
        (0..self.inner.image_count()).map(|image| self.inner.captions_of(image).len()).collect()
    }

    /// The images of the captions that are one of these words, whatever the case and the blanks around, once for each.
    fn that_are(&self, words: Vec<String>) -> Vec<&str> {
        let longest = words.iter().map(String::len).max().unwrap_or_default();
        let is_one = |caption: &&str| {
            let text = caption.trim();
            text.len() <= longest && words.contains(&text.to_lowercase())
        };
        let images = self.inner.images().enumerate();
        images.flat_map(|(image, id)| self.texts(image).filter(is_one).map(move |_| id)).collect()
    }

    /// The images of the captions that hold this text, once for each.
    fn that_hold(&self, text: &str) -> Vec<&str> {
        if !self.inner.may_hold(text) {
            return Vec::new();
        }
        let images = self.inner.images().enumerate();
        images.flat_map(|(image, id)| self.texts(image).filter(|own| own.contains(text)).map(move |_| id)).collect()
    }

    /// The same captions, with another name for messages.
    fn named(&self, source: String) -> Self {
        Self { inner: self.inner.clone(), source: Some(source) }
    }

    /// Name, in messages, of the file they came from; None for captions given as a mapping.
    #[getter]
    fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// Captions that cannot be scored: image id and what is wrong.
    fn problems(&self) -> Vec<(&str, String)> {
        self.inner.problems().map(|(image, problem)| (self.inner.image_id(image), problem.to_string())).collect()
    }

    fn __contains__(&self, image_id: &str) -> bool {
        self.inner.image(image_id).is_some()
    }

    /// Number of images.
    #[getter]
    fn image_count(&self) -> usize {
        self.inner.image_count()
    }

    /// Number of captions over all images.
    #[getter]
    fn caption_count(&self) -> usize {
        self.inner.caption_count()
    }

    fn __len__(&self) -> usize {
        self.inner.image_count()
    }

    fn __repr__(&self) -> String {
        format!("<Captions: {} images, {} captions>", self.inner.image_count(), self.inner.caption_count())
    }
}

/// Collects captions from the columns of a table, batch by batch.
#[pyclass(module = "sacrecap._core")]
#[derive(Default)]
pub(crate) struct CaptionsBuilder {
    gather: Gather,
    rows: usize,
}

#[pymethods]
impl CaptionsBuilder {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Adds rows: for each, an image id, and a caption or a list of captions.
    fn extend(&mut self, image_ids: &Bound<'_, PyList>, captions: &Bound<'_, PyList>) -> PyResult<()> {
        for (id, value) in image_ids.iter().zip(captions) {
            self.rows += 1;
            if let Some(id) = self.gather.id(&id, Some(self.rows))? {
                self.gather.captions(&id, &value, Some(self.rows))?;
            }
        }
        Ok(())
    }

    /// The captions; the builder is empty afterwards.
    fn finish(&mut self) -> PyResult<Captions> {
        Ok(Captions::new(std::mem::take(self).gather.finish()?))
    }
}
