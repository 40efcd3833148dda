//! Captions and what the COCO suite makes of them, by topic.

use super::super::Tokenizer;
use super::{alone, together};

fn check(cases: &[(&str, &str)]) {
    for (caption, tokens) in cases {
        assert_eq!(alone(caption), *tokens, "{caption:?}");
    }
}

#[test]
fn plain_captions() {
    check(&[
        ("", ""),
        ("A man riding a HORSE.", "a man riding a horse"),
        ("two dogs, a cat, and a bird", "two dogs a cat and a bird"),
        ("  tab\tand   many spaces ", "tab and many spaces"),
        ("Mt. Rushmore, S.D. in the 1930s", "mt. rushmore s.d. in the 1930s"),
        ("an airplane w/ the U.S. flag on its tail.", "an airplane w / the u.s. flag on its tail"),
        ("A b/w photo of a 1950's-style diner at 5:30 p.m.", "a b/w photo of a 1950 's style diner at 5:30 p.m."),
    ]);
}

#[test]
fn punctuation() {
    check(&[
        (". ... ! ? , : ; - -- --- ---- ' \" `` ''", ""),
        ("!! ?! ----- * / & _ =", "!! ?! ----- * / & _ ="),
        ("(in) [a] {box}", "-lrb- in -rrb- -lsb- a -rsb- -lcb- box -rcb-"),
        ("\u{201c}curly\u{201d} \u{2018}quotes\u{2019}", "curly quotes"),
        ("\u{201e}low\u{201c}", "\u{201e} low"),
        ("hmm...ok", "hmm ok"),
        ("end.Next yes!no end.2", "end.next yes!no end .2"),
        ("a dog., a cat", "a dog. a cat"),
    ]);
}

#[test]
fn apostrophes() {
    check(&[
        ("it's the dogs' home, I'm sure", "it 's the dogs home i 'm sure"),
        ("can't won't don\u{2019}t isn`t", "ca n't wo n't do n't is n`t"),
        ("cannot gonna WANNA 'tis", "can not gon na wan na 't is"),
        ("o'clock O'Neil d'Angelo y'all rock'n'roll", "o'clock o'neil d'angelo y' all rock 'n' roll"),
        ("qur'an we'd've", "qur an we 'd ve"),
        ("the '90s, class of '05 x", "the '90s class of '05 x"),
    ]);
}

#[test]
fn abbreviations() {
    check(&[
        ("Dr. Foo of St. Ives Inc. etc.", "dr. foo of st. ives inc. etc."),
        ("no. 5 but no.", "no. 5 but no"),
        ("ill. Ill.", "ill ill."),
        ("vitamin c.", "vitamin c."),
        ("vitamin c. The dog", "vitamin c the dog"),
        ("Pty. PTY. pte.", "pty. pty pte."),
    ]);
}

#[test]
fn numbers() {
    check(&[
        ("1,000.50 -5 .5 :30 5:30pm", "1,000.50 -5 .5 :30 5:30 pm"),
        ("1 1/2 cups", "1\u{a0}1/2 cups"),
        ("12/25/2012 2nd 50% 20\u{b0}C", "12/25/2012 2nd 50 % 20 \u{b0} c"),
        ("(555) 555-1234", "-lrb-555-rrb-\u{a0}555-1234"),
        ("$5 US$5 \u{a3}5 \u{20ac}5 5\u{a2} \u{bd}", "$ 5 us$ 5 # 5 $ 5 5 cents 1/2"),
    ]);
}

#[test]
fn web_and_markup() {
    check(&[
        ("http://x.y/a?b=c. www.x.com me@x.com", "http://x.y/a?b=c www.x.com me@x.com"),
        ("foo.com/bar Foo.com/bar", "foo.com/bar foo.com / bar"),
        ("@user #hash-tag photo.jpg.", "@user #hash tag photo.jpg"),
        ("<b>bold</b> <a href=\"x y\">", "<b> bold </b> <a\u{a0}href=\"x\u{a0}y\">"),
        ("R&amp;B &lt;b&gt; caf&eacute; &nbsp;", "r&b < b > caf&eacute;"),
        (":) then :-) ^_^", ":-rrb- then :--rrb- ^_^"),
        ("=.[^x=a <>]", "=.[^x=a <>]"),
    ]);
}

#[test]
fn beyond_ascii() {
    check(&[
        ("\u{130}stanbul \u{212a}elvin stra\u{df}e", "i\u{307}stanbul kelvin stra\u{df}e"),
        ("\u{4e2d}\u{6587}\u{3002}", "\u{4e2d}\u{6587} \u{3002}"),
        ("a\u{1f600}b \u{2764}\u{fe0f}", "a b \u{2764}"),
        ("so\u{ad}ft \u{200b}x\u{feff}y", "soft x y"),
        // A halved character is enough for the rule that wants something behind the clitic.
        ("'s\u{1f600}", "'s"),
        // Trailing white space goes, even where it belongs to a token.
        ("http://x.y\u{3000}", "http://x.y"),
        ("http://x.y\u{3000} a", "http://x.y\u{3000} a"),
    ]);
}

#[test]
fn captions_in_a_stream_see_their_neighbours() {
    assert_eq!(together(&["vitamin c.", "The dog", "x"]), ["vitamin c", "the dog", "x"]);
    assert_eq!(together(&["vitamin c.", "Theater"]), ["vitamin c.", "theater"]);
    assert_eq!(together(&["a dog no.", "5 cats"]), ["a dog no.", "5 cats"]);
    assert_eq!(together(&["class of '05", "class of '05"]), ["class of '05", "class of 05"]);
    assert_eq!(together(&["happy :)", "happy :)"]), ["happy :-rrb-", "happy -rrb-"]);
    assert_eq!(together(&["", "a", ""]), ["", "a", ""]);
}

#[test]
fn a_tag_across_captions_is_shared_out() {
    assert_eq!(together(&["one <a b=\"x", ".", "y\"> two", "three"]), ["one <a\u{a0}b=\"x", "", "y\"> two", "three"]);
    assert_eq!(together(&["one <a b='x", "three"]), ["one < a b = x", "three"]);
}

#[test]
fn line_breaks_inside_a_caption_are_spaces() {
    for line_break in ["\n", "\r", "\r\n", "\u{b}", "\u{c}", "\u{2028}", "\u{2029}"] {
        let caption = format!("a{line_break}b");
        assert_eq!(alone(&caption), "a b", "{line_break:?}");
        assert_eq!(together(&[&caption, "next"]), ["a b", "next"], "{line_break:?}");
    }
}

#[test]
fn tokenizers_that_only_split() {
    let split = |tokenizer: Tokenizer| {
        let mut tokens = Vec::new();
        tokenizer.tokenize(" A\u{a0}b,  \tC\n", |token| tokens.push(token.to_owned()));
        tokens
    };
    assert_eq!(split(Tokenizer::Whitespace), ["A", "b,", "C"]);
    assert_eq!(split(Tokenizer::None), ["A\u{a0}b,", "\tC\n"]);
    assert_eq!(split(Tokenizer::Blanks), ["", "A\u{a0}b,", "", "\tC\n"]);
    Tokenizer::Blanks.tokenize("", |token| assert_eq!(token, ""));
}

#[test]
fn names_read_back() {
    for tokenizer in Tokenizer::all() {
        assert_eq!(tokenizer.to_string().parse(), Ok(tokenizer));
    }
    let error = "PTB".parse::<Tokenizer>().unwrap_err();
    let known =
        "there is no tokenizer \"PTB\"; the tokenizers are ptb, ptb-stream, whitespace, none, blanks, 13a, intl, ";
    assert!(error.to_string().starts_with(known));
}
