//! A hash map for the innermost loops: open addressing over one array, keys of a few bytes, hashed once.

/// A key of the map. The default value marks a free slot and is not a key.
pub trait Key: Copy + Eq + Default {
    /// A hash whose every bit depends on the whole key.
    fn hash(self) -> u64;
}

/// Maps keys to small values.
#[derive(Debug, Clone)]
pub struct HashTable<K, V> {
    slots: Vec<(K, V)>,
    len: usize,
}

impl<K: Key, V: Copy + Default> HashTable<K, V> {
    /// Room for this many keys before the first growth.
    pub fn with_capacity(keys: usize) -> Self {
        Self { slots: vec![(K::default(), V::default()); (keys * 2).next_power_of_two().max(4)], len: 0 }
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes that the table takes.
    pub fn bytes(&self) -> usize {
        self.slots.len() * size_of::<(K, V)>()
    }

    /// The value of the key.
    pub fn get(&self, key: K) -> Option<V> {
        let (slot, is_present) = self.find(key, key.hash());
        is_present.then(|| self.slots[slot].1)
    }

    /// The value of the key, the default when it is new; `hash` is its hash.
    pub fn entry(&mut self, key: K, hash: u64) -> &mut V {
        let (mut slot, is_present) = self.find(key, hash);
        if !is_present {
            // At most two slots in three are taken, so that a search ends after a few steps.
            if 3 * self.len >= 2 * self.slots.len() {
                self.grow();
                slot = self.find(key, hash).0;
            }
            self.slots[slot].0 = key;
            self.len += 1;
        }
        &mut self.slots[slot].1
    }

    /// Adds to the values of keys.
    ///
    /// Each key's slot is read once before any is used: so the memory fetches many of them at a time.
    pub fn add_all(&mut self, added: &[(K, V)])
    where
        V: std::ops::AddAssign,
    {
        let hashes: Vec<u64> = added.iter().map(|(key, _)| key.hash()).collect();
        let mask = self.slots.len() - 1;
        std::hint::black_box(hashes.iter().filter(|&&hash| self.slots[hash as usize & mask].0 == K::default()).count());
        for (&(key, value), &hash) in added.iter().zip(&hashes) {
            *self.entry(key, hash) += value;
        }
    }

    /// Removes all keys, and keeps their room.
    pub fn clear(&mut self) {
        self.slots.fill((K::default(), V::default()));
        self.len = 0;
    }

    /// All keys with their values, in no meaningful order.
    pub fn iter(&self) -> impl Iterator<Item = (K, V)> + '_ {
        self.slots.iter().copied().filter(|(key, _)| *key != K::default())
    }

    /// The slot of the key and true, or the free slot where it belongs and false.
    fn find(&self, key: K, hash: u64) -> (usize, bool) {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let (occupant, _) = self.slots[slot];
            if occupant == key {
                return (slot, true);
            }
            if occupant == K::default() {
                return (slot, false);
            }
            slot = (slot + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let mut wider = Self { slots: vec![(K::default(), V::default()); 2 * self.slots.len()], len: self.len };
        for (key, value) in self.iter() {
            let (slot, _) = wider.find(key, key.hash());
            wider.slots[slot] = (key, value);
        }
        *self = wider;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    /// Hashes that differ in high bits alone collide.
    impl Key for u64 {
        fn hash(self) -> u64 {
            self.reverse_bits()
        }
    }

    proptest! {
        #[test]
        fn equals_the_standard_map(keys in prop::collection::vec(1_u64..120, 0..300)) {
            let (mut fast, mut slow) = (HashTable::<u64, u32>::with_capacity(0), HashMap::new());
            for &key in &keys {
                *fast.entry(key, key.hash()) += 1;
                *slow.entry(key).or_insert(0) += 1;
            }
            prop_assert_eq!(fast.iter().collect::<HashMap<_, _>>(), slow.clone());
            let mut together = HashTable::<u64, u32>::with_capacity(0);
            keys.chunks(50).for_each(|some| together.add_all(&some.iter().map(|&key| (key, 1)).collect::<Vec<_>>()));
            prop_assert_eq!(together.iter().collect::<HashMap<_, _>>(), slow.clone());
            for (key, count) in slow {
                prop_assert_eq!(fast.get(key), Some(count));
            }
            prop_assert_eq!(fast.get(999), None);
            fast.clear();
            prop_assert!(fast.is_empty() && fast.iter().next().is_none());
        }
    }
}
