"""Where the tokens of a caption stand in its text."""

from __future__ import annotations

import pytest

from sacrecap.corpus.sentences import located, pieces


@pytest.mark.parametrize(
    ("text", "tokens", "words"),
    [
        ("A Dog, and a cat.", ["a", "dog", "and", "a", "cat"], ["A", "Dog", "and", "a", "cat"]),
        (
            "a dog (brown) runs",
            ["a", "dog", "-lrb-", "brown", "-rrb-", "runs"],
            ["a", "dog", None, "brown", None, "runs"],
        ),
        ("I can’t see", ["i", "ca", "n't", "see"], ["I", "ca", "n’t", "see"]),
        # What the text spells differently has no place; the words after it have theirs.
        ("cost 5 € a dog", ["cost", "5", "$", "a", "dog"], ["cost", "5", None, "a", "dog"]),
        ("half ½ odd a dog", ["half", "1/2", "odd", "a", "dog"], ["half", None, "odd", "a", "dog"]),
        ("a xyz rundown dog run", ["a", "abc", "run"], ["a", None, "run"]),
        ("a" + " x" * 150 + " dog", ["a", "y", "dog"], ["a", None, None]),
    ],
)
def test_tokens_have_their_places(text: str, tokens: list[str], words: list[str | None]) -> None:
    places = located(text, tokens)
    assert [place and text[slice(*place)] for place in places] == words
    known = [place for place in places if place]
    assert known == sorted(known)


def test_a_mark_may_begin_a_text() -> None:
    assert [*pieces("a dog runs", [(0, 1, "x"), (2, 5, "y")])] == [
        ("a", "x"),
        (" ", None),
        ("dog", "y"),
        (" runs", None),
    ]
    assert [*pieces("a dog runs", [(0, 1, "x"), (2, 5, "y")], 2, 7)] == [("dog", "y"), (" r", None)]
