//! The closed sets of names that a parse is made of.

use crate::named::named;

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
