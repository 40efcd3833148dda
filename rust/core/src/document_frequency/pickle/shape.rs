//! From the values of a pickle to document frequencies: which dictionary holds the counts, and what they must be.

use super::PickleError;
use super::heap::{Entry, Heap, Value};
use crate::document_frequency::DocumentFrequency;
use crate::text::ngram::{MAX_ORDER, Ngram};
use crate::text::vocabulary::{Vocabulary, Word};

/// Images of COCO's 2014 validation set: the documents behind the published counts that do not say.
const COCO_VALIDATION: u64 = 40_504;

/// From here on floats no longer tell whole numbers apart.
const EXACT: f64 = 9_007_199_254_740_992.0;

pub(super) fn document_frequency(heap: Heap<'_>, root: Value) -> Result<DocumentFrequency, PickleError> {
    let (dict, documents) = counts_and_documents(&heap, root)?;
    let mut words = Words { heap: &heap, vocabulary: Vocabulary::default(), known: vec![None; heap.text_count()] };
    let mut counts = Vec::with_capacity(heap.entries(dict).count());
    for Entry { key, value, .. } in heap.entries(dict) {
        let ngram = words.ngram(key)?;
        let count = heap.as_number(value).filter(|&count| is_whole(count) && count <= f64::from(u32::MAX));
        let count = count.ok_or_else(|| {
            let (ngram, value) = (describe(&heap, key), describe(&heap, value));
            PickleError::Content(format!(
                "the count of {ngram} is {value}, and not a whole number from 0 to {}",
                u32::MAX
            ))
        })?;
        counts.push((ngram, count as u32));
    }
    let order = counts.iter().map(|(ngram, _)| ngram.order()).max();
    let order = order.ok_or_else(|| PickleError::Content("it holds no n-gram".to_owned()))?;
    let vocabulary = words.vocabulary;
    drop(heap);
    let words: Vec<&str> = vocabulary.words().collect();
    let counts = DocumentFrequency::from_counts(&words, counts, documents, order);
    check_unrepeated(&counts)?;
    Ok(counts)
}

/// The dictionary of counts, and the number of documents behind them.
fn counts_and_documents(heap: &Heap<'_>, root: Value) -> Result<(u32, u64), PickleError> {
    let Value::Dict(dict) = root else {
        return Err(PickleError::Content(format!("it holds {}, and not a dictionary", describe(heap, root))));
    };
    let (mut counts, mut documents) = (None, None);
    for entry in heap.entries(dict) {
        match heap.as_text(entry.key) {
            Some(b"document_frequency" | b"df") => counts = Some(entry.value),
            Some(b"ref_len") => documents = Some(entry.value),
            _ => {}
        }
    }
    match (counts, documents) {
        (Some(Value::Dict(counts)), Some(documents)) => Ok((counts, document_count(heap, documents)?)),
        (None, None) => Ok((dict, COCO_VALIDATION)),
        (Some(Value::Dict(_)), None) => {
            Err(PickleError::Content("it lacks 'ref_len', the number of documents".to_owned()))
        }
        (Some(counts), _) => {
            Err(PickleError::Content(format!("its counts are {}, and not a dictionary", describe(heap, counts))))
        }
        (None, Some(_)) => Err(PickleError::Content("it has 'ref_len', but no 'document_frequency'".to_owned())),
    }
}

fn document_count(heap: &Heap<'_>, value: Value) -> Result<u64, PickleError> {
    let wrong = |hint: &str| {
        PickleError::Content(format!("'ref_len' is {}, and not the number of documents{hint}", describe(heap, value)))
    };
    match heap.as_number(value) {
        Some(number) if number >= 1.0 && is_whole(number) => Ok(number as u64),
        Some(number) if number > 0.0 && number < 64.0 => {
            Err(wrong(" (perhaps its logarithm: store the number itself)"))
        }
        _ => Err(wrong("")),
    }
}

/// Whether the number is 0, 1, 2, … and exact.
fn is_whole(number: f64) -> bool {
    (0.0..EXACT).contains(&number) && number.fract() == 0.0
}

/// Numbers words as they are met in the n-grams, converting each text once.
struct Words<'h, 'a> {
    heap: &'h Heap<'a>,
    vocabulary: Vocabulary,
    known: Vec<Option<Word>>,
}

impl Words<'_, '_> {
    fn ngram(&mut self, key: Value) -> Result<Ngram, PickleError> {
        let items = self.heap.as_tuple(key).filter(|items| (1..=MAX_ORDER).contains(&items.len()));
        let ngram = items.and_then(|items| {
            items.iter().try_fold(Ngram::default(), |ngram, &item| Some(ngram.push(self.word(item)?)))
        });
        ngram.ok_or_else(|| {
            let key = describe(self.heap, key);
            PickleError::Content(format!("{key} is a key of the counts, and not a tuple of 1 to {MAX_ORDER} words"))
        })
    }

    /// The number of a word, or of the decimal digits of a whole number.
    fn word(&mut self, item: Value) -> Option<Word> {
        let Value::Text(number) = item else {
            let number = self.heap.as_number(item).filter(|number| is_whole(number.abs()))?;
            return Some(self.vocabulary.intern(&number.to_string()));
        };
        let known = &mut self.known[number as usize];
        if known.is_none() {
            *known = Some(self.vocabulary.intern(&decoded(self.heap.as_text(item)?)));
        }
        *known
    }
}

/// UTF-8, or else Latin-1, in which any bytes are text.
fn decoded(text: &[u8]) -> String {
    match std::str::from_utf8(text) {
        Ok(text) => text.to_owned(),
        Err(_) => text.iter().copied().map(char::from).collect(),
    }
}

/// Keys that Python tells apart may be one n-gram here: `('1',)` and `(1,)`. Equal n-grams lie next to each other.
fn check_unrepeated(counts: &DocumentFrequency) -> Result<(), PickleError> {
    let ngrams = || counts.frequencies.iter().map(|(ngram, _)| ngram);
    match ngrams().zip(ngrams().skip(1)).find(|(one, next)| one == next) {
        None => Ok(()),
        Some((ngram, _)) => {
            let words: Vec<&str> = ngram.words().map(|word| counts.words.get(word as usize)).collect();
            Err(PickleError::Content(format!("the n-gram {} is counted twice", quoted(&words.join(" ")))))
        }
    }
}

/// The value in a few words of an error message.
fn describe(heap: &Heap<'_>, value: Value) -> String {
    match value {
        Value::None => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Small(_) | Value::Number(_) => {
            heap.as_number(value).map_or_else(String::new, |number| number.to_string())
        }
        Value::Text(_) => {
            heap.as_text(value).map_or_else(String::new, |text| quoted(&decoded(&text[..text.len().min(60)])))
        }
        Value::Tuple(_) => match heap.as_tuple(value) {
            Some(items @ ([_] | [_, _] | [_, _, _] | [_, _, _, _])) => {
                let items: Vec<String> = items.iter().map(|&item| describe_item(heap, item)).collect();
                format!("({})", items.join(", "))
            }
            items => format!("a tuple of {} items", items.map_or(0, <[Value]>::len)),
        },
        Value::Dict(_) => "a dictionary".to_owned(),
        Value::List => "a list".to_owned(),
        Value::Global(_) | Value::Dtype(_) => "a Python type".to_owned(),
    }
}

/// As [`describe`], without looking into tuples in tuples: they may be nested deeper than any stack.
fn describe_item(heap: &Heap<'_>, item: Value) -> String {
    if matches!(item, Value::Tuple(_)) { "a tuple".to_owned() } else { describe(heap, item) }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.chars().take(60).flat_map(char::escape_debug).collect::<String>())
}
