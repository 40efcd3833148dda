//! Opens arbitrary bytes as document frequencies: `cargo +nightly fuzz run document_frequency`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sacrecap_core::document_frequency::DocumentFrequency;
use sacrecap_core::tables::SharedBytes;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(frequencies) = DocumentFrequency::from_bytes(&SharedBytes::new(bytes.to_vec())) {
        assert!(frequencies.frequencies.iter().count() == frequencies.frequencies.ngram_count());
    }
});
