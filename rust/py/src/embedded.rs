//! Word vectors and objects for a corpus, VIFIDEL explained, and vectors of captions.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};
use sacrecap_core::metrics::embedded as core;
use sacrecap_core::metrics::embedded::{Objects, Term};
use sacrecap_core::metrics::vifidel::Vifidel;
use sacrecap_core::sentence_vectors as sentence;
use sacrecap_core::text::vocabulary::Vocabulary;

use crate::convert::{NamedParameters, check_index, core_parameters, floats, map_file, to_bytes};
use crate::corpus::Corpus;
use crate::errors::{UsageError, data_error, usage_error};

/// In the place of a row, for words and labels without one.
const UNKNOWN: i64 = -1;

/// Vectors of a corpus' words, and the objects of its images.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct Embedded(pub(crate) Arc<core::Embedded>);

fn term(code: i64) -> PyResult<Term> {
    match code {
        UNKNOWN => Ok(Term::Unknown),
        row => u32::try_from(row).map(Term::Known).map_err(|_| UsageError::new_err(format!("no row has number {row}"))),
    }
}

#[pymethods]
impl Embedded {
    /// `vectors`: float64, row by row; `words`: for each word of the vocabulary its rows, −1 for an unknown word, none for
    /// one to ignore; `objects`: labels per image, their rows likewise, their counts.
    #[new]
    #[pyo3(signature = (dimension, vectors, words, objects=None))]
    fn new(
        py: Python<'_>,
        dimension: usize,
        vectors: PyBackedBytes,
        words: Vec<Vec<i64>>,
        objects: Option<(Vec<usize>, Vec<i64>, Vec<f64>)>,
    ) -> PyResult<Self> {
        let terms = |rows: Vec<i64>| rows.into_iter().map(term).collect::<PyResult<Vec<_>>>();
        let words = words.into_iter().map(terms).collect::<PyResult<_>>()?;
        let objects = objects
            .map(|(sizes, rows, counts)| -> PyResult<Objects> {
                let labels = terms(rows)?.into_iter().zip(counts).collect();
                Objects::new(&sizes, labels).map_err(usage_error)
            })
            .transpose()?;
        let vectors = floats(&vectors)?;
        let embedded = py.detach(|| core::Embedded::new(dimension, vectors, words, objects));
        embedded.map(|embedded| Self(Arc::new(embedded))).map_err(usage_error)
    }

    /// The images of which WMD is not computed.
    fn beyond(&self, py: Python<'_>, corpus: &Bound<'_, Corpus>) -> Vec<usize> {
        let corpus = &corpus.get().0;
        py.detach(|| self.0.beyond(corpus))
    }

    /// VIFIDEL's plan, with these parameters, for an image's first candidate, by name: numbers as float64, known objects as
    /// numbers among the image's labels, words as rows.
    fn explain_vifidel<'py>(
        &self,
        py: Python<'py>,
        corpus: &Bound<'_, Corpus>,
        parameters: NamedParameters,
        image: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let refused = |reason: String| UsageError::new_err(format!("VIFIDEL {reason}"));
        let corpus = &corpus.get().0;
        check_index("image", image, corpus.candidates.image_count())?;
        let mut parameters = core_parameters(parameters);
        let built = Vifidel::new(&mut parameters).and_then(|metric| parameters.finish().map(|()| metric));
        let metric = built.map_err(|error| refused(error.to_string()))?;
        let explanation = py.detach(|| metric.explain(corpus, &self.0, image));
        let explanation = explanation.map_err(|missing| refused(missing.to_string()))?;
        let numbers = |values: &[f64]| -> Bound<'py, PyBytes> { to_bytes(py, values.iter().copied()) };
        let explained = PyDict::new(py);
        explained.set_item("objects", &explanation.objects)?;
        explained.set_item("words", &explanation.words)?;
        explained.set_item("reference_words", &explanation.reference_words)?;
        explained.set_item("object_weights", numbers(&explanation.weights[0]))?;
        explained.set_item("word_weights", numbers(&explanation.weights[1]))?;
        explained.set_item("object_importance", numbers(&explanation.importance[0]))?;
        explained.set_item("word_importance", numbers(&explanation.importance[1]))?;
        explained.set_item("cost", numbers(&explanation.cost))?;
        explained.set_item("plan", numbers(&explanation.plan))?;
        explained.set_item("distance", explanation.distance)?;
        explained.set_item("score", explanation.score)?;
        explained.set_item("coverage", explanation.coverage)?;
        Ok(explained)
    }
}

/// Vectors of word pieces, of which those of captions are made.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct SentenceVectors(pub(crate) Arc<sentence::SentenceVectors>);

#[pymethods]
impl SentenceVectors {
    /// Maps the file of a table.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let shared = map_file(&File::open(path)?)?;
        let read = py.detach(|| sentence::SentenceVectors::from_bytes(&shared));
        read.map(|table| Self(Arc::new(table))).map_err(data_error)
    }

    #[getter]
    fn checksum(&self) -> u32 {
        self.0.checksum()
    }

    /// Numbers of a vector.
    #[getter]
    fn width(&self) -> usize {
        self.0.width()
    }

    /// The pieces of a text that have a vector.
    fn pieces(&self, text: &str) -> Vec<&str> {
        self.0.pieces(text).into_iter().map(|piece| self.0.piece(piece)).collect()
    }

    /// The unit vector of each text, float32; of zeros for one without a known piece.
    fn read<'py>(&self, py: Python<'py>, texts: Vec<String>) -> Bound<'py, PyBytes> {
        let read = py.detach(|| {
            let mut vocabulary = Vocabulary::default();
            let numbers: Vec<_> = texts.iter().map(|text| vocabulary.intern(text)).collect();
            let spelled = sentence::Spelled::of(&self.0, &vocabulary);
            let (mut memory, mut vector, mut bytes) = (sentence::Memory::default(), Vec::new(), Vec::new());
            for number in numbers {
                spelled.read(&[number], &mut memory, &mut vector);
                bytes.extend(vector.iter().flat_map(|&number| (number as f32).to_le_bytes()));
            }
            bytes
        });
        PyBytes::new(py, &read)
    }
}
