//! Colours, sizes and numbers among attributes.

/// What kind of attribute a word is, for the sub-scores of SPICE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Category {
    /// A colour, or how light one is.
    Color,
    /// How many.
    Cardinality,
    /// How large.
    Size,
}
