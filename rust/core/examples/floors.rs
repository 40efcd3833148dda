//! How far the package is from the least work that gives the same: prints, for each stage, its time, the time of a bare
//! loop, and their ratio. One thread; the least of many short rounds that take turns.
//!
//! ```bash
//! cargo run --release -p sacrecap-core --example floors -- captions_val2017.json
//! ```

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use sacrecap_core::corpus::{Corpus, References};
use sacrecap_core::engine::{Resources, Value, evaluate};
use sacrecap_core::metrics;
use sacrecap_core::read;
use sacrecap_core::text::captions::{Captions, CaptionsBuilder};
use sacrecap_core::text::sentences::Sentences;
use sacrecap_core::text::tokenize::Tokenizer;
use sacrecap_core::text::vocabulary::Vocabulary;

const ROUNDS: usize = 200;

fn main() {
    println!("{:28} {:>10} {:>10} {:>6}", "stage", "here", "bare loop", "ratio");
    let file = std::env::args().nth(1).expect("a file of captions");
    let file = std::fs::read(file).expect("a file that can be read");
    let captions = read::captions(&file, None, None).expect("captions");
    for tokenizer in [Tokenizer::Ptb, Tokenizer::Whitespace] {
        encode(&captions, tokenizer);
    }
    for words in [11, 40, 128, 300, 1000] {
        rouge_l(words);
    }
}

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }
}

/// Prints the least times, per unit, of two ways to do the same.
fn compare(stage: &str, units: usize, mut here: impl FnMut(), mut bare: impl FnMut()) {
    let mut least = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        for (least, work) in least.iter_mut().zip([&mut here as &mut dyn FnMut(), &mut bare]) {
            let start = Instant::now();
            work();
            *least = least.min(start.elapsed().as_secs_f64());
        }
    }
    let [here, bare] = least.map(|seconds| seconds * 1e9 / units as f64);
    println!("{stage:28} {here:>7.0} ns {bare:>7.0} ns {:>6.2}", here / bare);
}

/// Images with a caption and five references of so many words, a few of them very common.
fn texts(images: usize, captions: usize, words: usize, random: &mut Random) -> Captions {
    let mut builder = CaptionsBuilder::new();
    for image in 0..images {
        for _ in 0..captions {
            let word = |_| format!("w{}", 1 + 5000 / (1 + random.below(5000)) + random.below(words));
            builder.caption(&image.to_string(), &(0..words).map(word).collect::<Vec<_>>().join(" "));
        }
    }
    builder.finish()
}

/// Captions to word numbers, against splitting at blanks and looking up.
fn encode(captions: &Captions, tokenizer: Tokenizer) {
    let images: Vec<Option<u32>> = (0..captions.image_count() as u32).map(Some).collect();
    let encode = || {
        let mut vocabulary = Vocabulary::default();
        Sentences::encode(captions, &images, tokenizer, &mut vocabulary, 1)
    };
    compare(
        &format!("{tokenizer} words, a word"),
        encode().all_words().len(),
        || drop(black_box(encode())),
        || {
            let mut words = Words::default();
            (0..captions.caption_count()).for_each(|caption| words.add(captions.caption(caption)));
            black_box(words.numbers);
        },
    );
}

fn rouge_l(words: usize) {
    let mut random = Random(7);
    let images = (100_000 / (words * words / 8 + words)).clamp(4, 1000);
    let numbers: Vec<u32> = (0..images as u32).collect();
    let references = References::encode(&texts(images, 5, words, &mut random), &numbers, Tokenizer::None, 1);
    let candidates = texts(images, 1, words, &mut random);
    let corpus =
        Corpus::encode(Arc::new(references), &candidates, &numbers.into_iter().map(Some).collect::<Vec<_>>(), 1);
    let kernel = metrics::kernel("rouge-l", std::iter::once(("beta", Value::Number(1.2))).collect());
    let kernel = kernel.expect("the parameters of ROUGE-L");
    let sentences = &corpus.references.sentences;
    let mut hyyro = Hyyro::new(corpus.vocabulary.len(), words);
    compare(
        &format!("ROUGE-L, {words} words, a pair"),
        sentences.sentence_count(),
        || drop(black_box(evaluate(&corpus, &[&*kernel], &Resources::new(1)))),
        || {
            for image in 0..images {
                hyyro.flip(corpus.candidates.tokens(image));
                for reference in sentences.of_image(image) {
                    black_box(hyyro.longest_common_with(sentences.tokens(reference)));
                }
                hyyro.flip(corpus.candidates.tokens(image));
            }
        },
    );
}

/// Words in lower case between single blanks, numbered, by a table that never grows.
struct Words {
    text: Vec<u8>,
    spans: Vec<(u32, u32)>,
    slots: Vec<(u32, u32)>,
    numbers: Vec<u32>,
}

impl Default for Words {
    fn default() -> Self {
        Self { text: Vec::new(), spans: Vec::new(), slots: vec![(0, u32::MAX); 1 << 17], numbers: Vec::new() }
    }
}

impl Words {
    fn add(&mut self, text: &str) {
        let (mut start, mut hash) = (self.text.len(), 0_u32);
        for byte in text.bytes().chain([b' ']) {
            if byte != b' ' {
                let byte = byte.to_ascii_lowercase();
                self.text.push(byte);
                hash = (hash ^ u32::from(byte)).wrapping_mul(0x9e37_79b1).rotate_left(15);
            } else if start < self.text.len() {
                self.look_up(start, hash);
                (start, hash) = (self.text.len(), 0);
            }
        }
    }

    /// Numbers the word at the end of the text, which is taken off where it is not new.
    fn look_up(&mut self, start: usize, hash: u32) {
        let mut place = hash as usize % (1 << 17);
        loop {
            let (found, number) = self.slots[place];
            if number == u32::MAX {
                let new = self.spans.len() as u32;
                self.slots[place] = (hash, new);
                self.spans.push((start as u32, self.text.len() as u32));
                return self.numbers.push(new);
            }
            let (from, to) = self.spans[number as usize];
            if found == hash && self.text[from as usize..to as usize] == self.text[start..] {
                self.text.truncate(start);
                return self.numbers.push(number);
            }
            place = (place + 1) % (1 << 17);
        }
    }
}

/// The longest common subsequence by bit rows (Hyyrö 2004): the places of each word of the vocabulary in one sentence.
struct Hyyro {
    masks: Vec<u64>,
    row: Vec<u64>,
}

impl Hyyro {
    fn new(vocabulary: usize, longest: usize) -> Self {
        let blocks = longest.div_ceil(64);
        Self { masks: vec![0; vocabulary * blocks], row: vec![0; blocks] }
    }

    /// Puts the words in, or the second time out again.
    fn flip(&mut self, sentence: &[u32]) {
        for (place, &word) in sentence.iter().enumerate() {
            self.masks[word as usize * self.row.len() + place / 64] ^= 1 << (place % 64);
        }
    }

    fn longest_common_with(&mut self, other: &[u32]) -> usize {
        let blocks = self.row.len();
        self.row.fill(u64::MAX);
        for &word in other {
            let mut carry = false;
            for (cells, equal) in self.row.iter_mut().zip(&self.masks[word as usize * blocks..]) {
                let (sum, over) = cells.overflowing_add(*cells & equal);
                let (sum, over_again) = sum.overflowing_add(u64::from(carry));
                carry = over || over_again;
                *cells = sum | (*cells & !equal);
            }
        }
        self.row.iter().map(|cells| cells.count_zeros() as usize).sum()
    }
}
