//! Products of 16-bit integers summed in 32 bits, several at once. What processors differ in is how fast they do it.

#![allow(clippy::inline_always, reason = "what is not inlined is compiled without the processor's wide instructions")]

/// A way to multiply.
pub(super) trait Lanes: Copy {
    /// The products of each of two rows of weights with each of some inputs, all of one length.
    fn dots<const INPUTS: usize>(self, weights: [&[i16]; 2], inputs: [&[i16]; INPUTS]) -> [[i32; INPUTS]; 2];
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
    fn dots<const INPUTS: usize>(self, weights: [&[i16]; 2], inputs: [&[i16]; INPUTS]) -> [[i32; INPUTS]; 2] {
        let mut sums = [[0; INPUTS]; 2];
        for (sums, weights) in sums.iter_mut().zip(weights) {
            for (sum, input) in sums.iter_mut().zip(inputs) {
                *sum = dot(weights, input);
            }
        }
        sums
    }
}

/// With the AVX2 instructions of x86-64.
#[cfg(target_arch = "x86_64")]
pub(super) mod avx2 {
    use std::arch::x86_64::__m256i;

    use pulp::x86::V3;

    use super::{Lanes, dot};

    const WIDTH: usize = 16;

    impl Lanes for V3 {
        #[inline(always)]
        fn dots<const INPUTS: usize>(self, weights: [&[i16]; 2], inputs: [&[i16]; INPUTS]) -> [[i32; INPUTS]; 2] {
            let (first, first_rest) = weights[0].as_chunks::<WIDTH>();
            let (second, second_rest) = weights[1].as_chunks::<WIDTH>();
            let blocks = first.len();
            let second = &second[..blocks];
            // Loops and no closures: a closure is compiled by itself, without these instructions.
            let mut input_blocks: [&[[i16; WIDTH]]; INPUTS] = [&[]; INPUTS];
            for (blocks_of, input) in input_blocks.iter_mut().zip(inputs) {
                *blocks_of = &input.as_chunks::<WIDTH>().0[..blocks];
            }
            let mut sums = [[self.avx._mm256_setzero_si256(); INPUTS]; 2];
            for block in 0..blocks {
                let weights: [__m256i; 2] = [pulp::cast(first[block]), pulp::cast(second[block])];
                for input in 0..INPUTS {
                    let values: __m256i = pulp::cast(input_blocks[input][block]);
                    for row in 0..2 {
                        let products = self.avx2._mm256_madd_epi16(weights[row], values);
                        sums[row][input] = self.avx2._mm256_add_epi32(sums[row][input], products);
                    }
                }
            }
            let mut totals = [[0; INPUTS]; 2];
            for (totals, sums) in totals.iter_mut().zip(sums) {
                for (total, sums) in totals.iter_mut().zip(sums) {
                    let pairs = self.avx2._mm256_hadd_epi32(sums, sums);
                    let fours: [i32; 8] = pulp::cast(self.avx2._mm256_hadd_epi32(pairs, pairs));
                    *total = fours[0] + fours[4];
                }
            }
            if !first_rest.is_empty() {
                for (totals, rest) in totals.iter_mut().zip([first_rest, second_rest]) {
                    for (total, input) in totals.iter_mut().zip(inputs) {
                        *total += dot(rest, &input[blocks * WIDTH..]);
                    }
                }
            }
            totals
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn all_ways_agree(length in 0usize..70, numbers in proptest::collection::vec(-2048i16..=2048, 350)) {
            let row = |k: usize| &numbers[k * 70..][..length];
            let plain = Portable.dots([row(0), row(1)], [row(2), row(3), row(4)]);
            let slow = |a: usize, b: usize| -> i64 {
                row(a).iter().zip(row(b)).map(|(&a, &b)| i64::from(a) * i64::from(b)).sum()
            };
            let all_slow = [[slow(0, 2), slow(0, 3), slow(0, 4)], [slow(1, 2), slow(1, 3), slow(1, 4)]];
            prop_assert_eq!(plain.map(|sums| sums.map(i64::from)), all_slow);
            #[cfg(target_arch = "x86_64")]
            if let Some(avx2) = pulp::x86::V3::try_new() {
                prop_assert_eq!(avx2.dots([row(0), row(1)], [row(2), row(3), row(4)]), plain);
            }
        }
    }
}
