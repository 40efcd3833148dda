//! The values of a pickle: eight bytes each, with texts, tuples and dictionary entries in tables that only grow.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::globals::{Dtype, Global};

/// A value, or its number in a table of the [`Heap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    None,
    Bool(bool),
    /// A whole number of 32 bits, written as an integer or as a float.
    Small(i32),
    /// Any other number.
    Number(u32),
    /// Text or bytes.
    Text(u32),
    Tuple(u32),
    Dict(u32),
    /// A list, without its items: nothing that is accepted has one.
    List,
    Global(Global),
    Dtype(Dtype),
}

/// The tables.
#[derive(Debug, Default)]
pub(super) struct Heap<'a> {
    numbers: Vec<f64>,
    texts: Vec<Cow<'a, [u8]>>,
    text_numbers: FxHashMap<Cow<'a, [u8]>, u32>,
    items: Vec<Value>,
    /// Tuple `t` ends here in `items`; it begins where the one before ends.
    tuple_ends: Vec<u32>,
    dicts: u32,
    entries: Vec<Entry>,
}

/// What a dictionary maps to what.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    dict: u32,
    pub(super) key: Value,
    pub(super) value: Value,
}

impl<'a> Heap<'a> {
    /// A number; integers are exact up to 2^53, far above any count that is accepted.
    pub(super) fn number(&mut self, number: f64) -> Value {
        let small = number as i32;
        if f64::from(small).to_bits() == (number + 0.0).to_bits() {
            return Value::Small(small);
        }
        self.numbers.push(number);
        Value::Number(self.numbers.len() as u32 - 1)
    }

    /// A text, kept once however often it is read.
    pub(super) fn text(&mut self, text: Cow<'a, [u8]>) -> Value {
        if let Some(&number) = self.text_numbers.get(&text) {
            return Value::Text(number);
        }
        let number = self.texts.len() as u32;
        self.texts.push(text.clone());
        self.text_numbers.insert(text, number);
        Value::Text(number)
    }

    pub(super) fn tuple(&mut self, items: impl IntoIterator<Item = Value>) -> Value {
        self.items.extend(items);
        self.tuple_ends.push(self.items.len() as u32);
        Value::Tuple(self.tuple_ends.len() as u32 - 1)
    }

    pub(super) fn dict(&mut self) -> Value {
        self.dicts += 1;
        Value::Dict(self.dicts - 1)
    }

    pub(super) fn set(&mut self, dict: u32, key: Value, value: Value) {
        self.entries.push(Entry { dict, key, value });
    }

    pub(super) fn as_number(&self, value: Value) -> Option<f64> {
        match value {
            Value::Small(number) => Some(f64::from(number)),
            Value::Number(number) => Some(self.numbers[number as usize]),
            _ => None,
        }
    }

    pub(super) fn as_text(&self, value: Value) -> Option<&[u8]> {
        match value {
            Value::Text(number) => Some(&self.texts[number as usize]),
            _ => None,
        }
    }

    pub(super) fn as_tuple(&self, value: Value) -> Option<&[Value]> {
        let Value::Tuple(number) = value else { return None };
        let number = number as usize;
        let start = if number == 0 { 0 } else { self.tuple_ends[number - 1] as usize };
        Some(&self.items[start..self.tuple_ends[number] as usize])
    }

    /// The entries of a dictionary, in the order they were set.
    pub(super) fn entries(&self, dict: u32) -> impl Iterator<Item = Entry> + Clone {
        self.entries.iter().filter(move |entry| entry.dict == dict).copied()
    }

    /// Number of different texts.
    pub(super) fn text_count(&self) -> usize {
        self.texts.len()
    }
}
