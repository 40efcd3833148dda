//! Products of 16-bit integers summed in 32 bits, several at once. Processors differ only in speed.

#![allow(clippy::inline_always, reason = "what is not inlined is compiled without the processor's wide instructions")]

/// Outputs that are computed side by side.
pub(super) const OUTPUTS: usize = 8;

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
