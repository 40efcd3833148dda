//! WordNet: base forms and synonyms of English words.

pub(crate) mod morphology;
