//! Sentence: the cosine of the vector of a caption with those of its references.

#![allow(clippy::inline_always, reason = "what is not inlined is compiled without the processor's wide instructions")]

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::embedded::inner_product;
use crate::Refused;
use crate::corpus::Corpus;
use crate::engine::{Built, Image, Kernel, Parameters, Prepared, Resource, Resources, with_memory};
use crate::numeric::part;
use crate::tables::{Format, Numbers, SharedBytes, Strings, mark};
use crate::text::vocabulary::{Vocabulary, Word};

/// What a caption is compared with.
#[derive(Debug, Clone, Copy)]
enum Compared {
    /// The sum of the references' unit vectors.
    Centroid,
    /// Each reference: the mean.
    Mean,
    /// Each reference: the largest.
    Best,
}

/// The metric with its parameter.
#[derive(Debug, Clone, Copy)]
struct Sentence(Compared);

/// Builds Sentence: `references`.
pub(crate) fn build(parameters: &mut Parameters) -> Built {
    let choices = [("centroid", Compared::Centroid), ("mean", Compared::Mean), ("best", Compared::Best)];
    Ok(Box::new(Sentence(parameters.choice("references", &choices)?)))
}

impl Resource for SentenceVectors {
    const NAME: &'static str = "sentence vectors";
}

impl Kernel for Sentence {
    fn prepare<'a>(&'a self, corpus: &'a Corpus, resources: &'a Resources) -> Prepared<'a> {
        let spelled = Spelled::of(resources.need::<SentenceVectors>()?, &corpus.vocabulary);
        Ok(with_memory(Scratch::default, move |scratch, image, candidate, row| {
            row[0] = scratch.score(self.0, &spelled, image, candidate);
            row[1] = 1.0;
        }))
    }
}

/// The memory of a thread, with the vectors of the references of the image that it scored last.
#[derive(Default)]
struct Scratch {
    memory: Memory,
    candidate: Vec<f64>,
    image: Option<usize>,
    references: Vec<Vec<f64>>,
    spare: Vec<Vec<f64>>,
}

impl Scratch {
    fn score(&mut self, compared: Compared, spelled: &Spelled, image: &Image<'_>, candidate: usize) -> f64 {
        if self.image.replace(image.number) != Some(image.number) {
            self.read_references(compared, spelled, image);
        }
        let is_known = spelled.read(image.candidate(candidate), &mut self.memory, &mut self.candidate);
        if self.references.is_empty() || !is_known {
            return 0.0;
        }
        let cosines = self.references.iter().map(|reference| cosine(&self.candidate, reference));
        match compared {
            Compared::Best => cosines.fold(-1.0, f64::max),
            Compared::Centroid | Compared::Mean => cosines.sum::<f64>() / self.references.len() as f64,
        }
    }

    /// The unit vectors of the references that have one; their sum alone where the caption is compared with that.
    fn read_references(&mut self, compared: Compared, spelled: &Spelled, image: &Image<'_>) {
        self.spare.append(&mut self.references);
        for words in image.references() {
            let mut vector = self.spare.pop().unwrap_or_default();
            if !spelled.read(words, &mut self.memory, &mut vector) {
                self.spare.push(vector);
                continue;
            }
            match (compared, self.references.first_mut()) {
                (Compared::Centroid, Some(sum)) => {
                    sum.iter_mut().zip(&vector).for_each(|(sum, number)| *sum += number);
                    self.spare.push(vector);
                }
                _ => self.references.push(vector),
            }
        }
    }
}

// Vectors of English captions: a table of word pieces, and how a caption's vector is made of its pieces'.
//
// The table ships with sacrecap. `models/vectors` makes it from what all-MiniLM-L6-v2 says of each word piece of BERT
// alone, trained on COCO's captions.

/// Pieces (2), vectors, scales, characters that are written in another way, and how (2).
const FORMAT: Format<7> = Format { name: "a table of sentence vectors", magic: mark::SENTENCE_VECTORS, version: 1 };

/// What stands before a piece that does not begin a word.
const INSIDE: &str = "##";
/// The most characters of a word that is cut into pieces.
const LONGEST_WORD: usize = 100;
/// By how many places the first of two neighbours is turned.
const TURN: usize = 7;
/// The weight of the neighbours beside the pieces.
const NEIGHBOURS: f64 = 0.3;

/// Vectors of word pieces.
#[derive(Debug, Clone)]
pub struct SentenceVectors {
    bytes: SharedBytes,
    /// A checksum of the contents, to name them by in signatures.
    pub checksum: u32,
    dimension: usize,
    pieces: Strings,
    vectors: Range<usize>,
    scales: Range<usize>,
    characters: Numbers,
    written: Strings,
}

impl SentenceVectors {
    /// Reads a table that is already in memory or mapped into it; it stays where it is.
    pub fn from_bytes(shared: &SharedBytes) -> Result<Self, Refused> {
        let bytes: &[u8] = shared;
        let (s, checksum) = FORMAT.read(bytes)?;
        let read = || {
            let pieces = Strings::new(Some(bytes), [&s[0], &s[1]])?;
            let (characters, written) = (Numbers::new(&s[4])?, Strings::new(Some(bytes), [&s[5], &s[6]])?);
            let dimension = s[2].len().checked_div(pieces.len()).filter(|&dimension| dimension > TURN)?;
            let fits = s[2].len() == dimension * pieces.len() && s[3].len() == 4 * pieces.len();
            (fits && characters.len == written.len()).then(|| Self {
                bytes: shared.clone(),
                checksum,
                dimension,
                pieces,
                vectors: s[2].clone(),
                scales: s[3].clone(),
                characters,
                written,
            })
        };
        read().ok_or_else(|| FORMAT.damaged())
    }

    /// Numbers of the vector of a sentence.
    pub fn width(&self) -> usize {
        2 * self.dimension
    }

    /// The numbers of the pieces of a text, as BERT's uncased tokenizer cuts it: lower case, without accents, each mark and
    /// each Chinese character a word, then the longest piece first. A word with an unknown piece has none.
    pub fn pieces(&self, text: &str) -> Vec<u32> {
        let mut pieces = Vec::new();
        for word in self.folded(text).split_whitespace() {
            let before = pieces.len();
            if !self.cut(word, &mut pieces) {
                pieces.truncate(before);
            }
        }
        pieces
    }

    /// The text in lower case, without accents, with blanks around marks and Chinese characters.
    fn folded(&self, text: &str) -> String {
        let mut folded = String::with_capacity(text.len());
        for character in text.chars() {
            match character {
                'a'..='z' | '0'..='9' => folded.push(character),
                'A'..='Z' => folded.push(character.to_ascii_lowercase()),
                _ if character.is_whitespace() => folded.push(' '),
                _ if character.is_ascii_punctuation() || is_chinese(character) => {
                    folded.extend([' ', character, ' ']);
                }
                _ => match self.characters.binary_search(&self.bytes, character as u32) {
                    Some(at) => folded.push_str(self.written.at(&self.bytes, at)),
                    None => folded.extend(character.to_lowercase()),
                },
            }
        }
        folded
    }

    /// Adds the pieces of a word; false if it has one that is unknown.
    fn cut(&self, word: &str, pieces: &mut Vec<u32>) -> bool {
        if word.chars().count() > LONGEST_WORD {
            return false;
        }
        let mut rest = word;
        let mut piece = String::with_capacity(INSIDE.len() + word.len());
        while !rest.is_empty() {
            let inside = if rest.len() == word.len() { "" } else { INSIDE };
            piece.clear();
            piece.push_str(inside);
            piece.push_str(rest);
            let number = loop {
                if piece.len() == inside.len() {
                    return false;
                }
                if let Some(number) = self.pieces.find(&self.bytes, &piece) {
                    break number;
                }
                piece.pop();
            };
            pieces.push(number as u32);
            rest = &rest[piece.len() - inside.len()..];
        }
        true
    }

    /// The piece of that number.
    pub fn piece(&self, number: u32) -> &str {
        self.pieces.at(&self.bytes, number as usize)
    }
}

/// Scales a vector to this length, and returns whether it has one; a vector that cannot be scaled becomes one of zeros.
fn scale_to(vector: &mut [f64], length: f64) -> bool {
    let sum = inner_product(vector, vector).sqrt();
    let has_length = sum > 0.0 && sum.is_finite();
    for number in vector.iter_mut() {
        *number = if has_length { *number * (length / sum) } else { 0.0 };
    }
    has_length
}

/// The cosine of two vectors, exactly 1 of equal ones; 0 of one of zeros.
pub fn cosine(x: &[f64], y: &[f64]) -> f64 {
    let lengths = inner_product(x, x) * inner_product(y, y);
    if lengths > 0.0 { (inner_product(x, y) / lengths.sqrt()).clamp(-1.0, 1.0) } else { 0.0 }
}

/// The pieces of each word of a vocabulary, with their vectors.
#[derive(Debug)]
pub struct Spelled {
    dimension: usize,
    /// Vectors of the pieces that occur, one after the other.
    rows: Vec<f32>,
    /// The rows of the pieces of all words.
    pieces: Vec<u32>,
    ends: Vec<usize>,
}

impl Spelled {
    /// Cuts every word.
    pub fn of(vectors: &SentenceVectors, vocabulary: &Vocabulary) -> Self {
        let dimension = vectors.dimension;
        let mut spelled = Self { dimension, rows: Vec::new(), pieces: Vec::new(), ends: Vec::new() };
        let mut numbers = FxHashMap::default();
        for word in vocabulary.words() {
            for piece in vectors.pieces(word) {
                let next = numbers.len() as u32;
                let row = *numbers.entry(piece).or_insert_with(|| {
                    let piece = piece as usize;
                    let scale = &vectors.bytes[vectors.scales.clone()][4 * piece..][..4];
                    let scale = f32::from_le_bytes(scale.try_into().expect("four bytes"));
                    let integers = &vectors.bytes[vectors.vectors.clone()][piece * dimension..][..dimension];
                    spelled.rows.extend(integers.iter().map(|&number| f32::from(number.cast_signed()) * scale));
                    next
                });
                spelled.pieces.push(row);
            }
            spelled.ends.push(spelled.pieces.len());
        }
        spelled
    }

    /// The unit vector of a caption of these words, of zeros if no piece of them is known; returns whether one is: the unit
    /// vector of the sum of its pieces' vectors, and beside it, with weight .3, that of the sum of the products of neighbours.
    pub fn read(&self, words: &[Word], memory: &mut Memory, vector: &mut Vec<f64>) -> bool {
        memory.pieces.clear();
        for &word in words {
            memory.pieces.extend(&self.pieces[part(&self.ends, word as usize)]);
        }
        memory.sums.clear();
        memory.sums.resize(2 * self.dimension, 0.0);
        summed(Sum { rows: &self.rows, pieces: &memory.pieces, sums: &mut memory.sums });
        vector.clear();
        vector.extend(memory.sums.iter().copied().map(f64::from));
        let (pieces, neighbours) = vector.split_at_mut(self.dimension);
        scale_to(pieces, 1.0);
        scale_to(neighbours, NEIGHBOURS);
        scale_to(vector, 1.0)
    }
}

/// What is needed while a caption is read.
#[derive(Debug, Default)]
pub struct Memory {
    pieces: Vec<u32>,
    sums: Vec<f32>,
}

/// The vectors of the pieces of a caption, to be added to a first half, and the products of neighbours to a second.
struct Sum<'a> {
    rows: &'a [f32],
    pieces: &'a [u32],
    sums: &'a mut [f32],
}

impl Sum<'_> {
    #[inline(always)]
    fn add(self) {
        let dimension = self.sums.len() / 2;
        let (sums, neighbours) = self.sums.split_at_mut(dimension);
        let (first, later) = neighbours.split_at_mut(TURN);
        let mut last: Option<&[f32]> = None;
        for &piece in self.pieces {
            let this = &self.rows[piece as usize * dimension..][..dimension];
            for (sum, number) in sums.iter_mut().zip(this) {
                *sum += number;
            }
            if let Some(last) = last {
                let (end, start) = last.split_at(dimension - TURN);
                for ((sum, a), b) in first.iter_mut().zip(start).zip(this) {
                    *sum += a * b;
                }
                for ((sum, a), b) in later.iter_mut().zip(end).zip(&this[TURN..]) {
                    *sum += a * b;
                }
            }
            last = Some(this);
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl pulp::NullaryFnOnce for Sum<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.add();
    }
}

/// The sums, as fast as this processor can: with other instructions, the same numbers.
fn summed(sum: Sum<'_>) {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = pulp::x86::V3::try_new() {
        return avx2.vectorize(sum);
    }
    sum.add();
}

/// Whether BERT's tokenizer takes the character for a Chinese one.
fn is_chinese(character: char) -> bool {
    matches!(character as u32,
        0x3400..=0x4dbf | 0x4e00..=0x9fff | 0x20000..=0x2a6df | 0x2a700..=0x2ceaf)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::tables::tests::test_reader;

    const DIMENSION: usize = 8;

    /// A file of six pieces and two characters.
    fn file() -> Vec<u8> {
        let strings = |texts: &[&str]| {
            let ends = texts.iter().scan(0_u32, |end, text| {
                *end += text.len() as u32;
                Some(*end)
            });
            let bounds = std::iter::once(0).chain(ends).flat_map(u32::to_le_bytes).collect::<Vec<u8>>();
            [texts.concat().into_bytes(), bounds]
        };
        let [pieces, bounds] = strings(&["##s", "a", "bites", "dog", "man", "中"]);
        let vectors: Vec<u8> = (0..6 * DIMENSION).map(|place| (place * place % 23) as u8).collect();
        let scales: Vec<u8> = (0..6).flat_map(|_| 0.5_f32.to_le_bytes()).collect();
        let characters: Vec<u8> = ['é', '\u{301}'].into_iter().flat_map(|one| (one as u32).to_le_bytes()).collect();
        let [written, written_bounds] = strings(&["e", ""]);
        FORMAT.write(&[pieces, bounds, vectors, scales, characters, written, written_bounds])
    }

    fn small() -> SentenceVectors {
        SentenceVectors::from_bytes(&SharedBytes::new(file())).unwrap()
    }

    fn vector(table: &SentenceVectors, text: &str) -> Vec<f64> {
        let (mut vocabulary, mut vector) = (Vocabulary::default(), Vec::new());
        let word = vocabulary.intern(text);
        Spelled::of(table, &vocabulary).read(&[word], &mut Memory::default(), &mut vector);
        vector
    }

    #[test]
    fn a_word_is_cut_into_the_longest_pieces() {
        let table = small();
        let pieces =
            |text: &str| table.pieces(text).into_iter().map(|one| table.piece(one).to_owned()).collect::<Vec<_>>();
        assert_eq!(pieces("A DOGS\tMa\u{301}n"), ["a", "dog", "##s", "man"]);
        assert_eq!(pieces("dog中dog, cat 🐶"), ["dog", "中", "dog"]);
        assert_eq!(pieces(&"a".repeat(200)), Vec::<String>::new());
        assert_eq!(pieces(""), Vec::<String>::new());
    }

    #[test]
    fn a_caption_is_near_itself_and_its_order_counts() {
        let table = small();
        let [one, other, nothing] = ["a dog bites a man", "a man bites a dog", "🐶"].map(|text| vector(&table, text));
        assert!((inner_product(&one, &one) - 1.0).abs() < 1e-12);
        assert!((cosine(&one, &one) - 1.0).abs() < f64::EPSILON);
        assert!(cosine(&one, &other) < 1.0 - 1e-6);
        assert_eq!(nothing, vec![0.0; table.width()]);
        assert!(cosine(&one, &nothing).abs() < f64::EPSILON);
    }

    #[test]
    fn a_damaged_table_is_an_error_and_a_deceiving_one_never_panics() {
        let read = |bytes: &[u8]| SentenceVectors::from_bytes(&SharedBytes::new(bytes.to_vec()));
        test_reader(&file(), read, |table| {
            for text in ["a dogs man", "é中 🐶", ""] {
                vector(table, text);
            }
        });
    }
}
