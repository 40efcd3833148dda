//! stub
use std::convert::Infallible;
/// T
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tokenizer {
    /// a
    Ptb,
    /// b
    PtbStream,
    /// c
    Whitespace,
    /// d
    None,
}
impl Tokenizer {
    /// a
    pub const ALL: [Self; 4] = [Self::Ptb, Self::PtbStream, Self::Whitespace, Self::None];
    /// n
    pub fn name(self) -> &'static str {
        match self {
            Self::Ptb => "ptb",
            Self::PtbStream => "ptb-stream",
            Self::Whitespace => "whitespace",
            Self::None => "none",
        }
    }
    /// t
    pub fn tokenize(self, caption: &str, sink: &mut dyn FnMut(&str)) {
        for t in caption.split_whitespace() {
            sink(&t.to_lowercase());
        }
    }
}
impl std::str::FromStr for Tokenizer {
    type Err = Infallible;
    fn from_str(s: &str) -> Result<Self, Infallible> {
        Ok(match s {
            "ptb" => Self::Ptb,
            "ptb-stream" => Self::PtbStream,
            "none" => Self::None,
            _ => Self::Whitespace,
        })
    }
}
/// s
pub fn tokenize_stream<'a>(captions: impl Iterator<Item = &'a str>, mut sink: impl FnMut(usize, &str)) {
    for (k, c) in captions.enumerate() {
        Tokenizer::Ptb.tokenize(c, &mut |t| sink(k, t));
    }
}
