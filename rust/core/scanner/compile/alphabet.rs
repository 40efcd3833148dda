//! Character classes: units that no rule distinguishes share a column in the tables.

use std::collections::HashMap;

use crate::grammar::units::UnitSet;

pub(super) struct Alphabet {
    /// The class of each of the 65536 units. That of U+0000 is class 0.
    pub(super) class_of: Vec<u8>,
    pub(super) classes: usize,
    /// The classes that make up a set.
    members: HashMap<UnitSet, Vec<usize>>,
}

impl Alphabet {
    pub(super) fn of(sets: &[UnitSet]) -> Self {
        let mut distinct: Vec<&UnitSet> = Vec::new();
        for set in sets {
            if !distinct.contains(&set) {
                distinct.push(set);
            }
        }
        let mut alphabet = Self { class_of: Vec::new(), classes: 0, members: HashMap::new() };
        let signatures = alphabet.classify(&distinct);
        for (number, set) in distinct.iter().enumerate() {
            let members = (0..alphabet.classes).filter(|&class| signatures[class][number]).collect();
            alphabet.members.insert((*set).clone(), members);
        }
        alphabet
    }

    /// Fills `class_of`; returns, for each class, which sets it belongs to.
    fn classify(&mut self, sets: &[&UnitSet]) -> Vec<Vec<bool>> {
        let mut known: HashMap<Vec<bool>, u8> = HashMap::new();
        let mut signatures = Vec::new();
        // Membership changes only where some range begins or has ended.
        let mut changes = vec![false; 1 << 16];
        for &(first, last) in sets.iter().flat_map(|set| set.ranges()) {
            changes[usize::from(first)] = true;
            if let Some(after) = last.checked_add(1) {
                changes[usize::from(after)] = true;
            }
        }
        let mut class = 0;
        for unit in 0..=u16::MAX {
            if unit == 0 || changes[usize::from(unit)] {
                let signature: Vec<bool> = sets.iter().map(|set| set.contains(unit)).collect();
                class = *known.entry(signature).or_insert_with_key(|signature| {
                    signatures.push(signature.clone());
                    u8::try_from(signatures.len() - 1).expect("at most 256 classes")
                });
            }
            self.class_of.push(class);
        }
        self.classes = signatures.len();
        signatures
    }

    pub(super) fn members(&self, set: &UnitSet) -> &[usize] {
        &self.members[set]
    }
}
