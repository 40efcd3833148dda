//! Sets of UTF-16 code units, the alphabet of every rule.
//!
//! Units, not characters: a character beyond the basic plane counts as two, which decides which of two matches is
//! the longer one.

/// Sorted, disjoint, inclusive ranges that do not touch each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct UnitSet(Vec<(u16, u16)>);

impl UnitSet {
    pub(crate) fn from_ranges(mut ranges: Vec<(u16, u16)>) -> Self {
        ranges.sort_unstable();
        let mut joined: Vec<(u16, u16)> = Vec::new();
        for (first, last) in ranges {
            match joined.last_mut() {
                Some(previous) if u32::from(first) <= u32::from(previous.1) + 1 => previous.1 = previous.1.max(last),
                _ => joined.push((first, last)),
            }
        }
        Self(joined)
    }

    /// Reads `"a-z0-9_"`: characters and ranges. A hyphen at either end stands for itself.
    pub(crate) fn parse(spec: &str) -> Self {
        let units: Vec<u16> = spec.encode_utf16().collect();
        let mut ranges = Vec::new();
        let mut at = 0;
        while at < units.len() {
            let is_range = at + 2 < units.len() && units[at + 1] == u16::from(b'-');
            let last = if is_range { units[at + 2] } else { units[at] };
            assert!(units[at] <= last, "range runs backwards in {spec:?}");
            ranges.push((units[at], last));
            at += if is_range { 3 } else { 1 };
        }
        Self::from_ranges(ranges)
    }

    pub(crate) fn union(&self, other: &Self) -> Self {
        Self::from_ranges(self.0.iter().chain(&other.0).copied().collect())
    }

    pub(crate) fn complement(&self) -> Self {
        let mut gaps = Vec::new();
        let mut next = Some(0);
        for &(first, last) in &self.0 {
            match next {
                Some(next) if next < first => gaps.push((next, first - 1)),
                _ => {}
            }
            next = last.checked_add(1);
        }
        gaps.extend(next.map(|next| (next, u16::MAX)));
        Self(gaps)
    }

    pub(crate) fn contains(&self, unit: u16) -> bool {
        let after = self.0.partition_point(|&(first, _)| first <= unit);
        after > 0 && unit <= self.0[after - 1].1
    }

    pub(crate) fn ranges(&self) -> &[(u16, u16)] {
        &self.0
    }
}
