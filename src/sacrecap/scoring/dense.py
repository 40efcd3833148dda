"""Dense video captioning: timed captions against timed references.

Krishna, Hata, Ren, Fei-Fei, Niebles, *Dense-Captioning Events in Videos* (ICCV 2017), as its program `densevid_eval`
computes it; and SODA_c of Fujita, Hirao, Kamigaito, Okumura, Nagata, *SODA: Story Oriented Dense Video Captioning
Evaluation Framework* (ECCV 2020), as its authors' program does.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from sacrecap import _core
from sacrecap.above import Printable
from sacrecap.choices import ANNOTATORS, Annotators, Tokenizer
from sacrecap.corpus.corpus import Corpus
from sacrecap.data.timed import Timed, Videos, read_timed
from sacrecap.errors import DataError, UsageError, accepted_name, as_number, some, whole_number
from sacrecap.metrics.registry import parse_metrics
from sacrecap.resources.needs import Needs
from sacrecap.scoring.score import score_corpus

if TYPE_CHECKING:
    from sacrecap.data.source import PathLike
    from sacrecap.metrics.base import Metric
    from sacrecap.scoring.result import Result

TIOUS = (0.3, 0.5, 0.7, 0.9)
NO_REFERENCE = "qxzvjkwqxzvjkw"
"""The reference of a caption that overlaps with none: one word, which no caption has. `densevid_eval` draws it."""
_EPSILON = 1e-8
"""Added to unions by both programs, so that nothing is divided by zero."""


@dataclass(frozen=True)
class Dense(Printable):
    """Scores of timed captions. `print` shows them.

    Attributes:
        videos: number of videos that have references.
        tious: the least overlaps in time, intersection over union.
        scores: for each metric, and for `recall` and `precision`, the score at each overlap, the mean over videos.
        soda: SODA_c's `precision`, `recall` and `f`; None without METEOR.
        signatures: settings that reproduce the numbers, by metric.
    """

    videos: int
    tious: tuple[float, ...]
    scores: dict[str, tuple[float, ...]]
    soda: dict[str, float] | None
    signatures: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON."""
        by_overlap = {
            name: {**{f"{tiou:g}": score for tiou, score in zip(self.tious, own, strict=True)}, "mean": fmean(own)}
            for name, own in self.scores.items()
        }
        return {
            "sacrecap": _core.__version__,
            "videos": self.videos,
            "scores": by_overlap,
            "soda-c": self.soda,
            "signatures": self.signatures,
        }


def dense(
    references: PathLike | Mapping[str, Any] | Sequence[PathLike | Mapping[str, Any]],
    candidates: PathLike | Mapping[str, Any],
    metrics: str | Iterable[str | Metric] = "coco",
    *,
    tious: Sequence[float] = TIOUS,
    annotators: Annotators = "together",
    most: int = 1000,
    tokenizer: Tokenizer = "ptb",
    needs: Needs | Mapping[str, object] | None = None,
    threads: int = 0,
) -> Dense:
    """Scores timed captions of videos.

    Args:
        references: of each video; a list is of several annotators.
        candidates: of each video; of the videos without any, the scores are 0, and SODA_c leaves them out.
        metrics: of captions, for pairs that overlap enough.
        tious: the least overlaps in time, intersection over union.
        annotators: for SODA_c, whether several annotators' captions stand `together`, or the `best` annotator counts.
        most: the number of candidates of a video that count, the first ones.
        tokenizer: as for [`sacrecap.score`][].
        needs: what metrics need, as for [`sacrecap.score`][].
        threads: number of threads; 0 means one per core.

    Raises:
        DataError: captions that cannot be read, or no video that has both.
        UsageError: an unknown metric, or an unacceptable value.
    """
    accepted_name("annotators", annotators, ANNOTATORS)
    whole_number("most", most, 1)
    if not tious or not all(0 < as_number("tious", one) <= 1 for one in tious):
        raise UsageError(f"tious must be numbers above 0 and up to 1, got {tious!r}")
    several: Sequence[Any] = references if isinstance(references, (list, tuple)) else [references]
    described = [_plain(read_timed(one)) for one in several]
    captions = {video: own[:most] for video, own in _plain(read_timed(candidates)).items()}
    videos = sorted({video for own in described for video in own})
    if not any(captions.get(video) for video in videos):
        raise DataError(f"no video with references has a candidate: the candidates are of {some(sorted(captions))}")
    merged = Needs.of(needs, {}, threads=threads)
    scoring = _Scoring(parse_metrics(metrics, merged), tokenizer, merged, threads)
    scores, signatures = _by_overlap(described, captions, videos, tious, scoring)
    found = [_covered(described, captions, videos, tiou) for tiou in tious]
    scores |= {"recall": tuple(recall for recall, _ in found), "precision": tuple(own for _, own in found)}
    meteor = next((metric for metric in scoring.metrics if metric.key == "meteor" and "meteor" in signatures), None)
    soda = None if meteor is None else _soda(described, captions, annotators, scoring.of([meteor]))
    if soda is not None:
        signatures["soda-c"] = f"soda-c|annotators:{annotators}|{signatures['meteor']}"
    return Dense(len(videos), tuple(map(float, tious)), scores, soda, signatures)


@dataclass(frozen=True)
class _Scoring:
    """How pairs of a caption and a reference are scored."""

    metrics: Sequence[Metric]
    tokenizer: Tokenizer
    needs: Needs
    threads: int

    def of(self, metrics: Sequence[Metric]) -> _Scoring:
        """The same with these metrics."""
        return _Scoring(metrics, self.tokenizer, self.needs, self.threads)

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> Result:
        """The scores of pairs of a candidate and its one reference."""
        names = [str(number) for number in range(len(pairs))]
        references = {name: [reference or NO_REFERENCE] for name, (_, reference) in zip(names, pairs, strict=True)}
        candidates = {name: candidate for name, (candidate, _) in zip(names, pairs, strict=True)}
        corpus = Corpus(references, candidates, tokenizer=self.tokenizer, threads=self.threads)
        return score_corpus(corpus, self.metrics, needs=self.needs, threads=self.threads)


def _plain(videos: Videos) -> Videos:
    """The captions with a blank for each character that is not ASCII, as both programs write them."""
    return {
        video: [one._replace(caption="".join(c if c.isascii() else " " for c in one.caption)) for one in own]
        for video, own in videos.items()
    }


def overlap(one: Timed, other: Timed) -> float:
    """Intersection over union of the times."""
    intersection = max(0.0, min(one.end, other.end) - max(one.start, other.start))
    hull = max(one.end, other.end) - min(one.start, other.start)
    return intersection / (min(hull, one.end - one.start + other.end - other.start) + _EPSILON)


def _by_overlap(
    described: Sequence[Videos], captions: Videos, videos: Sequence[str], tious: Sequence[float], scoring: _Scoring
) -> tuple[dict[str, tuple[float, ...]], dict[str, str]]:
    """For each metric its mean over videos at each overlap, and its signature."""
    pairs: list[tuple[str, str]] = []
    rows = {tiou: defaultdict[str, list[int]](list) for tiou in tious}
    for video in videos:
        for caption in captions.get(video, []):
            near = [(overlap(caption, one), one) for annotator in described for one in annotator.get(video, [])]
            start = len(pairs)
            pairs += [(caption.caption, one.caption) for _, one in near]
            pairs.append((caption.caption, NO_REFERENCE))
            for tiou in tious:
                enough = [start + number for number, (shared, _) in enumerate(near) if shared >= tiou]
                rows[tiou][video] += enough or [len(pairs) - 1]
    by_video = [list(rows[tiou].values()) for tiou in tious]
    scores: dict[str, tuple[float, ...]] = {}
    signatures: dict[str, str] = {}
    for metric in scoring.metrics:
        score = _of_videos if metric.uses_document_frequency and _counts_here(scoring) else _of_rows
        found = score(pairs, by_video, scoring.of([metric]))
        if found is not None:
            totals, signature = found
            scores[metric.key] = tuple(total / len(videos) for total in totals)
            signatures[metric.key] = f"dense|{signature}"
    return scores, signatures


def _of_rows(
    pairs: Sequence[tuple[str, str]], by_video: Sequence[Sequence[Sequence[int]]], scoring: _Scoring
) -> tuple[list[float], str] | None:
    """At each overlap the sum of the videos' scores, and the signature; every pair is scored once. None if the metric
    cannot be computed here.
    """
    used = sorted({row for videos in by_video for own in videos for row in own})
    place = {row: number for number, row in enumerate(used)}
    result = scoring.pairs([pairs[row] for row in used])
    key = scoring.metrics[0].key
    if key not in result:
        return None
    rows = result[key].rows
    totals = [sum(rows.select([place[row] for row in own]).score() for own in videos) for videos in by_video]
    return totals, result[key].signature


def _of_videos(
    pairs: Sequence[tuple[str, str]], by_video: Sequence[Sequence[Sequence[int]]], scoring: _Scoring
) -> tuple[list[float], str]:
    """The same where words are weighed by the pairs of a video alone."""
    totals = [sum(_of_one_video([pairs[row] for row in own], scoring) for own in videos) for videos in by_video]
    signature = scoring.pairs([*pairs, *pairs][:2])[scoring.metrics[0].key].signature
    return totals, re.sub(r"df:corpus\(\d+\)", "df:video", signature)


def _counts_here(scoring: _Scoring) -> bool:
    """Whether document frequencies are those of a video's own pairs, as in `densevid_eval`."""
    return "document_frequency" not in scoring.needs


def _of_one_video(pairs: Sequence[tuple[str, str]], scoring: _Scoring) -> float:
    """The score by words weighed in these pairs alone; of one pair, where all weigh nothing, it is 0."""
    return float(scoring.pairs(pairs)[scoring.metrics[0].key]) if len(pairs) > 1 else 0.0


def _covered(described: Sequence[Videos], captions: Videos, videos: Sequence[str], tiou: float) -> tuple[float, float]:
    """Mean shares of references, and of captions, that overlap by more with one of the others; the best annotator's."""
    recalls, precisions = [], []
    for video in videos:
        recall = precision = 0.0
        own = captions.get(video, [])
        for references in (annotator[video] for annotator in described if annotator.get(video)):
            near = [[overlap(caption, one) > tiou for one in references] for caption in own]
            recall = max(recall, sum(any(column) for column in zip(*near, strict=True)) / len(references))
            if own:
                precision = max(precision, sum(map(any, near)) / len(own))
        recalls.append(recall)
        precisions.append(precision)
    return fmean(recalls), fmean(precisions)


def _soda(
    described: Sequence[Videos], captions: Videos, annotators: Annotators, scoring: _Scoring
) -> dict[str, float] | None:
    """SODA_c: METEOR times overlap, summed over the best pairs that keep the order of both."""
    stories = list(_stories(described, annotators))
    ordered = {video: sorted(own, key=lambda one: one.start) for video, own in captions.items()}
    used = [(video, own, ordered[video]) for video, own in stories if ordered.get(video)]
    # The program scores a reference as METEOR's candidate against the caption as its reference.
    pairs = [(one.caption, caption.caption) for _, own, about in used for one in own for caption in about]
    each = iter(scoring.pairs(pairs)["meteor"].per_image.tolist())
    best: dict[str, tuple[float, float, float]] = {}
    for video, own, about in used:
        total = _best_in_order([[next(each) * overlap(caption, one) for caption in about] for one in own])
        precision, recall = total / len(about), total / len(own)
        f = 2 * precision * recall / (precision + recall) if total > 0 else 0.0
        if video not in best or f > best[video][0]:
            best[video] = f, precision, recall
    columns = zip(*best.values(), strict=True)
    f, precision, recall = map(fmean, columns)
    return {"precision": precision, "recall": recall, "f": f}


def _stories(described: Sequence[Videos], annotators: Annotators) -> Iterator[tuple[str, list[Timed]]]:
    """Each video's references, of all annotators in order of time, or of one after the other as given."""
    if annotators == "best":
        yield from ((video, own) for annotator in described for video, own in annotator.items() if own)
        return
    for video in dict.fromkeys(video for annotator in described for video in annotator):
        own = [one for annotator in described for one in annotator.get(video, [])]
        if own:
            yield video, sorted(own, key=lambda one: one.start)


def _best_in_order(gains: Sequence[Sequence[float]]) -> float:
    """The largest sum of gains of pairs (row, column) in which a later row has a later column."""
    before = [0.0] * (len(gains[0]) + 1)
    for row in gains:
        now = [0.0]
        for column, gain in enumerate(row):
            now.append(max(before[column + 1], now[column], before[column] + gain))
        before = now
    return before[-1]
