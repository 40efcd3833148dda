"""Coverage, precision and the F of both: how complete a caption is, and how true, by what its references say.

    chance    = Σ_{s ∈ S(c)} w(s) · p(s)
    length    = max(W(c), (W(c) + mean W(ref)) / 2), where W(t) = Σ_{s ∈ S(t)} w(s)
    precision = (Σ_{s ∈ S(c)} w(s) · support(s, S(refs)) − chance) / length
    coverage  = (Σ_{s ∈ S(refs)} w(s) · support(s, S(c)) − chance) / W(refs)
    long-f1   = the sum of both numerators / the sum of both denominators

Half of what a caption lacks to the length of a reference counts as said: who says only what is surest is no more
precise. S(t) are the distinct statements of a text t: things, their qualities and their relations in its scene graph,
and its content words, one by one and in pairs. What is denied, or not about the picture, is no statement. The support
is 1 for a statement of the same stems, `synonyms` for one of the graph that differs by synonyms, else 0; p is the mean
support by the references of the other images. The corpus score is the mean over images.

Rubric: how many of the items that are asked for a caption says. An item has the share of its statements that the
caption says. The corpus score is the mean over the items of all images.

    rubric = Σ_{items} Σ_{s ∈ S(item)} w(s) · support(s, S(c)) / Σ w(s)   /   items

Where papers and programs differ: docs/reference/metrics/coverage.md and docs/reference/metrics/rubric.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple

from sacrecap import _core
from sacrecap.corpus.corpus import Corpus
from sacrecap.corpus.sentences import located, pieces
from sacrecap.errors import DataError, UnfitImages, UsageError, some
from sacrecap.metrics.base import Bears, Learner, Metric, Ready, Status, Totals
from sacrecap.metrics.declared import parameter
from sacrecap.resources.english import parser, synonyms
from sacrecap.resources.needs import Needs
from sacrecap.resources.rubrics import lacks_rubric, read_rubric, signed, statement

KINDS = ("object", "attribute", "relation", "word")
"""The kinds of statements, in the order of their columns in a row of statistics."""


class _OfStatements(Metric):
    """The common base of the three scores."""

    category: str = parameter(
        "the statements that count: all; only objects, attributes or relations of the scene graph; or only words and "
        "pairs of words",
        default="all",
        choices=("all", *KINDS),
    )
    synonyms: float = parameter(
        "what an object, attribute or relation is worth that differs by synonyms", default=0.5, least=0.0, most=1.0
    )

    source = "sacrecap; statements of scene graphs after Anderson et al., ECCV 2016"
    cites = ("anderson2016spice",)
    upper = 1.0
    smallest = None  # it is negative where a caption says less of its references than chance
    explains = "statement"
    trained_on_references = True
    rises_with_references = False
    unscored: ClassVar[str]

    @property
    def no_score_where(self) -> str | None:
        """With a category, the images where nothing is in it."""
        return None if self.category == "all" else self.unscored

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """Takes the captions as they were given, with the parser, the synonyms and what all references say."""
        paragraphs, table = needs.once("paragraphs", lambda: as_paragraphs(corpus), of=corpus), synonyms()

        def counted() -> _core.StatementFrequencies:
            return _core.StatementFrequencies(paragraphs, table, corpus._core.references, needs.threads)

        images, whole = len(corpus), corpus.whole
        if whole is None:
            frequencies = needs.once(("statements", corpus.digest("refs")), counted)
        else:
            images, frequencies = whole.images, whole.learnt[self.learns_as]
        read = (paragraphs, table, frequencies)
        return Ready(corpus._core, read, (f"chance:references({images})", *read_with()), own=read)

    @property
    def learns_as(self) -> Metric:
        return Precision()

    def learner(self, needs: Needs, *, memory: int) -> Learner:  # noqa: ARG002
        return StatementLearner(memory)

    def explain_image(self, ready: Ready, corpus: Corpus, image: int) -> Statements:
        """What the image's candidate and references say, and what the other side says of it."""
        paragraphs, *read = ready.own
        *sides, scores = paragraphs.explain(*read, corpus._core, (image, self.synonyms))
        both_sides = []
        for captions, (cut_captions, statements) in zip(corpus.given(corpus.image_ids[image]), sides, strict=True):
            places = [located(text, tokens) for text, (tokens, _) in zip(captions, cut_captions, strict=True)]
            items = []
            for kind, parts, words, weight, support, chance in statements:
                placed = tuple((at, *place) for at, word in words if (place := places[at][word]))
                items.append(Statement(kind, tuple(parts), weight, support, chance, placed))
            both_sides.append(Said(tuple(captions), tuple(items)))
        shares = {kind: Shares(precision, coverage, f) for kind, (coverage, precision, f) in scores}
        candidate, references = both_sides
        return Statements(candidate, references, shares)

    def landmarks(self, statistics: Totals) -> dict[str, float]:
        """Chance, which is subtracted; and people, if they can be: the first reference of each image, by its others."""
        at = 6 + 2 * ("coverage", "precision", "long-f1").index(self.arithmetic)
        people, images = statistics.sums()[at : at + 2]
        return {"chance": 0.0, **({"people": people / images} if images else {})}

    def notes(self, statistics: Totals) -> list[str]:
        """How true and how complete the captions are, in words; and each kind, of all images together, if all count."""
        sums = statistics.sums()
        if self.category != "all" or not sums[1]:
            return super().notes(statistics)
        means = zip(sums[:12:2], sums[1:12:2], strict=True)
        percent = [f"{part / images:.0%}".replace("%", " %") if images else "" for part, images in means]
        complete, true, _, people_complete, people_true, _ = percent
        people = ("people's", people_true), ("people", people_complete)
        beside = [f" ({of} {share})" if share else "" for of, share in people]
        truth = f"references say {true} of what the captions say{beside[0]}"
        answer = f"Beyond chance, {truth}, and the captions say {complete} of what the references say{beside[1]}."
        columns, parts = iter(sums[12:]), []
        for kind, supported, claimed, covered, expected in zip(KINDS, *[columns] * 4, strict=True):
            shares = (supported, claimed), (covered, expected), (supported + covered, claimed + expected)
            parts.append(f"{kind}s {Shares(*(part / whole if whole else 0.0 for part, whole in shares))}")
        return [*super().notes(statistics), answer, f"Statements of all images together: {'; '.join(parts)}."]


class StatementLearner:
    """Counts the statements of references that come part by part."""

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._counted: _core.StatementFrequencies | None = None

    def add(self, references: _core.Captions, encoded: _core.References, threads: int) -> None:
        """Counts the references of other images. Raises `DataError` where they take too much memory."""
        captions = [text for image in encoded.image_ids for text in references.captions(image)]
        paragraphs = _core.Paragraphs(parser(), encoded.tokenizer, [], captions)
        self._take(_core.StatementFrequencies(paragraphs, synonyms(), encoded, threads))

    def merge(self, other: Any) -> None:
        """Adds other counts. Raises `DataError` where they take too much memory."""
        if other._counted is not None:
            self._take(other._counted)

    def _take(self, other: _core.StatementFrequencies) -> None:
        self._counted = other if self._counted is None else self._counted.merged(other)
        if len(self._counted) * 32 > self._memory:  # bytes that a statement takes, at most
            remedy = "grant more memory, or leave out coverage, precision and long-f1"
            size = self._memory >> 20
            raise DataError(f"the statements of the references take more than {size} MiB of memory; {remedy}")

    def finish(self) -> _core.StatementFrequencies | None:
        """The counts, a resource of the metrics."""
        return self._counted


def read_with() -> tuple[str, str]:
    """The parts of a signature that say what statements are read and matched with."""
    return f"model:{parser().checksum:08x}", f"synonym-table:{synonyms().checksum:08x}"


def as_paragraphs(corpus: Corpus) -> _core.Paragraphs:
    """All captions of a corpus, as they were given, with what it takes to read them."""
    sides = zip(*(corpus.given(image) for image in corpus.image_ids), strict=True)
    candidates, references = ([*chain.from_iterable(side)] for side in sides)
    return _core.Paragraphs(parser(), corpus.tokenizer, candidates, references)


class Coverage(_OfStatements):
    """Share of what the references say that the caption says too, beyond chance; corpus score = mean."""

    title = "Coverage"
    summary = "The caption says what the references say: it leaves out little."
    equation = "coverage = (Σ w(s) support(s, S(c)) − chance) / Σ w(s) over s ∈ S(refs)"
    nothing: ClassVar[dict[str, str]] = {
        "empty caption": "0",
        "references that say nothing": "0",
        "references without a statement of the category": "no score",
    }
    bears = Bears(0.6, math.inf, 0.2)
    unscored = "their references have nothing in this category"


class Precision(_OfStatements):
    """Share of what the caption says that a reference says too, beyond chance; corpus score = mean."""

    title = "Precision"
    summary = "The references say what the caption says: it makes up little."
    equation = "precision = (Σ w(s) support(s, S(refs)) − chance) / length over s ∈ S(c)"
    nothing: ClassVar[dict[str, str]] = {
        "empty caption": "0",
        "references that say nothing": "0",
        "caption without a statement of the category": "no score",
    }
    bears = Bears(0.5, 5, 0.2)
    unscored = "their captions have nothing in this category"


class LongF1(_OfStatements):
    """F of coverage and precision: the share of statements that both sides say, beyond chance; corpus score = mean."""

    title = "Long-F1"
    summary = "The caption says what the references say, and nothing else: the F of coverage and precision."
    equation = "long-f1 = sum of the numerators of coverage and precision / sum of their denominators"
    nothing: ClassVar[dict[str, str]] = {
        "empty caption": "0",
        "references that say nothing": "0",
        "neither side with a statement of the category": "no score",
    }
    bears = Bears(0.6, math.inf, 0.2)
    unscored = "neither side has anything in this category"


@dataclass(frozen=True)
class Statement:
    """Something that a side says, however often."""

    kind: str
    """`object`, `attribute`, `relation` or `word`."""
    parts: tuple[str, ...]
    """Object; object and attribute; subject, predicate and object; one word, or two near each other."""
    weight: float
    """What it counts: 1, or 1 / n if n statements of the side differ only by synonyms."""
    support: float
    """How far the other side says it: 1, less if it differs by synonyms, 0 if not."""
    chance: float
    """How far the references of other images say it, in the mean; 0 for a statement of references."""
    places: tuple[tuple[int, int, int], ...]
    """Its words: the caption's number on its side, from 0, the position of the first character, and after the last."""

    @property
    def label(self) -> str:
        """The parts as text: `dog – brown`."""
        return " – ".join(self.parts)


@dataclass(frozen=True)
class Said:
    """What one side says: the candidate, or all references together."""

    captions: tuple[str, ...]
    """As they were given."""
    statements: tuple[Statement, ...]
    """In the order in which they come."""

    def pieces(self) -> list[list[tuple[str, float | None]]]:
        """Each caption in pieces: words that say something with how far the other side says it, others with None.

        A word that names a thing or a quality in the scene graph has the support of that, any other its own as a word.
        """
        support: dict[tuple[int, int, int], tuple[bool, float]] = {}
        for item in self.statements:
            in_graph = item.kind in ("object", "attribute")
            if in_graph or (item.kind == "word" and len(item.parts) == 1):
                for place in item.places:
                    support[place] = max(support.get(place, (False, 0.0)), (in_graph, item.support))
        marked = sorted((*place, value) for place, (_, value) in support.items())
        return [
            [*pieces(caption, ((start, end, value) for at, start, end, value in marked if at == number))]
            for number, caption in enumerate(self.captions)
        ]

    def missing(self, kind: str) -> list[str]:
        """The statements of that kind that the other side does not say."""
        return [item.label for item in self.statements if item.kind == kind and not item.support]


class Shares(NamedTuple):
    """Precision, recall (the coverage) and F of statements."""

    precision: float
    recall: float
    f: float

    def __str__(self) -> str:
        return f"P {self.precision:.3f} R {self.recall:.3f} F {self.f:.3f}"


@dataclass(frozen=True)
class Statements:
    """What a caption and its references say. `print` shows it, with words that only one side says in brackets."""

    candidate: Said
    references: Said
    shares: dict[str, Shares]
    """The scores of `all` statements, and of each kind; 0 where there is none."""

    def marked(self) -> list[str]:
        """The candidate in pieces; every other one, from the second on, says what no reference says."""
        runs = [(support == 0, text) for text, support in self.candidate.pieces()[0]]
        grouped = ["".join(text for _, text in run) for _, run in groupby(runs, itemgetter(0))]
        return ["", *grouped] if runs and runs[0][0] else grouped

    def to_dict(self) -> dict[str, Any]:
        """All fields, as JSON."""
        return {**asdict(self), "shares": {kind: share._asdict() for kind, share in self.shares.items()}}

    def __str__(self) -> str:
        lines = [("caption", _bracketed(caption)) for caption in self.candidate.pieces()]
        lines += [("reference", _bracketed(caption)) for caption in self.references.pieces()]
        for title, side in (("not supported", self.candidate), ("left out", self.references)):
            missing = ((kind, side.missing(kind)) for kind in KINDS[:3])
            lines += [(title, f"{kind}s: {', '.join(labels)}") for kind, labels in missing if labels]
        lines += [(kind, str(share)) for kind, share in self.shares.items()]
        width = max(len(head) for head, _ in lines)
        return "\n".join(f"{head:<{width}}  {text}" for head, text in lines)


def _bracketed(caption: Iterable[tuple[str, float | None]]) -> str:
    return "".join(f"[{text}]" if support == 0 else text for text, support in caption)


@dataclass(frozen=True)
class Items:
    """The items of an image, and what its caption says of them. `print` shows it."""

    items: tuple[str, ...]
    """As they were given."""
    said: tuple[float | None, ...]
    """How far the caption says each: 1 for all of it, 0 for nothing of it; None for an item that says nothing."""

    @property
    def answers(self) -> tuple[str | None, ...]:
        """`yes` for an item that is said whole, `not mentioned` for one of which nothing is said; None for all others,
        which rules do not decide.
        """
        return tuple({1.0: "yes", 0.0: "not mentioned"}.get(-1.0 if part is None else part) for part in self.said)

    def to_dict(self) -> dict[str, Any]:
        """Each item with how far it is said, and its answer, as JSON."""
        return {**asdict(self), "answers": self.answers}

    def __str__(self) -> str:
        rows = zip(self.items, self.said, self.answers, strict=True)
        return "\n".join(
            f"{'–' if part is None else format(part, '.2f'):<4}  {answer or 'in part':<13}  {item}"
            for item, part, answer in rows
        )


class Rubric(Metric):
    """Share of the items of a rubric that the caption says; corpus score = mean over items."""

    synonyms: float = parameter(
        "what an object, attribute or relation is worth that differs by synonyms", default=0.5, least=0.0, most=1.0
    )

    title = "Rubric"
    summary = "The caption says the items that you ask for."
    equation = "rubric = Σ_items (Σ w(s) support(s, S(c)) / Σ w(s) over s ∈ S(item)) / items"
    source = "sacrecap; statements of scene graphs after Anderson et al., ECCV 2016"
    cites = ("anderson2016spice",)
    upper = 1.0
    needs = ("rubric",)
    nothing: ClassVar[dict[str, str]] = {"empty caption": "0", "item that says nothing": "0"}
    explains = "item"

    def status(self, needs: Needs) -> Status:
        return Status.left_out(None if "rubric" in needs else f"it {lacks_rubric()}")

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """Takes the captions as they were given, with the items of their images in the place of references."""
        rubric = rubric_of(needs, self.label)
        ready = prepared(corpus, items_of(corpus, rubric, needs))
        return replace(ready, signature=(*ready.signature, signed(rubric)))

    def explain_image(self, ready: Ready, corpus: Corpus, image: int) -> Items:  # noqa: ARG002
        """The items of the image, and how far its candidate says each."""
        return decided(ready, (image, 0), self.synonyms)

    def notes(self, statistics: Totals) -> list[str]:
        """How many items are decided."""
        _, items, whole, nothing = map(int, statistics.sums())
        decided = f"{self.label}: of {items:,} items {whole:,} are said in every part, {nothing:,} in none"
        rest = f"{items - whole - nothing:,} left open, for a judge or for people"
        return [*super().notes(statistics), f"{decided}; {rest}."]


def rubric_of(needs: Needs, metric: str) -> Mapping[str, Sequence[str]]:
    """The rubric of the call, for that metric. Raises `UsageError` if there is none, `DataError` as `read_rubric`."""
    source = needs.get("rubric")
    if source is None:
        raise UsageError(f"{metric} {lacks_rubric()}")
    return needs.once("rubric", lambda: read_rubric(source))


def items_of(corpus: Corpus, rubric: Mapping[str, Sequence[str]], needs: Needs) -> list[Sequence[str]]:
    """The items of each image of a corpus. Raises `UnfitImages` for images without items."""
    images = needs.images(corpus)
    lacking = [place for place, image in enumerate(images) if not rubric.get(image)]
    if lacking:
        names = some([images[place] for place in lacking])
        raise UnfitImages(f"the rubric has no items for {names}; add some, or leave the captions out", lacking)
    return [rubric[image] for image in images]


def prepared(corpus: Corpus, items: Sequence[Sequence[str]]) -> Ready:
    """The captions of a corpus with each image's items in the place of references."""
    from sacrecap.corpus.sets import SetCorpus

    captions = [(image, corpus.given(image)[0]) for image in corpus.image_ids]
    statements = [(image, [*map(statement, texts)]) for image, texts in zip(corpus.image_ids, items, strict=True)]
    sides: list[_core.Captions] = [_core.Captions.of_images(side, None) for side in (captions, statements)]
    encoded = SetCorpus.of_sets(*sides, tokenizer=corpus.tokenizer)
    read, table = as_paragraphs(encoded), synonyms()
    return Ready(encoded._core, (read, table), read_with(), own=(read, table, items))


def decided(ready: Ready, caption: tuple[int, int], synonyms: float = 0.5) -> Items:
    """What a caption, by the numbers of its image and among the image's candidates, says of the items."""
    read, table, items = ready.own
    return Items(tuple(items[caption[0]]), tuple(read.said(table, ready.corpus, caption, synonyms)))
