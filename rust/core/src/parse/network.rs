//! The network in integers: words of a sentence to scores of tags, heads and relations.
//!
//! Activations are multiples of 1/256 in 16 bits; sums have 32 bits, which the model's reader has checked to suffice. No
//! floating-point number occurs, so that every machine and compiler gets the same bits.

#![allow(clippy::inline_always, reason = "what is not inlined is compiled without the processor's wide instructions")]

use super::matrix::{Lanes, Matrix, Portable, Present, Sums, dot};
use super::model::{BEFORE, BEHIND, FIRST_WORD, LIMIT, Model, ONE_BITS, PARTS, PLACES, TABLE_BITS, WINDOW, buckets};

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
    pub(super) parse: Found,
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
            self.present.find(lanes, &self.gathered, layer.columns);
            layer.apply(lanes, &self.gathered, &self.present, &mut self.sums);
            for (x, &sum) in self.x.iter_mut().zip(self.sums.as_flattened()) {
                *x = (rounded(sum, layer.shift) + i32::from(*x)).clamp(0, LIMIT) as i16;
            }
        }
        self.present.find(lanes, &self.x, model.sizes.width);
        self.arcs.fill(lanes, model, &self.x, &self.present, &mut self.sums);
        best_tree(&self.arcs.values, count, &mut self.spans, &mut self.parse.heads);
        model.tag.apply(lanes, &self.x, &self.present, &mut self.sums);
        places_of_largest(&model.tag, &self.sums, &mut self.parse.tags);
        self.relations(lanes, model, count);
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
            let buckets: [u32; PARTS] = buckets(word, model.sizes.buckets as u32);
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
            let number = self.parse.heads[word];
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
        places_of_largest(&model.label, &self.sums, &mut self.parse.relations);
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

// The best tree for given scores: one root, no crossing arcs (Eisner's algorithm).

/// Working memory, reused from sentence to sentence.
#[derive(Debug, Default)]
struct Spans {
    /// Best score of a span whose left or right end governs it, finished or with its longest arc just drawn.
    complete: [Vec<i64>; 2],
    open: [Vec<i64>; 2],
    /// Where each was divided.
    complete_split: [Vec<u32>; 2],
    open_split: [Vec<u32>; 2],
    pending: Vec<(usize, usize, usize, bool)>,
}

const LEFT: usize = 0; // the right end governs
const RIGHT: usize = 1; // the left end governs

/// Heads of the best projective tree over `words` words with exactly one root: 0 the root, else 1 and up.
///
/// `scores` holds for each word the scores of its heads: root, first word, second word and so on (its own place is not read).
fn best_tree(scores: &[i32], words: usize, spans: &mut Spans, heads: &mut Vec<usize>) {
    heads.clear();
    heads.extend((0..words).map(|word| best_head(&scores[word * (words + 1)..][..=words], word)));
    if words > 0 && !is_projective_tree(heads) {
        spans.fill(scores, words);
        spans.read(scores, words, heads);
    }
}

/// The best head of a word alone; the first of equals.
fn best_head(scores: &[i32], word: usize) -> usize {
    let mut best = 0;
    for head in 1..scores.len() {
        if head != word + 1 && scores[head] > scores[best] {
            best = head;
        }
    }
    best
}

/// Whether heads make one tree without crossing arcs.
fn is_projective_tree(heads: &[usize]) -> bool {
    let words = heads.len();
    if heads.iter().filter(|&&head| head == 0).count() != 1 {
        return false;
    }
    // No cycle: every way upwards ends within so many steps. Captions are short; the root is mostly near.
    let reaches_root = |mut word: usize| {
        for _ in 0..words {
            match heads[word] {
                0 => return true,
                head => word = head - 1,
            }
        }
        false
    };
    if !(0..words).all(reaches_root) {
        return false;
    }
    // In a tree, arcs cross just if a word inside an arc has its head outside, the arc's ends not counting as outside.
    heads.iter().enumerate().all(|(word, &head)| {
        let (low, high) = if head < word + 1 { (head, word + 1) } else { (word + 1, head) };
        (low + 1..high).all(|inside| (low..=high).contains(&heads[inside - 1]))
    })
}

impl Spans {
    fn fill(&mut self, scores: &[i32], words: usize) {
        let Self { complete, open, complete_split, open_split, .. } = self;
        for table in complete.iter_mut().chain(open.iter_mut()) {
            table.clear();
            table.resize(words * words, 0);
        }
        for table in complete_split.iter_mut().chain(open_split.iter_mut()) {
            table.clear();
            table.resize(words * words, 0);
        }
        let score = |dependent: usize, head: usize| i64::from(scores[dependent * (words + 1) + head + 1]);
        for length in 1..words {
            for from in 0..words - length {
                let to = from + length;
                // Two finished spans that face each other; an arc between their outer ends opens the span.
                let (joined, split) = best_of(from..to, |split| {
                    complete[RIGHT][from * words + split] + complete[LEFT][(split + 1) * words + to]
                });
                let at = from * words + to;
                open[LEFT][at] = joined + score(from, to);
                open[RIGHT][at] = joined + score(to, from);
                open_split[LEFT][at] = split as u32;
                open_split[RIGHT][at] = split as u32;
                let (value, split) =
                    best_of(from..to, |split| complete[LEFT][from * words + split] + open[LEFT][split * words + to]);
                complete[LEFT][at] = value;
                complete_split[LEFT][at] = split as u32;
                let (value, split) = best_of(from + 1..to + 1, |split| {
                    open[RIGHT][from * words + split] + complete[RIGHT][split * words + to]
                });
                complete[RIGHT][at] = value;
                complete_split[RIGHT][at] = split as u32;
            }
        }
    }

    fn read(&mut self, scores: &[i32], words: usize, heads: &mut [usize]) {
        let (_, root) = best_of(0..words, |root| {
            self.complete[LEFT][root]
                + self.complete[RIGHT][root * words + words - 1]
                + i64::from(scores[root * (words + 1)])
        });
        heads[root] = 0;
        self.pending.clear();
        self.pending.push((0, root, LEFT, true));
        self.pending.push((root, words - 1, RIGHT, true));
        while let Some((from, to, side, finished)) = self.pending.pop() {
            if from == to {
                continue;
            }
            let at = from * words + to;
            if finished {
                let split = self.complete_split[side][at] as usize;
                if side == LEFT {
                    self.pending.push((from, split, LEFT, true));
                    self.pending.push((split, to, LEFT, false));
                } else {
                    self.pending.push((from, split, RIGHT, false));
                    self.pending.push((split, to, RIGHT, true));
                }
            } else {
                let split = self.open_split[side][at] as usize;
                if side == LEFT {
                    heads[from] = to + 1;
                } else {
                    heads[to] = from + 1;
                }
                self.pending.push((from, split, RIGHT, true));
                self.pending.push((split + 1, to, LEFT, true));
            }
        }
    }
}

/// The largest value, and the first place that has it. The range is not empty.
fn best_of(places: std::ops::Range<usize>, value: impl Fn(usize) -> i64) -> (i64, usize) {
    let mut best = (value(places.start), places.start);
    for place in places.skip(1) {
        let candidate = value(place);
        if candidate > best.0 {
            best = (candidate, place);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every way to give each word a head, those that are trees with one root and no crossing arcs by the definition.
    fn all_trees(words: usize) -> Vec<Vec<usize>> {
        let mut trees = vec![];
        let mut heads = vec![0; words];
        loop {
            if is_tree_by_definition(&heads) {
                trees.push(heads.clone());
            }
            let Some(word) = heads.iter().position(|&head| head < words) else { return trees };
            heads[word] += 1;
            heads[..word].fill(0);
        }
    }

    /// Whether each word descends from the one root, and every word between a head and its dependent descends from the head.
    fn is_tree_by_definition(heads: &[usize]) -> bool {
        let words = heads.len();
        let descends = |word: usize, ancestor: usize| {
            let mut now = word;
            for _ in 0..=words {
                if now == ancestor {
                    return true;
                }
                if now == 0 {
                    return false;
                }
                now = heads[now - 1];
            }
            false
        };
        heads.iter().filter(|&&head| head == 0).count() == 1
            && (1..=words).all(|word| descends(word, 0))
            && (1..=words).all(|word| {
                let head = heads[word - 1];
                (word.min(head) + 1..word.max(head)).all(|between| descends(between, head))
            })
    }

    fn value(scores: &[i32], heads: &[usize]) -> i64 {
        let width = heads.len() + 1;
        heads.iter().enumerate().map(|(word, &head)| i64::from(scores[word * width + head])).sum()
    }

    #[test]
    fn trees_are_told_from_other_heads() {
        let mut heads = vec![0; 4];
        loop {
            assert_eq!(is_projective_tree(&heads), is_tree_by_definition(&heads), "{heads:?}");
            let Some(word) = heads.iter().position(|&head| head < 4) else { break };
            heads[word] += 1;
            heads[..word].fill(0);
        }
    }

    #[test]
    fn of_equally_good_heads_the_first_is_taken() {
        assert_eq!(best_head(&[3, 9, 3, 3], 0), 0);
        assert_eq!(best_head(&[1, 9, 2, 2], 0), 2);
        assert_eq!(best_head(&[1, 2, 9, 2], 1), 1);
    }

    #[test]
    fn no_words_have_no_heads() {
        let mut heads = vec![7];
        best_tree(&[], 0, &mut Spans::default(), &mut heads);
        assert_eq!(heads, [0; 0]);
    }

    proptest! {
        #[test]
        fn the_tree_found_is_the_best_of_all(words in 1usize..=5, seed in proptest::collection::vec(-1_000_000_000i32..1_000_000_000, 30)) {
            let scores = &seed[..words * (words + 1)];
            let mut spans = Spans::default();
            let mut heads = vec![];
            best_tree(scores, words, &mut spans, &mut heads);
            prop_assert!(is_tree_by_definition(&heads));
            let best = all_trees(words).iter().map(|tree| value(scores, tree)).max();
            prop_assert_eq!(Some(value(scores, &heads)), best);
            // Without the short way round it is the same.
            let mut again = vec![0; words];
            spans.fill(scores, words);
            spans.read(scores, words, &mut again);
            prop_assert_eq!(value(scores, &again), value(scores, &heads));
        }
    }
}
