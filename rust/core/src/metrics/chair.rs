//! CHAIR: the objects that a caption names, compared with those in its image.
//!
//! Rohrbach, Hendricks, Burns, Darrell, Saenko, *Object Hallucination in Image Captioning* (EMNLP 2018). One row of counts
//! serves all three scores, whose corpus values are made of sums: hallucinated over all mentions, captions that
//! hallucinate over captions, and objects named over objects there.

use std::sync::Arc;

use rustc_hash::FxHashMap;

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
        let fit = parts.iter().flatten().all(|&part| (part as usize) < words.phrases.len())
            && annotated.iter().flatten().flatten().all(|&object| (object as usize) < words.object_count);
        if !fit {
            return Err(unfit());
        }
        Ok(Self { words, parts, annotated, breaks, denied })
    }

    /// The objects that a caption names, in its order.
    pub fn mentions(&self, caption: &[Word], out: &mut Vec<Mention>) {
        let breaks = if self.breaks.is_empty() { None } else { self.breaks.get(caption) };
        let part = |place: usize| self.parts.get(caption[place] as usize).copied().flatten();
        self.words.mentions(caption.len(), part, breaks.map_or(&[], Vec::as_slice), out);
        if let Some(denied) = self.denied.get(caption) {
            out.retain(|mention| !denied.iter().any(|place| (mention.start..mention.end).contains(place)));
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
        let objects = named.words.object_count;
        let memory = move || {
            let (gold, named_gold) = (Marks::new(objects), Marks::new(objects));
            Memory { source: self.gold, corpus, named, image: None, gold, named_gold, mentions: Vec::new() }
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
    named_gold: Marks,
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
        if self.image != Some(image.number) {
            self.mark_gold(image.number);
        }
        self.named.mentions(image.candidate(candidate), &mut self.mentions);
        self.named_gold.clear();
        let mut hallucinated = 0_usize;
        for mention in &self.mentions {
            if self.gold.has(mention.object) {
                self.named_gold.mark(mention.object);
            } else {
                hallucinated += 1;
            }
        }
        [hallucinated, self.mentions.len(), usize::from(hallucinated > 0), 1, self.named_gold.count, self.gold.count]
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

// Which words name which objects.

/// An object named in a caption: its words, from a first one to before a last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mention {
    /// Place of the first word.
    pub start: usize,
    /// Place behind the last word.
    pub end: usize,
    /// The object.
    pub object: u32,
}

fn unfit() -> Refused {
    Refused("a word, term or object has a number that there is not".to_owned())
}

/// A vocabulary of objects.
///
/// A caption is read from left to right. Where the words of several phrases stand, the longest is taken as one term; what
/// follows is read on from there. A term that is dropped beside another does not count in a caption that has both. The
/// other terms that name an object are mentions of it.
#[derive(Debug)]
pub struct ObjectWords {
    /// By the first part: the other parts and the term, the longest phrases first.
    phrases: Vec<Vec<(Box<[u32]>, u32)>>,
    /// The object of each term, if it names one.
    objects: Vec<Option<u32>>,
    /// The terms that are dropped, each with the one beside which it is.
    drops: FxHashMap<u32, u32>,
    object_count: usize,
}

impl ObjectWords {
    /// From phrases over `parts` different words, each the parts that are taken as one term, and the term; the object of
    /// each term; and pairs of a term that is dropped and the one beside which it is.
    pub fn new(
        parts: usize,
        phrases: Vec<(Vec<u32>, u32)>,
        objects: Vec<Option<u32>>,
        drops: &[(u32, u32)],
    ) -> Result<Self, Refused> {
        let object_count = objects.iter().flatten().max().map_or(0, |&most| most as usize + 1);
        let mut by_first = vec![Vec::new(); parts];
        for (phrase, term) in phrases {
            let (&first, rest) = phrase.split_first().ok_or_else(unfit)?;
            if phrase.iter().any(|&part| part as usize >= parts) || term as usize >= objects.len() {
                return Err(unfit());
            }
            by_first[first as usize].push((rest.into(), term));
        }
        for phrases in &mut by_first {
            phrases.sort_by_key(|(rest, _): &(Box<[u32]>, u32)| std::cmp::Reverse(rest.len()));
        }
        Ok(Self { phrases: by_first, objects, drops: drops.iter().copied().collect(), object_count })
    }

    /// Puts the mentions of a caption with this number of words into `out`, in its order. `part` says what a word is;
    /// no phrase goes over one of the `breaks`, places before which a mark stands, in ascending order.
    fn mentions(&self, length: usize, part: impl Fn(usize) -> Option<u32>, breaks: &[usize], out: &mut Vec<Mention>) {
        out.clear();
        let (mut place, mut dropping) = (0, false);
        let mut terms: Vec<(Mention, u32)> = Vec::new();
        while place < length {
            let longest = part(place).and_then(|first| {
                let fits = |rest: &[u32]| {
                    let later = place + 1..place + 1 + rest.len();
                    later.end <= length
                        && rest.iter().zip(later.clone()).all(|(&next, at)| part(at) == Some(next))
                        && !breaks.iter().any(|at| later.contains(at))
                };
                // No break is at one of the places from the second word of a phrase to its last.
                self.phrases[first as usize].iter().find(|(rest, _)| fits(rest))
            });
            let Some((rest, term)) = longest else {
                place += 1;
                continue;
            };
            let end = place + 1 + rest.len();
            dropping |= self.drops.contains_key(term);
            terms.push((Mention { start: place, end, object: self.objects[*term as usize].unwrap_or(NONE) }, *term));
            place = end;
        }
        if dropping {
            let all: Vec<u32> = terms.iter().map(|&(_, term)| term).collect();
            terms.retain(|(_, term)| self.drops.get(term).is_none_or(|beside| !all.contains(beside)));
        }
        out.extend(terms.into_iter().map(|(mention, _)| mention).filter(|mention| mention.object != NONE));
    }
}

/// Stands for no object, for a moment.
const NONE: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts: 0 hot, 1 dog, 2 stand, 3 toilet, 4 seat; terms: 0 dog, 1 hot dog, 2 hot dog stand (no object), 3 toilet,
    /// 4 seat.
    fn words() -> ObjectWords {
        let phrase = |parts: &[u32], term| (parts.to_vec(), term);
        let phrases = vec![
            phrase(&[1], 0),
            phrase(&[0, 1], 1),
            phrase(&[0, 1, 2], 2),
            phrase(&[3], 3),
            phrase(&[4], 4),
            phrase(&[3, 4], 3),
        ];
        ObjectWords::new(5, phrases, vec![Some(0), Some(1), None, Some(2), Some(3)], &[(4, 3)]).unwrap()
    }

    fn found(caption: &[u32], breaks: &[usize]) -> Vec<(usize, usize, u32)> {
        let mut found = Vec::new();
        words().mentions(caption.len(), |place| Some(caption[place]).filter(|&part| part < 5), breaks, &mut found);
        found.into_iter().map(|mention| (mention.start, mention.end, mention.object)).collect()
    }

    #[test]
    fn the_longest_phrase_is_one_term() {
        assert_eq!(found(&[0, 1, 9, 1], &[]), [(0, 2, 1), (3, 4, 0)]);
        assert_eq!(found(&[0, 1, 2], &[]), []);
        assert_eq!(found(&[0, 0, 1], &[]), [(1, 3, 1)]);
        assert_eq!(found(&[0], &[]), []);
    }

    #[test]
    fn no_phrase_goes_over_a_mark() {
        assert_eq!(found(&[0, 1, 2], &[1]), [(1, 2, 0)]);
        assert_eq!(found(&[0, 1, 2], &[2]), [(0, 2, 1)]);
        assert_eq!(found(&[0, 1, 9, 9], &[0, 3]), [(0, 2, 1)]);
    }

    #[test]
    fn a_term_is_dropped_beside_another() {
        assert_eq!(found(&[4, 9, 3], &[]), [(2, 3, 2)]);
        assert_eq!(found(&[4, 9, 3, 4], &[]), [(2, 4, 2)]);
        assert_eq!(found(&[4, 9, 4], &[]), [(0, 1, 3), (2, 3, 3)]);
    }

    #[test]
    fn numbers_that_there_are_not_are_errors() {
        let phrase = |parts: &[u32], term| (parts.to_vec(), term);
        for phrase in [phrase(&[], 0), phrase(&[1], 0), phrase(&[0], 1)] {
            assert_eq!(ObjectWords::new(1, vec![phrase], vec![Some(0)], &[]).err(), Some(unfit()));
        }
        let words = words();
        let words = Arc::new(words);
        let named = |part, object| {
            let (parts, annotated) = (vec![None, Some(part)], Some(vec![vec![object]]));
            let named = NamedObjects::new(words.clone(), parts, annotated, FxHashMap::default(), FxHashMap::default());
            named.map(|named| named.annotated(0).to_vec())
        };
        assert_eq!(named(4, 3), Ok(vec![3]));
        assert_eq!(named(5, 3), Err(unfit()));
        assert_eq!(named(4, 4), Err(unfit()));
    }
}
