//! Tables that are used in place, in memory or in a mapped file.
//!
//! A file of tables is a header with the lengths of its sections, then the sections. All numbers are little-endian. Header:
//! magic (8 bytes), version (u32), CRC-32 of everything after it (u32), length of each section (u64 each).

use std::cmp::Ordering;
use std::ops::{Deref, Range};
use std::sync::Arc;

use crate::Refused;

/// Bytes that outlive their reader: a vector, or a memory-mapped file.
#[derive(Clone)]
pub struct SharedBytes(Arc<dyn AsRef<[u8]> + Send + Sync>);

impl SharedBytes {
    /// Shares them.
    pub fn new(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        Self(Arc::new(bytes))
    }
}

impl Deref for SharedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

impl std::fmt::Debug for SharedBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.len())
    }
}

pub(crate) mod mark {
    //! The first eight bytes of each kind of file: `sacre`, a zero byte, which no text has, and two letters.
    //!
    //! They stand together so that no two kinds have the same, and one is never read as the other.

    /// Document frequencies.
    pub(crate) const DOCUMENT_FREQUENCIES: &[u8; 8] = b"sacre\0df";
    /// The language model of Fluency.
    pub(crate) const LANGUAGE_MODEL: &[u8; 8] = b"sacre\0lm";
    /// METEOR's tables.
    pub(crate) const METEOR: &[u8; 8] = b"sacre\0me";
    /// The network of the parser of captions.
    pub(crate) const PARSER: &[u8; 8] = b"sacre\0pm";
    /// Vectors of sentences.
    pub(crate) const SENTENCE_VECTORS: &[u8; 8] = b"sacre\0sv";
    /// Synonyms.
    pub(crate) const SYNONYMS: &[u8; 8] = b"sacre\0sy";
}

/// The checksum covers what follows it.
pub(crate) const CHECKED_FROM: usize = 16;

/// A kind of file with that number of sections.
pub(crate) struct Format<const SECTIONS: usize> {
    /// Its name in messages, with its article.
    pub(crate) name: &'static str,
    /// Its first bytes.
    pub(crate) magic: &'static [u8; 8],
    /// To be raised with every change of the layout, or of what is made from the sources.
    pub(crate) version: u32,
}

impl<const SECTIONS: usize> Format<SECTIONS> {
    const HEADER: usize = CHECKED_FROM + 8 * SECTIONS;

    /// The places of the sections, and the checksum of the file.
    pub(crate) fn read(&self, bytes: &[u8]) -> Result<([Range<usize>; SECTIONS], u32), Refused> {
        let read = self.read_header(bytes)?;
        if crc32fast::hash(&bytes[CHECKED_FROM..]) != read.1 {
            return Err(self.damaged());
        }
        Ok(read)
    }

    /// As [`Format::read`], of a file whose content is known to have the checksum: only the header is read.
    pub(crate) fn read_header(&self, bytes: &[u8]) -> Result<([Range<usize>; SECTIONS], u32), Refused> {
        if !bytes.starts_with(self.magic) {
            return Err(Refused(format!("not {} of sacrecap", self.name)));
        }
        if bytes.len() < Self::HEADER {
            return Err(self.damaged());
        }
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let (version, checksum) = (number(8), number(12));
        if version != self.version {
            let Self { name, version: read, .. } = self;
            let message = format!("{name} of format version {version}, but this sacrecap reads version {read}");
            return Err(Refused(message));
        }
        Ok((Self::sections(bytes).ok_or_else(|| self.damaged())?, checksum))
    }

    /// The error for sections that do not fit together.
    pub(crate) fn damaged(&self) -> Refused {
        Refused(format!("{} that is damaged: cut off, or changed after it was written", self.name))
    }

    /// The places of the sections, if they fill the bytes exactly.
    fn sections(bytes: &[u8]) -> Option<[Range<usize>; SECTIONS]> {
        let mut end = Self::HEADER;
        let (lengths, _) = bytes[CHECKED_FROM..Self::HEADER].as_chunks();
        let mut sections = std::array::from_fn(|_| 0..0);
        for (section, &length) in sections.iter_mut().zip(lengths) {
            let start = end;
            end = start.checked_add(usize::try_from(u64::from_le_bytes(length)).ok()?)?;
            *section = (end <= bytes.len()).then_some(start..end)?;
        }
        (end == bytes.len()).then_some(sections)
    }

    /// The bytes of a file of these sections.
    pub(crate) fn write(&self, sections: &[Vec<u8>; SECTIONS]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::HEADER + sections.iter().map(Vec::len).sum::<usize>());
        bytes.extend(self.magic);
        bytes.extend(self.version.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(sections.iter().flat_map(|section| (section.len() as u64).to_le_bytes()));
        for section in sections {
            bytes.extend(section);
        }
        seal(&mut bytes);
        bytes
    }
}

/// Writes the checksum of a file into its header.
pub(crate) fn seal(bytes: &mut [u8]) {
    let checksum = crc32fast::hash(&bytes[CHECKED_FROM..]);
    bytes[CHECKED_FROM - 4..CHECKED_FROM].copy_from_slice(&checksum.to_le_bytes());
}

// Tables that are read in place: strings and lists of numbers in one block of little-endian bytes.

/// The bytes that a table is in, to check that its parts fit together; None where they were checked before.
pub(crate) type ToCheck<'a> = Option<&'a [u8]>;

/// A run of 32-bit numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbers {
    start: usize,
    pub(crate) len: usize,
}

impl Numbers {
    pub(crate) fn new(section: &Range<usize>) -> Option<Self> {
        section.len().is_multiple_of(4).then_some(Self { start: section.start, len: section.len() / 4 })
    }

    pub(crate) fn get(self, bytes: &[u8], at: usize) -> u32 {
        let start = self.start + 4 * at;
        u32::from_le_bytes(bytes[start..start + 4].try_into().expect("four bytes"))
    }

    pub(crate) fn iter(self, bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
        let (numbers, _) = bytes[self.start..self.start + 4 * self.len].as_chunks();
        numbers.iter().map(|&number| u32::from_le_bytes(number))
    }

    /// The numbers at the places `range`.
    pub(crate) fn slice(self, range: Range<usize>) -> Self {
        Self { start: self.start + 4 * range.start, len: range.len() }
    }

    /// The place of a number among sorted numbers.
    pub(crate) fn binary_search(self, bytes: &[u8], number: u32) -> Option<usize> {
        search(self.len, |at| self.get(bytes, at).cmp(&number))
    }
}

/// Bounds of consecutive parts: part `i` is `bound[i]..bound[i + 1]`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds(Numbers);

impl Bounds {
    /// None unless the parts cover `0..total` in order.
    pub(crate) fn new(bytes: ToCheck<'_>, section: &Range<usize>, first: u32, total: usize) -> Option<Self> {
        let bounds = Numbers::new(section).filter(|bounds| bounds.len > 0)?;
        let fits = bytes.is_none_or(|bytes| {
            let mut last = first;
            let sorted = bounds.iter(bytes).all(|bound| bound >= std::mem::replace(&mut last, bound));
            sorted && bounds.get(bytes, 0) == first && last as usize == total
        });
        fits.then_some(Self(bounds))
    }

    pub(crate) fn parts(self) -> usize {
        self.0.len - 1
    }

    pub(crate) fn part(self, bytes: &[u8], at: usize) -> Range<usize> {
        self.0.get(bytes, at) as usize..self.0.get(bytes, at + 1) as usize
    }
}

/// Sorted strings.
#[derive(Debug, Clone)]
pub(crate) struct Strings {
    text: Range<usize>,
    bounds: Bounds,
}

impl Strings {
    pub(crate) fn new(bytes: ToCheck<'_>, [text, bounds]: [&Range<usize>; 2]) -> Option<Self> {
        let is_text = bytes.is_none_or(|bytes| std::str::from_utf8(&bytes[text.clone()]).is_ok());
        is_text.then_some(Self { text: text.clone(), bounds: Bounds::new(bytes, bounds, 0, text.len())? })
    }

    pub(crate) fn len(&self) -> usize {
        self.bounds.parts()
    }

    fn get<'a>(&self, bytes: &'a [u8], at: usize) -> &'a [u8] {
        &bytes[self.text.clone()][self.bounds.part(bytes, at)]
    }

    /// The string at that place.
    pub(crate) fn at<'a>(&self, bytes: &'a [u8], at: usize) -> &'a str {
        std::str::from_utf8(self.get(bytes, at)).unwrap_or_default()
    }

    pub(crate) fn find(&self, bytes: &[u8], string: &str) -> Option<usize> {
        search(self.len(), |at| self.get(bytes, at).cmp(string.as_bytes()))
    }

    pub(crate) fn iter<'a>(&'a self, bytes: &'a [u8]) -> impl Iterator<Item = &'a str> {
        (0..self.len()).filter_map(|at| std::str::from_utf8(self.get(bytes, at)).ok())
    }
}

/// Lists of numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lists {
    bounds: Bounds,
    pub(crate) values: Numbers,
}

impl Lists {
    /// None unless there are `count` lists.
    pub(crate) fn new(bytes: ToCheck<'_>, [bounds, values]: [&Range<usize>; 2], count: usize) -> Option<Self> {
        let values = Numbers::new(values)?;
        let bounds = Bounds::new(bytes, bounds, 0, values.len)?;
        (bounds.parts() == count).then_some(Self { bounds, values })
    }

    pub(crate) fn get(self, bytes: &[u8], at: usize) -> impl Iterator<Item = u32> + '_ {
        self.values.slice(self.bounds.part(bytes, at)).iter(bytes)
    }
}

fn search(len: usize, compare: impl Fn(usize) -> Ordering) -> Option<usize> {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = usize::midpoint(low, high);
        match compare(middle) {
            Ordering::Less => low = middle + 1,
            Ordering::Greater => high = middle,
            Ordering::Equal => return Some(middle),
        }
    }
    None
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Checks of a reader of such files: every cut and every changed byte is an error; and with the checksum made good, a
    /// changed file that is read after all does not panic in `used`.
    pub(crate) fn test_reader<T>(bytes: &[u8], read: impl Fn(&[u8]) -> Result<T, Refused>, used: impl Fn(&T)) {
        assert!(read(bytes).is_ok());
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end]).is_err(), "cut at {end}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.to_vec();
            changed[at] ^= 1;
            assert!(read(&changed).is_err(), "byte {at}");
        }
        for at in CHECKED_FROM..bytes.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut changed = bytes.to_vec();
                changed[at] = value;
                seal(&mut changed);
                if let Ok(table) = read(&changed) {
                    used(&table);
                }
            }
        }
    }

    #[test]
    fn each_kind_has_a_mark_of_its_own() {
        let source = include_str!("tables.rs");
        let marks: Vec<&str> =
            source.lines().filter_map(|line| line.split_once("= b\"sacre\\0")).map(|at| at.1).collect();
        let distinct: std::collections::BTreeSet<_> = marks.iter().collect();
        assert_eq!((marks.len(), distinct.len()), (6, 6));
    }
}
