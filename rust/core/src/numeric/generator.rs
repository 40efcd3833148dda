//! Random numbers that are the same on every machine.

/// `SplitMix64` (Steele, Lea, Flood 2014): small, fast, and any seed is a good seed.
#[derive(Debug, Clone)]
pub struct Generator(u64);

impl Generator {
    /// Stream number `stream` of the seed.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut generator = Self(seed);
        let key = generator.next();
        Self(key ^ stream.wrapping_mul(0xd134_2543_de82_ef95))
    }

    /// The next 64 random bits.
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, by multiplication; the bias is below 2⁻³² for any corpus that fits in memory.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}
