//! What the package's parser makes of a caption, as `tests/goldens/parses.jsonl` records it.

use sacrecap_core::graph::SceneGraph;
use sacrecap_core::parse::Parser;
use serde_json::{Value, json};

const MODEL: &[u8] = include_bytes!("../../../../src/sacrecap/resources/english/parser-1.model");

/// The parser of the package.
pub(crate) fn parser() -> Parser {
    Parser::read(MODEL).expect("the package's model")
}

/// The caption, tokens between spaces; each word with lemma, tag, head (0 the root, else 1 and up) and relation; the
/// tuples of the scene graph.
pub(crate) fn recorded(parser: &Parser, caption: &str) -> Value {
    let tokens: Vec<&str> = caption.split_ascii_whitespace().collect();
    let words = parser.parse(&mut parser.worker(), &tokens);
    let graph = SceneGraph::of(&words);
    let name = |object: usize| graph.objects[object].name.as_str();
    let rows = words.iter().map(|word| {
        let head = word.head.map_or(0, |head| head + 1);
        json!([word.text, word.lemma, word.tag.name(), head, word.relation.name()])
    });
    let objects = graph.objects.iter().map(|object| json!([object.name]));
    let attributes = graph.attributes.iter().map(|of| json!([name(of.object), of.name]));
    let relations = graph.relations.iter().map(|of| json!([name(of.subject), of.predicate, name(of.object)]));
    json!({
        "caption": caption,
        "words": rows.collect::<Value>(),
        "tuples": objects.chain(attributes).chain(relations).collect::<Value>(),
    })
}
