//! The file of a parser: words, tags, relations, the network's integers, the endings of lemmas.
//!
//! All numbers are little-endian. Header: magic (8 bytes), format (u32), CRC-32 of what follows the header (u32), its length
//! (u32). Then, a text being its length (u32) and UTF-8: the name; the sizes (u32 each, in the order of [`Sizes`]); the
//! number of layers, and two shifts for each; tags, relations and words, each one text, a line each; the table of words and
//! parts (i8); the matrices window, layers, tag, dependent, head, label dependent, label head, label, each as its shift
//! (u32), weights (i16), biases (i32); the vectors root, distance, label root, label distance (i16); for verbs, plurals and
//! other words the endings, a text of lines `ending TAB letters taken off TAB letters put on`.
//!
//! `models/parser/export.py` writes it.

use rustc_hash::FxHashMap;

use super::matrix::{COLUMNS, Matrix};
use super::{Relation, Tag};
use crate::Refused;
use crate::tables::mark::PARSER as MARK;
use crate::text::word_forms::Endings;

const FORMAT: u32 = 1;
const HEADER: usize = 20;

/// An activation of 1.
pub(super) const ONE_BITS: u32 = 8;
/// The largest activation.
pub(super) const LIMIT: i32 = 8 << ONE_BITS;
/// A value of 1 in the table of words.
pub(super) const TABLE_BITS: u32 = 6;
/// Words on either side that the first layer sees.
pub(super) const WINDOW: usize = 2;
/// Places of the first layer's window.
pub(super) const PLACES: usize = 2 * WINDOW + 1;
/// Rows of the table before those of words: nothing, what stands before a sentence, what stands behind.
pub(super) const BEFORE: u32 = 1;
pub(super) const BEHIND: u32 = 2;
pub(super) const FIRST_WORD: u32 = 3;

/// Sums must stay below this, so that 32 bits hold them with everything that is added.
const SUM_LIMIT: u64 = 1 << 30;
/// No size is larger: what a file claims is never believed before memory is taken for it.
const SIZE_LIMIT: usize = 1 << 12;

/// The refusal of what is not, or no longer, a parser.
fn damaged(what: &str) -> Refused {
    Refused(format!("damaged parser ({what}); install sacrecap again"))
}

/// Sizes of the network.
#[derive(Debug, Clone)]
pub(super) struct Sizes {
    pub(super) embedding: usize,
    pub(super) width: usize,
    /// Activations that a layer sees of a neighbour.
    pub(super) message: usize,
    /// Activations that a layer sees of the word itself.
    pub(super) centre: usize,
    /// Activations of which a layer sees the maximum over all words on one side.
    pub(super) reach: usize,
    pub(super) arc: usize,
    pub(super) label: usize,
    /// Distances beyond this count as this.
    pub(super) distance: usize,
    pub(super) buckets: usize,
}

impl Sizes {
    /// Numbers that a layer reads for a word.
    pub(super) fn gathered(&self) -> usize {
        self.centre + 4 * self.message + 2 * self.reach
    }

    /// The number of the distance from a word to its head.
    #[inline]
    pub(super) fn bucket(&self, word: usize, head: usize) -> usize {
        (head + self.distance).saturating_sub(word).min(2 * self.distance)
    }
}

/// All that a file holds.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) checksum: u32,
    pub(super) sizes: Sizes,
    pub(super) shifts: Vec<[usize; 2]>,
    pub(super) tags: Vec<Tag>,
    pub(super) relations: Vec<Relation>,
    pub(super) words: FxHashMap<Box<str>, u32>,
    pub(super) table: Vec<i8>,
    /// What each place of the window adds to the first layer: rows of the first place, then of the second and so on.
    pub(super) window: Matrix,
    /// Biases of the first layer, on the grid of the window's sums.
    pub(super) window_biases: Vec<i32>,
    pub(super) layers: Vec<Matrix>,
    pub(super) tag: Matrix,
    pub(super) dependent: Matrix,
    pub(super) head: Matrix,
    pub(super) label_dependent: Matrix,
    pub(super) label_head: Matrix,
    pub(super) label: Matrix,
    pub(super) root: Vec<i16>,
    pub(super) distance: Vec<i16>,
    pub(super) label_root: Vec<i16>,
    pub(super) label_distance: Vec<i16>,
    pub(super) verbs: Endings,
    pub(super) plurals: Endings,
    pub(super) other_words: Endings,
}

impl Model {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Refused> {
        if !bytes.starts_with(MARK) {
            return Err(Refused("not a parser of sacrecap; install sacrecap again".to_owned()));
        }
        let mut header = Reader(&bytes[MARK.len()..bytes.len().min(HEADER)]);
        let format = header.number()?;
        if format != FORMAT {
            let message =
                format!("parser of format {format}, this sacrecap reads format {FORMAT}; install sacrecap again");
            return Err(Refused(message));
        }
        let checksum = header.number()?;
        let length = header.number()? as usize;
        let body = &bytes[HEADER..];
        if body.len() != length {
            return Err(damaged("its length is not the one that its header says"));
        }
        if crc32fast::hash(body) != checksum {
            return Err(damaged("its checksum differs"));
        }
        Self::body(&mut Reader(body), checksum)
    }

    fn body(reader: &mut Reader, checksum: u32) -> Result<Self, Refused> {
        reader.text()?; // the name, for people
        let sizes = Sizes {
            embedding: reader.size()?,
            width: reader.size()?,
            message: reader.size()?,
            centre: reader.size()?,
            reach: reader.size()?,
            arc: reader.size()?,
            label: reader.size()?,
            distance: reader.size()?,
            buckets: reader.size()?,
        };
        if sizes.width < sizes.centre.max(2 * sizes.message).max(2 * sizes.reach) {
            return Err(damaged("its layers are narrower than what they hand on"));
        }
        let wide = [sizes.embedding, sizes.width, sizes.gathered(), sizes.label];
        if wide.iter().any(|size| !size.is_multiple_of(COLUMNS)) {
            return Err(damaged("its layers are not multiples of 16 wide"));
        }
        // A score of an arc sums products of two activations.
        if 2 * sizes.arc as u64 * u64::from(LIMIT.unsigned_abs()).pow(2) > SUM_LIMIT {
            return Err(damaged("its vectors of arcs are too long"));
        }
        let layers = reader.size()?;
        let mut shifts = Vec::new();
        for _ in 0..layers {
            shifts.push([reader.size()?, reader.size()?]);
        }
        let tags = reader.names(Tag::of)?;
        let relations = reader.names(Relation::of)?;
        let words: FxHashMap<Box<str>, u32> =
            reader.lines()?.zip(FIRST_WORD..).map(|(word, row)| (word.into(), row)).collect();
        let rows = FIRST_WORD as usize + words.len() + sizes.buckets;
        let table = reader.bytes(rows * sizes.embedding)?.iter().map(|&byte| byte.cast_signed()).collect();
        let embedded = u64::from(i8::MIN.unsigned_abs()) * (1 + PARTS as u64);
        let limit = u64::from(LIMIT.unsigned_abs());
        let gathered = sizes.gathered();
        let (window, window_biases) = reader.window(&sizes, embedded)?;
        Ok(Self {
            window,
            window_biases,
            layers: (0..layers).map(|_| reader.matrix(sizes.width, gathered, limit)).collect::<Result<_, _>>()?,
            tag: reader.matrix(tags.len(), sizes.width, limit)?,
            dependent: reader.matrix(sizes.arc, sizes.width, limit)?,
            head: reader.matrix(sizes.arc + 1, sizes.width, limit)?,
            label_dependent: reader.matrix(sizes.label, sizes.width, limit)?,
            label_head: reader.matrix(sizes.label, sizes.width, limit)?,
            label: reader.matrix(relations.len(), sizes.label, limit)?,
            root: reader.vector(sizes.arc + 1)?,
            distance: reader.vector((2 * sizes.distance + 1) * sizes.arc)?,
            label_root: reader.vector(sizes.label)?,
            label_distance: reader.vector((2 * sizes.distance + 1) * sizes.label)?,
            verbs: reader.endings()?,
            plurals: reader.endings()?,
            other_words: reader.endings()?,
            checksum,
            sizes,
            shifts,
            tags,
            relations,
            words,
            table,
        })
    }
}

/// What is left to read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize) -> Result<&'a [u8], Refused> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or_else(|| damaged("it ends too early"))?;
        self.0 = rest;
        Ok(bytes)
    }

    fn number(&mut self) -> Result<u32, Refused> {
        Ok(u32::from_le_bytes(self.bytes(4)?.try_into().expect("four bytes")))
    }

    fn size(&mut self) -> Result<usize, Refused> {
        let size = self.number()? as usize;
        if (1..=SIZE_LIMIT).contains(&size) { Ok(size) } else { Err(damaged("a size is out of range")) }
    }

    fn text(&mut self) -> Result<&'a str, Refused> {
        let length = self.number()? as usize;
        str::from_utf8(self.bytes(length)?).map_err(|_| damaged("a text is not UTF-8"))
    }

    fn lines(&mut self) -> Result<impl Iterator<Item = &'a str>, Refused> {
        Ok(self.text()?.split('\n').filter(|line| !line.is_empty()))
    }

    /// Names of tags or relations, whose numbers fit a byte.
    fn names<T>(&mut self, of: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, Refused> {
        let names: Option<Vec<T>> = self.lines()?.map(of).collect();
        names
            .filter(|names| (1..=1 << u8::BITS).contains(&names.len()))
            .ok_or_else(|| damaged("it has a tag or relation without a name here, or more than 256"))
    }

    fn vector(&mut self, count: usize) -> Result<Vec<i16>, Refused> {
        let values = self.bytes(2 * count)?.as_chunks().0.iter().map(|&pair| i16::from_le_bytes(pair));
        let is_whole = values.clone().all(|value| i32::from(value).abs() <= LIMIT);
        if is_whole { Ok(values.collect()) } else { Err(damaged("a vector is out of range")) }
    }

    /// A matrix for inputs of at most that size.
    fn matrix(&mut self, rows: usize, columns: usize, input_limit: u64) -> Result<Matrix, Refused> {
        let (shift, weights, biases) = self.rows(rows, columns, input_limit)?;
        Ok(Matrix::new(columns, shift, &weights, &biases))
    }

    /// The matrix of the window, whose file has the places side by side, and its biases.
    fn window(&mut self, sizes: &Sizes, input_limit: u64) -> Result<(Matrix, Vec<i32>), Refused> {
        let Sizes { embedding, width, .. } = *sizes;
        let (shift, weights, biases) = self.rows(width, PLACES * embedding, input_limit)?;
        let rows: Vec<&[i16]> = weights.chunks_exact(embedding).collect();
        let turned = (0..PLACES).flat_map(|place| rows[place..].iter().step_by(PLACES).copied());
        let turned: Vec<i16> = turned.flatten().copied().collect();
        Ok((Matrix::new(embedding, shift, &turned, &vec![0; PLACES * width]), biases))
    }

    /// Shift, weights row after row, biases.
    fn rows(&mut self, rows: usize, columns: usize, input_limit: u64) -> Result<(u32, Vec<i16>, Vec<i32>), Refused> {
        let shift = self.number()?;
        let weights = self.bytes(2 * rows * columns)?.as_chunks().0.iter();
        let weights: Vec<i16> = weights.map(|&pair| i16::from_le_bytes(pair)).collect();
        let biases = self.bytes(4 * rows)?.as_chunks().0.iter();
        let biases: Vec<i32> = biases.map(|&four| i32::from_le_bytes(four)).collect();
        let sums_fit = weights.chunks_exact(columns).zip(&biases).all(|(row, &bias)| {
            let weight: u64 = row.iter().map(|&weight| u64::from(weight.unsigned_abs())).sum();
            weight * input_limit + u64::from(bias.unsigned_abs()) < SUM_LIMIT
        });
        if !(2..=14).contains(&shift) || !sums_fit {
            return Err(damaged("a matrix is out of range"));
        }
        Ok((shift, weights, biases))
    }

    fn endings(&mut self) -> Result<Endings, Refused> {
        Endings::read(self.lines()?).ok_or_else(|| damaged("an ending of lemmas cannot be read"))
    }
}

// The network's input for a word in addition to its number: hashes of its parts. `models/parser/features.py`
// mirrors this.

/// Parts of a word: four endings, two beginnings, what follows the last hyphen, the shape.
pub(super) const PARTS: usize = 8;

/// The bucket of each part, of so many buckets.
pub(super) fn buckets(word: &str, count: u32) -> [u32; PARTS] {
    let bytes = word.as_bytes();
    let ending = |length: usize| &bytes[bytes.len().saturating_sub(length)..];
    let beginning = |length: usize| &bytes[..bytes.len().min(length)];
    let after_hyphen = word.rfind('-').map_or(0, |at| at + 1);
    let shape = shape(word);
    let parts: [(u8, &[u8]); PARTS] = [
        (b'1', ending(1)),
        (b'2', ending(2)),
        (b'3', ending(3)),
        (b'4', ending(4)),
        (b'b', beginning(2)),
        (b'c', beginning(4)),
        (b'h', &bytes[after_hyphen..]),
        (b's', shape.as_bytes()),
    ];
    parts.map(|(kind, part)| {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&[kind]);
        hasher.update(part);
        hasher.finalize() % count
    })
}

/// Kinds of characters in their order, without repetition: `a-0` for `abc-12`.
fn shape(word: &str) -> String {
    let mut shape = String::new();
    for character in word.chars() {
        let kind = match character {
            'a'..='z' => 'a',
            '0'..='9' => '0',
            '\u{80}'.. => 'x',
            other => other,
        };
        if !shape.ends_with(kind) {
            shape.push(kind);
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_of_a_word_keeps_its_marks() {
        assert_eq!(["abc-12", "t-shirt", "Été", "", "4:30"].map(shape), ["a-0", "a-a", "xax", "", "0:0"]);
    }

    #[test]
    fn parts_are_those_that_the_network_was_trained_with() {
        // From models/parser/features.py.
        assert_eq!(buckets("t-shirt", 4096), [104, 1725, 1709, 2121, 1755, 2983, 1945, 2648]);
        assert_eq!(buckets("é", 4096), [3585, 1837, 3354, 2975, 2461, 938, 3147, 452]);
    }
}
