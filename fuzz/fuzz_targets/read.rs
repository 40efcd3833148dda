//! Reads arbitrary bytes in every format: `cargo +nightly fuzz run read`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sacrecap_core::read::{self, Format};

fuzz_target!(|bytes: &[u8]| {
    for format in Format::ALL.into_iter().map(Some).chain([None]) {
        for split in [None, Some("test")] {
            if let Err(error) = read::captions(bytes, format, split) {
                assert!(!error.to_string().contains('\n'));
            }
        }
    }
});
