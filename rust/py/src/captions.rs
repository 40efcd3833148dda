//! Captions for Python: read-only, and kept in Rust until one is requested.
use std::collections::BTreeMap;
use std::sync::Arc;

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyDict, PyList, PyMapping};
use sacrecap_core::read;
use sacrecap_core::text::captions::{
    Captions as CoreCaptions, CaptionsBuilder as CoreCaptionsBuilder, begins_written, digest_of_captions,
};

use crate::convert::{Array, DataError, check_index, data_error};
use crate::gather::{Gather, cells, id_text, is_arrow, kind};

/// What is known of captions beside their texts.
#[derive(Clone, Default, FromPyObject, IntoPyObject)]
pub(crate) struct Origin {
    /// Name, in messages, of the file they came from.
    #[pyo3(item)]
    source: Option<String>,
    /// How many of the file's were left out, by the reason.
    #[pyo3(item)]
    left_out: BTreeMap<String, usize>,
}

/// Captions of many images, in the order of the file they came from.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct Captions {
    pub(crate) inner: Arc<CoreCaptions>,
    origin: Origin,
}

impl Captions {
    fn new(captions: CoreCaptions) -> Self {
        Self { inner: Arc::new(captions), origin: Origin::default() }
    }

    /// Other captions of the same origin.
    fn with(&self, captions: CoreCaptions) -> Self {
        Self { inner: Arc::new(captions), origin: self.origin.clone() }
    }

    /// The images of the captions that are so, once for each.
    fn images_where(&self, is_so: impl Fn(&str) -> bool) -> Vec<&str> {
        let images = self.inner.images().enumerate();
        images.flat_map(|(image, id)| self.texts(image).filter(|text| is_so(text)).map(move |_| id)).collect()
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
        let read = py.detach(|| read::usual(bytes)).map_err(|error| PyMemoryError::new_err(error.to_string()))?;
        let whole = read.filter(|file| file.captions.images().all(|id| !id.trim().is_empty()));
        Ok(whole.map(|file| (Self::new(file.captions), file.shape, file.names)))
    }

    /// Takes a mapping from image id (text or whole number) to a caption or a list of captions.
    #[staticmethod]
    fn from_dict(captions: &Bound<'_, PyAny>) -> PyResult<Self> {
        let Ok(mapping) = captions.cast::<PyMapping>() else {
            let given_kind = kind(captions)?;
            return Err(DataError::new_err(format!(
                "captions must be a mapping from image id to a caption or a list of captions, not {given_kind}"
            )));
        };
        let mut gather = Gather::default();
        let mut images = 0;
        for item in mapping.items()? {
            let (id, value) = item.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
            let Some(id) = gather.id(&id, None)? else { continue };
            if gather.builder.image(&id) == images {
                images += 1;
                gather.captions(&id, &value, None)?;
            } else {
                gather.offend(Some(&id), None, "the id", "given twice, as a number and as text; keep one of them");
            }
        }
        Ok(Self::new(gather.finish()?))
    }

    /// Images with their captions, in order, and what messages call them.
    #[staticmethod]
    fn of_images(images: Vec<(String, Vec<String>)>, source: Option<String>) -> Self {
        let mut builder = CoreCaptionsBuilder::default();
        for (id, captions) in &images {
            builder.image(id);
            for caption in captions {
                builder.caption(id, caption);
            }
        }
        Self { origin: Origin { source, ..Origin::default() }, ..Self::new(builder.finish()) }
    }

    /// The captions of the images of these numbers, under these ids; None for an image with an empty caption.
    fn aligned(&self, py: Python<'_>, ids: Vec<PyBackedStr>, images: Vec<Option<usize>>) -> PyResult<Self> {
        images.iter().flatten().try_for_each(|&image| check_index("image", image, self.inner.image_count()))?;
        py.detach(|| {
            let (mut text, mut ends, mut counts) = (String::new(), Vec::new(), Vec::with_capacity(images.len()));
            for &image in &images {
                let before = ends.len();
                for caption in image.map_or_else(|| 0..0, |image| self.inner.captions_of(image)) {
                    text.push_str(self.inner.caption(caption));
                    ends.push(text.len());
                }
                if image.is_none() {
                    ends.push(text.len());
                }
                counts.push(ends.len() - before);
            }
            let captions = CoreCaptions::of_columns(ids.iter().map(|id| &**id), &counts, &ends, text);
            captions.map(|inner| self.with(inner)).map_err(data_error)
        })
    }

    /// What `__reduce__` took apart: ids, the captions as text and where each ends, and how many each image has.
    #[staticmethod]
    fn restored(
        ids: Vec<PyBackedStr>,
        captions: (String, Array<usize>),
        counts: Array<usize>,
        origin: Origin,
    ) -> PyResult<Self> {
        let (text, Array(ends)) = captions;
        let captions = CoreCaptions::of_columns(ids.iter().map(|id| &**id), &counts.0, &ends, text);
        Ok(Self { origin, ..Self::new(captions.map_err(data_error)?) })
    }

    /// For `pickle` and `copy`.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<impl IntoPyObject<'py>> {
        let (mut text, mut ends) = (String::new(), Vec::new());
        for caption in (0..self.inner.image_count()).flat_map(|image| self.texts(image)) {
            text.push_str(caption);
            ends.push(text.len());
        }
        let ids: Vec<String> = self.inner.images().map(str::to_owned).collect();
        let arguments = (ids, (text, Array(ends)), Array(self.caption_counts()), self.origin.clone());
        Ok((py.get_type::<Self>().getattr("restored")?, arguments))
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

    /// The images of the captions that hold this text, once for each.
    fn that_hold(&self, text: &str) -> Vec<&str> {
        if self.inner.may_hold(text) { self.images_where(|caption| caption.contains(text)) } else { Vec::new() }
    }

    /// The images of the captions that begin as the text of a list, tuple, array or bytes does, once for each.
    fn that_begin_written(&self) -> Vec<&str> {
        self.images_where(begins_written)
    }

    /// The captions of the images at these places.
    fn select(&self, images: Vec<usize>) -> PyResult<Self> {
        let mut builder = CoreCaptionsBuilder::default();
        for image in images {
            check_index("image", image, self.inner.image_count())?;
            let number = builder.image(self.inner.image_id(image));
            self.texts(image).for_each(|text| builder.caption_of(number, text));
        }
        Ok(self.with(builder.finish()))
    }

    /// The same images without captions that are empty, which are left out, and the images of these, once for each.
    fn without_empty(&self) -> (Self, Vec<&str>) {
        let empty = self.images_where(|text| text.trim().is_empty());
        if empty.is_empty() {
            return (Self { inner: self.inner.clone(), origin: self.origin.clone() }, empty);
        }
        let mut builder = CoreCaptionsBuilder::default();
        for (image, id) in self.inner.images().enumerate() {
            let number = builder.image(id);
            let texts = self.texts(image).filter(|text| !text.trim().is_empty());
            texts.for_each(|text| builder.caption_of(number, text));
        }
        (self.with(builder.finish()).leaving_out("blank reference", empty.len()), empty)
    }

    /// The digest of the captions of these images, in their order; see `text::digest`.
    #[pyo3(signature = (images, in_order=false))]
    fn digest(&self, py: Python<'_>, images: Vec<PyBackedStr>, in_order: bool) -> u32 {
        py.detach(|| digest_of_captions(&self.inner, images.iter().map(|id| &**id), in_order))
    }

    /// The same captions, with another name for messages.
    fn named(&self, source: String) -> Self {
        Self { inner: self.inner.clone(), origin: Origin { source: Some(source), ..self.origin.clone() } }
    }

    /// The texts of a mapping, as `from_dict` takes it, in the place of these.
    fn with_texts(&self, captions: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { origin: self.origin.clone(), ..Self::from_dict(captions)? })
    }

    /// The same captions, of which so many more were left out for this reason.
    fn leaving_out(&self, reason: &str, count: usize) -> Self {
        let mut origin = self.origin.clone();
        if count > 0 {
            *origin.left_out.entry(reason.to_owned()).or_default() += count;
        }
        Self { inner: self.inner.clone(), origin }
    }

    /// How many captions or images of the file were left out, by the reason.
    #[getter]
    fn left_out(&self) -> BTreeMap<String, usize> {
        self.origin.left_out.clone()
    }

    /// Name, in messages, of the file they came from; None for captions given as a mapping.
    #[getter]
    fn source(&self) -> Option<&str> {
        self.origin.source.as_deref()
    }

    /// Captions that cannot be scored: image id and what is wrong.
    fn problems(&self) -> Vec<(&str, String)> {
        self.inner.problems().map(|(image, problem)| (self.inner.image_id(image), problem)).collect()
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
    /// The number of the next row.
    next: usize,
}

#[pymethods]
impl CaptionsBuilder {
    /// `first`: the number of the first row in messages; `lenient`: what is wrong with a row is noted, and no error.
    #[new]
    #[pyo3(signature = (first=1, lenient=false))]
    fn new(first: usize, lenient: bool) -> Self {
        Self { gather: Gather { bad: lenient.then(Vec::new), ..Gather::default() }, next: first }
    }

    /// Adds rows: for each, an image id, and a caption or a list of captions; each side a list, or an array of Arrow.
    fn extend(&mut self, image_ids: &Bound<'_, PyAny>, captions: &Bound<'_, PyAny>) -> PyResult<()> {
        let ids = objects(image_ids)?;
        if let Some((counts, texts)) = cells(captions)? {
            check_rows(ids.len(), counts.len())?;
            let mut texts = texts.iter();
            for (id, count) in ids.iter().zip(counts) {
                let id = self.gather.id(&id, Some(self.next))?;
                self.next += 1;
                let image = id.map(|id| self.gather.builder.image(&id));
                for text in texts.by_ref().take(count) {
                    if let Some(image) = image {
                        self.gather.builder.caption_of(image, text);
                    }
                }
            }
            return Ok(());
        }
        let captions = objects(captions)?;
        check_rows(ids.len(), captions.len())?;
        for (id, value) in ids.iter().zip(captions) {
            if let Some(id) = self.gather.id(&id, Some(self.next))? {
                self.gather.captions(&id, &value, Some(self.next))?;
            }
            self.next += 1;
        }
        Ok(())
    }

    /// The rows that were noted: their numbers, and what is wrong.
    fn bad(&self) -> Vec<(usize, String)> {
        self.gather.bad.clone().unwrap_or_default()
    }

    /// The captions; the builder is empty afterwards.
    fn finish(&mut self) -> PyResult<Captions> {
        Ok(Captions::new(std::mem::take(self).gather.finish()?))
    }
}

/// The values of a column: of a list, or of an array of Arrow.
fn objects<'py>(column: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    match column.cast::<PyList>() {
        Ok(list) => Ok(list.clone()),
        Err(_) if is_arrow(column) => Ok(column.call_method0("to_pylist")?.cast_into()?),
        Err(_) => Ok(column.py().get_type::<PyList>().call1((column,))?.cast_into()?),
    }
}

fn check_rows(ids: usize, captions: usize) -> PyResult<()> {
    let message =
        || DataError::new_err(format!("{ids} image ids for the captions of {captions} rows; give one id per row"));
    if ids == captions { Ok(()) } else { Err(message()) }
}

/// The digest of rows: each a key and a text; see `text::digest`.
#[pyfunction]
#[pyo3(name = "digest")]
pub(crate) fn digest_of_rows(keys: Vec<PyBackedStr>, texts: Vec<PyBackedStr>) -> PyResult<u32> {
    check_rows(keys.len(), texts.len())?;
    Ok(sacrecap_core::text::captions::digest_of_rows(keys.iter().zip(&texts).map(|(key, text)| (&**key, &**text))))
}

/// Image ids as text, by the same rule; a `DataError` names the first place, from 0, of what is none.
#[pyfunction]
pub(crate) fn image_ids(values: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let of = |(place, value): (usize, PyResult<Bound<'_, PyAny>>)| {
        id_text(&value?)?.map_err(|reason| DataError::new_err(format!("image id {place} is {reason}")))
    };
    values.try_iter()?.enumerate().map(of).collect()
}

/// Image ids of a text table: whole numbers, where a program wrote all of them as floats (`1.0`); else unchanged.
#[pyfunction]
pub(crate) fn whole_ids(ids: Vec<String>) -> Vec<String> {
    fn whole(id: &str) -> Option<&str> {
        let (digits, zeros) = id.split_once('.')?;
        let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        (is_whole && !zeros.is_empty() && zeros.bytes().all(|byte| byte == b'0')).then_some(digits)
    }
    let digits: Option<Vec<String>> = ids.iter().map(|id| whole(id).map(str::to_owned)).collect();
    digits.unwrap_or(ids)
}
