"""BERTScore: each word of one sentence is matched with the nearest word of the other, in context.

Zhang, Kishore, Wu, Weinberger, Artzi, *BERTScore: Evaluating Text Generation with BERT* (ICLR 2020).

    P = Σ_i w(c_i) max_j cos(c_i, r_j) / Σ_i w(c_i),   R = Σ_j w(r_j) max_i cos(c_i, r_j) / Σ_j w(r_j)
    F = 2 P R / (P + R)

c_i and r_j are the vectors of the tokens in one of the model's layers. w is 1, or the inverse document frequency of the
token in the references, ln((N + 1) / (n + 1)) where n of N references have it; special tokens weigh 0, but can be the
nearest.

Where papers and programs differ: docs/reference/metrics/bertscore.md.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from sacrecap import _core
from sacrecap.corpus.corpus import Corpus
from sacrecap.data.cache import digest, through_cache
from sacrecap.errors import DataError
from sacrecap.metrics.base import Ready
from sacrecap.metrics.declared import parameter
from sacrecap.metrics.learned import CutCaptions, LearnedMetric
from sacrecap.resources.needs import Needs
from sacrecap.resources.networks import Checkpoint, TextEncoder, Tokenizer, load, missing_of, tokenizer_alone

if TYPE_CHECKING:
    from sacrecap.data.cache import Vector

NO_BASELINE = "none"
MEASURES = ("f1", "precision", "recall")
_COLUMNS = {"precision": "P", "recall": "R", "f1": "F"}
_PAIRS_AT_ONCE = 4000
"""Number of pairs of captions whose token vectors are in memory at the same time."""

_BY_LAYER = {
    5: "distilroberta-base distilbert-base-uncased distilbert-base-multilingual-cased",
    6: "facebook/bart-base t5-small",
    8: "bert-base-chinese albert-xxlarge-v2 microsoft/mpnet-base",
    9: (
        "bert-base-uncased bert-base-multilingual-cased xlm-roberta-base albert-base-v2 "
        "microsoft/deberta-base microsoft/deberta-base-mnli microsoft/deberta-v3-base"
    ),
    10: "roberta-base facebook/bart-large",
    11: "facebook/bart-large-mnli t5-base",
    12: "microsoft/deberta-v3-large",
    13: "albert-xlarge-v2",
    14: "albert-large-v2",
    16: "microsoft/deberta-large",
    17: "roberta-large xlm-roberta-large microsoft/deberta-v2-xlarge-mnli",
    18: "bert-large-uncased microsoft/deberta-large-mnli microsoft/deberta-xlarge",
    19: "roberta-large-mnli",
    22: "microsoft/deberta-v2-xxlarge-mnli",
    23: "t5-large",
    40: "microsoft/deberta-xlarge-mnli",
}
LAYERS = {model: layer for layer, models in _BY_LAYER.items() for model in models.split()}
"""The layer that bert-score takes of each model: the one that agrees best with people on WMT16."""
_MOVED = ("FacebookAI/", "google-bert/", "distilbert/", "albert/", "google-t5/")
"""Current names, on the hub, of models that had no owner before."""


class BertScore(LearnedMetric):
    """Greedy matching of tokens by the cosine of their vectors, with the best reference; corpus score = mean."""

    measure: str = parameter("what is scored: f1, precision or recall", default="f1", choices=MEASURES)
    layer: int = parameter(
        "the layer whose vectors are compared, counted from 1; 0 is the one that bert-score uses for the model",
        default=0,
        least=0,
        most=1000,
    )
    idf: bool = parameter("weight tokens by how few references have them", default=False)
    baseline: str = parameter(
        "a file of baselines in bert-score's format, to rescale scores; none for no rescaling", default=NO_BASELINE
    )

    title = "BERTScore"
    summary = "Each word of the candidate has a word of the same meaning in a reference, and vice versa."
    equation = "F = 2 P R / (P + R),  P = Σ_i w_i max_j cos(c_i, r_j) / Σ w_i,  R = Σ_j w_j max_i cos(c_i, r_j) / Σ w_j"
    source = "Zhang et al., ICLR 2020"
    cites = ("zhang2020bertscore",)
    upper = 1.0
    needs = ("references", "device")
    nothing: ClassVar[dict[str, str]] = {
        "empty caption": "0, before rescaling",
        "empty reference": "0, before rescaling; another reference can be better",
        "words that all weigh 0": "0, before rescaling",
    }
    resolved = (*LearnedMetric.resolved, "layer", "baseline")
    usual_model = "roberta-large"

    @property
    def smallest(self) -> float | None:
        return -1.0 if self.baseline == NO_BASELINE else None

    @property
    def trained_on_references(self) -> bool:  # type: ignore[override]
        return self.idf

    @property
    def usual_layer(self) -> int:
        """The layer that bert-score uses for the model; 0 for a model that it does not know."""
        owner = next((owner for owner in _MOVED if self.model.startswith(owner)), "")
        return LAYERS.get(self.model.removeprefix(owner), 0)

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """Takes the model, counts the tokens of the references and reads the baselines."""
        self.checkpoint.check_usable(self.label)
        layer = self.layer or self.usual_layer
        baseline = None if self.baseline == NO_BASELINE else read_baseline(self.baseline, layer)
        encoder = load(TextEncoder, replace(self.checkpoint, layers=layer), needs)
        tokenizer = encoder.tokenizer(blank_first=True)
        captions = CutCaptions.of(corpus, tokenizer.limit, references=True)
        weights: TokenWeights | None = None
        signature = [f"model:{encoder.identity}", f"layer:{layer}"]
        if self.idf and corpus.whole is not None:
            weights = corpus.whole.learnt[self]
        elif self.idf:
            weights = TokenWeights(encoder.checkpoint)
            weights.count((text for _, texts in captions.given.values() for text in texts), tokenizer)
        if weights is not None:
            signature.append(f"idf:references({weights.documents})")
        if baseline is not None:
            signature.append("baseline:" + "+".join(f"{value:.8g}" for value in baseline.values()))

        def scores() -> Iterable[float]:
            best = best_scores(captions, encoder, tokenizer, weights, needs, MEASURES.index(self.measure))
            if baseline is None:
                return best
            base = baseline[self.measure]
            return ((score - base) / (1 - base) for score in best)

        return Ready(corpus._core, signature=tuple(signature), own=(scores, captions))

    def learner(self, needs: Needs, *, memory: int) -> TokenWeights:  # noqa: ARG002
        """Raises `MissingDependencyError` without the extra, `UsageError` for the revision of a folder."""
        self.checkpoint.check_usable(self.label)
        return TokenWeights(replace(self.checkpoint, layers=self.layer or self.usual_layer))


def read_baseline(path: str, layer: int) -> dict[str, float]:
    """The baselines of a layer by measure, from a table with the columns LAYER, P, R and F. Raises `DataError`."""
    import csv

    from sacrecap.data.source import read_bytes
    from sacrecap.data.unpack import text_of

    rows = list(csv.reader(text_of(read_bytes(path), f"{path}, ").splitlines()))
    header = ["LAYER", *_COLUMNS.values()]
    if not rows or [name.strip() for name in rows[0]] != header:
        raise DataError(
            f"{path}: is no file of bert-score's baselines; its first line must be {','.join(header)}, and each other "
            "line has a layer and its three numbers (such files are in bert_score/rescale_baseline)"
        )
    for number, row in enumerate(rows[1:], 2):
        try:
            place, *values = map(float, row)
        except ValueError:
            place, values = -1.0, []
        if len(values) != 3 or not all(math.isfinite(value) and value < 1 for value in values):
            raise DataError(f"{path}, line {number}: must be a layer and three numbers below 1, got {','.join(row)!r}")
        if place == layer:
            return dict(zip(_COLUMNS, values, strict=True))
    raise DataError(f"{path}: has no baselines of layer {layer}; choose the file of this model, or another layer")


class TokenWeights:
    """Inverse document frequencies of tokens in references, which may come part by part: its own learner.

    It needs the model's tokenizer, and not the model.
    """

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.documents = 0
        """Number of references."""
        self._checkpoint = checkpoint
        self._counts: Counter[int] = Counter()

    def count(self, references: Iterable[str], tokenizer: Tokenizer) -> None:
        """Counts in how many of these references each token is."""
        texts = Counter(references)
        for times, cut in zip(texts.values(), tokenizer(list(texts)), strict=True):
            self._counts.update(dict.fromkeys(cut.ids, times))
        self.documents += texts.total()

    def add(self, references: _core.Captions, encoded: _core.References, threads: int) -> None:  # noqa: ARG002
        """Counts the references of other images. Raises `DataError` for a checkpoint that cannot be used."""
        texts = (text for image in references.image_ids for text in references.captions(image))
        self.count(texts, tokenizer_alone(self._checkpoint, self._checkpoint.checksum()))

    def merge(self, other: TokenWeights) -> None:
        """Adds the counts of other images."""
        self._counts += other._counts
        self.documents += other.documents

    def finish(self) -> TokenWeights:
        """Itself, with all counts."""
        return self

    def __call__(self, token: int) -> float:
        return math.log((self.documents + 1) / (self._counts.get(token, 0) + 1))

    def __str__(self) -> str:
        return json.dumps([self.documents, sorted(self._counts.items())])


def best_scores(
    read: CutCaptions,
    encoder: TextEncoder,
    tokenizer: Tokenizer,
    weights: TokenWeights | None,
    needs: Needs,
    measure: int,
) -> Iterator[float]:
    """The best F, P or R (0, 1, 2) of each candidate over its references, before rescaling.

    Precision and recall of a pair come from this call's or the user's cache, if they are many, or are computed.
    """
    import numpy as np

    captions = [(candidate, references) for _, candidate, references in read.pairs()]
    # An empty caption and another one are not such a pair: they have 0 in common.
    every = ((candidate, text) for candidate, texts in captions for text in texts)
    apart = dict.fromkeys(pair for pair in every if all(map(str.strip, pair)))
    identity, checkpoint = encoder.identity, encoder.checkpoint
    weighed = "" if weights is None else digest(str(weights)).hex()
    scope = f"pair {identity} {checkpoint.precision} {checkpoint.layers} {weighed}"
    scores: dict[tuple[str, str], tuple[float, float]] = needs.once(scope, dict)
    pairs = missing_of(scores, apart)
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    tokens = dict(zip(texts, tokenizer(texts), strict=True))
    cut_texts: set[str] = needs.once(("cut", identity, tokenizer.limit), set)
    cut_texts.update(text for text, cut in tokens.items() if cut.cut)
    weigh = weights or (lambda token: 0.0 if token in encoder.special else 1.0)

    def matched(pairs: Sequence[tuple[str, str]]) -> Iterator[Vector]:
        """Precision and recall of each pair."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        tokens_of_texts = [tokens[text] for text in texts]
        vectors = dict(zip(texts, encoder.vectors(tokens_of_texts, needs, of_tokens=True), strict=True))
        of_tokens = {text: np.array([weigh(token) for token in tokens[text].ids]) for text in texts}
        for candidate, reference in pairs:
            both = match(vectors[candidate], vectors[reference], of_tokens[candidate], of_tokens[reference])
            yield np.array(both, dtype=np.float32)

    digests = {pair: digest(json.dumps(pair)) for pair in pairs}
    for part in through_cache(scope, digests, matched, at_once=_PAIRS_AT_ONCE):
        scores.update({pair: tuple(value.tolist()) for pair, value in part.items()})
    read.note_cut(cut_texts.__contains__)
    for candidate, references in captions:
        values = (scores.get((candidate, text), (0.0, 0.0)) for text in references)
        yield max((f1(*value)[measure] for value in values), default=0.0)


def match(candidate: Any, reference: Any, mine: Any, theirs: Any) -> tuple[float, float]:
    """Precision and recall of unit vectors of tokens (tokens, numbers), with a weight for each token."""
    import numpy as np

    cosines = candidate.astype(np.float64) @ reference.astype(np.float64).T
    return _mean(cosines.max(axis=1), mine), _mean(cosines.max(axis=0), theirs)


def _mean(cosines: Any, weights: Any) -> float:
    total = float(weights.sum())
    return min(float((cosines * weights).sum()) / total, 1.0) if total > 0 else 0.0


def f1(precision: float, recall: float) -> tuple[float, float, float]:
    """F, precision and recall, in the order of `MEASURES`."""
    total = precision + recall
    return (2 * precision * recall / total if total > 0 else 0.0), precision, recall
