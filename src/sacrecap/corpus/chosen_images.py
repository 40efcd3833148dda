"""Captions of other images than were given: of those that references have, of those that all systems have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sacrecap._core import Captions


def of_known_images(candidates: Captions, references: Captions) -> Captions:
    """The candidates of images that have references; all of them if no image has any, so that an error can say why."""
    extra = [image for image in candidates.image_ids if image not in references]
    return candidates if len(extra) == candidates.image_count else without_images(candidates, extra)


def of_same_images(
    references: Captions | None, systems: Sequence[Captions], on_missing: str
) -> tuple[Captions | None, list[Captions]]:
    """Caption sets of which some system lacks images that the references, or the others, have.

    `skip` leaves these images out everywhere, `zero` gives the system an empty caption for each, `error` changes none.
    """
    if on_missing == "error":
        return references, [*systems]
    described = [*systems] if references is None else [references]
    images = dict.fromkeys(image for captions in described for image in captions.image_ids)
    sets = [{image: texts for image, texts in captions.to_dict().items() if texts} for captions in systems]
    missing = [[image for image in images if image not in captions] for captions in sets]
    if on_missing == "skip":
        out = [image for lacking in missing for image in lacking]
        return references and without_images(references, out), [without_images(captions, out) for captions in systems]
    return references, [
        _named(Captions.from_dict({**captions, **{image: [""] for image in lacking}}), given)
        for captions, lacking, given in zip(sets, missing, systems, strict=True)
    ]


def without_images(captions: Captions, images: Iterable[str]) -> Captions:
    """The captions of the other images. Images that it does not have are ignored."""
    left_out = {*images} & {*captions.image_ids}
    if not left_out:
        return captions
    rest = {image: texts for image, texts in captions.to_dict().items() if image not in left_out}
    return _named(Captions.from_dict(rest), captions)


def united_captions(files: Sequence[Captions]) -> Captions:
    """The captions of several files: of each image those of the first file, then those of the next."""
    if len(files) == 1:
        return files[0]
    texts: dict[str, list[str]] = {}
    for captions in files:
        for image, captions_of_image in captions.to_dict().items():
            texts.setdefault(image, []).extend(captions_of_image)
    return _named(Captions.from_dict(texts), files[0])


def _named(captions: Captions, given: Captions) -> Captions:
    """The captions, which messages call what those are called of which they were made."""
    return captions if given.source is None else captions.named(given.source)
