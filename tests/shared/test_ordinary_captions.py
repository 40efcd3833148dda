"""Nothing but what is so is found in ordinary captions: of twelve systems and people, and of English paragraphs."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import sacrecap
from sacrecap.scoring.findings import Finding

References = dict[str, list[str]]
Captions = dict[str, str]


def opened(path: Path) -> Any:
    return json.loads(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def coco(path: Path) -> References:
    references: References = {}
    for row in opened(path)["annotations"]:
        references.setdefault(str(row["image_id"]), []).append(row["caption"])
    return references


def flickr8k(shared: Path) -> tuple[References, Captions]:
    """The test split: four captions as references, the fifth as the candidate."""
    folder = shared / "data" / "flickr8k"
    images = {*(folder / "Flickr_8k.testImages.txt").read_text().split()}
    captions: References = {}
    for line in (folder / "Flickr8k.token.txt").read_text(encoding="utf-8").splitlines():
        name, _, text = line.partition("\t")
        if name.partition("#")[0] in images:
            captions.setdefault(name.partition("#")[0], []).append(text)
    return {image: own[:4] for image, own in captions.items()}, {image: own[4] for image, own in captions.items()}


def systems(shared: Path) -> Iterator[tuple[str, References, Captions]]:
    data = shared / "data"
    references = coco(data / "coco-val2017" / "captions_val2017.json")
    for path in sorted((data / "coco-val2017" / "systems").iterdir()):
        yield path.stem, references, {str(row["image_id"]): row["caption"] for row in opened(path)}
    own = {str(image): texts for image, texts in opened(data / "long" / "coco-references.json.gz").items()}
    for name in ("blip2", "m2_transformer", "llava-1.5-7b_briefly"):
        yield name, own, opened(data / "long" / f"coco-{name}.json.gz")
    sets = opened(data / "diversity-5k" / "sets.json")
    for place in (0, 9):
        yield f"set {place}", references, {str(row["image_id"]): row["captions"][place] for row in sets}
    two = data / "flickr8k-2k"
    yield "people", opened(two / "references.json"), opened(two / "candidates.json")
    yield ("fifth", *flickr8k(shared))


def paragraphs(shared: Path) -> Iterator[tuple[str, References, Captions]]:
    long = shared / "data" / "long"
    rows = dict(enumerate(opened(long / "d-foil-even.json.gz")))
    for name in ("human_corrected_hall_caption", "hall_caption"):
        yield (
            f"d-foil {name}",
            {str(number): [row["caption"]] for number, row in rows.items()},
            {str(number): row[name] for number, row in rows.items()},
        )
    llava = opened(long / "coco-llava-1.5-7b_default.json.gz")
    yield "llava", opened(long / "coco-references.json.gz"), llava
    for name, texts in (
        ("discosg", [row["caption"] for row in opened(long / "discosg-graphs-300.json.gz")]),
        ("rubric", [row["gt_caption"] for row in lines(long / "rubric-captions.jsonl.gz")]),
    ):
        # Each half of its sentences against the other.
        halves = {str(number): text.split(". ") for number, text in enumerate(texts) if text.count(". ") > 3}
        yield (
            name,
            {image: [". ".join(parts[::2])] for image, parts in halves.items()},
            {image: ". ".join(parts[1::2]) for image, parts in halves.items()},
        )


def found(references: References, captions: Captions) -> list[Finding]:
    shared_images = {image: references[image] for image in references if image in captions}
    own = {image: captions[image] for image in shared_images}
    return sacrecap.score(shared_images, own, "bleu-1", interval=None).findings


TRUE = {"Dai-et-al-2017": ["token"], "set 0": ["token"], "set 9": ["token"], "llava-1.5-7b_briefly": ["prefix"]}
"""Some captions of two published systems say UNK; nearly all of LLaVA's begin with “The image features”."""


def test_of_twelve_systems_only_what_is_so_is_found(shared: Path) -> None:
    kinds = {name: [one.kind for one in found(references, own)] for name, references, own in systems(shared)}
    assert len(kinds) == 12
    assert {name: own for name, own in kinds.items() if own} == TRUE


def test_of_paragraphs_only_what_is_so(shared: Path) -> None:
    """They are longer than the references, or Markdown, or, LLaVA's, begin with “The image”."""
    for name, references, captions in paragraphs(shared):
        kinds = {one.kind for one in found(references, captions)}
        assert kinds <= {"length", "markdown", *(["prefix"] if name == "llava" else [])}, name


def moved(captions: Captions, share: float, seed: int) -> Captions:
    """This share of the captions on ids of others of them."""
    images = sorted(captions)
    random.Random(seed).shuffle(images)
    chosen = images[: round(share * len(images))]
    return {
        **captions,
        **{image: captions[other] for image, other in zip(chosen, chosen[1:] + chosen[:1], strict=True)},
    }


@pytest.mark.parametrize("share", [0.5, 0.6, 1.0])
def test_captions_of_other_images_are_found_from_half_of_the_file_on(shared: Path, share: float) -> None:
    for name, references, captions in systems(shared):
        kinds = [one.kind for one in found(references, moved(captions, share, seed=len(name)))]
        assert kinds == [*TRUE.get(name, []), "wrong-image"], (name, share)


def test_half_of_a_file_shifted_by_a_row_is_found(shared: Path) -> None:
    """Of 600 images also in which direction."""
    references, captions = flickr8k(shared)
    images = sorted(captions)[:600]
    for start, end in ((0, 300), (300, 600), (0, 600)):
        part = images[start:end]
        shifted = {image: captions[image] for image in images}
        shifted |= {image: captions[other] for image, other in zip(part, part[1:] + part[:1], strict=True)}
        [one] = found({image: references[image] for image in images}, shifted)
        assert one.kind == "wrong-image"
        assert "the next image" in one.message


CHANGES: dict[str, Callable[[str], str]] = {
    "prefix": lambda caption: f"a photo of {caption}",
    "token": lambda caption: f"startseq {caption} endseq",
    "json": lambda caption: f'```json\n{{"caption": "{caption}"}}\n```',
    "lines": lambda caption: f"{caption}\n{caption}",
}


@pytest.mark.parametrize("kind", CHANGES)
def test_what_is_planted_in_four_of_five_captions_is_found(shared: Path, kind: str) -> None:
    for name, references, captions in systems(shared):
        odd = {image: CHANGES[kind](text) if n % 5 else text for n, (image, text) in enumerate(captions.items())}
        assert kind in [one.kind for one in found(references, odd)], name
