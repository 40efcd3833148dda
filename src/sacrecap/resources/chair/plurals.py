"""English plurals of nouns: every form that a word may have when there are several.

A vocabulary is looked up in singular and plural, so a form that nobody writes does no harm, but a missing form leaves
an object unrecognised. If English has two forms, both are given: *buses* and *busses*, *scarfs* and *scarves*.
"""

from __future__ import annotations

_IRREGULAR = {
    "child": "children",
    "foot": "feet",
    "goose": "geese",
    "louse": "lice",
    "mouse": "mice",
    "ox": "oxen",
    "person": "people",
    "tooth": "teeth",
    "die": "dice",
    "penny": "pence",
    "this": "these",
}
"""Also for compounds that end with them, such as grandchild; mongoose is an exception."""
_NOT_COMPOUNDS = frozenset(["mongoose", "fox", "box"])
_NO_MEN = frozenset(["human", "german", "roman", "norman", "ottoman", "caiman", "talisman", "shaman"])
_ENDINGS_VES = ("lf", "leaf", "loaf", "thief", "sheaf", "scarf", "wharf", "hoof", "dwarf")
_KNIVES = ("knife", "wife", "life")
_LATIN = (("us", "i"), ("um", "a"), ("is", "es"), ("ix", "ices"), ("ex", "ices"))
_SIBILANTS = ("s", "x", "z", "ch", "sh")


def plurals(word: str) -> list[str]:
    """The plural forms of a lower-case word, the usual one first; none for an empty word."""
    if not word:
        return []
    latin = [word.removesuffix(one) + several for one, several in _LATIN if word.endswith(one) and len(word) > 4]
    return list(dict.fromkeys([*_irregular(word), *_regular(word), *latin]))


def _irregular(word: str) -> list[str]:
    forms = []
    if word not in _NOT_COMPOUNDS:
        forms += [word.removesuffix(one) + several for one, several in _IRREGULAR.items() if word.endswith(one)]
    if word.endswith("man") and word not in _NO_MEN:
        forms.append(word[:-2] + "en")
    if word.endswith(_ENDINGS_VES):
        forms.append(word[:-1] + "ves")
    if word.endswith(_KNIVES):
        forms.append(word[:-2] + "ves")
    return forms


def _regular(word: str) -> list[str]:
    if word.endswith("y") and word[-2:-1] not in ("", *"aeiou"):
        return [word[:-1] + "ies"]
    if word.endswith(_SIBILANTS):
        doubled = [word + word[-1] + "es"] if word[-1] in "sz" and word[-2:-1] in ("a", "e", "i", "o", "u") else []
        return [word + "es", *doubled]
    if word.endswith("o"):
        return [word + "s", word + "es"]
    return [word + "s"]
