//! Parsed captions: each word with its tag, its lemma and the word that it depends on.
//!
//! Tags are those of the Penn Treebank, relations the basic Stanford dependencies of CoreNLP 3.6, which the original
//! SPICE reads scene graphs from.

mod features;
mod lanes;
mod matrix;
mod model;
mod network;
mod parser;
#[cfg(test)]
mod tests;
mod tree;

pub use parser::{Memory, Parser};

use crate::named::named;

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
