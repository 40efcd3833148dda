"""Captions of other images than were given: of those that references have, of those that all systems have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sacrecap._core import Captions


def of_known_images(candidates: Captions, references: Captions) -> Captions:
    """The candidates of images that have references; all of them if no image has any, so that an error can say why."""
    extra = [image for image in candidates.image_ids if image not in references]
    if len(extra) == candidates.image_count:
        return candidates
    return without_images(candidates, extra).leaving_out("extra candidate", len(extra))


def of_same_images(
    references: Captions | None, systems: Sequence[Captions], on_missing: str
) -> tuple[Captions | None, list[Captions], list[int]]:
    """Caption sets of which some system lacks images that the references, or the others, have; and how many of these
    each has an empty caption of.

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
