"""CHAIR of one image, for inspection: which words of the caption name which object, and which are hallucinated."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from sacrecap.corpus.sentences import BETWEEN_SENTENCES, located, pieces

if TYPE_CHECKING:
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.resources.chair.mentions import NamedObjects


@dataclass(frozen=True)
class Mention:
    """Words of a caption that name an object."""

    words: str
    """The words, spelled as in the caption."""
    object: str
    there: bool
    """Whether the object is gold; if not, it is hallucinated."""
    start: int | None
    """Position of the first character in the caption, from 0; None for words that the tokenizer spells differently."""
    end: int | None
    """Position after the last character."""
    sentence: int
    """Number of the sentence, from 1."""


@dataclass(frozen=True)
class Hallucination:
    """The objects that an image's caption names. `print` shows them, with hallucinated words in brackets."""

    caption: str
    sentences: tuple[tuple[int, int], ...]
    """Positions of each sentence's first character in the caption, and after its last."""
    mentions: tuple[Mention, ...]
    """In the caption's order."""
    annotated: tuple[str, ...]
    """Gold objects that were given."""
    said: tuple[str, ...]
    """Gold objects that references name."""

    @property
    def hallucinated(self) -> tuple[Mention, ...]:
        """The mentions of objects that are not gold."""
        return tuple(mention for mention in self.mentions if not mention.there)

    @property
    def gold(self) -> tuple[str, ...]:
        """All gold objects."""
        return tuple(dict.fromkeys((*self.annotated, *self.said)))

    @property
    def missed(self) -> tuple[str, ...]:
        """Gold objects that the caption does not name."""
        named = {mention.object for mention in self.mentions}
        return tuple(name for name in self.gold if name not in named)

    def to_dict(self) -> dict[str, Any]:
        """All fields, and the gold objects that are missed, as JSON."""
        return {**asdict(self), "missed": list(self.missed)}

    def pieces(self) -> list[list[tuple[str, Mention | None]]]:
        """The text of each sentence in pieces; pieces that are mentions come with the mention."""
        placed = ((mention.start, mention.end, mention) for mention in self.mentions)
        marked = [(start, end, mention) for start, end, mention in placed if start is not None and end is not None]
        return [[*pieces(self.caption, marked, *sentence)] for sentence in self.sentences]

    def __str__(self) -> str:
        several = len(self.sentences) > 1
        heads = [f"sentence {number}" if several else "caption" for number in range(1, len(self.sentences) + 1)]
        lines = [(head, "".join(map(_bracketed, pieces))) for head, pieces in zip(heads, self.pieces(), strict=True)]
        lines = lines or [("caption", "empty")]
        for number, mention in enumerate(self.hallucinated):
            lines.append(("" if number else "not there", _described(mention, several)))
        there = [mention for mention in self.mentions if mention.there]
        for number, mention in enumerate(there):
            lines.append(("" if number else "there", _described(mention, several)))
        lines.append(("not named", ", ".join(self.missed) or "nothing that is there"))
        lines.append(("score", self._scores()))
        width = max(len(head) for head, _ in lines)
        return "\n".join(f"{head:<{width}}  {text}" for head, text in lines)

    def _scores(self) -> str:
        count, of = len(self.hallucinated), len(self.mentions)
        named, gold = len(self.gold) - len(self.missed), len(self.gold)
        share, recall = count / of if of else 0.0, f"{named / gold:.4f}" if gold else "none"
        return (
            f"CHAIR-i {share:.4f} = {count} of {of} mentions; CHAIR-s {int(count > 0)}; "
            f"CHAIR-recall {recall} = {named} of {gold} objects"
        )


def _bracketed(piece: tuple[str, Mention | None]) -> str:
    text, mention = piece
    return text if mention is None or mention.there else f"[{text}]"


def _described(mention: Mention, several: bool) -> str:
    place = "" if mention.start is None else f", characters {mention.start} to {mention.end}"
    sentence = f", sentence {mention.sentence}" if several else ""
    return f"{mention.words} → {mention.object}{place}{sentence}"


def explain(named: NamedObjects, corpus: Corpus, image: int, gold: str) -> Hallucination:
    """The explanation of the candidate of the image with that number; `gold` as the metric's parameter."""
    image_id = corpus.image_ids[image]
    caption = corpus.captions(image_id)[0] or ""
    words = corpus.texts(image_id)[0][0].split()
    candidates, references, labels = named.core.image(corpus._core, image)
    names = named.vocabulary.objects
    annotated = tuple(dict.fromkeys(names[number] for number in labels)) if gold != "references" else ()
    in_references = (names[number] for _, _, number in chain.from_iterable(references))
    in_captions = tuple(dict.fromkeys(in_references)) if gold != "objects" else ()
    sentences = _sentences(caption)
    places = located(caption, words)
    there = {*annotated, *in_captions}
    mentions, sentence = [], 0
    for first, behind, number in candidates[0]:
        first_place, last_place = places[first], places[behind - 1]
        start, end = (first_place[0], last_place[1]) if first_place and last_place else (None, None)
        while start is not None and sentence + 1 < len(sentences) and start >= sentences[sentence + 1][0]:
            sentence += 1
        text = " ".join(words[first:behind]) if start is None else caption[start:end]
        mentions.append(Mention(text, names[number], names[number] in there, start, end, sentence + 1))
    return Hallucination(caption, sentences, tuple(mentions), annotated, in_captions)


def _sentences(text: str) -> tuple[tuple[int, int], ...]:
    """Start and end of each sentence; an empty list for an empty text."""
    places, start = [], 0
    for between in BETWEEN_SENTENCES.finditer(text):
        places.append((start, between.start()))
        start = between.end()
    places.append((start, len(text)))
    return tuple((start, end) for start, end in places if text[start:end].strip())
