//! Tokens to words with tags, lemmas and heads.

use super::Word;
use super::model::{Model, ModelError};
use super::names::{Relation, Tag};
use super::network::{self, Activations};

/// A sentence without a mark at its end is cut here, so that time grows with the length of a text and not faster.
const LONGEST_SENTENCE: usize = 80;

/// A tagger, lemmatiser and dependency parser of captions.
#[derive(Debug)]
pub struct Parser(Model);

/// What a thread works in, reused from caption to caption. It keeps what it computed for words that it has seen.
#[derive(Debug)]
pub struct Memory {
    activations: Activations,
    lower: Vec<String>,
    buffer: String,
}

impl Parser {
    /// From the bytes of a model file, whose magic bytes, format and checksum are checked.
    pub fn read(bytes: impl AsRef<[u8]>) -> Result<Self, ModelError> {
        Model::read(bytes.as_ref()).map(Self)
    }

    /// The name and version of the model: `english-1`.
    pub fn version(&self) -> &str {
        &self.0.name
    }

    /// The model's checksum: two models with the same one parse alike.
    pub fn checksum(&self) -> u32 {
        self.0.checksum
    }

    /// Memory to parse with. Parses do not depend on what it was used for before.
    pub fn worker(&self) -> Memory {
        Memory { activations: Activations::new(&self.0), lower: Vec::new(), buffer: String::new() }
    }

    /// The words of a caption, one for each token, as one sentence.
    pub fn parse(&self, memory: &mut Memory, tokens: &[&str]) -> Vec<Word> {
        self.parse_sentences(memory, tokens, &[])
    }

    /// The words of a text, one for each token; heads stay within their sentence.
    ///
    /// `ends` are the places behind the last token of each sentence, rising; what is behind the last of them is one
    /// more sentence, and ends beyond the text say nothing.
    pub fn parse_sentences(&self, memory: &mut Memory, tokens: &[&str], ends: &[usize]) -> Vec<Word> {
        let mut words = Vec::with_capacity(tokens.len());
        let mut start = 0;
        for &end in ends.iter().chain([&tokens.len()]) {
            let end = end.clamp(start, tokens.len());
            for part in tokens[start..end].chunks(LONGEST_SENTENCE) {
                self.sentence(memory, part, &mut words);
            }
            start = end;
        }
        words
    }

    fn sentence(&self, memory: &mut Memory, tokens: &[&str], words: &mut Vec<Word>) {
        let Memory { activations, lower, buffer } = memory;
        lower.resize(lower.len().max(tokens.len()), String::new());
        for (lower, token) in lower.iter_mut().zip(tokens) {
            lower.clear();
            lower.extend(token.chars().flat_map(char::to_lowercase));
        }
        let lower = &lower[..tokens.len()];
        network::parse(activations, &self.0, lower);
        let first = words.len();
        let found = &activations.found;
        for (word, &text) in tokens.iter().enumerate() {
            let tag = self.0.tags[found.tags[word]];
            let endings = match tag {
                Tag::Vb | Tag::Vbd | Tag::Vbg | Tag::Vbn | Tag::Vbp | Tag::Vbz => &self.0.verbs,
                Tag::Nns => &self.0.plurals,
                _ => &self.0.others,
            };
            let head = found.heads[word].checked_sub(1).map(|head| first + head);
            let relation = if head.is_some() { self.0.relations[found.relations[word]] } else { Relation::Root };
            words.push(Word { text: text.to_owned(), lemma: endings.lemma(&lower[word], buffer), tag, head, relation });
        }
    }
}
