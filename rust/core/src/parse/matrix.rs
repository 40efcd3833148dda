//! Matrices of integers, laid out for many products at once, and the product itself.

#![allow(clippy::inline_always, reason = "what is not inlined is compiled without the processor's wide instructions")]

/// Columns are a multiple of this.
pub(super) const COLUMNS: usize = 16;

/// Blocks of outputs whose sums a processor holds at once. Weights of so many outputs fit its nearest memory, and serve
/// all rows of the input before the next ones are fetched.
const PANEL: usize = 5;

/// Weights on a grid of 2^-shift, and biases on the grid of the sums.
#[derive(Debug, Clone)]
pub(super) struct Matrix {
    pub(super) columns: usize,
    pub(super) rows: usize,
    pub(super) shift: u32,
    /// Panel after panel; in each, for each pair of columns, its blocks.
    weights: Vec<Block>,
    /// Of each block. Blocks are filled up with rows of zeros.
    biases: Vec<Sums>,
}

impl Matrix {
    /// From weights row after row, a bias for each row.
    pub(super) fn new(columns: usize, shift: u32, weights: &[i16], biases: &[i32]) -> Self {
        debug_assert!(columns.is_multiple_of(COLUMNS));
        let rows = biases.len();
        let weight = |row: usize, column: usize| if row < rows { weights[row * columns + column] } else { 0 };
        let blocks: Vec<usize> = (0..rows.div_ceil(OUTPUTS)).collect();
        let mut packed = Vec::with_capacity(blocks.len() * columns / 2);
        for panel in blocks.chunks(PANEL) {
            for pair in 0..columns / 2 {
                packed.extend(
                    panel
                        .iter()
                        .map(|block| Block(std::array::from_fn(|k| weight(block * OUTPUTS + k / 2, 2 * pair + k % 2)))),
                );
            }
        }
        let bias = |block: &usize| std::array::from_fn(|k| biases.get(block * OUTPUTS + k).copied().unwrap_or(0));
        Self { columns, rows, shift, weights: packed, biases: blocks.iter().map(bias).collect() }
    }

    /// Sums for each row of an input: its rows, then some without meaning.
    pub(super) fn stride(&self) -> usize {
        self.biases.len() * OUTPUTS
    }

    /// Each row of the input through the matrix: sums with biases.
    #[inline(always)]
    pub(super) fn apply(&self, lanes: impl Lanes, input: &[i16], present: &Present, sums: &mut Vec<Sums>) {
        let blocks = self.biases.len();
        sums.resize(present.ends.len() * blocks, [0; OUTPUTS]);
        let mut first = 0;
        while first < blocks {
            first += match blocks - first {
                1 => self.panel::<1>(lanes, input, present, sums, first),
                2 => self.panel::<2>(lanes, input, present, sums, first),
                3 => self.panel::<3>(lanes, input, present, sums, first),
                4 => self.panel::<4>(lanes, input, present, sums, first),
                _ => self.panel::<PANEL>(lanes, input, present, sums, first),
            };
        }
    }

    #[inline(always)]
    fn panel<const BLOCKS: usize>(
        &self,
        lanes: impl Lanes,
        input: &[i16],
        present: &Present,
        sums: &mut [Sums],
        first: usize,
    ) -> usize {
        let pairs = self.columns / 2;
        let weights = self.weights[first * pairs..][..BLOCKS * pairs].as_chunks::<BLOCKS>().0;
        let mut biases = [[0; OUTPUTS]; BLOCKS];
        biases.copy_from_slice(&self.biases[first..][..BLOCKS]);
        let inputs = input.as_chunks::<2>().0.chunks_exact(pairs);
        let mut start = 0;
        for ((input, &end), sums) in inputs.zip(&present.ends).zip(sums.chunks_exact_mut(self.biases.len())) {
            let of_row = lanes.add(biases, weights, input, &present.places[start..end]);
            sums[first..][..BLOCKS].copy_from_slice(&of_row);
            start = end;
        }
        BLOCKS
    }
}

/// Where an input is not zero. Two thirds of all pairs of activations are: negative sums become zeros.
#[derive(Debug, Default)]
pub(super) struct Present {
    /// Numbers of pairs of columns, row after row.
    places: Vec<u16>,
    /// Where each row ends in `places`.
    ends: Vec<usize>,
}

impl Present {
    #[inline(always)]
    pub(super) fn find(&mut self, lanes: impl Lanes, input: &[i16], columns: usize) {
        let pairs = input.as_chunks::<2>().0;
        // Eight places are written at a time, of which the first ones count.
        if self.places.len() < pairs.len() + 8 {
            self.places.resize(pairs.len() + 8, 0);
        }
        self.ends.clear();
        let mut end = 0;
        for row in pairs.chunks_exact(columns / 2) {
            for (number, pairs) in row.as_chunks::<8>().0.iter().enumerate() {
                let bits = lanes.present(pairs);
                let mut places = ONES[usize::from(bits)];
                for place in &mut places {
                    *place += 8 * number as u16;
                }
                self.places[end..end + 8].copy_from_slice(&places);
                end += bits.count_ones() as usize;
            }
            self.ends.push(end);
        }
    }
}

/// For eight bits the places of those that are 1, then zeros.
static ONES: [[u16; 8]; 256] = ones();

const fn ones() -> [[u16; 8]; 256] {
    let mut ones = [[0; 8]; 256];
    let mut bits = 0;
    while bits < 256 {
        let (mut place, mut count) = (0, 0);
        while place < 8 {
            if bits >> place & 1 == 1 {
                ones[bits][count] = place;
                count += 1;
            }
            place += 1;
        }
        bits += 1;
    }
    ones
}

// Products of 16-bit integers summed in 32 bits, several at once. Processors differ only in speed.

/// Outputs that are computed side by side.
const OUTPUTS: usize = 8;

/// Sums of eight outputs.
pub(super) type Sums = [i32; OUTPUTS];

/// The weights of two inputs for eight outputs: for each output that of the first input, then that of the second.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
pub(super) struct Block(pub(super) [i16; 2 * OUTPUTS]);

/// A way to multiply.
pub(super) trait Lanes: Copy {
    /// A bit for each pair that is not zero; the lowest is of the first pair.
    fn present(self, pairs: &[[i16; 2]; 8]) -> u8;

    /// Sums with the products of the inputs at these places added, and the weights of each pair of inputs.
    fn add<const BLOCKS: usize>(
        self,
        sums: [Sums; BLOCKS],
        weights: &[[Block; BLOCKS]],
        pairs: &[[i16; 2]],
        places: &[u16],
    ) -> [Sums; BLOCKS];
}

/// One product: the sum of the products of the numbers.
#[inline(always)]
pub(super) fn dot(a: &[i16], b: &[i16]) -> i32 {
    a.iter().zip(b).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum()
}

/// As the compiler finds best.
#[derive(Debug, Clone, Copy)]
pub(super) struct Portable;

impl Lanes for Portable {
    #[inline(always)]
    fn present(self, pairs: &[[i16; 2]; 8]) -> u8 {
        (0..8).fold(0, |bits, place| bits | u8::from(pairs[place] != [0, 0]) << place)
    }

    #[inline(always)]
    fn add<const BLOCKS: usize>(
        self,
        mut sums: [Sums; BLOCKS],
        weights: &[[Block; BLOCKS]],
        pairs: &[[i16; 2]],
        places: &[u16],
    ) -> [Sums; BLOCKS] {
        for &place in places {
            let [first, second] = pairs[usize::from(place)].map(i32::from);
            for (sums, Block(weights)) in sums.iter_mut().zip(&weights[usize::from(place)]) {
                for (output, sum) in sums.iter_mut().enumerate() {
                    *sum += i32::from(weights[2 * output]) * first + i32::from(weights[2 * output + 1]) * second;
                }
            }
        }
        sums
    }
}

/// With the AVX2 instructions of x86-64.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::__m256i;

    use pulp::x86::V3;

    use super::{Block, Lanes, Sums};

    impl Lanes for V3 {
        #[inline(always)]
        fn present(self, pairs: &[[i16; 2]; 8]) -> u8 {
            let zero = self.avx2._mm256_cmpeq_epi32(pulp::cast(*pairs), self.avx._mm256_setzero_si256());
            !self.avx._mm256_movemask_ps(pulp::cast(zero)) as u8
        }

        #[inline(always)]
        fn add<const BLOCKS: usize>(
            self,
            sums: [Sums; BLOCKS],
            weights: &[[Block; BLOCKS]],
            pairs: &[[i16; 2]],
            places: &[u16],
        ) -> [Sums; BLOCKS] {
            let pairs = &pairs[..weights.len()];
            // Loops and no closures: a closure is compiled by itself, without these instructions.
            let mut totals: [__m256i; BLOCKS] = [self.avx._mm256_setzero_si256(); BLOCKS];
            for block in 0..BLOCKS {
                totals[block] = pulp::cast(sums[block]);
            }
            for &place in places {
                let weights = &weights[usize::from(place)];
                let pair = self.avx._mm256_set1_epi32(pulp::cast(pairs[usize::from(place)]));
                for block in 0..BLOCKS {
                    let products = self.avx2._mm256_madd_epi16(pulp::cast(weights[block].0), pair);
                    totals[block] = self.avx2._mm256_add_epi32(totals[block], products);
                }
            }
            let mut sums = sums;
            for block in 0..BLOCKS {
                sums[block] = pulp::cast(totals[block]);
            }
            sums
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    impl Matrix {
        pub(in crate::parse) fn weight(&self, row: usize, column: usize) -> i16 {
            let (block, pairs) = (row / OUTPUTS, self.columns / 2);
            let first = block / PANEL * PANEL;
            let blocks = PANEL.min(self.biases.len() - first);
            self.weights[first * pairs + column / 2 * blocks + block - first].0[row % OUTPUTS * 2 + column % 2]
        }

        pub(in crate::parse) fn bias(&self, row: usize) -> i32 {
            self.biases.as_flattened()[row]
        }
    }

    fn product(lanes: impl Lanes, matrix: &Matrix, input: &[i16]) -> Vec<i32> {
        let (mut present, mut sums) = (Present::default(), vec![]);
        // What memory held before does not matter.
        present.find(lanes, &[1; 4 * COLUMNS], COLUMNS);
        present.find(lanes, input, matrix.columns);
        matrix.apply(lanes, input, &present, &mut sums);
        sums.as_flattened().chunks_exact(matrix.stride()).flat_map(|sums| &sums[..matrix.rows]).copied().collect()
    }

    proptest! {
        #[test]
        fn all_ways_give_the_sums_of_products(
            (rows, columns, inputs) in (1usize..100, (1usize..5).prop_map(|k| k * COLUMNS), 0usize..4),
            weights in proptest::collection::vec(-2048i16..=2048, 100 * 4 * COLUMNS),
            biases in proptest::collection::vec(-1_000_000i32..1_000_000, 100),
            input in proptest::collection::vec(prop_oneof![3 => Just(0i16), 1 => -2048i16..=2048], 3 * 4 * COLUMNS),
        ) {
            let matrix = Matrix::new(columns, 8, &weights[..rows * columns], &biases[..rows]);
            let input = &input[..inputs * columns];
            let mut slow = vec![];
            for input in input.chunks_exact(columns) {
                for (weights, bias) in weights.chunks_exact(columns).zip(&biases[..rows]) {
                    let sum: i64 = weights.iter().zip(input).map(|(&a, &b)| i64::from(a) * i64::from(b)).sum();
                    slow.push(sum + i64::from(*bias));
                }
            }
            let plain = product(Portable, &matrix, input);
            prop_assert_eq!(plain.iter().map(|&sum| i64::from(sum)).collect::<Vec<_>>(), slow);
            #[cfg(target_arch = "x86_64")]
            if let Some(avx2) = pulp::x86::V3::try_new() {
                prop_assert_eq!(product(avx2, &matrix, input), plain);
            }
            for row in 0..rows {
                prop_assert_eq!(matrix.bias(row), biases[row]);
                for column in 0..columns {
                    prop_assert_eq!(matrix.weight(row, column), weights[row * columns + column]);
                }
            }
        }
    }
}
