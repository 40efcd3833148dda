"""All metrics of the suite on the captions of two COCO objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sacrecap.compat.pycocoevalcap.bleu.bleu import Bleu
from sacrecap.compat.pycocoevalcap.cider.cider import Cider
from sacrecap.compat.pycocoevalcap.meteor.meteor import Meteor
from sacrecap.compat.pycocoevalcap.rouge.rouge import Rouge
from sacrecap.compat.pycocoevalcap.spice.spice import Spice
from sacrecap.compat.pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer
from sacrecap.errors import DataError, accepted_name, some

__all__ = ["Bleu", "COCOEvalCap", "Cider", "Meteor", "PTBTokenizer", "Rouge", "Spice"]

_NAMES = {
    "bleu": "Bleu",
    "meteor": "METEOR",
    "rouge": "ROUGE_L",
    "rouge_l": "ROUGE_L",
    "cider": "CIDEr",
    "spice": "SPICE",
}


class COCOEvalCap:
    """Scores of the captions of `cocoRes` by those of `coco`.

    Args:
        coco: an object with `getImgIds()` and `imgToAnns`, such as pycocotools' `COCO`; or with `getVideoIds()` and
            `videoToAnns`, or `getAudioIds()` and `audioToAnns`, as copies for video and sound have them.
        cocoRes: the same, with one caption each.
        df: the name of the document frequencies of CIDEr: see `Cider`. A list here is `cocoTypes`.
        tokenization_fn: makes a caption into tokens, a list or text with a blank between them; by default, the suite's
            tokenizer.
        verbose: whether `evaluate` prints.
        cocoTypes: the metrics, in the order in which they are computed: `BLEU`, `METEOR`, `ROUGE_L`, `CIDEr`, `SPICE`.
        use_scorers: the same.

    Attributes:
        params: `image_id`: the images that are scored; or `video_id`, or `audio_id`.
        eval: after `evaluate`, the score of each metric: `Bleu_1` to `Bleu_4`, `METEOR`, `ROUGE_L`, `CIDEr`, `SPICE`,
            and of sound, `SPIDEr`.
        imgToEval: for each image id, `image_id` and the image's score of each metric. `videoToEval` and `audioToEval`
            are the same.
        evalImgs: the same in a list; also `evalVideos` and `evalAudios`.
    """

    def __init__(
        self,
        coco: Any,
        cocoRes: Any,
        df: str | Sequence[str] = "corpus",
        tokenization_fn: Callable[[str], str | Sequence[str]] | None = None,
        verbose: bool = True,
        *,
        cocoTypes: Sequence[str] | None = None,
        use_scorers: Sequence[str] | None = None,
    ) -> None:
        if not isinstance(df, str):
            df, cocoTypes = "corpus", df
        self.eval: dict[str, Any] = {}
        self.coco = coco
        self.cocoRes = cocoRes
        self.df = df
        self.tokenization_fn = tokenization_fn
        self.verbose = verbose
        names = cocoTypes if cocoTypes is not None else use_scorers
        for name in names or ():
            accepted_name("a metric of COCOEvalCap", name.lower(), tuple(_NAMES))
        self.cocoTypes = list(dict.fromkeys(_NAMES.values()) if names is None else [_NAMES[n.lower()] for n in names])
        kinds = ("Img", "Video", "Audio")  # what captions are of, in names of a COCO object: `getImgIds`, `imgToAnns`
        self._kind = next((kind for kind in kinds if hasattr(coco, f"get{kind}Ids")), "Img")
        self._id = "image_id" if self._kind == "Img" else f"{self._kind.lower()}_id"
        self.params: dict[str, Any] = {self._id: getattr(coco, f"get{self._kind}Ids")()}
        self.imgToEval: dict[Any, dict[str, Any]] = {}
        self.videoToEval = self.audioToEval = self.imgToEval
        self.setEvalImgs()

    def scorers(self) -> list[tuple[Any, list[str]]]:
        """The scorers, and the names of the scores that each of them gives."""
        makers: dict[str, Callable[[], Any]] = {"Bleu": Bleu, "METEOR": Meteor, "ROUGE_L": Rouge, "SPICE": Spice}
        makers["CIDEr"] = lambda: Cider(df=self.df)
        names = {"Bleu": [f"Bleu_{n}" for n in range(1, 5)]}
        return [(makers[name](), names.get(name, [name])) for name in self.cocoTypes]

    def evaluate(self, verbose: bool | None = None) -> None:
        """Scores all metrics, and prints them as it goes, unless `verbose` is false.

        Raises `DataError` for an image of `params["image_id"]` without captions on one of the two sides, and
        `MissingDependencyError` if METEOR's tables are not installed.
        """
        is_told = self.verbose if verbose is None else verbose
        tell: Callable[[str], object] = print if is_told else lambda _: None
        images = list(self.params[self._id])
        references, candidates = self._of(self.coco, images, "reference"), self._of(self.cocoRes, images, "candidate")
        tell("tokenization...")
        gts, res = self._tokenized(references), self._tokenized(candidates)
        tell("setting up scorers...")
        for scorer, methods in self.scorers():
            tell(f"computing {scorer.method()} score...")
            quiet = {} if is_told or not isinstance(scorer, Bleu) else {"verbose": 0}
            score, scores = scorer.compute_score(gts, res, **quiet)
            if len(methods) == 1:
                score, scores = [score], [scores]
            # SPICE's scores are in the order of the sorted ids, all others in that of the images.
            of = sorted(gts) if isinstance(scorer, Spice) else gts
            for method, value, values in zip(methods, score, scores, strict=True):
                self.setEval(value, method)
                self.setImgToEvalImgs(values, of, method)
                tell(f"{method}: {value:0.3f}")
        if self._kind == "Audio" and {"CIDEr", "SPICE"} <= self.eval.keys():
            # The mean of CIDEr and SPICE, which challenges on captions of sound rank by.
            self.setEval((self.eval["CIDEr"] + self.eval["SPICE"]) / 2.0, "SPIDEr")
            for scores in self.imgToEval.values():
                scores["SPIDEr"] = (scores["CIDEr"] + scores["SPICE"]["All"]["f"]) / 2.0
            tell(f"SPIDEr: {self.eval['SPIDEr']:0.3f}")
        self.setEvalImgs()

    def setEval(self, score: Any, method: str) -> None:
        """Keeps the score of a metric."""
        self.eval[method] = score

    def setImgToEvalImgs(self, scores: Iterable[Any], imgIds: Iterable[Any], method: str) -> None:
        """Keeps the scores of the images of these ids."""
        for image, score in zip(imgIds, scores, strict=False):
            self.imgToEval.setdefault(image, {self._id: image})[method] = score

    def setEvalImgs(self) -> None:
        """Makes `evalImgs` of `imgToEval`."""
        self.evalImgs = self.evalVideos = self.evalAudios = list(self.imgToEval.values())

    def _tokenized(self, captions: Mapping[Any, Sequence[Mapping[str, str]]]) -> dict[Any, list[str]]:
        if self.tokenization_fn is None:
            return PTBTokenizer().tokenize(captions)
        tokens: dict[Any, list[str]] = {}
        for image, rows in captions.items():
            cut = [self.tokenization_fn(row["caption"]) for row in rows]
            tokens[image] = [text if isinstance(text, str) else " ".join(text) for text in cut]
        return tokens

    def _of(self, side: Any, images: Sequence[Any], what: str) -> dict[Any, Sequence[Mapping[str, str]]]:
        """The captions of the images. Raises `DataError` for an image without any."""
        by_image = getattr(side, f"{self._kind.lower()}ToAnns")
        captions = {image: by_image[image] for image in images if image in by_image}
        missing = [str(image) for image in images if not captions.get(image)]
        if missing:
            raise DataError(
                f"no {what} for {some(missing)}; set params[{self._id!r}] to the images that have both, as "
                f"cocoRes.get{self._kind}Ids() gives them"
            )
        return captions
