"""Whatever callers hold goes to other processes and back, by pickle and by copies."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import pytest

import sacrecap
from sacrecap import example
from sacrecap.metrics import Bleu, CiderD, Combine
from sacrecap.metrics.registry import own_metrics
from sacrecap.resources.embeddings import open_embeddings

IMAGE = next(iter(example.references()))
REFERENCE_IDS = [np.array([[4, 5, 6, 0], [4, 6, 0, 0]]), np.array([[7, 8, 0]])]
SAMPLED = np.array([[4, 5, 6, 0], [7, 9, 8, 0]])


def systems() -> dict[str, dict[str, str]]:
    return dict(list(example.systems().items())[:2])


@cache
def result() -> sacrecap.Result:
    metrics = "bleu-4, rouge-l, cider-d, meteor, wmd, vifidel, spice, combine(bleu-1, wmd)"
    return sacrecap.score(example.references(), next(iter(systems().values())), metrics, objects=example.objects())


@cache
def frequencies() -> sacrecap.DocumentFrequency:
    return sacrecap.DocumentFrequency.build(example.references())


@cache
def reward() -> sacrecap.CiderDReward:
    return sacrecap.CiderDReward(sacrecap.DocumentFrequency.from_token_ids(REFERENCE_IDS))


def diversity() -> Any:
    return sacrecap.diversity(example.caption_sets(), example.references(), top=3, interval=None)


def explained(result: sacrecap.Result) -> list[str]:
    return [str(explanation) for explanation in result.explain(IMAGE).values()]


def accumulated() -> sacrecap.Accumulator:
    accumulator = sacrecap.Accumulator(metrics="cider-d", interval=None)
    accumulator.update(next(iter(systems().values())), example.references())
    return accumulator


def alone(corpus: sacrecap.Corpus, metric: str) -> sacrecap.Score:
    return sacrecap.score(corpus, metrics=metric, interval=None)[metric]


# How each thing is made, and what it has to do the same after the journey.
CASES: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "result": (result, lambda result: (result.to_dict(), str(result), result["cider-d"].per_image.tolist())),
    "result explained": (result, explained),
    "score": (lambda: result()["cider-d"], lambda score: (score.value, score.interval, score.signature, score.metric)),
    "score of a combination": (lambda: result()["combine(bleu-1, wmd)"], lambda score: score.per_image.tolist()),
    "corpus": (
        lambda: sacrecap.Corpus(example.references(), next(iter(systems().values()))),
        lambda corpus: (corpus.image_ids, corpus.texts(IMAGE), alone(corpus, "cider-d").value),
    ),
    "corpus without some": (
        lambda: sacrecap.Corpus(example.references(), {IMAGE: "a dog"}, on_missing="zero"),
        lambda corpus: (corpus.captions(corpus.image_ids[5]), alone(corpus, "rouge-l").per_image.tolist()),
    ),
    "corpus of some": (
        lambda: sacrecap.Corpus(example.references(), {IMAGE: "a dog"}, on_missing="skip"),
        lambda corpus: (corpus.image_ids, alone(corpus, "rouge-l").value),
    ),
    "references": (
        lambda: sacrecap.References(example.references()),
        lambda references: sacrecap.score(references, next(iter(systems().values())), "cider-d").to_dict(),
    ),
    "accumulator": (accumulated, lambda accumulator: accumulator.compute().to_dict()),
    "comparison": (
        lambda: sacrecap.compare(example.references(), systems(), "bleu-4, cider-d", samples=50),
        lambda comparison: (comparison.to_dict(), str(comparison)),
    ),
    "diversity": (
        diversity,
        lambda result: (
            result.to_dict(),
            [(system.word_counts(), system.image(IMAGE).eigenvalues.tolist()) for system in result.everybody()],
        ),
    ),
    "diversity without references": (
        lambda: sacrecap.diversity(example.caption_sets(), metrics="lsa, distinct", interval=None),
        lambda result: (result.to_dict(), [system.vocabulary for system in result.values()]),
    ),
    "document frequencies": (
        frequencies,
        lambda counted: (counted.source, counted.documents, counted.count(["a"]), counted == frequencies()),
    ),
    "reward": (reward, lambda reward: reward(SAMPLED, REFERENCE_IDS).tolist()),
    "encoded references": (
        lambda: reward().encode(REFERENCE_IDS)[[1, 0, 1]],
        lambda encoded: reward()(np.array([[7, 8, 0], [4, 6, 0], [7, 0, 0]]), encoded).tolist(),
    ),
    "metrics": (
        lambda: [*own_metrics(), CiderD(sigma=5), Combine(Bleu(n=1), CiderD())],
        lambda metrics: ([metric.key for metric in metrics], {*metrics} == {*CASES["metrics"][0]()}),
    ),
    "needs": (
        lambda: sacrecap.Needs({"objects": example.objects(), "embeddings": open_embeddings("default")}),
        lambda needs: (needs.get("objects"), needs.get("embeddings").find(["dog"])[0].tolist()),
    ),
    "captions": (
        lambda: sacrecap.data.read_references(example.references_path()),
        lambda captions: (captions.to_dict(), captions.source),
    ),
}


def doing(name: str, value: Any) -> Any:
    return CASES[name][1](value)


def returned(name: str) -> Any:
    return CASES[name][0]()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    "travel",
    [lambda value: pickle.loads(pickle.dumps(value)), copy.deepcopy, copy.copy],
    ids=["pickle", "deep", "copy"],
)
def test_pickles_and_copies_do_the_same(name: str, travel: Callable[[Any], Any]) -> None:
    value = CASES[name][0]()
    expected = doing(name, value)
    assert doing(name, travel(value)) == expected
    assert doing(name, travel(travel(value))) == expected


@pytest.mark.parametrize("method", [pytest.param("spawn", marks=pytest.mark.soak), "forkserver"])
def test_other_processes_take_and_return_them(method: str) -> None:
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        taken = {name: pool.submit(doing, name, make()) for name, (make, _) in CASES.items()}
        given = {name: pool.submit(returned, name) for name in CASES}
        for name, (make, does) in CASES.items():
            assert taken[name].result() == does(make()), name
            assert does(given[name].result()) == does(make()), name


class Own(sacrecap.metrics.PythonMetric):
    """The share of candidates that end with a full stop; its formula is Python."""

    title = "Full-Stop"
    summary = "the caption is a sentence"
    equation = "1 or 0"
    source = "none"
    upper = 1.0
    nothing = {}  # noqa: RUF012
    needs = ()

    def statistics(self, corpus: sacrecap.Corpus, ready: object) -> Any:
        return np.array([[float(corpus.captions(image)[0].endswith(".")), 1.0] for image in corpus.image_ids])

    def formula(self, sums: list[float]) -> float:
        return sums[0] / sums[1]


def test_a_metric_in_python_travels_with_its_formula() -> None:
    scored = sacrecap.score({"1": ["a"], "2": ["b"]}, {"1": "a.", "2": "b"}, [Own()], interval=None)
    again = pickle.loads(pickle.dumps(scored))
    assert again[Own()].value == scored[Own()].value == 0.5
    assert again[Own()].statistics.score() == 0.5


def test_a_pickle_does_not_carry_tables() -> None:
    """METEOR's tables are 66 MB; a result carries captions and numbers."""
    assert len(pickle.dumps(result())) < 500_000


def test_loading_encodes_nothing_until_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = result().to_dict()  # findings are kept, once they were looked for
    pickled = pickle.dumps(result())

    def refuse(*_: object) -> None:
        raise AssertionError("encoded")

    monkeypatch.setattr("sacrecap._core.References", refuse)
    loaded = pickle.loads(pickled)
    assert loaded.to_dict() == whole
    with pytest.raises(AssertionError, match="encoded"):
        loaded.corpus.texts(IMAGE)
