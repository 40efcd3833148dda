//! The network again, slow and simple: one number after the other in 64 bits, without caches. Tests compare with it.

use crate::parse::matrix::Matrix;
use crate::parse::model::{BEFORE, BEHIND, FIRST_WORD, LIMIT, Model, ONE_BITS, PLACES, TABLE_BITS, WINDOW, buckets};

/// Tags, scores of heads (the root, then each word) and, for given heads, relations.
pub(super) struct Slow {
    x: Vec<Vec<i64>>,
}

fn rounded(sum: i64, shift: u32) -> i64 {
    (sum + (1 << (shift - 1))).div_euclid(1 << shift)
}

fn through(matrix: &Matrix, input: &[i64]) -> Vec<i64> {
    (0..matrix.rows)
        .map(|row| {
            let products = (0..matrix.columns).map(|k| i64::from(matrix.weight(row, k)) * input[k]);
            products.sum::<i64>() + i64::from(matrix.bias(row))
        })
        .collect()
}

fn place_of_largest(values: &[i64]) -> usize {
    (0..values.len()).rev().max_by_key(|&place| values[place]).expect("there are values")
}

impl Slow {
    pub(super) fn new(model: &Model, words: &[String]) -> Self {
        let limit = i64::from(LIMIT);
        let sizes = &model.sizes;
        let row = |row: usize| (0..sizes.embedding).map(move |k| i64::from(model.table[row * sizes.embedding + k]));
        let vector = |word: &str| -> Vec<i64> {
            let mut sum = vec![0; sizes.embedding];
            let known = model.words.get(word).map(|&row| row as usize);
            let first = FIRST_WORD as usize + model.words.len();
            let parts = buckets(word, sizes.buckets as u32).map(|bucket| first + bucket as usize);
            for number in known.into_iter().chain(parts) {
                sum.iter_mut().zip(row(number)).for_each(|(sum, value)| *sum += value);
            }
            sum
        };
        let mut padded = vec![row(BEFORE as usize).collect::<Vec<_>>(); WINDOW];
        padded.extend(words.iter().map(|word| vector(word)));
        padded.extend(vec![row(BEHIND as usize).collect::<Vec<_>>(); WINDOW]);
        let down = model.window.shift + TABLE_BITS - ONE_BITS;
        let mut x: Vec<Vec<i64>> = padded
            .windows(PLACES)
            .map(|window| {
                (0..sizes.width)
                    .map(|output| {
                        let mut sum = rounded(i64::from(model.window_biases[output]), down);
                        for (place, word) in window.iter().enumerate() {
                            let weight = |k: usize| i64::from(model.window.weight(place * sizes.width + output, k));
                            let part: i64 = word.iter().enumerate().map(|(k, &value)| value * weight(k)).sum();
                            sum += rounded(part, down);
                        }
                        sum.clamp(0, limit)
                    })
                    .collect()
            })
            .collect();
        for (layer, &[near, far]) in model.layers.iter().zip(&model.shifts) {
            let at = |word: usize, by: isize, k: usize| {
                word.checked_add_signed(by).and_then(|word| x.get(word)).map_or(0, |row| row[k])
            };
            let (near, far) = (near.cast_signed(), far.cast_signed());
            let next = (0..x.len())
                .map(|word| {
                    let mut seen: Vec<i64> = x[word][sizes.width - sizes.centre..].to_vec();
                    for (by, from) in [(-near, 0), (near, 0), (-far, sizes.message), (far, sizes.message)] {
                        seen.extend((from..from + sizes.message).map(|k| at(word, by, k)));
                    }
                    let largest = |words: &[Vec<i64>], k: usize| words.iter().map(|row| row[k]).max().unwrap();
                    let left = sizes.width - 2 * sizes.reach..sizes.width - sizes.reach;
                    seen.extend(left.map(|k| largest(&x[..=word], k)));
                    seen.extend((sizes.width - sizes.reach..sizes.width).map(|k| largest(&x[word..], k)));
                    let sums = through(layer, &seen);
                    (0..sizes.width).map(|k| (rounded(sums[k], layer.shift) + x[word][k]).clamp(0, limit)).collect()
                })
                .collect();
            x = next;
        }
        Self { x }
    }

    pub(super) fn tags(&self, model: &Model) -> Vec<usize> {
        self.x.iter().map(|x| place_of_largest(&through(&model.tag, x))).collect()
    }

    pub(super) fn scores(&self, model: &Model) -> Vec<i64> {
        let limit = i64::from(LIMIT);
        let size = model.sizes.arc;
        let bounded = |matrix: &Matrix, x: &[i64]| -> Vec<i64> {
            through(matrix, x).into_iter().map(|sum| rounded(sum, matrix.shift).clamp(-limit, limit)).collect()
        };
        let product = |a: &[i64], b: &[i64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<i64>();
        let wide = |values: &[i16]| values.iter().map(|&value| i64::from(value)).collect::<Vec<_>>();
        let heads: Vec<Vec<i64>> = self.x.iter().map(|x| bounded(&model.head, x)).collect();
        let mut scores = vec![];
        for (word, x) in self.x.iter().enumerate() {
            let dependent = bounded(&model.dependent, x);
            let root = wide(&model.root);
            scores.push(product(&dependent, &root[..size]) + (root[size] << ONE_BITS));
            for (number, head) in heads.iter().enumerate() {
                let reach = model.sizes.distance.cast_signed();
                let distance = (number.cast_signed() - word.cast_signed()).clamp(-reach, reach) + reach;
                let distance = wide(&model.distance[distance.cast_unsigned() * size..][..size]);
                scores.push(
                    product(&dependent, &head[..size]) + (head[size] << ONE_BITS) + product(&dependent, &distance),
                );
            }
        }
        scores
    }

    pub(super) fn relations(&self, model: &Model, heads: &[usize]) -> Vec<usize> {
        let size = model.sizes.label;
        let narrow = |matrix: &Matrix, x: &[i64]| -> Vec<i64> {
            let range = i64::from(i16::MIN)..=i64::from(i16::MAX);
            through(matrix, x)
                .into_iter()
                .map(|sum| rounded(sum, matrix.shift).clamp(*range.start(), *range.end()))
                .collect()
        };
        let of = |(word, &head): (usize, &usize)| {
            let dependent = narrow(&model.label_dependent, &self.x[word]);
            let of_head = match head {
                0 => model.label_root.iter().map(|&value| i64::from(value)).collect(),
                head => narrow(&model.label_head, &self.x[head - 1]),
            };
            let reach = model.sizes.distance.cast_signed();
            let distance = (head.cast_signed() - 1 - word.cast_signed()).clamp(-reach, reach) + reach;
            let distance = &model.label_distance[distance.cast_unsigned() * size..];
            let hidden: Vec<i64> = (0..size)
                .map(|k| (dependent[k] + of_head[k] + i64::from(distance[k])).clamp(0, i64::from(LIMIT)))
                .collect();
            place_of_largest(&through(&model.label, &hidden))
        };
        heads.iter().enumerate().map(of).collect()
    }
}
