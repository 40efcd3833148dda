"""Captions that come batch by batch, from one process or several, scored at the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from capeval.corpus.corpus import CandidateSource, CaptionSource, References, as_candidates, as_references
from capeval.data.inputs import by_place
from capeval.errors import DataError, UsageError, some, warn
from capeval.scoring.score import score

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from capeval._core import Captions
    from capeval.corpus.corpus import Tokenizer
    from capeval.metrics import Metric
    from capeval.resources.needs import Needs
    from capeval.scoring.result import Result
    from capeval.scoring.score import Options


class Accumulator:
    """Collects captions batch by batch; `compute` scores them all.

    Corpus scores are not means over batches: BLEU adds up counts, and CIDEr weighs words by all references. So the
    captions are collected, and scored at the end: the result is that of [`capeval.score`][] on all of them, to the bit,
    whatever the batches and processes were and whatever their order.

    Image ids make captions of one image meet: an image that comes again (samplers for several processes repeat some
    images, so that all have equally many) counts once, with the caption that came first.

    Args:
        references: of all images, if they are known before, in any form that [`capeval.score`][] takes, or as
            [`References`][capeval.References]. Then images without candidate are missing, and `on_missing` says what
            that means. Otherwise each `update` brings its images' references.
        metrics: as for [`capeval.score`][].
        tokenizer: as for [`capeval.score`][]; `References` bring their own.
        needs: what metrics need beside captions, as for [`capeval.score`][].
        **options: `on_missing`, `interval`, `samples`, `seed`, `threads`, `document_frequency` and others of
            [`capeval.score`][].

    Example:
        >>> accumulator = capeval.Accumulator(metrics="bleu-1, rouge-l")
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
        **options: Unpack[Options],
    ) -> None:
        if references is not None and not isinstance(references, References):
            references = References(references, tokenizer=tokenizer or "ptb", threads=options.get("threads", 0))
        self._known = references
        self._tokenizer: Tokenizer = tokenizer or (references.tokenizer if references else "ptb")
        self.metrics = metrics if isinstance(metrics, str) or not isinstance(metrics, Iterable) else tuple(metrics)
        self._needs = needs
        self._options = options
        self.reset()

    def reset(self) -> None:
        """Forgets the captions of all updates."""
        self._candidates: dict[str, str] = {}
        self._references: dict[str, list[str]] = {}
        self._differing: list[str] = []
        self._unnamed = False

    def update(self, candidates: CandidateSource, references: CaptionSource | None = None) -> None:
        """Adds a batch.

        Args:
            candidates: one caption per image, in any form that [`capeval.score`][] takes. In a list, images have no
                names: they are numbered on from the images before, and only in one process.
            references: of exactly these images; left out where the accumulator has those of all images.

        Raises:
            DataError: unusable captions, several candidates of an image, or references of other images.
            UsageError: references are given twice, or never.
        """
        if (references is None) == (self._known is None):
            raise UsageError(
                "give references to update, batch by batch, or to Accumulator, those of all images; "
                + ("here are none" if references is None else "here are both")
            )
        batch = as_candidates(candidates)
        several = [image for image, count in zip(batch.image_ids, batch.caption_counts(), strict=True) if count != 1]
        if several:
            raise DataError(f"the candidates: not one caption for {some(several)}; give one per image and update")
        described = None if references is None else as_references(references)
        if described is not None and set(described.image_ids) != set(batch.image_ids):
            other = sorted(set(described.image_ids) ^ set(batch.image_ids))
            raise DataError(
                f"references and candidates of a batch must be of the same images, and these differ by {some(other)}"
            )
        names = self._names(batch)
        self._add(
            {names[image]: texts[0] for image, texts in batch.to_dict().items()},
            {} if described is None else {names[image]: texts for image, texts in described.to_dict().items()},
        )

    def _names(self, batch: Captions) -> dict[str, str]:
        """The name of each image of a batch; those of a list count on."""
        if not by_place(batch):
            return {image: image for image in batch.image_ids}
        self._unnamed = True
        return {image: str(len(self._candidates) + place) for place, image in enumerate(batch.image_ids)}

    def _add(self, candidates: Mapping[str, str], references: Mapping[str, list[str]]) -> None:
        for image, caption in candidates.items():
            if self._candidates.setdefault(image, caption) != caption:
                self._differing.append(image)
        for image, texts in references.items():
            self._references.setdefault(image, texts)

    def merge(self, other: Accumulator) -> None:
        """Adds the captions of another accumulator: of another process, which sent it pickled.

        Of an image that both have, the caption here stays. Raises `UsageError` where images have no names.
        """
        if self._unnamed or other._unnamed:
            raise UsageError(
                "captions that came as lists are numbered in each process from 0, so that they cannot be merged; give "
                "update mappings from image ids, or rows with them"
            )
        self._add(other._candidates, other._references)
        self._differing += other._differing

    def __len__(self) -> int:
        return len(self._candidates)

    def compute(self) -> Result:
        """Scores all captions so far. Images are in the order of the references given before, else sorted by id.

        Warns of images that came several times with different captions. Raises what [`capeval.score`][] raises.
        """
        if self._differing:
            warn(
                f"{some(list(dict.fromkeys(self._differing)))} came several times with different captions; the first "
                "counts (are generated captions random, or do image ids repeat?)"
            )
        if self._known is not None:
            described: CaptionSource = self._known
        else:
            described = {image: self._references[image] for image in sorted(self._references, key=_by_number)}
        return score(
            described, self._candidates, self.metrics, tokenizer=self._tokenizer, needs=self._needs, **self._options
        )


def _by_number(image: str) -> tuple[bool, int, str]:
    """Orders whole numbers as numbers, before other ids."""
    number = image.isascii() and image.isdigit()
    return not number, int(image) if number else 0, image
