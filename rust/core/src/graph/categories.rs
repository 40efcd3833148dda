//! STUB until the graph branch brings it.
/// A kind of proposition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Category { Object, Attribute, Relation, Color, Count, Size }
impl Category { pub fn of(_name: &str) -> Option<Self> { None } }
