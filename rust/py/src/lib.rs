//! The Python face of sacrecap-core: convert, release the GIL, call, map errors.
//!
//! Arrays cross the border as `bytes` of little-endian numbers, which NumPy views without a copy: the limited API of
//! Python 3.10 has no buffer protocol, and the core install stays free of NumPy's own C interface.

// PyO3 hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

use pyo3::prelude::*;

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
mod formula;
mod gather;
mod gathered;
mod interrupt;
mod language;
mod meteor;
mod paragraphs;
mod resample;
mod resources;
mod reward;
mod spice;
mod statistics;
mod transport;

/// Half the page faults of the system's allocator, and a tenth off the time of scoring.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Native core of sacrecap.
#[pymodule(gil_used = false)]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::{
        agreement::{correlations, correlations_by_image, draws},
        captions::{Captions, CaptionsBuilder, digest_of_rows, image_ids, whole_ids},
        chair::{NamedObjects, ObjectWords},
        corpus::{Corpus, References, sample_order, seen, seen_in_sample, tokenize},
        diversity::{eigensystem, leave_one_out, novelty, similarities, spectral_diversity, top, word_counts},
        document_frequency::{DocumentFrequency, FrequencyCounter},
        embedded::{Embedded, SentenceVectors},
        english::{Parser, Synonyms, noun_base, plurals, singulars},
        gathered::{ExactSums, StatisticsBuilder},
        interrupt::share_done,
        language::{LanguageCounts, LanguageModel},
        meteor::MeteorTables,
        paragraphs::{Paragraphs, StatementFrequencies},
        resample::{bootstrap_intervals, paired_bootstrap, paired_exact, paired_permutation},
        reward::{EncodedReferences, Reward},
        spice::SceneGraphs,
        statistics::{Statistics, evaluate},
        transport::transport,
    };
    use crate::{corpus::tokenizer_names, diversity::similarity_names, meteor};

    #[pymodule_init]
    fn add_constants(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("CORRELATIONS", sacrecap_core::agreement::STATISTICS)?;
        module.add("TOKENIZERS", tokenizer_names())?;
        module.add("SIMILARITIES", similarity_names())?;
        module.add("METEOR_TASKS", meteor::tasks())?;
        module.add("LARGEST_TOKEN_ID", sacrecap_core::reward::LARGEST_TOKEN_ID)?;
        // What is public is what the stub has.
        module.delattr("__all__")
    }
}
