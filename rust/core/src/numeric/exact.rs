//! Sums that do not depend on the order or the grouping of the terms.
//!
//! A float64 is a whole number times a power of two, so a sum of them is a (long) whole number: it is kept in limbs of 32
//! bits, and rounded once, at the end (Kulisch's accumulator). Parts that were added up on different threads, machines
//! or days can be merged, and the result is the same bits.

const BITS: u32 = 32;

/// Bits below the smallest subnormal number's there are none; the largest number ends below bit 2,098, and 2⁶³ of them,
/// each times a weight of 16 bits, below bit 2,178.
const LIMBS: usize = 70;

/// The exponent of the lowest bit.
const LOWEST: i32 = -1074;

/// This many additions, each of less than 2³² to a limb, fit into the limb's other 31 bits.
const PENDING: u32 = 1 << 30;

/// A sum of float64 numbers, without rounding.
#[derive(Debug, Clone)]
pub struct ExactSum {
    /// Least significant first; each stands for `limb * 2^(32 * place + LOWEST)`, and may be beyond 32 bits for a while.
    limbs: [i64; LIMBS],
    pending: u32,
    /// The sum of the numbers that are not finite; 0 if all are finite.
    special: f64,
}

impl Default for ExactSum {
    fn default() -> Self {
        Self { limbs: [0; LIMBS], pending: 0, special: 0.0 }
    }
}

impl ExactSum {
    /// Adds a number.
    pub fn add(&mut self, value: f64) {
        if !value.is_finite() {
            self.special += value;
            return;
        }
        let bits = value.to_bits();
        let biased = (bits >> 52 & 0x7ff) as i32;
        let fraction = bits & ((1 << 52) - 1);
        // A subnormal number has the exponent of the smallest normal one, without the hidden bit.
        let (mantissa, exponent) = if biased == 0 { (fraction, LOWEST) } else { (fraction | 1 << 52, biased - 1075) };
        let place = (exponent - LOWEST) as u32;
        let shifted = u128::from(mantissa) << (place % BITS);
        let first = (place / BITS) as usize;
        for (limb, shift) in self.limbs[first..first + 3].iter_mut().zip([0, BITS, 2 * BITS]) {
            let part = (shifted >> shift) as u32;
            *limb += if value < 0.0 { -i64::from(part) } else { i64::from(part) };
        }
        self.counted(1);
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: &Self) {
        let mut other = other.clone();
        other.carry();
        self.limbs.iter_mut().zip(&other.limbs).for_each(|(limb, added)| *limb += added);
        self.special += other.special;
        self.counted(1);
    }

    fn counted(&mut self, additions: u32) {
        self.pending += additions;
        if self.pending >= PENDING {
            self.carry();
        }
    }

    /// Brings every limb but the last into 0 to 2³² − 1.
    fn carry(&mut self) {
        let mut carried = 0;
        for limb in &mut self.limbs[..LIMBS - 1] {
            let whole = *limb + carried;
            carried = whole >> BITS;
            *limb = whole - (carried << BITS);
        }
        self.limbs[LIMBS - 1] += carried;
        self.pending = 0;
    }

    /// The sum, rounded to the nearest float64, ties to even.
    pub fn value(&self) -> f64 {
        if self.special != 0.0 {
            return self.special;
        }
        let mut sum = self.clone();
        sum.carry();
        let negative = sum.limbs[LIMBS - 1] < 0;
        if negative {
            sum.limbs.iter_mut().for_each(|limb| *limb = -*limb);
            sum.carry();
        }
        let Some(top) = sum.limbs.iter().rposition(|&limb| limb != 0) else { return 0.0 };
        let size = rounded(&sum.limbs, top);
        if negative { -size } else { size }
    }

    /// The sum as whole numbers, for another process: see [`Self::from_words`].
    pub fn words(&self) -> Vec<i64> {
        let mut sum = self.clone();
        sum.carry();
        let mut words = sum.limbs.to_vec();
        words.push(self.special.to_bits().cast_signed());
        words
    }

    /// What [`Self::words`] gave; None where these are not as many words.
    pub fn from_words(words: &[i64]) -> Option<Self> {
        let (special, limbs) = words.split_last()?;
        Some(Self { limbs: limbs.try_into().ok()?, pending: 1, special: f64::from_bits(special.cast_unsigned()) })
    }
}

/// The number in carried limbs, of which `top` is the highest that is not 0.
fn rounded(limbs: &[i64; LIMBS], top: usize) -> f64 {
    // 96 bits hold the 53 of the result and what decides the rounding but for "is anything below".
    let limb = |place: Option<usize>| place.map_or(0, |place| limbs[place] as u128);
    let first = top.checked_sub(2);
    let head = limb(Some(top)) << 64 | limb(top.checked_sub(1)) << 32 | limb(first);
    let exponent = (i32::try_from(top).expect("the place of one of few limbs") - 2) * BITS.cast_signed() + LOWEST;
    let below = first.is_some_and(|first| limbs[..first].iter().any(|&limb| limb != 0));
    let length = 128 - head.leading_zeros().cast_signed();
    // A subnormal result keeps fewer bits: none below 2^LOWEST.
    let cut = (length - 53).max(LOWEST - exponent).max(0);
    let (top_bits, rest, half) = (head >> cut, head & ((1 << cut) - 1), if cut == 0 { 0 } else { 1_u128 << (cut - 1) });
    let up = cut > 0 && (rest > half || rest == half && (below || top_bits & 1 == 1));
    scaled((top_bits + u128::from(up)) as f64, exponent + cut)
}

/// `value * 2^exponent`, where the result is a float64 or too large for one.
fn scaled(value: f64, exponent: i32) -> f64 {
    // Two steps: 2^exponent alone can be too small for a float64.
    let (half, rest) = (exponent / 2, exponent - exponent / 2);
    value * 2_f64.powi(half) * 2_f64.powi(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Generator;
    use proptest::prelude::*;

    /// The exact sum by whole numbers of any length, rounded as Python's `math.fsum` does: Shewchuk's partials.
    fn slow(values: &[f64]) -> f64 {
        let mut partials: Vec<f64> = Vec::new();
        for &value in values {
            let mut x = value;
            let mut kept = Vec::new();
            for &partial in &partials {
                let (big, small) = if x.abs() < partial.abs() { (partial, x) } else { (x, partial) };
                let high = big + small;
                let low = small - (high - big);
                if low != 0.0 {
                    kept.push(low);
                }
                x = high;
            }
            kept.push(x);
            partials = kept;
        }
        let mut rest = partials;
        let Some(mut high) = rest.pop() else { return 0.0 };
        let mut low = 0.0;
        while let Some(next) = rest.pop() {
            let before = high;
            high = before + next;
            low = next - (high - before);
            if low != 0.0 {
                break;
            }
        }
        if let Some(&next) = rest.last()
            && (low < 0.0 && next < 0.0 || low > 0.0 && next > 0.0)
        {
            let twice = low * 2.0;
            let sum = high + twice;
            if bits(twice) == bits(sum - high) {
                high = sum;
            }
        }
        high
    }

    /// Bits that are the same for 0 and -0.
    fn bits(value: f64) -> u64 {
        (value + 0.0).to_bits()
    }

    fn total(values: impl IntoIterator<Item = f64>) -> f64 {
        let mut sum = ExactSum::default();
        values.into_iter().for_each(|value| sum.add(value));
        sum.value()
    }

    fn sum(values: impl IntoIterator<Item = f64>) -> u64 {
        bits(total(values))
    }

    fn any_number() -> impl Strategy<Value = f64> {
        prop_oneof![
            -1e3..1e3,
            any::<u64>().prop_map(|bits| f64::from_bits(bits & !(1 << 62))),
            Just(0.0),
            Just(-0.0),
            Just(5e-324),
            Just(f64::MIN_POSITIVE),
            (0_i32..2_000).prop_map(|power| scaled(1.0, power - 1074)),
        ]
        .prop_filter("finite", |value: &f64| value.is_finite())
    }

    proptest! {
        #[test]
        fn sums_are_those_of_exact_arithmetic(values in prop::collection::vec(any_number(), 0..40)) {
            let largest: f64 = values.iter().map(|value| value.abs()).sum();
            prop_assume!(largest < 1e300);
            prop_assert_eq!(sum(values.iter().copied()), bits(slow(&values)));
        }

        #[test]
        fn order_and_parts_do_not_matter(values in prop::collection::vec(-1e9..1e9, 1..60), seed in any::<u64>()) {
            let whole = total(values.iter().copied());
            let mut shuffled = values;
            let mut generator = Generator::new(seed, 0);
            for place in (1..shuffled.len()).rev() {
                shuffled.swap(place, generator.below(place as u64 + 1) as usize);
            }
            let cut = generator.below(shuffled.len() as u64) as usize;
            let mut total = ExactSum::default();
            for part in [&shuffled[..cut], &shuffled[cut..]] {
                let mut sum = ExactSum::default();
                for &value in part {
                    sum.add(value);
                }
                total.merge(&ExactSum::from_words(&sum.words()).unwrap());
            }
            prop_assert_eq!(total.value().to_bits(), whole.to_bits());
        }
    }

    #[test]
    fn what_floats_lose_is_kept() {
        assert_eq!(sum([1e100, 1.0, -1e100]), bits(1.0));
        assert_eq!(sum(std::iter::repeat_n(0.1, 10)), bits(1.0));
        assert_eq!(sum([f64::MAX, f64::MAX, -f64::MAX]), bits(f64::MAX));
        assert_eq!(sum([5e-324, 5e-324]), bits(1e-323));
        assert_eq!(sum([1.0, f64::EPSILON / 2.0]), bits(1.0));
        assert_eq!(sum([1.0, f64::EPSILON / 2.0, 5e-324]), bits(1.0 + f64::EPSILON));
        assert_eq!(sum([-1.0, -f64::EPSILON / 2.0, -5e-324]), bits(-1.0 - f64::EPSILON));
    }

    #[test]
    fn what_is_not_finite_stays_so() {
        assert_eq!(sum([1.0, f64::INFINITY]), bits(f64::INFINITY));
        assert!(total([f64::NEG_INFINITY, f64::INFINITY]).is_nan());
        assert!(total([f64::NAN, 1.0]).is_nan());
        assert!(total([f64::MAX, f64::MAX]).is_infinite());
    }

    #[test]
    fn carries_come_in_time() {
        let mut sum = ExactSum { pending: PENDING - 2, ..ExactSum::default() };
        sum.limbs[30] = i64::from(u32::MAX) * i64::from(PENDING - 2);
        let before = sum.value();
        let one = scaled(f64::from(u32::MAX), 30 * 32 + LOWEST);
        (0..4).for_each(|_| sum.add(one));
        assert!(sum.pending < 4);
        assert_eq!(bits(sum.value()), bits(before + 4.0 * one));
    }

    #[test]
    fn words_of_another_number_are_refused() {
        assert!(ExactSum::from_words(&[]).is_none());
        assert!(ExactSum::from_words(&vec![0; LIMBS]).is_none());
    }
}
