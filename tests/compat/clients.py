"""Evaluation functions in the shapes of the programs that import pycocoevalcap, written for these tests.

Each takes the package whose modules it imports: `pycocoevalcap`, or `sacrecap.compat.pycocoevalcap` in its place.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

ORIGINAL = "pycocoevalcap"
OURS = "sacrecap.compat.pycocoevalcap"

References = Mapping[Any, Sequence[str]]
Candidates = Mapping[Any, str]


class Coco:
    """What COCOEvalCap asks of a COCO object, without pycocotools."""

    def __init__(self, captions: Mapping[Any, Sequence[str]]) -> None:
        self.imgToAnns = {
            image: [{"image_id": image, "caption": caption, "id": number} for number, caption in enumerate(some)]
            for image, some in captions.items()
        }

    def getImgIds(self) -> list[Any]:
        return list(self.imgToAnns)


class NoSpice:
    """SPICE needs models that the original downloads."""

    def compute_score(self, gts: Any, res: Any) -> tuple[float, list[float]]:
        return math.nan, [math.nan] * len(gts)

    def method(self) -> str:
        return "SPICE"


def lavis(package: str, references: References, candidates: Candidates) -> tuple[dict[str, Any], dict[Any, Any]]:
    """COCOEvalCap on all images; `eval` and `imgToEval`."""
    evaluation = import_module(f"{package}.eval").COCOEvalCap(
        Coco(references), Coco({image: [caption] for image, caption in candidates.items()})
    )
    evaluation.evaluate()
    return evaluation.eval, evaluation.imgToEval


def open_flamingo(package: str, references: References, candidates: Candidates) -> Any:
    """COCOEvalCap on the images of the results."""
    results = Coco({image: [caption] for image, caption in candidates.items()})
    evaluation = import_module(f"{package}.eval").COCOEvalCap(Coco(references), results)
    evaluation.params["image_id"] = results.getImgIds()
    evaluation.evaluate()
    return evaluation.eval, [evaluation.imgToEval[image] for image in results.getImgIds()], evaluation.evalImgs


def mmpretrain(package: str, folder: Path, references: References, candidates: Sequence[tuple[Any, str]]) -> Any:
    """By files and pycocotools, where a padded sampler gives an image twice."""
    from pycocotools.coco import COCO

    first: dict[Any, str] = {}
    for image, caption in candidates:
        first.setdefault(image, caption)
    rows = [(image, caption) for image, captions in references.items() for caption in captions]
    annotations = [{"image_id": image, "caption": one, "id": number} for number, (image, one) in enumerate(rows)]
    (folder / "annotations.json").write_text(
        json.dumps({"images": [{"id": image} for image in references], "annotations": annotations})
    )
    (folder / "results.json").write_text(
        json.dumps([{"image_id": image, "caption": caption} for image, caption in first.items()])
    )
    truth = COCO(str(folder / "annotations.json"))
    results = truth.loadRes(str(folder / "results.json"))
    evaluation = import_module(f"{package}.eval").COCOEvalCap(truth, results)
    evaluation.params["image_id"] = results.getImgIds()
    evaluation.evaluate()
    return {method: float(score) for method, score in evaluation.eval.items()}


def lmms_eval(package: str, references: References, candidates: Candidates) -> dict[str, Any]:
    """Scorers by name from `eval`, each on tokenised captions; of BLEU's list, one."""
    suite = import_module(f"{package}.eval")
    cut = import_module(f"{package}.tokenizer.ptbtokenizer").PTBTokenizer()
    found = {}
    scorers = {"Bleu_4": suite.Bleu(4), "METEOR": suite.Meteor()}
    evaluation = suite.COCOEvalCap(Coco(references), Coco({image: [one] for image, one in candidates.items()}))
    for metric, scorer in scorers.items():
        images = evaluation.params["image_id"]
        gts = cut.tokenize({image: evaluation.coco.imgToAnns[image] for image in images})
        res = cut.tokenize({image: evaluation.cocoRes.imgToAnns[image] for image in images})
        score, scores = scorer.compute_score(gts, res)
        if type(score) is list:
            score, scores = score[int(metric[-1]) - 1], scores[int(metric[-1]) - 1]
        found[metric] = score, list(scores)
    return found


def youcook2(package: str, references: References, candidates: Candidates) -> list[Any]:
    """A call for each image."""
    suite = import_module(f"{package}.eval")
    scorers = (suite.Bleu(4), suite.Rouge(), suite.Cider())
    return [
        [scorer.compute_score({image: list(some)}, {image: [candidates[image]]}) for scorer in scorers]
        for image, some in references.items()
    ]


def vlmevalkit(package: str, references: References, candidates: Candidates) -> dict[str, Any]:
    """Captions as they are, cut by no tokenizer."""
    gts = {str(number): list(captions) for number, captions in enumerate(references.values())}
    res = {str(number): [candidates[image]] for number, image in enumerate(references)}
    found = {}
    for module, name in (("bleu.bleu", "Bleu"), ("rouge.rouge", "Rouge"), ("cider.cider", "Cider")):
        scorer = getattr(import_module(f"{package}.{module}"), name)()
        score, scores = scorer.compute_score(gts, res)
        found[scorer.method()] = [one * 100 for one in score] if isinstance(score, list) else score * 100, scores
    return found


def meteor(package: str, gts: Any, res: Any) -> Any:
    """One scorer by its name in `eval`."""
    return import_module(f"{package}.eval").Meteor().compute_score(gts, res)


def self_critical(
    scorer: Any, bleu: Any, references: Sequence[Sequence[str]], samples: Sequence[Sequence[str]], greedy: Sequence[str]
) -> Any:
    """Rewards of several samples of each image, less those of a greedy caption."""
    drawn = [caption for of_image in samples for caption in of_image]
    per_image = len(drawn) // len(references)
    res = {number: [caption] for number, caption in enumerate([*drawn, *greedy])}
    gts = {number: list(references[number // per_image]) for number in range(len(drawn))}
    gts.update({len(drawn) + number: list(captions) for number, captions in enumerate(references)})
    _, rewards = scorer.compute_score(gts, [{"image_id": number, "caption": one} for number, one in res.items()])
    _, of_bleu = bleu.compute_score(gts, res)
    rewards = rewards + 0.5 * np.array(of_bleu[3])
    base = rewards[len(drawn) :][:, np.newaxis]
    return (rewards[: len(drawn)].reshape(len(references), per_image) - base).reshape(-1)


@contextlib.contextmanager
def quietly() -> Any:
    """Keeps what is printed."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        yield printed


def numbers(found: Any) -> Any:
    """Results as nested lists and dictionaries of floats, for comparison."""
    if isinstance(found, dict):
        return {key: numbers(value) for key, value in found.items()}
    if isinstance(found, (list, tuple, np.ndarray)):
        return [numbers(value) for value in found]
    return float(found) if isinstance(found, (int, float, np.floating)) else found


def assert_equal(found: Any, expected: Any, where: str = "") -> None:
    """Equal within 1e-9, in the same types and in the same order."""
    assert type(found) is type(expected), (where, found, expected)
    if isinstance(found, dict):
        assert list(found) == list(expected), where
        for key in found:
            assert_equal(found[key], expected[key], f"{where}[{key!r}]")
    elif isinstance(found, (list, tuple)):
        assert len(found) == len(expected), where
        for number, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_equal(one, other, f"{where}[{number}]")
    elif isinstance(found, np.ndarray):
        assert found.dtype == expected.dtype, where
        assert found.shape == expected.shape, where
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=where)
    elif isinstance(found, (float, np.floating)):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=where)
    else:
        assert found == expected, where
