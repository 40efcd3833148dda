"""The file of a study from references and systems."""

from __future__ import annotations

import base64
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations, cycle, islice
from typing import Any

from sacrecap.data.images import ImageFile, ImageSource
from sacrecap.data.source import PathLike
from sacrecap.data.thumbnails import thumbnail
from sacrecap.errors import DataError, UsageError, accepted_name, some
from sacrecap_studies import KINDS

Sentences = Mapping[str, Sequence[str]]
"""Sentences by image."""

CATEGORIES = ("HC", "HI", "HM", "MM")
"""Two references; a reference and another image's; a reference and a system's caption; two systems' captions."""
HUMAN = "human"
SIDE = 1280
"""Longest side of an image inside a study's file, in pixels: what fills a screen beside a question."""


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
    practice: int = 0,
    seed: int = 0,
) -> dict[str, Any]:
    """A study of all images that every system described, as `read_design` takes it; images are added by the caller.

    Args:
        kind: one of `KINDS`.
        references: human sentences of each image; for a collection, only its image ids count.
        systems: captions (one per image; for diversity, several) by name.
        categories: which pairs triplets and pairwise studies have, of `CATEGORIES`. References that become part of a
            pair are not references of that pair.
        items: draw this many; all by default.
        judgments: people per item; the protocol's number by default.
        gold: questions whose answer is known, made of references. Which side is right is drawn.
        attention: the same, so simple that whoever reads gets them right.
        practice: questions like `gold` that people do first; they are shown the known answers.
        seed: seed of everything random.

    Raises:
        UsageError: an unknown kind or category, or too few systems for it.
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
    numbers = {"gold": gold, "attention": attention, "practice": practice}
    if any(numbers.values()):
        sets = made[0].get("sets", [{"captions": []}])
        checks = _checks(kind, references, numbers, (len(sets), len(sets[0]["captions"])), chance)
        study |= {role: {"items": items} for role, items in checks.items() if items}
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
        "image_id": image,
        "references": references,
        "b": b,
        "c": c,
        "b_system": b_system,
        "c_system": c_system,
        "category": category,
    }


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


def _checks(
    kind: str, references: Sentences, numbers: Mapping[str, int], sizes: tuple[int, int], chance: random.Random
) -> dict[str, list[dict[str, Any]]]:
    """So many questions with known answers for each role, made of references; of different images while they last."""
    usable = [image for image, sentences in references.items() if len(set(sentences)) > 1]
    least = max(2, *numbers.values())
    if len(usable) < least:
        raise DataError(
            f"questions with known answers need --references with two sentences or more of each of {least} images; "
            f"got {len(usable)}"
        )
    chance.shuffle(usable)
    images = cycle(usable)
    words = _telling_words(references) if kind == "collection" else {}
    made: dict[str, list[dict[str, Any]]] = {}
    for role, number in numbers.items():
        made[role] = []
        for image in islice(images, number):
            own = list(dict.fromkeys(references[image]))
            if kind == "collection":
                made[role].append({"image_id": image, "answer": words[image]})
            elif kind == "diversity":
                made[role].append({"image_id": image, **_known_sets(own, references, image, sizes, role, chance)})
            else:
                shown = {"a": own[0]} if kind == "triplet" else {"image_id": image}
                made[role].append({**shown, **_known_side(kind, role, own, references, image, chance)})
    return made


def _known_side(
    kind: str, role: str, own: list[str], references: Sentences, image: str, chance: random.Random
) -> dict[str, str]:
    """The image's sentence beside another image's, on sides that are drawn.

    For attention, what is wrong can be seen without knowing the language of images: the right sentence of a triplet is
    A itself, and the wrong one under an image has its words in disorder.
    """
    right, wrong = own[1], _other(references, image, chance) or ""
    if role == "attention":
        right = own[0]
        wrong = _in_disorder(wrong, chance) if kind == "pairwise" else wrong
    pair = {"b": right, "c": wrong, "answer": "b"}
    return pair if chance.random() < 0.5 else {"b": wrong, "c": right, "answer": "c"}


def _in_disorder(sentence: str, chance: random.Random) -> str:
    words = sentence.rstrip(".").split()
    return " ".join(chance.sample(words, len(words)))


def _known_sets(
    own: list[str], references: Sentences, image: str, sizes: tuple[int, int], role: str, chance: random.Random
) -> dict[str, Any]:
    """A set of one sentence again and again, beside sets of different ones: as many and as long as a page has.

    The different ones are the image's own; for attention they are of many images.
    """
    count, size = sizes
    others = list(dict.fromkeys(one for each, some in references.items() if each != image for one in some))
    chance.shuffle(others)
    pool = others if role == "attention" else own + others
    sets = [{"system": "same", "captions": [own[0]] * size}]
    for number in range(1, count):
        captions = chance.sample(pool[: max(size, len(own))], min(size, len(pool)))
        sets.append({"system": f"different-{number}", "captions": captions})
    return {"sets": chance.sample(sets, count), "answer": {"same": [0, 0.3]}}


def _telling_words(references: Sentences) -> dict[str, list[str]]:
    """Words of each image's sentences that few other images have: what a description of it can hardly do without."""
    words = {
        image: Counter(word for one in sentences for word in set(re.findall(r"[^\W\d_]{4,}", one.casefold())))
        for image, sentences in references.items()
    }
    images = Counter(word for counts in words.values() for word in counts)
    common = max(1, len(references) // 5)
    return {
        image: [word for word in counts if images[word] <= common] or list(counts) for image, counts in words.items()
    }


def images_of(place: PathLike | ImageSource, image_ids: Sequence[str]) -> dict[str, str]:
    """The images of a study by id, as its file has them: web addresses, or copies as `data:` URLs.

    Copies are WebP files of at most `SIDE` pixels at the longer side, without what cameras write into files.

    Args:
        place: a folder, a tar file, or a pattern of files or addresses, as `ImageSource.open` takes it.
        image_ids: ids of the images that the study shows.

    Raises:
        DataError: an image has no file, or its file cannot be shown.
        MissingDependencyError: Pillow, which copies need, is not installed.
        UsageError: as `ImageSource.open`.
    """
    source = ImageSource.open(place)
    found = source.find_all(image_ids)
    missing = [image for image in image_ids if image not in found]
    if missing:
        raise DataError(f"{source.description}: no file was found for {some(missing)}")
    return {image: file.address or _data_url(file) for image, file in found.items()}


def _data_url(file: ImageFile) -> str:
    return f"data:image/webp;base64,{base64.b64encode(thumbnail(file.read(), file.name, SIDE)).decode()}"
