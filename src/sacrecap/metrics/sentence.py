"""Sentence: the cosine of the caption's vector with those of its references.

With vectors inside the package, which need no network: a caption's vector v is made of those of its word pieces,

    u = Σ_i x_i,  w = Σ_i roll(x_i, 7) ⊙ x_{i+1},  v = u / ‖u‖ ⊕ 0.3 w / ‖w‖
    Sentence(c, R) = cos(v_c, Σ_r v_r / ‖v_r‖)

With a network: Reimers and Gurevych, *Sentence-BERT: Sentence Embeddings using Siamese BERT-Networks* (EMNLP 2019): the
vector of a sentence is the mean of its tokens' vectors in the last layer.

How the vectors were made, and where papers and programs differ: docs/reference/metrics/sentence.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import as_file, files
from typing import ClassVar

from sacrecap import _core
from sacrecap.corpus.corpus import Corpus
from sacrecap.errors import UsageError
from sacrecap.metrics.base import Ready, Status, Totals
from sacrecap.metrics.clipscore import cosine
from sacrecap.metrics.declared import parameter
from sacrecap.metrics.learned import CutCaptions, LearnedMetric
from sacrecap.resources.needs import Needs
from sacrecap.resources.networks import OnnxTexts, TextEncoder, load, onnx_of

BUILT_IN = "built-in"
"""The name of the vectors inside the package."""


@cache
def vectors() -> _core.SentenceVectors:
    """The vectors inside the package, opened once per process.

    `vectors().read(texts)` has a unit vector of `vectors().width` numbers, float32, for each text, whose words are
    joined by blanks; one of zeros for a text without a known word.
    """
    with as_file(files("sacrecap.resources").joinpath("sentence/english.vectors")) as path:
        return _core.SentenceVectors.load(str(path))


class Sentence(LearnedMetric):
    """Cosine of the caption's vector with those of its references; corpus score = mean."""

    references: str = parameter(
        "what the caption is compared with: the centroid of the references' vectors, or each of them, of which the "
        "mean or the best counts",
        default="centroid",
        choices=("centroid", "mean", "best"),
    )
    model: str = parameter(
        "built-in, the vectors inside the package; or a network: a folder with a checkpoint of transformers, or its "
        "name on the hub",
        default=BUILT_IN,
    )

    title = "Sentence"
    summary = "The candidate means what the references mean."
    equation = "Sentence = cos(v(c), Σ_j v(s_j)), v being unit vectors"
    source = "Reimers and Gurevych, EMNLP 2019"
    cites = ("reimers2019sentencebert",)
    upper = 1.0
    smallest = -1.0
    without_references = None  # not computed without; its parameter `references` says what they are compared as
    nothing: ClassVar[dict[str, str]] = {
        "empty caption": "0",
        "no known word in the caption": "0",
        "empty reference, or one without a known word": "it is left out; 0 if there is no other",
    }
    prepared = ("revision", "precision")

    def complete(self) -> None:
        """Nothing: the default of the model is no checkpoint."""

    @property
    def _by_network(self) -> bool:
        return self.model != BUILT_IN

    @property
    def arithmetic(self) -> str:  # type: ignore[override]
        return "" if self._by_network else "sentence"

    @property
    def resolved(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("model", "revision") if self._by_network else ("model",)

    @property
    def reads_tokens(self) -> bool:
        return not self._by_network

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("references", *(["device"] if self._by_network else []))

    def status(self, needs: Needs) -> Status:
        is_here = not self._by_network or onnx_of(self.checkpoint) is not None
        return Status() if is_here else super().status(needs)

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:
        """Takes the vectors, or the network."""
        if not self._by_network:
            for name in ("revision", "precision"):
                if getattr(self, name) != self._declared[name].default:
                    raise UsageError(f"{self.label}: {name} is a network's; name one too: model=DIR|NAME")
            table = vectors()
            return Ready(corpus._core, (table,), (f"model:{BUILT_IN}({table.checksum:08x})",))
        # In ONNX where the checkpoint has it and onnxruntime is installed, by torch otherwise.
        encoder: OnnxTexts | TextEncoder | None = onnx_of(self.checkpoint)
        if encoder is None:
            self.checkpoint.check_usable(self.label)
            encoder = load(TextEncoder, self.checkpoint, needs)
        tokenizer = encoder.tokenizer()
        captions = CutCaptions.of(corpus, tokenizer.limit, references=True)

        def scores() -> Iterator[float]:
            units = captions.vectors(encoder, tokenizer, needs)
            for _, candidate, references in captions.pairs():
                described = [units[text] for text in references if text.strip()]
                if not described or not candidate.strip():
                    yield 0.0
                elif self.references == "centroid":
                    total = sum(described[1:], described[0]).astype("f8")
                    yield cosine(units[candidate], total / (float(total @ total) ** 0.5 or 1.0))
                else:
                    cosines = [cosine(units[candidate], reference) for reference in described]
                    yield max(cosines) if self.references == "best" else sum(cosines) / len(cosines)

        return Ready(corpus._core, signature=(f"model:{encoder.identity}",), own=(scores, captions))

    def warnings(self, ready: Ready, statistics: Totals) -> list[str]:
        return super().warnings(ready, statistics) if self._by_network else []
