"""The COCO caption evaluation code, as packaged in pycocoevalcap, called quietly on tokenised captions."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

VERSION = version("pycocoevalcap")

References = Mapping[str, Sequence[str]]
Candidates = Mapping[str, str]
Scores = dict[str, tuple[float, list[float]]]
"""Corpus score and per-image scores, in the references' order, by sacrecap's name of the metric."""


def scores(references: References, candidates: Candidates) -> Scores:
    """BLEU-1..4, ROUGE-L and CIDEr-D of tokenised captions."""
    truth = {image: list(captions) for image, captions in references.items()}
    found = {image: [candidates[image]] for image in truth}
    with contextlib.redirect_stdout(io.StringIO()):
        bleu, bleu_of_images = Bleu(4).compute_score(truth, found, verbose=0)
        rouge, rouge_of_images = Rouge().compute_score(truth, found)
        cider, cider_of_images = Cider().compute_score(truth, found)
    return {
        **{f"bleu-{n + 1}": (bleu[n], list(bleu_of_images[n])) for n in range(4)},
        "rouge-l": (float(rouge), list(map(float, rouge_of_images))),
        "cider-d": (float(cider), list(map(float, cider_of_images))),
    }


def tokens(captions: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Tokens, joined by blanks, by the original Java tokenizer: all captions in one stream."""
    given: dict[str, list[dict[str, Any]]] = {
        image: [{"caption": caption} for caption in sentences] for image, sentences in captions.items()
    }
    tokenized: dict[str, list[str]] = PTBTokenizer().tokenize(given)
    return tokenized
