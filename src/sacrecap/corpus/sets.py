"""Captions of other images than were given: of those that references have, of those that all systems have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from sacrecap import _core
from sacrecap._core import Captions
from sacrecap.choices import ON_MISSING, TOKENIZERS, OnMissing, Tokenizer
from sacrecap.corpus.corpus import (
    SAMPLE,
    CaptionSource,
    Corpus,
    Seen,
    Tallies,
    added_up,
    as_caption_sets,
    as_references,
    check_captions,
    encode_captions,
    known_places,
    tallies,
)
from sacrecap.corpus.tokenizers import cut
from sacrecap.data.image_ids import remedy_for_extra, remedy_for_missing
from sacrecap.data.inputs import side_by_side, with_places
from sacrecap.errors import DataError, accepted_name, some, warn


def of_known_images(candidates: Captions, references: Captions) -> Captions:
    """The candidates of images that have references; all of them if no image has any, so that an error can say why."""
    extra = [image for image in candidates.image_ids if image not in references]
    if len(extra) == candidates.image_count:
        return candidates
    return without_images(candidates, extra).leaving_out("extra candidate", len(extra))


def of_same_images(
    references: Captions | None, systems: Sequence[Captions], on_missing: str
) -> tuple[Captions | None, list[Captions], list[int]]:
    """Caption sets where some system lacks images of the references, or of the others; and how many each has filled.

    `skip` leaves these images out everywhere, `zero` gives the system an empty caption for each, `error` changes none.
    """
    if on_missing == "error":
        return references, [*systems], [0] * len(systems)
    described = [*systems] if references is None else [references]
    images = dict.fromkeys(image for captions in described for image in captions.image_ids)
    sets = [{image: texts for image, texts in captions.to_dict().items() if texts} for captions in systems]
    missing = [[image for image in images if image not in captions] for captions in sets]
    if on_missing == "skip":
        out = {image for lacking in missing for image in lacking}
        rest = [without_images(captions, out).leaving_out("no candidate", len(out)) for captions in systems]
        return references and without_images(references, out), rest, [0] * len(systems)
    filled = [
        system.with_texts({**captions, **{image: [""] for image in lacking}})
        for captions, lacking, system in zip(sets, missing, systems, strict=True)
    ]
    return references, filled, [*map(len, missing)]


def without_images(captions: Captions, images: Iterable[str]) -> Captions:
    """The captions of the other images. Images that it does not have are ignored."""
    left_out = {*images} & {*captions.image_ids}
    if not left_out:
        return captions
    return captions.with_texts({image: texts for image, texts in captions.to_dict().items() if image not in left_out})


def united_captions(files: Sequence[Captions]) -> Captions:
    """The captions of several files: of each image those of the first file, then those of the next."""
    if len(files) == 1:
        return files[0]
    texts: dict[str, list[str]] = {}
    for captions in files:
        for image, captions_of_image in captions.to_dict().items():
            texts.setdefault(image, []).extend(captions_of_image)
    united = files[0].with_texts(texts)
    for captions in files[1:]:
        for reason, count in captions.left_out.items():
            united = united.leaving_out(reason, count)
    return united


class SetCorpus(Corpus):
    """One system's caption sets; made by [`encode_sets`][]. Image ids are those of all systems, in one order."""

    holds_sets = True

    def __init__(self, core: _core.Corpus, sets: Captions, references: Captions | None, document_source: str) -> None:
        self._assemble(core, sets if references is None else references, sets)
        self.has_references = references is not None
        self.document_source = document_source
        self.counts: list[int] = core.counts
        """Captions per image, by image."""
        self.candidate_counts = (min(self.counts), max(self.counts))
        self.left_out = added_up(sets.left_out, {} if references is None else references.left_out)

    @classmethod
    def of_sets(cls, sets: Captions, references: Captions, *, tokenizer: Tokenizer = "ptb") -> SetCorpus:
        """Caption sets with references of the same images in the same order."""
        places = range(sets.image_count)
        encoded = encode_captions(references, places, tokenizer)
        return cls(_core.Corpus(encoded, cut(sets, tokenizer), places), sets, references, "corpus")

    @property
    def candidate_count(self) -> int:
        return sum(self.counts)

    def set_of(self, image_id: str) -> list[str]:
        """The captions of an image, as given; of the best ones only, where [`top`][SetCorpus.top] chose."""
        return self.candidate_captions.captions(image_id)

    def given(self, image_id: str) -> tuple[list[str], list[str]]:
        references = self.reference_captions.captions(image_id) if self.has_references else []
        return self.set_of(image_id), references

    @cached_property
    def seen(self) -> Seen:
        counts = tallies(_core.seen_in_sample(self._core, self.candidate_captions, SAMPLE))
        compared = {} if self.has_references else {"matched", "other image", "next image", "previous image"}
        return Seen(self.tallies(), {name: count for name, count in counts.items() if name[1] not in compared})

    def tallies(self, threads: int = 0) -> Tallies:
        counts = tallies(_core.seen(self._core, self.reference_captions, self.candidate_captions, threads))
        # How many captions of a set are equal is what its figures say. Without references, the core has sets for them.
        parts = ("candidates", "references", "") if self.has_references else ("candidates",)
        return {
            name: count
            for name, count in counts.items()
            if name[0] in parts and name[:2] != ("candidates", "all equal")
        }

    def _digest(self, part: str) -> int:
        return super()._digest(part) if part == "refs" else self.candidate_captions.digest(self.image_ids)

    def top(self, scores: bytes, most: int) -> SetCorpus:
        """Keeps the `most` captions of each set with the highest scores (float64, one per caption)."""
        core, places = _core.top(self._core, scores, most)
        every = self.candidate_captions.to_dict()
        best = {image: [every[image][n] for n in chosen] for image, chosen in zip(self.image_ids, places, strict=True)}
        references = self.reference_captions if self.has_references else None
        corpus = SetCorpus(core, self.candidate_captions.with_texts(best), references, self.document_source)
        corpus.reference_captions = self.reference_captions
        return corpus


class LeaveOneOut(SetCorpus):
    """Each caption of the sets as an image of its own, whose references are the others of its set."""

    def __init__(self, sets: SetCorpus, *, threads: int) -> None:
        self._sets, self._threads = sets, threads
        captions = sets.candidate_captions
        held_out = _core.leave_one_out(sets._core, threads)
        super().__init__(held_out, captions, captions, "corpus")
        self._caption_of = {
            f"{image} {place}": (image, place)
            for image, count in zip(sets.image_ids, sets.counts, strict=True)
            for place in range(count)
        }
        self.image_ids = list(self._caption_of)

    @cached_property
    def _stemmed(self) -> _core.Corpus:
        return _core.leave_one_out(self._sets.native(stems=True), self._threads)

    def _digest(self, part: str) -> int:  # noqa: ARG002
        return self._sets.digest("caps")

    @property
    def documents(self) -> int:
        return self._sets.documents

    @property
    def image_of(self) -> dict[str, str]:
        """The image that each image id stands for."""
        return {caption_id: image for caption_id, (image, _) in self._caption_of.items()}

    def given(self, image_id: str) -> tuple[list[str], list[str]]:
        image, place = self._caption_of[image_id]
        captions = self.candidate_captions.captions(image)
        return [captions[place]], captions[:place] + captions[place + 1 :]


def encode_sets(
    systems: Mapping[str, CaptionSource],
    references: CaptionSource | None = None,
    *,
    tokenizer: Tokenizer = "ptb",
    own_documents: bool = True,
    on_missing: OnMissing = "error",
    threads: int = 0,
) -> dict[str, SetCorpus]:
    """The caption sets of one or several systems on the same images, by the systems' names.

    References of other images are left out with a warning; without references, document frequencies are those of each
    system's own sets, unless these are not `own_documents`. `on_missing` says what an image of the references, or of
    another system, means of which a system has no caption.
    """
    accepted_name("tokenizer", tokenizer, TOKENIZERS)
    accepted_name("on_missing", on_missing, ON_MISSING)
    references, *sources = with_places([references, *systems.values()])
    described = None if references is None else as_references(references)
    sets = {
        name: as_caption_sets(source, f"the caption sets of {name}")
        for name, source in zip(systems, sources, strict=True)
    }
    if described is not None:
        sets = {name: side_by_side(described, captions) for name, captions in sets.items()}
    described, every, filled = of_same_images(described, [*sets.values()], on_missing)
    sets = dict(zip(sets, every, strict=True))
    names = {name: captions.source or f"the caption sets of {name}" for name, captions in sets.items()}
    first = next(iter(sets))
    _check_sets(sets, names)
    if described is None:
        ids = sets[first].image_ids
        encoded = {
            name: encode_captions(captions, known_places(captions, ids), tokenizer, threads, describe=own_documents)
            for name, captions in sets.items()
        }
    else:
        numbers = _described(described, sets[first], described.source or "the references", names[first])
        undescribed = sum(map(bool, described.caption_counts())) - len(numbers)
        sets = {name: captions.leaving_out("no candidate", undescribed) for name, captions in sets.items()}
        encoded = dict.fromkeys(sets, encode_captions(described, numbers, tokenizer, threads))
    source = "sets" if described is None else "corpus"
    corpora = {}
    for (name, captions), count in zip(sets.items(), filled, strict=True):
        places = known_places(captions, encoded[name].image_ids)
        core = _core.Corpus(encoded[name], cut(captions, tokenizer), places, threads)
        corpora[name] = SetCorpus(core, captions, described, source)
        corpora[name].filled = count
    return corpora


def _check_sets(sets: Mapping[str, Captions], names: Mapping[str, str]) -> None:
    """Raises `DataError` unless all have the same images, and captions of each that can be scored."""
    for name, captions in sets.items():
        check_captions(captions, names[name])
        if not captions.image_count:
            raise DataError(f"{names[name]}: no image to score")
        counts = zip(captions.image_ids, captions.caption_counts(), strict=True)
        if empty := [image for image, count in counts if not count]:
            raise DataError(f"{names[name]}: no caption for {some(empty)}; {remedy_for_missing()}")
    first = next(iter(sets))
    first_images = {*sets[first].image_ids}
    for name, captions in sets.items():
        images = {*captions.image_ids}
        lacking, more = sorted(first_images - images), sorted(images - first_images)
        if lacking or more:
            lacks, has = (name, first) if lacking else (first, name)
            raise DataError(
                f"{names[lacks]}: no captions for {some(lacking or more)} that {names[has]} has; systems are compared "
                f"on the same images: {remedy_for_missing()}"
            )


def _described(references: Captions, sets: Captions, name: str, sets_name: str) -> list[int]:
    """Numbers of the references of the images that have caption sets."""
    check_captions(references, name)
    ids, counts = references.image_ids, references.caption_counts()
    described = {image for image, count in zip(ids, counts, strict=True) if count}
    missing = [image for image in sets.image_ids if image not in described]
    if missing:
        what = f"captions for {some(missing)}, without references in {name}"
        raise DataError(f"{sets_name}: {what}; {remedy_for_extra()}")
    with_sets = set(sets.image_ids)
    numbers = [number for number, image in enumerate(ids) if image in with_sets]
    if left := len(ids) - len(numbers):
        warn(
            f"{name}: {left:,} of its {len(ids):,} images have no caption set in {sets_name}, and are left out, "
            "also of the document frequencies"
        )
    return numbers
