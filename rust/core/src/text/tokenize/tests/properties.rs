//! What holds for every text.

use proptest::prelude::*;

use super::super::scan::Scanner;
use super::super::{Tokenizer, ptb, tokenize_stream};
use super::samples::{self, RULES};
use super::{alone, reference, together};

/// The byte offset of a UTF-16 offset; inside a character, that of the character's end.
fn byte_offset(text: &str, units: usize) -> usize {
    let mut left = units;
    let covered = text.chars().take_while(|c| {
        let within = left > 0;
        left = left.saturating_sub(c.len_utf16());
        within
    });
    covered.map(char::len_utf8).sum()
}

fn numbered(tokenize: impl FnOnce(&mut dyn FnMut(usize, &str))) -> Vec<(usize, String)> {
    let mut tokens = Vec::new();
    tokenize(&mut |line, token| tokens.push((line, token.to_owned())));
    tokens
}

proptest! {
    #[test]
    fn scanner_finds_what_plain_search_finds(text in samples::text(5)) {
        let mut scanner = Scanner::new(&text);
        for (start, _) in text.char_indices() {
            let rest = &text[start..];
            let units: Vec<u16> = rest.encode_utf16().collect();
            let (length, rewrite) = reference::token(&RULES, &units);
            let found = scanner.token_at(start);
            prop_assert_eq!((found.end, found.rewrite), (start + byte_offset(rest, length), rewrite), "{:?}", rest);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn shortcuts_change_nothing(text in samples::text(12)) {
        let shortcuts = numbered(|sink| ptb::tokenize(&text, sink));
        prop_assert_eq!(shortcuts, numbered(|sink| ptb::tests::tokenize_by_rule(&text, sink)));
    }

    #[test]
    fn remembering_excursions_changes_nothing(text in "[<a =\"'x.@/&;\u{3000}-]{0,40}(<a [a-z]{90,140}=[\"'<@.]){0,8}[a-z@.<\"]{0,300}") {
        let mut scanner = Scanner::new(&text);
        for (start, _) in text.char_indices() {
            let fresh = Scanner::new(&text).token_at(start);
            let found = scanner.token_at(start);
            prop_assert_eq!((found.end, found.rewrite), (fresh.end, fresh.rewrite));
        }
    }

    #[test]
    fn tokens_are_words_without_spaces(text in any::<String>()) {
        for tokenizer in Tokenizer::all() {
            let may_be_empty = tokenizer == Tokenizer::Blanks;
            tokenizer.tokenize(&text, |token| {
                assert!((may_be_empty || !token.is_empty()) && !token.contains(' '), "{token:?}");
            });
        }
    }

    #[test]
    fn a_stream_of_one_is_a_caption_alone(text in samples::text(12)) {
        prop_assert_eq!(together(&[&text]), vec![alone(&text)]);
    }

    #[test]
    fn a_stream_numbers_captions_in_order(captions in prop::collection::vec(samples::text(5), 0..6)) {
        let mut previous = 0;
        tokenize_stream(captions.iter().map(String::as_str), |caption, _| {
            assert!(previous <= caption && caption < captions.len());
            previous = caption;
        });
    }

    #[test]
    fn line_breaks_are_spaces(text in samples::text(12)) {
        prop_assert_eq!(alone(&text), alone(&text.replace('\n', "\r")));
    }
}
