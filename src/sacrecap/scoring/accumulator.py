"""Captions that come batch by batch, from one process or several, scored at the end."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from sacrecap.corpus.corpus import CandidateSource, CaptionSource, References, as_candidates, as_references
from sacrecap.data.inputs import by_place, side_by_side, with_places
from sacrecap.errors import DataError, UsageError, some, warn
from sacrecap.scoring.score import ScoreOptions, score

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from sacrecap.choices import Tokenizer
    from sacrecap.metrics import Metric
    from sacrecap.resources.needs import Needs
    from sacrecap.scoring.result import Result


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
        counts = batch.caption_counts()
        several = [image for image, count in zip(batch.image_ids, counts, strict=True) if count > 1]
        if several:
            raise DataError(f"the candidates: not one caption for {some(several)}; give one per image and update")
        described = None if references is None else as_references(references)
        if described is not None:
            batch = side_by_side(described, batch)
        if described is not None and set(described.image_ids) != set(batch.image_ids):
            other = sorted(set(described.image_ids) ^ set(batch.image_ids))
            raise DataError(
                f"references and candidates of a batch must be of the same images, and these differ by {some(other)}"
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
