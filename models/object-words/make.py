"""Makes CHAIR's larger vocabulary, src/sacrecap/resources/chair/wordnet.txt, and nouns.txt.

From WordNet 3.0 alone.

Things that can be seen are the synonym sets of WordNet's files of animals, artefacts, the body, food, natural objects,
people and plants. A word stands for one of them if that is what it mostly means, by WordNet's counts and BONUS. Of a
set and the sets above it, the one whose words glosses use most is the object: glosses explain rare words by common
ones, so that an osprey is a bird and a sedan a car. Sets that are too wide for that, as furniture, are named in WIDE.
All people are one object. Words that no gloss uses are left out, but single words for people and for what is made or
eaten; so are objects whose words few glosses use.

The names of COCO's objects, not their synonyms, are kept however rare they are: each is an object.

`nouns.txt` has the nouns that decide whether the base form of a word, by WordNet's lemmatiser, is a word of COCO's
objects: see rust/core/src/text/word_forms.rs.

`make.py --measure CAPTIONS...` compares the result with the published list of COCO's objects, on captions.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from itertools import pairwise, takewhile
from pathlib import Path

from sacrecap._core import plurals
from sacrecap.resources.chair import PAIRS
from wordnet import LABELS, NOUN_ENDINGS, PERSON, THINGS, Synset, WordNet, read_wordnet

OUTPUT = Path(__file__).parents[2] / "src/sacrecap/resources/chair/wordnet.txt"

BONUS = 6
"""How much more often captions mean a thing than the texts that WordNet counted."""
VERBS = 10
"""How much more often these texts may have a word as a verb."""
WIDE = frozenset(
    """
    animal vertebrate mammal placental carnivore canine feline ungulate ruminant bovid equine rodent primate
    invertebrate arthropod chordate domestic_animal young young_mammal offspring male female creature livestock
    artifact instrumentality structure device implement tool equipment container vessel receptacle vehicle craft
    wheeled_vehicle motor_vehicle conveyance transport public_transport furniture seat furnishing bedroom_furniture
    clothing covering garment commodity consumer_goods article machine mechanism apparatus instrument system
    electronic_equipment home_appliance kitchen_appliance appliance white_goods durables utensil kitchen_utensil
    cutlery tableware ceramic_ware crockery ware box case bag baggage plaything toy game_equipment sports_equipment
    stick board support surface part piece barrier fabric material building_material decoration weapon
    computer_peripheral peripheral input_device data_input_device keyboard_instrument musical_instrument signal
    visual_signal sign area room building house establishment place way passage line line_of_work food foodstuff
    nutriment dish produce edible_fruit fruit vegetable baked_goods bread meat course snack_food
    cruciferous_vegetable root_vegetable green_groceries beverage drink substance plant vascular_plant woody_plant
    herb organism object natural_object whole geological_formation land body_part organ external_body_part game_bird
    water domestic_fowl fowl wading_bird aquatic_bird agent unit world cell drug tissue edible evergreen perennial
    annual physical_structure muscle fungi oil facility representation enclosure protection protective_covering
    fixture creation mixture ware track_star timepiece timer receiver telephone_system radiotelephone light
    electronic_device optical_device radiator
""".split()
)
"""Words of sets that are too wide to name a visible object."""
NOUNS = Path(__file__).parents[2] / "rust/core/src/text/nouns.txt"
ENDINGS = (*NOUN_ENDINGS, ("ves", "f"))
"""Of plurals, with what the lemmatiser puts in their place."""
IN_WORDNET = {"cell phone": "cellphone", "wine glass": "wineglass", "sports ball": "ball", "potted plant": "houseplant"}
"""Names of COCO's objects that WordNet has otherwise. It has no stop sign."""
LEAST_MENTIONS = 3
"""Least number of glosses that use a word of an object."""
LONGEST = 3
"""Words of a phrase."""
STOP = frozenset(
    """
    a an as at be by can do down front he her him his i in is it may me my no of off on one or out over she so the
    them then there they thing top two under up us we will with you back side set end bit lot kind type group couple
    bunch pair may stand hold rest look cut run show being form work source compound element particle means
    production subject layer center centre record game world serving art edge middle base stage matter picture image
    photo photograph closeup hanging cutting facing fly large_white small_white skate corner item bottom crossing
    lap self gear old_fashioned burgundy ass buns block feed landscape vintage para
""".split()
)
"""Words that captions use for something else."""


INSULT = re.compile(
    r"\bslurs?\b|\b(offensive|disparaging|derogatory|obscene|vulgar|insulting|contemptuous|pejorative) "
    r"(terms?|names?|slang|words?|expressions?|references?)\b"
)
"""Glosses of words that insult whom they name: the vocabulary has them in their other senses only."""


class Nouns:
    """The nouns: sets by their place, senses of each word in WordNet's order, and how often texts had them."""

    def __init__(self, net: WordNet) -> None:
        self.synsets = {key: synset for key, synset in net.synsets.items() if key.startswith("n")}
        self.senses = net.senses["n"]
        self.counts = {(word, rank): count for (word, part, rank), count in net.counts.items() if part == "n"}
        self.verbs: Counter[str] = Counter()
        """How often texts had the word as a verb."""
        self.adjectives = Counter([*net.senses["a"], *net.senses["r"]])
        """The same as an adjective or adverb, and once for each word that is one."""
        for (word, part, _), count in net.counts.items():
            if part != "n":
                (self.verbs if part == "v" else self.adjectives)[word] += count

    def above(self, place: str) -> list[str]:
        """The sets right above this one."""
        return [key for symbol, key in self.synsets[place].related if symbol in ("@", "@i")]


def sense_of(wordnet: Nouns, word: str) -> str | None:
    """The thing that a word mostly means, if it means one."""
    if word in STOP or not is_word(word):
        return None
    weights = {
        place: (wordnet.counts.get((word, number), 0) + 1 / number) * (BONUS if is_thing(wordnet.synsets[place]) else 1)
        for number, place in enumerate(wordnet.senses[word], 1)
        if not INSULT.search(wordnet.synsets[place].gloss)
    }
    if not weights:
        return None
    best = max(weights, key=lambda place: weights[place])
    times = weights[best] / BONUS
    usual = wordnet.verbs[word] <= VERBS * times and wordnet.adjectives[word] <= times
    return best if is_thing(wordnet.synsets[best]) and usual else None


def sense_of_label(wordnet: Nouns, label: str) -> str | None:
    """The thing that the name of one of COCO's objects means, as wide as its last word: a dining table is a table."""
    word = IN_WORDNET.get(label, label)
    places = wordnet.senses.get(word.replace(" ", "_"), [])
    things = sorted(
        (place for place in places if is_thing(wordnet.synsets[place])),
        key=lambda place: wordnet.synsets[place].file == PERSON,  # a toaster toasts bread
    )
    head = label.split(" ")[-1]
    if head != label and {*above(wordnet, things[:1])} & {*wordnet.senses.get(head, [])}:
        return sense_of(wordnet, head) or things[0]
    return next(iter(things or places), None)


def above(wordnet: Nouns, places: list[str]) -> list[str]:
    """The things above these sets, the nearest first."""
    rows_read: list[str] = []
    rows = places
    while rows:
        rows = [up for place in rows for up in wordnet.above(place) if is_thing(wordnet.synsets[up])]
        rows_read += rows
    return rows_read


def is_thing(synset: Synset) -> bool:
    """Whether it is a kind of thing that can be seen."""
    return synset.file in THINGS and all(symbol != "@i" for symbol, _ in synset.related)


def gloss_mentions(wordnet: Nouns) -> Counter[str]:
    """In how many glosses each word is, in either number; phrases too."""
    singular = {form: word for word in wordnet.senses if "_" not in word for form in (*plurals(word), word)}
    singular |= {word: word for word in wordnet.senses}
    mentions: Counter[str] = Counter()
    for synset in wordnet.synsets.values():
        text = synset.gloss.partition('; "')[0]
        words = [singular.get(word, word) for word in re.findall(r"[a-z]+(?:-[a-z]+)*", text.lower())]
        mentions.update({*words, *map("_".join, pairwise(words))})
    return mentions


class Objects:
    """Words by the thing that they mean, and the object that each thing is, both by the place of a synonym set."""

    def __init__(self, wordnet: Nouns) -> None:
        self.wordnet = wordnet
        self.mentions = gloss_mentions(wordnet)
        self.words_of: dict[str, list[str]] = defaultdict(list)
        self.label_of: dict[str, str] = {}
        """COCO's objects by their sets; the name alone of one that WordNet lacks."""
        labels = {label: sense_of_label(wordnet, label) for label in LABELS}
        several = {form for label in LABELS for form in plurals(label)}
        for word in sorted(wordnet.senses.keys() - several):
            if self.mentions[word] or ("_" not in word and is_named(wordnet, word)):
                place = labels.get(word.replace("_", " ")) or sense_of(wordnet, word)
                if place is not None:
                    self.words_of[place].append(word)
        for label, place in labels.items():
            words = self.words_of[place or label]
            words += [word for word in [label.replace(" ", "_")] if word not in words]
            self.label_of[place or label] = label
        self.person = next(place for place, label in self.label_of.items() if label == "person")
        self.words_of[self.person].append("people")

    def common(self, place: str) -> int:
        """How common the set's words are, those that mostly mean it."""
        return max((self.mentions[word] for word in self.words_of.get(place, ())), default=0)

    def is_wide(self, place: str) -> bool:
        """Whether it is too wide for an object."""
        return place not in self.label_of and any(
            word.lower() in WIDE for word in self.wordnet.synsets[place].words[:3]
        )

    def object_of(self, place: str) -> str:
        """Of the sets from this one upwards one of COCO's; or else, below the wide ones, that of the commonest word."""
        if place not in self.wordnet.synsets:
            return place
        if self.wordnet.synsets[place].file == PERSON:
            return self.person
        path = [place, *above(self.wordnet, [place])]
        nearest_label = next((up for up in path if up in self.label_of), None)
        return nearest_label or max(takewhile(lambda up: not self.is_wide(up), path), key=self.common)

    def lines(self) -> list[list[str]]:
        """The words of each object, the commonest objects first: its name, its set's words, the others."""
        words_of_object: dict[str, list[str]] = defaultdict(list)
        for place, words in self.words_of.items():
            if not self.is_wide(place):
                words_of_object[self.object_of(place)] += words
        chosen = [place for place in words_of_object if place in self.label_of or self.common(place) >= LEAST_MENTIONS]
        lines = [sorted(words_of_object[place], key=lambda word, at=place: self.order(at, word)) for place in chosen]
        return sorted(lines, key=lambda words: (-self.mentions[words[0]], words))

    def order(self, place: str, word: str) -> tuple[bool, bool, int, str]:
        """Where a word stands among those of an object."""
        name = self.label_of.get(place, "").replace(" ", "_")
        return word != name, word not in self.words_of.get(place, ()), -self.mentions[word], word


def is_named(wordnet: Nouns, word: str) -> bool:
    """Whether a word may mean people or something made or eaten: captions name these more often than glosses do."""
    files = (THINGS.get(wordnet.synsets[place].file) for place in wordnet.senses[word])
    return any(file in ("artefact", "food", "person") for file in files)


def is_word(word: str) -> bool:
    """Whether captions can have it: letters, in up to so many parts."""
    return len(word) > 2 and word.count("_") < LONGEST and re.fullmatch(r"[a-z]+(?:[_-][a-z]+)*", word) is not None


def nouns(net: WordNet) -> list[str]:
    """The nouns among the possible forms of the words of COCO's objects and among their base forms, and the irregular
    forms with their base forms.
    """
    text = (OUTPUT.parent / "coco.txt").read_text(encoding="utf-8")
    forms = {part for word in [*text.replace("\n", ", ").split(", "), *PAIRS] for part in word.lower().split()}
    irregular = {form: bases for (part, form), bases in net.exceptions.items() if part == "n"}
    forms |= {form.removesuffix(new) + old for form in forms for old, new in ENDINGS if form.endswith(new)}
    forms |= {form.removesuffix(old) + new for form in forms for old, new in ENDINGS if form.endswith(old)}
    listed = {form: bases for form, bases in irregular.items() if form in forms or forms & {*bases}}
    forms |= {*listed, *(base for bases in listed.values() for base in bases)}
    return sorted([*(forms & net.senses["n"].keys()), *(" ".join([form, *bases]) for form, bases in listed.items())])


def main() -> None:
    """Writes the vocabulary and the nouns."""
    net = read_wordnet()
    NOUNS.write_text("".join(f"{line}\n" for line in nouns(net)), encoding="utf-8")
    lines = Objects(Nouns(net)).lines()
    text = "".join(", ".join(word.replace("_", " ") for word in words) + "\n" for words in lines)
    OUTPUT.write_text(text, encoding="utf-8")
    print(f"{OUTPUT}: {len(lines):,} objects, {sum(map(len, lines)):,} words, {OUTPUT.stat().st_size:,} bytes")


def measure(files: list[str]) -> None:
    """Prints how the vocabulary agrees with the published list on the captions of these files."""
    import sacrecap
    from sacrecap import Needs
    from sacrecap.metrics.chair import name_objects
    from sacrecap.resources.chair import open_vocabulary

    texts: list[str] = []
    for name in files:
        document = json.loads(Path(name).read_text(encoding="utf-8"))
        rows = document["annotations"] if isinstance(document, dict) else document
        texts += [row["caption"] for row in rows]
    corpus = sacrecap.Corpus({str(k): ["x"] for k in range(len(texts))}, {str(k): text for k, text in enumerate(texts)})
    coco, larger = open_vocabulary("coco"), open_vocabulary("wordnet")
    named = [name_objects(corpus, Needs(), vocabulary) for vocabulary in (coco, larger)]
    classes: dict[int, set[int]] = defaultdict(set)
    for number, label in enumerate(coco.objects):
        its_object = larger.object_of(label)
        if its_object is not None:
            classes[its_object].add(number)
    print("labels of COCO that it lacks:", [label for label in coco.objects if larger.object_of(label) is None])
    shared = [sorted(coco.objects[number] for number in numbers) for numbers in classes.values() if len(numbers) > 1]
    print("labels of COCO that are one object:", shared)
    pairs: tuple[Counter[tuple[str, bool]], Counter[tuple[str, bool]]] = (Counter(), Counter())
    of_all = 0
    for number in range(len(texts)):
        words = corpus.texts(str(number))[0][0].split()
        theirs, ours = (objects.image(corpus._core, number)[0][0] for objects in named)
        of_all += len(ours)
        for first, behind, place in ours:
            if place in classes:
                same = any(a < behind and first < b and thing in classes[place] for a, b, thing in theirs)
                pairs[0][" ".join(words[first:behind]), same] += 1
        for first, behind, place in theirs:
            same = any(a < behind and first < b and place in classes.get(thing, ()) for a, b, thing in ours)
            pairs[1][" ".join(words[first:behind]), same] += 1
    for title, counted in zip(("precision", "recall"), pairs, strict=True):
        right, all_ = sum(count for (_, same), count in counted.items() if same), sum(counted.values())
        by_word = [counted[word, True] > counted[word, False] for word in {word for word, _ in counted}]
        of_words = sum(by_word) / len(by_word)
        print(f"{title}: {right / all_:.4f} of {all_:,} mentions, {of_words:.4f} of {len(by_word):,} words")
        print("  otherwise:", [(w, n) for (w, same), n in counted.most_common() if not same][:40])
    print(f"mentions of all its objects: {of_all:,}; of the list's: {sum(pairs[1].values()):,}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2:])
    else:
        main()
