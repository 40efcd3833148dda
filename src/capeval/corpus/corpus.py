"""Captions, tokenised and interned once; every metric is a function of the corpus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, TypeAlias

from capeval import _core
from capeval.errors import DataError, UsageError, accepted_name, some

if TYPE_CHECKING:
    from capeval._core import Captions

CaptionSource: TypeAlias = "Mapping[str, Sequence[str]] | Mapping[int, Sequence[str]] | str | PathLike[str] | Captions"
CandidateSource: TypeAlias = "Mapping[str, str] | Mapping[int, str] | str | PathLike[str] | Captions"

ON_MISSING = ("error", "skip", "zero")
TOKENIZERS: tuple[str, ...] = tuple(_core.TOKENIZERS)


def tokenize(captions: Iterable[str], *, tokenizer: str = "ptb", threads: int = 0) -> list[list[str]]:
    """Tokens of each caption.

    `tokenizer`: `ptb` (the COCO suite's, each caption on its own), `ptb-stream` (all captions as one text, as that
    suite runs a file), `whitespace`, `none` (split at blanks, for captions that are tokenised already) or `blanks`
    (split at each blank, so that tokens can be empty).

    Raises `UsageError` for another name and `DataError` for a caption that is not a string.
    """
    accepted_name("tokenizer", tokenizer, TOKENIZERS)
    return _core.tokenize(check_texts(captions), tokenizer, threads)


def check_texts(captions: Iterable[str]) -> list[str]:
    """The captions as a list. Raises `DataError` for one that is not a string, or not text."""
    captions = list(captions)
    for number, caption in enumerate(captions):
        if not isinstance(caption, str):
            raise DataError(f"caption {number} is a {type(caption).__name__}, expected a string")
        if not caption.isascii() and any("\ud800" <= character <= "\udfff" for character in caption):
            raise DataError(f"caption {number} holds a lone surrogate, which is not text; remove it: {caption!a}")
    return captions


class Corpus:
    """References and one system's candidates of the same images.

    `references`: `{image id: [caption, …]}`; `candidates`: `{image id: caption}`; each may also be a file's path or
    `Captions` that were read before. Ids are compared as text. `on_missing` says what an image without candidate means:
    `error`, `skip` (it is left out, of the document frequencies too) or `zero` (it counts as an empty caption).

    Raises `DataError` for a candidate of an unknown image, a missing candidate, an image without reference, or an
    unusable caption; `UsageError` for an unknown `tokenizer` or `on_missing`.
    """

    holds_sets = False
    """Whether an image has a caption set, several candidates, rather than one candidate."""
    document_source = "corpus"
    """Source of the document frequencies if none are given, for signatures."""
    candidate_counts = (1, 1)
    """The least and the most candidates per image."""

    def __init__(
        self,
        references: CaptionSource,
        candidates: CandidateSource,
        *,
        tokenizer: str = "ptb",
        on_missing: str = "error",
        threads: int = 0,
    ) -> None:
        accepted_name("tokenizer", tokenizer, TOKENIZERS)
        accepted_name("on_missing", on_missing, ON_MISSING)
        described, captions = as_references(references), _as_candidates(candidates)
        names = (describe(references, "the references"), describe(candidates, "the candidates"))
        pairs = _align(described, captions, names, on_missing)
        encoded = _core.References(described, [r for r, _ in pairs], tokenizer, threads)
        self._assemble(encoded, described, captions, [c for _, c in pairs], threads)

    @classmethod
    def of_systems(
        cls,
        references: CaptionSource,
        systems: Mapping[str, CandidateSource],
        *,
        tokenizer: str = "ptb",
        on_missing: str = "error",
        threads: int = 0,
    ) -> dict[str, Corpus]:
        """A corpus for each system, by name, over the same images and references, which are encoded once.

        Arguments and errors as for one corpus; `skip` leaves out the images that any of the systems lacks.
        """
        accepted_name("tokenizer", tokenizer, TOKENIZERS)
        accepted_name("on_missing", on_missing, ON_MISSING)
        described = as_references(references)
        captions = {name: _as_candidates(source) for name, source in systems.items()}
        places = {
            name: dict(_align(described, captions[name], (describe(references, "the references"), who), on_missing))
            for name, who in ((name, describe(source, f"system {name!r}")) for name, source in systems.items())
        }
        common = [image for image in range(described.image_count) if all(image in place for place in places.values())]
        if not common:
            raise DataError(f"no image has a candidate of every system ({', '.join(systems)})")
        encoded = _core.References(described, common, tokenizer, threads)
        corpora = {}
        for name, place in places.items():
            corpora[name] = cls.__new__(cls)
            corpora[name]._assemble(encoded, described, captions[name], [place[image] for image in common], threads)
        return corpora

    def _assemble(
        self,
        encoded: _core.References,
        references: Captions,
        candidates: Captions,
        places: Sequence[int | None],
        threads: int,
    ) -> None:
        """Encodes the candidates, which are at these places, of the encoded images."""
        self.reference_captions = references
        self.candidate_captions = candidates
        self._core = _core.Corpus(encoded, candidates, places, threads)
        self.image_ids: list[str] = encoded.image_ids
        self._numbers: dict[str, int] | None = None
        self.tokenizer = encoded.tokenizer
        self.reference_counts: tuple[int, int] = (min(encoded.counts), max(encoded.counts))

    def __len__(self) -> int:
        return len(self.image_ids)

    @property
    def documents(self) -> int:
        """Number of documents that document frequencies are counted in if none are given."""
        return len(self)

    @property
    def candidate_count(self) -> int:
        """The number of candidates of all images."""
        return len(self)

    def __repr__(self) -> str:
        least, most = self.reference_counts
        references = f"{least}" if least == most else f"{least} to {most}"
        return f"<Corpus of {len(self):,} images with {references} references each, {self.tokenizer} tokens>"

    def captions(self, image_id: str) -> tuple[str | None, list[str]]:
        """Candidate (None where the system left the image out) and references of an image, as given."""
        candidates = self.candidate_captions.captions(image_id) if image_id in self.candidate_captions else []
        return (candidates[0] if candidates else None), self.reference_captions.captions(image_id)

    def texts(self, image_id: str) -> tuple[list[str], list[str]]:
        """Tokens, joined by blanks, of an image's candidates and of its references.

        Raises `UsageError` for an unknown image.
        """
        return self._core.texts(self.number(image_id))

    def number(self, image_id: str) -> int:
        """The place of an image among `image_ids`. Raises `UsageError` for an unknown image."""
        if self._numbers is None:
            self._numbers = {image: number for number, image in enumerate(self.image_ids)}
        if image_id not in self._numbers:
            raise UsageError(f"no image {image_id!r} among the {len(self):,} scored ones")
        return self._numbers[image_id]


def encode_references(references: CaptionSource, *, tokenizer: str, threads: int) -> _core.References:
    """References alone, encoded; images without any are left out."""
    accepted_name("tokenizer", tokenizer, TOKENIZERS)
    captions = as_references(references)
    check_captions(captions, describe(references, "the references"))
    described = [number for number, count in enumerate(captions.caption_counts()) if count]
    if not described:
        raise DataError(f"{describe(references, 'the references')}: no caption in it")
    return _core.References(captions, described, tokenizer, threads)


def as_caption_sets(source: CaptionSource) -> Captions:
    """Caption sets of one system, from wherever they are."""
    if isinstance(source, _core.Captions):
        return source
    if isinstance(source, (str, PathLike)):
        from capeval.data import read_caption_sets

        return read_caption_sets(source)
    return _core.Captions.from_dict(source)


def as_references(source: CaptionSource) -> Captions:
    """References, from wherever they are."""
    if isinstance(source, _core.Captions):
        return source
    if isinstance(source, (str, PathLike)):
        from capeval.data import read_references

        return read_references(source)
    return _core.Captions.from_dict(source)


def _as_candidates(source: CandidateSource) -> Captions:
    if isinstance(source, _core.Captions):
        return source
    if isinstance(source, (str, PathLike)):
        from capeval.data import read_candidates

        return read_candidates(source)
    return _core.Captions.from_dict(source)


def describe(source: object, otherwise: str) -> str:
    """The name of a source of captions in messages."""
    if isinstance(source, _core.Captions):
        return source.source or otherwise
    return str(source) if isinstance(source, (str, PathLike)) else otherwise


def _align(
    references: Captions, candidates: Captions, names: tuple[str, str], on_missing: str
) -> list[tuple[int, int | None]]:
    """Pairs of image numbers, in the references' order."""
    for captions, name in zip((references, candidates), names, strict=True):
        check_captions(captions, name)
    image_ids, candidate_ids = references.image_ids, candidates.image_ids
    counts = references.caption_counts()
    if image_ids == candidate_ids and image_ids and min(counts) > 0 and {*candidates.caption_counts()} == {1}:
        # The usual case, where nothing can be wrong: the same images in the same order, one candidate each.
        return [(number, number) for number in range(len(image_ids))]
    _check_candidates(image_ids, candidate_ids, candidates.caption_counts(), names)
    place = {image: number for number, image in enumerate(candidate_ids)}
    pairs = [(number, place.get(image)) for number, image in enumerate(image_ids)]
    undescribed = [r for r, c in pairs if counts[r] == 0 and c is not None]
    if undescribed:
        swapped = candidates.caption_count > references.caption_count
        raise DataError(
            f"{names[0]}: no reference for {some([image_ids[r] for r in undescribed])}, but a candidate in {names[1]}; "
            "add references or remove the candidates" + (" (or are the two files swapped?)" if swapped else "")
        )
    pairs = [(r, c) for r, c in pairs if counts[r]]
    missing = [image_ids[r] for r, c in pairs if c is None]
    if missing and on_missing == "error":
        raise DataError(
            f"{names[1]}: no candidate for {some(missing)}; add them, or choose --on-missing skip (leave "
            "such images out) or zero (count them as empty captions)"
        )
    if on_missing == "skip":
        pairs = [(r, c) for r, c in pairs if c is not None]
    if not pairs:
        raise DataError(f"{names[1]}: no image to score")
    return pairs


def check_captions(captions: Captions, name: str) -> None:
    """Raises `DataError` for a caption that cannot be scored."""
    problems = captions.problems()
    if problems:
        image, problem = problems[0]
        others = f" (and {len(problems) - 1} more captions like it)" if len(problems) > 1 else ""
        raise DataError(f"{name}: image {image!r}: {problem}{others}")


def _check_candidates(
    image_ids: list[str], candidate_ids: list[str], counts: list[int], names: tuple[str, str]
) -> None:
    known = set(image_ids)
    unknown = [image for image in candidate_ids if image not in known]
    if unknown and len(unknown) == len(candidate_ids) and known:
        from capeval.data.image_ids import meeting

        how = meeting(image_ids, unknown)
        raise DataError(
            f"{names[1]}: none of its {len(unknown):,} images is in {names[0]}: it has {some(unknown)}, the "
            f"references have {some(image_ids)}; "
            + (f"they meet by --image-ids {how}" if how else "are these files of the same data set?")
        )
    if unknown:
        raise DataError(
            f"{names[1]}: candidate for {some(unknown)}, not in {names[0]}; remove such candidates, or "
            "score against references that have these images, or choose --on-extra skip (leave them out)"
        )
    repeated = [image for image, count in zip(candidate_ids, counts, strict=True) if count > 1]
    if repeated:
        raise DataError(
            f"{names[1]}: more than one candidate for {some(repeated)}; keep one per image (several captions "
            "of one image are a caption set, and are not scored together)"
        )
