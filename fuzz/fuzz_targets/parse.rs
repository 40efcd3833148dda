//! Parses arbitrary text and reads its scene graph: `cargo +nightly fuzz run parse`.
#![no_main]

use std::cell::RefCell;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use sacrecap_core::graph::SceneGraph;
use sacrecap_core::parse::{Memory, Parser};

const MODEL: &[u8] = include_bytes!("../../src/sacrecap/resources/english/parser-1.model");

static PARSER: LazyLock<Parser> = LazyLock::new(|| Parser::read(MODEL).expect("the package's model"));

thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::new(PARSER.worker());
}

fuzz_target!(|text: &str| {
    let tokens: Vec<&str> = text.split(' ').collect();
    let words = MEMORY.with_borrow_mut(|memory| PARSER.parse(memory, &tokens));
    assert!(words.iter().map(|word| word.text.as_str()).eq(tokens));
    for word in 0..words.len() {
        let ways_up = std::iter::successors(Some(word), |&word| words[word].head);
        assert!(ways_up.take(words.len() + 1).count() <= words.len(), "a cycle at word {word}");
    }
    let graph = SceneGraph::of(&words);
    let objects = graph.objects.len();
    assert!(graph.attributes.iter().all(|of| of.object < objects));
    assert!(graph.relations.iter().all(|of| of.subject < objects && of.object < objects));
});
