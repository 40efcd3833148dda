"""The objects that a corpus names, and the objects in its images."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from sacrecap import _core
from sacrecap.errors import warn
from sacrecap.resources.english import parser
from sacrecap.resources.objects_of_images import objects_of

if TYPE_CHECKING:
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.resources.chair import ObjectVocabulary
    from sacrecap.resources.needs import Needs


@dataclass(frozen=True, eq=False)
class NamedObjects:
    """A vocabulary's objects in a corpus."""

    core: _core.NamedObjects
    vocabulary: ObjectVocabulary


def name_objects(
    corpus: Corpus,
    needs: Needs,
    vocabulary: ObjectVocabulary,
    *,
    skips_denied: bool = False,
    skips_unfinished: bool = False,
    find: bool = False,
) -> NamedObjects:
    """The objects that captions name, and those annotated in the images, if objects are given.

    `skips_denied`: what a caption says is not there is not named. `skips_unfinished`: nor is what a candidate says in a
    last sentence that was cut off. `find`: where no objects are given, they are found in the images.

    Warns about labels that the vocabulary lacks. Raises `DataError` if the objects are unusable.
    """
    objects = objects_of(corpus, needs, find=find)
    gold = None
    if objects is not None:
        gold, unknown = vocabulary.gold(objects)
        if unknown:
            labels = f"{', '.join(unknown[:5])}{', …' if len(unknown) > 5 else ''}"
            warn(
                f"{len(unknown):,} of the {len({*chain(*objects)}):,} labels of objects are "
                f"not in the vocabulary {vocabulary.name}: {labels}; CHAIR does not look for them; "
                "vocabulary=FILE can have words for them"
            )
    words = corpus._core.vocabulary
    number = {word: place for place, word in enumerate(words)}

    def numbered(places: Iterable[tuple[list[str], list[int]]]) -> list[tuple[list[int], list[int]]]:
        known = ((tokens, at) for tokens, at in places if all(word in number for word in tokens))
        return [([number[word] for word in tokens], at) for tokens, at in known]

    breaks = numbered(_breaks(corpus, vocabulary)) if corpus.tokenizer in ("ptb", "ptb-stream") else []
    silent: dict[tuple[str, ...], set[int]] = defaultdict(set)
    if skips_denied:
        texts = list(dict.fromkeys(_all_captions(corpus)))
        for tokens, places in parser().denied(texts, corpus.tokenizer, needs.threads or 0):
            if places:
                silent[tuple(tokens)].update(places)
    for tokens, following in _unfinished(corpus) if skips_unfinished else ():
        silent[tuple(tokens)].update(following)
    unnamed = numbered(([*tokens], sorted(places)) for tokens, places in silent.items())
    core = _core.NamedObjects(vocabulary.core, vocabulary.parts(words), gold, breaks, unnamed)
    return NamedObjects(core, vocabulary)


def _all_captions(corpus: Corpus) -> Iterator[str]:
    """All captions as they were given."""
    both_parts = (corpus.candidate_captions.to_dict(), corpus.reference_captions.to_dict())
    return chain.from_iterable(chain.from_iterable(captions.values() for captions in both_parts))


def _unfinished(corpus: Corpus) -> Iterator[tuple[list[str], Iterable[int]]]:
    """Candidates as words, with the places behind the last sentence's end, of those whose last sentence has none.

    A caption of one sentence, which people and captioners write without a mark at its end, is whole.
    """
    from sacrecap.corpus.corpus import tokenize
    from sacrecap.corpus.sentences import finished

    texts = chain.from_iterable(corpus.candidate_captions.to_dict().values())
    cut = {text: finished(text) for text in texts}
    cut = {text: whole for text, whole in cut.items() if len(whole) < len(text)}
    tokenizer = "ptb" if corpus.tokenizer == "ptb-stream" else corpus.tokenizer
    words = [" ".join(tokens).split() for tokens in tokenize([*cut, *cut.values()], tokenizer=tokenizer)]
    for every, before in zip(words[: len(cut)], words[len(cut) :], strict=True):
        yield every, range(len(before), len(every))


_MARKS = r""".,;:!?()\[\]{}"“”…"""
_INSIDE = re.compile(rf"\w\W*[{_MARKS}]\W*\w")
_MARK = re.compile(rf"[{_MARKS}]")


def _breaks(corpus: Corpus, vocabulary: ObjectVocabulary) -> Iterator[tuple[list[str], list[int]]]:
    """Captions as words, with marks that the tokenizer dropped where two words would otherwise form one term.

    And the positions of words that follow a mark. "A glass of wine. Glasses shine." names no wine glass.
    """
    from sacrecap.corpus.corpus import tokenize
    from sacrecap.corpus.sentences import located

    texts = list(dict.fromkeys(text for text in _all_captions(corpus) if _INSIDE.search(text)))
    for text, tokens in zip(texts, tokenize(texts, tokenizer="ptb"), strict=True):
        words = " ".join(tokens).split()
        if not any(pair in vocabulary.joined for pair in pairwise(vocabulary.parts(words))):
            continue
        places = located(text, words)
        after = [
            number
            for number, (before, following) in enumerate(pairwise(places), 1)
            if before is not None and following is not None and _MARK.search(text, before[1], following[0])
        ]
        if after:
            yield words, after
