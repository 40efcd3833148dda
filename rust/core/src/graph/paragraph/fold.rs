//! Mentions that are parts of others: `a group of people` is people, `shades of red` colours, `the man's` an owner.

use super::entity::{Entity, Kind, Quality};
use super::items::Item;
use super::lexicon::{Class, is};
use crate::graph::Status;

/// A name of two words that is later said by its noun alone is that noun, and the first word is said of it: `a cruise
/// ship … the ship`.
pub(super) fn shorten(entities: &mut [Entity]) {
    for at in 0..entities.len() {
        let again = &entities[at];
        if !again.is_definite || !again.is_bare_name() {
            continue;
        }
        let short = again.name.clone();
        if entities[..at].iter().any(|one| one.name == short) {
            continue;
        }
        for longer in &mut entities[..at] {
            if let Some(first) = longer.name.strip_suffix(&*short).and_then(|first| first.strip_suffix(' ')) {
                let words = longer.words.drain(..1).collect();
                longer.attributes.push(Quality { name: first.to_owned(), words });
                longer.name.clone_from(&short);
            }
        }
    }
}

/// The items in which each mention that stands is one by itself.
pub(super) fn fold(items: Vec<Item>, entities: &mut [Entity]) -> Vec<Item> {
    let mut folded: Vec<Item> = Vec::with_capacity(items.len());
    // A colour was just given to this mention: one behind `and` is for it too.
    let mut coloured = None;
    for item in items {
        let Item::Entity(this) = item else {
            folded.push(item);
            continue;
        };
        if let [.., Item::Entity(owner), Item::Owner] = folded[..] {
            entities[this].owner = Some(owner);
            if is(&entities[owner].lemma, Class::Viewer) {
                (entities[this].kind, entities[this].status) = (Kind::Aside, Status::Aside);
            }
            folded.truncate(folded.len() - 2);
        }
        match folded[..] {
            [.., Item::Entity(before), Item::Preposition(ref of)] if of.name == "of" => {
                if let Some(stays) = of_another(entities, before, this) {
                    folded.truncate(folded.len() - 2);
                    folded.push(Item::Entity(stays));
                    coloured = (stays == before).then_some(before);
                    continue;
                }
            }
            [.., Item::Entity(before), Item::Break] | [.., Item::Entity(before), Item::Break, Item::And]
                if entities[this].is_colour() && entities[before].is_colour() =>
            {
                let colours = entities[this].colours.clone();
                entities[before].colours.extend(colours);
                while folded.last() != Some(&Item::Entity(before)) {
                    folded.pop();
                }
                continue;
            }
            [.., Item::Entity(before), Item::And] if entities[this].is_colour() => {
                let colours = entities[this].colours.clone();
                if entities[before].is_colour() {
                    entities[before].colours.extend(colours);
                } else if coloured == Some(before) {
                    entities[before].attributes.extend(colours);
                } else {
                    folded.push(item);
                    continue;
                }
                folded.pop();
                continue;
            }
            _ => {}
        }
        folded.push(item);
    }
    folded
}

/// Of two mentions with `of` between them the one that stays, if the other is part of it.
fn of_another(entities: &mut [Entity], before: usize, this: usize) -> Option<usize> {
    let part = entities[before].clone();
    entities[before].is_part = is(&part.lemma, Class::Part);
    let whole = &mut entities[this];
    if is(&part.lemma, Class::Part) || is(&part.lemma, Class::Aside) {
        if part.status == Status::Denied {
            whole.status = Status::Denied;
        }
        let is_colours = is(&part.lemma, Class::ColourNoun);
        if is_colours && whole.is_colour() || whole.is_there() && is(&part.lemma, Class::Part) && !is_colours {
            whole.attributes.splice(0..0, part.attributes);
        }
        if is_colours {
            whole.attributes.extend(part.colours);
        }
        if whole.is_there() && is(&part.lemma, Class::KeptPart) {
            let name = if part.lemma == "group" { "group of".to_owned() } else { part.lemma };
            whole.attributes.push(Quality { name, words: part.words });
        }
        if whole.owner.is_none() && whole.possessive.is_none() {
            (whole.possessive, whole.owner) = (part.possessive, part.owner);
        }
        return Some(this);
    }
    if part.is_colour() && whole.is_there() {
        whole.attributes.extend(part.colours);
        return Some(this);
    }
    if entities[this].is_colour() && part.is_there() {
        let colours = entities[this].colours.clone();
        entities[before].attributes.extend(colours);
        return Some(before);
    }
    None
}
