//! What pronouns and words like `the person` stand for.

use super::entity::Entity;
use super::lexicon::{Class, is, is_clothes, is_person};

/// What pronouns stand for: the last subjects of sentences.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Referents {
    one: Option<usize>,
    several: Option<usize>,
    pub(super) person: Option<usize>,
}

impl Referents {
    /// Whom or what a pronoun stands for. `is_peoples`: it has or does what people have and do, and few other things.
    pub(super) fn of(self, pronoun: &str, is_peoples: bool) -> Option<usize> {
        match pronoun {
            "he" | "she" | "his" | "her" | "him" => self.person,
            "they" | "their" | "them" if is_peoples => self.person.or(self.several),
            "they" | "their" | "them" => self.several.or(self.person),
            _ => self.one,
        }
    }

    pub(super) fn remember(&mut self, number: usize, entity: &Entity) {
        if is_person(&entity.lemma) {
            self.person = Some(number);
        }
        if entity.is_plural {
            self.several = Some(number);
        } else {
            self.one = Some(number);
        }
    }
}

/// Whether people have such things, and few other things have: clothes and hands.
pub(super) fn people_have(entity: &Entity) -> bool {
    is_clothes(&entity.lemma) || is_clothes(&entity.full) || is(&entity.lemma, Class::Hand)
}

/// Whether people do that, and few other things do.
pub(super) fn people_do(verb: &str) -> bool {
    verb == "hold" || [Class::Wear, Class::Clothe, Class::Hold].iter().any(|&class| is(verb, class))
}
