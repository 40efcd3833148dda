//! What one side says: a caption, or all references of an image together.

use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::Paragraphs;
use crate::engine::Resource;
use crate::graph::{SceneGraph, Status};
use crate::named::named;
use crate::numeric::parallel::{check, map_parts};
use crate::text::sentences::Sentences;
use crate::wordnet::Synonyms;

named! {
    /// What a statement is about.
    pub enum Kind {
        /// That a thing is there.
        Object "object",
        /// That a thing has a quality.
        Attribute "attribute",
        /// That a thing is related to another.
        Relation "relation",
        /// That a content word is said, or two near each other.
        Word "word",
    }
}

/// A hash of a stem, the same in every process; of a name of several words, of their stems together.
type Stem = u64;

/// The names that a thread has met.
pub(super) struct Lexicon<'a> {
    synonyms: &'a Synonyms,
    stemmer: Stemmer,
    /// Of each name as it stands.
    entries: FxHashMap<Box<str>, (Stem, Box<[u32]>)>,
}

impl<'a> Lexicon<'a> {
    pub(super) fn new(synonyms: &'a Synonyms) -> Self {
        let stemmer = Stemmer::create(Algorithm::English);
        Self { synonyms, stemmer, entries: FxHashMap::default() }
    }

    /// The stem and the synonym sets, sorted, of a name: `tennis racket` is looked up as WordNet writes it.
    pub(super) fn of(&mut self, name: &str) -> (Stem, &[u32]) {
        if !self.entries.contains_key(name) {
            let lower = name.to_lowercase();
            let stems: Vec<_> = lower.split(' ').map(|word| self.stemmer.stem(word)).collect();
            let mut hasher = DefaultHasher::new();
            stems.hash(&mut hasher);
            let sets = self.synonyms.sets(&lower.replace(' ', "_"));
            self.entries.insert(name.into(), (hasher.finish(), sets.into()));
        }
        let (stem, sets) = &self.entries[name];
        (*stem, sets)
    }
}

/// Content words this far from each other, counted without function words, are a pair.
const NEAR: usize = 2;

const NO_STEM: Stem = Stem::MAX;

/// A kind and the stems of one to three parts.
type Key = (Kind, [Stem; 3]);

/// Something that is said, however often.
#[derive(Debug, Clone)]
pub(super) struct Statement {
    pub(super) kind: Kind,
    pub(super) stems: [Stem; 3],
    /// Its parts as they stand where it is said first.
    pub(super) parts: Vec<String>,
    /// The numbers of the caption and of the word in it, for each word that says it.
    pub(super) words: Vec<(usize, usize)>,
}

/// Distinct statements in the order in which they come.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) statements: Vec<Statement>,
    places: FxHashMap<Key, usize>,
    /// The synonym sets of each stem in a statement of the graph, of all its forms.
    sets: FxHashMap<Stem, Vec<u32>>,
    /// The stems in statements of the graph by synonym set.
    by_set: FxHashMap<u32, Vec<Stem>>,
}

impl Said {
    /// What the captions say together: of the graph, what is stated or hedged; of the words, all but what is denied.
    /// (Words that are no thing, such as `left` and `foreground`, often say where things are.)
    pub(super) fn of(captions: &[Read], lexicon: &mut Lexicon<'_>) -> Self {
        let mut content = Self::default();
        for (number, caption) in captions.iter().enumerate() {
            content.add_graph(number, caption, lexicon);
            content.add_words(number, caption, lexicon);
        }
        content
    }

    fn add_graph(&mut self, caption: usize, Read { graph, .. }: &Read, lexicon: &mut Lexicon<'_>) {
        let objects = &graph.objects;
        for object in objects.iter().filter(|object| object.status.is_said()) {
            self.add_named(Kind::Object, &[&object.name], (caption, &object.words), lexicon);
        }
        for attribute in graph.attributes.iter().filter(|attribute| attribute.status.is_said()) {
            let parts: [&str; 2] = [&objects[attribute.object].name, &attribute.name];
            self.add_named(Kind::Attribute, &parts, (caption, &attribute.words), lexicon);
        }
        for relation in graph.relations.iter().filter(|relation| relation.status.is_said()) {
            let parts: [&str; 3] =
                [&objects[relation.subject].name, &relation.predicate, &objects[relation.object].name];
            self.add_named(Kind::Relation, &parts, (caption, &relation.words), lexicon);
        }
    }

    fn add_named(&mut self, kind: Kind, parts: &[&str], words: (usize, &[usize]), lexicon: &mut Lexicon<'_>) {
        let mut stems = [NO_STEM; 3];
        for (place, part) in stems.iter_mut().zip(parts) {
            let (stem, sets) = lexicon.of(part);
            *place = stem;
            let sets_so_far = self.sets.entry(stem).or_default();
            for &set in sets {
                if !sets_so_far.contains(&set) {
                    sets_so_far.push(set);
                    self.by_set.entry(set).or_default().push(stem);
                }
            }
        }
        self.add(kind, stems, parts, words);
    }

    fn add_words(&mut self, caption: usize, read: &Read, lexicon: &mut Lexicon<'_>) {
        let counted = read.counted_words();
        let mut start = 0;
        for &end in read.ends.iter().chain([&read.tokens.len()]) {
            let words = (start..end).filter(|&word| counted[word] && is_content(&read.tokens[word].to_lowercase()));
            let words: Vec<(usize, Stem)> = words.map(|word| (word, lexicon.of(&read.tokens[word]).0)).collect();
            for (place, &(word, stem)) in words.iter().enumerate() {
                let token: &str = &read.tokens[word];
                self.add(Kind::Word, [stem, NO_STEM, NO_STEM], &[token], (caption, &[word]));
                for &(other, near) in words[place + 1..].iter().take(NEAR).filter(|(_, near)| *near != stem) {
                    let stems = [stem.min(near), stem.max(near), NO_STEM];
                    self.add(Kind::Word, stems, &[token, &read.tokens[other]], (caption, &[word, other]));
                }
            }
            start = end;
        }
    }

    fn add(&mut self, kind: Kind, stems: [Stem; 3], parts: &[&str], (caption, words): (usize, &[usize])) {
        let next = self.statements.len();
        let place = *self.places.entry((kind, stems)).or_insert(next);
        if place == next {
            let parts = parts.iter().map(|&part| part.to_owned()).collect();
            self.statements.push(Statement { kind, stems, parts, words: Vec::new() });
        }
        self.statements[place].words.extend(words.iter().map(|&word| (caption, word)));
    }

    /// The number of the statement here that says just the same as one of another side.
    pub(super) fn same(&self, other: &Statement) -> Option<usize> {
        self.places.get(&(other.kind, other.stems)).copied()
    }

    /// The synonym sets of the thing that a statement names; none for a statement of another kind.
    fn sets_of(&self, statement: &Statement) -> &[u32] {
        let sets = (statement.kind == Kind::Object).then(|| self.sets.get(&statement.stems[0])).flatten();
        sets.map_or(&[], Vec::as_slice)
    }

    /// The numbers of the statements here that say the same as one of `side`, each part by the same stem or by a
    /// synonym. Words are compared by their stems alone.
    pub(super) fn alike(&self, side: &Self, other: &Statement) -> Vec<usize> {
        if other.kind == Kind::Word {
            return self.same(other).into_iter().collect();
        }
        let options = other.stems.map(|stem| {
            let sets = side.sets.get(&stem).into_iter().flatten();
            let synonyms = sets.filter_map(|set| self.by_set.get(set)).flatten().copied();
            let mut options: Vec<Stem> = synonyms.chain([stem]).collect();
            options.sort_unstable();
            options.dedup();
            options
        });
        let mut numbers = Vec::new();
        for &a in &options[0] {
            for &b in &options[1] {
                numbers.extend(options[2].iter().filter_map(|&c| self.places.get(&(other.kind, [a, b, c]))));
            }
        }
        numbers
    }
}

/// A caption that was read.
#[derive(Debug, Default)]
pub struct Read {
    /// Its tokens.
    pub tokens: Vec<String>,
    /// The places behind the last token of each sentence but the last.
    pub ends: Vec<usize>,
    /// Its graph, whose words are numbers of tokens.
    pub graph: SceneGraph,
    /// The status of each token.
    pub statuses: Vec<Status>,
}

impl Read {
    /// Whether each word counts: not if the caption denies it, asks or commands, nor if it stands only for what is denied.
    fn counted_words(&self) -> Vec<bool> {
        let graph = &self.graph;
        let objects = graph.objects.iter().map(|object| (&object.words, object.status));
        let attributes = graph.attributes.iter().map(|attribute| (&attribute.words, attribute.status));
        let relations = graph.relations.iter().map(|relation| (&relation.words, relation.status));
        let mut counted: Vec<bool> = self.statuses.iter().map(|status| status.is_said()).collect();
        let (stated, denied): (Vec<_>, Vec<_>) = objects
            .chain(attributes)
            .chain(relations)
            .filter(|(_, status)| *status != Status::Aside)
            .partition(|(_, status)| *status != Status::Denied);
        for (words, counts) in
            denied.into_iter().map(|part| (part.0, false)).chain(stated.into_iter().map(|part| (part.0, true)))
        {
            for &word in words {
                counted[word] = counts;
            }
        }
        counted
    }
}

/// Words that say nothing of a picture by themselves.
const FUNCTION_WORDS: &str = "
a an the this that these those i me my we us our ours you your yours he him his she her hers it its they them their
theirs himself herself itself themselves who whom whose which what one ones be is are was were been being am have has
had having do does did done can could may might will would shall should must 's 're 've 'll 'd 'm n't and or but nor so
as if than then though although while when where because of to at by for from in into on onto with within without not
no none yes all both each every any some such own same other others another there here also too very just only more
most much many few several -lrb- -rrb-
";

const ABOUT_THE_PICTURE: &str = "
image images picture pictures photo photos photograph photographs scene scenes shot depict depicts depicted depicting
show shows shown showing capture captures captured capturing feature features featured featuring visible seen appear
appears appearing overall
";

static LIST: LazyLock<FxHashSet<&str>> =
    LazyLock::new(|| FUNCTION_WORDS.split_whitespace().chain(ABOUT_THE_PICTURE.split_whitespace()).collect());

/// Whether a token, in lower case, has a letter or a digit and is no article, pronoun, auxiliary verb, conjunction or
/// bare preposition, nor about the picture itself. Numbers, directions and places (`two`, `left`, `under`) are content words.
fn is_content(token: &str) -> bool {
    token.chars().any(char::is_alphanumeric) && !LIST.contains(token)
}

// Chance: how far the references of other images say a statement.

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

    fn count(&mut self, content: &Said) {
        self.images += 1;
        let of =
            |statement| [key(statement)].into_iter().chain(content.sets_of(statement).iter().map(|&set| hashed(set)));
        for key in content.statements.iter().flat_map(of).collect::<FxHashSet<_>>() {
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
        let other_images = f64::from(self.images - 1);
        let share = |key: u64, excluded: bool| {
            let count = self.counts.get(&key).copied().unwrap_or_default();
            f64::from(count.saturating_sub(excluded.into())) / other_images
        };
        let same = share(key(statement), excluded.same(statement).is_some());
        let is_named = |&stem: &Stem| excluded.places.contains_key(&(Kind::Object, [stem, NO_STEM, NO_STEM]));
        let names_one_of = |set: &u32| excluded.by_set.get(set).is_some_and(|stems| stems.iter().any(is_named));
        let by_set = |set: &u32| share(hashed(*set), names_one_of(set));
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

fn hashed(value: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_places_are_content() {
        let content = ["two", "left", "under", "dog", "3", "the", "of", "image", "--", ""].map(is_content);
        assert_eq!(content, [true, true, true, true, true, false, false, false, false, false]);
    }
}
