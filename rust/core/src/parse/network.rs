//! The network in integers: words of a sentence to scores of tags, heads and relations.
//!
//! Activations are multiples of 1/256 in 16 bits; sums have 32 bits, which the model's reader has checked to suffice. No
//! floating-point number occurs, so that every machine and compiler gets the same bits.

#![allow(clippy::inline_always, reason = "what is not inlined is compiled without the processor's wide instructions")]

use super::features::{self, PARTS};
use super::lanes::{Lanes, Portable, dot};
use super::model::{BEFORE, BEHIND, FIRST_WORD, LIMIT, Matrix, Model, ONE_BITS, PLACES, TABLE_BITS, WINDOW};
use super::tree::{self, Spans};

/// What is found for the words of a sentence: numbers of tags and relations, heads (0 the root, else 1 and up).
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) tags: Vec<usize>,
    pub(super) heads: Vec<usize>,
    pub(super) relations: Vec<usize>,
}

/// Working memory, reused from sentence to sentence.
#[derive(Debug)]
pub(super) struct Activations {
    /// For each row of a known word, where its part of the first layer begins in `first`; 0 if not computed yet.
    first_at: Vec<u32>,
    /// Parts of the first layer: for each place of the window the activations that a word there adds.
    first: Vec<i16>,
    embedding: Vec<i16>,
    /// Where each word of the sentence, with its surroundings, lies in `first`.
    places: Vec<usize>,
    x: Vec<i16>,
    gathered: Vec<i16>,
    sums: Vec<i32>,
    arcs: Scores,
    label_dependent: Vec<i16>,
    label_head: Vec<i16>,
    hidden: Vec<i16>,
    spans: Spans,
    pub(super) found: Found,
}

/// Scores of heads for each word (the root, then each word), and what they are computed from.
#[derive(Debug, Default)]
struct Scores {
    dependent: Vec<i16>,
    head: Vec<i16>,
    by_distance: Vec<i32>,
    values: Vec<i32>,
}

/// Entries of `first` beyond this are forgotten before the next sentence: unknown words are not kept for ever.
const FIRST_ENTRIES: usize = 12_000;

impl Activations {
    pub(super) fn new(model: &Model) -> Self {
        Self {
            first_at: vec![0; model.words.len() + FIRST_WORD as usize],
            first: Vec::new(),
            embedding: Vec::new(),
            places: Vec::new(),
            x: Vec::new(),
            gathered: Vec::new(),
            sums: Vec::new(),
            arcs: Scores::default(),
            label_dependent: Vec::new(),
            label_head: Vec::new(),
            hidden: Vec::new(),
            spans: Spans::default(),
            found: Found::default(),
        }
    }

    /// Parse a sentence of at least one word. Words are in lower case.
    #[inline(always)]
    pub(super) fn parse(&mut self, lanes: impl Lanes, model: &Model, words: &[String]) {
        let count = words.len();
        self.first_layer(model, words);
        for (layer, &[near, far]) in model.layers.iter().zip(&model.shifts) {
            self.gather(model, count, near, far);
            self.advance(lanes, layer);
        }
        self.arcs.fill(lanes, model, &self.x, &mut self.sums);
        tree::best_tree(&self.arcs.values, count, &mut self.spans, &mut self.found.heads);
        self.relations(lanes, model, count);
        multiply(lanes, &model.tag, &self.x, &mut self.sums);
        self.found.tags.clear();
        self.found.tags.extend(self.sums.chunks_exact(model.tag.rows()).map(first_of_largest));
    }

    /// Scores of heads of the last sentence: for each word the root, then each word.
    #[cfg(test)]
    pub(super) fn scores(&self) -> &[i32] {
        &self.arcs.values
    }

    /// A layer: what was gathered goes through the matrix and is added to what is known.
    #[inline(always)]
    fn advance(&mut self, lanes: impl Lanes, layer: &Matrix) {
        multiply(lanes, layer, &self.gathered, &mut self.sums);
        for (x, &sum) in self.x.iter_mut().zip(&self.sums) {
            *x = (rounded(sum, layer.shift) + i32::from(*x)).clamp(0, LIMIT) as i16;
        }
    }

    #[inline(always)]
    fn first_layer(&mut self, model: &Model, words: &[String]) {
        let width = model.sizes.width;
        let entry = PLACES * width;
        if self.first.len() > FIRST_ENTRIES * entry {
            self.first.clear();
            self.first_at.fill(0);
        }
        if self.first.is_empty() {
            self.first.resize(entry, 0);
        }
        self.places.clear();
        let before = self.known(model, BEFORE, "");
        let behind = self.known(model, BEHIND, "");
        self.places.extend([before; WINDOW]);
        for word in words {
            let place = match model.words.get(word.as_str()) {
                Some(&row) => self.known(model, row, word),
                None => self.computed(model, 0, word),
            };
            self.places.push(place);
        }
        self.places.extend([behind; WINDOW]);
        self.x.clear();
        for window in self.places.windows(PLACES) {
            let at = self.x.len();
            self.x.resize(at + width, 0);
            let x = &mut self.x[at..];
            let of = |place: usize| &self.first[window[place] + place * width..][..width];
            let terms = of(0).iter().zip(of(1)).zip(of(2)).zip(of(3)).zip(of(4)).zip(&model.window.biases);
            for (x, (((((&a, &b), &c), &d), &e), &bias)) in x.iter_mut().zip(terms) {
                let sum = [a, b, c, d, e].into_iter().map(i32::from).sum::<i32>();
                // The bias lies on the grid of the sums.
                let bias = rounded(bias, model.window.shift + TABLE_BITS - ONE_BITS);
                *x = (sum + bias).clamp(0, LIMIT) as i16;
            }
        }
    }

    /// Where a row's part of the first layer lies.
    #[inline(always)]
    fn known(&mut self, model: &Model, row: u32, word: &str) -> usize {
        if self.first_at[row as usize] == 0 {
            self.first_at[row as usize] = self.computed(model, row, word) as u32;
        }
        self.first_at[row as usize] as usize
    }

    /// Compute a word's part of the first layer; row 0 is an unknown word.
    #[inline(always)]
    fn computed(&mut self, model: &Model, row: u32, word: &str) -> usize {
        let size = model.sizes.embedding;
        let row_of = |row: usize| &model.table[row * size..][..size];
        self.embedding.clear();
        self.embedding.extend(row_of(row as usize).iter().map(|&value| i16::from(value) * i16::from(row != 0)));
        if row != BEFORE && row != BEHIND {
            let first = FIRST_WORD as usize + model.words.len();
            let buckets: [u32; PARTS] = features::buckets(word, model.sizes.buckets as u32);
            for bucket in buckets {
                for (value, &part) in self.embedding.iter_mut().zip(row_of(first + bucket as usize)) {
                    *value += i16::from(part);
                }
            }
        }
        let width = model.sizes.width;
        let at = self.first.len();
        for place in 0..PLACES {
            for output in 0..width {
                let weights = &model.window.weights[(output * PLACES + place) * size..][..size];
                let sum = dot(weights, &self.embedding);
                let value = rounded(sum, model.window.shift + TABLE_BITS - ONE_BITS);
                self.first.push(value.clamp(i16::MIN.into(), i16::MAX.into()) as i16);
            }
        }
        at
    }

    /// For each word, what a layer reads: of itself, of neighbours at two distances, maxima over all to either side.
    #[inline(always)]
    fn gather(&mut self, model: &Model, count: usize, near: usize, far: usize) {
        let sizes = &model.sizes;
        let (width, message, reach) = (sizes.width, sizes.message, sizes.reach);
        let columns = sizes.gathered();
        self.gathered.clear();
        self.gathered.resize(count * columns, 0);
        let x = &self.x;
        let row = |word: usize| &x[word * width..][..width];
        for (word, out) in self.gathered.chunks_exact_mut(columns).enumerate() {
            let (centre, out) = out.split_at_mut(sizes.centre);
            centre.copy_from_slice(&row(word)[width - sizes.centre..]);
            let neighbours = [
                (word.checked_sub(near), 0),
                (Some(word + near), 0),
                (word.checked_sub(far), message),
                (Some(word + far), message),
            ];
            for (out, (neighbour, from)) in out.chunks_exact_mut(message).zip(neighbours) {
                if let Some(neighbour) = neighbour.filter(|&neighbour| neighbour < count) {
                    out.copy_from_slice(&row(neighbour)[from..from + message]);
                }
            }
        }
        let left = sizes.centre + 4 * message;
        let right = left + reach;
        for word in 0..count {
            let (done, rest) = self.gathered.split_at_mut(word * columns);
            let out = &mut rest[left..right];
            out.copy_from_slice(&row(word)[width - 2 * reach..width - reach]);
            if word > 0 {
                let before = &done[(word - 1) * columns + left..][..reach];
                out.iter_mut().zip(before).for_each(|(value, &other)| *value = (*value).max(other));
            }
        }
        for word in (0..count).rev() {
            let (rest, done) = self.gathered.split_at_mut((word + 1) * columns);
            let out = &mut rest[word * columns + right..][..reach];
            out.copy_from_slice(&row(word)[width - reach..]);
            if word + 1 < count {
                out.iter_mut()
                    .zip(&done[right..right + reach])
                    .for_each(|(value, &other)| *value = (*value).max(other));
            }
        }
    }

    /// The relation of each word to its head.
    #[inline(always)]
    fn relations(&mut self, lanes: impl Lanes, model: &Model, count: usize) {
        let sizes = &model.sizes;
        let label = sizes.label;
        let narrowed = |values: &mut Vec<i16>, sums: &[i32], shift: u32| {
            values.clear();
            values.extend(sums.iter().map(|&sum| rounded(sum, shift).clamp(i16::MIN.into(), i16::MAX.into()) as i16));
        };
        multiply(lanes, &model.label_dependent, &self.x, &mut self.sums);
        narrowed(&mut self.label_dependent, &self.sums, model.label_dependent.shift);
        multiply(lanes, &model.label_head, &self.x, &mut self.sums);
        narrowed(&mut self.label_head, &self.sums, model.label_head.shift);
        self.hidden.clear();
        for word in 0..count {
            let head = self.found.heads[word];
            let of_head = match head {
                0 => &model.label_root,
                head => &self.label_head[(head - 1) * label..head * label],
            };
            let bucket = sizes.bucket(word + 1, head);
            let terms =
                self.label_dependent[word * label..].iter().zip(of_head).zip(&model.label_distance[bucket * label..]);
            self.hidden.extend(
                terms
                    .take(label)
                    .map(|((&a, &b), &c)| (i32::from(a) + i32::from(b) + i32::from(c)).clamp(0, LIMIT) as i16),
            );
        }
        multiply(lanes, &model.label, &self.hidden, &mut self.sums);
        self.found.relations.clear();
        self.found.relations.extend(self.sums.chunks_exact(model.label.rows()).map(first_of_largest));
    }
}

/// Parse a sentence of at least one word, as fast as this processor can. Words are in lower case.
pub(super) fn parse(activations: &mut Activations, model: &Model, words: &[String]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(lanes) = pulp::x86::V3::try_new() {
        return lanes.vectorize(With { lanes, activations, model, words });
    }
    activations.parse(Portable, model, words);
}

/// A call that is compiled for the processor that the lanes stand for. A closure would be compiled for every one.
#[cfg(target_arch = "x86_64")]
struct With<'a, L> {
    lanes: L,
    activations: &'a mut Activations,
    model: &'a Model,
    words: &'a [String],
}

#[cfg(target_arch = "x86_64")]
impl<L: Lanes> pulp::NullaryFnOnce for With<'_, L> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.activations.parse(self.lanes, self.model, self.words);
    }
}

impl Scores {
    #[inline(always)]
    fn fill(&mut self, lanes: impl Lanes, model: &Model, x: &[i16], sums: &mut Vec<i32>) {
        let sizes = &model.sizes;
        let size = sizes.arc;
        let bounded = |values: &mut Vec<i16>, sums: &[i32], shift: u32| {
            values.clear();
            values.extend(sums.iter().map(|&sum| rounded(sum, shift).clamp(-LIMIT, LIMIT) as i16));
        };
        multiply(lanes, &model.dependent, x, sums);
        bounded(&mut self.dependent, sums, model.dependent.shift);
        multiply(lanes, &model.head, x, sums);
        bounded(&mut self.head, sums, model.head.shift);
        let count = self.dependent.len() / size;
        let (root, root_bias) = model.root.split_at(size);
        self.values.clear();
        for (word, dependent) in self.dependent.chunks_exact(size).enumerate() {
            self.values.push(dot(dependent, root) + (i32::from(root_bias[0]) << ONE_BITS));
            // Distances that occur in this sentence.
            let nearest = sizes.bucket(word, 0);
            let distances = &model.distance[nearest * size..(sizes.bucket(word, count - 1) + 1) * size];
            self.by_distance.clear();
            self.by_distance.extend(distances.chunks_exact(size).map(|distance| dot(dependent, distance)));
            for (number, head) in self.head.chunks_exact(size + 1).enumerate() {
                let (head, bias) = head.split_at(size);
                let by_distance = self.by_distance[sizes.bucket(word, number) - nearest];
                self.values.push(dot(dependent, head) + (i32::from(bias[0]) << ONE_BITS) + by_distance);
            }
        }
    }
}

/// A sum brought to the grid of activations.
#[inline(always)]
fn rounded(sum: i32, shift: u32) -> i32 {
    (sum + (1 << (shift - 1))) >> shift
}

/// The place of the largest value, the first of equals.
#[inline(always)]
fn first_of_largest(values: &[i32]) -> usize {
    let mut best = 0;
    for (place, value) in values.iter().enumerate() {
        if *value > values[best] {
            best = place;
        }
    }
    best
}

/// Each row of the input through the matrix: sums with biases. Four rows go together, so that weights are read once for all.
#[inline(always)]
fn multiply(lanes: impl Lanes, matrix: &Matrix, input: &[i16], sums: &mut Vec<i32>) {
    let rows = input.len() / matrix.columns;
    sums.clear();
    sums.resize(rows * matrix.rows(), 0);
    let mut row = 0;
    while row < rows {
        row += match rows - row {
            1 => multiply_some::<1>(lanes, matrix, input, sums, row),
            2 => multiply_some::<2>(lanes, matrix, input, sums, row),
            3 => multiply_some::<3>(lanes, matrix, input, sums, row),
            _ => multiply_some::<4>(lanes, matrix, input, sums, row),
        };
    }
}

#[inline(always)]
fn multiply_some<const ROWS: usize>(
    lanes: impl Lanes,
    matrix: &Matrix,
    input: &[i16],
    sums: &mut [i32],
    row: usize,
) -> usize {
    let (columns, outputs) = (matrix.columns, matrix.rows());
    let mut inputs: [&[i16]; ROWS] = [&[]; ROWS];
    for (of_row, values) in inputs.iter_mut().zip(input[row * columns..].chunks_exact(columns)) {
        *of_row = values;
    }
    for output in (0..outputs).step_by(2) {
        // An odd last row of weights goes twice.
        let pair = [output, (output + 1).min(outputs - 1)];
        let [first, second] = pair;
        let weights = [&matrix.weights[first * columns..][..columns], &matrix.weights[second * columns..][..columns]];
        let products = lanes.dots(weights, inputs);
        for (output, products) in pair.into_iter().zip(products) {
            for (k, product) in products.into_iter().enumerate() {
                sums[(row + k) * outputs + output] = product + matrix.biases[output];
            }
        }
    }
    ROWS
}
