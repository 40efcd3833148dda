"""CHAIR: whether a caption names objects that are not in the image.

Rohrbach, Hendricks, Burns, Darrell, Saenko, *Object Hallucination in Image Captioning* (EMNLP 2018).

    CHAIR_i = hallucinated mentions / mentions
    CHAIR_s = captions with a hallucinated mention / captions
    recall  = gold objects that are named / gold objects

A mention is one word or two words that name an object of a vocabulary; it is hallucinated if the object is not gold:
neither annotated in the image nor named in one of its references. Corpus values are quotients of sums.

Where papers and programs differ: docs/reference/metrics/chair.md.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import chain, pairwise
from typing import Any, ClassVar

from sacrecap import _core
from sacrecap.corpus.corpus import Corpus, tokenize
from sacrecap.corpus.sentences import BETWEEN_SENTENCES, finished, located, pieces
from sacrecap.errors import UsageError, first_of, warn
from sacrecap.metrics.base import Metric, Ready, Status, Totals
from sacrecap.metrics.declared import parameter
from sacrecap.resources.chair import ObjectVocabulary, by_base_forms, open_vocabulary
from sacrecap.resources.english import parser
from sacrecap.resources.needs import Needs


class _Chair(Metric):
    """The common base of the three scores."""

    gold: str = parameter(
        "gold objects: both, those given and those that references name; or only objects, or only references",
        default="both",
        choices=("both", "objects", "references"),
    )
    vocabulary: str = parameter(
        "words for objects: coco, the published list; wordnet, a larger one; or a file of the published format",
        default="coco",
        kind=str,
    )
    lemmas: str = parameter(
        "how a caption's words are looked up: plurals, each word of the vocabulary in singular and plural; wordnet, by "
        "the base forms of WordNet's lemmatiser, as forks of the program do (vocabulary coco alone)",
        default="plurals",
        choices=("plurals", "wordnet"),
    )
    denied: str = parameter(
        "mentions of what a caption says is not there (no dogs, without a car): count, as in the program; or skip, by "
        "the parser inside the package, which knows English",
        default="count",
        choices=("count", "skip"),
    )
    unfinished: str = parameter(
        "mentions in a candidate's last sentence that was cut off (it has no end, and is not the only one): count, as "
        "in the program; or skip",
        default="count",
        choices=("count", "skip"),
    )

    source = "Rohrbach et al., EMNLP 2018"
    cites = ("rohrbach2018chair",)
    upper = 1.0
    needs = ("references", "objects", "vocabulary")
    resolved = ("vocabulary",)
    explains = "hallucination"

    @property
    def needs_references(self) -> bool:
        return self.gold != "objects"

    @property
    def counts_denied(self) -> bool:
        return self.denied == "count"

    def status(self, needs: Needs) -> Status:
        from sacrecap.resources.objects_of_images import lack, lacks_objects

        lacking = f"it {lacks_objects()}, or take {self.name}(gold=references)"
        return Status.left_out(lacking if self.gold != "references" and lack(needs) else None)

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """Looks up what the captions name and what is in the images."""
        from sacrecap.resources.objects_of_images import are_found, digest_of_objects, lacks_objects, signature_of_found

        if self.gold != "references" and "objects" not in needs and "images" not in needs:
            raise UsageError(f"{self.label} {lacks_objects()}, or take {self.name}(gold=references), which needs none")
        vocabulary = open_vocabulary(self.named_or("vocabulary", needs.get("vocabulary")))
        if self.lemmas == "wordnet":
            if vocabulary.name != "coco":
                knows = f"knows the words of the vocabulary coco alone, not of {vocabulary.name}"
                raise UsageError(f"{self.label}: lemmas=wordnet {knows}; leave one of the two out")
            vocabulary = by_base_forms()
        find = self.gold != "references" and are_found(needs)
        how = {"skips_denied": self.denied == "skip", "skips_unfinished": self.unfinished == "skip", "find": find}
        key = ("named objects", vocabulary.checksum, self.lemmas, *how.values())
        core = needs.once(key, lambda: name_objects(corpus, needs, vocabulary, **how), of=corpus)
        signature = f"vocabulary:{vocabulary.checksum[:8]}", *([signature_of_found(needs)] if find else [])
        ready = Ready(corpus._core, (core,), signature, own=(core, vocabulary))
        if self.gold == "references":
            return ready
        return replace(ready, digests=lambda: {"objects": digest_of_objects(corpus, needs, counts=False)})

    def kernel_parameters(self) -> dict[str, str]:
        """Gold: the objects that captions name, which the other parameters are about, are passed as a resource."""
        return {"gold": self.gold}

    def explain_image(self, ready: Ready, corpus: Corpus, image: int) -> Hallucination:
        """The mentions of the image's candidate, and the gold objects."""
        core, vocabulary = ready.own
        image_id = corpus.image_ids[image]
        caption = corpus.captions(image_id)[0] or ""
        words = corpus.texts(image_id)[0][0].split()
        candidates, references, labels = core.image(corpus._core, image)
        names = vocabulary.objects
        annotated = tuple(dict.fromkeys(names[number] for number in labels)) if self.gold != "references" else ()
        in_references = dict.fromkeys(names[number] for _, _, number in chain.from_iterable(references))
        in_captions = tuple(in_references) if self.gold != "objects" else ()
        between = [0, *chain.from_iterable(gap.span() for gap in BETWEEN_SENTENCES.finditer(caption)), len(caption)]
        ends = zip(between[::2], between[1::2], strict=True)
        sentences = [(start, end) for start, end in ends if caption[start:end].strip()]
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
        return Hallucination(caption, tuple(sentences), tuple(mentions), annotated, in_captions)


class _Hallucinated(_Chair):
    """A share of hallucinations."""

    nothing: ClassVar[dict[str, str]] = {
        "caption that names no object": "0",
        "no caption names an object": "0, with a warning",
    }

    lower_is_better = True

    def warnings(self, ready: Ready, statistics: Totals) -> list[str]:
        """Warns if no object is named at all: then 0 does not mean that the captions are good."""
        # Hallucinated mentions, mentions; captions that hallucinate, captions; gold objects named, gold objects.
        _, mentions, *_ = statistics.sums()
        if mentions:
            return []
        _, vocabulary = ready.own
        nothing = f"no caption names an object of the vocabulary {vocabulary.name}, so the score is 0"
        return [f"{self.label}: {nothing}; give the words of your objects with vocabulary=FILE"]


class ChairI(_Hallucinated):
    """Share of the mentions whose object is not gold, over the whole corpus."""

    title = "CHAIR-i"
    summary = "Objects that the captions name are not in the images."
    equation = "CHAIR_i = Σ hallucinated mentions / Σ mentions"


class ChairS(_Hallucinated):
    """Share of the captions that name an object which is not gold."""

    title = "CHAIR-s"
    summary = "Many captions name an object that is not in the image."
    equation = "CHAIR_s = captions with a hallucinated mention / captions"


class ChairRecall(_Chair):
    """Share of the gold objects that the captions name, over the whole corpus."""

    title = "CHAIR-recall"
    summary = "The captions name the objects in the images."
    equation = "CHAIR-recall = Σ gold objects named / Σ gold objects"
    nothing: ClassVar[dict[str, str]] = {"caption that names no object": "0", "image without a gold object": "no score"}
    no_score_where = "no object of the image is in the vocabulary"


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
        lines = []
        for number, sentence in enumerate(self.pieces(), 1):
            marked = [text if mention is None or mention.there else f"[{text}]" for text, mention in sentence]
            lines.append((f"sentence {number}" if several else "caption", "".join(marked)))
        lines = lines or [("caption", "empty")]
        there = [mention for mention in self.mentions if mention.there]
        for head, mentions in (("not there", self.hallucinated), ("there", there)):
            for number, mention in enumerate(mentions):
                place = "" if mention.start is None else f", characters {mention.start} to {mention.end}"
                place += f", sentence {mention.sentence}" if several else ""
                lines.append(("" if number else head, f"{mention.words} → {mention.object}{place}"))
        lines.append(("not named", ", ".join(self.missed) or "nothing that is there"))
        count, of = len(self.hallucinated), len(self.mentions)
        named, gold = len(self.gold) - len(self.missed), len(self.gold)
        share, recall = count / of if of else 0.0, f"{named / gold:.4f}" if gold else "none"
        scores = f"CHAIR-i {share:.4f} = {count} of {of} mentions; CHAIR-s {int(count > 0)}"
        lines.append(("score", f"{scores}; CHAIR-recall {recall} = {named} of {gold} objects"))
        width = max(len(head) for head, _ in lines)
        return "\n".join(f"{head:<{width}}  {text}" for head, text in lines)


def name_objects(
    corpus: Corpus,
    needs: Needs,
    vocabulary: ObjectVocabulary,
    *,
    skips_denied: bool = False,
    skips_unfinished: bool = False,
    find: bool = False,
) -> _core.NamedObjects:
    """The vocabulary's objects that captions name, and those annotated in the images, if objects are given.

    `skips_denied`: what a caption says is not there is not named. `skips_unfinished`: nor is what a candidate says in a
    last sentence that was cut off. `find`: where no objects are given, they are found in the images.

    Warns about labels that the vocabulary lacks. Raises `DataError` if the objects are unusable.
    """
    from sacrecap.resources.objects_of_images import objects_of

    objects = objects_of(corpus, needs, find=find)
    gold = None
    if objects is not None:
        gold, unknown = vocabulary.gold(objects)
        if unknown:
            labels = f"{len(unknown):,} of the {len({*chain(*objects)}):,} labels of objects"
            remedy = "CHAIR does not look for them; vocabulary=FILE can have words for them"
            warn(f"{labels} are not in the vocabulary {vocabulary.name}: {first_of(unknown)}; {remedy}")
    words = corpus._core.vocabulary
    number = {word: place for place, word in enumerate(words)}

    def numbered(places: Iterable[tuple[list[str], list[int]]]) -> list[tuple[list[int], list[int]]]:
        known = ((tokens, at) for tokens, at in places if all(word in number for word in tokens))
        return [([number[word] for word in tokens], at) for tokens, at in known]

    breaks = numbered(_breaks(corpus, vocabulary)) if corpus.tokenizer in ("ptb", "ptb-stream") else []
    silent: dict[tuple[str, ...], set[int]] = defaultdict(set)
    if skips_denied:
        texts = list(dict.fromkeys(_all_captions(corpus)))
        for tokens, places in parser().denied(texts, corpus.tokenizer, needs.threads):
            if places:
                silent[tuple(tokens)].update(places)
    for tokens, following in _unfinished(corpus) if skips_unfinished else ():
        silent[tuple(tokens)].update(following)
    unnamed = numbered(([*tokens], sorted(places)) for tokens, places in silent.items())
    return _core.NamedObjects(vocabulary.core, vocabulary.parts(words), gold, breaks, unnamed)


def _all_captions(corpus: Corpus) -> Iterator[str]:
    both_parts = (corpus.candidate_captions.to_dict(), corpus.reference_captions.to_dict())
    return chain.from_iterable(chain.from_iterable(captions.values() for captions in both_parts))


def _unfinished(corpus: Corpus) -> Iterator[tuple[list[str], Iterable[int]]]:
    """Candidates as words, with the places behind the last sentence's end, of those whose last sentence has none.

    A caption of one sentence, which people and captioners write without a mark at its end, is whole.
    """
    texts = chain.from_iterable(corpus.candidate_captions.to_dict().values())
    cut = {text: finished(text) for text in texts}
    cut = {text: whole for text, whole in cut.items() if len(whole) < len(text)}
    tokenizer = "ptb" if corpus.tokenizer == "ptb-stream" else corpus.tokenizer
    words = [" ".join(tokens).split() for tokens in tokenize([*cut, *cut.values()], tokenizer=tokenizer)]
    for every, before in zip(words[: len(cut)], words[len(cut) :], strict=True):
        yield every, range(len(before), len(every))


_MARK = r"""[.,;:!?()\[\]{}"“”…]"""
_INSIDE, _MARKS = re.compile(rf"\w\W*{_MARK}\W*\w"), re.compile(_MARK)


def _breaks(corpus: Corpus, vocabulary: ObjectVocabulary) -> Iterator[tuple[list[str], list[int]]]:
    """Captions as words, with marks that the tokenizer dropped where two words would otherwise form one term.

    And the positions of words that follow a mark. "A glass of wine. Glasses shine." names no wine glass.
    """
    texts = list(dict.fromkeys(text for text in _all_captions(corpus) if _INSIDE.search(text)))
    for text, tokens in zip(texts, tokenize(texts, tokenizer="ptb"), strict=True):
        words = " ".join(tokens).split()
        if not any(pair in vocabulary.joined for pair in pairwise(vocabulary.parts(words))):
            continue
        places = located(text, words)
        after = [
            number
            for number, (before, following) in enumerate(pairwise(places), 1)
            if before is not None and following is not None and _MARKS.search(text, before[1], following[0])
        ]
        if after:
            yield words, after
