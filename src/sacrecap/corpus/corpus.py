"""Captions, tokenised and interned once; every metric is a function of the corpus."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from sacrecap import _core
from sacrecap.choices import ON_MISSING, TOKENIZERS, OnMissing, Tokenizer
from sacrecap.corpus.tokenizers import cut, lines
from sacrecap.data import inputs, read_candidates, read_caption_sets, read_references
from sacrecap.data.cells import without_empty
from sacrecap.data.image_ids import remedy_for_extra, remedy_for_missing, remedy_for_other_ids, same_images
from sacrecap.errors import DataError, UsageError, accepted_name, some, spelled, whole_number

if TYPE_CHECKING:
    from sacrecap._core import Captions
    from sacrecap._core import References as Encoded
    from sacrecap.corpus.document_frequency import DocumentFrequency
    from sacrecap.data.inputs import Source

CaptionSource: TypeAlias = "Source | References"
"""What captions are taken from: see `sacrecap.data.inputs`."""
CandidateSource: TypeAlias = "Source"


def tokenize(captions: Iterable[str], *, tokenizer: Tokenizer | str = "ptb", threads: int = 0) -> list[list[str]]:
    """Tokens of each caption.

    `tokenizer`: `ptb` (the COCO suite's, each caption on its own), `ptb-stream` (all captions as one text, as that
    suite runs a file), `whitespace`, `none` (split at blanks, for captions that are tokenised already), `blanks`
    (split at each blank, so that tokens can be empty), or one of sacreBLEU's, such as `intl`, `zh` and `ja-mecab`.

    Raises `UsageError` for another name, and `DataError` for a text alone or a caption that is not a string.

    Examples:
        >>> sacrecap.tokenize(["A man's dog can't sit."])
        [['a', 'man', "'s", 'dog', 'ca', "n't", 'sit']]
    """
    accepted_name("tokenizer", tokenizer, TOKENIZERS)
    return _core.tokenize(lines(check_texts(captions), tokenizer), tokenizer, whole_number("threads", threads))


def encode_captions(
    captions: Captions, places: Sequence[int], tokenizer: str, threads: int = 0, *, describe: bool = True
) -> _core.References:
    """The captions at these places, cut into words and numbered: references, unless they do not `describe` images."""
    if not describe:
        return _core.References.none(captions, places, tokenizer)
    return _core.References(cut(captions, tokenizer), places, tokenizer, threads)


def check_texts(captions: Iterable[str]) -> list[str]:
    """The captions as a list. Raises `DataError` for one that is not a string, or not text."""
    if isinstance(captions, str):
        raise DataError(f"the captions are one text, {captions[:40]!r}; give a list of captions")
    captions = list(captions)
    for number, caption in enumerate(captions):
        if not isinstance(caption, str):
            raise DataError(f"caption {number} is a {type(caption).__name__}, expected a string")
        if not caption.isascii() and any("\ud800" <= character <= "\udfff" for character in caption):
            raise DataError(f"caption {number} holds a lone surrogate, which is not text; remove it: {caption!a}")
    return captions


Tallies: TypeAlias = "dict[tuple[str, str, int], tuple[int, str, str]]"
"""Counts by part (`candidates`, `references`, or none), name and number; with image and caption of an example."""
SAMPLE = 1_000
"""Images, of the smallest hashes of their ids, in which captions are compared with those of other images."""


OF_IMAGES = ("no candidate", "several candidates", "bad row")
LEFT_OUT = (*OF_IMAGES, "extra candidate", "blank reference", "excluded annotation")
"""Why something that was given is not scored: images with references, as `OF_IMAGES` says, or single captions."""


def added_up(*several: Mapping[str, int]) -> dict[str, int]:
    """What several captions left out together, by the reason."""
    return {reason: count for reason in LEFT_OUT if (count := sum(counts.get(reason, 0) for counts in several))}


class Seen(NamedTuple):
    """What one look at the captions counted; judged by `sacrecap.scoring.findings`."""

    everywhere: Tallies
    """Counts over all images, which add up over parts."""
    sample: Tallies
    """Counts in a sample of images."""


def added(tallies: Tallies, other: Tallies) -> Tallies:
    """The counts of two parts of a corpus together."""
    total = dict(tallies)
    for name, counts in other.items():
        before = total.get(name, counts)
        count = counts[0] + (before[0] if name in total else 0)
        total[name] = (count, *min(before[1:], counts[1:]))
    return total


def tallies(rows: Iterable[tuple[str, str, int, int, str, str]]) -> Tallies:
    """Rows of the native core by name."""
    return {(part, name, number): (count, image, caption) for part, name, number, count, image, caption in rows}


class Corpus:
    """References and one system's candidates of the same images.

    `references`: `{image id: [caption, …]}`; `candidates`: `{image id: caption}`; each may also be rows, a list, a
    table, a file's path or `Captions` that were read before (see `sacrecap.data.inputs`), references also
    [`References`][sacrecap.References]. Ids are compared as text. `on_missing` says what an image without candidate
    means: `error`, `skip` (it is left out, also of the document frequencies) or `zero` (it counts as an empty caption).

    Raises `DataError` for a candidate of an unknown image, a missing candidate, an image without reference, or an
    unusable caption; `UsageError` for an unknown `tokenizer` or `on_missing`.

    Examples:
        >>> corpus = sacrecap.Corpus({"1": ["a dog runs"], "2": ["a red bus"]}, {"1": "a dog", "2": "a bus"})
        >>> corpus
        <Corpus of 2 images with 1 reference each, tokenizer ptb>
        >>> print(f"{sacrecap.score(corpus, metrics='rouge-l')['rouge-l']:.3f}")
        0.772
    """

    holds_sets = False
    """Whether an image has a caption set, several candidates, rather than one candidate."""
    document_source = "corpus"
    """Source of the document frequencies if none are given, for signatures."""
    candidate_counts = (1, 1)
    """The least and the most candidates per image."""
    matched_by: tuple[str, str] | None = None
    """By which part of the ids candidates were matched, where none is one of the references', and an example."""
    left_out: Mapping[str, int] = MappingProxyType({})
    """What was given and is not scored, how many by the reason: one of `LEFT_OUT`."""
    filled = 0
    """How many images without candidate count as an empty caption."""
    whole: WholeCorpus | None = None
    """What is known of the corpus that this one is a part of; None for a whole corpus."""

    def __init__(
        self,
        references: CaptionSource,
        candidates: CandidateSource,
        *,
        tokenizer: Tokenizer = "ptb",
        on_missing: OnMissing = "error",
        threads: int = 0,
    ) -> None:
        accepted_name("tokenizer", tokenizer, TOKENIZERS)
        whole_number("threads", threads)
        aligned = align(references, {"": candidates}, {"": "the candidates"}, on_missing)
        self._assemble_aligned(aligned.encoded(references, tokenizer, threads), aligned, "", threads)

    @classmethod
    def of_systems(
        cls,
        references: CaptionSource | None,
        systems: Mapping[str, CandidateSource],
        *,
        tokenizer: Tokenizer = "ptb",
        on_missing: OnMissing = "error",
        threads: int = 0,
    ) -> dict[str, Corpus]:
        """A corpus for each system, by name, over the same images and references, which are encoded once.

        Arguments and errors as for one corpus; `skip` leaves out the images that any of the systems lacks. Without
        references, for metrics that need none, the images are those of the first system.
        """
        accepted_name("tokenizer", tokenizer, TOKENIZERS)
        called = {name: f"system {name!r}" for name in systems}
        if references is None:
            name, first = next(iter(systems.items()))
            captions = as_candidates(first, called[name])
            # A word in place of references: images without any would be left out.
            images = _core.Captions.of_images([(image, ["none"]) for image in captions.image_ids], captions.source)
            aligned = align(images, systems, called, on_missing)
            ids = [images.image_ids[image] for image in aligned.images]
            parts = {name: captions.aligned(ids, aligned.places[name]) for name, captions in aligned.systems.items()}
            corpora = cls.of_part(None, parts, tokenizer=tokenizer, threads=threads)
            for name, corpus in corpora.items():
                corpus._is_of(aligned, name)
            return corpora
        aligned = align(references, systems, called, on_missing)
        encoded = aligned.encoded(references, tokenizer, threads)
        corpora = {name: cls.__new__(cls) for name in aligned.systems}
        for name, corpus in corpora.items():
            corpus._assemble_aligned(encoded, aligned, name, threads)
        return corpora

    @classmethod
    def unencoded(cls, aligned: Aligned, system: str, *, tokenizer: Tokenizer) -> Corpus:
        """The corpus of a system whose captions are encoded when they are first needed."""
        corpus = cls.__new__(cls)
        corpus.reference_captions, corpus.candidate_captions = aligned.references, aligned.systems[system]
        every, counts = aligned.references.image_ids, aligned.references.caption_counts()
        corpus.image_ids, corpus._numbers = [every[image] for image in aligned.images], None
        corpus.tokenizer = tokenizer
        corpus._is_of(aligned, system)
        count = [counts[image] for image in aligned.images]
        corpus.reference_counts = (min(count, default=0), max(count, default=0))
        return corpus

    @classmethod
    def of_part(
        cls,
        references: Captions | None,
        systems: Mapping[str, Captions],
        *,
        tokenizer: Tokenizer = "ptb",
        whole: WholeCorpus | None = None,
        threads: int = 0,
    ) -> dict[str, Corpus]:
        """A corpus for each system, by name, of a part of a larger corpus, which is scored part by part.

        References (None for metrics that need none) and candidates are of the same images in the same order, one
        candidate and one reference at least for each; `whole` is what is known of the whole, where a metric needs it.
        """
        images = next(iter(systems.values())) if references is None else references
        places = range(images.image_count)
        encoded = encode_captions(images, places, tokenizer, threads, describe=references is not None)
        references = _core.Captions.of_images([], None) if references is None else references
        corpora = {}
        for name, candidates in systems.items():
            corpora[name] = cls.__new__(cls)
            core = _core.Corpus(encoded, cut(candidates, tokenizer), places, threads)
            corpora[name]._assemble(core, references, candidates)
            corpora[name].whole = whole
        return corpora

    @classmethod
    def without_references(cls, captions: Captions, *, tokenizer: Tokenizer) -> Corpus:
        """One system's captions alone, for metrics that need no references."""
        check_captions(captions, captions.source or "the candidates")
        [corpus] = cls.of_part(None, {"": captions}, tokenizer=tokenizer).values()
        corpus.left_out = captions.left_out
        return corpus

    def _assemble_aligned(self, encoded: _core.References, aligned: Aligned, system: str, threads: int) -> None:
        captions = aligned.systems[system]
        core = _core.Corpus(encoded, cut(captions, encoded.tokenizer), aligned.places[system], threads)
        self._assemble(core, aligned.references, captions)
        self._is_of(aligned, system)

    def _is_of(self, aligned: Aligned, system: str) -> None:
        """Takes what is known of the captions from before some were left out."""
        self.matched_by, self.left_out = aligned.matched[system], aligned.left_out[system]
        self.filled = aligned.places[system].count(None)

    def _assemble(self, core: _core.Corpus, references: Captions, candidates: Captions) -> None:
        """Takes encoded captions, and those as given."""
        self.reference_captions, self.candidate_captions = references, candidates
        vars(self)["_core"] = core
        self.image_ids: list[str] = core.references.image_ids
        """The images, in the order of the references."""
        self._numbers: dict[str, int] | None = None
        self.tokenizer: Tokenizer = cast("Tokenizer", core.references.tokenizer)
        """What cut the captions into words."""
        counts = core.references.counts
        self.reference_counts: tuple[int, int] = (min(counts, default=0), max(counts, default=0))
        """The fewest and the most references of an image."""

    @cached_property
    def _stemmed(self) -> _core.Corpus:
        return self._core.stemmed()

    def digest(self, part: str) -> int:
        """The digest of the captions that are scored, for signatures: of `refs` or `caps`; it adds up over parts."""
        digests: dict[str, int] = vars(self).setdefault("_digests", {})
        if part not in digests:
            digests[part] = self._digest(part)
        return digests[part]

    def _digest(self, part: str) -> int:
        captions = self.reference_captions if part == "refs" else self.candidate_captions
        return captions.digest(self.image_ids, self.tokenizer == "ptb-stream")

    def native(self, *, stems: bool) -> _core.Corpus:
        """The encoded captions, as they are or with every word reduced to its stem."""
        return self._stemmed if stems else self._core

    @cached_property
    def _core(self) -> _core.Corpus:
        """The encoded captions. A corpus that was pickled encodes them again when they are first needed."""
        candidates, describe = self.candidate_captions, self.reference_counts != (0, 0)
        images = self.reference_captions if describe else candidates
        encoded = encode_captions(images, known_places(images, self.image_ids), self.tokenizer, describe=describe)
        return _core.Corpus(encoded, cut(candidates, self.tokenizer), places(candidates, self.image_ids))

    @cached_property
    def seen(self) -> Seen:
        """What one look at the captions counts."""
        everywhere = self.tallies()
        if self.matched_by is not None:
            how, match = self.matched_by
            everywhere["candidates", f"ids by {how}", 0] = (len(self), min(self.image_ids), match)
        return Seen(everywhere, tallies(_core.seen_in_sample(self._core, self.candidate_captions, SAMPLE)))

    def is_part_with(self, everywhere: Tallies, sample: Tallies | None = None) -> None:
        """Takes the counts of the whole, of which this corpus is the sample; or of its sample, too."""
        vars(self)["seen"] = Seen(everywhere, self.seen.sample if sample is None else sample)

    def tallies(self, threads: int = 0) -> Tallies:
        """What there is to count in every image by itself, so that parts of a corpus add up."""
        return tallies(_core.seen(self._core, self.reference_captions, self.candidate_captions, threads))

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name not in ("_core", "_stemmed")}

    def __len__(self) -> int:
        return len(self.image_ids)

    @property
    def images_left_out(self) -> int:
        """How many images with references are not scored."""
        return sum(count for reason, count in self.left_out.items() if reason in OF_IMAGES)

    def left_out_in_json(self, scored: int) -> dict[str, Any]:
        """What was given and is not one of so many scored images as it is; nothing where all is."""
        if not (self.left_out or self.filled):
            return {}
        filled = {"scored_as_empty": self.filled} if self.filled else {}
        return {"given": scored + self.images_left_out, "left_out": dict(self.left_out), **filled}

    @property
    def missing(self) -> str:
        """How images without candidate were treated, `skip` or `zero`; empty where there was none."""
        return "zero" if self.filled else "skip" if "no candidate" in self.left_out else ""

    @property
    def documents(self) -> int:
        """Number of documents that document frequencies are counted in if none are given."""
        return len(self) if self.whole is None else self.whole.images

    @property
    def candidate_count(self) -> int:
        """The number of candidates of all images."""
        return len(self)

    def __repr__(self) -> str:
        least, most = self.reference_counts
        references = f"{least}" if least == most else f"{least} to {most}"
        each = "reference" if references == "1" else "references"
        return f"<Corpus of {len(self):,} images with {references} {each} each, tokenizer {self.tokenizer}>"

    def captions(self, image_id: str) -> tuple[str | None, list[str]]:
        """Candidate (None if the system left the image out) and references of an image, as given."""
        candidates, references = (
            captions.captions(image_id) if image_id in captions else []
            for captions in (self.candidate_captions, self.reference_captions)
        )
        return (candidates[0] if candidates else None), references

    def given(self, image_id: str) -> tuple[list[str], list[str]]:
        """The candidates and the references of an image, as given; an image that the system left out has an empty one.

        Raises `UsageError` for an unknown image.
        """
        self.number(image_id)
        candidate, references = self.captions(image_id)
        return [candidate or ""], references

    def texts(self, image_id: str) -> tuple[list[str], list[str]]:
        """Tokens, joined by blanks, of an image's candidates and of its references.

        Raises `UsageError` for an unknown image.
        """
        return self._core.texts(self.number(image_id))

    def number(self, image_id: str) -> int:
        """The index of an image in `image_ids`. Raises `UsageError` for an unknown image."""
        if self._numbers is None:
            self._numbers = {image: number for number, image in enumerate(self.image_ids)}
        if image_id not in self._numbers:
            raise UsageError(f"no image {image_id!r} among the {len(self):,} scored ones")
        return self._numbers[image_id]


class WholeCorpus(NamedTuple):
    """Document frequencies of a whole corpus, and what metrics learnt of it: parts take them in place of their own."""

    images: int
    frequencies: Mapping[bool, DocumentFrequency]
    """Those of stems (True) and of word forms (False)."""
    learnt: Mapping[Hashable, Any]
    """What each metric's learner made of all references."""


class References:
    """References, tokenised and interned once, to score many candidates against: for example those of every epoch.

    They can be given wherever references are taken; the scores are the same to the bit as with the captions themselves.

    Args:
        references: captions in any form that [`sacrecap.score`][] takes; images without any are left out.
        tokenizer: see [`sacrecap.tokenize`][].
        threads: number of threads; 0 means one per core.

    Raises:
        DataError: there is no caption, or one that cannot be scored.
        UsageError: an unknown tokenizer.

    Examples:
        >>> references = sacrecap.References({"1": ["a dog runs"], "2": ["a red bus"]})
        >>> for epoch in ({"1": "a dog", "2": "a dog"}, {"1": "a dog", "2": "a bus"}):
        ...     print(f"{sacrecap.score(references, epoch, 'rouge-l')['rouge-l']:.3f}")
        0.579
        0.772
    """

    def __init__(self, references: CaptionSource, *, tokenizer: Tokenizer = "ptb", threads: int = 0) -> None:
        accepted_name("tokenizer", tokenizer, TOKENIZERS)
        whole_number("threads", threads)
        self.captions: Captions = as_references(references)
        """The captions as given."""
        self.tokenizer: Tokenizer = tokenizer
        """What cut the references into words; candidates are cut by the same."""
        name = self.captions.source or "the references"
        check_captions(self.captions, name)
        self._images = [number for number, count in enumerate(self.captions.caption_counts()) if count]
        if not self._images:
            raise DataError(f"{name}: no caption in it")
        vars(self)["_core"] = encode_captions(self.captions, self._images, tokenizer, threads)

    @cached_property
    def _core(self) -> _core.References:
        """The encoded captions. References that were pickled encode them again when they are first needed."""
        return encode_captions(self.captions, self._images, self.tokenizer)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name != "_core"}

    @property
    def image_ids(self) -> list[str]:
        """The images that have references, in the order given."""
        return self._core.image_ids

    def __len__(self) -> int:
        return len(self._images)

    def __repr__(self) -> str:
        return f"<References of {len(self):,} images, tokenizer {self.tokenizer}>"

    def _of_images(self, images: list[int], tokenizer: str, threads: int) -> Encoded:
        """The references of the images of these numbers: the encoded ones themselves, if these are all."""
        if tokenizer != self.tokenizer:
            raise UsageError(
                f"the references were cut by the tokenizer {self.tokenizer}, and the call asks for {tokenizer}; give "
                f"tokenizer={self.tokenizer!r}, or make References with the other one"
            )
        return self._core if images == self._images else encode_captions(self.captions, images, tokenizer, threads)


def encode_references(references: CaptionSource, *, tokenizer: str, threads: int) -> _core.References:
    """References alone, encoded; images without any are left out."""
    if isinstance(references, References):
        return references._of_images(references._images, tokenizer, threads)
    return References(references, tokenizer=cast("Tokenizer", tokenizer), threads=threads)._core


def as_caption_sets(source: CaptionSource, part: str = "the caption sets") -> Captions:
    """Caption sets of one system, from any source; `part` is their name in messages."""
    return source.captions if isinstance(source, References) else inputs.captions(source, part, read_caption_sets)


def as_references(source: CaptionSource) -> Captions:
    """References, from any source; of empty ones, which are left out, it warns."""
    if isinstance(source, References):
        return source.captions
    captions = inputs.captions(source, "the references", read_references)
    return without_empty(captions, captions.source or "the references")


def as_candidates(source: CandidateSource, part: str = "the candidates") -> Captions:
    """One system's candidates, from any source; `part` is their name in messages."""
    return inputs.captions(source, part, read_candidates)


def matched(references: Captions, candidates: Captions) -> tuple[Captions, tuple[str, str] | None]:
    """The candidates by the references' ids where theirs are others that surely mean these images, and what says so."""
    images, candidate_ids = references.image_ids, candidates.image_ids
    if images == candidate_ids:
        return candidates, None
    if inputs.by_place(candidates) or inputs.by_place(references):
        return inputs.side_by_side(references, candidates), None
    same_ids = same_images(images, candidate_ids) if {*images}.isdisjoint(candidate_ids) else None
    if same_ids is None:
        return candidates, None
    how, meant = same_ids
    renamed = candidates.with_texts({meant[image]: texts for image, texts in candidates.to_dict().items()})
    example = next(image for image, name in meant.items() if name == min(meant.values()))
    return renamed, (how, example)


def places(captions: Captions, image_ids: Sequence[str]) -> list[int | None]:
    """The numbers of these images among the captions; None if an image has no caption."""
    ids, counts = captions.image_ids, captions.caption_counts()
    if ids == image_ids and 0 not in counts:
        return list(range(len(ids)))
    place = {image: number for number, image in enumerate(ids) if counts[number]}
    return [place.get(image) for image in image_ids]


def known_places(captions: Captions, image_ids: Sequence[str]) -> list[int]:
    """The numbers of those of these images that have captions."""
    return [place for place in places(captions, image_ids) if place is not None]


class Aligned(NamedTuple):
    """Captions of several systems, and which of them are of which image of the references."""

    references: Captions
    systems: dict[str, Captions]
    images: list[int]
    """The images that are scored: their numbers among the references."""
    places: dict[str, list[int | None]]
    """Of each system, the numbers of these images among its own; None for one that it lacks."""
    matched: dict[str, tuple[str, str] | None]
    """By which part of the ids, where none is the same: see `Corpus.matched_by`."""
    left_out: dict[str, dict[str, int]]
    """What is not scored of the references and of each system: see `Corpus.left_out`."""

    def encoded(self, source: CaptionSource, tokenizer: str, threads: int) -> _core.References:
        """The references of the images that are scored, which may have been encoded before, in their source."""
        if isinstance(source, References):
            return source._of_images(self.images, tokenizer, threads)
        return encode_captions(self.references, self.images, tokenizer, threads)


def align(
    references: CaptionSource, systems: Mapping[str, CandidateSource], called: Mapping[str, str], on_missing: str
) -> Aligned:
    """The images that references and all systems have; `called` names systems in messages. Errors as of a `Corpus`."""
    accepted_name("on_missing", on_missing, ON_MISSING)
    of_references, *sources = inputs.with_places([references, *systems.values()])
    described = as_references(of_references)
    whose, counts = described.source or "the references", described.caption_counts()
    captions, matched_by, by_image = {}, {}, {}
    for name, source in zip(systems, sources, strict=True):
        captions[name], matched_by[name] = matched(described, as_candidates(source, called[name]))
        by_image[name] = _places(described, captions[name], (whose, captions[name].source or called[name]), on_missing)
    shared = sorted(set.intersection(*map(set, by_image.values())))
    if not shared:
        raise DataError(f"no image has a candidate of every system ({', '.join(systems)})")
    places = {name: [places[image] for image in shared] for name, places in by_image.items()}
    without = {"no candidate": sum(map(bool, counts)) - len(shared)}
    left_out = {name: added_up(described.left_out, system.left_out, without) for name, system in captions.items()}
    return Aligned(described, captions, shared, places, matched_by, left_out)


def _places(
    references: Captions, candidates: Captions, names: tuple[str, str], on_missing: str
) -> dict[int, int | None]:
    """The number of the candidate, or None, by that of the image, which has references."""
    for captions, name in zip((references, candidates), names, strict=True):
        check_captions(captions, name)
    image_ids, counts, candidate_ids = references.image_ids, references.caption_counts(), candidates.image_ids
    known = set(image_ids)
    unknown = [image for image in candidate_ids if image not in known]
    if unknown and len(unknown) == len(candidate_ids) and known:
        raise DataError(
            f"{names[1]}: none of its {len(unknown):,} images is in {names[0]}: it has {some(unknown)}, the "
            f"references have {some(image_ids)}; {remedy_for_other_ids(image_ids, unknown)}"
        )
    if unknown:
        raise DataError(f"{names[1]}: candidate for {some(unknown)}, not in {names[0]}; {remedy_for_extra()}")
    repeated = [image for image, n in zip(candidate_ids, candidates.caption_counts(), strict=True) if n > 1]
    if repeated:
        raise DataError(
            f"{names[1]}: more than one candidate for {some(repeated)}; keep one per image (several captions of one "
            "image are a caption set, and are not scored together)"
            + spelled(python="", command=", or choose --on-duplicate first or last")
        )
    every = places(candidates, image_ids)
    described = zip(image_ids, counts, every, strict=True)
    undescribed = [image for image, count, place in described if not count and place is not None]
    if undescribed:
        swapped = candidates.caption_count > references.caption_count
        raise DataError(
            f"{names[0]}: no reference for {some(undescribed)}, but a candidate in {names[1]}; add references that are "
            f"not empty, {remedy_for_extra('remove the candidates')}"
            + (" (or are the two files swapped?)" if swapped else "")
        )
    by_image = {number: place for number, place in enumerate(every) if counts[number]}
    missing = [image_ids[number] for number, place in by_image.items() if place is None]
    if missing and on_missing == "error":
        raise DataError(f"{names[1]}: no candidate for {some(missing)}; {remedy_for_missing()}")
    if on_missing == "skip":
        by_image = {number: place for number, place in by_image.items() if place is not None}
    if not by_image:
        raise DataError(f"{names[1]}: no image to score")
    return by_image


def check_captions(captions: Captions, name: str) -> None:
    """Raises `DataError` for a caption that cannot be scored."""
    problems = captions.problems()
    if problems:
        image, problem = problems[0]
        and_more = f" (and {len(problems) - 1} more captions like it)" if len(problems) > 1 else ""
        raise DataError(f"{name}: image {image!r}: {problem}{and_more}")
