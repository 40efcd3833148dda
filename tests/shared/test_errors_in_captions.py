"""How often a metric scores a person's caption above the same caption with an error: a table of sentence.md."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

import sacrecap
from pages import UPDATE

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "metrics" / "sentence.md"
METRICS = {"Sentence": "sentence", "CIDEr-D": "cider-d", "METEOR": "meteor", "SPICE": "spice"}
HEAD = f"| error | n | {' | '.join(METRICS)} |"
OBJECTS = (
    "dog cat horse bird boy girl man woman car bike ball boat baby child bicycle motorcycle beach snow water grass "
    "street"
).split()
EXCHANGED = {
    "another object": OBJECTS,
    "another number, two to six": "two three four five six".split(),
    "another colour": "red blue green yellow black white brown orange pink purple gray grey".split(),
}
BAG = "all words of its references, in any order, in its place"
ERRORS = *EXCHANGED, "two nouns change places", "words shuffled", "*there is no* before it", BAG
DRAWS = 5
"""Of each error so many captions are made of each caption."""


def captions_of(folder: Path) -> dict[str, list[str]]:
    """Of each test image its five captions."""
    images = set((folder / "Flickr_8k.testImages.txt").read_text().split())
    captions = defaultdict(list)
    for line in (folder / "Flickr8k.token.txt").read_text("utf-8").splitlines():
        name, _, caption = line.partition("\t")
        if (image := name.partition("#")[0]) in images:
            captions[image].append(caption)
    return dict(captions)


def with_errors(words: list[str], chance: random.Random) -> Iterator[tuple[str, list[str]]]:
    for error, names in EXCHANGED.items():
        if places := [place for place, word in enumerate(words) if word in names]:
            place = chance.choice(places)
            other = chance.choice([name for name in names if name != words[place]])
            yield error, [*words[:place], other, *words[place + 1 :]]
    first, *others = [place for place, word in enumerate(words) if word in OBJECTS] or [0]
    if second := next((place for place in others[:1] if words[place] != words[first]), 0):
        changed = [*words]
        changed[first], changed[second] = words[second], words[first]
        yield "two nouns change places", changed
    if (shuffled := chance.sample(words, len(words))) != words:
        yield "words shuffled", shuffled
    yield "*there is no* before it", ["there", "is", "no", *words]


def test_a_metric_prefers_the_caption_without_the_error(shared: Path) -> None:
    chance = random.Random(1)
    captions = captions_of(shared / "data" / "flickr8k")
    assert len(captions) == 1000
    references = {image: texts[1:] for image, texts in captions.items()}
    right = dict(zip(captions, sacrecap.tokenize([texts[0] for texts in captions.values()]), strict=True))
    bags = {
        image: sorted({word for words in sacrecap.tokenize(texts) for word in words})
        for image, texts in references.items()
    }
    order = random.Random(2)

    def scores(candidates: dict[str, str]) -> sacrecap.Result:
        return sacrecap.score(references, candidates, ",".join(METRICS.values()), on_missing="zero", interval=None)

    of_people = scores({image: " ".join(words) for image, words in right.items()})
    places = {image: place for place, image in enumerate(of_people.image_ids)}
    counts: dict[str, int] = {}
    leads: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for _ in range(DRAWS):
        wrong: dict[str, dict[str, str]] = {error: {} for error in ERRORS}
        for image, words in right.items():
            for error, changed in with_errors([*words], chance):
                wrong[error][image] = " ".join(changed)
            wrong[BAG][image] = " ".join(order.sample(bags[image], len(bags[image])))
        for error, candidates in wrong.items():
            of_wrong, counts[error] = scores(candidates), len(candidates)
            for metric in METRICS.values():
                people, made = of_people[metric].per_image_values(), of_wrong[metric].per_image_values()
                leads[error][metric] += [people[places[image]] - made[places[image]] for image in candidates]
    rows = [
        f"| {error} | {counts[error]} | {' | '.join(f'{better(values):.2f}' for values in leads[error].values())} |"
        for error in ERRORS
    ]
    text = PAGE.read_text("utf-8")
    table = re.search(re.escape(HEAD) + r"\n\| --- .*\n((?:\|.*\n)+)", text)
    assert table is not None
    if UPDATE:
        PAGE.write_text(text.replace(table[1], "\n".join(rows) + "\n"), "utf-8")
    else:
        assert table[1].splitlines() == rows


def better(leads: list[float]) -> float:
    """The share of leads above 0; a tie is half."""
    return fmean((lead > 1e-9) + (abs(lead) <= 1e-9) / 2 for lead in leads)
