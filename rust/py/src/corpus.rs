//! Tokenising and encoding, and one look at the captions of a corpus.

use std::cell::RefCell;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use sacrecap_core::engine::Image;
use sacrecap_core::metrics::diversity;
use sacrecap_core::metrics::diversity::novel_captions;
use sacrecap_core::metrics::diversity::similarity::Similarity;
use sacrecap_core::numeric::parallel::map_each;
use sacrecap_core::numeric::spectrum::{Eigensystem, Spectrum};
use sacrecap_core::text::captions::Captions as CoreCaptions;
use sacrecap_core::text::ngram::{Ngram, NgramCounter};
use sacrecap_core::text::tokenize::{Tokenizer, tokenize_stream};
use sacrecap_core::{corpus as core, seen as looks};

use crate::captions::Captions;
use crate::convert::{Array, NamedParameters, UsageError, check_index, core_parameters, detach, refuse, usage_error};
use crate::resources::gather;
use crate::statistics::Statistics;

pub(crate) fn tokenizer(name: &str) -> PyResult<Tokenizer> {
    name.parse().map_err(usage_error)
}

#[pyfunction]
#[pyo3(signature = (captions, tokenizer, threads=0))]
pub(crate) fn tokenize(
    py: Python<'_>,
    captions: Vec<String>,
    tokenizer: &str,
    threads: usize,
) -> PyResult<Vec<Vec<String>>> {
    let tokenizer = self::tokenizer(tokenizer)?;
    detach(py, || {
        if tokenizer == Tokenizer::PtbStream {
            let mut all = vec![Vec::new(); captions.len()];
            tokenize_stream(captions.iter().map(String::as_str), |caption, token| all[caption].push(token.to_owned()));
            return all;
        }
        map_each(
            captions.len(),
            threads,
            || (),
            |(), number| {
                let mut tokens = Vec::new();
                tokenizer.tokenize(&captions[number], |token: &str| tokens.push(token.to_owned()));
                tokens
            },
        )
    })
}

fn check_images(mut images: impl Iterator<Item = u32>, captions: &CoreCaptions) -> PyResult<()> {
    images.try_for_each(|image| check_index("image", image as usize, captions.image_count()))
}

/// References of chosen images, tokenised and interned once.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct References(pub(crate) Arc<core::References>);

#[pymethods]
impl References {
    /// The images of these numbers, in this order.
    #[new]
    #[pyo3(signature = (captions, images, tokenizer, threads=0))]
    fn new(py: Python<'_>, captions: &Captions, images: Vec<u32>, tokenizer: &str, threads: usize) -> PyResult<Self> {
        let tokenizer = self::tokenizer(tokenizer)?;
        check_images(images.iter().copied(), &captions.inner)?;
        let encoded = detach(py, || core::References::encode(&captions.inner, &images, tokenizer, threads))?;
        Ok(Self(Arc::new(encoded)))
    }

    /// Images of these numbers without references.
    #[staticmethod]
    fn none(captions: &Captions, images: Vec<u32>, tokenizer: &str) -> PyResult<Self> {
        check_images(images.iter().copied(), &captions.inner)?;
        let images = images.into_iter().map(|image| captions.inner.image_id(image as usize).into()).collect();
        Ok(Self(Arc::new(core::References::none(images, self::tokenizer(tokenizer)?))))
    }

    #[getter]
    fn image_ids(&self) -> Vec<&str> {
        self.0.images.iter().map(AsRef::as_ref).collect()
    }

    #[getter]
    fn tokenizer(&self) -> &'static str {
        self.0.tokenizer.name()
    }

    /// References per image, by image.
    #[getter]
    fn counts(&self) -> Vec<usize> {
        (0..self.0.images.len()).map(|image| self.0.sentences.of_image(image).len()).collect()
    }

    fn __len__(&self) -> usize {
        self.0.images.len()
    }
}

/// References with the candidates of one system.
#[pyclass(frozen, module = "sacrecap._core")]
pub(crate) struct Corpus(pub(crate) core::Corpus);

#[pymethods]
impl Corpus {
    /// `images`: for each image of the references its number in `captions`; None where it has no caption.
    #[new]
    #[pyo3(signature = (references, captions, images, threads=0))]
    fn new(
        py: Python<'_>,
        references: &References,
        captions: &Captions,
        images: Vec<Option<u32>>,
        threads: usize,
    ) -> PyResult<Self> {
        let references = references.0.clone();
        check_images(images.iter().flatten().copied(), &captions.inner)?;
        if images.len() != references.images.len() {
            refuse!("captions of {} images for the references of {}", images.len(), references.images.len());
        }
        detach(py, || core::Corpus::encode(references, &captions.inner, &images, threads)).map(Self)
    }

    #[getter]
    fn references(&self) -> References {
        References(self.0.references.clone())
    }

    /// The same captions with every word reduced to its stem.
    fn stemmed(&self, py: Python<'_>) -> PyResult<Self> {
        detach(py, || self.0.stemmed()).map(Self)
    }

    #[getter]
    fn rows(&self) -> usize {
        self.0.rows()
    }

    /// Distinct words, in the order of their numbers.
    #[getter]
    fn vocabulary(&self) -> Vec<&str> {
        self.0.vocabulary.words().collect()
    }

    /// Candidates per image, by image.
    #[getter]
    fn counts(&self) -> Vec<usize> {
        (0..self.0.candidates.image_count()).map(|image| self.0.candidates.of_image(image).len()).collect()
    }

    /// Tokens of an image's candidates and references, joined by blanks.
    fn texts(&self, image: usize) -> PyResult<(Vec<String>, Vec<String>)> {
        check_index("image", image, self.0.candidates.image_count())?;
        let spell =
            |words: &[u32]| words.iter().map(|&word| self.0.vocabulary.word(word)).collect::<Vec<_>>().join(" ");
        let (references, candidates) = (&self.0.references.sentences, &self.0.candidates);
        Ok((
            candidates.of_image(image).map(|sentence| spell(candidates.tokens(sentence))).collect(),
            references.of_image(image).map(|sentence| spell(references.tokens(sentence))).collect(),
        ))
    }
}

/// Part, name and number of what was counted; how many; the image id and the caption of an example.
type Row = (&'static str, &'static str, usize, u64, String, String);

fn rows(tallies: looks::Tallies) -> Vec<Row> {
    let row = |((part, name, number), tally): (looks::Name, looks::Tally)| {
        let (id, caption) = tally.example.unwrap_or_default();
        (part, name, number, tally.count, id.into(), caption.into())
    };
    tallies.into_iter().map(row).collect()
}

/// The order in which images belong to the sample, little-endian u64, for their ids.
#[pyfunction]
pub(crate) fn sample_order(ids: Vec<PyBackedStr>) -> Array<u64> {
    Array(ids.iter().map(|id| looks::sample_order(id)).collect())
}

/// Looks at every image: part, name and number of what was counted, how many, image id and caption of an example.
#[pyfunction]
pub(crate) fn seen(
    py: Python<'_>,
    corpus: &Corpus,
    references: &Captions,
    candidates: &Captions,
    threads: usize,
) -> PyResult<Vec<Row>> {
    detach(py, || rows(looks::seen(&corpus.0, &references.inner, &candidates.inner, threads)))
}

/// Looks at a sample of the images; the same columns.
#[pyfunction]
pub(crate) fn seen_in_sample(
    py: Python<'_>,
    corpus: &Corpus,
    candidates: &Captions,
    size: usize,
) -> PyResult<Vec<Row>> {
    detach(py, || rows(looks::sampled(&corpus.0, &candidates.inner, size)))
}

// Caption sets: the similarity matrix of an image, its spectrum, and which captions are the best.

/// The similarity matrix of an image, row by row; the n-grams of the image, and the vectors of its candidates over them,
/// candidate by candidate: none where the similarity is not an inner product of such. All float64.
#[pyfunction]
#[pyo3(signature = (corpus, image, parameters, resources=vec![]))]
pub(crate) fn similarities(
    corpus: &Corpus,
    image: usize,
    parameters: NamedParameters,
    resources: Vec<Bound<'_, PyAny>>,
) -> PyResult<(Array<f64>, Vec<String>, Array<f64>)> {
    let corpus = &corpus.0;
    let mut parameters = core_parameters(parameters);
    let built = Similarity::build(&mut parameters).and_then(|similarity| parameters.finish().map(|()| similarity));
    let similarity = built.map_err(|error| UsageError::new_err(format!("similarity: {error}")))?;
    let resources = gather(&resources, 0)?;
    check_index("image", image, corpus.candidates.image_count())?;
    let ready = similarity.prepare(corpus, &resources);
    let ready = ready.map_err(|missing| UsageError::new_err(format!("similarity: {missing}")))?;
    let counter = RefCell::new(NgramCounter::default());
    let image = Image::new(corpus, image, &counter);
    let mut matrix = vec![0.0; image.candidate_count() * image.candidate_count()];
    ready.fill(&image, &mut matrix);
    let (mut names, mut dense) = (Vec::new(), Vec::new());
    if let Some((ngrams, vectors)) = ready.vectors(&image) {
        let spell =
            |ngram: &Ngram| ngram.words().map(|word| corpus.vocabulary.word(word)).collect::<Vec<_>>().join(" ");
        names = ngrams.iter().map(spell).collect();
        dense.resize(vectors.len() * names.len(), 0.0);
        for (candidate, entries) in vectors.iter().enumerate() {
            for &(place, value) in entries {
                dense[candidate * names.len() + place as usize] = value;
            }
        }
    }
    Ok((Array(matrix), names, Array(dense)))
}

/// Eigenvalues, largest first, and eigenvectors, one after the other, of a symmetric matrix; all float64.
#[pyfunction]
pub(crate) fn eigensystem(py: Python<'_>, matrix: Array<f64>, n: usize) -> PyResult<(Array<f64>, Array<f64>)> {
    let Array(mut matrix) = matrix;
    if n.checked_mul(n) != Some(matrix.len()) || matrix.iter().any(|entry| !entry.is_finite()) {
        refuse!("{} numbers are not a matrix of {n} rows with finite entries", matrix.len());
    }
    let Eigensystem { values, vectors } = py.detach(|| Spectrum::default().system(&mut matrix, n));
    Ok((Array(values), Array(vectors)))
}

/// The diversity that eigenvalues say.
#[pyfunction]
pub(crate) fn spectral_diversity(eigenvalues: Vec<f64>) -> f64 {
    diversity::spectral_diversity(&eigenvalues)
}

/// The corpus with only the `most` candidates of each set with the highest scores (float64, one per candidate), and
/// their places in their sets.
#[pyfunction]
pub(crate) fn top(corpus: &Corpus, scores: Array<f64>, most: usize) -> PyResult<(Corpus, Vec<Vec<usize>>)> {
    let (corpus, Array(scores)) = (&corpus.0, scores);
    if scores.len() != corpus.rows() {
        refuse!("{} scores for {} candidates", scores.len(), corpus.rows());
    }
    let best = corpus.top(&scores, most);
    let chosen = corpus.select(best.clone());
    let places = best.into_iter().enumerate().map(|(image, numbers)| {
        let start = corpus.candidates.of_image(image).start;
        numbers.into_iter().map(|number| number - start).collect()
    });
    Ok((Corpus(chosen), places.collect()))
}

/// People as a system: each reference against the others of its image.
#[pyfunction]
pub(crate) fn leave_one_out(py: Python<'_>, corpus: &Corpus, threads: usize) -> PyResult<Corpus> {
    detach(py, || core::Corpus::leave_one_out(&corpus.0.references, threads)).map(Corpus)
}

/// Each word of the candidates with its count, the commonest first; of equal counts alphabetically.
#[pyfunction]
pub(crate) fn word_counts(py: Python<'_>, corpus: &Corpus) -> Vec<(String, u64)> {
    let corpus = &corpus.0;
    py.detach(|| {
        let mut counts = vec![0_u64; corpus.vocabulary.len()];
        corpus.candidates.all_words().iter().for_each(|&word| counts[word as usize] += 1);
        let mut counted: Vec<(String, u64)> =
            corpus.vocabulary.words().map(str::to_owned).zip(counts).filter(|&(_, count)| count > 0).collect();
        counted.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        counted
    })
}

/// Of each candidate 1 if no training caption has the same words, else 0; a row per candidate.
#[pyfunction]
pub(crate) fn novelty(py: Python<'_>, corpus: &Corpus, training: &References) -> Statistics {
    Statistics::of_means("novelty", py.detach(|| novel_captions(&corpus.0, &training.0)))
}
