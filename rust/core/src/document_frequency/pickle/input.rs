//! The bytes of the pickle, read front to back; a length is checked against what is left before it is used.

use super::PickleError;

pub(super) struct Input<'a> {
    bytes: &'a [u8],
    next: usize,
    /// Where the instruction being carried out begins.
    offset: usize,
}

impl<'a> Input<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, next: 0, offset: 0 }
    }

    /// Number of bytes in all.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The next instruction.
    pub(super) fn opcode(&mut self) -> Result<u8, PickleError> {
        self.offset = self.next;
        self.byte()
    }

    pub(super) fn byte(&mut self) -> Result<u8, PickleError> {
        Ok(self.array::<1>()?[0])
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], PickleError> {
        Ok(self.take(N as u64)?.try_into().expect("as many bytes as asked for"))
    }

    pub(super) fn take(&mut self, length: u64) -> Result<&'a [u8], PickleError> {
        let rest = &self.bytes[self.next..];
        if length > rest.len() as u64 {
            return Err(self.truncated());
        }
        self.next += length as usize;
        Ok(&rest[..length as usize])
    }

    pub(super) fn skip(&mut self, length: u64) -> Result<(), PickleError> {
        self.take(length).map(|_| ())
    }

    /// Bytes preceded by their number, itself of `N` bytes.
    pub(super) fn sized<const N: usize>(&mut self) -> Result<&'a [u8], PickleError> {
        let mut length = [0; 8];
        length[..N].copy_from_slice(&self.array::<N>()?);
        self.take(u64::from_le_bytes(length))
    }

    /// The bytes up to the end of the line.
    pub(super) fn line(&mut self) -> Result<&'a [u8], PickleError> {
        let rest = &self.bytes[self.next..];
        let length = rest.iter().position(|&byte| byte == b'\n').ok_or_else(|| self.truncated())?;
        self.next += length + 1;
        Ok(&rest[..length])
    }

    pub(super) fn malformed(&self, what: &'static str) -> PickleError {
        PickleError::Malformed { what, offset: self.offset }
    }

    pub(super) fn unknown(&self, opcode: u8) -> PickleError {
        PickleError::Instruction { opcode, offset: self.offset }
    }

    /// The refusal of a name that is not on the list; long names are cut, unprintable characters escaped.
    pub(super) fn refused(&self, module: &[u8], name: &[u8]) -> PickleError {
        let printable =
            |name: &[u8]| -> String { String::from_utf8_lossy(&name[..name.len().min(60)]).escape_debug().collect() };
        PickleError::Global { name: format!("{}.{}", printable(module), printable(name)), offset: self.offset }
    }

    fn truncated(&self) -> PickleError {
        PickleError::Truncated { offset: self.offset }
    }
}
