//! What in a caption's text is no description of what is there: what models, tokenizers and writers of files leave, and
//! words that deny.

use crate::named::named;
use crate::text::written::looks_written;

named! {
    /// A trace of something else than a description of what is there.
    pub enum Mark {
        /// Captions as the text of a list or the like: `['a dog', 'a red dog']`, `[a dog]`, `a dog ||| a red dog`.
        List "list",
        /// An object of JSON, `{"caption": "a dog"}`, also between fences.
        Json "json",
        /// A block of thoughts before the answer: `<think>`.
        Thoughts "think",
        /// A token of a model or a sign of its tokenizer: `<s>`, `<|im_end|>`, `[SEP]`, `UNK`, `startseq`, `▁dog`,
        /// `Ġdog`, `play ##ing`.
        Token "token",
        /// Markdown: headings, bold type, bullets, fences.
        Markdown "markdown",
        /// Several lines, each as long as a caption: `a dog runs` and below it `two cats sleep`.
        Lines "lines",
        /// Words that deny something: `no`, `without`.
        Denial "denied",
    }
}

/// The marks of a caption.
pub(super) fn marks(text: &str) -> impl Iterator<Item = Mark> {
    let text = text.trim();
    // Nearly every caption has none of the characters that begin one.
    let begins = |byte| matches!(byte, b'[' | b'{' | b'<' | b'|' | b'*' | b'#' | b'`' | b'\n' | b'\t' | b'\r' | 0x80..);
    let suspect = text.bytes().any(begins) || looks_written(text) || text.contains("seq") || text.contains("UNK");
    Mark::ALL.into_iter().filter(move |&mark| (suspect || mark == Mark::Denial) && has(text, mark))
}

fn has(text: &str, mark: Mark) -> bool {
    match mark {
        Mark::List => looks_written(text) && !has(text, Mark::Json) || text.contains("|||"),
        Mark::Json => is_json(text) || text.contains("```json"),
        Mark::Thoughts => tags(text).any(is_thought),
        Mark::Token => tags(text).any(|tag| !is_thought(tag)) || bracketed(text) || is_of_tokenizer(text),
        Mark::Markdown => is_markdown(text) && !has(text, Mark::Json),
        Mark::Lines => are_captions(text) && !has(text, Mark::Markdown) && !has(text, Mark::Json),
        Mark::Denial => denies(text),
    }
}

/// Whether `no` or `without` stands in the text: what English captions mostly deny with.
fn denies(text: &str) -> bool {
    let bytes = text.as_bytes();
    // Nearly every word begins otherwise, so the text is not cut into words.
    (0..bytes.len()).any(|place| {
        let word = match bytes[place] {
            b'n' | b'N' => "no",
            b'w' | b'W' => "without",
            _ => return false,
        };
        let end = place + word.len();
        bytes.get(place..end).is_some_and(|found| found.eq_ignore_ascii_case(word.as_bytes()))
            && !text[..place].ends_with(char::is_alphanumeric)
            && !text[end..].starts_with(char::is_alphanumeric)
    })
}

/// Longest tag, in characters.
const LONGEST_TAG: usize = 40;

/// What stands between `<` and `>` without a blank.
fn tags(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('<').filter_map(|(place, _)| {
        let inside = &text[place + 1..];
        let (end, _) = inside
            .char_indices()
            .take(LONGEST_TAG)
            .find(|(_, one)| *one == '>' || *one == '<' || one.is_whitespace())?;
        let tag = &inside[..end];
        let begins = tag.starts_with(|one: char| one.is_alphabetic() || matches!(one, '|' | '/' | '｜'));
        (inside[end..].starts_with('>') && begins).then_some(tag)
    })
}

fn is_thought(tag: &str) -> bool {
    let name = tag.trim_matches(|one: char| !one.is_alphanumeric());
    ["think", "thinking", "thought", "reasoning"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// A token of BERT and its kin: capitals in brackets.
fn bracketed(text: &str) -> bool {
    text.match_indices('[').any(|(place, _)| {
        let inside = text[place + 1..].trim_start_matches('/');
        let length = inside.bytes().take_while(u8::is_ascii_uppercase).count();
        (2..=6).contains(&length) && inside[length..].starts_with(']')
    })
}

/// An object as text, also between fences.
fn is_json(text: &str) -> bool {
    let inside = text.strip_prefix("```").map_or(text, |rest| rest.trim_end_matches('`')).trim();
    inside.starts_with('{') && inside.ends_with('}') && inside.contains(':')
}

/// Words that tokenizers put in, and signs by which they mark where words begin or go on: SentencePiece's, GPT-2's (also
/// a letter of Maltese, with which at most one word of few begins), BERT's.
fn is_of_tokenizer(text: &str) -> bool {
    let words = || text.split(|one: char| !one.is_alphanumeric());
    let goes_on = |word: &str| word.strip_prefix("##").is_some_and(|rest| rest.starts_with(char::is_lowercase));
    words().any(|word| matches!(word, "UNK" | "startseq" | "endseq"))
        || text.contains('\u{2581}')
        || text.matches('Ġ').count() > 1
        || text
            .split('Ġ')
            .next()
            .is_some_and(|before| before.len() < text.len() && before.ends_with(char::is_alphanumeric))
        || text.split_whitespace().any(goes_on)
}

/// Words of a line that may be a caption.
const WORDS_OF_CAPTION: std::ops::RangeInclusive<usize> = 3..=25;

/// Whether each of several lines, or of what tabs divide, may be a caption, and no item of a numbered list.
fn are_captions(text: &str) -> bool {
    let mut lines = text.split(['\n', '\r', '\t']).map(str::trim).filter(|line| !line.is_empty());
    let is_caption = |line: &str| {
        !line.starts_with(|one: char| one.is_ascii_digit() || matches!(one, '-' | '*' | '•'))
            && !line.ends_with(':')
            && WORDS_OF_CAPTION.contains(&line.split_whitespace().count())
    };
    lines.next().is_some_and(is_caption) && lines.clone().next().is_some() && lines.all(is_caption)
}

fn is_markdown(text: &str) -> bool {
    let heading = |line: &str| {
        let rest = line.trim_start_matches('#');
        (1..=6).contains(&(line.len() - rest.len())) && rest.starts_with(' ')
    };
    let bullet = |line: &&str| line.starts_with("- ") || line.starts_with("* ");
    text.contains("```")
        || text.matches("**").count() > 1
        || text.lines().any(heading)
        || text.lines().filter(bullet).count() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_seen_and_prose_has_none() {
        let cases: [(&str, &[&str]); 63] = [
            ("No dogs are there.", &["denied"]),
            ("a street without-cars", &["denied"]),
            ("a snow-covered nose", &[]),
            ("a dog with no", &["denied"]),
            ("éno noé no2 withoutx", &[]),
            ("é no", &["denied"]),
            ("a dog—NO—cat", &["denied"]),
            ("['a dog', 'a red dog']", &["list"]),
            (" [\"a dog\"] ", &["list"]),
            ("a dog ||| a red dog", &["list"]),
            ("('a dog',)", &["list"]),
            ("[a dog]", &["list"]),
            ("a (red) dog's \"toy\"", &[]),
            ("a || b | c", &[]),
            ("{\"caption\": \"a dog\"}", &["json"]),
            ("{'caption': 'a dog'}", &["json"]),
            ("<think>It may be a dog.</think> a dog", &["think"]),
            ("</think> a dog", &["think"]),
            ("<s> a dog </s>", &["token"]),
            ("a <unk> dog", &["token"]),
            ("a dog<|im_end|>", &["token"]),
            ("a dog<｜end▁of▁sentence｜>", &["token"]),
            ("[CLS] a dog [SEP]", &["token"]),
            ("[/INST] a dog", &["token"]),
            ("startseq a dog runs endseq", &["token"]),
            ("a UNK dog", &["token"]),
            ("\u{2581}a\u{2581}dog", &["token"]),
            ("a dog\u{2581}runs", &["token"]),
            ("aĠdog", &["token"]),
            ("Ġa Ġdog", &["token"]),
            ("a dog play ##ing", &["token"]),
            ("##s of a dog", &["token"]),
            ("Ġorġ runs", &[]),
            ("a sequence of JUNK", &[]),
            ("an Unk and a unk", &[]),
            ("a sign with ##12 and ## on it", &[]),
            ("A sign that says \"Ġ\"", &[]),
            ("a café", &[]),
            ("```json\n{\"caption\": \"a dog\"}\n```", &["json"]),
            ("```\n{\"caption\": \"a dog\"}\n```", &["json"]),
            ("```json {\"caption\": \"a dog\"} ``` is it", &["json"]),
            ("a dog runs\ntwo cats sleep", &["lines"]),
            ("a dog runs\n\n  two cats sleep \n", &["lines"]),
            ("a dog runs\ttwo cats sleep", &["lines"]),
            ("a dog runs\r\ntwo cats sleep", &["lines"]),
            ("a dog runs\n", &[]),
            ("a sign that says\nSTOP", &[]),
            ("1. a red dog\n2. a black cat", &[]),
            ("The dog is:\na red one", &[]),
            ("a dog\na cat", &[]),
            (
                "one two three four five six seven eight nine ten one two three four five six seven eight nine ten one two \
              three four five six\nand a dog runs",
                &[],
            ),
            ("- a dog runs\n- a cat sleeps", &["markdown"]),
            ("**A dog** runs", &["markdown"]),
            ("# Picture\nA dog runs.", &["markdown"]),
            ("- a dog\n- a cat", &["markdown"]),
            ("```\na dog\n```", &["markdown"]),
            ("1. a dog\n2. a cat", &[]),
            ("a dog <3 a cat > a bird", &[]),
            ("a dog [with a ball] and a {red} cat", &[]),
            ("a sign that says #1", &[]),
            ("a * b", &[]),
            ("a < b", &[]),
            ("", &[]),
        ];
        for (text, expected) in cases {
            assert_eq!(marks(text).map(Mark::name).collect::<Vec<_>>(), expected, "{text:?}");
        }
    }
}
