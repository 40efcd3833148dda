"""SPICE's counting, on scene graphs that are given: merging, matching, categories."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sacrecap
from laws.registered import few
from reference import spice
from sacrecap import Corpus, _core, example, score
from sacrecap.metrics import Spice, Spider
from sacrecap.resources.english import synonyms
from scenes import graph as _graph

NAMES = [
    "dog",
    "hound",
    "puppy",
    "dogs",
    "painting",
    "picture",
    "photo",
    "movie",
    "man",
    "person",
    "catch",
    "get",
    "in",
]
Graph = spice.Graph


def _score(candidate: Graph, references: list[Graph], category: str = "all") -> float:
    captions = {"c": candidate, **{f"r{number}": graph for number, graph in enumerate(references)}}
    graphs = _core.SceneGraphs.given(list(captions.items()))
    corpus = Corpus({"1": list(captions)[1:]}, {"1": "c"}, tokenizer="none")
    call = [("spice", "spice", {"category": category})]
    (statistics,) = _core.evaluate(corpus._core, call, [graphs, synonyms()], 1)
    (value,) = memoryview(statistics.row_scores()).cast("d")
    return float(value)


def _sets(name: str) -> set[int]:
    return set(synonyms().sets(name.replace(" ", "_")))


@st.composite
def _graphs(draw: st.DrawFn) -> Graph:
    name = st.sampled_from(NAMES)
    objects = draw(st.lists(name, max_size=5))
    if not objects:
        return [], [], []
    number = st.integers(0, len(objects) - 1)
    attributes = draw(st.lists(st.tuples(number, name), max_size=4))
    relations = draw(st.lists(st.tuples(number, name, number), max_size=4))
    return (
        [(name, [0]) for name in objects],
        [(owner, name, [0]) for owner, name in attributes],
        [(subject, name, other, [0]) for subject, name, other in relations],
    )


@given(_graphs(), st.lists(_graphs(), min_size=1, max_size=3))
def test_the_score_equals_the_slow_reference(candidate: Graph, references: list[Graph]) -> None:
    assert _score(candidate, references) == pytest.approx(spice.score([candidate], references, _sets), abs=1e-12)


@pytest.mark.parametrize(
    ("candidate", "references", "expected"),
    [
        # The examples were put to the original program.
        (("painting", "photo"), [("picture",)], 4 / 3),
        (("bicycle", "motorcycle"), [("bike",)], 4 / 3),
        (("dog", "dog, brown"), [("dog",)], 2 / 3),
        (("people",), [("person",)], 0.0),
        (("hill", "man", "man, climb up, hill"), [("mound", "man", "man, climb, mound")], 1.0),
        (("man", "man, in, man"), [("man", "man, inside, man")], 1 / 2),
        ((), [("dog",)], 0.0),
        (("dog",), [()], 0.0),
        ((), [()], 0.0),
    ],
)
def test_worked_examples(candidate: tuple[str, ...], references: list[tuple[str, ...]], expected: float) -> None:
    graphs = [_graph(*reference) for reference in references]
    assert _score(_graph(*candidate), graphs) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("names", "merged"),
    [
        (("painting", "photo", "picture"), [["painting"], ["photo", "picture"]]),
        (("movie", "photo", "picture"), [["movie", "picture"], ["photo"]]),
        (("photo", "movie", "picture"), [["photo", "picture"], ["movie"]]),
    ],
)
def test_a_name_joins_the_most_similar_and_of_equals_the_first(names: tuple[str, ...], merged: list[list[str]]) -> None:
    graphs = _core.SceneGraphs.given([("c", _graph(*names))])
    said, _, _ = graphs.explain(synonyms(), Corpus({"1": ["r"]}, {"1": "c"})._core, 0)
    assert [parts[0] for parts, _ in said] == merged


def test_an_explanation_names_what_matches_and_by_which_rule() -> None:
    given_graphs = {
        "c": _graph("dog", "cat", "dog, brown", "dog, chase, cat"),
        "r": _graph("cat", "hound", "hound, brown"),
    }
    graphs = _core.SceneGraphs.given(list(given_graphs.items()))
    said, expected, counts = graphs.explain(synonyms(), Corpus({"1": ["r"]}, {"1": "c"})._core, 0)
    assert said == [
        ([["dog"]], (1, "synset")),
        ([["cat"]], (0, "lemma")),
        ([["dog"], ["brown"]], (2, "synset")),
        ([["dog"], ["chase"], ["cat"]], None),
    ]
    assert [match for _, match in expected] == [(1, "lemma"), (0, "synset"), (2, "synset")]
    assert counts == (3, 4, 3)


def test_a_category_of_which_the_references_say_nothing_has_no_score() -> None:
    candidate, references = _graph("dog", "dog, red"), [_graph("dog")]
    assert math.isnan(_score(candidate, references, "attribute"))
    assert _score(candidate, references, "object") == 1.0
    assert _score(_graph("dog"), [_graph("dog", "dog, big")], "attribute") == 0.0


def test_a_graph_that_names_an_unknown_object_is_refused() -> None:
    with pytest.raises(ValueError, match="a scene graph of 1 objects has no object 1"):
        _core.SceneGraphs.given([("c", ([("dog", [0])], [(1, "red", [0])], []))])


def test_a_text_of_sentences_has_the_graphs_of_its_sentences() -> None:
    """The tokenizer drops the marks that end them."""
    sentences = ["A brown dog runs along the beach.", 'Two cats sit on a "red" sofa!', "A man holds a red ball"]
    text = "\n ".join(sentences)
    expected = [one for sentence in sentences for one in sacrecap.scene_graph(sentence).tuples()]
    assert sorted(sacrecap.scene_graph(text, grammar="spice").tuples()) == sorted(set(expected))
    assert len(sacrecap.scene_graph(text).tokens) == sum(len(tokens) for tokens in sacrecap.tokenize(sentences))


@pytest.mark.parametrize("text", ["a dog runs by St. Mary", "the U.S. flag on a pole", "a t.v. on a wall"])
def test_an_abbreviation_ends_no_sentence(text: str) -> None:
    assert sacrecap.scene_graph(text).tokens == tuple(sacrecap.tokenize([text])[0])
    each, one = (score({"1": [text]}, {"1": text}, Spice(sentences=how), interval=None) for how in ("each", "one"))
    assert each.graph("1") == one.graph("1")


SENTENCES = [
    "A brown dog runs along the beach.",
    "Two cats sit on a red sofa!",
    "It is old.",
    "A man holds his phone?",
    "To his left, two women wait.",
    "They look at St. Mary.",
]


def _spice(references: dict[str, list[str]], candidates: dict[str, str], metric: str = "spice") -> list[float]:
    return list(score(references, candidates, metric, interval=None)[metric].per_image)


@few
@given(*[st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=9)] * 2)
def test_a_text_says_what_its_sentences_say(candidate: list[str], reference: list[str]) -> None:
    """References are joined into one graph, so that a text is worth as much as its sentences as captions."""
    said, other = " ".join(candidate), "A dog sits near an old man."
    references = {"1": [" ".join(reference)], "2": reference, "3": [said], "4": candidate}
    candidates = {"1": said, "2": said, "3": other, "4": other}
    whole, apart, text, sentences = _spice(references, candidates)
    assert (whole, text) == (apart, sentences)


def test_words_that_say_nothing_change_nothing_at_any_length() -> None:
    """Also beyond the 80 words that are parsed at once."""
    text = " ".join(SENTENCES * 2)
    images = [str(number) for number in range(5, 60, 5)]
    candidates = {image: f"{text} {' '.join(['yes'] * int(image))}" for image in images}
    assert {len(sacrecap.tokenize([own])[0]) > 80 for own in candidates.values()} == {False, True}
    assert len(set(_spice({image: ["A brown cat on a phone. A man."] for image in images}, candidates))) == 1


def test_a_caption_is_cut_by_its_own_marks_alone() -> None:
    """Another caption may have the same tokens without the marks."""
    marked, bare = "Two dogs. On the beach.", "two dogs on the beach"
    references = {"1": ["A man throws a red ball to dogs on the beach."]}
    [apart], [joined] = (_spice(references, {"1": text}) for text in (marked, bare))
    assert apart != joined
    assert _spice({"1": references["1"], "2": references["1"]}, {"1": marked, "2": bare}) == [apart, joined]
    assert _spice(references, {"1": marked}, "spice(sentences=one)") == [joined]


def test_the_explanation_is_of_the_graph_that_was_counted() -> None:
    text = "A man holds his phone. To his left, two women wait."
    found = set(sacrecap.scene_graph(text, grammar="spice").tuples())
    for metric in (Spice(), Spice(sentences="one")):
        result = score({"1": [text]}, {"1": text}, metric, interval=None)
        said = {names for one in result.graph("1").candidate for names in product(*one.parts)}
        assert (said == found) == (metric.sentences == "each")
        assert result[metric].signature.startswith(f"{metric.key}|")


def test_the_share_of_known_words_is_told() -> None:
    references = {"1": ["ein Hund am Strand"], "2": ["a dog at the beach"]}
    result = score(references, {"1": "ein Hund läuft schnell zum Strand", "2": "a dog runs"}, "spice", interval=None)
    assert result["spice"].coverage == 4 / 9
    assert result.to_dict()["coverage"] == {"spice": 4 / 9}
    assert "vector" not in str(result)
    usual = score(references, {"1": "a dog", "2": "a dog runs"}, "spice", interval=None)
    assert usual["spice"].coverage == 1


@pytest.mark.parametrize("category", ["all", "object", "attribute", "relation", "color", "count", "size"])
def test_the_range_is_0_to_1_with_any_parameters(category: str) -> None:
    metric = Spice(category=category)
    assert (metric.smallest, metric.largest) == (0, 1)
    assert Spider().largest == 5.5
    references, captions = example.references(), example.systems()["careful"]
    found = score(references, captions, metric, interval=None)[metric].per_image
    assert np.nanmin(found) >= 0
    assert 0.5 < np.nanmax(found) <= 1


def test_an_interval_holds_a_score_beyond_the_range() -> None:
    references = {"1": ["a picture"], "2": ["a picture"], "3": ["a picture of a dog"]}
    captions = {"1": "a painting and a photo", "2": "a painting and a photo", "3": "a picture of a dog"}
    found = score(references, captions, "spice", interval=0.95, interval_method="jackknife")["spice"]
    assert found.value > 1
    low, high = found.interval or (0, 0)
    assert low < found.value <= high
