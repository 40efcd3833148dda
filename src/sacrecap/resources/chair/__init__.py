"""The words that CHAIR looks for: the published vocabulary of COCO's objects, a larger one from WordNet, and files."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from itertools import chain, pairwise
from typing import TypeAlias

from sacrecap import _core
from sacrecap.data.source import PathLike, read_bytes
from sacrecap.data.unpack import text_of
from sacrecap.errors import DataError, first_of, warn

VocabularySource: TypeAlias = "PathLike | ObjectVocabulary"

NAMES = ("coco", "wordnet")
"""The vocabularies inside the package: the published synonyms of COCO's 80 objects, and the things of WordNet."""


def open_vocabulary(source: VocabularySource) -> ObjectVocabulary:
    """The vocabulary of one of the `NAMES`, or in a file of the published format. Raises `DataError`."""
    if isinstance(source, ObjectVocabulary):
        return source
    if source in NAMES:
        return _built_in(str(source), None)
    path = os.fspath(source)
    try:
        status = os.stat(path)
        vocabulary = _read(path, (status.st_mtime_ns, status.st_size))
    except OSError:
        file = "a file with one line per object: its name and other words for it, separated by commas"
        accepted = f"give {' or '.join(NAMES)}, or {file}"
        raise DataError(f"{path}: no such file, and no vocabulary of that name; {accepted}") from None
    if vocabulary.never_found:
        words = first_of([*map(repr, vocabulary.never_found)])
        form = "captions are compared in lower case, with one blank between words; write words in this form"
        warn(f"{path}: no caption can contain {words}: {form}")
    return vocabulary


def by_base_forms() -> ObjectVocabulary:
    """The published vocabulary, looked up by WordNet's base forms of a caption's words."""
    return _built_in("coco", _core.noun_base)


@cache
def _built_in(name: str, base_form: Callable[[str], str] | None) -> ObjectVocabulary:
    text = files("sacrecap.resources.chair").joinpath(f"{name}.txt").read_text(encoding="utf-8")
    return ObjectVocabulary(text, name, base_form)


@lru_cache(maxsize=4)
def _read(path: str, version: tuple[int, int]) -> ObjectVocabulary:  # noqa: ARG001 (a file that changes is another)
    return ObjectVocabulary(text_of(read_bytes(path), f"{path}, "), path)


_ANIMALS = ["bird", "cat", "dog", "horse", "sheep", "cow", "elephant", "bear", "zebra", "giraffe", "animal", "cub"]
_JOINED = """
motor bike, motor cycle, air plane, traffic light, street light, traffic signal, stop light, fire hydrant,
stop sign, parking meter, suit case, sports ball, baseball bat, baseball glove, tennis racket, wine glass, hot
dog, cell phone, mobile phone, teddy bear, hair drier, potted plant, laptop computer, home plate, train track
"""
PAIRS: dict[str, str] = {
    **{pair: pair for pair in " ".join(_JOINED.split()).split(", ")},
    **{f"{age} {animal}": animal for age in ("baby", "adult") for animal in _ANIMALS},
    **{f"passenger {vehicle}": vehicle for vehicle in ("jet", "train")},
    "bow tie": "tie",
    "toilet seat": "toilet",
    "wine glas": "wine glass",
}
"""Two words that the published program takes as one, and their replacement; a pair that the vocabulary lacks names
nothing: a train track is not a train."""
DROPS = {"seat": "toilet"}
"""Words that do not count in a caption that also has the other word."""
VOC = {"aeroplane": "airplane", "diningtable": "dining table", "pottedplant": "potted plant", "tvmonitor": "tv"}
"""Labels of PASCAL VOC that captions do not use, and the words that they use."""
NEVER = frozenset(["stove top oven"])
"""Three words in the program's list of pairs: the program never finds them."""


class ObjectVocabulary:
    """Objects and the words for them. Raises `DataError` if there is no word, or a word on two lines.

    Args:
        text: one line per object: its name, then other words for it, separated by a comma and a blank. As in the
            published program, a second blank belongs to the word, which is then never found; a word with a capital is
            never found either.
        name: its name in messages and signatures.
        base_form: makes each word of a caption a base form, which must be a word of the vocabulary; None: a word is
            looked up in singular and plural.
    """

    def __init__(self, text: str, name: str, base_form: Callable[[str], str] | None = None) -> None:
        self.name = name
        self.base_form = base_form
        self.checksum = hashlib.sha256(text.encode()).hexdigest()[:12]
        self.objects: tuple[str, ...] = ()
        """The objects' names."""
        self.words: dict[str, int] = {}
        """The index of the object that each word names; words are in their written form."""
        lines: list[int] = []
        for number, line in enumerate(text.splitlines(), 1):
            words = [word for word in re.split(", ?", line.strip()) if word.strip()]
            for word in words:
                other = self.words.setdefault(word, len(self.objects))
                if other < len(self.objects):
                    raise DataError(
                        f"{name}, line {number}: {word.strip()!r} names {self.objects[other]!r} on line {lines[other]} "
                        "already; a word names one object: remove it from one of the lines"
                    )
            if words:
                self.objects += (words[0].strip(),)
                lines.append(number)
        if not self.objects:
            expected = "each line is an object: its name and other words for it, separated by commas"
            raise DataError(f"{name}: no word in it; {expected}")

    @property
    def never_found(self) -> list[str]:
        """Words that no caption can contain: captions are compared in lower case, with one blank between words."""
        return [word for word in self.words if word != " ".join(word.lower().split())]

    @cached_property
    def _terms(self) -> dict[tuple[str, ...], str]:
        """The words of each phrase, and its term: a word of the vocabulary, or one that names nothing."""
        never = {*self.never_found, *NEVER}
        terms = {tuple(word.split(" ")): word for word in self.words if word not in never}
        terms |= {tuple(pair.split(" ")): term for pair, term in PAIRS.items()}
        for word in {*DROPS, *DROPS.values()}:
            terms.setdefault((word,), word)
        if self.base_form is not None:
            return terms
        # A plural that is itself a word in some phrase, such as "glasses" in "opera glasses", is a plural elsewhere.
        parts = {part for phrase in terms for part in phrase}
        for (*before, last), term in list(terms.items()):
            for several in _core.plurals(last):
                if several in parts:
                    terms.setdefault((*before, several), term)
        return terms

    @cached_property
    def _parts(self) -> dict[str, int]:
        """The index of the part that a word of a caption is: its base form, or the word in singular or plural."""
        parts = list(dict.fromkeys(part for phrase in self._terms for part in phrase))
        numbers = {part: number for number, part in enumerate(parts)}
        if self.base_form is not None:
            return numbers
        # The longest word that has this plural form: "vases" are not several "vas".
        for part in sorted(parts, key=len, reverse=True):
            for several in _core.plurals(part):
                numbers.setdefault(several, numbers[part])
        return numbers

    @cached_property
    def core(self) -> _core.ObjectWords:
        """The vocabulary for native code."""
        names = {term: number for number, term in enumerate(dict.fromkeys(self._terms.values()))}
        phrases = [([self._parts[part] for part in phrase], names[term]) for phrase, term in self._terms.items()]
        drops = [(names[word], names[beside]) for word, beside in DROPS.items()]
        return _core.ObjectWords(len(self._parts), phrases, [self.words.get(term) for term in names], drops)

    def parts(self, words: Iterable[str]) -> list[int | None]:
        """For each word the index of its part, in any case of letters; None for a word in no phrase."""
        form = self.base_form or str
        return [self._parts.get(form(word.lower())) for word in words]

    @cached_property
    def joined(self) -> frozenset[tuple[int | None, int | None]]:
        """Parts that follow each other in some phrase."""
        return frozenset(pair for phrase in self._terms for pair in pairwise(self.parts(phrase)))

    def object_of(self, label: str) -> int | None:
        """The object that a label names, in any case, singular or plural; `_` is a blank; VOC's labels are known."""
        words = label.lower().replace("_", " ").split()
        words = VOC.get("".join(words), " ".join(words)).split(" ")
        if (whole := " ".join(words)) in self.words:
            return self.words[whole]
        term = self._by_parts.get(tuple(self.parts(words)))
        return None if term is None else self.words.get(term)

    @cached_property
    def _by_parts(self) -> dict[tuple[int | None, ...], str]:
        return {tuple(self.parts(phrase)): term for phrase, term in reversed(self._terms.items())}

    def gold(self, images: Sequence[Iterable[str]]) -> tuple[list[list[int]], list[str]]:
        """The objects that the labels of each image name, and the labels that name none."""
        of_label = {label: self.object_of(label) for label in dict.fromkeys(chain.from_iterable(images))}
        known = [[thing for label in labels if (thing := of_label[label]) is not None] for labels in images]
        return known, [label for label, thing in of_label.items() if thing is None]

    def __repr__(self) -> str:
        return f"<ObjectVocabulary {self.name}: {len(self.words):,} words for {len(self.objects):,} objects>"
