//! Caption sets: the similarity matrix of an image, its spectrum, and which captions are the best.

use std::cell::RefCell;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sacrecap_core::corpus as core;
use sacrecap_core::engine::Image;
use sacrecap_core::metrics::diversity::novel_captions;
use sacrecap_core::metrics::diversity::similarity::{self, Similarity};
use sacrecap_core::metrics::diversity::spectral;
use sacrecap_core::numeric::spectrum::{Eigensystem, Spectrum};
use sacrecap_core::text::ngram::{Ngram, NgramCounter};

use crate::convert::{NamedParameters, check_index, core_parameters, floats, to_bytes};
use crate::corpus::{Corpus, References};
use crate::errors::{UsageError, refuse};
use crate::interrupt::detach;
use crate::resources::gather;
use crate::statistics::Statistics;

pub(crate) fn similarity_names() -> Vec<&'static str> {
    similarity::names().collect()
}

/// The similarity matrix of an image, row by row; the n-grams of the image, and the vectors of its candidates over them,
/// candidate by candidate: none where the similarity is not an inner product of such. All float64.
#[pyfunction]
#[pyo3(signature = (corpus, image, parameters, resources=vec![]))]
pub(crate) fn similarities<'py>(
    py: Python<'py>,
    corpus: &Bound<'_, Corpus>,
    image: usize,
    parameters: NamedParameters,
    resources: Vec<Bound<'_, PyAny>>,
) -> PyResult<(Bound<'py, PyBytes>, Vec<String>, Bound<'py, PyBytes>)> {
    let corpus = &corpus.get().0;
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
    Ok((to_bytes(py, matrix.into_iter()), names, to_bytes(py, dense.into_iter())))
}

/// Eigenvalues, largest first, and eigenvectors, one after the other, of a symmetric matrix; all float64.
#[pyfunction]
pub(crate) fn eigensystem<'py>(
    py: Python<'py>,
    matrix: &[u8],
    n: usize,
) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
    let mut matrix = floats(matrix)?;
    if n.checked_mul(n) != Some(matrix.len()) || matrix.iter().any(|entry| !entry.is_finite()) {
        refuse!("{} numbers are not a matrix of {n} rows with finite entries", matrix.len());
    }
    let Eigensystem { values, vectors } = py.detach(|| Spectrum::default().system(&mut matrix, n));
    Ok((to_bytes(py, values.into_iter()), to_bytes(py, vectors.into_iter())))
}

/// The diversity that eigenvalues say.
#[pyfunction]
pub(crate) fn spectral_diversity(eigenvalues: Vec<f64>) -> f64 {
    spectral::diversity(&eigenvalues)
}

/// The corpus with only the `most` candidates of each set with the highest scores (float64, one per candidate), and
/// their places in their sets.
#[pyfunction]
pub(crate) fn top(corpus: &Bound<'_, Corpus>, scores: &[u8], most: usize) -> PyResult<(Corpus, Vec<Vec<usize>>)> {
    let (corpus, scores) = (&corpus.get().0, floats(scores)?);
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
#[pyo3(signature = (corpus, threads=0))]
pub(crate) fn leave_one_out(py: Python<'_>, corpus: &Bound<'_, Corpus>, threads: usize) -> PyResult<Corpus> {
    let references: Arc<core::References> = corpus.get().0.references.clone();
    detach(py, || core::Corpus::leave_one_out(&references, threads)).map(Corpus)
}

/// Each word of the candidates with its count, the commonest first; of equal counts alphabetically.
#[pyfunction]
pub(crate) fn word_counts(py: Python<'_>, corpus: &Bound<'_, Corpus>) -> Vec<(String, u64)> {
    let corpus = &corpus.get().0;
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
pub(crate) fn novelty(py: Python<'_>, corpus: &Bound<'_, Corpus>, training: &Bound<'_, References>) -> Statistics {
    let (corpus, training) = (&corpus.get().0, &training.get().0);
    Statistics::of_means("novelty", py.detach(|| novel_captions(corpus, training)))
}
