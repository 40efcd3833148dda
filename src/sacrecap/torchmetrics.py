"""The metrics as [TorchMetrics](https://lightning.ai/docs/torchmetrics), for training loops in PyTorch and Lightning.

`CaptionScores` gives several scores, `CaptionScore` a single one. Both collect captions and score them when they are
computed; under distributed training every process gets the scores of all captions, to the bit those of
[`sacrecap.score`][].
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sacrecap.errors import MissingDependencyError, warn

try:
    import torch
    from torch import Tensor
    from torchmetrics import Metric
except ImportError as error:
    raise MissingDependencyError("sacrecap.torchmetrics", extra="torchmetrics") from error

from sacrecap.choices import Tokenizer
from sacrecap.corpus.corpus import CandidateSource, CaptionSource, References
from sacrecap.metrics import Metric as CaptionMetric
from sacrecap.metrics.registry import parse_metrics
from sacrecap.resources.needs import Needs
from sacrecap.scoring.collected import Accumulator
from sacrecap.scoring.result import Result
from sacrecap.scoring.score import ScoreOptions

__all__ = ["CaptionScore", "CaptionScores"]
__dir__ = __all__.copy


class _Captions(Metric):
    """Collects captions as bytes, which processes can exchange like numbers."""

    is_differentiable = False
    higher_is_better = True
    full_state_update = False

    captions: Any
    """A list of tensors of bytes; a single tensor after processes have exchanged theirs."""

    def __init__(
        self,
        references: CaptionSource | None,
        metrics: str | CaptionMetric | Iterable[str | CaptionMetric],
        tokenizer: Tokenizer | None,
        needs: Needs | Mapping[str, object] | None,
        options: dict[str, Any],
    ) -> None:
        score_options = {name: options.pop(name) for name in list(options) if name in ScoreOptions.__annotations__}
        # Lightning computes every metric after its sanity check, which sees the first batches alone.
        self._says_what_is_missing = references is not None and "on_missing" not in score_options
        if self._says_what_is_missing:
            score_options["on_missing"] = "skip"
        self._of_a_batch = False
        super().__init__(**options)
        # Metrics hold numbers of one type, also in a process that has none yet.
        self.set_dtype(torch.uint8)
        self.add_state("captions", default=[], dist_reduce_fx="cat", persistent=False)
        if references is not None and not isinstance(references, References):
            references = References(references, tokenizer=tokenizer or "ptb")
        self._known = references
        self._accumulator = Accumulator(references, metrics, tokenizer=tokenizer, needs=needs, **score_options)
        self.result: Result | None = None
        """The whole result of the last `compute`: intervals, scores of images, signatures."""

    def forward(self, *arguments: Any, **named: Any) -> Any:
        """Adds a batch, and gives its value: that of its images alone."""
        self._of_a_batch = True
        try:
            return super().forward(*arguments, **named)
        finally:
            self._of_a_batch = False

    def update(self, candidates: CandidateSource, references: CaptionSource | None = None) -> None:
        """Adds a batch; arguments and errors as for [`Accumulator.update`][sacrecap.Accumulator.update]."""
        batch = self._accumulator
        batch.reset()
        batch.update(candidates, references)
        self.captions.append(torch.frombuffer(bytearray(batch.packed(), "utf-8"), dtype=torch.uint8).to(self.device))
        batch.reset()

    def reset(self) -> None:
        """Forgets the captions of all updates, and the last result."""
        super().reset()
        self.result = None

    def scored(self) -> Result:
        """Scores all captions in this process: under `compute`, those of all processes."""
        everything = self._accumulator
        everything.reset()
        for captions in [self.captions] if isinstance(self.captions, Tensor) else self.captions:
            everything.merge_packed(bytes(captions.cpu().numpy()).decode())
        self.result = everything.compute()
        everything.reset()
        known, seen = self._known, self.result.images
        if known is not None and seen < len(known) and self._says_what_is_missing and not self._of_a_batch:
            warn(
                f"{type(self).__name__}: {seen:,} of the {len(known):,} images had a caption, and the score is of "
                'those alone: right in a sanity check, wrong for a whole epoch; on_missing="error" makes it an error'
            )
        return self.result

    def _number(self, value: float) -> Tensor:
        # Apple's devices have no float64.
        dtype = torch.float32 if self.device.type == "mps" else torch.float64
        return torch.tensor(value, dtype=dtype, device=self.device)


class CaptionScores(_Captions):
    """Several scores of captions, as a dictionary of tensors.

    Args:
        references: of all images, if they are known before: in any form that [`sacrecap.score`][] takes, or as
            [`sacrecap.References`][]. Otherwise `update` takes the references of each batch. If only some of the
            images had a caption, as in Lightning's sanity check, those are scored and a warning says how many they
            are, unless you choose `on_missing`.
        metrics: as for [`sacrecap.score`][].
        prefix: put before the names of the scores, such as `"val/"`.
        percent: scores times 100, as papers print them.
        tokenizer: as for [`sacrecap.score`][].
        needs: what metrics need in addition to captions, as for [`sacrecap.score`][].
        **options: other options of [`sacrecap.score`][] (`interval` is None here unless it is given), and those of
            `torchmetrics.Metric`, such as `dist_sync_on_step`.
    """

    def __init__(
        self,
        references: CaptionSource | None = None,
        metrics: str | CaptionMetric | Iterable[str | CaptionMetric] = "coco",
        *,
        prefix: str = "",
        percent: bool = False,
        tokenizer: Tokenizer | None = None,
        needs: Needs | Mapping[str, object] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(references, metrics, tokenizer, needs, {"interval": None, **options})
        self.prefix = prefix
        self.percent = percent

    def compute(self) -> dict[str, Tensor]:
        """The scores of all captions of all processes, by names that loggers take: float64 tensors without shape."""
        scores = self.scored().flat(self.prefix, percent=self.percent)
        return {name: self._number(value) for name, value in scores.items()}


class CaptionScore(_Captions):
    """A single score of captions, as a tensor.

    Arguments as for [`CaptionScores`][sacrecap.torchmetrics.CaptionScores], with one metric.
    """

    def __init__(
        self,
        references: CaptionSource | None = None,
        metric: str | CaptionMetric = "cider-d",
        *,
        percent: bool = False,
        tokenizer: Tokenizer | None = None,
        needs: Needs | Mapping[str, object] | None = None,
        **options: Any,
    ) -> None:
        (self.metric,) = parse_metrics(metric)
        super().__init__(references, (self.metric,), tokenizer, needs, {"interval": None, **options})
        self.percent = percent

    @property
    def higher_is_better(self) -> bool:  # type: ignore[override]
        """Whether a higher score is better: false for distances."""
        return not self.metric.lower_is_better

    def compute(self) -> Tensor:
        """The score of all captions of all processes: a float64 tensor without shape."""
        return self._number(self.scored()[self.metric].value * (100 if self.percent else 1))
