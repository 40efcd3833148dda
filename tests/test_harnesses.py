"""The code of the page on other programs, with the shapes that these give it: the digits of the original's scorers."""

from __future__ import annotations

from typing import Any

import pytest

import sacrecap
from pages import DOCS, blocks
from sacrecap import example
from sacrecap.compat.pycocoevalcap.bleu.bleu import Bleu
from sacrecap.compat.pycocoevalcap.cider.cider import Cider
from sacrecap.compat.pycocoevalcap.rouge.rouge import Rouge
from sacrecap.compat.pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

PAGE = DOCS / "howto" / "migrate-from-pycocoevalcap.md"
LMMS_EVAL, VLMEVALKIT, AAC_METRICS = [block.text for block in blocks(PAGE) if block.language == "python"][-3:]
REFERENCES = list(example.references().values())
CANDIDATES = list(example.systems()["plain"].values())


def defined(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102
    return names


def by_the_suite(references: dict[Any, list[str]], candidates: dict[Any, list[str]]) -> dict[str, float]:
    """What the suite's scorers say, which `sacrecap.compat` equals (tests/compat, tests/oracle)."""
    bleu = Bleu(4).compute_score(references, candidates, verbose=0)[0]
    found = {f"Bleu_{number}": score for number, score in enumerate(bleu, 1)}
    found["ROUGE_L"] = Rouge().compute_score(references, candidates)[0]
    found["CIDEr"] = Cider().compute_score(references, candidates)[0]
    return {name: float(score) for name, score in found.items()}


def tokenised(captions: dict[Any, list[str]]) -> dict[Any, list[str]]:
    """By the suite's tokenizer, as one text."""
    return PTBTokenizer().tokenize({image: [{"caption": one} for one in own] for image, own in captions.items()})


def test_lmms_eval() -> None:
    """Its aggregation is called with the dictionaries of `coco_process_result`, once for each metric."""
    names = defined(LMMS_EVAL)
    rows = [
        {"answer": answer, "pred": caption, "image_id": number, "id": 7 * number}
        for number, (answer, caption) in enumerate(zip(REFERENCES, CANDIDATES, strict=True))
    ]
    references = tokenised({row["image_id"]: row["answer"] for row in rows})
    expected = by_the_suite(references, tokenised({row["image_id"]: [row["pred"]] for row in rows}))
    for metric, score in expected.items():
        assert names["coco_aggregation_result"](list(rows), metric, None) == pytest.approx(score, abs=1e-12)
    assert len(names["_scored"]) == 1, "scored once for all metrics"
    error = names["coco_cider_stderr"](rows, None)
    each = sacrecap.score(
        {row["image_id"]: row["answer"] for row in rows}, {row["image_id"]: row["pred"] for row in rows}, "cider-d"
    )["cider-d"].per_image
    assert error == pytest.approx(each.std(ddof=1) / len(each) ** 0.5, rel=0.15), "a mean's: standard deviation / √n"
    changed = [{**row, "pred": "a dog"} for row in rows]
    assert names["coco_aggregation_result"](changed, "CIDEr", None) < expected["CIDEr"] / 2


@pytest.mark.parametrize("tokenizer", ["blanks", "ptb-stream"])
def test_vlmevalkit(tokenizer: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Its scorer takes `{number as text: [caption]}`, both not tokenised, and returns scores times 100."""
    candidates = {str(number): [caption] for number, caption in enumerate(CANDIDATES)}
    references = {str(number): own for number, own in enumerate(REFERENCES)}
    scorer = defined(VLMEVALKIT)["COCO_Caption_Scorer"](candidates, references, tokenizer)
    found = scorer.compute_scores()
    if tokenizer != "blanks":
        references, candidates = tokenised(references), tokenised(candidates)
    expected = {name: 100 * score for name, score in by_the_suite(references, candidates).items()}
    bleu = [expected.pop(f"Bleu_{number}") for number in range(1, 5)]
    assert found.pop("Bleu") == pytest.approx(bleu, abs=1e-10)
    assert found == pytest.approx(expected, abs=1e-10)
    assert "CIDEr-D" in capsys.readouterr().out


def test_aac_metrics() -> None:
    """Its `evaluate` takes lists in one order, and returns the scores of the corpus and those of each caption."""
    corpus, each = defined(AAC_METRICS)["evaluate"](CANDIDATES, REFERENCES, ("bleu_1", "bleu_4", "rouge_l", "cider_d"))
    numbered = dict(enumerate(REFERENCES)), {number: [caption] for number, caption in enumerate(CANDIDATES)}
    expected = by_the_suite(tokenised(numbered[0]), tokenised(numbered[1]))
    for name, theirs in (("bleu_1", "Bleu_1"), ("bleu_4", "Bleu_4"), ("rouge_l", "ROUGE_L"), ("cider_d", "CIDEr")):
        assert corpus[name] == pytest.approx(expected[theirs], abs=1e-12)
        assert len(each[name]) == len(CANDIDATES)
    assert each["cider_d"].mean() == pytest.approx(corpus["cider_d"], abs=1e-12)
