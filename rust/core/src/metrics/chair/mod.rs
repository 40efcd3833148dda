//! CHAIR: the objects that a caption names, compared with those in its image.
//!
//! Rohrbach, Hendricks, Burns, Darrell, Saenko, *Object Hallucination in Image Captioning* (EMNLP 2018). One row of counts
//! serves all three scores, whose corpus values are made of sums: hallucinated over all mentions, captions that
//! hallucinate over captions, and objects named over objects there.

mod words;

use std::sync::Arc;

use rustc_hash::FxHashMap;

pub use words::{Mention, ObjectWords, Phrase};

use crate::Refused;
use crate::corpus::Corpus;
use crate::engine::{Built, Image, Kernel, Parameters, Prepared, Resource, Resources, missing, with_memory};
use crate::text::vocabulary::Word;

/// The words of a corpus that name objects, and the objects of its images.
#[derive(Debug)]
pub struct NamedObjects {
    words: Arc<ObjectWords>,
    /// What each word of the corpus' vocabulary is among the words that name objects.
    parts: Vec<Option<u32>>,
    /// The objects annotated in each image, where there are annotations.
    annotated: Option<Vec<Vec<u32>>>,
    /// Of captions with marks inside: the places of words that are not joined with the word before.
    breaks: FxHashMap<Box<[Word]>, Vec<usize>>,
    /// Of captions that deny something: the places of words that name nothing, as they are denied.
    denied: FxHashMap<Box<[Word]>, Vec<usize>>,
}

impl Resource for NamedObjects {
    const NAME: &'static str = "objects";
}

impl NamedObjects {
    /// For a corpus: the part that each word of its vocabulary is, the objects of each image, the places where a mark
    /// stands before a word, and those of words that do not count.
    pub fn new(
        words: Arc<ObjectWords>,
        parts: Vec<Option<u32>>,
        annotated: Option<Vec<Vec<u32>>>,
        breaks: FxHashMap<Box<[Word]>, Vec<usize>>,
        denied: FxHashMap<Box<[Word]>, Vec<usize>>,
    ) -> Result<Self, Refused> {
        let objects = annotated.iter().flatten().flatten().copied();
        words.check(parts.iter().flatten().copied(), objects)?;
        Ok(Self { words, parts, annotated, breaks, denied })
    }

    /// The objects that a caption names, in its order.
    pub fn mentions(&self, caption: &[Word], found: &mut Vec<Mention>) {
        let breaks = if self.breaks.is_empty() { None } else { self.breaks.get(caption) };
        let part = |place: usize| self.parts.get(caption[place] as usize).copied().flatten();
        self.words.mentions(caption.len(), part, breaks.map_or(&[], Vec::as_slice), found);
        if let Some(denied) = self.denied.get(caption) {
            found.retain(|mention| !denied.iter().any(|place| (mention.start..mention.end).contains(place)));
        }
    }

    /// Objects annotated in an image; none if nothing is annotated.
    pub fn annotated(&self, image: usize) -> &[u32] {
        self.annotated.as_ref().and_then(|images| images.get(image)).map_or(&[], Vec::as_slice)
    }
}

/// Which objects are gold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gold {
    Both,
    Objects,
    References,
}

/// Which of the scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Figure {
    /// Share of the mentions.
    Instances,
    /// Share of the captions.
    Sentences,
    /// Share of the objects.
    Recall,
}

struct Chair {
    figure: Figure,
    gold: Gold,
}

/// Builds a score: `gold`.
pub(crate) fn build(figure: Figure, parameters: &mut Parameters) -> Built {
    let choices = [("both", Gold::Both), ("objects", Gold::Objects), ("references", Gold::References)];
    Ok(Box::new(Chair { figure, gold: parameters.choice("gold", &choices)? }))
}

impl Kernel for Chair {
    /// Hallucinated mentions, mentions; captions that hallucinate, captions; objects named, objects.
    fn width(&self) -> usize {
        6
    }

    fn shared_statistics(&self) -> Option<&'static str> {
        Some(match self.gold {
            Gold::Both => "chair of both",
            Gold::Objects => "chair of objects",
            Gold::References => "chair of references",
        })
    }

    fn prepare<'a>(&'a self, corpus: &'a Corpus, resources: &'a Resources) -> Prepared<'a> {
        let named = resources.need::<NamedObjects>()?;
        if self.gold != Gold::References && named.annotated.is_none() {
            return Err(missing(NamedObjects::NAME));
        }
        let objects = named.words.object_count();
        let memory = move || {
            let (gold, said) = (Marks::new(objects), Marks::new(objects));
            Memory { source: self.gold, corpus, named, image: None, gold, said, mentions: Vec::new() }
        };
        Ok(with_memory(memory, |memory, image, candidate, row| {
            row.copy_from_slice(&memory.counts(image, candidate).map(|count| count as f64));
        }))
    }

    /// If nothing is named, nothing is hallucinated; if there is no object, there is no share of objects.
    fn score(&self, sums: &[f64]) -> f64 {
        let share = |part: f64, whole: f64, otherwise: f64| if whole > 0.0 { part / whole } else { otherwise };
        match self.figure {
            Figure::Instances => share(sums[0], sums[1], 0.0),
            Figure::Sentences => share(sums[2], sums[3], 0.0),
            Figure::Recall => share(sums[4], sums[5], f64::NAN),
        }
    }
}

/// What a thread works in.
struct Memory<'a> {
    source: Gold,
    corpus: &'a Corpus,
    named: &'a NamedObjects,
    /// The image whose objects are marked: the next candidate is often of the same one.
    image: Option<usize>,
    gold: Marks,
    said: Marks,
    mentions: Vec<Mention>,
}

impl Memory<'_> {
    fn mark_gold(&mut self, image: usize) {
        self.gold.clear();
        if self.source != Gold::References {
            self.named.annotated(image).iter().for_each(|&object| self.gold.mark(object));
        }
        if self.source != Gold::Objects {
            let sentences = &self.corpus.references.sentences;
            for sentence in sentences.of_image(image) {
                self.named.mentions(sentences.words(sentence), &mut self.mentions);
                self.mentions.iter().for_each(|mention| self.gold.mark(mention.object));
            }
        }
        self.image = Some(image);
    }

    /// The row of a candidate.
    fn counts(&mut self, image: &Image<'_>, candidate: usize) -> [usize; 6] {
        if self.image != Some(image.number()) {
            self.mark_gold(image.number());
        }
        self.named.mentions(image.candidate(candidate), &mut self.mentions);
        self.said.clear();
        let mut hallucinated = 0_usize;
        for mention in &self.mentions {
            if self.gold.has(mention.object) {
                self.said.mark(mention.object);
            } else {
                hallucinated += 1;
            }
        }
        [hallucinated, self.mentions.len(), usize::from(hallucinated > 0), 1, self.said.count, self.gold.count]
    }
}

/// A set of objects.
struct Marks {
    marked: Vec<bool>,
    count: usize,
}

impl Marks {
    fn new(objects: usize) -> Self {
        Self { marked: vec![false; objects], count: 0 }
    }

    fn clear(&mut self) {
        self.marked.fill(false);
        self.count = 0;
    }

    fn mark(&mut self, object: u32) {
        let is_new = !std::mem::replace(&mut self.marked[object as usize], true);
        self.count += usize::from(is_new);
    }

    fn has(&self, object: u32) -> bool {
        self.marked[object as usize]
    }
}
