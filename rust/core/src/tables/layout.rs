//! Tables that are read in place: strings and lists of numbers in one block of little-endian bytes.

use std::cmp::Ordering;
use std::ops::Range;

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
    values: Numbers,
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

    pub(crate) fn values(self) -> Numbers {
        self.values
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
