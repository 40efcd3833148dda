"""References against each other: each reference of an image is scored against the image's other references.

The appendix of the CIDEr paper ranks an image's sentences like this: which one agrees most with the others?
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING, Any

from sacrecap import _core
from sacrecap.above import Printable
from sacrecap.choices import Tokenizer
from sacrecap.corpus.corpus import CaptionSource, Corpus, as_references
from sacrecap.errors import DataError, UsageError, some
from sacrecap.judgments.agreement_statistics import plain
from sacrecap.metrics import Metric
from sacrecap.metrics.cider import frequencies_for
from sacrecap.metrics.registry import computable, key_among, parse_metrics
from sacrecap.resources.needs import Given, Needs
from sacrecap.scoring.ranks import same
from sacrecap.scoring.result import finite
from sacrecap.scoring.score import score_corpus

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True)
class RankedReference:
    """A reference of an image, with its scores against the others."""

    number: int
    """Its position among the image's references, from 0."""
    caption: str
    scores: dict[str, float]
    """Score by metric key; NaN if the others contain nothing that the metric could compare with."""
    ranks: dict[str, int]
    """Rank by metric key; 1 is the best score, equal scores share the better rank, and a reference without a score
    comes last."""


@dataclass(frozen=True, eq=False)
class Ranking(Printable):
    """The references of images, ranked."""

    version: str
    metrics: tuple[Metric, ...]
    images: dict[str, list[RankedReference]] = field(repr=False)
    """Ranked references by image id, in the order of the file."""

    def order(self, image_id: str, metric: str) -> list[RankedReference]:
        """The image's references by that metric, best first.

        Raises `UsageError` for an image or a metric that was not ranked.
        """
        if image_id not in self.images:
            raise UsageError(f"no image {image_id!r} among the {len(self.images):,} ranked ones")
        keys = [metric.key for metric in self.metrics]
        key = key_among(keys, metric)
        if key is None:
            raise UsageError(f"{metric!r} did not rank; ranked by: {', '.join(keys)}")
        return sorted(self.images[image_id], key=lambda caption: (caption.ranks[key], caption.number))

    def correlations(self) -> dict[tuple[str, str], float]:
        """Spearman's ρ of each two metrics within an image, averaged over the images in which both ranks differ;
        of references that have both scores.
        """
        correlations = {}
        for a, b in combinations([metric.key for metric in self.metrics], 2):
            defined = []
            for ranked in self.images.values():
                scored = [caption.ranks for caption in ranked if not math.isnan(caption.scores[a] + caption.scores[b])]
                rho = plain([ranks[a] for ranks in scored], [ranks[b] for ranks in scored])["spearman"]
                if not math.isnan(rho):
                    defined.append(rho)
            correlations[a, b] = fmean(defined) if defined else math.nan
        return correlations

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of `sacrecap score --rank`."""
        return {
            "sacrecap": self.version,
            "spearman": [{"a": a, "b": b, "value": finite(value)} for (a, b), value in self.correlations().items()],
            "images": {
                image: [
                    {**vars(caption), "scores": {key: finite(score) for key, score in caption.scores.items()}}
                    for caption in ranked
                ]
                for image, ranked in self.images.items()
            },
        }


def rank_references(  # type: ignore[misc]  # `images` has meant their ids here since before the images were a need
    references: CaptionSource,
    images: Iterable[str] | None = None,
    metrics: str | Metric | Iterable[str | Metric] = "coco",
    *,
    tokenizer: Tokenizer = "ptb",
    needs: Needs | Mapping[str, object] | None = None,
    threads: int = 0,
    progress: Callable[[float], object] | None = None,
    **keywords: Unpack[Given],
) -> Ranking:
    """Ranks each image's references by their scores against the image's other references.

    Args:
        references: as for [`sacrecap.score`][].
        images: ids of the images to rank; all by default. The images themselves, for metrics that look at them, are
            given as `needs={"images": …}`.
        metrics: as for `sacrecap.score`.
        tokenizer: as for `sacrecap.score`.
        needs: what metrics need in addition to captions, as for [`sacrecap.score`][].
        threads: number of threads; 0 means one per core.
        progress: called with the finished share, 0 to 1, of slow preparations.
        **keywords: what the metrics of sacrecap need, by keyword, as for `sacrecap.score`; without
            `document_frequency`, words are weighted by all `references`, also those of images that are not ranked.

    Raises:
        DataError: the references are unusable, or an image to rank has fewer than two.
        UsageError: an unknown image, metric or tokenizer.

    Examples:
        >>> references = {"1": ["a dog runs", "a red bus", "one dog"]}
        >>> ranking = sacrecap.judgments.rank_references(references, metrics="rouge-l")
        >>> [ranked.caption for ranked in ranking.order("1", "rouge-l")]
        ['a dog runs', 'one dog', 'a red bus']
    """
    merged_needs = Needs.of(needs, keywords, threads=threads, progress=progress)
    parsed_metrics = computable(parse_metrics(metrics, merged_needs))
    captions = as_references(references)
    ids = captions.image_ids if images is None else list(dict.fromkeys(map(str, images)))
    unknown = [image for image in ids if image not in captions]
    if unknown:
        raise UsageError(f"no references of {some(unknown)}; the file has {some(captions.image_ids)}")
    ranked = {image: captions.captions(image) for image in ids}
    few = [image for image, image_captions in ranked.items() if len(image_captions) < 2]
    if few:
        raise DataError(f"{some(few)} with fewer than two references, so that there is nothing to rank against")
    rows = [(image, number) for image, image_captions in ranked.items() for number in range(len(image_captions))]
    corpus = Corpus(
        {str(row): [c for n, c in enumerate(ranked[image]) if n != number] for row, (image, number) in enumerate(rows)},
        {str(row): ranked[image][number] for row, (image, number) in enumerate(rows)},
        tokenizer=tokenizer,
        threads=threads,
    )
    merged_needs = merged_needs.with_({}, image_of={str(row): image for row, (image, _) in enumerate(rows)})
    if "document_frequency" not in merged_needs:
        frequencies = frequencies_for(parsed_metrics, captions, tokenizer=tokenizer, threads=threads)
        merged_needs = merged_needs.with_({"document_frequency": frequencies})
    results = {metric.key: score_corpus(corpus, [metric], needs=merged_needs) for metric in parsed_metrics}
    scores = {key: list(result[key].per_image_values()) for key, result in results.items()}
    ranked_images, start = {}, 0
    for image, image_captions in ranked.items():
        of_image = {key: values[start : start + len(image_captions)] for key, values in scores.items()}
        ranked_images[image] = [
            RankedReference(number, caption, {key: values[number] for key, values in of_image.items()}, {})
            for number, caption in enumerate(image_captions)
        ]
        for metric in parsed_metrics:
            signed = [-score if metric.lower_is_better else score for score in of_image[metric.key]]
            known = [score for score in signed if not math.isnan(score)]
            for reference, score in zip(ranked_images[image], signed, strict=True):
                better = len(known)
                if not math.isnan(score):
                    better = sum(other > score and not same(other, score) for other in known)
                reference.ranks[metric.key] = 1 + better
        start += len(image_captions)
    return Ranking(_core.__version__, parsed_metrics, ranked_images)
