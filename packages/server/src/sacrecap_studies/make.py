"""The file of a study from references and systems."""

from __future__ import annotations

import base64
import hashlib
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, cycle, islice
from pathlib import Path
from typing import Any

from sacrecap.data.images import ImageSource
from sacrecap.data.thumbnails import thumbnail
from sacrecap.errors import DataError, DataWarning, UsageError, accepted_name, some, warn
from sacrecap_studies.field_reader import LONGEST
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

    A caption that is blank, or longer than a page shows, is left out with a `DataWarning` that names its system and
    image, as if the system had said nothing of the image; a reference, too.

    Args:
        kind: one of `KINDS`.
        references: human sentences of each image; for a collection, only its image ids count.
        systems: captions (one per image; for diversity, several) by name.
        categories: which pairs triplets and pairwise studies have, of `CATEGORIES`. References that become part of a
            pair are not references of that pair.
        items: draw this many; all by default.
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
    settings = {} if questions is None else {"questions": list(questions)}
    protocol = KINDS[kind].asking(settings)
    if (per_category or references_per_item) is not None and not protocol.has_pairs:
        raise UsageError("--per-category and --references-per-item are for studies of pairs")
    if per_category is not None and items is not None:
        raise UsageError("--per-category N and --items N say both how many items there are; leave one out")
    references = _showable(references, "the references")
    systems = {name: _showable(system, name) for name, system in systems.items()}
    maker = _Maker(protocol, references, systems, random.Random(seed))
    if protocol.has_pairs:
        items_made = maker.pairs(categories, per_category, references_per_item)
    elif protocol.forms == ("sets",):
        items_made = maker.sets()
    elif protocol.forms:
        items_made = maker.captions(together=together)
    else:
        items_made = [{"image_id": image} for image in references]
    if not items_made:
        raise DataError("nothing to ask: no image has what this study needs; every system must describe the image")
    if items is not None and items < len(items_made):
        items_made = [items_made[place] for place in sorted(maker.chance.sample(range(len(items_made)), items))]
    study: dict[str, Any] = {"study": kind, **settings, "judgments": judgments or protocol.judgments}
    checks = maker.checks({"gold": gold, "attention": attention, "practice": practice}, items_made[0])
    return {**study, **checks, "items": items_made}


@dataclass(frozen=True)
class _Maker:
    """What a study is made of; all draws are of one sequence."""

    kind: StudyKind
    references: Sentences
    systems: Mapping[str, Sentences]
    chance: random.Random

    def pairs(
        self, categories: Sequence[str], per_category: int | None, references_per_item: int | None
    ) -> list[dict[str, Any]]:
        """Pairs and their references, as many as are wanted."""
        for category in categories:
            accepted_name("--categories", category, CATEGORIES)
        if "MM" in categories and len(self.systems) < 2:
            raise UsageError(
                f"pairs of two systems (MM) need two systems or more, got {len(self.systems)}: --systems A B"
            )
        if "HM" in categories and not self.systems:
            raise UsageError("pairs of a person and a system (HM) need a system: --systems A")
        images = [image for image in self.references if all(system.get(image) for system in self.systems.values())]
        pairs = [pair for image in images for category in categories for pair in self._pairs_of(category, image)]
        if per_category is not None:
            pairs = [pair for name in categories for pair in self._balanced(pairs, name, per_category)]
        if (number := references_per_item) is None:
            return pairs
        for place, pair in enumerate(pairs):
            left, image = pair["references"], pair["image_id"]
            if len(left) < number:
                text = f"--references-per-item {number:,}: image {image} has {len(left):,} besides those of the pair"
                raise DataError(text)
            drawn = sorted(self.chance.sample(range(len(left)), number))
            pairs[place] = {**pair, "references": [left[reference] for reference in drawn]}
        return pairs

    def _pairs_of(self, category: str, image: str) -> Iterator[dict[str, Any]]:
        """The pairs of one image that differ, and leave a reference to compare them with."""
        sentences = list(self.references[image])
        self.chance.shuffle(sentences)
        people = [(HUMAN, text) for text in sentences]
        captions = [(name, system[image][0]) for name, system in self.systems.items()]
        if category == "MM":
            pairs = list(combinations(captions, 2))
        elif not people:
            pairs = []
        elif category == "HM":
            pairs = [(people[place % len(people)], caption) for place, caption in enumerate(captions)]
        elif category == "HC":
            pairs = [(people[0], people[1])] if len(people) > 1 else []
        else:
            other_caption = self._caption_of_another(image)
            pairs = [(people[0], (HUMAN, other_caption))] if other_caption is not None else []
        for pair in pairs:
            (b_system, b), (c_system, c) = pair if self.chance.random() < 0.5 else pair[::-1]
            left = [sentence for sentence in self.references[image] if sentence not in (b, c)]
            if left and b != c:
                yield {
                    "pair": hashlib.sha256("\n".join([image, *sorted((b, c))]).encode()).hexdigest()[:12],
                    "image_id": image,
                    "references": left,
                    "b": b,
                    "c": c,
                    "b_system": b_system,
                    "c_system": c_system,
                    "category": category,
                }

    def _caption_of_another(self, image: str) -> str | None:
        """A reference of another image."""
        other_images = [name for name, sentences in self.references.items() if name != image and sentences]
        return self.chance.choice(self.references[self.chance.choice(other_images)]) if other_images else None

    def _balanced(self, pairs: Sequence[dict[str, Any]], category: str, number: int) -> list[dict[str, Any]]:
        """So many pairs of a category: one after the other of the systems that were drawn least."""
        by_systems: dict[frozenset[str], list[dict[str, Any]]] = defaultdict(list)
        for pair in pairs:
            if pair["category"] == category:
                by_systems[frozenset((pair["b_system"], pair["c_system"]))].append(pair)
        there = sum(map(len, by_systems.values()))
        if there < number:
            raise DataError(f"--per-category {number:,}: there are {there:,} pairs of {category}; ask for fewer")
        for some_pairs in by_systems.values():
            self.chance.shuffle(some_pairs)
        drawn: list[dict[str, Any]] = []
        used: Counter[str] = Counter()
        for _ in range(number):
            left = [pair for pair in by_systems if by_systems[pair]]
            least = min(left, key=lambda pair: sum(used[name] for name in pair))
            drawn.append(by_systems[least].pop())
            used.update(least)
        return drawn

    def sets(self) -> list[dict[str, Any]]:
        """Sets of captions, a page for each image of which every system has several; people's are one, if there are
        references.
        """
        systems = {**self.systems, **({HUMAN: self.references} if self.references else {})}
        if len(systems) < 2:
            raise UsageError(
                f"a diversity study compares two systems or more, or one with --references, got {len(self.systems)}: "
                "--systems A B"
            )
        first = next(iter(systems.values()))
        return [
            {
                "image_id": image,
                "sets": [{"system": name, "captions": list(system[image])} for name, system in systems.items()],
                **self._references_of(image),
            }
            for image in first
            if all(len(system.get(image, ())) > 1 for system in systems.values())
        ]

    def captions(self, *, together: bool) -> list[dict[str, Any]]:
        """Captions to rate, one a page, or all of an image."""
        if not self.systems:
            raise UsageError("the captions to rate are missing: --systems FILE")
        pages: list[dict[str, Any]] = []
        for image in dict.fromkeys(image for system in self.systems.values() for image in system):
            captions = [(name, system[image][0]) for name, system in self.systems.items() if system.get(image)]
            common = self._references_of(image)
            if together and len(captions) > 1:
                sets = [{"system": name, "captions": [caption]} for name, caption in captions]
                pages.append({"image_id": image, "sets": sets, **common})
            else:
                pages += [{"image_id": image, "caption": text, "system": name, **common} for name, text in captions]
        return pages

    def _references_of(self, image: str) -> dict[str, Any]:
        return {"references": list(self.references[image])} if self.references.get(image) else {}

    def checks(self, numbers: Mapping[str, int], item: dict[str, Any]) -> dict[str, Any]:
        """So many questions with known answers for each role, made of references; of different images while they last.

        They are the roles' fields of the file, and show as much as an item does.
        """
        if not any(numbers.values()):
            return {}
        usable = [image for image, sentences in self.references.items() if len(set(sentences)) > 1]
        least = max(2, *numbers.values())
        if len(usable) < least:
            raise DataError(
                f"questions with known answers need --references with two sentences or more of each of {least} images; "
                f"got {len(usable)}"
            )
        self.chance.shuffle(usable)
        images = cycle(usable)
        words = _telling_words(self.references) if not self.kind.forms else {}
        sets = item.get("sets", [{"captions": []}])
        roles: dict[str, Any] = {}
        for role, number in numbers.items():
            for image in islice(images, number):
                if words:
                    check: dict[str, Any] = {"answer": words[image]}
                elif self.kind.has_pairs:
                    check = self._known_side(role, image)
                elif self.kind.forms == ("sets",):
                    check = self._known_sets(role, image, len(sets), len(sets[0]["captions"]))
                else:
                    check = self._known_ratings(role, image, len(sets))
                first = _distinct(self.references[image])[0]
                page = {"a": first} if self.kind.has_several_pages else {"image_id": image}
                roles.setdefault(role, {"items": []})["items"].append(page | check)
        return roles

    def _known_side(self, role: str, image: str) -> dict[str, str]:
        """The image's sentence beside another image's, on sides that are drawn.

        For attention, what is wrong can be seen without knowing the language of images: the right sentence of a triplet
        is A itself, and the wrong one under an image has its words in disorder.
        """
        sentences = _distinct(self.references[image])
        right, wrong = sentences[1], self._caption_of_another(image) or ""
        if role == "attention":
            right = sentences[0]
            wrong = wrong if self.kind.has_several_pages else self._in_disorder(wrong)
        pair = {"b": right, "c": wrong, "answer": "b"}
        return pair if self.chance.random() < 0.5 else {"b": wrong, "c": right, "answer": "c"}

    def _in_disorder(self, sentence: str) -> str:
        words = sentence.rstrip(".").split()
        return " ".join(self.chance.sample(words, len(words)))

    def _known_sets(self, role: str, image: str, count: int, size: int) -> dict[str, Any]:
        """A set of one sentence again and again, beside sets of different ones: as many and as long as a page has.

        The different ones are the image's own; for attention they are of many images.
        """
        sentences = _distinct(self.references[image])
        of_other_images = _distinct(
            sentence for name, captions in self.references.items() if name != image for sentence in captions
        )
        self.chance.shuffle(of_other_images)
        pool = of_other_images if role == "attention" else sentences + of_other_images
        sets = [{"system": "same", "captions": [sentences[0]] * size}]
        for number in range(1, count):
            captions = self.chance.sample(pool[: max(size, len(sentences))], min(size, len(pool)))
            sets.append({"system": f"different-{number}", "captions": captions})
        return {"sets": self.chance.sample(sets, count), "answer": {"same": [0, 0.3]}}

    def _known_ratings(self, role: str, image: str, count: int) -> dict[str, Any]:
        """A sentence of the image, in the upper half of the scale, and sentences of other images, in the lower half.

        Of one caption a page, it is one or the other. For attention, the words of the others are in disorder.
        """
        scale = self.kind.main
        if not isinstance(scale, Scale):
            raise UsageError(f"known answers can be made for scales only, and {scale.name} is none")
        half = len(scale.points) // 2
        upper, lower = [scale.points[-half], scale.points[-1]], [scale.points[0], scale.points[half - 1]]
        captions = [("own", self.references[image][0], upper)]
        for number in range(1, max(count, 2)):
            wrong = self._caption_of_another(image) or ""
            captions.append((f"other-{number}", self._in_disorder(wrong) if role == "attention" else wrong, lower))
        if count < 2:
            _, caption, answer = self.chance.choice(captions)
            expected: Any = answer
            page: dict[str, Any] = {"caption": caption}
        else:
            self.chance.shuffle(captions)
            expected = {name: answer for name, _, answer in captions}
            page = {"sets": [{"system": name, "captions": [caption]} for name, caption, _ in captions]}
        return {**page, "answer": expected if len(self.kind.questions) == 1 else {scale.name: expected}}


def _showable(sentences: Sentences, whose: str) -> dict[str, list[str]]:
    """The sentences that a page can show; says of which images the others are, and whose."""
    blank = [image for image, of_image in sentences.items() if not all(sentence.strip() for sentence in of_image)]
    long = [image for image, of_image in sentences.items() if any(len(sentence) > LONGEST for sentence in of_image)]
    for images, what in ((blank, "empty sentences"), (long, f"sentences of more than {LONGEST:,} characters")):
        if images:
            warn(f"{whose}: {what} are left out, of {some(images)}", DataWarning)
    return {
        image: [sentence for sentence in of_image if sentence.strip() and len(sentence) <= LONGEST]
        for image, of_image in sentences.items()
    }


def _distinct(sentences: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(sentences))


def _telling_words(references: Sentences) -> dict[str, list[str]]:
    """Words of each image's sentences that few other images have: what a description of it can hardly do without."""
    words = {
        image: Counter(
            word for sentence in sentences for word in _distinct(re.findall(r"[^\W\d_]{4,}", sentence.casefold()))
        )
        for image, sentences in references.items()
    }
    images = Counter(word for counts in words.values() for word in counts)
    most = max(1, len(references) // 5)
    return {image: [word for word in counts if images[word] <= most] or list(counts) for image, counts in words.items()}


def images_of(place: str | Path | ImageSource, image_ids: Sequence[str]) -> dict[str, str]:
    """The images of a study by id, as its file has them: web addresses, or copies as `data:` URLs.

    Copies are WebP files of at most `SIDE` pixels at the longer side, without what cameras write into files.

    `place` is a folder, a tar file, or a pattern of files or addresses, as `ImageSource.open` takes it. Raises
    `DataError` where an image has no file, or its file cannot be shown.
    """
    source = ImageSource.open(place)
    pictures = source.find_all(image_ids)
    missing = [image for image in image_ids if image not in pictures]
    if missing:
        raise DataError(f"{source.description}: no file was found for {some(missing)}")
    return {
        image: file.address
        or f"data:image/webp;base64,{base64.b64encode(thumbnail(file.read(), file.name, SIDE)).decode()}"
        for image, file in pictures.items()
    }
