"""What a pipeline collects, batch by batch: captions, rows of statistics, or their sums; and what is made of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from sacrecap import _core
from sacrecap.corpus.corpus import (
    CandidateSource,
    CaptionSource,
    Corpus,
    References,
    Tallies,
    added,
    added_up,
    as_candidates,
    as_references,
)
from sacrecap.data.inputs import by_place, side_by_side, with_places
from sacrecap.errors import DataError, UsageError, some, warn
from sacrecap.metrics.base import Ready
from sacrecap.scoring.comparison import Comparison, Significance, compare_results
from sacrecap.scoring.intervals import Resampling, ResamplingKeywords
from sacrecap.scoring.result import Result, Summed, counted
from sacrecap.scoring.score import CountedMetric, ScoreOptions, result_of, score
from sacrecap.scoring.signature import added_digests, digests

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from sacrecap.choices import Correction, Test, Tokenizer
    from sacrecap.metrics import Metric
    from sacrecap.resources.needs import Needs


class Accumulator:
    """Collects captions batch by batch; `compute` scores them all.

    Corpus scores are not means over batches: BLEU adds up counts, and CIDEr weights words by all references. So the
    captions are collected, and scored at the end: the result is that of [`sacrecap.score`][] on all of them, the same
    to the bit, for any batches and processes in any order.

    Image ids identify images: an image that comes again (samplers for several processes repeat some
    images, so that all have the same number) counts once, with the caption that came first.

    Args:
        references: of all images, if they are known before, in any form that [`sacrecap.score`][] takes, or as
            [`References`][sacrecap.References]. Then images without candidate are missing, and `on_missing` says how to
            treat them. Otherwise each `update` needs the references of its images.
        metrics: as for [`sacrecap.score`][].
        tokenizer: as for [`sacrecap.score`][]; `References` have their own.
        needs: what metrics need in addition to captions, as for [`sacrecap.score`][].
        **options: `on_missing`, `interval`, `samples`, `seed`, `threads`, `document_frequency` and others of
            [`sacrecap.score`][].

    Examples:
        >>> accumulator = sacrecap.Accumulator(metrics="bleu-1, rouge-l")
        >>> accumulator.update({"1": "a dog"}, {"1": ["a dog runs"]})
        >>> accumulator.update({"2": "a bus"}, {"2": ["a red bus"]})
        >>> print(f"{accumulator.compute()['rouge-l']:.3f}")
        0.772
    """

    def __init__(
        self,
        references: CaptionSource | None = None,
        metrics: str | Metric | Iterable[str | Metric] = "coco",
        *,
        tokenizer: Tokenizer | None = None,
        needs: Needs | Mapping[str, object] | None = None,
        **options: Unpack[ScoreOptions],
    ) -> None:
        if references is not None and not isinstance(references, References):
            references = References(references, tokenizer=tokenizer or "ptb", threads=options.get("threads", 0))
        self._known = references
        self._tokenizer: Tokenizer = tokenizer or (references.tokenizer if references else "ptb")
        self.metrics = metrics if isinstance(metrics, str) or not isinstance(metrics, Iterable) else tuple(metrics)
        """The metrics, as given."""
        self._needs = needs
        self._options = options
        self.reset()

    def reset(self) -> None:
        """Forgets the captions of all updates."""
        self._candidates: dict[str, str] = {}
        self._references: dict[str, list[str]] = {}
        self._unnamed: list[tuple[str | None, list[str]]] = []
        self._differing: list[str] = []

    def update(self, candidates: CandidateSource, references: CaptionSource | None = None) -> None:
        """Adds a batch.

        Args:
            candidates: one caption per image, in any form that [`sacrecap.score`][] takes. The images of lists have no
                names: each is an image of its own. An empty list is a missing caption: see `on_missing`.
            references: of exactly these images; left out if the accumulator has those of all images.

        Raises:
            DataError: unusable captions, several candidates of an image, or references of other images.
            UsageError: references are given twice, or never; or candidates are a list and the references of all images
                are known, so that the images of the candidates are unknown.
        """
        if (references is None) == (self._known is None):
            raise UsageError(
                "give references to update, batch by batch, or to Accumulator, those of all images; "
                + ("here are none" if references is None else "here are both")
            )
        candidates, references = with_places([candidates, references])
        batch = as_candidates(candidates)
        counts = zip(batch.image_ids, batch.caption_counts(), strict=True)
        if several := [image for image, count in counts if count > 1]:
            raise DataError(f"the candidates: not one caption for {some(several)}; give one per image and update")
        described = None if references is None else as_references(references)
        if described is not None:
            batch = side_by_side(described, batch)
            if other := sorted({*described.image_ids} ^ {*batch.image_ids}):
                raise DataError(
                    "references and candidates of a batch must be of the same images, and these differ by "
                    f"{some(other)}"
                )
        captions = {image: texts[0] if texts else None for image, texts in batch.to_dict().items()}
        if by_place(batch) or (described is not None and by_place(described)):
            if described is None:
                raise UsageError(
                    "nothing says which images the candidates of a list are of; give {image id: caption}, or rows with "
                    "image_id"
                )
            self._unnamed += [(captions[image], texts) for image, texts in described.to_dict().items()]
        else:
            self._add(captions, {} if described is None else described.to_dict())

    def _add(self, candidates: Mapping[str, str | None], references: Mapping[str, list[str]]) -> None:
        for image, caption in candidates.items():
            if caption is not None and self._candidates.setdefault(image, caption) != caption:
                self._differing.append(image)
        for image, texts in references.items():
            self._references.setdefault(image, texts)

    def merge(self, other: Accumulator) -> None:
        """Adds the captions of another accumulator: of another process, which sent it pickled.

        Of an image that both have, the caption here stays.
        """
        self._add(other._candidates, other._references)
        self._unnamed += other._unnamed
        self._differing += other._differing

    def __len__(self) -> int:
        """The number of images."""
        return len(self._candidates) + len(self._unnamed)

    def compute(self) -> Result:
        """Scores all captions so far. Images are in the order of the references given before, else sorted by id.

        Warns of images that came several times with different captions. Raises what [`sacrecap.score`][] raises, and
        `UsageError` where some batches were lists and others not.
        """
        if self._unnamed and self._candidates:
            raise UsageError("some batches were lists, whose images have no ids, and others not; give ids in all")
        if self._differing:
            warn(
                f"{some(list(dict.fromkeys(self._differing)))} came several times with different captions; the first "
                "counts (are generated captions random, or do image ids repeat?)"
            )
        candidates: CandidateSource = self._candidates
        if self._unnamed:
            candidates = [[] if caption is None else [caption] for caption, _ in self._unnamed]
            references: CaptionSource = [texts for _, texts in self._unnamed]
        elif self._known is not None:
            references = self._known
        else:
            numbers = {image for image in self._references if image.isascii() and image.isdigit()}
            ordered = [*sorted(numbers, key=lambda image: (int(image), image)), *sorted({*self._references} - numbers)]
            references = {image: self._references[image] for image in ordered}
        return score(
            references, candidates, self.metrics, tokenizer=self._tokenizer, needs=self._needs, **self._options
        )

    def packed(self) -> str:
        """The captions so far as lines of JSON, for `merge_packed`, where processes exchange nothing but bytes."""
        images = {**self._candidates, **self._references}
        rows: list[tuple[str | None, str | None, list[str] | None]] = [
            *((image, self._candidates.get(image), self._references.get(image)) for image in images),
            *((None, caption, texts) for caption, texts in self._unnamed),
        ]
        return "".join(f"{json.dumps(row)}\n" for row in rows)

    def merge_packed(self, packed: str) -> None:
        """Merges what one or more accumulators packed."""
        for line in packed.splitlines():
            image, caption, texts = json.loads(line)
            if image is None:
                self._unnamed.append((caption, texts))
            else:
                self._add({image: caption}, {} if texts is None else {image: texts})


class ScoredAs(NamedTuple):
    """How rows were scored: equal for all rows that belong together."""

    metrics: tuple[Metric, ...]
    needs: Needs
    tokenizer: Tokenizer

    def check_same(self, other: ScoredAs) -> None:
        """Raises `UsageError` for rows by other metrics or of another tokenizer, which cannot follow these."""
        keys = [", ".join(metric.key for metric in rows.metrics) for rows in (self, other)]
        for first, second in (keys, (f"the tokenizer {self.tokenizer}", f"the tokenizer {other.tokenizer}")):
            if first != second:
                raise UsageError(f"rows of {second} cannot follow those of {first}")


@dataclass(frozen=True)
class Extent:
    """What is known of rows beside their statistics; those of parts add up."""

    about: tuple[tuple[str, ...], ...] = ()
    """What the metrics took, for their signatures; empty without rows."""
    digests: tuple[Mapping[str, int], ...] = ()
    """Digests of what each metric read."""
    references: tuple[()] | tuple[int, int] = ()
    """The fewest and the most references of a row; empty without any rows."""
    seen: Tallies = field(default_factory=dict)
    """What one look at the captions counted."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """See `Corpus.left_out`."""

    @classmethod
    def of(
        cls, counted: Sequence[CountedMetric], corpus: Corpus, threads: int, left_out: Mapping[str, int] | None = None
    ) -> Extent:
        """That of a corpus."""
        about = tuple(metric.ready.signature for metric in counted)
        read = tuple(digests(metric.metric, metric.ready, corpus) for metric in counted)
        return cls(about, read, corpus.reference_counts, corpus.tallies(threads), left_out or {})

    def __add__(self, other: Extent) -> Extent:
        if self.about and other.about and self.about != other.about:
            differ = [(mine, more) for mine, more in zip(self.about, other.about, strict=True) if mine != more]
            first, second = (", ".join(setting for pair in differ for setting in pair[side]) for side in (0, 1))
            raise UsageError(f"rows by other settings, {second}, cannot follow those by {first}")
        spans = [*self.references, *other.references]
        references = (min(spans), max(spans)) if spans else ()
        seen = added(self.seen, other.seen)
        is_both = self.about and other.about
        read = tuple(map(added_digests, self.digests, other.digests)) if is_both else self.digests or other.digests
        left_out = added_up(self.left_out, other.left_out)
        return Extent(self.about or other.about, read, references, seen, left_out)

    def ready(self, number: int, ready: Ready) -> Ready:
        """The metric of that number, prepared as far as signatures take it."""
        return replace(ready, signature=self.about[number], digests=lambda: self.digests[number])


class RowsPart(NamedTuple):
    """Rows of one batch."""

    ids: list[str] | None
    """Their image ids; None where nothing names images."""
    statistics: list[_core.Statistics]
    """Of each metric; empty without rows."""
    extent: Extent

    @property
    def rows(self) -> int:
        """How many there are."""
        return self.statistics[0].rows if self.statistics else 0


class Rows:
    """Rows of statistics that a pipeline collected: scores, intervals, groups and paired tests are made of them.

    `scorer.rows(batch)` makes them, `+` and `sum` put those of several batches one after the other, in memory: a row of
    the default metrics is 40 numbers, so a million rows take 320 MB. They can be pickled, so that other processes send
    theirs. The scores are the same bits for any batches in any order; intervals are those of
    [`sacrecap.score`][] where the rows are in the order of its references, and as good in another order.

    Examples:
        >>> scorer = sacrecap.Scorer("rouge-l, bleu-1", image_id="image_id")
        >>> references = [["a dog runs"], ["a red bus", "one bus"], ["two men play chess"]]
        >>> batch = {"image_id": ["1", "2", "3"], "references": references, "caption": ["a dog", "a bus", "two men"]}
        >>> rows = sum(scorer.rows(batch) for batch in [batch])
        >>> rows.score(samples=100)
        <Result of 3 images: rouge-l 0.7368, bleu-1 0.6514>
        >>> better = scorer.rows({**batch, "caption": ["a dog runs", "a red bus", "two men play"]})
        >>> rows.compare(better, names=["plain", "better"]).ranking("rouge-l")
        ['better', 'plain']
    """

    def __init__(self, scored_as: ScoredAs, parts: Iterable[RowsPart]) -> None:
        self._scored_as, self._parts = scored_as, [*parts]

    @property
    def images(self) -> int:
        """Number of rows that were scored."""
        return sum(part.rows for part in self._parts)

    @property
    def bad_rows(self) -> int:
        """Number of rows that are left out, since they cannot be scored (`on_bad_row="null"`)."""
        return sum(part.extent.left_out.get("bad row", 0) for part in self._parts)

    @property
    def image_ids(self) -> list[str]:
        """The image id of each row; its number, from 0, where the scorer was not told the column of image ids."""
        if self._named:
            return [image for part in self._parts for image in part.ids or ()]
        return list(map(str, range(self.images)))

    @property
    def _named(self) -> bool:
        return all(part.ids is not None for part in self._parts if part.rows)

    def __len__(self) -> int:
        return self.images

    def __add__(self, other: object) -> Rows:
        """These rows, then the others. Raises `UsageError` for those of other metrics or settings."""
        if not isinstance(other, Rows):
            return self if other == 0 else NotImplemented
        self._scored_as.check_same(other._scored_as)
        return Rows(self._scored_as, [*self._parts, *other._parts])

    __radd__ = __add__  # of `sum`, which begins with 0

    def score(
        self, resampling: Resampling | None = None, *, threads: int = 0, **keywords: Unpack[ResamplingKeywords]
    ) -> Result:
        """The scores of all rows as a corpus, with intervals, as [`sacrecap.score`][] returns them; arguments as there.

        The captions were not kept, so nothing is explained. What is found about captions is nothing that takes
        several rows, such as a common beginning.

        Raises `DataError` where no row was scored, and `UsageError` for rows by different settings.
        """
        how = _resampling(resampling, keywords)
        return self._result(how, self.image_ids, self._builder().finish(), threads)

    def compare(
        self,
        *systems: Rows,
        names: Sequence[str] | None = None,
        test: Test = "exact",
        alpha: float = 0.05,
        correction: Correction = "holm",
        attempts: int | Mapping[str, int] = 1,
        resampling: Resampling | None = None,
        threads: int = 0,
        **keywords: Unpack[ResamplingKeywords],
    ) -> Comparison:
        """Systems on the same images: these rows are the first one's; other arguments as for [`sacrecap.compare`][].

        Args:
            *systems: the rows of the other systems, by the same scorer, in any order.
            names: of the systems; by default `a`, `b`, …
            test: see [`sacrecap.compare`][], as all that follow.
            alpha: of significance.
            correction: for many tests.
            attempts: of which each system is the best.
            resampling: how uncertainty is told.
            threads: number of threads; 0 means one per core.
            **keywords: how uncertainty is told, by keyword.

        Raises:
            DataError: the systems were not scored on the same images, once each.
            UsageError: image ids are not known, names are not one for each system, or the systems were scored by
                different settings.
        """
        how = _resampling(resampling, keywords)
        systems = (self, *systems)
        sequence: Sequence[object] = systems
        if isinstance(names, str) or not all(isinstance(rows, Rows) for rows in sequence):
            raise UsageError("systems are sacrecap.Rows, and names a list of their names")
        names = names or [chr(ord("a") + n) for n in range(len(systems))]
        if len({*names}) != len(names) or len(names) != len(systems):
            raise UsageError(f"names must be {len(systems)} different ones, one for each system; got {names}")
        if not all(rows._named for rows in systems):
            raise UsageError("rows are paired by image id; name their column: sacrecap.Scorer(…, image_id='image_id')")
        ordered, results = self.image_ids, {}
        for name, rows in zip(names, systems, strict=True):
            images, statistics = rows.image_ids, rows._builder().finish()
            if several := [image for image, count in Counter(images).items() if count > 1]:
                raise DataError(f"{name}: has several rows of {some(several)}; compare one caption per image")
            if differing := sorted({*images} ^ {*ordered}):
                raise DataError(f"{name}: differs by {some(differing)}; score all systems on the same images")
            if images != ordered:
                place = {image: number for number, image in enumerate(images)}
                statistics = [table.select([place[image] for image in ordered]) for table in statistics]
            results[name] = rows._result(Resampling(None), ordered, statistics, threads)
        return compare_results(results, Significance.of(results, test, alpha, correction, attempts), how)

    def _builder(self) -> _core.StatisticsBuilder:
        builder = _core.StatisticsBuilder()
        for part in self._parts:
            if part.rows:
                builder.add(part.statistics)
        return builder

    def _result(
        self, how: Resampling, image_ids: list[str], statistics: Sequence[_core.Statistics], threads: int
    ) -> Result:
        if not statistics:
            raise DataError("no row was scored")
        scored_as = self._scored_as._replace(needs=self._scored_as.needs.with_({}, threads=threads))
        extent = sum((part.extent for part in self._parts), Extent())
        return result_with(scored_as, extent, statistics, how, image_ids)

    def __getstate__(self) -> dict[str, Any]:
        ids = self.image_ids if self._named else None
        extent = sum((part.extent for part in self._parts), Extent())
        return {"scored_as": self._scored_as, "ids": ids, "rows": self._builder(), "extent": extent}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._scored_as = state["scored_as"]
        self._parts = [RowsPart(state["ids"], state["rows"].finish(), state["extent"])]

    def __repr__(self) -> str:
        return (
            f"<Rows of {counted(self.images, 'image')}: {', '.join(metric.key for metric in self._scored_as.metrics)}>"
        )


def _resampling(resampling: Resampling | None, keywords: Mapping[str, object]) -> Resampling:
    how, rest = Resampling.of(resampling, keywords)
    for name in rest:
        accepted = ", ".join(ResamplingKeywords.__annotations__)
        raise UsageError(f"unexpected keyword argument {name!r}; rows were scored before, and take {accepted}")
    return how


def result_with(
    scored_as: ScoredAs, extent: Extent, statistics: Sequence[Any], how: Resampling, image_ids: list[str]
) -> Result:
    """What statistics of captions that nobody kept come to: their corpus says what is known of them."""
    nothing = _core.Captions.of_images([], None)
    [corpus] = Corpus.of_part(None, {"": nothing}, tokenizer=scored_as.tokenizer).values()
    corpus.image_ids, corpus.reference_counts = image_ids, extent.references or (0, 0)
    corpus.left_out = extent.left_out
    corpus.is_part_with(extent.seen, {})
    tables = [
        CountedMetric(metric, extent.ready(number, Ready(corpus._core)), statistics[number])
        for number, metric in enumerate(scored_as.metrics)
    ]
    return result_of(tables, corpus, scored_as.needs, how, explains=False)


class Sums:
    """The sums of metrics' statistics over rows, of one batch or of many: what the score of a corpus is made of.

    The sums are exact: any batches in any order give the same bits, those of [`sacrecap.score`][]. They take the same
    memory for any number of rows; [`Rows`][sacrecap.Rows] have intervals and tests.
    """

    def __init__(self, scored_as: ScoredAs, sums: _core.ExactSums, extent: Extent) -> None:
        self._scored_as, self._sums, self._extent = scored_as, sums, extent

    @property
    def rows(self) -> int:
        """Number of rows that were scored."""
        return self._sums.rows

    @property
    def bad_rows(self) -> int:
        """Number of rows that are left out, since they cannot be scored (`on_bad_row="null"`)."""
        return self._extent.left_out.get("bad row", 0)

    def __add__(self, other: object) -> Sums:
        """The sums over the rows of both. Raises `UsageError` for those of other metrics or settings."""
        if not isinstance(other, Sums):
            return self if other == 0 else NotImplemented
        self._scored_as.check_same(other._scored_as)
        sums, extent = _core.ExactSums(), self._extent + other._extent
        sums.merge(self._sums)
        sums.merge(other._sums)
        return Sums(self._scored_as, sums, extent)

    __radd__ = __add__  # of `sum`, which begins with 0

    def result(self) -> Result:
        """The scores of all rows as a corpus, as [`sacrecap.score`][] returns them: without intervals, and without the
        rows, so that there are no scores of images, and nothing is explained. What is found about captions is
        nothing that takes several rows, such as a common beginning; without image ids, its example is a row of a batch.

        Raises `DataError` where no row was scored.
        """
        if not self.rows:
            raise DataError("no row was scored")
        totals = Summed.of_metrics(self._sums)
        return result_with(self._scored_as, self._extent, totals, Resampling(None), [])

    def __repr__(self) -> str:
        return f"<Sums of {counted(self.rows, 'row')}: {', '.join(metric.key for metric in self._scored_as.metrics)}>"
