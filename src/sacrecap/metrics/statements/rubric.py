"""Rubric: how many of the items that are asked for a caption says.

    rubric = Σ_{items} Σ_{s ∈ S(item)} w(s) · support(s, S(c)) / Σ w(s)   /   items

S(t), w and the support are those of coverage and precision: an item has the share of its statements that the caption
says. The corpus score is the mean over the items of all images.

Where papers and programs differ: docs/reference/metrics/rubric.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from sacrecap.errors import UnfitImages, UsageError, some
from sacrecap.metrics.base import Metric, Ready, Status
from sacrecap.metrics.declared import parameter

if TYPE_CHECKING:
    from sacrecap import _core
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.metrics.base import Totals
    from sacrecap.resources.needs import Needs


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
        from sacrecap.resources.rubrics import lacks_rubric

        return Status.left_out(None if "rubric" in needs else f"it {lacks_rubric()}")

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """Takes the captions as they were given, with the items of their images in the place of references.

        Raises:
            UsageError: no rubric.
            UnfitImages: images without items.
            DataError: a rubric that cannot be read.
        """
        from sacrecap.resources.rubrics import signed

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
    from sacrecap.resources.rubrics import lacks_rubric, read_rubric

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
    from sacrecap import _core
    from sacrecap.corpus.sets import SetCorpus
    from sacrecap.metrics.statements.coverage_precision import as_paragraphs, read_with
    from sacrecap.resources.english import synonyms
    from sacrecap.resources.rubrics import statement

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
