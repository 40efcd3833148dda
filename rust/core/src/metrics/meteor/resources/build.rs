//! Builds the tables of [`Resources`] from the files of a METEOR installation.

use std::io::{BufRead, BufReader, Read};

use flate2::read::MultiGzDecoder;

use super::Resources;
use super::cache::write_language;
use super::paraphrases::Collector;
use crate::metrics::meteor::language::Language;
use crate::metrics::meteor::normalize::split;
use crate::metrics::meteor::score::Module;
use crate::tables::layout::Strings;
use crate::wordnet::{SourceError, exceptions, synonyms, write};

/// The contents of the files.
///
/// Names are those of English. For every language, the program takes the *English* function words unless it is given a
/// list (`-s`), though its archive has some for Czech, French, German, Russian and Spanish.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// The language.
    pub language: Language,
    /// `function/english.words`: one word per line.
    pub function_words: &'a str,
    /// `nonbreaking/english.prefixes`: one prefix per line, then `#NUMERIC_ONLY#` where it stands before numbers only.
    /// Without meaning where [`Language::prefixes`] names no file.
    pub prefixes: &'a str,
    /// `synonym/english.synsets`: a word, and on the next line the numbers of its synonym sets. English only.
    pub synonyms: &'a str,
    /// `synonym/english.exceptions`: a base form, and on the next line its irregular forms. English only.
    pub exceptions: &'a str,
    /// `paraphrase-en.gz`, compressed or not: triples of lines, a weight (ignored), a phrase and its paraphrase.
    /// None does without the module; English has it always.
    pub paraphrases: Option<&'a [u8]>,
}

/// A file that is not what METEOR 1.5 comes with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildError {
    /// The file.
    pub file: &'static str,
    /// The problem, and its place.
    pub problem: String,
}

impl std::fmt::Display for BuildError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "METEOR's {} cannot be read: {}", self.file, self.problem)
    }
}

impl std::error::Error for BuildError {}

impl From<SourceError> for BuildError {
    fn from(error: SourceError) -> Self {
        Self { file: error.file, problem: error.problem }
    }
}

/// Between two calls of `progress`, in triples.
const PROGRESS_STEP: usize = 1 << 16;

impl Resources {
    /// Builds the tables; `progress` is told the finished share of the work, from 0 to 1, now and then.
    pub fn build(sources: &Sources<'_>, progress: &mut dyn FnMut(f64)) -> Result<Self, BuildError> {
        check(sources)?;
        let [function, function_bounds] = sorted(split(sources.function_words));
        let [always, always_bounds] = sorted(prefixes(sources.prefixes, false));
        let [numeric, numeric_bounds] = sorted(prefixes(sources.prefixes, true));
        let synonyms = synonyms(sources.synonyms)?;
        let exceptions = exceptions(sources.exceptions, &synonyms)?;
        let [words, word_bounds, sets, set_bounds] = write(&synonyms);
        let [forms, form_bounds, bases, base_bounds] = write(&exceptions);
        let [text, bounds, last, children, lists, values] =
            paraphrases(sources.paraphrases.unwrap_or_default(), progress)?.write();
        let language = write_language(sources.language, sources.paraphrases.is_some());
        let built = Self::from_sections(&[
            function,
            function_bounds,
            always,
            always_bounds,
            numeric,
            numeric_bounds,
            words,
            word_bounds,
            sets,
            set_bounds,
            forms,
            form_bounds,
            bases,
            base_bounds,
            text,
            bounds,
            last,
            children,
            lists,
            values,
            language,
        ]);
        progress(1.0);
        Ok(built)
    }
}

/// Whether the language's modules have what they need, and no more.
fn check(sources: &Sources<'_>) -> Result<(), BuildError> {
    let Sources { language, synonyms, exceptions, paraphrases, .. } = sources;
    let error = |file, problem: &str| Err(BuildError { file, problem: format!("{problem} {}", language.name()) });
    let has = |module: Module| language.modules().contains(&module);
    let has_synonyms = !(synonyms.is_empty() && exceptions.is_empty());
    if has_synonyms && !has(Module::Synonym) {
        return error("synonym/english.synsets", "it has no synonyms for");
    }
    match paraphrases {
        None if *language == Language::En => error("paraphrase table", "it is missing, and not optional for"),
        Some(_) if !has(Module::Paraphrase) => error("paraphrase table", "it has no paraphrases for"),
        _ => Ok(()),
    }
}

fn sorted<'a>(words: impl Iterator<Item = &'a str>) -> [Vec<u8>; 2] {
    let words: std::collections::BTreeSet<&str> = words.collect();
    Strings::write(words.into_iter())
}

fn prefixes(text: &str, before_number: bool) -> impl Iterator<Item = &str> {
    text.lines().filter_map(move |line| {
        let mut fields = split(line);
        let prefix = fields.next().filter(|prefix| !prefix.starts_with('#'))?;
        (fields.next().is_some_and(|field| field == "#NUMERIC_ONLY#") == before_number).then_some(prefix)
    })
}

fn paraphrases(bytes: &[u8], progress: &mut dyn FnMut(f64)) -> Result<Collector, BuildError> {
    let consumed = std::cell::Cell::new(0);
    let source = Counted { bytes, consumed: &consumed };
    let reader: Box<dyn Read + '_> =
        if bytes.starts_with(&[0x1f, 0x8b]) { Box::new(MultiGzDecoder::new(source)) } else { Box::new(source) };
    let mut reader = BufReader::with_capacity(1 << 18, reader);
    let mut table = Collector::default();
    let mut triple = [String::new(), String::new(), String::new()];
    // The table lists the paraphrases of a phrase side by side, mostly.
    let mut previous = (String::new(), None);
    for number in 0.. {
        let error = |problem: String| BuildError { file: "paraphrase table", problem };
        for (which, line) in triple.iter_mut().enumerate() {
            line.clear();
            let line_number = 3 * number + which + 1;
            let length = reader.read_line(line).map_err(|cause| error(format!("near line {line_number}: {cause}")))?;
            match (length, which) {
                (0, 0) => return Ok(table),
                (0, _) => return Err(error(format!("it ends after line {}, within a triple", line_number - 1))),
                _ => {}
            }
        }
        let [_, phrase, paraphrase] = &triple;
        if *phrase != previous.0 {
            previous.0.clone_from(phrase);
            previous.1 = table.phrase(phrase);
        }
        if let (Some(phrase), Some(paraphrase)) = (previous.1, table.phrase(paraphrase)) {
            table.push(phrase, paraphrase);
        }
        if number % PROGRESS_STEP == 0 {
            progress(0.9 * consumed.get() as f64 / bytes.len() as f64);
        }
    }
    Ok(table)
}

/// Counts the bytes taken.
struct Counted<'a> {
    bytes: &'a [u8],
    consumed: &'a std::cell::Cell<usize>,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        self.consumed.set(self.consumed.get() + count);
        Ok(count)
    }
}
