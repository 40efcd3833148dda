//! Needs of metrics in addition to captions, as Python passes them: any sequence of native objects.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;
use sacrecap_core::corpus::threads_for_sentences;
use sacrecap_core::engine::{Resource, Resources};
use sacrecap_core::metrics::embedded::{Objects, Term, Vifidel};
use sacrecap_core::metrics::meteor::{self, Module, Weights};
use sacrecap_core::metrics::{chair, embedded, sentence};
use sacrecap_core::numeric::parallel::map_each;
use sacrecap_core::tables::SharedBytes;
use sacrecap_core::text::vocabulary::Vocabulary;
use sacrecap_core::text::word_forms;
use sacrecap_core::{graph, parse, wordnet};

use crate::convert::{
    Array, NamedParameters, UsageError, check_index, core_parameters, data_error, detach, map_file, read_file, refuse,
    usage_error,
};
use crate::corpus::Corpus;
use crate::document_frequency::{DocumentFrequency, LanguageModel};
use crate::spice::{Paragraphs, SceneGraphs, StatementFrequencies};

/// The resources by their type. A new type of resource adds its name here, and no argument anywhere.
macro_rules! resources {
    ($($kind:ident),+) => {
        pub(crate) fn gather(objects: &[Bound<'_, PyAny>], threads: usize) -> PyResult<Resources> {
            let mut resources = Resources::new(threads);
            for object in objects {
                $(if let Ok(resource) = object.cast::<$kind>() {
                    resources = add(resources, resource.get().0.clone())?;
                    continue;
                })+
                let [kinds @ .., last] = &[$(stringify!($kind)),+];
                let (name, kinds) = (object.get_type().name()?, kinds.join(", "));
                refuse!("{name} is not a resource of a metric; give {kinds} or {last} objects of sacrecap._core");
            }
            Ok(resources)
        }
    };
}
resources!(
    DocumentFrequency,
    MeteorTables,
    Embedded,
    SceneGraphs,
    SentenceVectors,
    Paragraphs,
    StatementFrequencies,
    NamedObjects,
    Synonyms,
    LanguageModel
);

fn add<R: Resource>(resources: Resources, resource: Arc<R>) -> PyResult<Resources> {
    if resources.get::<R>().is_some() {
        refuse!("{} were given twice; give them once", R::NAME);
    }
    Ok(resources.with(resource))
}

// English: the parser, synonyms, and forms of words.

/// WordNet's synonym sets by word.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct Synonyms(pub(crate) Arc<wordnet::Synonyms>);

#[pymethods]
impl Synonyms {
    /// Reads the bytes of a table, which stay where they are.
    #[new]
    fn new(py: Python<'_>, table: PyBackedBytes) -> PyResult<Self> {
        let read = py.detach(|| wordnet::Synonyms::from_bytes(&SharedBytes::new(table)));
        read.map(|table| Self(Arc::new(table))).map_err(data_error)
    }

    #[getter]
    fn checksum(&self) -> u32 {
        self.0.checksum
    }

    /// Numbers of the synonym sets of a word and its base forms.
    fn sets(&self, word: &str) -> Vec<u32> {
        self.0.sets(word)
    }
}

/// Words, tags and dependencies of English captions.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct Parser(pub(crate) Arc<parse::Parser>);

#[pymethods]
impl Parser {
    /// Reads the bytes of a model.
    #[new]
    fn new(py: Python<'_>, model: PyBackedBytes) -> PyResult<Self> {
        let read = py.detach(|| parse::Parser::read(&model));
        read.map(|parser| Self(Arc::new(parser))).map_err(data_error)
    }

    #[getter]
    fn checksum(&self) -> u32 {
        self.0.checksum()
    }

    /// The tokens of each text, and the places of those that it denies: `no dog`.
    fn denied(
        &self,
        py: Python<'_>,
        texts: Vec<String>,
        tokenizer: &str,
        threads: usize,
    ) -> PyResult<Vec<(Vec<String>, Vec<usize>)>> {
        let tokenizer = crate::corpus::tokenizer(tokenizer)?;
        let threads = threads_for_sentences(threads, texts.len());
        detach(py, || {
            map_each(
                texts.len(),
                threads,
                || self.0.worker(),
                |memory, number| graph::denied(&self.0, memory, &texts[number], tokenizer),
            )
        })
    }
}

/// The plural forms of a lower-case word, the usual one first.
#[pyfunction]
pub(crate) fn plurals(word: &str) -> Vec<String> {
    word_forms::plurals(word)
}

/// Possible singulars of a lower-case word, likeliest first; none if the word is no plural.
#[pyfunction]
pub(crate) fn singulars(word: &str) -> Vec<String> {
    word_forms::singulars(word)
}

/// The base form of a lower-case noun among the words of COCO's objects, as WordNet's lemmatiser finds it.
#[pyfunction]
pub(crate) fn noun_base(word: &str) -> String {
    word_forms::noun_base(word)
}

// METEOR's tables, and alignments to look at.

/// The tasks that parameters were tuned for, the default first, and their parameters by their names.
pub(crate) fn tasks() -> Vec<(&'static str, Vec<(&'static str, f64)>)> {
    let parameters = |&(task, Weights { alpha, beta, gamma, delta, modules }): &(_, Weights)| {
        let formula = [("alpha", alpha), ("beta", beta), ("gamma", gamma), ("delta", delta)];
        (task, formula.into_iter().chain(Module::ALL.map(Module::name).into_iter().zip(modules)).collect())
    };
    meteor::TASKS.iter().map(parameters).collect()
}

/// Function words, abbreviations, synonym sets and paraphrases of English.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct MeteorTables(pub(crate) Arc<meteor::Resources>);

/// A match: reference number; tokens of candidate and reference; links (module, candidate span, reference
/// span); precision, recall, F, penalty, score; chunks.
type Explanation = (usize, Vec<String>, Vec<String>, Vec<Link>, [f64; 5], u32);
type Link = (&'static str, (usize, usize), (usize, usize));

#[pymethods]
impl MeteorTables {
    /// The version of the file's format.
    #[classattr]
    const VERSION: u32 = meteor::Resources::VERSION;

    /// Reads the bytes of a file, which stay where they are.
    #[new]
    fn new(py: Python<'_>, file: PyBackedBytes) -> PyResult<Self> {
        let read = py.detach(|| meteor::Resources::from_bytes(&SharedBytes::new(file)));
        read.map(|tables| Self(Arc::new(tables))).map_err(data_error)
    }

    /// Maps a file; one that is known to be good is not read whole.
    #[staticmethod]
    #[pyo3(signature = (path, *, known_good=false))]
    fn load(py: Python<'_>, path: PathBuf, known_good: bool) -> PyResult<Self> {
        let read = if known_good { meteor::Resources::from_checked } else { meteor::Resources::from_bytes };
        read_file(py, &path, read).map(|tables| Self(Arc::new(tables)))
    }

    fn to_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    #[getter]
    fn checksum(&self) -> u32 {
        self.0.checksum
    }

    /// The alignment with the best reference; None without references. `weights`: alpha, beta, gamma, delta, and the
    /// modules' in their order.
    fn explain(&self, candidate: &str, references: Vec<String>, weights: [f64; 8]) -> Option<Explanation> {
        let [alpha, beta, gamma, delta, exact, stem, synonym, paraphrase] = weights;
        let weights = Weights { alpha, beta, gamma, delta, modules: [exact, stem, synonym, paraphrase] };
        let references: Vec<&str> = references.iter().map(String::as_str).collect();
        let (number, alignment, parts) = meteor::align_best(&self.0, &weights, candidate, &references)?;
        let span = |range: &std::ops::Range<usize>| (range.start, range.end);
        let links = alignment
            .links
            .iter()
            .map(|link| (link.module.name(), span(&link.hypothesis), span(&link.reference)))
            .collect();
        let numbers = [parts.precision, parts.recall, parts.mean, parts.penalty, parts.score];
        Some((number, alignment.hypothesis, alignment.reference, links, numbers, alignment.counts[meteor::CHUNKS]))
    }
}

// Word vectors and objects for a corpus, VIFIDEL explained, and vectors of captions.

/// Vectors of a corpus' words, and the objects of its images.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct Embedded(pub(crate) Arc<embedded::Embedded>);

#[pymethods]
impl Embedded {
    /// `vectors`: float64, row by row; `words`: for each word of the vocabulary its rows, −1 for an unknown word, none for
    /// one to ignore; `objects`: labels per image, their rows likewise, their counts.
    #[new]
    #[pyo3(signature = (dimension, vectors, words, objects=None))]
    fn new(
        py: Python<'_>,
        dimension: usize,
        vectors: Array<f64>,
        words: Vec<Vec<i64>>,
        objects: Option<(Vec<usize>, Vec<i64>, Vec<f64>)>,
    ) -> PyResult<Self> {
        let term = |row: i64| match u32::try_from(row) {
            Ok(row) => Ok(Term::Known(row)),
            Err(_) if row == -1 => Ok(Term::Unknown),
            Err(_) => Err(UsageError::new_err(format!("no row has number {row}"))),
        };
        let terms = |rows: Vec<i64>| rows.into_iter().map(term).collect::<PyResult<Vec<_>>>();
        let words = words.into_iter().map(terms).collect::<PyResult<_>>()?;
        let objects = objects
            .map(|(sizes, rows, counts)| -> PyResult<Objects> {
                let labels = terms(rows)?.into_iter().zip(counts).collect();
                Objects::new(&sizes, labels).map_err(usage_error)
            })
            .transpose()?;
        let embedded = py.detach(|| embedded::Embedded::new(dimension, vectors.0, words, objects));
        embedded.map(|embedded| Self(Arc::new(embedded))).map_err(usage_error)
    }

    /// The images of which WMD is not computed.
    fn beyond(&self, py: Python<'_>, corpus: &Corpus) -> Vec<usize> {
        py.detach(|| self.0.beyond(&corpus.0))
    }

    /// VIFIDEL's plan, with these parameters, for an image's first candidate, by name: numbers as float64, known objects as
    /// numbers among the image's labels, words as rows.
    fn explain_vifidel<'py>(
        &self,
        py: Python<'py>,
        corpus: &Corpus,
        parameters: NamedParameters,
        image: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let refused = |reason: String| UsageError::new_err(format!("VIFIDEL {reason}"));
        let corpus = &corpus.0;
        check_index("image", image, corpus.candidates.image_count())?;
        let mut parameters = core_parameters(parameters);
        let built = Vifidel::new(&mut parameters).and_then(|metric| parameters.finish().map(|()| metric));
        let metric = built.map_err(|error| refused(error.to_string()))?;
        let explanation = py.detach(|| metric.explain(corpus, &self.0, image));
        let explanation = explanation.map_err(|missing| refused(missing.to_string()))?;
        let ([object_weights, word_weights], [object_importance, word_importance]) =
            (explanation.weights.map(Array), explanation.importance.map(Array));
        let explained = PyDict::new(py);
        explained.set_item("objects", &explanation.objects)?;
        explained.set_item("words", &explanation.words)?;
        explained.set_item("reference_words", &explanation.reference_words)?;
        explained.set_item("object_weights", object_weights)?;
        explained.set_item("word_weights", word_weights)?;
        explained.set_item("object_importance", object_importance)?;
        explained.set_item("word_importance", word_importance)?;
        explained.set_item("cost", Array(explanation.cost))?;
        explained.set_item("plan", Array(explanation.plan))?;
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
        let shared = map_file(&path)?;
        let read = py.detach(|| sentence::SentenceVectors::from_bytes(&shared));
        read.map(|table| Self(Arc::new(table))).map_err(data_error)
    }

    #[getter]
    fn checksum(&self) -> u32 {
        self.0.checksum
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
    fn read(&self, py: Python<'_>, texts: Vec<String>) -> Array<f32> {
        py.detach(|| {
            let mut vocabulary = Vocabulary::default();
            let words: Vec<_> = texts.iter().map(|text| vocabulary.intern(text)).collect();
            let spelled = sentence::Spelled::of(&self.0, &vocabulary);
            let (mut memory, mut vector, mut numbers) = (sentence::Memory::default(), Vec::new(), Vec::new());
            for word in words {
                spelled.read(&[word], &mut memory, &mut vector);
                numbers.extend(vector.iter().map(|&number| number as f32));
            }
            Array(numbers)
        })
    }
}

// Words that name objects, in a corpus.

/// A vocabulary of objects: phrases, and the objects that they name.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct ObjectWords(Arc<chair::ObjectWords>);

#[pymethods]
impl ObjectWords {
    /// `parts`: the number of different words of phrases; `phrases`: the parts and the term of each, of which the longest
    /// match counts, of equally long ones the first; `objects`: the object of each term, or None; `drops`: terms, each with
    /// the one beside which it does not count.
    #[new]
    fn new(
        parts: usize,
        phrases: Vec<(Vec<u32>, u32)>,
        objects: Vec<Option<u32>>,
        drops: Vec<(u32, u32)>,
    ) -> PyResult<Self> {
        chair::ObjectWords::new(parts, phrases, objects, &drops).map(|words| Self(Arc::new(words))).map_err(usage_error)
    }
}

/// What a corpus names, and what is in its images: a resource of CHAIR.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct NamedObjects(pub(crate) Arc<chair::NamedObjects>);

/// An object in a caption: the places of its first word and behind its last, and the object.
type Mention = (usize, usize, u32);

/// The mentions of candidates and of references, caption by caption, and the objects annotated.
type InImage = (Vec<Vec<Mention>>, Vec<Vec<Mention>>, Vec<u32>);

#[pymethods]
impl NamedObjects {
    /// `parts`: for each word of a corpus' vocabulary the part that it is, or None; `annotated`: the objects of each
    /// image; `breaks`: captions as word numbers, with the places of words that a mark stands before; `denied`: such
    /// captions, with the places of words that do not count.
    #[new]
    fn new(
        words: &ObjectWords,
        parts: Vec<Option<u32>>,
        annotated: Option<Vec<Vec<u32>>>,
        breaks: Vec<(Vec<u32>, Vec<usize>)>,
        denied: Vec<(Vec<u32>, Vec<usize>)>,
    ) -> PyResult<Self> {
        let [breaks, denied] =
            [breaks, denied].map(|of| of.into_iter().map(|(caption, places)| (caption.into(), places)).collect());
        let named = chair::NamedObjects::new(words.0.clone(), parts, annotated, breaks, denied);
        Ok(Self(Arc::new(named.map_err(usage_error)?)))
    }

    /// What an image's candidates and references name, caption by caption, and the objects annotated in it.
    fn image(&self, corpus: &Corpus, image: usize) -> PyResult<InImage> {
        let corpus = &corpus.0;
        check_index("image", image, corpus.candidates.image_count())?;
        let named = |words: &[u32]| {
            let mut mentions = Vec::new();
            self.0.mentions(words, &mut mentions);
            mentions.into_iter().map(|mention| (mention.start, mention.end, mention.object)).collect::<Vec<Mention>>()
        };
        let all = |sentences: &sacrecap_core::text::sentences::Sentences| {
            sentences.of_image(image).map(|sentence| named(sentences.words(sentence))).collect()
        };
        Ok((all(&corpus.candidates), all(&corpus.references.sentences), self.0.annotated(image).to_vec()))
    }
}
