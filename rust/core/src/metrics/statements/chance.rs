//! Chance: how far the references of other images say a statement.

use std::hash::{Hash, Hasher as _};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::Paragraphs;
use super::said::{Lexicon, Said, Statement};
use crate::engine::Resource;
use crate::numeric::interrupt::check;
use crate::numeric::parallel::map_parts;
use crate::text::sentences::Sentences;
use crate::wordnet::Synonyms;

/// How many images have references that say each statement, or that name a thing of each synonym set.
#[derive(Debug, Default)]
pub struct Frequencies {
    images: u32,
    counts: FxHashMap<u64, u32>,
}

impl Resource for Frequencies {
    const NAME: &'static str = "frequencies of statements";
}

impl Frequencies {
    /// Counts the references of other images, which are `sentences` of that corpus or part of it.
    pub fn add(&mut self, paragraphs: &Paragraphs, sentences: &Sentences, synonyms: &Synonyms, threads: usize) {
        let parts = map_parts(sentences.image_count(), threads, |images| {
            let (mut memory, mut lexicon) = (paragraphs.parser.worker(), Lexicon::new(synonyms));
            let mut part = Self::default();
            for image in images {
                check();
                let captions = &paragraphs.references[sentences.of_image(image)];
                part.count(&Said::of(&paragraphs.read(&mut memory, captions), &mut lexicon));
            }
            part
        });
        for part in &parts {
            self.merge(part);
        }
    }

    fn count(&mut self, said: &Said) {
        self.images += 1;
        let of =
            |statement| [key(statement)].into_iter().chain(said.sets_of(statement).iter().map(|&set| set_key(set)));
        for key in said.statements.iter().flat_map(of).collect::<FxHashSet<_>>() {
            *self.counts.entry(key).or_default() += 1;
        }
    }

    /// Adds what was counted in the references of other images.
    pub fn merge(&mut self, other: &Self) {
        self.images += other.images;
        for (&key, &count) in &other.counts {
            *self.counts.entry(key).or_default() += count;
        }
    }

    /// How far the references of another image say a statement of `side`, in the mean: 1 where they say it, `worth` where
    /// they name a thing by a synonym alone; `excluded` is what the references of this image say, which are counted, too.
    /// 0 if there is no other image.
    pub(super) fn chance(&self, side: &Said, statement: &Statement, excluded: &Said, worth: f64) -> f64 {
        if self.images < 2 {
            return 0.0;
        }
        let others = f64::from(self.images - 1);
        let share = |key: u64, excluded: bool| {
            let count = self.counts.get(&key).copied().unwrap_or_default();
            f64::from(count.saturating_sub(excluded.into())) / others
        };
        let same = share(key(statement), excluded.same(statement).is_some());
        let by_set = |&set: &u32| share(set_key(set), excluded.names_one_of(set));
        let alike = side.sets_of(statement).iter().map(by_set).fold(same, f64::max);
        same + worth * (alike - same)
    }

    /// The counts as bytes, which [`Self::from_bytes`] reads; the same for the same counts.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut counts: Vec<_> = self.counts.iter().collect();
        counts.sort_unstable();
        let counts =
            counts.into_iter().flat_map(|(key, count)| [&key.to_le_bytes()[..], &count.to_le_bytes()].concat());
        self.images.to_le_bytes().into_iter().chain(counts).collect()
    }

    /// None for bytes of another length than counts have.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (images, counts) = bytes.split_first_chunk()?;
        let count = |bytes: &[u8; 12]| {
            let (key, count) = (bytes.first_chunk()?, bytes.last_chunk()?);
            Some((u64::from_le_bytes(*key), u32::from_le_bytes(*count)))
        };
        let (counts, rest) = counts.as_chunks();
        let counts = counts.iter().map(count).collect::<Option<_>>()?;
        rest.is_empty().then(|| Self { images: u32::from_le_bytes(*images), counts })
    }

    /// Number of statements and synonym sets that are counted.
    pub fn key_count(&self) -> usize {
        self.counts.len()
    }
}

fn key(statement: &Statement) -> u64 {
    hashed((statement.kind, statement.stems))
}

fn set_key(set: u32) -> u64 {
    hashed(set)
}

fn hashed(value: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}
