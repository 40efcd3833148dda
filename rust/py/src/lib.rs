//! The Python face of sacrecap-core: convert, release the GIL, call, map errors.
//!
//! Arrays cross the border as `bytes` of little-endian numbers, which NumPy views without a copy: the limited API of
//! Python 3.10 has no buffer protocol, and the core install stays free of NumPy's own C interface.

// PyO3 hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

use pyo3::prelude::*;

mod captions;
mod convert;
mod corpus;
mod document_frequency;
mod gather;
mod gathered;
mod resample;
mod resources;
mod spice;
mod statistics;

/// Half the page faults of the system's allocator, and a tenth off the time of scoring.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Native core of sacrecap.
#[pymodule(gil_used = false)]
mod _core {
    use pyo3::prelude::*;
    use sacrecap_core::metrics::diversity::similarity;
    use sacrecap_core::text::tokenize::Tokenizer;

    use crate::resources::tasks;
    #[pymodule_export]
    use crate::{
        captions::{Captions, CaptionsBuilder, digest_of_rows, image_ids, whole_ids},
        convert::share_done,
        corpus::{
            Corpus, References, eigensystem, leave_one_out, novelty, sample_order, seen, seen_in_sample, similarities,
            spectral_diversity, tokenize, top, word_counts,
        },
        document_frequency::{
            DocumentFrequency, EncodedReferences, FrequencyCounter, LanguageCounts, LanguageModel, Reward,
        },
        gathered::{ExactSums, StatisticsBuilder},
        resample::{
            bootstrap_intervals, correlations, correlations_by_image, draws, paired_bootstrap, paired_exact,
            paired_permutation, transport,
        },
        resources::{
            Embedded, MeteorTables, NamedObjects, ObjectWords, Parser, SentenceVectors, Synonyms, noun_base, plurals,
            singulars,
        },
        spice::{Paragraphs, SceneGraphs, StatementFrequencies},
        statistics::{Statistics, evaluate},
    };

    #[pymodule_init]
    fn add_constants(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("CORRELATIONS", sacrecap_core::agreement::STATISTICS)?;
        module.add("TOKENIZERS", Tokenizer::all().map(Tokenizer::name).collect::<Vec<_>>())?;
        module.add("SIMILARITIES", similarity::names().collect::<Vec<_>>())?;
        module.add("METEOR_TASKS", tasks())?;
        module.add("LARGEST_TOKEN_ID", sacrecap_core::reward::LARGEST_TOKEN_ID)?;
        // What is public is what the stub has.
        module.delattr("__all__")
    }
}
