"""WMD and VIFIDEL: the published script, the paper's worked example, slow formulas, explanations and bad input."""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from pathlib import Path

import numpy as np
import ot
import pytest
from pyemd import emd
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer
from sklearn.metrics import pairwise_distances

import sacrecap
from corpora import EMBEDDINGS
from sacrecap import SacrecapWarning
from sacrecap.errors import DataError, UsageError
from sacrecap.metrics import Vifidel, Wmd
from sacrecap.resources.embeddings import FUNCTION_WORDS, Embeddings, table_of_arrays

COCO = "data/coco-val2017"
Vectors = dict[str, np.ndarray]


def test_the_function_words_are_scikit_learns() -> None:
    assert FUNCTION_WORDS == ENGLISH_STOP_WORDS
    assert len(FUNCTION_WORDS) == 318


@pytest.fixture(scope="module")
def glove(shared: Path) -> Vectors:
    lines = (shared / "data/word-vectors/glove-50d.txt").read_text(encoding="utf-8").splitlines()
    return {word: np.array(numbers, float) for word, *numbers in (line.split(" ") for line in lines)}


def published(objects: str, caption: str, references: list[str], vectors: Vectors) -> float:
    """What the published script computes: CountVectorizer's words, unit vectors, Euclidean distances, pyemd.

    Raises `KeyError` for a word without vector, as the script does.
    """
    counter = CountVectorizer(stop_words="english").fit([objects, caption])
    words = counter.get_feature_names_out()
    bags = [bag / bag.sum() for bag in counter.transform([objects, caption]).toarray().astype(float)]
    unit = {word: vectors[word] / np.linalg.norm(vectors[word]) for word in words}
    rho = dict.fromkeys(words, 1.0)
    if references:
        said = [CountVectorizer(stop_words="english").fit([text]).get_feature_names_out() for text in references]
        near = [[vectors[word] / np.linalg.norm(vectors[word]) for word in sentence] for sentence in said]
        for word in words:
            rho[word] = float(np.mean([max(0.0, 1 - max(unit[word] @ other for other in r)) / 2 for r in near]))
    scaled = np.array([rho[word] * unit[word] for word in words])
    return float(emd(*bags, pairwise_distances(scaled).astype(float)))


def coco(shared: Path, images: int) -> list[tuple[str, list[str], str, list[str]]]:
    """Image id, objects, caption and references of some images that have objects."""
    folder = shared / COCO
    references: dict[str, list[str]] = {}
    for row in json.loads((folder / "captions_val2017.json").read_text())["annotations"]:
        references.setdefault(str(row["image_id"]), []).append(row["caption"])
    objects = {str(row["image_id"]): row["objects"] for row in json.loads((folder / "objects.json").read_text())}
    candidates = json.loads((folder / "systems/Wu-et-al-2016.json").read_text())
    rows = [(str(row["image_id"]), row["caption"]) for row in candidates]
    rows = [(image, caption) for image, caption in rows if objects.get(image)][:images]
    return [(image, objects[image], caption, references[image]) for image, caption in rows]


@pytest.mark.parametrize("with_references", [False, True], ids=["alone", "references"])
def test_released_equals_the_published_script(shared: Path, glove: Vectors, with_references: bool) -> None:
    metric = Vifidel(variant="released", references=with_references)
    chosen, expected = [], []
    for row in coco(shared, 300):
        try:
            value = published(" ".join(row[1]), row[2], row[3] if with_references else [], glove)
        except KeyError:
            continue
        if math.isfinite(value):
            chosen.append(row)
            expected.append(value)
        if len(chosen) == 15:
            break
    assert len(chosen) == 15
    result = sacrecap.score(
        {row[0]: row[3] for row in chosen},
        {row[0]: row[2] for row in chosen},
        metric,
        objects={row[0]: row[1] for row in chosen},
        interval=None,
        embeddings=shared / "data/word-vectors/glove-50d.txt",
    )
    np.testing.assert_allclose(result[metric.key].per_image, expected, rtol=0, atol=1e-9)
    assert result[metric.key].coverage == 1 or with_references


def slow_wmd(candidate: list[str], references: list[list[str]], metric: Wmd, vectors: Vectors) -> float:
    """The formula, word by word, with POT."""
    if metric.normalise:
        vectors = {word: vector / np.linalg.norm(vector) for word, vector in vectors.items()}
    values = []
    for reference in references:
        bags = [Counter(words) for words in (candidate, reference)]
        cost = np.array([[np.linalg.norm(vectors[a] - vectors[b]) ** metric.p for b in bags[1]] for a in bags[0]])
        masses = [np.array([*bag.values()], float) / bag.total() for bag in bags]
        distance = float(ot.emd2(*masses, cost))
        values.append(math.exp(-distance) if metric.similarity else distance)
    nearest, farthest = (max, min) if metric.similarity else (min, max)
    return {"best": nearest, "worst": farthest, "mean": np.mean}[metric.pool](values)  # type: ignore[operator]


@pytest.mark.parametrize("pool", ["best", "worst", "mean"])
@pytest.mark.parametrize("normalise", [False, True])
@pytest.mark.parametrize("similarity", [False, True])
@pytest.mark.parametrize("p", [1, 2])
def test_wmd_equals_the_formula(pool: str, normalise: bool, similarity: bool, p: int) -> None:
    chance = random.Random(0)
    words = ["dog", "dogs", "runs", "city", "happy", "beach", "two birds"]
    found, _ = EMBEDDINGS.find([word.split()[-1] for word in words])
    vectors = dict(zip([word.split()[-1] for word in words], found, strict=True))
    metric = Wmd(pool=pool, p=p, similarity=similarity, normalise=normalise)
    sentences = [[chance.choice([*vectors]) for _ in range(chance.randint(1, 9))] for _ in range(60)]
    images = {str(number): (sentences[number], sentences[20 + 2 * number :][:2]) for number in range(20)}
    result = sacrecap.score(
        {image: ["the " + " of ".join(words) for words in references] for image, (_, references) in images.items()},
        {image: " ".join(candidate) + " ." for image, (candidate, _) in images.items()},
        metric,
        embeddings=EMBEDDINGS,
        interval=None,
    )
    expected = [slow_wmd(candidate, references, metric, vectors) for candidate, references in images.values()]
    assert result[metric.key].per_image.tolist() == pytest.approx(expected, rel=1e-12)
    assert result[metric.key].value == pytest.approx(np.mean(expected), rel=1e-12)


OBJECTS = {"cat": 1, "tv": 1, "book": 3, "ball": 1}
CANDIDATE = "a black cat standing next to a ball and some encyclopedias."
REFERENCES = [
    "a small cat standing on some books on a desk.",
    "a gray cat standing on top of a blue notebook.",
    "a cat stands on a binder on a desk next to a pc.",
    "a small gray kitten standing on a binder",
    "a small kitten is standing on books and binders.",
]
"""Figure 3 of the paper."""


def test_the_papers_worked_example(shared: Path) -> None:
    """Figure 3 with Google News vectors, as far as the 3,000 words go: 1 − max cos of book is 0.26 in references that
    say books. Cat, kitten, binder, notebook, desk and encyclopedias are not among them.
    """
    example = Vifidel(embeddings=str(shared / "data/word-vectors/googlenews-3000x300.bin"))
    alone = example.explain(OBJECTS, CANDIDATE, ["books"])
    assert dict(zip(alone.objects, alone.object_importance, strict=True))["book"] == pytest.approx(0.26 / 2, abs=0.0025)
    found = example.explain(OBJECTS, CANDIDATE, REFERENCES)
    assert found.objects == ("book", "ball")
    assert found.object_weights.tolist() == [0.75, 0.25]
    assert found.words == ("black", "standing", "ball")
    assert found.coverage == 16 / 34


def turned(cosines: dict[str, list[float]]) -> Embeddings:
    """Vectors of words, and of the words that references 0, 1, … say, at these cosines to each."""
    axes = {word: np.eye(len(cosines) + 1)[number] for number, word in enumerate(cosines)}
    vectors = dict(axes)
    for word, values in cosines.items():
        for number, cosine in enumerate(values):
            vectors[f"{word}{number}"] = cosine * axes[word] + math.sqrt(1 - cosine**2) * np.eye(len(cosines) + 1)[-1]
    return in_memory(vectors)


def in_memory(vectors: Vectors) -> Embeddings:
    return Embeddings("memory", lambda: table_of_arrays("memory", [*vectors], np.array([*vectors.values()]), "0" * 12))


@pytest.mark.parametrize(
    ("distances", "rho"),
    [((0, 0, 0, 0.25, 0.25), 0.05), ((0.26, 0.69, 0.71, 0.71, 0.26), 0.26), ((0.46, 0.79, 0.73, 0.73, 0.46), 0.32)],
    ids=["cat", "book", "encyclopedias"],
)
def test_the_importance_of_figure_3(distances: tuple[float, ...], rho: float) -> None:
    vectors = turned({"word": [1 - distance for distance in distances]})
    references = [f"the word{number}" for number in range(5)]
    found = Vifidel().explain(["word"], "a word", [*references, "of the", "unknowable"], embeddings=vectors)
    assert found.object_importance[0] == found.word_importance[0] == pytest.approx(sum(distances) / 10, abs=1e-12)
    assert round(found.object_importance[0], 2) == rho


def test_the_arithmetic_of_figure_2() -> None:
    """Five objects pay a word each, at 0.001 + 0.65 + 0.9 + 0.1 + 0.55 = 2.201; exp(−2.201) = 0.11."""
    paid = [0.001, 0.65, 0.9, 0.1, 0.55]
    vectors = {f"object{k}": np.array([1000.0 * k]) for k in range(5)}
    vectors |= {f"word{k}": np.array([1000.0 * k + 5 * cost]) for k, cost in enumerate(paid)}
    found = Vifidel(p=1).explain(
        [f"object{k}" for k in range(5)], " ".join(f"word{k}" for k in range(5)), embeddings=in_memory(vectors)
    )
    assert np.diag(found.plan * found.cost) == pytest.approx(paid, rel=1e-9)
    assert found.distance == pytest.approx(2.201, rel=1e-12)
    assert found.score == pytest.approx(math.exp(-2.201), rel=1e-12)
    assert round(found.score, 2) == 0.11


def test_an_object_that_all_name_raises_the_score_and_others_lower_it_gradually() -> None:
    references = ["dog on beach"] * 3 + ["city"]
    scores = [
        Vifidel(p=1).explain(labels, "a dog on the beach", references, embeddings=EMBEDDINGS)
        for labels in (
            ["dog"],
            ["dog", "beach"],
            ["dog", "beach", "cities"],
            ["dog", "beach", "cities", "happy", "birds"],
        )
    ]
    values = [found.score for found in scores]
    assert values[1] > values[0]
    assert values[1] > values[2] > values[3] > 0


def test_counts_and_presence() -> None:
    objects = {"dog": 3, "birds": 1}
    assert Vifidel().explain(objects, "dog", embeddings=EMBEDDINGS).object_weights.tolist() == [0.75, 0.25]
    presence = Vifidel(frequency=False).explain(objects, "dog", embeddings=EMBEDDINGS)
    assert presence.object_weights.tolist() == [0.5, 0.5]
    listed = Vifidel().explain(["dog", "birds", "dog", "dog"], "dog", embeddings=EMBEDDINGS)
    assert listed.object_weights.tolist() == [0.75, 0.25]


def test_an_explanation_is_printed() -> None:
    vectors = in_memory({"dog": np.array([1.0, 0]), "beach": np.array([0, 1.0])})
    found = Vifidel(p=1).explain({"dog": 1, "zebra": 2}, "A dog at the beach.", ["a dog"], embeddings=vectors)
    assert str(found).splitlines() == [
        "objects    dog    share 1.0000  ρ 0.0000",
        "words      dog    share 0.5000  ρ 0.0000",
        "           beach  share 0.5000  ρ 0.5000",
        "flow       dog    →  beach  share 0.5000 × cost 0.5000 = 0.2500",
        "           dog    →  dog    share 0.5000 × cost 0.0000 = 0.0000",
        "distance   0.2500",
        "score      0.7788",
        "coverage   80% of the content words and labels have a vector",
    ]
    assert found.reference_words == (("dog",),)
    document = json.loads(json.dumps(found.to_dict()))
    assert document["plan"] == [[0.5, 0.5]]


def test_labels_and_compounds() -> None:
    """A label of several words is one thing, at their mean; a compound in a caption is its words."""
    vectors = in_memory({"dining": np.array([1.0, 0]), "table": np.array([0, 1.0]), "dog": np.array([1.0, 1.0])})
    found = Vifidel().explain(["dining table"], "a dining-table for Dogs", embeddings=vectors)
    assert found.objects == ("dining table",)
    assert found.words == ("dining", "table", "dog")
    assert found.cost.tolist() == [[0.5, 0.5, 0.5]]
    split = Vifidel(variant="released").explain(["dining table"], "a dining-table", embeddings=vectors)
    assert split.objects == split.words == ("dining", "table")
    assert split.score == 0


def test_five_hundred_labels() -> None:
    labels = [f"label{number}" for number in range(500)]
    vectors = np.random.default_rng(0).normal(size=(501, 50))
    found = Vifidel().explain(
        labels, "a dog", ["a dog"], embeddings=in_memory(dict(zip([*labels, "dog"], vectors, strict=True)))
    )
    assert found.plan.shape == (500, 1)
    assert found.distance == pytest.approx(np.mean(found.cost), rel=1e-12)


def test_the_signature_and_the_coverage() -> None:
    result = sacrecap.score(
        {"1": ["a dog"]}, {"1": "a dog and a zebra"}, "vifidel,wmd,bleu-1", objects={1: ["dog"]}, embeddings=EMBEDDINGS
    )
    assert "|embeddings:00000000|" in result["wmd"].signature
    assert "|objects:" not in result["wmd"].signature
    assert "|embeddings:00000000|objects:" in result["vifidel"].signature
    assert result["wmd"].coverage == pytest.approx(2 / 3)
    assert result["vifidel"].coverage == 3 / 4
    assert result["bleu-1"].coverage is None
    assert result.to_dict()["coverage"] == {"vifidel": 3 / 4, "wmd": pytest.approx(2 / 3)}
    assert "WMD: 66.7% of the content words and labels have a vector" in str(result)
    assert str(result.explanation("1")).startswith("objects    dog")


pytestmark = pytest.mark.filterwarnings("ignore:.*have a vector in:sacrecap.SacrecapWarning")


def test_low_coverage_is_a_warning() -> None:
    with pytest.warns(SacrecapWarning, match=r"WMD: only 50% of the content words .* have a vector in test;"):
        sacrecap.score({"1": ["a dog"]}, {"1": "zebra"}, "wmd", embeddings=EMBEDDINGS, interval=None)


@pytest.mark.filterwarnings("ignore:CHAIR-.* is left out of group fidelity:sacrecap.SacrecapWarning")
def test_groups_leave_vifidel_out_without_objects() -> None:
    references, candidates = {"1": ["a dog"], "2": ["a dog"]}, {"1": "dog", "2": "dog"}
    with pytest.warns(SacrecapWarning, match="VIFIDEL is left out of group fidelity: it needs the objects of"):
        result = sacrecap.score(references, candidates, "fidelity", embeddings=EMBEDDINGS, interval=None)
    assert "wmd" in result
    assert "vifidel" not in result
    with pytest.raises(UsageError, match=r"VIFIDEL needs the objects of each image: give objects=FILE"):
        sacrecap.score({"1": ["a dog"]}, {"1": "dog"}, "vifidel", embeddings=EMBEDDINGS)


@pytest.mark.parametrize(
    ("objects", "message"),
    [
        ({"1": "dog"}, "image 1: its objects are a string; give a list of labels or {label: count}"),
        ({"1": 3}, "image 1: its objects are the number 3; give a list of labels"),
        ({"1": {"dog": -1}}, "image 1: the count of 'dog' must be a whole number of at least 0, got -1"),
        ({"1": {"dog": 0.9}}, "image 1: the count of 'dog' must be a whole number of at least 0, got 0.9"),
        ({"1": {"dog": float("nan")}}, "image 1: the count of 'dog' must be a whole number of at least 0, got nan"),
        ({"1": [5]}, "image 1: a label must be text, got 5"),
        ({"1": [" "]}, "image 1: a label must be text, got ' '"),
        ({"2": ["dog"]}, "it has objects of 1 image (2), but not of any of the 1 image (1) that are scored; are"),
    ],
)
def test_unusable_objects(objects: dict[str, object], message: str) -> None:
    with pytest.raises(DataError) as caught:
        sacrecap.score({"1": ["a dog"]}, {"1": "dog"}, "vifidel", objects=objects, embeddings=EMBEDDINGS)  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_images_without_objects_are_a_warning() -> None:
    with pytest.warns(SacrecapWarning, match=r"no objects for 1 image \(2\)"):
        result = sacrecap.score(
            {"1": ["a dog"], "2": ["a dog"]},
            {"1": "dog", "2": "dog"},
            "vifidel",
            objects={"1": ["dog"]},
            embeddings=EMBEDDINGS,
            interval=None,
        )
    assert result["vifidel"].per_image.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("nan.txt", b"dog 1 2\ncat 1 nan\n", "NaN or infinity"),
        ("mixed.txt", b"dog 1 2\ncat 1 2 3\n", "line 2"),
        ("short.bin", b"2 4\ndog " + bytes(8), "ends"),
    ],
)
def test_unusable_vectors(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        Vifidel(embeddings=tmp_path / name).explain(["dog"], "a cat")
    assert name in str(caught.value)


def test_wmd_has_no_score_of_texts_with_too_many_pairs_of_words() -> None:
    """Transport between 2,001 words and as many takes a minute; a text that repeats itself has few."""
    words = [f"word{number}" for number in range(2_001)]
    vectors = in_memory({word: np.array([1.0, number]) for number, word in enumerate(words)})
    long = " ".join(words)
    references = {"1": ["word1"], "2": ["word2", long], "3": [long]}
    with pytest.warns(SacrecapWarning, match=r"^WMD has no score of 1 image \(2\): .* 4,000,000 pairs of .* words"):
        result = sacrecap.score(
            references, {"1": "word1 " * 5_000, "2": long, "3": "word1"}, "wmd", embeddings=vectors, interval=None
        )
    first, second, third = result["wmd"].per_image.tolist()
    assert first == 1
    assert math.isnan(second)
    assert result["wmd"].value == pytest.approx((first + third) / 2)


def test_the_metrics_own_vectors_come_before_those_of_the_call(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("dog 1 0\ncat 0 1\n")
    own = Wmd(embeddings=str(tmp_path / "own.txt"))
    others = in_memory({"dog": np.ones(1), "cat": np.zeros(1)})
    result = sacrecap.score({"1": ["dog"]}, {"1": "cat"}, [own, Wmd(p=1)], embeddings=others, interval=None)
    assert result[own.key].value == pytest.approx(math.exp(-2))
    assert result["wmd(p=1)"].value == pytest.approx(math.exp(-1))


@pytest.mark.parametrize("threads", [2, 5])
def test_any_number_of_threads_gives_the_same_bits(threads: int) -> None:
    chance = random.Random(1)
    words = ["dog", "dogs", "runs", "city", "happy", "beach"]
    captions = [" ".join(chance.choices(words, k=chance.randint(1, 8))) for _ in range(80)]
    references = {str(k): captions[40 + k % 30 :][:3] for k in range(40)}
    candidates = {str(k): captions[k] for k in range(40)}
    objects = {str(k): captions[79 - k].split() for k in range(40)}
    metrics = "vifidel,wmd,vifidel(variant=released)"
    given = {"objects": objects, "embeddings": EMBEDDINGS, "interval": None}
    one, many = (sacrecap.score(references, candidates, metrics, threads=n, **given) for n in (1, threads))
    for key in one:
        assert one[key].statistics.values() == many[key].statistics.values()


def test_combined_with_cider_d() -> None:
    """The paper's plain average: each member keeps its own score, and the plan can be shown."""
    references = {"1": ["a dog runs"], "2": ["birds on a beach"]}
    result = sacrecap.score(
        references,
        {"1": "dogs run", "2": "birds on a beach"},
        "combine(vifidel, cider-d), vifidel, cider-d",
        objects={"1": ["dog"], "2": ["birds"]},
        embeddings=EMBEDDINGS,
        interval=None,
    )
    combined, vifidel, cider = result.values()
    assert combined.value == pytest.approx((vifidel.value + cider.value) / 2)
    assert "|embeddings:00000000|" in combined.signature
    assert result.explanation("1").objects == ("dog",)
    of_other_words = sacrecap.score(
        references,
        {"1": "dog", "2": "dogs"},
        "combine(cider-d, vifidel(variant=released)), cider-d, vifidel(variant=released)",
        objects={"1": ["dog"], "2": ["dog"]},
        embeddings=EMBEDDINGS,
        interval=None,
    )
    combined, cider, released = of_other_words.values()
    assert combined.per_image == pytest.approx((cider.per_image - released.per_image) / 2)


def test_a_threshold_is_for_detections(tmp_path: Path) -> None:
    call = {"references": {"1": ["a dog"]}, "candidates": {"1": "dog"}, "metrics": "vifidel", "embeddings": EMBEDDINGS}
    with pytest.raises(UsageError, match="a threshold is for a file of detections with scores"):
        sacrecap.score(**call, objects={"1": ["dog"]}, threshold=0.5)  # type: ignore[arg-type]
    detected = [{"label": "dog", "score": 0.9}, {"label": "cities", "score": 0.3}]
    (tmp_path / "objects.json").write_text(json.dumps([{"image_id": "1", "detections": detected}]))
    loose, strict = (
        sacrecap.score(**call, objects=tmp_path / "objects.json", threshold=threshold, interval=None)["vifidel"].value  # type: ignore[arg-type]
        for threshold in (0.2, 0.6)
    )
    assert loose < strict == 1


def test_systems_compared_by_a_distance() -> None:
    """The best has the least distance, and objects reach the comparison."""
    references = {str(k): ["a dog"] for k in range(40)}
    systems = {"far": dict.fromkeys(references, "cities"), "near": dict.fromkeys(references, "a dog")}
    metrics = "wmd, wmd(similarity=no), vifidel(variant=released)"
    comparison = sacrecap.compare(
        references, systems, metrics, objects={k: ["dog"] for k in references}, embeddings=EMBEDDINGS, samples=200
    )
    for metric in comparison.metrics:
        assert comparison.ranking(metric) == ["near", "far"], metric
        assert comparison.ranks(metric) == {"far": (2, 2), "near": (1, 1)}, metric
