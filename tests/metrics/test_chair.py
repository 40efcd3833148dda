"""CHAIR: the slow program, the published list, other vocabularies, marks, explanations and bad input."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sacrecap
from corpora import seeds
from laws.registered import few
from reference.chair import double_words, mentions, object_of_words, row
from runner import Runner
from sacrecap import SacrecapWarning
from sacrecap._core import noun_base, plurals
from sacrecap.errors import DataError, UsageError
from sacrecap.metrics import ChairI, ChairRecall, ChairS
from sacrecap.report.score_page import page
from sacrecap.resources.chair import NEVER, PAIRS, ObjectVocabulary, open_vocabulary

LIST = Path(str(sacrecap.__file__)).parent / "resources/chair/coco.txt"
GOLDENS = Path(__file__).parents[1] / "goldens"
OBJECTS = object_of_words(LIST.read_text(encoding="utf-8"))
PLURALS = {
    "man": "men",
    "woman": "women",
    "child": "children",
    "knife": "knives",
    "bus": "buses",
    "puppy": "puppies",
    "couch": "couches",
    "goose": "geese",
    "mouse": "mice",
    "glass": "glasses",
    "dog": "dogs",
    "bear": "bears",
    "seat": "seats",
    "train": "trains",
    "track": "tracks",
    "toilet": "toilets",
    "tie": "ties",
    "cow": "cows",
    "bike": "bikes",
    "phone": "phones",
    "light": "lights",
    "oven": "ovens",
    "jet": "jets",
    "animal": "animals",
    "ski": "skis",
    "calf": "calves",
    "sandwich": "sandwiches",
}
SINGULARS = {several: one for one, several in PLURALS.items() if several != "skis"}
WORDS = sorted(
    {
        *PLURALS,
        *PLURALS.values(),
        "scissors",
        "people",
        "sheep",
        "skis",
        "knive",
        "seat",
        "toilet",
        "cheesecake",
        "iphone",
        "Dog",
    }
    | {part for pair in double_words() for part in pair.split(" ")}
    | {"a", "the", "red", "running", "dining", "table", "sport"}
)


def singular(word: str) -> str:
    return SINGULARS.get(word, word)


def caption(chance: random.Random) -> str:
    """Random words, many of them in pairs that are taken as one."""
    words: list[str] = []
    for _ in range(chance.randint(0, 8)):
        if chance.random() < 0.4:
            parts = chance.choice(sorted(double_words())).split(" ")
            parts[-1] = PLURALS.get(parts[-1], parts[-1]) if chance.random() < 0.4 else parts[-1]
            words += parts
        else:
            words.append(chance.choice(WORDS))
    return " ".join(words)


def formula(figure: str, sums: list[float]) -> float:
    part, whole = {"i": sums[:2], "s": sums[2:4], "recall": sums[4:]}[figure]
    return part / whole if whole else (math.nan if figure == "recall" else 0.0)


@few
@given(seed=seeds, gold=st.sampled_from(["both", "objects", "references"]))
@pytest.mark.filterwarnings("ignore:.*no caption names an object:sacrecap.SacrecapWarning")
@pytest.mark.filterwarnings("ignore:no objects for:sacrecap.SacrecapWarning")
def test_chair_equals_the_program(seed: int, gold: str) -> None:
    chance = random.Random(seed)
    ids = [str(number) for number in range(20)]
    candidates = {image: caption(chance) for image in ids}
    references = {image: [caption(chance) or "x" for _ in range(chance.randint(1, 3))] for image in ids}
    labels = sorted({*OBJECTS.values()})
    objects = {image: chance.sample(labels, chance.randint(0, 5)) for image in ids}
    rows = [
        row(candidates[i].split(), [r.split() for r in references[i]], objects[i], OBJECTS, singular, gold) for i in ids
    ]
    sums = [sum(column) for column in zip(*rows, strict=True)]
    chosen = [kind(gold=gold) for kind in (ChairI, ChairS, ChairRecall)]
    result = sacrecap.score(references, candidates, chosen, tokenizer="none", objects=objects, interval=None)
    for score, figure in zip(result.values(), ("i", "s", "recall"), strict=True):
        assert score.statistics.sums() == sums
        expected = [formula(figure, one) for one in (sums, *rows)]
        np.testing.assert_array_equal([score.value, *score.per_image], expected)


def found(text: str, vocabulary: str | ObjectVocabulary = "coco") -> list[str]:
    """The objects that a caption names."""
    metric = ChairI(gold="references")
    named = sacrecap.score({"1": ["x"]}, {"1": text}, metric, vocabulary=vocabulary, interval=None)
    return [mention.object for mention in named.hallucination("1").mentions]


def lemmas() -> dict[str, str]:
    """What NLTK's WordNetLemmatizer makes of words, as recorded."""
    lines = (GOLDENS / "noun_lemmas.tsv").read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines)


def test_base_forms_are_those_of_the_lemmatiser() -> None:
    """Of the words that are, or become, a word of the list or of its pairs; others name nothing either way."""
    listed = {part for word in [*OBJECTS, *PAIRS] for part in word.lower().split()}
    compared = [(word, lemma) for word, lemma in lemmas().items() if {lemma, noun_base(word)} & listed]
    assert [word for word, lemma in compared if noun_base(word) != lemma] == []
    assert sum(word != lemma for word, lemma in compared) > 300
    assert [noun_base(word) for word in ("men", "women", "vases", "skis")] == ["men", "woman", "vas", "ski"]


@few
@given(seed=seeds)
@pytest.mark.filterwarnings("ignore:.*no caption names an object:sacrecap.SacrecapWarning")
def test_chair_with_lemmas_equals_the_forks_of_the_program(seed: int) -> None:
    chance = random.Random(seed)
    recorded = lemmas()
    words = chance.sample(sorted(recorded), 300) + ["men", "women", "vases", "buses"] * 9

    def text() -> str:
        pair = chance.choice(sorted(double_words())).split(" ")
        return " ".join([*chance.choices(words, k=chance.randint(0, 8)), *pair])

    candidates = {str(number): text() for number in range(20)}
    references = {image: [text() for _ in range(2)] for image in candidates}
    tokens = {image: [one.split() for one in own] for image, own in references.items()}
    rows = [
        row(said.split(), tokens[image], [], OBJECTS, lambda word: recorded.get(word, word))
        for image, said in candidates.items()
    ]
    metric = ChairI(gold="references", lemmas="wordnet")
    result = sacrecap.score(references, candidates, metric, tokenizer="none", interval=None)[metric]
    assert result.statistics.sums() == [sum(column) for column in zip(*rows, strict=True)]
    assert "lemmas=wordnet" in result.signature


def test_lemmas_are_those_of_the_words_of_the_published_list(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("dog\n")
    for vocabulary in ("wordnet", tmp_path / "words.txt"):
        metric = ChairI(gold="references", lemmas="wordnet")
        with pytest.raises(UsageError, match="lemmas=wordnet knows the words of the vocabulary coco alone"):
            sacrecap.score({"1": ["x"]}, {"1": "a dog"}, metric, vocabulary=vocabulary, interval=None)


quiet = pytest.mark.filterwarnings("ignore:.*no caption names an object:sacrecap.SacrecapWarning")


@quiet
@pytest.mark.parametrize(
    ("text", "objects"),
    [
        ("Two men and their children.", ["person", "person"]),
        ("a hot dog", ["hot dog"]),
        ("hot dogs and dogs", ["hot dog", "dog"]),
        ("Something hot. Dogs run.", ["dog"]),
        ("a wine, glass and bottle", ["bottle"]),
        ("a glass of wine glasses", ["wine glass"]),
        ("a baby elephant beside an adult bear", ["elephant", "bear"]),
        ("a baby and a bear", ["person", "bear"]),
        ("baby animals", []),
        ("a passenger train on train tracks", ["train"]),
        ("a passenger on a train", ["person", "train"]),
        ("the seat of a toilet", ["toilet"]),
        ("a toilet seat and another seat", ["toilet"]),
        ("a seat", ["chair"]),
        ("home plate, plates", []),
        ("a motor bike", []),
        ("a bike", ["bicycle"]),
        ("a stove top oven", ["oven", "oven"]),
        ("an iPhone, a cheesecake", []),
        ("a bow tie and a bow", ["tie", "tie"]),
        ("scissors, skis, knives", ["scissors", "skis", "knife"]),
        ("a dining table", ["dining table"]),
        ("a dog's bowl", ["dog", "bowl"]),
        ("", []),
    ],
)
def test_special_words(text: str, objects: list[str]) -> None:
    assert found(text) == objects
    tokens = sacrecap.tokenize([text])[0] if "." not in text and "," not in text else None
    if tokens is not None:
        assert mentions(tokens, OBJECTS, singular) == objects


def test_the_pairs_are_the_programs() -> None:
    """But three words that it has among them, which it never finds."""
    assert {pair: term for pair, term in double_words().items() if pair != "stove top oven"} == PAIRS


def test_every_word_is_found_in_both_numbers() -> None:
    vocabulary = open_vocabulary("coco")
    assert len(vocabulary.objects) == 80
    assert vocabulary.never_found == [" motor bike", " cheesecake", "iPhone"]
    for word, number in vocabulary.words.items():
        if word not in (*vocabulary.never_found, *NEVER):
            for form in (word, plurals(word)[0], word.upper()):
                assert vocabulary.object_of(form) == number, form
    assert vocabulary.object_of("unicorn") is vocabulary.object_of("train track") is vocabulary.object_of("") is None
    voc = "aeroplane bicycle bird boat bottle bus car cat chair cow diningtable dog horse motorbike person pottedplant"
    assert None not in map(vocabulary.object_of, [*voc.split(), "sheep", "sofa", "train", "tvmonitor"])
    assert vocabulary.object_of("hair_drier") == vocabulary.object_of("Hair Driers") == 78


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("bus", ["buses", "busses"]),
        ("glass", ["glasses"]),
        ("city", ["cities"]),
        ("boy", ["boys"]),
        ("knife", ["knives", "knifes"]),
        ("wolf", ["wolves", "wolfs"]),
        ("roof", ["roofs"]),
        ("woman", ["women", "womans"]),
        ("human", ["humans"]),
        ("mango", ["mangos", "mangoes"]),
        ("grandchild", ["grandchildren", "grandchilds"]),
        ("mongoose", ["mongooses"]),
        ("cactus", ["cactuses", "cacti"]),
        ("", []),
    ],
)
def test_plurals(word: str, forms: list[str]) -> None:
    assert set(forms) <= set(plurals(word))
    assert plurals(word)[:1] == forms[:1]
    assert len(plurals(word)) <= 3


REFERENCES = {"1": ["a dog on a couch", "a dog"], "2": ["a red bus", "a bus"]}
CANDIDATES = {"1": "A dog and a cat on a bed. The cats sleep.", "2": "a bus on the street"}
GIVEN = {"1": ["dog", "bed"], "2": []}


@pytest.mark.filterwarnings("ignore:no objects for:sacrecap.SacrecapWarning")
def test_what_counts_as_there() -> None:
    def sums(gold: str) -> list[float]:
        metric = ChairI(gold=gold)
        result = sacrecap.score(REFERENCES, CANDIDATES, metric, objects=GIVEN, interval=None)
        return result[metric.key].statistics.sums()

    assert sums("both") == [2, 5, 1, 2, 3, 4]
    assert sums("objects") == [3, 5, 2, 2, 2, 2]
    assert sums("references") == [3, 5, 1, 2, 2, 3]


def test_objects_that_are_missing() -> None:
    for metric in ("chair-i", "chair-s", "chair-recall(gold=objects)"):
        with pytest.raises(
            UsageError, match=r"CHAIR.* needs the objects of each image: give objects=FILE.*gold=references"
        ):
            sacrecap.score(REFERENCES, CANDIDATES, metric)
    alone = sacrecap.score(REFERENCES, CANDIDATES, "chair-i(gold=references)", interval=None)
    assert alone["chair-i(gold=references)"].value == 3 / 5
    with pytest.warns(SacrecapWarning) as caught:
        result = sacrecap.score(REFERENCES, CANDIDATES, "fidelity", interval=None)
    messages = [str(one.message) for one in caught]
    for name in ("chair-i", "chair-s", "chair-recall"):
        assert name not in result
        [message] = [one for one in messages if f"take {name}(gold=references)" in one]
        assert "is left out of group fidelity: it needs the objects of each image" in message


def test_an_explanation_is_printed() -> None:
    result = sacrecap.score(
        REFERENCES, CANDIDATES, "chair-i, chair-s, chair-recall", objects={"1": ["dog", "bed"], "2": ["bus"]}
    )
    shown = result.hallucination("1")
    assert str(shown).splitlines() == [
        "sentence 1  A dog and a [cat] on a bed.",
        "sentence 2  The [cats] sleep.",
        "not there   cat → cat, characters 12 to 15, sentence 1",
        "            cats → cat, characters 30 to 34, sentence 2",
        "there       dog → dog, characters 2 to 5, sentence 1",
        "            bed → bed, characters 21 to 24, sentence 1",
        "not named   couch",
        "score       CHAIR-i 0.5000 = 2 of 4 mentions; CHAIR-s 1; CHAIR-recall 0.6667 = 2 of 3 objects",
    ]
    assert [result[key].per_image[0] for key in result] == [0.5, 1, pytest.approx(2 / 3)]
    for mention in shown.mentions:
        assert CANDIDATES["1"][mention.start : mention.end] == mention.words
    document = json.loads(json.dumps(result.explain("1")["hallucination"].to_dict()))
    assert document["mentions"][1] == {
        "words": "cat",
        "object": "cat",
        "there": False,
        "start": 12,
        "end": 15,
        "sentence": 1,
    }
    assert document["missed"] == ["couch"]
    assert "|vocabulary:" in result["chair-s"].signature
    with pytest.raises(UsageError, match="hallucinations are CHAIR's, which was not scored"):
        sacrecap.score(REFERENCES, CANDIDATES, "bleu-1").hallucination("1")


@quiet
def test_the_report_marks_them() -> None:
    result = sacrecap.score(REFERENCES, CANDIDATES, "chair-i", objects={"1": ["dog", "bed"], "2": ["bus"]})
    found = page(result)
    assert found.data["metrics"][0]["lower_is_better"] is True
    assert '<li>The <mark title="cat: not there">cats</mark> sleep.</li>' in found.drawings[0]
    assert ", 2 of 4. There and not named: couch.</figcaption>" in found.drawings[0]
    assert not page(sacrecap.score(REFERENCES, CANDIDATES, "bleu-1")).drawings
    assert "named and not there" in found.drawings[0]


@quiet
def test_the_report_marks_what_is_there_apart() -> None:
    result = sacrecap.score(REFERENCES, CANDIDATES, "chair-i", objects={"1": ["dog", "bed"], "2": ["bus"]})
    assert (
        '<li>A <span class="there" title="dog">dog</span> and a <mark title="cat: not there">cat</mark> on a '
        '<span class="there" title="bed">bed</span>.</li>'
    ) in page(result).drawings[0]


def test_on_the_command_line(run: Runner, tmp_path: Path) -> None:
    for name, content in (("r.json", REFERENCES), ("c.json", CANDIDATES), ("o.json", GIVEN)):
        (run.folder / name).write_text(json.dumps(content))
    (run.folder / "words.txt").write_text("cat, cats\nstreet\ndog\nbed\n")
    score = ["score", "r.json", "c.json", "--metrics", "chair-i, chair-s", "--interval", "none", "--explain", "1"]
    shown = run.ok(*score, "--objects", "o.json")
    assert "sentence 1  A dog and a [cat] on a bed." in shown
    own = ["--metrics", "chair-i(vocabulary=words.txt), chair-s(vocabulary=words.txt)"]
    document = json.loads(run.ok(*score[:3], *own, *score[5:], "--objects", "o.json", "--format", "json"))
    assert [*document["scores"].values()] == [3 / 5, 1]
    assert [one["words"] for one in document["hallucinations"]["1"]["mentions"]] == ["dog", "cat", "bed", "cats"]
    assert run.refused(*score).startswith("CHAIR-i needs the objects of each image: give --objects FILE")
    absent = ["--metrics", "chair-i(vocabulary=no.txt)", "--objects", "o.json"]
    assert "no.txt: no such file, and no vocabulary of that name" in run.refused(*score[:3], *absent)


def test_words_that_the_tokenizer_writes_otherwise_keep_their_places() -> None:
    text = "“It’s a DOG,” she can't say (the dog's   wine\nglasses)… Öl\u0130 and a cat!"
    result = sacrecap.score({"1": ["x"]}, {"1": text}, "chair-i(gold=references)", interval=None)
    found = result.hallucination("1").mentions
    assert [(one.words, one.object) for one in found] == [
        ("DOG", "dog"),
        ("dog", "dog"),
        ("wine\nglasses", "wine glass"),
        ("cat", "cat"),
    ]
    assert all(text[one.start : one.end] == one.words for one in found)


def test_a_paragraph_takes_time_by_its_length() -> None:
    sentence = "A man sits near a dining table with a laptop, a cup and baby bears. "
    text = (sentence * 1400)[:99_000].rpartition(". ")[0] + "."
    result = sacrecap.score({"1": [sentence]}, {"1": text}, "chair-i(gold=references)", interval=None)
    shown = result.hallucination("1")
    assert len(shown.mentions) == 5 * len(shown.sentences)
    assert shown.mentions[-1].sentence == len(shown.sentences) > 1000
    assert not shown.hallucinated


def test_another_vocabulary(tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text("dog, puppy,hound\n\ntraffic cone,cone\nice cream cone\n")
    vocabulary = open_vocabulary(file)
    assert vocabulary.objects == ("dog", "traffic cone", "ice cream cone")
    assert found("Puppies, hounds, traffic cones, ice cream cones, a cat, a hot dog", vocabulary) == [
        "dog",
        "dog",
        "traffic cone",
        "ice cream cone",
    ]
    needed = sacrecap.score(REFERENCES, CANDIDATES, "chair-i(gold=references)", vocabulary=file, interval=None)
    named = sacrecap.score(REFERENCES, CANDIDATES, ChairI(gold="references", vocabulary=file), interval=None)
    assert (
        next(iter(needed.values())).statistics.sums()
        == next(iter(named.values())).statistics.sums()
        == [0, 1, 0, 2, 1, 1]
    )
    assert f"|vocabulary:{vocabulary.checksum[:8]}|" in next(iter(named.values())).signature


def test_plurals_that_are_words_of_their_own() -> None:
    """Glasses are more than one glass unless the vocabulary has them as something else; vases are no vas."""
    vocabulary = ObjectVocabulary("glass, wine glass\nopera glasses\nvas\nvase\n", "words")
    text = "glasses, wine glasses, opera glasses, vases"
    assert found(text, vocabulary) == ["glass", "glass", "opera glasses", "vase"]
    other = ObjectVocabulary("glass\nglasses, spectacles\n", "words")
    assert found("a glass and glasses", other) == ["glass", "glasses"]


def test_the_metrics_own_vocabulary_comes_before_that_of_the_call(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("bus\n")
    own = ChairI(gold="references", vocabulary=str(tmp_path / "own.txt"))
    metrics = [own, "chair-i(gold=references)"]
    result = sacrecap.score(REFERENCES, CANDIDATES, metrics, vocabulary="wordnet", interval=None)
    assert [score.signature.partition("vocabulary:")[2][:8] for score in result.values()] == [
        open_vocabulary(source).checksum[:8] for source in (str(tmp_path / "own.txt"), "wordnet")
    ]


def test_the_published_file_is_the_default(tmp_path: Path) -> None:
    (tmp_path / "synonyms.txt").write_bytes(LIST.read_bytes())
    with pytest.warns(SacrecapWarning, match="no caption can contain ' motor bike', ' cheesecake', 'iPhone': captions"):
        given = open_vocabulary(tmp_path / "synonyms.txt")
    assert given.checksum == open_vocabulary("coco").checksum
    assert given.words == open_vocabulary("coco").words


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "no word in it; each line is an object"),
        (b" , ,\n", "no word in it"),
        (b"dog, puppy\ncat, puppy\n", "line 2: 'puppy' names 'dog' on line 1 already"),
        (b"dog\n\xff\n", "not UTF-8"),
    ],
)
def test_unusable_vocabularies(tmp_path: Path, run: Runner, text: bytes, message: str) -> None:
    (tmp_path / "words.txt").write_bytes(text)
    with pytest.raises(DataError, match="words.txt") as caught:
        open_vocabulary(tmp_path / "words.txt")
    assert message in str(caught.value)


def test_a_vocabulary_that_there_is_not() -> None:
    with pytest.raises(
        DataError, match=r"visual: no such file, and no vocabulary of that name; give coco or wordnet, or a file"
    ):
        sacrecap.score(REFERENCES, CANDIDATES, "chair-i(gold=references)", vocabulary="visual")


def test_the_larger_vocabulary() -> None:
    vocabulary = open_vocabulary("wordnet")
    assert not vocabulary.never_found
    assert 600 <= len(vocabulary.objects) <= 3000
    labels = open_vocabulary("coco").objects
    assert sum(vocabulary.object_of(label) is not None for label in labels) > 70
    assert found("A guitarist with two guitars near a lighthouse", vocabulary)[1:] == [
        vocabulary.objects[vocabulary.object_of(word) or 0] for word in ("guitar", "lighthouse")
    ]


def test_combined_and_as_the_accuracy_of_sets() -> None:
    """One pass counts the three, and candidates of sets are mentions each."""
    combined = sacrecap.score(
        REFERENCES,
        CANDIDATES,
        "combine(chair-i, chair-s), chair-i, chair-s",
        objects={"1": ["dog"], "2": ["bus"]},
        interval=None,
    )
    whole, *parts = (score.value for score in combined.values())
    assert whole == pytest.approx(np.mean(parts))
    sets = {"1": ["a dog", "a cat", "A dog. Cats."], "2": ["a bus", "a car", "a bus"]}
    found = sacrecap.diversity(sets, REFERENCES, "div-1", accuracy="chair-i(gold=references)", interval=None)
    figures = next(iter(found.systems.values())) if hasattr(found, "systems") else found
    assert figures["accuracy"].value == pytest.approx((0 + 1 + 0.5 + 0 + 1 + 0) / 6)


@pytest.mark.parametrize(
    ("caption", "named"),
    [
        ("A dog sits. A cat lies on a car", ["dog"]),
        ('A dog sits. "A cat lies."', ["dog", "cat"]),
        ("A dog sits. There is a cat (on a car)! Beside it a", ["dog", "cat", "car"]),
        ("a dog on a car", ["dog", "car"]),  # people and captioners write no mark at the end of their only sentence
        ("A dog sits at 3.5 m from a car", ["dog", "car"]),
        ("A dog sits near a hot. Dog near a car", ["dog"]),
        ("A dog sits. No cat is there. A car", ["dog"]),
    ],
)
@pytest.mark.parametrize("tokenizer", ["ptb", "ptb-stream"])
def test_a_last_sentence_that_was_cut_off_names_nothing(caption: str, named: list[str], tokenizer: str) -> None:
    metric = ChairI(gold="references", denied="skip", unfinished="skip")
    result = sacrecap.score({"1": ["A boat."]}, {"1": caption}, [metric], tokenizer=tokenizer, interval=None)
    assert [mention.object for mention in result.hallucination("1").mentions] == named


def test_references_are_never_cut() -> None:
    metric = ChairRecall(gold="references", unfinished="skip")
    result = sacrecap.score({"1": ["A dog sits. A car"]}, {"1": "a dog"}, [metric], interval=None)
    assert result[metric].value == 0.5
