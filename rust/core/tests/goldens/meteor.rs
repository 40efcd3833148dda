//! METEOR's tables, for the tests that compare with the program: `make test-rust` finds them.
//!
//! `SACRECAP_METEOR` names the folder of data in packages/meteor. The tests that need them are ignored in a plain `cargo test`, which says so.

use std::path::PathBuf;

use serde_json::Value;

/// The file of that name in that folder.
pub(crate) fn file(name: &str) -> Vec<u8> {
    let folder = std::env::var_os("SACRECAP_METEOR").expect("SACRECAP_METEOR names no folder: run `make test-rust`");
    let path = PathBuf::from(folder).join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A list of numbers.
pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|number| number.as_f64().expect("a number")).collect()
}

/// Whether a score is the recorded one.
pub(crate) fn close(score: f64, recorded: &Value) -> bool {
    (score - recorded.as_f64().expect("a number")).abs() <= 1e-12
}

#[test]
fn continuous_integration_leaves_nothing_out() {
    let is_complete = std::env::args().any(|argument| argument == "--include-ignored");
    assert!(is_complete || std::env::var_os("CI").is_none(), "CI is set: run `make test-rust`, which ignores no test");
}
