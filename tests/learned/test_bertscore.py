"""BERTScore against a slow reference, with real checkpoints of random weights; and sentence embeddings."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)

import sacrecap
from learned.captions import CANDIDATES, LONG, REFERENCES
from reference import bertscore as reference
from sacrecap.errors import DataError, MissingDependencyError, UsageError
from sacrecap.metrics import BertScore

pytestmark = pytest.mark.torch

MEASURES = ("f1", "precision", "recall")
BASELINE = "LAYER,P,R,F\n0,0.1,0.2,0.3\n1,0.25,0.3,0.35\n2,0.4,0.45,0.5\n"


def score(*metrics: Any, references: Any = REFERENCES, candidates: Any = CANDIDATES) -> list[Any]:
    return [s.per_image for s in sacrecap.score(references, candidates, metrics, interval=None).values()]


@pytest.mark.parametrize(("model", "before", "layer"), [("bert", "", 4), ("bert", "", 2), ("roberta", " ", 1)])
def test_scores_are_those_of_the_equations(
    model: str, before: str, layer: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    folder = request.getfixturevalue(model)
    reader = reference.Reader(folder, before)
    everything = [text for own in REFERENCES.values() for text in own]
    (tmp_path / "baseline.csv").write_text(BASELINE)
    base = {"precision": 0.4, "recall": 0.45, "f1": 0.5}
    for idf in (False, True):
        documents = everything if idf else None
        wanted = [
            reference.image(reader, candidate, REFERENCES[image], layer, documents)
            for image, candidate in CANDIDATES.items()
        ]
        metrics = [BertScore(model=folder, layer=layer, idf=idf, measure=measure) for measure in MEASURES]
        rescaled = [one.with_parameters({**vars(one), "baseline": str(tmp_path / "baseline.csv")}) for one in metrics]
        for measure, own in zip(MEASURES, score(*metrics), strict=True):
            np.testing.assert_allclose(own, [one[measure] for one in wanted], atol=2e-6)
            assert len({round(value, 3) for value in own}) > 3
        if layer == 2:
            for measure, own in zip(MEASURES, score(*rescaled), strict=True):
                b = base[measure]
                np.testing.assert_allclose(own, [(one[measure] - b) / (1 - b) for one in wanted], atol=5e-6)


@pytest.mark.filterwarnings("ignore:.* ha(s|ve) more than the")
@pytest.mark.parametrize(("model", "layer"), [("bert", 2), ("roberta", 1)])
def test_weights_are_learnt_part_by_part(
    model: str, layer: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    pytest.importorskip("pyarrow")
    references = {**REFERENCES, "1": [*REFERENCES["1"], LONG]}
    rows = [
        json.dumps({"image_id": image, "references": references[image], "candidate": caption}) + "\n"
        for image, caption in CANDIDATES.items()
    ]
    for number in range(3):
        (tmp_path / f"{number}.jsonl").write_text("".join(rows[number::3]))
    metric = BertScore(model=request.getfixturevalue(model), layer=layer, idf=True)
    # A bootstrap draws images by their places, which are those of the files.
    candidates = dict(caption for number in range(3) for caption in [*CANDIDATES.items()][number::3])
    whole = sacrecap.score({image: references[image] for image in candidates}, candidates, [metric], samples=20)
    found = sacrecap.score(str(tmp_path), metrics=[metric], samples=20, engine="stream")
    assert found.to_dict() == whole.to_dict()
    assert "idf:references(12)" in found[metric.key].signature
    plain = BertScore(model=metric.model, layer=layer)
    assert found[metric.key].value != sacrecap.score(references, CANDIDATES, [plain], interval=None)[plain.key].value


def test_a_checkpoint_of_another_kind_has_no_weights_to_learn(clip: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "rows.jsonl").write_text('{"image_id": "1", "references": ["a dog"], "candidate": "a dog"}\n')
    with pytest.raises(DataError, match="does not encode texts"):
        sacrecap.score(str(tmp_path), metrics=[BertScore(model=clip, layer=1, idf=True)], engine="stream")


def test_weights_of_what_cannot_be_used_are_refused_before_rows_are_read(
    bert: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    row = '{"image_id": "%d", "references": ["a dog"], "candidate": "a dog"}\n'
    # The last row is none: whoever reads them all says so.
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(row % number for number in range(50_000)) + '{"image_id": 1')
    metric = BertScore(model=bert, layer=1, revision="v2", idf=True)
    with pytest.raises(UsageError, match="is a folder, which has no revisions; leave revision=v2 out"):
        sacrecap.score(str(rows), metrics=[metric], engine="stream")
    original: Callable[..., Any] = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name, *rest: None if name == "transformers" else original(name, *rest)
    )
    with pytest.raises(MissingDependencyError, match=r"^BERTScore\(.* needs the extra 'learned': pip inst"):
        sacrecap.score(str(rows), metrics=[metric], engine="stream")


def test_each_parameter_changes_a_score(bert: str, roberta: str, clip: str, images: Path, tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text("LAYER,P,R,F\n3,0.1,0.1,0.1\n")
    usual = BertScore(model=bert, layer=3)
    others: list[dict[str, Any]] = [
        {"measure": "recall"},
        {"layer": 2},
        {"idf": True},
        {"baseline": str(tmp_path / "b.csv")},
        {"precision": "bfloat16"},
    ]
    metrics = [usual, *(usual.with_parameters({"model": bert, "layer": 3, **other}) for other in others)]
    scores = [own.tolist() for own in score(*metrics)]
    assert all(own != scores[0] for own in scores[1:])
    result = sacrecap.score(REFERENCES, CANDIDATES, metrics, interval=None)
    signatures = [own.signature for own in result.values()]
    assert len(set(signatures)) == len(metrics)
    assert signatures[-1].startswith("bertscore(precision=bfloat16)|")
    assert signatures[0].startswith("bertscore|images:6/6|")
    assert "|layer:3|" in signatures[0]
    assert bert not in signatures[0], "a path is nobody else's"
    assert "|idf:references(11)|" in signatures[3]
    assert "|baseline:0.1+0.1+0.1|" in signatures[4]


def test_edge_cases(bert: str) -> None:
    measures = [BertScore(model=bert, layer=3, measure=measure) for measure in MEASURES]
    weighed = BertScore(model=bert, layer=3, idf=True)
    for own in score(*measures):
        assert own[2] == 0, "empty caption"
        assert own[5] == pytest.approx(1, abs=1e-6), "the caption is a reference"
    references, candidates = {"1": ["a dog"], "2": ["dog a"]}, {"1": "a dog", "2": "a dog"}
    assert score(weighed, references=references, candidates=candidates)[0].tolist() == [0, 0], "words of all references"


def test_the_layers_of_bert_score() -> None:
    assert BertScore().usual_layer == 17
    assert BertScore(model="FacebookAI/roberta-large").usual_layer == 17
    assert BertScore(model="google-bert/bert-base-uncased").usual_layer == 9
    assert BertScore(model="microsoft/deberta-xlarge-mnli").usual_layer == 40
    assert BertScore(model="folder/roberta-large").usual_layer == 0


@pytest.mark.parametrize("layer", [0, 5])
def test_a_layer_that_is_not_there(bert: str, layer: int) -> None:
    with pytest.raises(UsageError, match="has 4 layers; give layer=N, from 1 to 4"):
        score(BertScore(model=bert, layer=layer))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no such file"),
        ("", "is no file of bert-score's baselines"),
        ("LAYER,F\n1,2\n", "its first line must be LAYER,P,R,F"),
        ("LAYER,P,R,F\n9,0.1,0.1,0.1\n", "has no baselines of layer 3"),
        ("LAYER,P,R,F\n3,0.1,x,0.1\n", r"line 2: must be a layer and three numbers below 1, got '3,0.1,x,0.1'"),
        ("LAYER,P,R,F\n3,0.1,1,0.1\n", "line 2: must be"),
        ("LAYER,P,R,F\n3,0.1\n", "line 2: must be"),
    ],
)
def test_files_that_are_no_baselines(bert: str, tmp_path: Path, content: str | None, message: str) -> None:
    path = tmp_path / "baseline.csv"
    if content is not None:
        path.write_text(content)
    with pytest.raises(DataError, match=f"baseline.csv.*{message}"):
        score(BertScore(model=bert, layer=3, baseline=str(path)))


def test_sentence_is_the_cosine_of_mean_vectors(bert: str) -> None:
    reader = reference.Reader(bert)

    def vector(text: str) -> list[float]:
        return list(np.mean(reader.vectors(text, 4), axis=0))

    wanted = [
        max((reference.cosine(vector(mine), vector(one)) for one in REFERENCES[image] if one), default=0) if mine else 0
        for image, mine in CANDIDATES.items()
    ]
    [found] = score(f"sentence(model={bert}, references=best)")
    np.testing.assert_allclose(found, wanted, atol=1e-6)
    assert found.max() == pytest.approx(1)
    assert sum(wanted) > 2
