//! What takes captions of several images: counted in a sample of them, those of the smallest hashes of their ids, which
//! is the same whatever the order and the parts.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Tallies, Tally, given};
use crate::corpus::Corpus;
use crate::text::captions::Captions;
use crate::text::vocabulary::Word;

/// Most words of a common beginning.
const LONGEST_BEGINNING: usize = 6;
/// A word's weight, ln(images / images with it), in parts of 1, so that sums are exact.
const WEIGHT_PARTS: f64 = 1_000.0;

/// Looks at a sample of `size` images, and counts:
///
/// - `images` of the sample;
/// - `same caption`: the images that have the caption which the most images have;
/// - `beginning` of n words: the captions that begin as more than half of all do, by as many words as nearly all of
///   these share; `long beginning`: the same of a longer one that fewer, but more than half, share;
/// - `matched`: the images whose caption can be told to belong somewhere; of these, `other image`: those whose own
///   references match worse than those of three quarters of the other images; `next image` and `previous image`: those whose
///   neighbour's references, in the order of ids, match better than their own.
pub fn sampled(corpus: &Corpus, captions: &Captions, size: usize) -> Tallies {
    let images = chosen(corpus, size);
    let ids = &corpus.references.images;
    let mut found = Tallies::new();
    // An image that the system left out has an empty caption.
    let texts: Vec<(&str, &str)> = images
        .iter()
        .flat_map(|&image| {
            let texts = given(captions, &ids[image]);
            let count = corpus.candidates.of_image(image).len();
            (0..count).map(move |place| (&*ids[image], texts.get(place).copied().unwrap_or_default()))
        })
        .collect();
    for &image in &images {
        found.entry(("", "images", 0)).or_default().add(&ids[image], "");
    }
    for &(id, caption) in &texts {
        found.entry(("", "captions", 0)).or_default().add(id, caption);
    }
    let mut once = BTreeSet::new();
    let of_images = texts.iter().filter(|(id, caption)| once.insert((*id, caption.trim())));
    if let Some(same) = commonest(of_images.map(|&(id, caption)| (caption.trim(), id, caption))) {
        found.insert(("", "same caption", 0), same);
    }
    let mut begun = beginnings(&texts).into_iter();
    for (name, tally) in [("beginning", begun.next()), ("long beginning", begun.next_back())] {
        if let Some((words, tally)) = tally {
            found.insert(("", name, words), tally);
        }
    }
    pairing(corpus, captions, &images, &mut found);
    found
}

/// The sampled images, in the order of their ids: by number where all are numbers.
fn chosen(corpus: &Corpus, size: usize) -> Vec<usize> {
    let ids = &corpus.references.images;
    let mut images: Vec<usize> = (0..ids.len()).collect();
    if images.len() > size {
        images.sort_by_cached_key(|&image| (mixed(key(&ids[image])), &ids[image]));
        images.truncate(size);
    }
    images.sort_by_cached_key(|&image| (ids[image].parse::<u64>().unwrap_or(u64::MAX), &ids[image]));
    images
}

/// The number by which an image is known: FNV-1a of its id.
pub fn key(id: &str) -> u64 {
    id.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The key with its bits mixed, since those of ids that look alike are close to each other (`SplitMix64`'s end).
pub fn mixed(key: u64) -> u64 {
    let mixed = key.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// The tally of the commonest text, which is not empty; of equally common ones, that of the first in the alphabet.
fn commonest<'a>(texts: impl Iterator<Item = (&'a str, &'a str, &'a str)>) -> Option<Tally> {
    let mut all: BTreeMap<&str, Tally> = BTreeMap::new();
    for (text, id, caption) in texts.filter(|(text, ..)| !text.is_empty()) {
        all.entry(text).or_default().add(id, caption);
    }
    all.into_values().rev().max_by_key(|tally| tally.count)
}

/// The beginnings that more than half of the captions have, and their tallies: each as long as nearly all of those share
/// that begin so.
fn beginnings(texts: &[(&str, &str)]) -> Vec<(usize, Tally)> {
    let mut found: Vec<(usize, Tally)> = Vec::new();
    for words in 1..=LONGEST_BEGINNING {
        let begun: Vec<_> = texts.iter().filter_map(|&(id, text)| Some((begins(text, words)?, id, text))).collect();
        let Some(tally) = commonest(begun.iter().map(|(begun, id, text)| (begun.as_str(), *id, *text))) else { break };
        if 2 * tally.count as usize <= texts.len() {
            break;
        }
        if found.last().is_some_and(|(_, before)| 10 * tally.count >= 9 * before.count) {
            found.pop();
        }
        found.push((words, tally));
    }
    found
}

/// The first words, in small letters; `None` for a caption that has no more than them.
fn begins(text: &str, words: usize) -> Option<String> {
    let mut all = text.split_whitespace();
    let first: Vec<String> = all.by_ref().take(words).map(str::to_lowercase).collect();
    (first.len() == words && all.next().is_some()).then(|| first.join(" "))
}

/// Whether captions match their own images: those of each image against the references of every sampled image, by their
/// words, of which rare ones weigh more.
fn pairing(corpus: &Corpus, captions: &Captions, images: &[usize], found: &mut Tallies) {
    let references = &corpus.references.sentences;
    let mut with: HashMap<Word, Vec<usize>> = HashMap::new();
    for (place, &image) in images.iter().enumerate() {
        for sentence in references.of_image(image) {
            for &word in references.words(sentence) {
                let own = with.entry(word).or_default();
                if own.last() != Some(&place) {
                    own.push(place);
                }
            }
        }
    }
    for (place, &image) in images.iter().enumerate() {
        let own = &corpus.candidates;
        let mut words: Vec<Word> = own.of_image(image).flat_map(|one| own.words(one)).copied().collect();
        words.sort_unstable();
        words.dedup();
        let mut matches = vec![0_u64; images.len()];
        for places in words.iter().filter_map(|word| with.get(word)) {
            let weight = ((images.len() as f64 / places.len() as f64).ln() * WEIGHT_PARTS).round() as u64;
            for &other in places {
                matches[other] += weight;
            }
        }
        if matches.iter().all(|&one| one == 0) || images.len() < 2 {
            continue;
        }
        let id = &corpus.references.images[image];
        let own = matches[place];
        let caption = given(captions, id).first().copied().unwrap_or_default();
        let mut count = |name| found.entry(("", name, 0)).or_default().add(id, caption);
        count("matched");
        // Twice the number of other images that match less, and once of those that match as well.
        let less: usize =
            matches.iter().map(|one| usize::from(*one < own) + usize::from(*one <= own)).sum::<usize>() - 1;
        if 2 * less < images.len() {
            count("other image");
        }
        if matches.get(place + 1).is_some_and(|&next| next > own) {
            count("next image");
        }
        if place > 0 && matches[place - 1] > own {
            count("previous image");
        }
    }
}
