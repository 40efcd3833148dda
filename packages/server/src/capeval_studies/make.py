"""The file of a study from references and systems."""

from __future__ import annotations

import base64
import random
import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any
from urllib.parse import quote

from capeval.errors import DataError, UsageError, accepted_name, some
from capeval_studies import KINDS
from capeval_studies.design import MOST_IMAGE_BYTES

Sentences = Mapping[str, Sequence[str]]
"""Sentences by image."""

CATEGORIES = ("HC", "HI", "HM", "MM")
"""Two references; a reference and another image's; a reference and a system's caption; two systems' captions."""
HUMAN = "human"
MEDIA_TYPES = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg", ".gif": "gif", ".webp": "webp"}
_ADDRESS = re.compile(r"\{image_id(?::0?([1-9][0-9]?))?\}")


def make_study(
    kind: str,
    references: Sentences,
    systems: Mapping[str, Sentences],
    *,
    categories: Sequence[str] = ("MM",),
    items: int | None = None,
    judgments: int | None = None,
    gold: int = 0,
    attention: int = 0,
    seed: int = 0,
) -> dict[str, Any]:
    """A study of all images that every system described, as `read_design` takes it; images are added by the caller.

    Args:
        kind: one of `KINDS`.
        references: human sentences of each image; for a collection, only its image ids count.
        systems: captions (one per image; for diversity, several) by name.
        categories: which pairs triplets and pairwise studies have, of `CATEGORIES`. References that become part of a
            pair are not references of that pair.
        items: draw so many; all by default.
        judgments: people per item; the protocol's number by default.
        gold: questions whose answer is known, made of references.
        attention: triplets that repeat a sentence.
        seed: of all that is drawn.

    Raises:
        UsageError: a kind or category that there is not, or too few systems for it.
        DataError: nothing can be made of these captions.
    """
    accepted_name("KIND", kind, list(KINDS))
    chance = random.Random(seed)
    if kind == "collection":
        made: list[dict[str, Any]] = [{"image_id": image} for image in references]
    elif kind == "diversity":
        made = _sets(references, systems)
    else:
        made = _pairs(references, systems, categories, chance)
    if not made:
        raise DataError("nothing to ask: no image has what this study needs; every system must describe the image")
    if items is not None and items < len(made):
        made = [made[place] for place in sorted(chance.sample(range(len(made)), items))]
    study: dict[str, Any] = {"study": kind, "judgments": judgments or KINDS[kind].judgments}
    if gold:
        study["gold"] = {"items": _gold(kind, references, gold, chance)}
    if attention:
        study["attention"] = {"policy": "exclude", "items": _attention(kind, references, attention, chance)}
    return {**study, "items": made}


def _pairs(
    references: Sentences, systems: Mapping[str, Sentences], categories: Sequence[str], chance: random.Random
) -> list[dict[str, Any]]:
    for category in categories:
        accepted_name("--categories", category, CATEGORIES)
    if "MM" in categories and len(systems) < 2:
        raise UsageError(f"pairs of two systems (MM) need two systems or more, got {len(systems)}: --systems A B")
    if "HM" in categories and not systems:
        raise UsageError("pairs of a person and a system (HM) need a system: --systems A")
    images = [image for image in references if all(system.get(image) for system in systems.values())]
    found = []
    for image in images:
        for category in categories:
            for b, c in _of_category(category, image, references, systems, chance):
                pair = [b, c] if chance.random() < 0.5 else [c, b]
                left = [one for one in references[image] if one not in (b[1], c[1])]
                if left and b[1] != c[1]:
                    found.append(_item(image, left, pair, category))
    return found


def _item(image: str, references: list[str], pair: list[tuple[str, str]], category: str) -> dict[str, Any]:
    (b_system, b), (c_system, c) = pair
    return {
        "image_id": image, "references": references, "b": b, "c": c, "b_system": b_system, "c_system": c_system,
        "category": category,
    }  # fmt: skip


def _of_category(
    category: str, image: str, references: Sentences, systems: Mapping[str, Sentences], chance: random.Random
) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """Pairs of (who, sentence)."""
    own = list(references[image])
    chance.shuffle(own)
    captions = [(name, system[image][0]) for name, system in systems.items()]
    if category == "MM":
        return list(combinations(captions, 2))
    if category == "HM":
        return [((HUMAN, own[place % len(own)]), caption) for place, caption in enumerate(captions)]
    if category == "HC":
        return [((HUMAN, own[0]), (HUMAN, own[1]))] if len(own) > 1 else []
    other = _other(references, image, chance)
    return [((HUMAN, own[0]), (HUMAN, other))] if other is not None else []


def _other(references: Sentences, image: str, chance: random.Random) -> str | None:
    """A reference of another image."""
    others = [each for each, sentences in references.items() if each != image and sentences]
    return chance.choice(references[chance.choice(others)]) if others else None


def _sets(references: Sentences, systems: Mapping[str, Sentences]) -> list[dict[str, Any]]:
    if len(systems) < 2:
        raise UsageError(f"a diversity study compares two systems or more, got {len(systems)}: --systems A B")
    first = next(iter(systems.values()))
    images = [image for image in first if all(len(system.get(image, ())) > 1 for system in systems.values())]
    return [
        {
            "image_id": image,
            "sets": [{"system": name, "captions": list(system[image])} for name, system in systems.items()],
            **({"references": list(references[image])} if references.get(image) else {}),
        }
        for image in images
    ]


def _gold(kind: str, references: Sentences, number: int, chance: random.Random) -> list[dict[str, Any]]:
    if kind == "collection":
        raise UsageError("sentences have no known answers, so --gold is for triplet, pairwise and diversity")
    made: list[dict[str, Any]] = []
    for image, own in _drawn(references, number, chance):
        if kind == "diversity":
            sets = [{"system": "same", "captions": [own[0]] * len(own)}, {"system": "different", "captions": own}]
            made.append({"image_id": image, "sets": sets, "answer": {"same": [0, 0.3]}})
        else:
            place = {"a": own[0]} if kind == "triplet" else {"image_id": image}
            made.append({**place, **_known(own[1], references, image, chance)})
    return made


def _attention(kind: str, references: Sentences, number: int, chance: random.Random) -> list[dict[str, Any]]:
    if kind != "triplet":
        raise UsageError("--attention makes triplets that repeat their first sentence; other kinds have --gold")
    return [
        {"a": own[0], **_known(own[0], references, image, chance)} for image, own in _drawn(references, number, chance)
    ]


def _known(own: str, references: Sentences, image: str, chance: random.Random) -> dict[str, str]:
    """The image's sentence beside another image's."""
    other = _other(references, image, chance)
    return {"b": own, "c": other or "", "answer": "b"}


def _drawn(references: Sentences, number: int, chance: random.Random) -> list[tuple[str, list[str]]]:
    """Images with two references or more, which another image's can be set beside."""
    usable = [image for image, sentences in references.items() if len(set(sentences)) > 1]
    if len(usable) < max(number, 2):
        raise DataError(f"checks need two references or more of each of {max(number, 2)} images; got {len(usable)}")
    return [(image, list(dict.fromkeys(references[image]))) for image in chance.sample(usable, number)]


def images_at(address: str, image_ids: Sequence[str]) -> dict[str, str]:
    """Web addresses: `{image_id}` stands for the id, `{image_id:012}` for the id with zeros up to 12 digits."""
    if not _ADDRESS.search(address):
        raise UsageError(f"--image-url must have {{image_id}} in it, or {{image_id:012}}, got {address!r}")
    return {
        image: _ADDRESS.sub(lambda found, image=image: quote(image.zfill(int(found[1] or 0)), safe=""), address)  # type: ignore[misc]
        for image in image_ids
    }


def images_in(folder: Path, image_ids: Sequence[str] | None) -> dict[str, str]:
    """The files of a folder as `data:` URLs, by image id: the file's name with or without its suffix.

    Without ids, all pictures of the folder. Raises `DataError` for a folder that lacks one, and for a large file.
    """
    if not folder.is_dir():
        raise DataError(f"--images {folder}: no such folder")
    files = {path.name: path for path in sorted(folder.iterdir()) if path.suffix.lower() in MEDIA_TYPES}
    stems = {path.stem: path for path in files.values()}
    if image_ids is None:
        image_ids = list(stems)
    missing = [image for image in image_ids if image not in files and image not in stems]
    if missing:
        raise DataError(f"--images {folder}: no {', '.join(MEDIA_TYPES)} file for {some(missing)}")
    return {image: _data_url(files.get(image) or stems[image]) for image in image_ids}


def _data_url(path: Path) -> str:
    data = path.read_bytes()
    if len(data) > MOST_IMAGE_BYTES:
        raise DataError(f"{path}: {len(data):,} bytes; an image may have {MOST_IMAGE_BYTES:,}: make it smaller")
    return f"data:image/{MEDIA_TYPES[path.suffix.lower()]};base64,{base64.b64encode(data).decode()}"
