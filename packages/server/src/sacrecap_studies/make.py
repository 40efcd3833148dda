"""The file of a study from references and systems."""

from __future__ import annotations

import base64
import hashlib
import random
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations, cycle, islice
from typing import Any

from sacrecap.data.images import ImageFile, ImageSource
from sacrecap.data.source import PathLike
from sacrecap.data.thumbnails import thumbnail
from sacrecap.errors import DataError, UsageError, accepted_name, some
from sacrecap_studies.kinds import KINDS, StudyKind
from sacrecap_studies.questions import Scale

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
    telling: tuple[PathLike, PathLike] | None = None,
    per_category: int | None = None,
    references_per_item: int | None = None,
    together: bool = False,
    questions: Sequence[Mapping[str, Any]] | None = None,
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
        telling: scores of all captions, and the first ratings: draw the items whose ratings would tell most, with their
            `inclusion`, as [`sacrecap.judgments.telling`][] does.
        per_category: draw this many pairs of each category, with each system in roughly equal numbers.
        references_per_item: draw this many references of each pair; all by default.
        together: whether all captions of an image are on one page, where they are rated.
        questions: what a study of the kind `questions` asks, as its file has them.
        judgments: people per item; the protocol's number by default.
        gold: questions whose answer is known, made of references. Which side is right is drawn.
        attention: the same, so simple that whoever reads gets them right.
        practice: questions like `gold` that people do first; they are shown the known answers.
        seed: seed of everything random.

    Raises:
        UsageError: an unknown kind or category, or too few systems for it.
        DataError: nothing can be made of these captions, or too little.
    """
    accepted_name("KIND", kind, list(KINDS))
    asked = {} if questions is None else {"questions": list(questions)}
    protocol = KINDS[kind].asking(asked)
    chance = random.Random(seed)
    if (per_category or references_per_item) is not None and not protocol.has_pairs:
        raise UsageError("--per-category and --references-per-item are for studies of pairs")
    if per_category is not None and items is not None:
        raise UsageError("--per-category N and --items N say both how many items there are; leave one out")
    if protocol.has_pairs:
        made = _pairs(references, systems, categories, chance)
        made = _drawn(made, categories, per_category, references_per_item, chance)
    elif protocol.forms == ("sets",):
        made = _sets(references, systems)
    elif protocol.forms:
        made = _captions(references, systems, together=together)
    else:
        made = [{"image_id": image} for image in references]
    if not made:
        raise DataError("nothing to ask: no image has what this study needs; every system must describe the image")
    if telling is not None:
        made = _telling(made, items, *telling, seed)
    elif items is not None and items < len(made):
        made = [made[place] for place in sorted(chance.sample(range(len(made)), items))]
    study: dict[str, Any] = {"study": kind, **asked, "judgments": judgments or protocol.judgments}
    numbers = {"gold": gold, "attention": attention, "practice": practice}
    return {**study, **_with_checks(protocol, references, numbers, made[0], chance), "items": made}


def _telling(
    made: Sequence[dict[str, Any]], number: int | None, scores: PathLike, ratings: PathLike, seed: int
) -> list[dict[str, Any]]:
    """So many of the items, those whose ratings would tell most, each with its inclusion."""
    from sacrecap.judgments import telling

    if number is None:
        raise UsageError("--telling draws items by what they would tell; say how many: --items N")
    if not all("b" in item or "caption" in item for item in made):
        raise UsageError("--telling is for studies of pairs, and of captions that stand alone on a page")
    questions = [(item["image_id"], _shown(item)) for item in made]
    drawn = telling(questions, number, scores, ratings, seed=seed)
    return [{**made[place], "inclusion": inclusion} for place, inclusion in drawn.items()]


def _shown(item: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Who wrote each caption that an item shows."""
    if "b" in item:
        return [(item["b_system"], item["b"]), (item["c_system"], item["c"])]
    return [(item["system"], item["caption"])]


def _with_checks(
    kind: StudyKind, references: Sentences, numbers: Mapping[str, int], item: dict[str, Any], chance: random.Random
) -> dict[str, Any]:
    """The roles' fields of the file; their questions show as much as an item does."""
    if not any(numbers.values()):
        return {}
    sets = item.get("sets", [{"captions": []}])
    made = _checks(kind, references, numbers, (len(sets), len(sets[0]["captions"])), chance)
    return {role: {"items": known} for role, known in made.items() if known}


def _drawn(
    pairs: list[dict[str, Any]],
    categories: Sequence[str],
    per_category: int | None,
    references: int | None,
    chance: random.Random,
) -> list[dict[str, Any]]:
    """The pairs and their references, as many as are wanted."""
    if per_category is not None:
        pairs = [pair for name in categories for pair in _balanced(pairs, name, per_category, chance)]
    return pairs if references is None else [_with_references(pair, references, chance) for pair in pairs]


def _balanced(
    pairs: Sequence[dict[str, Any]], category: str, number: int, chance: random.Random
) -> list[dict[str, Any]]:
    """So many pairs of a category: one after the other of the systems that were drawn least."""
    by_systems: dict[frozenset[str], list[dict[str, Any]]] = defaultdict(list)
    for pair in pairs:
        if pair["category"] == category:
            by_systems[frozenset((pair["b_system"], pair["c_system"]))].append(pair)
    there = sum(map(len, by_systems.values()))
    if there < number:
        raise DataError(f"--per-category {number:,}: there are {there:,} pairs of {category}; ask for fewer")
    for some_pairs in by_systems.values():
        chance.shuffle(some_pairs)
    drawn: list[dict[str, Any]] = []
    used: Counter[str] = Counter()
    for _ in range(number):
        least = min((one for one in by_systems if by_systems[one]), key=lambda one: sum(used[name] for name in one))
        drawn.append(by_systems[least].pop())
        used.update(least)
    return drawn


def _with_references(pair: dict[str, Any], number: int, chance: random.Random) -> dict[str, Any]:
    left = pair["references"]
    if len(left) < number:
        raise DataError(
            f"--references-per-item {number:,}: image {pair['image_id']} has {len(left):,} besides those of the pair"
        )
    return {**pair, "references": [left[place] for place in sorted(chance.sample(range(len(left)), number))]}


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
        "pair": hashlib.sha256("\n".join([image, *sorted((b, c))]).encode()).hexdigest()[:12],
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


def _captions(references: Sentences, systems: Mapping[str, Sentences], *, together: bool) -> list[dict[str, Any]]:
    """Captions to rate, one a page, or all of an image."""
    if not systems:
        raise UsageError("the captions to rate are missing: --systems FILE")
    found: list[dict[str, Any]] = []
    for image in dict.fromkeys(image for system in systems.values() for image in system):
        own = [(name, system[image][0]) for name, system in systems.items() if system.get(image)]
        common: dict[str, Any] = {"references": list(references[image])} if references.get(image) else {}
        if together and len(own) > 1:
            sets = [{"system": name, "captions": [caption]} for name, caption in own]
            found.append({"image_id": image, "sets": sets, **common})
        else:
            found += [{"image_id": image, "caption": text, "system": name, **common} for name, text in own]
    return found


def _checks(
    kind: StudyKind, references: Sentences, numbers: Mapping[str, int], sizes: tuple[int, int], chance: random.Random
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
    words = _telling_words(references) if not kind.forms else {}
    made: dict[str, list[dict[str, Any]]] = {}
    for role, number in numbers.items():
        made[role] = []
        for image in islice(images, number):
            own = list(dict.fromkeys(references[image]))
            shown = {"a": own[0]} if kind.has_several_pages else {"image_id": image}
            if not kind.forms:
                known: dict[str, Any] = {"answer": words[image]}
            elif kind.has_pairs:
                known = _known_side(kind, role, own, references, image, chance)
            elif kind.forms == ("sets",):
                known = _known_sets(own, references, image, sizes, role, chance)
            else:
                known = _known_ratings(kind, own, references, image, sizes[0], role, chance)
            made[role].append({**shown, **known})
    return made


def _known_side(
    kind: StudyKind, role: str, own: list[str], references: Sentences, image: str, chance: random.Random
) -> dict[str, str]:
    """The image's sentence beside another image's, on sides that are drawn.

    For attention, what is wrong can be seen without knowing the language of images: the right sentence of a triplet is
    A itself, and the wrong one under an image has its words in disorder.
    """
    right, wrong = own[1], _other(references, image, chance) or ""
    if role == "attention":
        right = own[0]
        wrong = wrong if kind.has_several_pages else _in_disorder(wrong, chance)
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


def _known_ratings(
    kind: StudyKind, own: list[str], references: Sentences, image: str, count: int, role: str, chance: random.Random
) -> dict[str, Any]:
    """A sentence of the image, in the upper half of the scale, and sentences of other images, in the lower half.

    Of one caption a page, it is one or the other. For attention, the words of the others are in disorder.
    """
    scale = kind.main
    if not isinstance(scale, Scale):
        raise UsageError(f"known answers can be made for scales only, and {scale.name} is none")
    half = len(scale.points) // 2
    upper, lower = [scale.points[-half], scale.points[-1]], [scale.points[0], scale.points[half - 1]]
    captions = [("own", own[0], upper)]
    for number in range(1, max(count, 2)):
        wrong = _other(references, image, chance) or ""
        captions.append((f"other-{number}", _in_disorder(wrong, chance) if role == "attention" else wrong, lower))
    if count < 2:
        _, caption, answer = chance.choice(captions)
        known: Any = answer
        shown: dict[str, Any] = {"caption": caption}
    else:
        chance.shuffle(captions)
        known = {name: answer for name, _, answer in captions}
        shown = {"sets": [{"system": name, "captions": [caption]} for name, caption, _ in captions]}
    return {**shown, "answer": known if len(kind.questions) == 1 else {scale.name: known}}


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
