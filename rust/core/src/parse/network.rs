//! The network in integers: words of a sentence to scores of tags, heads and relations.
//!
//! Activations are multiples of 1/256 in 16 bits; sums have 32 bits, which the model's reader has checked to suffice. No
//! floating-point number occurs, so that every machine and compiler gets the same bits.

#![allow(clippy::inline_always, reason = "what is not inlined is compiled without the processor's wide instructions")]

use super::features::{self, PARTS};
use super::lanes::{Lanes, Portable, Sums, dot};
use super::matrix::{Matrix, Present};
use super::model::{BEFORE, BEHIND, FIRST_WORD, LIMIT, Model, ONE_BITS, PLACES, TABLE_BITS, WINDOW};
use super::tree::{self, Spans};

/// What is found for the words of a sentence: numbers of tags and relations, heads (0 the root, else 1 and up).
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) tags: Vec<usize>,
    pub(super) heads: Vec<usize>,
    pub(super) relations: Vec<usize>,
}

impl Found {
    /// For each word the three numbers. All fit a byte: those of names by the model's reader, and a sentence that is parsed
    /// at once has fewer words.
    pub(super) fn iter(&self) -> impl Iterator<Item = [u8; 3]> + '_ {
        let words = self.tags.iter().zip(&self.heads).zip(&self.relations);
        words.map(|((&tag, &head), &relation)| [tag, head, relation].map(|number| number as u8))
    }

    /// Takes the numbers for each word.
    pub(super) fn fill(&mut self, words: &[[u8; 3]]) {
        let places = [&mut self.tags, &mut self.heads, &mut self.relations];
        for (which, place) in places.into_iter().enumerate() {
            place.clear();
            place.extend(words.iter().map(|word| usize::from(word[which])));
        }
    }
}

/// Working memory, reused from sentence to sentence.
#[derive(Debug, Default)]
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
    present: Present,
    sums: Vec<Sums>,
    pub(super) arcs: Scores,
    label_dependent: Vec<i16>,
    label_head: Vec<i16>,
    hidden: Vec<i16>,
    spans: Spans,
    pub(super) found: Found,
}

/// Scores of heads for each word (the root, then each word), and what they are computed from.
#[derive(Debug, Default)]
pub(super) struct Scores {
    dependent: Vec<i16>,
    head: Vec<i16>,
    by_distance: Vec<i32>,
    pub(super) values: Vec<i32>,
}

/// The row of the table that unknown words have: it is empty.
const UNKNOWN: u32 = 0;

/// Entries of `first` beyond this are forgotten before the next sentence: unknown words are not kept for ever.
const FIRST_ENTRIES: usize = 12_000;

impl Activations {
    pub(super) fn new(model: &Model) -> Self {
        Self { first_at: vec![0; model.words.len() + FIRST_WORD as usize], ..Self::default() }
    }

    /// Parse a sentence of at least one word. Words are in lower case.
    #[inline(always)]
    pub(super) fn parse(&mut self, lanes: impl Lanes, model: &Model, words: &[String]) {
        let count = words.len();
        self.first_layer(lanes, model, words);
        for (layer, &[near, far]) in model.layers.iter().zip(&model.shifts) {
            self.gather(model, count, near, far);
            self.advance(lanes, layer);
        }
        self.present.find(lanes, &self.x, model.sizes.width);
        self.arcs.fill(lanes, model, &self.x, &self.present, &mut self.sums);
        tree::best_tree(&self.arcs.values, count, &mut self.spans, &mut self.found.heads);
        model.tag.apply(lanes, &self.x, &self.present, &mut self.sums);
        places_of_largest(&model.tag, &self.sums, &mut self.found.tags);
        self.relations(lanes, model, count);
    }

    /// A layer: what was gathered goes through the matrix and is added to what is known.
    #[inline(always)]
    fn advance(&mut self, lanes: impl Lanes, layer: &Matrix) {
        self.present.find(lanes, &self.gathered, layer.columns);
        layer.apply(lanes, &self.gathered, &self.present, &mut self.sums);
        for (x, &sum) in self.x.iter_mut().zip(self.sums.as_flattened()) {
            *x = (rounded(sum, layer.shift) + i32::from(*x)).clamp(0, LIMIT) as i16;
        }
    }

    #[inline(always)]
    fn first_layer(&mut self, lanes: impl Lanes, model: &Model, words: &[String]) {
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
        for number in 0..words.len() + 2 * WINDOW {
            let (row, word) = match number.checked_sub(WINDOW) {
                None => (BEFORE, ""),
                Some(number) => match words.get(number) {
                    Some(word) => (model.words.get(word.as_str()).copied().unwrap_or(UNKNOWN), word.as_str()),
                    None => (BEHIND, ""),
                },
            };
            let earlier = self.first_at[row as usize] as usize;
            let place = if earlier == 0 { self.compute(lanes, model, row, word) } else { earlier };
            self.places.push(place);
            if row != UNKNOWN {
                self.first_at[row as usize] = place as u32;
            }
        }
        self.x.clear();
        for window in self.places.windows(PLACES) {
            let at = self.x.len();
            self.x.resize(at + width, 0);
            let x = &mut self.x[at..];
            let of = |place: usize| &self.first[window[place] + place * width..][..width];
            let terms = of(0).iter().zip(of(1)).zip(of(2)).zip(of(3)).zip(of(4)).zip(&model.window_biases);
            for (x, (((((&a, &b), &c), &d), &e), &bias)) in x.iter_mut().zip(terms) {
                let sum = [a, b, c, d, e].into_iter().map(i32::from).sum::<i32>();
                // The bias lies on the grid of the sums.
                let bias = rounded(bias, model.window.shift + TABLE_BITS - ONE_BITS);
                *x = (sum + bias).clamp(0, LIMIT) as i16;
            }
        }
    }

    /// Compute a word's part of the first layer, and say where it lies.
    #[inline(always)]
    fn compute(&mut self, lanes: impl Lanes, model: &Model, row: u32, word: &str) -> usize {
        let size = model.sizes.embedding;
        let row_of = |row: usize| &model.table[row * size..][..size];
        self.embedding.clear();
        self.embedding.extend(row_of(row as usize).iter().map(|&value| i16::from(value) * i16::from(row != UNKNOWN)));
        if row != BEFORE && row != BEHIND {
            let first = FIRST_WORD as usize + model.words.len();
            let buckets: [u32; PARTS] = features::buckets(word, model.sizes.buckets as u32);
            for bucket in buckets {
                for (value, &part) in self.embedding.iter_mut().zip(row_of(first + bucket as usize)) {
                    *value += i16::from(part);
                }
            }
        }
        self.present.find(lanes, &self.embedding, size);
        model.window.apply(lanes, &self.embedding, &self.present, &mut self.sums);
        let sums = &self.sums.as_flattened()[..model.window.rows];
        let at = self.first.len();
        narrow(sums, model.window.shift + TABLE_BITS - ONE_BITS, WIDEST, &mut self.first);
        at
    }

    /// For each word, what a layer reads: of itself, of neighbours at two distances, maxima over all to either side.
    #[inline(always)]
    fn gather(&mut self, model: &Model, count: usize, near: usize, far: usize) {
        let sizes = &model.sizes;
        let (width, message, reach) = (sizes.width, sizes.message, sizes.reach);
        let columns = sizes.gathered();
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
                match neighbour.filter(|&neighbour| neighbour < count) {
                    Some(neighbour) => out.copy_from_slice(&row(neighbour)[from..from + message]),
                    None => out.fill(0),
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
        let (dependent, head) = (&model.label_dependent, &model.label_head);
        dependent.apply(lanes, &self.x, &self.present, &mut self.sums);
        self.label_dependent.clear();
        narrow(self.sums.as_flattened(), dependent.shift, WIDEST, &mut self.label_dependent);
        head.apply(lanes, &self.x, &self.present, &mut self.sums);
        self.label_head.clear();
        narrow(self.sums.as_flattened(), head.shift, WIDEST, &mut self.label_head);
        self.hidden.clear();
        for word in 0..count {
            let number = self.found.heads[word];
            let of_head = match number {
                0 => &model.label_root[..],
                number => &self.label_head[(number - 1) * head.stride()..],
            };
            let bucket = sizes.bucket(word + 1, number);
            let of_dependent = &self.label_dependent[word * dependent.stride()..];
            let terms = of_dependent.iter().zip(of_head).zip(&model.label_distance[bucket * label..]);
            self.hidden.extend(
                terms
                    .take(label)
                    .map(|((&a, &b), &c)| (i32::from(a) + i32::from(b) + i32::from(c)).clamp(0, LIMIT) as i16),
            );
        }
        self.present.find(lanes, &self.hidden, label);
        model.label.apply(lanes, &self.hidden, &self.present, &mut self.sums);
        places_of_largest(&model.label, &self.sums, &mut self.found.relations);
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
    fn fill(&mut self, lanes: impl Lanes, model: &Model, x: &[i16], present: &Present, sums: &mut Vec<Sums>) {
        let sizes = &model.sizes;
        let size = sizes.arc;
        model.dependent.apply(lanes, x, present, sums);
        self.dependent.clear();
        narrow(sums.as_flattened(), model.dependent.shift, [-LIMIT, LIMIT], &mut self.dependent);
        model.head.apply(lanes, x, present, sums);
        self.head.clear();
        narrow(sums.as_flattened(), model.head.shift, [-LIMIT, LIMIT], &mut self.head);
        let count = x.len() / sizes.width;
        let (root, root_bias) = model.root.split_at(size);
        self.values.clear();
        for (word, dependent) in self.dependent.chunks_exact(model.dependent.stride()).enumerate() {
            let dependent = &dependent[..size];
            self.values.push(dot(dependent, root) + (i32::from(root_bias[0]) << ONE_BITS));
            // Distances that occur in this sentence.
            let nearest = sizes.bucket(word, 0);
            let distances = &model.distance[nearest * size..(sizes.bucket(word, count - 1) + 1) * size];
            self.by_distance.clear();
            self.by_distance.extend(distances.chunks_exact(size).map(|distance| dot(dependent, distance)));
            for (number, head) in self.head.chunks_exact(model.head.stride()).enumerate() {
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

/// All that 16 bits hold.
const WIDEST: [i32; 2] = [i16::MIN as i32, i16::MAX as i32];

/// Sums brought to the grid of activations and within the limits, put behind the values.
#[inline(always)]
fn narrow(sums: &[i32], shift: u32, [low, high]: [i32; 2], values: &mut Vec<i16>) {
    let start = values.len();
    values.resize(start + sums.len(), 0);
    // A loop and no `extend`, whose closure would be compiled by itself.
    for (value, &sum) in values[start..].iter_mut().zip(sums) {
        *value = rounded(sum, shift).clamp(low, high) as i16;
    }
}

/// For each word the place of the largest of a matrix's sums, the first of equals.
#[inline(always)]
fn places_of_largest(matrix: &Matrix, sums: &[Sums], places: &mut Vec<usize>) {
    places.clear();
    for sums in sums.as_flattened().chunks_exact(matrix.stride()) {
        let mut best = 0;
        for (place, value) in sums[..matrix.rows].iter().enumerate() {
            if *value > sums[best] {
                best = place;
            }
        }
        places.push(best);
    }
}
