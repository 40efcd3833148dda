//! Records anew the parses of all captions in `tests/goldens/parses.jsonl`, which `rust/core/tests/parses.rs` compares
//! with: after a new model, or for new captions, each added to the file as a line `{"caption": "a dog runs"}`.

use std::fmt::Write;
use std::path::Path;

use serde_json::Value;

#[path = "parses.rs"]
mod parses;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/goldens/parses.jsonl");
    let parser = parses::parser();
    let mut lines = String::new();
    for line in std::fs::read_to_string(&path)?.lines() {
        let case: Value = serde_json::from_str(line)?;
        let caption = case["caption"].as_str().ok_or("a line without caption")?;
        writeln!(lines, "{}", parses::recorded(&parser, caption))?;
    }
    std::fs::write(path, lines)?;
    Ok(())
}
