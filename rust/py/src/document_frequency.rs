//! Document frequencies: build, count part by part in bounded memory, take over, merge, save, load (memory-mapped).

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyType};
use sacrecap_core::document_frequency::{self as core, Counter, Kind, Scratch};
use sacrecap_core::metrics::fluency;
use sacrecap_core::text::ngram::{MAX_ORDER, Ngram};
use sacrecap_core::text::tokenize::Tokenizer;
use sacrecap_core::{Refused, reward};

use crate::convert::{
    Array, DataError, UsageError, check_index, check_sizes, data_error, detach, held, map_file, read_file, refuse,
    sequences, usage_error,
};
use crate::corpus::{References, tokenizer};

/// Counts of n-grams over documents, by words.
#[pyclass(frozen, eq, module = "sacrecap._core")]
pub(crate) struct DocumentFrequency(pub(crate) Arc<core::DocumentFrequency>);

impl From<core::DocumentFrequency> for DocumentFrequency {
    fn from(counted: core::DocumentFrequency) -> Self {
        Self(Arc::new(counted))
    }
}

impl PartialEq for DocumentFrequency {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bytes() == other.0.to_bytes()
    }
}

/// N-grams of 1 to `MAX_ORDER` words with their counts; `None` where the arrays do not fit each other.
fn ngrams(words: usize, mut ids: &[u32], lengths: &[u8], counts: &[u32]) -> Option<Vec<(Ngram, u32)>> {
    let mut entries = Vec::with_capacity(counts.len());
    if lengths.len() != counts.len() || ids.iter().any(|&id| id as usize >= words) {
        return None;
    }
    for (&length, &count) in lengths.iter().zip(counts) {
        let (ngram, rest) = ids.split_at_checked(usize::from(length))?;
        if !(1..=MAX_ORDER).contains(&ngram.len()) {
            return None;
        }
        entries.push((Ngram::new(ngram), count));
        ids = rest;
    }
    ids.is_empty().then_some(entries)
}

#[pymethods]
impl DocumentFrequency {
    #[staticmethod]
    #[pyo3(signature = (references, stem, n, threads=0))]
    fn build(py: Python<'_>, references: &References, stem: bool, n: usize, threads: usize) -> PyResult<Self> {
        detach(py, || {
            let references = if stem { references.0.stemmed() } else { references.0.clone() };
            core::DocumentFrequency::build(references.documents(), n, threads)
        })
        .map(Self::from)
    }

    /// References of images one after the other: little-endian u32 ids, the length of each, the number of each image.
    #[staticmethod]
    fn from_token_ids(
        py: Python<'_>,
        ids: Array<u32>,
        lengths: Vec<usize>,
        sizes: Vec<usize>,
        n: usize,
    ) -> PyResult<Self> {
        let references = sequences(&ids.0, &lengths)?;
        check_sizes(&sizes, references.len())?;
        detach(py, || core::DocumentFrequency::from_token_ids(&references, &sizes, n, 0)).map(Self::from)
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        read_file(py, &path, core::DocumentFrequency::from_bytes).map(Self::from)
    }

    /// Counts made elsewhere: distinct words; the word numbers of distinct n-grams, one after the other, and their counts,
    /// both little-endian u32; the length of each n-gram, one byte.
    #[staticmethod]
    fn from_counts(
        py: Python<'_>,
        words: Vec<String>,
        ids: Array<u32>,
        lengths: PyBackedBytes,
        counts: Array<u32>,
        documents: u64,
    ) -> PyResult<Self> {
        let built = py.detach(|| {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let entries = ngrams(words.len(), &ids.0, &lengths, &counts.0)?;
            let order = entries.iter().map(|(ngram, _)| ngram.order()).max()?;
            Some(core::DocumentFrequency::from_counts(&words, entries, documents, order))
        });
        built.map(Self::from).ok_or_else(|| DataError::new_err("these are not n-grams with their counts"))
    }

    fn to_bytes(&self, py: Python<'_>) -> Vec<u8> {
        py.detach(|| self.0.to_bytes())
    }

    /// What `to_bytes` made, in any object with a buffer, which is used in place.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &Bound<'_, PyAny>) -> PyResult<Self> {
        let shared = held(bytes)?;
        let read = py.detach(|| core::DocumentFrequency::from_bytes(&shared));
        read.map(Self::from).map_err(data_error)
    }

    /// For `pickle` and `copy`; from protocol 5 on, processes of a machine may share the bytes.
    fn __reduce_ex__<'py>(&self, py: Python<'py>, protocol: u32) -> PyResult<impl IntoPyObject<'py>> {
        let bytes = PyBytes::new(py, &self.to_bytes(py)).into_any();
        let bytes = if protocol < 5 { bytes } else { py.import("pickle")?.getattr("PickleBuffer")?.call1((bytes,))? };
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (bytes,)))
    }

    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        py.detach(|| self.0.merge(&other.0)).map(Self::from).map_err(usage_error)
    }

    fn count(&self, words: Vec<String>) -> u32 {
        self.0.count(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    #[getter]
    fn documents(&self) -> u64 {
        self.0.frequencies.documents
    }

    #[getter]
    fn ngrams(&self) -> usize {
        self.0.frequencies.ngram_count()
    }

    #[getter]
    fn words(&self) -> usize {
        self.0.words.len()
    }

    #[getter]
    fn n(&self) -> usize {
        self.0.kind.order
    }

    #[getter]
    fn tokenizer(&self) -> &str {
        &self.0.kind.tokenizer
    }

    #[getter]
    fn stem(&self) -> bool {
        self.0.kind.stem
    }
}

/// Streams as files of a folder, which is removed at the end.
struct Files(PathBuf);

impl Files {
    /// A folder of its own in this one.
    fn in_folder(folder: &Path) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self(folder.join(format!("ngrams-{}-{number}", std::process::id())))
    }

    fn path(&self, stream: usize) -> PathBuf {
        self.0.join(stream.to_string())
    }
}

impl Scratch for Files {
    fn append(&mut self, stream: usize, bytes: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.0)?;
        OpenOptions::new().append(true).create(true).open(self.path(stream))?.write_all(bytes)
    }

    fn take(&mut self, stream: usize, bytes: &mut Vec<u8>) -> io::Result<()> {
        bytes.clear();
        let path = self.path(stream);
        match File::open(&path) {
            Ok(mut file) => file.read_to_end(bytes)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        fs::remove_file(&path)
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // What cannot be removed is left to whoever made the folder.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Counts the images that each n-gram occurs in, part by part of a corpus, in bounded memory.
///
/// Any parts, in any order, give the same bytes as `DocumentFrequency.build` on all references at once.
#[pyclass(module = "sacrecap._core")]
pub(crate) struct FrequencyCounter {
    /// None after the end, or an interruption.
    counter: Option<Counter<Files>>,
    folder: PathBuf,
}

#[pymethods]
impl FrequencyCounter {
    /// An empty counter. Counts that do not fit into `memory` bytes are in files of `folder` until the end.
    #[new]
    #[pyo3(signature = (n, stem, tokenizer, *, memory, folder))]
    fn new(n: usize, stem: bool, tokenizer: &str, memory: usize, folder: PathBuf) -> PyResult<Self> {
        if !(1..=MAX_ORDER).contains(&n) {
            refuse!("n-grams have 1 to {MAX_ORDER} words, not {n}");
        }
        let tokenizer = self::tokenizer(tokenizer)?.name().to_owned();
        let kind = Kind { order: n, stem, tokenizer };
        let counter = Counter::new(kind, memory, Files::in_folder(&folder));
        Ok(Self { counter: Some(counter), folder })
    }

    /// Adds the references of images, none of which was added before.
    #[pyo3(signature = (references, threads=0))]
    fn add(&mut self, py: Python<'_>, references: &References, threads: usize) -> PyResult<()> {
        self.during(py, |counter| {
            let references = if counter.kind.stem { references.0.stemmed() } else { references.0.clone() };
            counter.add(references.documents(), threads)
        })
    }

    /// Adds what was counted elsewhere, of other images.
    #[pyo3(signature = (other, threads=0))]
    fn merge(&mut self, py: Python<'_>, other: &DocumentFrequency, threads: usize) -> PyResult<()> {
        self.during(py, |counter| counter.merge(&other.0, threads))
    }

    /// Number of images so far.
    #[getter]
    fn documents(&self) -> PyResult<u64> {
        Ok(self.counter.as_ref().ok_or_else(counter_ended)?.documents)
    }

    /// The document frequencies of n-grams in at least `minimum` documents; the counter is used up.
    #[pyo3(signature = (minimum=1, threads=0))]
    fn finish(&mut self, py: Python<'_>, minimum: u32, threads: usize) -> PyResult<DocumentFrequency> {
        let counter = self.counter.take().ok_or_else(counter_ended)?;
        let files = Files::in_folder(&self.folder);
        let finished = detach(py, || -> io::Result<_> {
            let file = files.path(0);
            let in_memory = counter.finish(minimum, threads, || {
                fs::create_dir_all(&files.0)?;
                Ok(BufWriter::new(File::create(&file)?))
            })?;
            match in_memory {
                Some(counted) => Ok(Ok(counted)),
                None => Ok(core::DocumentFrequency::from_bytes(&map_file(&file)?)),
            }
        })?;
        let read = finished.map_err(|error| not_written(&error))?.map_err(data_error)?;
        Ok(read.into())
    }
}

impl FrequencyCounter {
    fn during(
        &mut self,
        py: Python<'_>,
        work: impl FnOnce(&mut Counter<Files>) -> Result<io::Result<()>, Refused> + Send,
    ) -> PyResult<()> {
        let mut counter = self.counter.take().ok_or_else(counter_ended)?;
        // Where the work is interrupted, or cannot write, some n-grams were counted and others not: nothing is left.
        let (counter, done) = detach(py, move || {
            let done = work(&mut counter);
            (counter, done)
        })?;
        match done {
            Ok(written) => written.map_err(|error| not_written(&error))?,
            Err(refused) => {
                self.counter = Some(counter);
                return Err(usage_error(refused));
            }
        }
        self.counter = Some(counter);
        Ok(())
    }
}

fn not_written(error: &io::Error) -> PyErr {
    DataError::new_err(format!(
        "counts of n-grams that memory has no room for cannot be put on disk: {error}; free some, choose another folder with \
         TMPDIR, or grant the counts more memory"
    ))
}

fn counter_ended() -> PyErr {
    UsageError::new_err("this counter has ended, by finish() or by an error; make another one")
}

// Language models of references that come part by part.

/// Counts of n-grams, of which a language model is made. Any parts of a corpus, in any order, give the same scores.
#[pyclass(module = "sacrecap._core")]
pub(crate) struct LanguageCounts {
    /// None after the end, or an interruption.
    counts: Option<fluency::LanguageCounts>,
    memory: usize,
}

#[pymethods]
impl LanguageCounts {
    /// No counts yet. The model may take `memory` bytes, apart from its distinct words.
    #[new]
    #[pyo3(signature = (n, *, memory))]
    fn new(n: usize, memory: usize) -> PyResult<Self> {
        if !(1..=MAX_ORDER).contains(&n) {
            refuse!("n-grams have 1 to {MAX_ORDER} words, not {n}");
        }
        Ok(Self { counts: Some(fluency::LanguageCounts::new(n)), memory })
    }

    /// Learns from the references of other images.
    #[pyo3(signature = (references, threads=0))]
    fn add(&mut self, py: Python<'_>, references: &References, threads: usize) -> PyResult<()> {
        let memory = self.memory;
        self.during(py, |counts| counts.add(&references.0, memory, threads))
    }

    /// Adds what was counted elsewhere, in the references of other images.
    #[pyo3(signature = (other, threads=0))]
    fn merge(&mut self, py: Python<'_>, other: &Self, threads: usize) -> PyResult<()> {
        let (other, memory) = (other.counts.as_ref().ok_or_else(counts_ended)?, self.memory);
        self.during(py, |counts| counts.merge(other, memory, threads))
    }

    /// The language model; the counts have ended.
    #[pyo3(signature = (threads=0))]
    fn finish(&mut self, py: Python<'_>, threads: usize) -> PyResult<LanguageModel> {
        let counts = self.counts.take().ok_or_else(counts_ended)?;
        Ok(LanguageModel(Arc::new(detach(py, || counts.finish(threads))?)))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: PyBackedBytes, memory: usize) -> PyResult<Self> {
        Ok(Self { counts: Some(read(py, &bytes)?), memory })
    }

    /// For `pickle` and `copy`.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<impl IntoPyObject<'py>> {
        let counts = self.counts.as_ref().ok_or_else(counts_ended)?;
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (py.detach(|| counts.to_bytes()), self.memory)))
    }
}

impl LanguageCounts {
    fn during(
        &mut self,
        py: Python<'_>,
        work: impl FnOnce(&mut fluency::LanguageCounts) -> Result<(), Refused> + Send,
    ) -> PyResult<()> {
        let mut counts = self.counts.take().ok_or_else(counts_ended)?;
        // What is interrupted counted some sentences and not others: nothing is left.
        let counts = detach(py, move || work(&mut counts).map(|()| counts))?;
        self.counts = Some(counts.map_err(data_error)?);
        Ok(())
    }
}

/// The model that scores captions.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct LanguageModel(pub(crate) Arc<fluency::LanguageModel>);

#[pymethods]
impl LanguageModel {
    /// The model of captions of other images than those to score.
    #[staticmethod]
    #[pyo3(signature = (references, n, threads=0))]
    fn build(py: Python<'_>, references: &References, n: usize, threads: usize) -> PyResult<Self> {
        let built = detach(py, || {
            let mut counts = fluency::LanguageCounts::new(n);
            counts.tokenizer = Some(references.0.tokenizer);
            counts.add(&references.0, usize::MAX, threads).map(|()| counts.finish(threads))
        })?;
        built.map(|model| Self(Arc::new(model))).map_err(data_error)
    }

    /// Number of images that it learnt from.
    #[getter]
    fn images(&self) -> u64 {
        self.0.images
    }

    /// The longest n-gram.
    #[getter]
    fn n(&self) -> usize {
        self.0.order()
    }

    #[getter]
    fn words(&self) -> usize {
        self.0.vocabulary.len()
    }

    /// What cut the captions that it learnt from; None if they are the references being scored.
    #[getter]
    fn tokenizer(&self) -> Option<&'static str> {
        self.0.tokenizer.map(Tokenizer::name)
    }

    fn to_bytes(&self, py: Python<'_>) -> Vec<u8> {
        py.detach(|| self.0.to_bytes())
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: PyBackedBytes) -> PyResult<Self> {
        let counts = read(py, &bytes)?;
        Ok(Self(Arc::new(detach(py, || counts.finish(0))?)))
    }

    /// For `pickle` and `copy`.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<impl IntoPyObject<'py>> {
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (self.to_bytes(py),)))
    }
}

fn read(py: Python<'_>, bytes: &[u8]) -> PyResult<fluency::LanguageCounts> {
    py.detach(|| fluency::LanguageCounts::from_bytes(bytes)).map_err(data_error)
}

fn counts_ended() -> PyErr {
    UsageError::new_err("these counts have ended, by finish() or by an error; make others")
}

// CIDEr-D on token ids.

/// CIDEr-D on token ids.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct Reward {
    core: reward::Reward,
    /// What it was made of, for `pickle` and `copy`.
    made_of: (Py<DocumentFrequency>, usize, f64),
}

/// References of several images, ready to be compared with again and again.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct EncodedReferences {
    groups: Vec<Arc<reward::Group>>,
    reward: Py<Reward>,
}

#[pymethods]
impl Reward {
    #[new]
    fn new(frequencies: &Bound<'_, DocumentFrequency>, n: usize, sigma: f64) -> PyResult<Self> {
        let core = reward::Reward::new(&frequencies.get().0, n, sigma);
        let core = core.map_err(usage_error)?;
        Ok(Self { core, made_of: (frequencies.clone().unbind(), n, sigma) })
    }

    /// For `pickle` and `copy`.
    fn __reduce__<'py>(&'py self, py: Python<'py>) -> (Bound<'py, PyType>, &'py (Py<DocumentFrequency>, usize, f64)) {
        (py.get_type::<Self>(), &self.made_of)
    }

    /// References of images one after the other: little-endian u32 ids, the length of each, the number of each image.
    fn encode(
        slf: &Bound<'_, Self>,
        ids: Array<u32>,
        lengths: Vec<usize>,
        sizes: Vec<usize>,
        threads: usize,
    ) -> PyResult<EncodedReferences> {
        let references = sequences(&ids.0, &lengths)?;
        check_sizes(&sizes, references.len())?;
        let reward = slf.get();
        let groups = detach(slf.py(), || reward.core.encode(&references, &sizes, threads))?;
        Ok(EncodedReferences { groups: groups.into_iter().map(Arc::new).collect(), reward: slf.clone().unbind() })
    }

    /// Rewards of the samples as float64; `references` has one group per sample, or one for several samples in a row.
    fn score(
        &self,
        py: Python<'_>,
        ids: Array<u32>,
        lengths: Vec<usize>,
        references: &EncodedReferences,
        threads: usize,
    ) -> PyResult<Array<f64>> {
        let samples = sequences(&ids.0, &lengths)?;
        let groups: Vec<&reward::Group> = references.groups.iter().map(AsRef::as_ref).collect();
        if groups.is_empty() || samples.len() % groups.len() != 0 {
            refuse!("{} samples cannot be shared by the references of {} images", samples.len(), groups.len());
        }
        detach(py, || self.core.score(&samples, &groups, threads)).map(Array)
    }
}

#[pymethods]
impl EncodedReferences {
    /// The references of these images, in this order.
    fn select(&self, py: Python<'_>, images: Vec<usize>) -> PyResult<Self> {
        images.iter().try_for_each(|&image| check_index("image", image, self.groups.len()))?;
        let groups = images.into_iter().map(|image| self.groups[image].clone()).collect();
        Ok(Self { groups, reward: self.reward.clone_ref(py) })
    }

    /// For `pickle` and `copy`: they are encoded again from their token ids.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<impl IntoPyObject<'py>> {
        let references = || self.groups.iter().flat_map(|group| group.references());
        let ids = Array(references().flatten().copied().collect::<Vec<u32>>());
        let lengths: Vec<usize> = references().map(<[_]>::len).collect();
        let sizes: Vec<usize> = self.groups.iter().map(|group| group.references().len()).collect();
        Ok((self.reward.bind(py).getattr("encode")?, (ids, lengths, sizes, 0)))
    }

    fn __len__(&self) -> usize {
        self.groups.len()
    }
}
