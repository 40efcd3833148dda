"""All metrics of the suite on the captions of two COCO objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from sacrecap.compat.pycocoevalcap.bleu.bleu import Bleu
from sacrecap.compat.pycocoevalcap.cider.cider import Cider
from sacrecap.compat.pycocoevalcap.meteor.meteor import Meteor
from sacrecap.compat.pycocoevalcap.rouge.rouge import Rouge
from sacrecap.compat.pycocoevalcap.spice.spice import Spice
from sacrecap.compat.pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer
from sacrecap.errors import DataError, some

__all__ = ["Bleu", "COCOEvalCap", "Cider", "Meteor", "PTBTokenizer", "Rouge", "Spice"]


class Coco(Protocol):
    """What a COCO object must have; `pycocotools.coco.COCO` does."""

    imgToAnns: Mapping[Any, Sequence[Mapping[str, str]]]

    def getImgIds(self) -> Iterable[Any]:
        """The image ids."""


class COCOEvalCap:
    """Scores of the captions of `cocoRes` by those of `coco`.

    Attributes:
        params: `image_id`: the images that are scored.
        eval: after `evaluate`, the score of each metric: `Bleu_1` to `Bleu_4`, `METEOR`, `ROUGE_L`, `CIDEr`, `SPICE`.
        imgToEval: for each image id, `image_id` and the image's score of each metric.
        evalImgs: the same in a list.
    """

    def __init__(self, coco: Coco, cocoRes: Coco) -> None:
        self.evalImgs: list[dict[str, Any]] = []
        self.eval: dict[str, Any] = {}
        self.imgToEval: dict[Any, dict[str, Any]] = {}
        self.coco = coco
        self.cocoRes = cocoRes
        self.params: dict[str, Any] = {"image_id": coco.getImgIds()}

    def scorers(self) -> list[tuple[Any, list[str]]]:
        """The scorers, and the names of the scores that each of them gives."""
        names = [f"Bleu_{n}" for n in range(1, 5)]
        others: list[tuple[Any, list[str]]]
        others = [(Meteor(), ["METEOR"]), (Rouge(), ["ROUGE_L"]), (Cider(), ["CIDEr"]), (Spice(), ["SPICE"])]
        return [(Bleu(4), names), *others]

    def evaluate(self) -> None:
        """Scores all metrics, and prints them as it goes.

        Raises `DataError` for an image of `params["image_id"]` without captions on one of the two sides, and
        `MissingDependencyError` if METEOR's tables are not installed.
        """
        images = list(self.params["image_id"])
        references, candidates = _of(self.coco, images, "reference"), _of(self.cocoRes, images, "candidate")
        print("tokenization...")
        gts, res = PTBTokenizer().tokenize(references), PTBTokenizer().tokenize(candidates)
        print("setting up scorers...")
        for scorer, methods in self.scorers():
            print(f"computing {scorer.method()} score...")
            score, scores = scorer.compute_score(gts, res)
            if len(methods) == 1:
                score, scores = [score], [scores]
            # SPICE's scores are in the order of the sorted ids, all others in that of the images.
            of = sorted(gts) if isinstance(scorer, Spice) else gts
            for method, value, values in zip(methods, score, scores, strict=True):
                self.setEval(value, method)
                self.setImgToEvalImgs(values, of, method)
                print(f"{method}: {value:0.3f}")
        self.setEvalImgs()

    def setEval(self, score: Any, method: str) -> None:
        """Keeps the score of a metric."""
        self.eval[method] = score

    def setImgToEvalImgs(self, scores: Iterable[Any], imgIds: Iterable[Any], method: str) -> None:
        """Keeps the scores of the images of these ids."""
        for image, score in zip(imgIds, scores, strict=False):
            self.imgToEval.setdefault(image, {"image_id": image})[method] = score

    def setEvalImgs(self) -> None:
        """Makes `evalImgs` of `imgToEval`."""
        self.evalImgs = list(self.imgToEval.values())


def _of(side: Coco, images: Sequence[Any], what: str) -> dict[Any, Sequence[Mapping[str, str]]]:
    """The captions of the images. Raises `DataError` for an image without any."""
    captions = {image: side.imgToAnns[image] for image in images if image in side.imgToAnns}
    missing = [str(image) for image in images if not captions.get(image)]
    if missing:
        raise DataError(
            f"no {what} for {some(missing)}; set params['image_id'] to the images that have both, as "
            "cocoRes.getImgIds() gives them"
        )
    return captions
