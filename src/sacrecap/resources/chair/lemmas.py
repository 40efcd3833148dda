"""Base forms of nouns as WordNet finds them, for the words of COCO's objects.

The morphology of WordNet (its manual's *morphy*), as NLTK's WordNetLemmatizer applies it to nouns: of the word itself
and of what the endings, or the list of irregular forms, make of it, the shortest that is a noun of WordNet, and of
several the first.

`nouns.txt` has the nouns of WordNet 3.0 that decide whether a word's base form is a word of COCO's objects, one per
line, and the irregular forms, each with its base forms.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

ENDINGS = (
    ("s", ""),
    ("ses", "s"),
    ("ves", "f"),
    ("xes", "x"),
    ("zes", "z"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("men", "man"),
    ("ies", "y"),
)
"""Endings of plurals, with what replaces them, in the order in which they are tried."""


@cache
def base_form(word: str) -> str:
    """The base form of a lower-case word; itself for one that is no form of a noun.

    Examples:
        >>> [base_form(word) for word in ("dogs", "women", "men", "vases")]
        ['dog', 'woman', 'men', 'vas']
    """
    nouns, irregular = _nouns()
    forms = irregular.get(word) or [word.removesuffix(old) + new for old, new in ENDINGS if word.endswith(old)]
    return min((form for form in (word, *forms) if form in nouns), key=len, default=word)


@cache
def _nouns() -> tuple[frozenset[str], dict[str, list[str]]]:
    lines = files("sacrecap.resources.chair").joinpath("nouns.txt").read_text(encoding="utf-8").splitlines()
    words = [line.split() for line in lines]
    return frozenset(first for first, *rest in words if not rest), {first: rest for first, *rest in words if rest}
