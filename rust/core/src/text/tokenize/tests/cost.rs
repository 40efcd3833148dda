//! No caption may cost more than its length explains.

use std::time::{Duration, Instant};

use super::alone;

const MEGABYTE: usize = 1 << 20;

/// Generous, for machines that are busy: a scanner that goes over the text again for every token would need many minutes.
const BUDGET: Duration = Duration::from_secs(60);

#[test]
fn repetitive_captions_are_cheap() {
    let repeated = [
        "a",
        "a.",
        "<",
        "<a ",
        "<a b=\"",
        "<a b='c' ",
        "<!a",
        "@",
        "a@",
        "a@b.",
        ". ",
        ".",
        "-",
        "a-",
        "1",
        "1 ",
        "1,",
        "1-",
        "1/",
        "&",
        "&amp;",
        "A&",
        "'",
        "n't",
        "\"",
        "(",
        "#",
        "http://",
        "www.",
        "b.com/",
        "x/",
        "\u{e9}.",
        "\u{1f600}",
        "\u{1f600}.",
        "\u{ad}",
        "a\u{ad}",
        "\u{3000}",
        "=.[^x=",
        "etc. <a ",
        "a. <b ",
        "no. ",
        "_",
        "*",
        "\\*",
        "&lt;a",
        "a,",
        "a\u{2019}",
        "'tis",
        ":-",
    ];
    for piece in repeated {
        check(piece, &piece.repeat(MEGABYTE / piece.len()));
    }
}

#[test]
fn captions_that_never_close_are_cheap() {
    for (opening, filling) in [("<a b=\"", "c <d e='"), ("<!", "<!x "), ("=.[^x=", "^.[^x="), ("a@", "b"), ("a. ", " ")]
    {
        check(opening, &(opening.to_owned() + &filling.repeat(MEGABYTE / filling.len())));
    }
}

fn check(name: &str, caption: &str) {
    let start = Instant::now();
    alone(caption);
    let elapsed = start.elapsed();
    println!("{name:?}: {elapsed:?}");
    assert!(elapsed < BUDGET, "{name:?} over and over took {elapsed:?}");
}
