//! The names of Python that a pickle of counts may ask for, each with a fixed meaning here; no other is looked up.

use std::borrow::Cow;

use super::heap::{Heap, Value};
use super::literal;

/// Bytes are words or numbers; encoding one long text over and over would take forever.
const LONGEST_ENCODED: usize = 256;

/// A harmless name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Global {
    /// `dict` and its relatives.
    Mapping,
    /// `int` and `float`, the defaults of a `defaultdict`.
    Number,
    /// `_codecs.encode`: how protocols 0 to 2 spell bytes.
    Encode,
    /// NumPy's single numbers.
    Scalar,
    /// NumPy's number types.
    Dtype,
}

impl Global {
    /// The meaning of a name; `None` refuses it.
    pub(super) fn named(module: &[u8], name: &[u8]) -> Option<Self> {
        match (module, name) {
            (b"collections", b"defaultdict" | b"Counter" | b"OrderedDict")
            | (b"builtins" | b"__builtin__", b"dict") => Some(Self::Mapping),
            (b"builtins", b"int" | b"float") | (b"__builtin__", b"int" | b"float" | b"long") => Some(Self::Number),
            (b"_codecs", b"encode") => Some(Self::Encode),
            (b"numpy.core.multiarray" | b"numpy._core.multiarray", b"scalar") => Some(Self::Scalar),
            (b"numpy", b"dtype") => Some(Self::Dtype),
            _ => None,
        }
    }

    /// What calling it with this tuple of arguments gives; `None` when they are none that counts need.
    pub(super) fn call(self, arguments: Value, heap: &mut Heap<'_>) -> Option<Value> {
        match (self, heap.as_tuple(arguments)?) {
            (Self::Mapping, [] | [Value::None | Value::Global(Self::Number | Self::Mapping)]) => Some(heap.dict()),
            (Self::Mapping, &[dict @ Value::Dict(_)]) => Some(dict),
            (Self::Encode, &[text, _]) => {
                let bytes = latin1(heap.as_text(text).filter(|text| text.len() <= LONGEST_ENCODED)?)?;
                Some(heap.text(Cow::Owned(bytes)))
            }
            (Self::Dtype, &[name] | &[name, _, _]) => Dtype::named(heap.as_text(name)?).map(Value::Dtype),
            (Self::Scalar, &[Value::Dtype(dtype), bytes]) => {
                let number = dtype.decode(heap.as_text(bytes)?)?;
                Some(heap.number(number))
            }
            _ => None,
        }
    }
}

/// The bytes whose Latin-1 reading the UTF-8 text is.
fn latin1(text: &[u8]) -> Option<Vec<u8>> {
    std::str::from_utf8(text).ok()?.chars().map(|letter| u8::try_from(letter).ok()).collect()
}

/// A NumPy number type: kind (f, i or u) and size in bytes; little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dtype {
    kind: u8,
    size: u8,
}

impl Dtype {
    fn named(name: &[u8]) -> Option<Self> {
        match name.strip_prefix(b"<").unwrap_or(name) {
            &[kind @ (b'i' | b'u'), size @ (b'1' | b'2' | b'4' | b'8')] | &[kind @ b'f', size @ (b'4' | b'8')] => {
                Some(Self { kind, size: size - b'0' })
            }
            _ => None,
        }
    }

    fn decode(self, bytes: &[u8]) -> Option<f64> {
        if bytes.len() != usize::from(self.size) {
            return None;
        }
        match (self.kind, self.size) {
            (b'f', 4) => Some(f64::from(f32::from_le_bytes(bytes.try_into().ok()?))),
            (b'f', _) => Some(f64::from_le_bytes(bytes.try_into().ok()?)),
            (b'i', _) => Some(literal::signed(bytes)? as f64),
            _ => Some(bytes.iter().rfold(0_u64, |number, &byte| number << 8 | u64::from(byte)) as f64),
        }
    }
}

/// Whether the state given to a NumPy number type leaves it little-endian: `(version, byte order, …)`.
pub(super) fn is_little_endian(state: &[Value], heap: &Heap<'_>) -> bool {
    state.get(1).and_then(|&order| heap.as_text(order)).is_some_and(|order| matches!(order, b"<" | b"|" | b"="))
}
