//! The Python face of sacrecap-core: convert, release the GIL, call, map errors.
//!
//! Arrays cross the border as `bytes` of little-endian numbers, which NumPy views without a copy: the limited API of
//! Python 3.10 has no buffer protocol, and the core install stays free of NumPy's own C interface.

// PyO3 hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

use pyo3::prelude::*;
use sacrecap_core::read::Format;

mod agreement;
mod arrow;
mod captions;
mod chair;
mod convert;
mod corpus;
mod diversity;
mod document_frequency;
mod embedded;
mod english;
mod errors;
mod fold;
mod formula;
mod frequency_counter;
mod gather;
mod interrupt;
mod language;
mod meteor;
mod paragraphs;
mod resample;
mod resources;
mod reward;
mod rows;
mod seen;
mod spice;
mod statistics;
mod transport;

/// Half the page faults of the system's allocator, and a tenth off the time of scoring.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Native core of sacrecap.
#[pymodule(name = "_core", gil_used = false)]
fn core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;

    // Constants, classes and functions, each in the order of the modules above.
    module.add("CORRELATIONS", sacrecap_core::agreement::STATISTICS.to_vec())?;
    module.add("CAPTION_FORMATS", Format::ALL.map(Format::name).to_vec())?;
    module.add("TOKENIZERS", corpus::tokenizer_names())?;
    module.add("SIMILARITIES", diversity::similarity_names())?;
    module.add("METEOR_LANGUAGES", meteor::languages())?;
    module.add("LARGEST_TOKEN_ID", sacrecap_core::reward::LARGEST_TOKEN_ID)?;

    module.add_class::<captions::Captions>()?;
    module.add_class::<captions::CaptionsBuilder>()?;
    module.add_class::<chair::ObjectWords>()?;
    module.add_class::<chair::NamedObjects>()?;
    module.add_class::<corpus::References>()?;
    module.add_class::<corpus::Corpus>()?;
    module.add_class::<document_frequency::DocumentFrequency>()?;
    module.add_class::<embedded::Embedded>()?;
    module.add_class::<english::Parser>()?;
    module.add_class::<english::Synonyms>()?;
    module.add_class::<meteor::MeteorTables>()?;
    module.add_class::<fold::Fold>()?;
    module.add_class::<frequency_counter::FrequencyCounter>()?;
    module.add_class::<language::LanguageCounts>()?;
    module.add_class::<language::LanguageModel>()?;
    module.add_class::<reward::Reward>()?;
    module.add_class::<reward::EncodedReferences>()?;
    module.add_class::<rows::RowsOfText>()?;
    module.add_class::<paragraphs::Paragraphs>()?;
    module.add_class::<spice::SceneGraphs>()?;
    module.add_class::<statistics::Statistics>()?;

    module.add_function(wrap_pyfunction!(agreement::correlations, module)?)?;
    module.add_function(wrap_pyfunction!(agreement::correlations_by_image, module)?)?;
    module.add_function(wrap_pyfunction!(agreement::draws, module)?)?;
    module.add_function(wrap_pyfunction!(corpus::tokenize, module)?)?;
    module.add_function(wrap_pyfunction!(diversity::similarity_matrix, module)?)?;
    module.add_function(wrap_pyfunction!(diversity::caption_vectors, module)?)?;
    module.add_function(wrap_pyfunction!(diversity::eigensystem, module)?)?;
    module.add_function(wrap_pyfunction!(diversity::spectral_diversity, module)?)?;
    module.add_function(wrap_pyfunction!(diversity::top, module)?)?;
    module.add_function(wrap_pyfunction!(diversity::leave_one_out, module)?)?;
    module.add_function(wrap_pyfunction!(diversity::novelty, module)?)?;
    module.add_function(wrap_pyfunction!(diversity::word_counts, module)?)?;
    module.add_function(wrap_pyfunction!(fold::image_keys, module)?)?;
    module.add_function(wrap_pyfunction!(fold::mixed_keys, module)?)?;
    module.add_function(wrap_pyfunction!(resample::bootstrap_intervals, module)?)?;
    module.add_function(wrap_pyfunction!(resample::paired_bootstrap, module)?)?;
    module.add_function(wrap_pyfunction!(resample::paired_exact, module)?)?;
    module.add_function(wrap_pyfunction!(resample::paired_permutation, module)?)?;
    module.add_function(wrap_pyfunction!(rows::look, module)?)?;
    module.add_function(wrap_pyfunction!(rows::names_of_lines, module)?)?;
    module.add_function(wrap_pyfunction!(rows::header, module)?)?;
    module.add_function(wrap_pyfunction!(seen::seen, module)?)?;
    module.add_function(wrap_pyfunction!(seen::seen_in_sample, module)?)?;
    module.add_function(wrap_pyfunction!(statistics::evaluate, module)?)?;
    module.add_function(wrap_pyfunction!(transport::transport, module)?)?;
    Ok(())
}
