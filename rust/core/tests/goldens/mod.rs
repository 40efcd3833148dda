//! Recorded answers of the original programs and of our parser, one JSON value per line: in the tree, and in
//! `SACRECAP_SHARED` if it is set. A suite without a case fails.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// The recorded cases of that name. `tests/goldens/record_tokens.py`, `record_meteor.py` and
/// `record_parses.rs` beside this record those in the tree.
pub(crate) fn cases(name: &str) -> Vec<Value> {
    let mut cases = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/goldens").join(name));
    if let Some(shared) = std::env::var_os("SACRECAP_SHARED") {
        let path = PathBuf::from(shared).join("facts").join(name);
        if path.exists() {
            cases.extend(read(&path));
        }
    }
    cases
}

fn read(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let cases: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a JSON value")).collect();
    assert!(!cases.is_empty(), "{} holds no case", path.display());
    cases
}

/// A list of texts.
#[allow(dead_code, reason = "not every suite has lists")]
pub(crate) fn texts(values: &Value) -> Vec<&str> {
    values.as_array().expect("a list").iter().map(|value| value.as_str().expect("text")).collect()
}
