//! Parsed captions: each word with its tag, its lemma and the word that it depends on.
//!
//! Tags are those of the Penn Treebank, relations the basic Stanford dependencies of CoreNLP 3.6, which the original
//! SPICE reads scene graphs from.

mod matrix;
mod model;
mod network;
#[cfg(test)]
mod tests;

use std::sync::Mutex;

use rustc_hash::FxHashMap;

use crate::Refused;
use crate::named::named;
use crate::numeric::parts;
use model::Model;
use network::Activations;

/// A word of a parsed caption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The word as it stands in the caption.
    pub text: String,
    /// Its base form: `run` of `running`.
    pub lemma: String,
    /// Its part of speech.
    pub tag: Tag,
    /// The number of the word that it depends on; None for the root of a sentence.
    pub head: Option<usize>,
    /// How it depends on that word.
    pub relation: Relation,
}

named! {
    /// A part of speech of the Penn Treebank.
    #[allow(missing_docs, reason = "the values are the names of the treebank")]
    pub enum Tag {
        Nn "NN", Nns "NNS", Nnp "NNP", Nnps "NNPS",
        Dt "DT", Pdt "PDT", In "IN", To "TO", Cc "CC", Cd "CD", Ex "EX", Fw "FW", Ls "LS", Md "MD", Pos "POS",
        Jj "JJ", Jjr "JJR", Jjs "JJS", Rb "RB", Rbr "RBR", Rbs "RBS", Rp "RP",
        Vb "VB", Vbd "VBD", Vbg "VBG", Vbn "VBN", Vbp "VBP", Vbz "VBZ",
        Prp "PRP", PrpPossessive "PRP$", Wdt "WDT", Wp "WP", WpPossessive "WP$", Wrb "WRB",
        Sym "SYM", Uh "UH", Hash "#", Dollar "$", Comma ",", Period ".", Colon ":",
        OpenQuote "``", CloseQuote "''", Open "-LRB-", Close "-RRB-",
    }
}

named! {
    /// A basic Stanford dependency, from a word to its head.
    #[allow(missing_docs, reason = "the values are the names of the treebank")]
    pub enum Relation {
        Root "ROOT", Dep "dep",
        Det "det", DetPredet "det:predet", Case "case", Nmod "nmod", NmodPoss "nmod:poss", NmodNpmod "nmod:npmod",
        NmodTmod "nmod:tmod", Amod "amod", Nummod "nummod", Compound "compound", CompoundPrt "compound:prt", Mwe "mwe",
        Appos "appos", Acl "acl", AclRelcl "acl:relcl",
        Nsubj "nsubj", Nsubjpass "nsubjpass", Csubj "csubj", Csubjpass "csubjpass", Dobj "dobj", Iobj "iobj",
        Cop "cop", Aux "aux", Auxpass "auxpass", Expl "expl", Neg "neg", Mark "mark",
        Advmod "advmod", Advcl "advcl", Xcomp "xcomp", Ccomp "ccomp",
        Cc "cc", CcPreconj "cc:preconj", Conj "conj", Parataxis "parataxis", Discourse "discourse", Punct "punct",
    }
}

// Tokens to words with tags, lemmas and heads.

/// A sentence without a mark at its end is cut here, so that time grows with the length of a text and not faster.
const LONGEST_SENTENCE: usize = 80;

/// Sentences whose parses are kept: some 20 megabytes. All are forgotten when there are more.
const KEPT: usize = 1 << 17;

/// By the words, each with a byte behind it that no text has: numbers of the tag, head and relation of each word.
type Known = FxHashMap<Box<[u8]>, Box<[[u8; 3]]>>;

/// A tagger, lemmatiser and dependency parser of captions.
///
/// It keeps what the network found: several systems are compared on the same references, and several categories of
/// propositions are counted in the same captions.
#[derive(Debug)]
pub struct Parser {
    model: Model,
    parses: Mutex<Known>,
}

/// What a thread works in, reused from caption to caption. It keeps what it computed for words that it has seen.
#[derive(Debug)]
pub struct Memory {
    activations: Activations,
    lower: Vec<String>,
    buffer: String,
    key: Vec<u8>,
}

impl Parser {
    /// From the bytes of a model file, whose magic bytes, format and checksum are checked.
    pub fn read(bytes: impl AsRef<[u8]>) -> Result<Self, Refused> {
        Ok(Self { model: Model::read(bytes.as_ref())?, parses: Mutex::default() })
    }

    /// The model's checksum: two models with the same one parse alike.
    pub fn checksum(&self) -> u32 {
        self.model.checksum
    }

    /// Memory to parse with. Parses do not depend on what it was used for before.
    pub fn worker(&self) -> Memory {
        let activations = Activations::new(&self.model);
        Memory { activations, lower: Vec::new(), buffer: String::new(), key: Vec::new() }
    }

    /// Whether the word is one that training has seen: what others are is guessed from their letters and neighbours.
    pub fn knows(&self, word: &str) -> bool {
        self.model.words.contains_key(&*word.to_lowercase())
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
        for sentence in parts(ends, tokens.len()) {
            for part in tokens[sentence].chunks(LONGEST_SENTENCE) {
                self.sentence(memory, part, &mut words);
            }
        }
        words
    }

    fn sentence(&self, memory: &mut Memory, tokens: &[&str], words: &mut Vec<Word>) {
        let Memory { activations, lower, buffer, key } = memory;
        lower.resize(lower.len().max(tokens.len()), String::new());
        for (lower, token) in lower.iter_mut().zip(tokens) {
            lower.clear();
            lower.extend(token.chars().flat_map(char::to_lowercase));
        }
        let lower = &lower[..tokens.len()];
        self.find(activations, lower, key);
        let first = words.len();
        let parse = &activations.parse;
        for (word, &text) in tokens.iter().enumerate() {
            let tag = self.model.tags[parse.tags[word]];
            let endings = match tag {
                Tag::Vb | Tag::Vbd | Tag::Vbg | Tag::Vbn | Tag::Vbp | Tag::Vbz => &self.model.verbs,
                Tag::Nns => &self.model.plurals,
                _ => &self.model.other_words,
            };
            let head = parse.heads[word].checked_sub(1).map(|head| first + head);
            let relation = if head.is_some() { self.model.relations[parse.relations[word]] } else { Relation::Root };
            words.push(Word { text: text.to_owned(), lemma: endings.lemma(&lower[word], buffer), tag, head, relation });
        }
    }

    /// Parses the words, or takes what was found for them before.
    fn find(&self, activations: &mut Activations, words: &[String], key: &mut Vec<u8>) {
        const NO_TEXT: u8 = 0xff;
        key.clear();
        for word in words {
            key.extend(word.as_bytes());
            key.push(NO_TEXT);
        }
        // A lock that is taken is not waited for: it may have been another thread's when the process was forked.
        if let Some(parse) = self.parses.try_lock().ok().as_ref().and_then(|parses| parses.get(&**key)) {
            activations.parse.fill(parse);
            return;
        }
        network::parse(activations, &self.model, words);
        if let Ok(mut parses) = self.parses.try_lock() {
            if parses.len() == KEPT {
                parses.clear();
            }
            parses.insert((&**key).into(), activations.parse.iter().collect());
        }
    }
}
