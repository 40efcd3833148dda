"""Scene graphs of texts of several sentences: a worked example of each rule, laws, and people's graphs."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sacrecap
from sacrecap.choices import SCENE_STATUSES

Tuple = tuple[str, ...]

RULES: dict[str, tuple[str, set[Tuple], set[Tuple]]] = {
    "the picture is no thing in it": (
        "The image shows a dog in the center of the scene.",
        {("dog",)},
        {("image",), ("scene",), ("center",)},
    ),
    "impressions are no things": ("The dog adds a sense of calm.", {("dog",)}, {("sense",), ("calm",)}),
    "nouns that WordNet knows together are a name": (
        "A tennis racket lies on a coffee table.",
        {("tennis racket",), ("coffee table",), ("tennis racket", "lie on", "coffee table")},
        {("racket",), ("table",)},
    ),
    "a group of people is people": ("A large group of people walks.", {("people",), ("people", "large")}, {("group",)}),
    "a body of water is water": ("A boat is on a body of water.", {("water",), ("boat", "on", "water")}, {("body",)}),
    "colours belong to things": (
        "The sky is painted in hues of red. A light blue car, and a jacket of green.",
        {("sky", "red"), ("car", "light blue"), ("jacket", "green")},
        {("hues",), ("red",), ("green",)},
    ),
    "what an owner has that is no thing is said of the owner": (
        "A car is parked. Its vibrant red color is bright.",
        {("car", "red"), ("car", "vibrant")},
        {("color",)},
    ),
    "adjectives are shared": ("There are red apples and pears.", {("apples", "red"), ("pears", "red")}, set()),
    "with is have": ("A man with a dog stands.", {("man", "have", "dog")}, {("man", "with", "dog")}),
    "dressed in is wear": (
        "A woman is dressed in a red coat.",
        {("woman", "wear", "coat"), ("coat", "red")},
        {("woman", "dress in", "coat")},
    ),
    "clothes on people are worn": ("A boy in a cap runs.", {("boy", "wear", "cap")}, {("boy", "in", "cap")}),
    "an individual is a person": ("An individual holds a cup.", {("person", "hold", "cup")}, {("individual",)}),
    "what is covered has a cover": ("The wall is covered with ivy.", {("ivy", "cover", "wall")}, set()),
    "dotted with is in": (
        "The field is dotted with sheep.",
        {("sheep", "in", "field"), ("field", "have", "sheep")},
        set(),
    ),
    "in the background": (
        "Trees stand in the background.",
        {("trees", "in", "background")},
        {("background", "in", "trees")},
    ),
    "grips is holds": ("A man grips a rope.", {("man", "hold", "rope")}, {("man", "grip", "rope")}),
    "situated says no more than its preposition": (
        "A house is situated on a hill.",
        {("house", "on", "hill")},
        {("house", "situate on", "hill")},
    ),
    "the subject may come last": ("On the table stands a cup.", {("cup", "stand on", "table")}, set()),
    "looking at is no place": (
        "A man looks at a dog. A girl looks over a fence.",
        {("man", "look at", "dog"), ("girl", "over", "fence")},
        {("man", "at", "dog"), ("girl", "look over", "fence")},
    ),
    "verbs in -s are no plurals": (
        "A tall tower stands near a river.",
        {("tower", "stand near", "river")},
        {("stands",)},
    ),
    "lists": (
        "A man holds a cup, a plate and a fork.",
        {("man", "hold", "cup"), ("man", "hold", "plate"), ("man", "hold", "fork")},
        set(),
    ),
    "sentences end without a blank": (
        "A door is open.The cat sleeps.",
        {("door", "open"), ("cat",)},
        {("door", "open.the")},
    ),
    "it is the subject before": ("A dog runs. It wears a scarf.", {("dog", "wear", "scarf")}, set()),
    "it is what the picture shows": ("The image shows a dog. It wears a scarf.", {("dog", "wear", "scarf")}, set()),
    "shades are no glasses": (
        "A house, painted in shades of gray and white, has a door.",
        {("house", "gray"), ("house", "white")},
        {("shades",)},
    ),
    "a pronoun for nothing is nothing": ("It wears a scarf, and a man waits.", {("man",)}, {("man", "wear", "scarf")}),
    "he is the person before": (
        "A man sits near a dog. He holds a cup.",
        {("man", "hold", "cup")},
        {("dog", "hold", "cup")},
    ),
    "a verb in -s behind a noun with an article is no plural": (
        "A cat sleeps on a mat, and a man grips a rope.",
        {("cat", "sleep on", "mat"), ("man", "hold", "rope")},
        {("sleeps",), ("grips",)},
    ),
    "those who are subjects together": (
        "A man and a woman stand on a hill.",
        {("man", "stand on", "hill"), ("woman", "stand on", "hill")},
        set(),
    ),
    "a list of subjects with a comma before and": (
        "The ground, trees, and roofs are covered with snow.",
        {("snow", "cover", "ground"), ("snow", "cover", "trees"), ("snow", "cover", "roofs")},
        set(),
    ),
    "what comes with the background comes together": (
        "In the background, you can see a pillow and a blanket.",
        {("pillow", "in", "background"), ("blanket", "in", "background")},
        set(),
    ),
    "another individual is another": ("A man runs. An individual wears a hat.", {("person", "wear", "hat")}, set()),
    "several individuals are people": (
        "Two individuals are holding cups.",
        {("people", "hold", "cups"), ("people", "2")},
        {("individuals",), ("person",)},
    ),
    "the figure of a man is a man": ("The dark figure of a man stands.", {("man", "dark")}, {("figure",), ("person",)}),
    "what viewers have is not in the picture": (
        "The road leads the viewer's eye to our planet. It is as far as the eye can see. The dog closes its eye.",
        {("road",), ("dog", "have", "eye")},
        {("planet",), ("viewer",), ("road", "lead", "eye")},
    ),
    "a noun alone may be the longer name before": (
        "A large cruise ship is docked. The ship has a flag.",
        {("ship", "cruise"), ("ship", "large"), ("ship", "have", "flag")},
        {("cruise ship",)},
    ),
    "a noun that was there before the longer name is its own": (
        "A ship waits near a cruise ship. The ship has a flag.",
        {("ship", "have", "flag"), ("cruise ship",)},
        {("ship", "cruise")},
    ),
    "an aside behind a comma is another name": (
        "The gate, a traditional structure, is made of wood.",
        {("gate", "traditional")},
        {("structure",), ("gate", "structure")},
    ),
    "whom something is for is not there": (
        "A shelter for visitors stands near a road.",
        {("shelter", "stand near", "road")},
        {("visitors",)},
    ),
    "equipped with is have": ("The plane is equipped with propellers.", {("plane", "have", "propellers")}, set()),
    "marked by is have": (
        "The airport is marked by a tower.",
        {("airport", "have", "tower")},
        {("tower", "mark", "airport")},
    ),
    "places of several words": (
        "A man is positioned in front of a building.",
        {("man", "in front of", "building")},
        {("man", "position in front of", "building")},
    ),
    "a verb behind a comma is the first subject's": (
        "The dog, adorned with a collar bearing a bell, holds a bottle.",
        {("dog", "hold", "bottle"), ("collar", "have", "bell")},
        {("collar", "hold", "bottle")},
    ),
    "what lines or covers in one word": (
        "A tree-lined street leads to snow-covered roofs and a flower-dotted hill.",
        {("tree", "line", "street"), ("snow", "cover", "roofs"), ("flower", "in", "hill")},
        {("street", "tree-lined"), ("roofs", "snow-covered")},
    ),
    "hands and clothes are people's": (
        "A skier waits. The ski boots are red. In their hands, they hold a flag.",
        {("skier", "have", "hands"), ("skier", "hold", "flag")},
        {("ski boots", "have", "hands")},
    ),
    "lists of colours": (
        "The cake has ribbons in hues of red, white, and blue. A cup of white, red and black.",
        {("ribbons", "red"), ("ribbons", "white"), ("ribbons", "blue"), ("cup", "white"), ("cup", "black")},
        set(),
    ),
    "colours behind a, alone": (
        "Its tail, painted a striking red, moves. The dog has a brown hue. The trees, their leaves a lush green, move.",
        {("dog", "brown"), ("leaves", "green"), ("leaves", "lush")},
        {("red",), ("hue",), ("green",)},
    ),
    "adorned in colours": (
        "A facade is adorned in hues of blue and white. The walls are painted yellow.",
        {("facade", "blue"), ("facade", "white"), ("walls", "yellow")},
        set(),
    ),
    "the colour of a thing": ("The golden color of the grass is nice.", {("grass", "golden")}, {("color",)}),
    "a colour in a list of adjectives": (
        "A series of black, curved poles stands there.",
        {("poles", "black"), ("poles", "curved")},
        set(),
    ),
    "prepositions that look like adjectives": (
        "A man stands amidst tall grass.",
        {("man", "stand among", "grass")},
        {("grass", "amidst")},
    ),
    "a plural behind a comma is no verb": (
        "Under a clear sky, other tennis players can be seen.",
        {("tennis players", "under", "sky")},
        set(),
    ),
    "letters and words are no names": (
        "A sign with the letters CFC stands near a road.",
        {("letters",), ("sign", "have", "letters")},
        {("cfc",)},
    ),
    "nouns that WordNet writes apart": ("A surfer in a wetsuit runs.", {("surfer", "wear", "wetsuit")}, set()),
    "lights are lamps, light is not": (
        "A traffic light and two lights stand in the soft light.",
        {("traffic light",), ("lights", "2")},
        {("light",), ("traffic",)},
    ),
    "something for a thing, or for some of a number, is there": (
        "A bowl for food and a table for two people stand near a wall.",
        {("food",), ("people", "2")},
        set(),
    ),
    "the heart of a place is in it": ("A lake lies in the heart of mountains.", {("mountains",)}, set()),
    "a subject behind a comma is no other name": (
        "Behind the dog, a wide view opens. The cat, a wide view, and a tree are there.",
        {("tree",)},
        {("dog", "wide"), ("cat", "wide")},
    ),
    "an old structure is another name": ("The gate, an old structure, is tall.", {("gate", "old")}, set()),
    "a comma before and may begin a clause": (
        "A man stands on a hill, and a dog by a tree sits.",
        {("man", "stand on", "hill")},
        {("man", "stand on", "dog")},
    ),
    "eyes are things": ("The dog has blue eyes.", {("dog", "have", "eyes"), ("eyes", "blue")}, set()),
    "a colour behind a comma": ("The field, a vibrant green, is wide.", {("field", "green")}, {("green",)}),
    "the person is no people": (
        "People wait. The person wears a hat.",
        {("person", "wear", "hat")},
        {("people", "wear", "hat")},
    ),
    "places at the beginning": (
        "Beyond the fence, a dog sits. To the left of the clock, a house stands. Above the sink hangs a mirror.",
        {("dog", "beyond", "fence"), ("house", "at the left of", "clock"), ("mirror", "hang above", "sink")},
        set(),
    ),
    "what is said before the subject": (
        "Sitting on a bench, a woman reads. Attached to the pole is a flag. It wears a scarf, and a man waits.",
        {("woman", "sit on", "bench"), ("flag", "attach to", "pole")},
        {("man", "wear", "scarf")},
    ),
    "a participle behind a comma is of what the picture shows": (
        "The image shows a man sitting on a bench, holding a towel.",
        {("man", "sit on", "bench"), ("man", "hold", "towel")},
        {("bench", "hold", "towel")},
    ),
    "what stands behind a comma is of what stands before it": (
        "A camera stands near a man. A lamp, its shade red, is on a shelf of trees, their leaves green.",
        {("trees", "have", "leaves")},
        {("man", "have", "leaves")},
    ),
    "along with, such as and including are and": (
        "A boy wears a shirt, along with a hat. A table has toys, such as balls. A street has cars, including a bus.",
        {("boy", "wear", "hat"), ("table", "have", "balls"), ("street", "have", "bus")},
        {("shirt", "have", "hat")},
    ),
    "a clause with and": (
        "The room has a window, and a television is mounted on the wall.",
        {("television", "mount on", "wall")},
        {("room", "mount on", "wall"), ("room", "have", "television")},
    ),
    "things that WordNet's counts do not know": (
        "A woman holds a wine glass in her left hand near a train car, a glass table and a dining table.",
        {("wine glass",), ("hand", "left"), ("train car",), ("table", "glass"), ("dining table",)},
        {("car",)},
    ),
    "what stands has no object": ("Near the road stands tall grass.", {("grass", "stand near", "road")}, set()),
    "what only a summary has": ("A hill. Overall, a snow-covered hill is there.", {("hill",)}, {("snow",)}),
    "what viewers have": ("The viewer's chair is red. A dog.", {("dog",)}, {("chair",)}),
    "a person who does something stays": (
        "A man holding a frisbee. A young girl eating pizza. Two people in a park, and a woman riding a horse.",
        {("man", "hold", "frisbee"), ("girl", "young"), ("girl", "eat", "pizza"), ("woman", "ride", "horse")},
        {("holding",), ("eating",), ("riding",)},
    ),
    "his is the subject's": ("A man holds his phone.", {("man", "have", "phone"), ("man", "hold", "phone")}, set()),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule(rule: str) -> None:
    text, there, absent = RULES[rule]
    found = set(sacrecap.scene_graph(text, grammar="paragraph").tuples())
    assert there <= found
    assert not absent & found


STATUSES: dict[str, tuple[str, dict[Tuple, str]]] = {
    "no": (
        "There are no people, cars or dogs in the street.",
        {("people",): "denied", ("cars",): "denied", ("dogs",): "denied", ("street",): "stated"},
    ),
    "without": ("A street without cars. A man.", {("street",): "stated", ("cars",): "denied", ("man",): "stated"}),
    "the following false": ("The following false statement: a dog runs.", {("dog",): "denied"}),
    "not a verb": ("The man is not wearing a hat.", {("man",): "stated", ("hat",): "denied"}),
    "not seen": ("The driver is not visible. A car is parked.", {("driver",): "denied", ("car",): "stated"}),
    "absence": ("The absence of people is felt on the beach.", {("people",): "denied", ("beach",): "stated"}),
    "no longer denies nothing": ("The dog no longer holds the ball.", {("dog",): "stated", ("ball",): "stated"}),
    "and a clause": ("There are no dogs, and a cat sleeps.", {("dogs",): "denied", ("cat",): "stated"}),
    "possibly": ("A man, possibly a tourist, stands.", {("man",): "stated", ("tourist",): "hedged"}),
    "appears to be": ("The animal appears to be a wolf.", {("animal",): "stated", ("wolf",): "hedged"}),
    "may": ("The woman may have a dog.", {("woman",): "stated", ("dog",): "hedged"}),
    "possibly visible": (
        "A red ball is possibly visible near the water.",
        {("ball",): "hedged", ("ball", "red"): "hedged", ("water",): "stated"},
    ),
    "may be seen": (
        "A cat sits. A dog may be seen on a mat.",
        {("cat",): "stated", ("dog",): "hedged", ("mat",): "stated"},
    ),
    "appears to be visible": ("A man stands. A boat appears to be visible.", {("man",): "stated", ("boat",): "hedged"}),
    "could be seen": ("A dog could be seen near a tree.", {("dog",): "stated", ("tree",): "stated"}),
    "possibly, of a quality": ("The ball is possibly red.", {("ball",): "stated", ("ball", "red"): "hedged"}),
    "the picture": ("The photo shows a dog.", {("photo",): "aside", ("dog",): "stated"}),
    "a sign is there": ("A wall with a no parking sign and a cat.", {("sign",): "stated", ("cat",): "stated"}),
    "what comes with nobody": ("There is no man with a hat near the tree.", {("hat",): "denied", ("tree",): "stated"}),
    "but": ("It is false that a dog runs, but a cat sleeps.", {("dog",): "denied", ("cat",): "stated"}),
    "a denial that is denied": ("It is not false that a dog runs.", {("dog",): "stated"}),
    "two denials are a denial": ("It is not true that there is no dog.", {("dog",): "denied"}),
    "the following": ("A cat sits. None of the following: a dog. A man.", {("cat",): "stated", ("man",): "denied"}),
    "the above": ("A cat sits. All of the above is false. A man.", {("cat",): "denied", ("man",): "stated"}),
    "missing": ("A pizza missing a slice lies on a plate.", {("pizza",): "stated", ("slice",): "denied"}),
    "the dog is there though": ("The dog fails to catch the ball.", {("dog",): "stated", ("ball",): "stated"}),
    "nobody": ("Nobody near the tree wears a hat.", {("tree",): "stated", ("hat",): "denied"}),
    "what is not shown": ("The image does not show the dog.", {("dog",): "denied"}),
    "a question": ("A cat sits. Is there a dog? A man.", {("cat",): "stated", ("dog",): "aside", ("man",): "stated"}),
    "a question by its mark": ("Where is the dog? A man.", {("dog",): "aside", ("man",): "stated"}),
    "a command": ("Look at the dog. A man.", {("dog",): "aside", ("man",): "stated"}),
    "no command": ("Picture of a dog near a wall.", {("dog",): "stated", ("wall",): "stated"}),
    "a summary": ("A dog runs. Overall, a cat and a dog are seen.", {("dog",): "stated", ("cat",): "aside"}),
}


@pytest.mark.parametrize("case", STATUSES)
def test_a_status(case: str) -> None:
    text, expected = STATUSES[case]
    graph = sacrecap.scene_graph(text, grammar="paragraph")
    found = graph.statuses()
    assert {said: found.get(said) for said in expected} == expected
    assert {said for said in expected if expected[said] in ("stated", "hedged")} <= set(graph.tuples())


CLAUSES = [
    "a dog runs near a bench",
    "there is a brown dog on a sofa",
    "the man is wearing a red hat",
    "two people are standing next to a car, and a bird sits on a tree",
    "a woman holds a cup, a plate and a fork",
    "a group of people walks along the beach in the afternoon",
]
FRAMES = [
    "It is false that {}.",
    "It is not true that {}.",
    "It isn't the case that {}.",
    "It would be wrong to say {}.",
    "It is a lie that {}.",
    "You would be mistaken to think that {}.",
    "It is falsely claimed that {}.",
    "It cannot be said that {}.",
    "By no means is it the case that {}.",
    "It is far from true that {}.",
    "It is unlikely that {}.",
    "There is no evidence that {}.",
    "Nothing suggests that {}.",
    "No one would say that {}.",
    "I deny that {}.",
    "The picture fails to show that {}.",
    "The claim that {} is false.",
    "That {} is not true.",
    "Not true: {}.",
    "None of the following is in the picture: {}.",
    "The following is false: {}.",
    "None of this is shown: {}.",
    "Nowhere can it be seen that {}.",
    "Is it true that {}?",
    "Imagine that {}.",
    "{}?",
]
THINGS = ["a brown dog", "two cats and a bird", "people", "a man with a hat"]
FRAMES_OF_THINGS = [
    "There is no sign of {}.",
    "There is no evidence of {}.",
    "There was never {}.",
    "The image fails to show {}.",
    "The image excludes {}.",
    "The scene is empty of {}.",
    "Nowhere in the image is there {}.",
    "You will not find {}.",
    "Nothing in the picture is {}.",
    "No part of the image shows {}.",
    "Missing is {}.",
    "Neither {} nor a tree is there.",
    "None of the following: {}.",
    "Contrary to what is said of {}, a tree stands there.",
    "Is there {}?",
    "Look at the tree and {}.",
    "Imagine {}.",
]


@pytest.mark.parametrize(("frames", "framed"), [(FRAMES, CLAUSES), (FRAMES_OF_THINGS, THINGS)])
def test_a_frame_takes_back_all_that_it_governs(frames: list[str], framed: list[str]) -> None:
    """Nothing of it is stated, and none of its words counts for metrics."""
    for frame in frames:
        for clause in framed:
            stated = set(sacrecap.scene_graph(clause, grammar="paragraph").tuples())
            text = frame.format(clause)
            assert stated
            assert not stated & set(sacrecap.scene_graph(text, grammar="paragraph").tuples()), text


def test_what_is_denied_is_worth_nothing() -> None:
    """A caption that is denied whole covers nothing, neither by its graph nor by its words."""
    caption = " ".join(f"{clause.capitalize()}." for clause in CLAUSES)
    denied = " ".join(f"It is false that {clause}." for clause in CLAUSES)
    scores = [
        sacrecap.score({"1": [caption]}, {"1": [said]}, "coverage", interval=None)["coverage"].value
        for said in (caption, denied)
    ]
    assert scores == [1, 0]


def test_a_caption_of_one_sentence_keeps_its_graph_but_what_it_denies() -> None:
    graph = sacrecap.scene_graph("a street without cars and with a photo of a dog")
    assert graph.statuses()[("car",)] == "denied"
    assert graph.statuses()[("photo",)] == "stated"
    assert not any("car" in said for said in graph.tuples())
    assert sacrecap.scene_graph("a brown dog runs").tuples() == [("dog",), ("dog", "brown"), ("dog", "run")]


def test_the_grammar_is_chosen_by_sentences_or_named() -> None:
    one, several = "The image shows two dogs", "The image shows two dogs. They run."
    auto, spice, paragraph = (
        [sacrecap.scene_graph(text, grammar=grammar) for text in (one, several)]
        for grammar in ("auto", "spice", "paragraph")
    )
    assert auto == [spice[0], paragraph[1]]
    assert spice[0] != paragraph[0]
    with pytest.raises(ValueError, match="no grammar 'long'; use one of auto, spice, paragraph"):
        sacrecap.scene_graph(one, grammar="long")  # type: ignore[arg-type]


def test_what_is_named_twice_is_one_object() -> None:
    text = "A man stands near a dog. The man holds a cup. He smiles. Another man waits."
    graph = sacrecap.scene_graph(text)
    men = [one for one in graph.objects if one.name == "man"]
    assert [[graph.tokens[word] for word in one.words] for one in men] == [["man", "man", "he"], ["man"]]


def test_words_count_the_tokens() -> None:
    graph = sacrecap.scene_graph("A red door is open.The old cat (a tabby) sleeps on a mat. It is grey.")
    assert {"open", "the"} < set(graph.tokens)
    for one in graph.objects:
        assert one.name in " ".join(graph.tokens)
        for attribute in one.attributes:
            assert attribute.name == " ".join(graph.tokens[word] for word in attribute.words)


PIECES = [
    "The image shows a dog.",
    "There are no cars, or people.",
    "It may be a wolf.",
    "open.The",
    "Ein Hund läuft.",
    "A man in a red hat holds his phone!",
    "In the background, trees.",
    "Overall, calm.",
    "((,",
    "no",
    "",
    "?!",
    "\n",
    "of the",
    "which is not visible",
    "and shades of red",
    "'s hat",
    "Without",
    "not",
    "一只狗。",
]


@given(st.lists(st.sampled_from(PIECES), max_size=8))
def test_laws_of_any_text(pieces: list[str]) -> None:
    text = " ".join(pieces)
    for grammar in ("paragraph", "spice"):
        [graph] = sacrecap.scene_graphs([text], grammar=grammar)
        statuses = graph.statuses()
        assert set(statuses.values()) <= set(SCENE_STATUSES)
        assert graph.tuples() == [said for said, status in statuses.items() if status in ("stated", "hedged")]
        order = SCENE_STATUSES.index
        for one in graph.objects:
            assert 0 <= min(one.words) <= max(one.words) < len(graph.tokens)
            assert all(order(its.status) >= order(one.status) for its in one.attributes)
        for relation in graph.relations:
            ends = (graph.objects[relation.subject], graph.objects[relation.object])
            assert order(relation.status) >= max(order(end.status) for end in ends)


def test_the_graph_is_the_same_by_any_number_of_threads() -> None:
    texts = [" ".join(PIECES[start:] + PIECES[:start]) * (start % 3) for start in range(len(PIECES))] * 4
    one, two, five = (sacrecap.scene_graphs(texts, grammar="paragraph", threads=threads) for threads in (1, 2, 5))
    assert one == two == five
    assert one == [sacrecap.scene_graph(text, grammar="paragraph") for text in texts]


def test_a_very_long_text_is_read() -> None:
    """Also without any mark, where sentences are cut."""
    text = "a red dog and " * 5_000
    assert ("dog", "red") in sacrecap.scene_graph(text, grammar="paragraph").tuples()
    assert len(sacrecap.scene_graph("A dog runs. " * 2_000).objects) == 1


# People's graphs


def _stem(text: str) -> str:
    """A rough stem: people and parsers differ in number and tense."""
    return " ".join(re.sub(r"(?<=\w{3})(?:es|s|ed|ing|e)$", "", word) for word in text.lower().split())


def _gold(text: str) -> set[Tuple]:
    found: set[Tuple] = set()
    for triple in re.findall(r"\( (.*?) \)(?= ,|$)", text):
        subject, predicate, other = (_stem(part.strip()) for part in triple.split(" , "))
        found |= (
            {(subject,), (subject, other)} if predicate == "is" else {(subject,), (other,), (subject, predicate, other)}
        )
    return found


def _mean_f(rows: list[dict[str, str]], grammar: str) -> float:
    graphs = sacrecap.scene_graphs([row["caption"] for row in rows], grammar=grammar)  # type: ignore[arg-type]
    total = 0.0
    for row, graph in zip(rows, graphs, strict=True):
        gold, own = _gold(row["scene_graph"]), {tuple(map(_stem, said)) for said in graph.tuples()}
        total += 2 * len(gold & own) / (len(gold) + len(own))
    return total / len(rows)


def test_graphs_agree_with_peoples(shared: Path) -> None:
    """With Porter's stems, the figures are those of the documentation."""
    rows = json.loads(gzip.decompress((shared / "data" / "long" / "discosg-graphs-300.json.gz").read_bytes()))
    assert _mean_f(rows[::2], "paragraph") > 0.63
    assert _mean_f(rows[::2], "spice") < 0.3


@pytest.mark.parametrize("caption", [". .", "! ? .", ". . a dog. ."])
def test_marks_without_words_are_no_sentences(caption: str) -> None:
    objects = [("dog",)] if "dog" in caption else []
    for grammar in ("spice", "paragraph", "auto"):
        assert sacrecap.scene_graph(caption, grammar=grammar).tuples() == objects  # type: ignore[arg-type]
    result = sacrecap.score({"1": ["A dog. It runs."]}, {"1": caption}, "spice(sentences=each),long-f1", interval=None)
    assert (result["spice(sentences=each)"].value > 0) == bool(objects)
