//! Parses of the package's model against recorded ones: no change of code moves them by a word.

mod goldens;
#[path = "goldens/parses.rs"]
mod parses;

use goldens::cases;

#[test]
fn captions_are_parsed_as_they_were() {
    let parser = parses::parser();
    for case in cases("parses.jsonl") {
        let caption = case["caption"].as_str().expect("text");
        let found = parses::recorded(&parser, caption);
        assert_eq!(found, case, "{caption:?}: `cargo run --example record_parses` records a new model's parses");
    }
}
