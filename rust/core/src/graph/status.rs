//! Whether a text says that something is in the picture.

use super::SceneGraph;
use crate::named::named;

named! {
    /// What a text says of a thing, of a quality, of a relation: that it is in the picture, that it may be, or that it is
    /// not; or nothing of the kind. From the surest to the least sure.
    #[derive(Default)]
    pub enum Status {
        /// It is there.
        #[default]
        Stated "stated",
        /// It may be there: `possibly`, `appears to be`.
        Hedged "hedged",
        /// It is said about the picture, or is no thing: `the image`, `a sense of calm`; or a summary repeats it.
        Aside "aside",
        /// It is not there: `no people`, `without`.
        Denied "denied",
    }
}

impl Status {
    /// Whether the text says that it is, or may be, in the picture.
    pub fn is_said(self) -> bool {
        self <= Self::Hedged
    }
}

impl SceneGraph {
    /// Gives everything the status of its words, and no better one than its objects have.
    pub fn mark(&mut self, statuses: &[Status]) {
        let of = |words: &[usize]| words.iter().map(|&word| statuses[word]).max().unwrap_or_default();
        for object in &mut self.objects {
            object.status = of(&object.words[..1]);
        }
        for attribute in &mut self.attributes {
            attribute.status = of(&attribute.words).max(self.objects[attribute.object].status);
        }
        for relation in &mut self.relations {
            let ends = self.objects[relation.subject].status.max(self.objects[relation.object].status);
            relation.status = of(&relation.words).max(ends);
        }
    }
}
