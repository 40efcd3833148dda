//! What pronouns stand for.

use super::entity::Entity;
use super::lexicon::{is_clothes, is_person};

/// What pronouns stand for: the last subjects of sentences.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Referents {
    one: Option<usize>,
    several: Option<usize>,
    person: Option<usize>,
}

impl Referents {
    /// Whom or what a pronoun stands for.
    pub(super) fn of(self, pronoun: &str) -> Option<usize> {
        match pronoun {
            "he" | "she" | "his" | "her" | "him" => self.person,
            "they" | "their" | "them" => self.several.or(self.person),
            _ => self.one,
        }
    }

    pub(super) fn remember(&mut self, number: usize, entity: &Entity) {
        if is_person(&entity.lemma) {
            self.person = Some(number);
        }
        if !entity.is_plural {
            self.one = Some(number);
        } else if !is_clothes(&entity.lemma) {
            self.several = Some(number);
        }
    }
}
