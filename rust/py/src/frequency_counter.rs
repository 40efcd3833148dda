//! Document frequencies of a corpus that comes in parts, in bounded memory.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::prelude::*;
use sacrecap_core::document_frequency::{self as core, CountError, Counter, Finished, Scratch};
use sacrecap_core::text::ngram::MAX_ORDER;

use crate::convert::map_file;
use crate::corpus::{References, tokenizer};
use crate::document_frequency::DocumentFrequency;
use crate::errors::{DataError, UsageError, data_error};
use crate::interrupt::detach;

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
            return Err(UsageError::new_err(format!("n-grams have 1 to {MAX_ORDER} words, not {n}")));
        }
        let tokenizer = self::tokenizer(tokenizer)?.name().to_owned();
        let counter = Counter::new(n, stem, tokenizer, memory, Files::in_folder(&folder));
        Ok(Self { counter: Some(counter), folder })
    }

    /// Adds the references of images, none of which was added before.
    #[pyo3(signature = (references, threads=0))]
    fn add(&mut self, py: Python<'_>, references: &Bound<'_, References>, threads: usize) -> PyResult<()> {
        let references = references.get().0.clone();
        self.during(py, |counter| {
            let references = if counter.stem() { references.stemmed() } else { references };
            counter.add(references.documents(), threads)
        })
    }

    /// Adds what was counted elsewhere, of other images.
    #[pyo3(signature = (other, threads=0))]
    fn merge(&mut self, py: Python<'_>, other: &Bound<'_, DocumentFrequency>, threads: usize) -> PyResult<()> {
        let other = other.get().0.clone();
        self.during(py, |counter| counter.merge(&other, threads))
    }

    /// Number of images so far.
    #[getter]
    fn documents(&self) -> PyResult<u64> {
        Ok(self.counter.as_ref().ok_or_else(ended)?.documents())
    }

    /// The document frequencies of n-grams in at least `minimum` documents; the counter is used up.
    #[pyo3(signature = (minimum=1, threads=0))]
    fn finish(&mut self, py: Python<'_>, minimum: u32, threads: usize) -> PyResult<DocumentFrequency> {
        let counter = self.counter.take().ok_or_else(ended)?;
        let own = Files::in_folder(&self.folder);
        let finished = detach(py, || -> io::Result<_> {
            let file = own.path(0);
            let made = counter.finish(minimum, threads, || {
                fs::create_dir_all(&own.0)?;
                Ok(BufWriter::new(File::create(&file)?))
            })?;
            if let Finished::InMemory(counted) = made {
                return Ok(Ok(counted));
            }
            drop(made);
            Ok(core::DocumentFrequency::from_bytes(&map_file(&File::open(&file)?)?))
        })?;
        let read = finished.map_err(|error| not_written(&error))?.map_err(data_error)?;
        Ok(DocumentFrequency(Arc::new(read)))
    }
}

impl FrequencyCounter {
    fn during(
        &mut self,
        py: Python<'_>,
        work: impl FnOnce(&mut Counter<Files>) -> Result<(), CountError> + Send,
    ) -> PyResult<()> {
        let mut counter = self.counter.take().ok_or_else(ended)?;
        // Where the work is interrupted, or cannot write, some n-grams were counted and others not: nothing is left.
        let (counter, done) = detach(py, move || {
            let done = work(&mut counter);
            (counter, done)
        })?;
        match done {
            Ok(()) => self.counter = Some(counter),
            Err(CountError::Merge(error)) => {
                self.counter = Some(counter);
                return Err(UsageError::new_err(error.to_string()));
            }
            Err(CountError::Scratch(error)) => return Err(not_written(&error)),
        }
        Ok(())
    }
}

fn not_written(error: &io::Error) -> PyErr {
    DataError::new_err(format!(
        "counts of n-grams that memory has no room for cannot be put on disk: {error}; free some, choose another folder with \
         TMPDIR, or grant the counts more memory"
    ))
}

fn ended() -> PyErr {
    UsageError::new_err("this counter has ended, by finish() or by an error; make another one")
}
