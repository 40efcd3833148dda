"""What COCOEvalCap takes beside captions, as the copies of the suite do."""

from __future__ import annotations

import pickle
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from compat import clients
from compat.clients import assert_equal, quietly
from compat.test_clients import corpus
from sacrecap.compat.pycocoevalcap.cider.cider_scorer import CiderScorer
from sacrecap.compat.pycocoevalcap.eval import COCOEvalCap
from sacrecap.errors import UsageError

REFERENCES, CANDIDATES = corpus(6, seed=8)


class Renamed:
    """The captions under the names that copies for videos and sound use."""

    def __init__(self, captions: Any, kind: str) -> None:
        self.rows = clients.Coco(captions).imgToAnns
        setattr(self, f"{kind.lower()}ToAnns", self.rows)
        setattr(self, f"get{kind}Ids", lambda: list(self.rows))


def evaluated(*arguments: Any, kind: str = "", **named: Any) -> COCOEvalCap:
    make = (lambda captions: Renamed(captions, kind)) if kind else clients.Coco
    made = COCOEvalCap(make(REFERENCES), make({i: [one] for i, one in CANDIDATES.items()}), *arguments, **named)
    made.evaluate()
    return made


FAST = ("BLEU", "ROUGE_L", "CIDEr")


@pytest.fixture(scope="module")
def plain() -> COCOEvalCap:
    with quietly():
        return evaluated()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [((FAST,), {}), ((), {"cocoTypes": FAST}), ((), {"use_scorers": ["Bleu", "rouge", "CIDER"]})],
)
def test_chosen_metrics(plain: COCOEvalCap, arguments: Any, named: Any) -> None:
    with quietly():
        found = evaluated(*arguments, **named)
    keys = ["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4", "ROUGE_L", "CIDEr"]
    assert found.eval == {key: plain.eval[key] for key in keys}
    with quietly():
        assert list(evaluated(("CIDEr", "BLEU")).eval) == ["CIDEr", *keys[:4]]  # in their order


def test_an_unknown_metric_is_named() -> None:
    with pytest.raises(UsageError, match="a metric of COCOEvalCap must be one of .*, got 'blue'"):
        evaluated(["Blue"])


def test_document_frequencies_by_name(plain: COCOEvalCap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    counts = defaultdict(float, {("a",): 6.0, ("the",): 2.0, ("a", "b", "c", "d"): 1.0})
    Path("data").mkdir()
    Path("data/mine.p").write_bytes(pickle.dumps({"document_frequency": counts, "ref_len": 10}, protocol=2))
    with quietly():
        assert evaluated("corpus", cocoTypes=["CIDEr"]).eval["CIDEr"] == plain.eval["CIDEr"]
        found = [evaluated("mine", cocoTypes=["CIDEr"]).eval, evaluated(df="mine", cocoTypes=["CIDEr"]).eval]
    assert found[0] == found[1]
    assert found[0]["CIDEr"] != plain.eval["CIDEr"]


def test_an_own_tokenizer() -> None:
    with quietly():
        as_list = evaluated(FAST, lambda text: text.split())
        as_text = evaluated(FAST, lambda text: text)
    assert_equal(as_list.eval, as_text.eval)
    gts = {image: list(some) for image, some in REFERENCES.items()}
    from pycocoevalcap.cider.cider import Cider

    assert as_list.eval["CIDEr"] == pytest.approx(
        Cider().compute_score(gts, {i: [c] for i, c in CANDIDATES.items()})[0]
    )


def test_nothing_is_printed_if_not_verbose() -> None:
    with quietly() as printed:
        evaluated(FAST, None, False)
        made = COCOEvalCap(clients.Coco(REFERENCES), clients.Coco({i: [c] for i, c in CANDIDATES.items()}), FAST)
        made.evaluate(verbose=False)
    assert printed.getvalue() == ""


@pytest.mark.parametrize(("kind", "key"), [("Video", "video_id"), ("Audio", "audio_id")])
def test_videos_and_sound(plain: COCOEvalCap, kind: str, key: str) -> None:
    with quietly():
        found = evaluated(kind=kind)
    own = getattr(found, f"{kind.lower()}ToEval")
    assert list(found.params) == [key]
    assert getattr(found, f"eval{kind}s") == list(own.values())
    for image, scores in own.items():
        assert scores[key] == image
        assert scores["CIDEr"] == plain.imgToEval[image]["CIDEr"]
    if kind == "Audio":
        assert found.eval.pop("SPIDEr") == (plain.eval["CIDEr"] + plain.eval["SPICE"]) / 2
        for scores in own.values():
            assert scores["SPIDEr"] == (scores["CIDEr"] + scores["SPICE"]["All"]["f"]) / 2
    assert found.eval == plain.eval


def test_a_scorer_with_a_method_of_the_program() -> None:
    """As CIDEr-R is made from CIDEr's."""

    class Mine(CiderScorer):
        def compute_cider(self) -> Any:
            return [len(self.document_frequency) + len(candidate) for candidate in self.ctest]

    scorer = Mine()
    scorer += ("a b", ["a c"])
    scorer += ("a", ["a c d"])
    score, scores = scorer.compute_score()
    assert scores.tolist() == [6 + 3, 6 + 1]  # a, c, d, a c, c d, a c d
    assert score == 8
