//! Why a pickle gives no document frequencies, in words for who met it.

/// Why bytes are no pickle of document frequencies. Whatever the reason, nothing in the pickle was executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PickleError {
    /// More bytes than this reader takes.
    TooLarge(usize),
    /// A file that was made by importing or building.
    AlreadyOurs,
    /// The bytes end within an instruction.
    Truncated {
        /// Where that instruction begins.
        offset: usize,
    },
    /// A pickle protocol newer than 5.
    Protocol {
        /// The protocol number.
        version: u8,
    },
    /// A byte that is no instruction, or one that document frequencies have no need of.
    Instruction {
        /// The byte.
        opcode: u8,
        /// Where it is.
        offset: usize,
    },
    /// The pickle asks for a Python function or class outside the list of harmless ones.
    Global {
        /// Its module and name, escaped for printing.
        name: String,
        /// Where it asks.
        offset: usize,
    },
    /// An instruction that cannot be carried out.
    Malformed {
        /// What is wrong with it.
        what: &'static str,
        /// Where it begins.
        offset: usize,
    },
    /// A sound pickle of something else.
    Content(String),
}

impl std::fmt::Display for PickleError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooLarge(size) => write!(f, "the pickle has {size} bytes, more than the 2 GiB that can be imported")?,
            Self::AlreadyOurs => {
                return write!(f, "not a pickle: a document-frequency file of capeval, which needs no import");
            }
            Self::Truncated { offset } => write!(
                f,
                "the pickle ends within the instruction at byte {offset}: it was cut off; download or copy it again"
            )?,
            Self::Protocol { version } => write!(f, "pickle protocol {version} is not known; 0 to 5 are")?,
            Self::Instruction { offset: 0, .. } | Self::Malformed { offset: 0, .. } => {
                write!(f, "not a Python pickle")?;
            }
            Self::Instruction { opcode, offset } => write!(
                f,
                "the pickle has the instruction {opcode:#04x} at byte {offset}, which document frequencies have no need \
                 of: it holds another kind of object, or is damaged"
            )?,
            Self::Global { name, offset } => write!(
                f,
                "the pickle asks Python for `{name}` at byte {offset}, which document frequencies have no need of; \
                 nothing in it was executed. Do not open it with Python's `pickle` unless you trust its source"
            )?,
            Self::Malformed { what, offset } => write!(f, "damaged pickle: {what} (byte {offset})")?,
            Self::Content(what) => write!(
                f,
                "not a pickle of document frequencies: {what}. Accepted are {{'document_frequency': counts, 'ref_len': \
                 number of documents}}, the same with 'df', and the bare counts: a dictionary from tuples of 1 to 4 \
                 words to whole numbers"
            )?,
        }
        write!(f, ". `capeval df build REFERENCES -o FILE` makes document frequencies from the references")
    }
}

impl std::error::Error for PickleError {}
