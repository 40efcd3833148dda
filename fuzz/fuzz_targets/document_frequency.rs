//! Opens arbitrary bytes as document frequencies: `cargo +nightly fuzz run document_frequency`.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use sacrecap_core::document_frequency::DocumentFrequency;
use sacrecap_core::tables::SharedBytes;

fuzz_target!(|bytes: &[u8]| {
    let shared: SharedBytes = Arc::new(bytes.to_vec());
    if let Ok(frequencies) = DocumentFrequency::from_bytes(&shared) {
        assert!(frequencies.iter().count() == frequencies.ngram_count());
    }
});
