//! Reads arbitrary bytes as a usual file: `cargo +nightly fuzz run read`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sacrecap_core::read;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(Some(file)) = read::usual(bytes) {
        assert!(std::str::from_utf8(bytes).is_ok(), "{} of bytes that are no text", file.shape);
    }
});
