"""METEOR 1.5: words aligned with a reference by form, stem, synonym and paraphrase, and how well their order agrees.

Denkowski and Lavie, *Meteor Universal: Language Specific Translation Evaluation for Any Target Language* (WMT 2014),
as the COCO caption evaluation code runs it.

    P = Σ_i w_i (δ m_i(c_content) + (1 − δ) m_i(c_function)) / (δ |c_content| + (1 − δ) |c_function|);  R likewise
    F = P R / (α P + (1 − α) R)
    METEOR = max_j F · (1 − γ (chunks / matches)^β)

Where papers and programs differ: docs/reference/metrics/meteor.md.

For English. The tables (function words, synonyms, paraphrases) are not part of sacrecap: `pip install
'sacrecap[meteor]'` installs them as the package `sacrecap-meteor`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from sacrecap._core import METEOR_TASKS
from sacrecap.metrics.base import Bears, Metric, Ready, Status
from sacrecap.metrics.declared import parameter

if TYPE_CHECKING:
    from sacrecap.choices import Tokenizer
    from sacrecap.corpus.corpus import Corpus
    from sacrecap.metrics.meteor.alignment import Alignment
    from sacrecap.resources.needs import Needs

_TASKS = {task: dict(parameters) for task, parameters in METEOR_TASKS}
"""Parameters by task; the first task is the default."""


def _tuned(meaning: str, most: float | None = 1.0) -> Any:
    return parameter(f"{meaning}; the task's by default", default=None, kind=float, least=0.0, most=most)


class Meteor(Metric):
    """METEOR with the parameters of a `task`; each can be replaced."""

    task: str = parameter(
        "what the parameters were tuned for: rank (the default of the program and of the COCO suite), adq (adequacy), "
        "hter (edit rate) or li (for any language)",
        default="rank",
        choices=tuple(_TASKS),
    )
    alpha: float = _tuned("weight of recall in F")
    beta: float = _tuned("exponent of the fragmentation", most=None)
    gamma: float = _tuned("largest penalty for fragmentation")
    delta: float = _tuned("weight of content words; function words weigh 1 − delta")
    exact: float = _tuned("weight of words of the same form")
    stem: float = _tuned("weight of words of the same stem")
    synonym: float = _tuned("weight of words of a common WordNet synonym set")
    paraphrase: float = _tuned("weight of phrases of the paraphrase table")

    title: ClassVar[str] = "METEOR"
    summary: ClassVar[str] = "The candidate's words match a reference's, also as synonyms and paraphrases, in order."
    equation: ClassVar[str] = "METEOR = max_j F · (1 − γ (chunks/matches)^β),  F = P R / (α P + (1 − α) R)"
    source: ClassVar[str] = "Denkowski and Lavie, WMT 2014; METEOR 1.5; COCO caption evaluation"
    cites: ClassVar[tuple[str, ...]] = ("denkowski2014meteor",)
    upper: ClassVar[float | None] = 1.0
    needs: ClassVar[tuple[str, ...]] = ("references",)
    explains: ClassVar[str | None] = "alignment"
    nothing: ClassVar[dict[str, str]] = {"empty caption": "0", "empty reference": "0", "no word in common": "0"}
    bears: ClassVar[Bears | None] = Bears(0.3, math.inf, 0.7)

    def complete(self) -> None:
        """Fills in the task's parameters; the checks refuse unknown names."""
        values: dict[str, Any] = vars(self)
        task = values["task"]
        for name, value in _TASKS.get(task if isinstance(task, str) else "rank", _TASKS["rank"]).items():
            if values[name] is None:
                values[name] = value

    def status(self, needs: Needs) -> Status:  # noqa: ARG002
        from sacrecap.metrics.meteor.installed_tables import missing

        if missing() is None:
            return Status()
        return Status("not installed", "its tables are not installed; pip install 'sacrecap[meteor]'")

    def ready(self, corpus: Corpus, needs: Needs) -> Ready:  # noqa: ARG002
        """Takes METEOR's tables."""
        from sacrecap.metrics.meteor.installed_tables import load

        tables = load()
        return Ready(corpus._core, (tables,), (f"tables:{tables.checksum:08x}",), own=tables)

    def explain_image(self, ready: Ready, corpus: Corpus, image: int) -> Alignment | None:
        """The alignment of the image's candidate with its best reference; None for an image without words."""
        from sacrecap.metrics.meteor.alignment import explain

        candidates, references = corpus.texts(corpus.image_ids[image])
        return explain(self, ready.own, candidates[0], references)

    @property
    def largest(self) -> float | None:
        return max(self.exact, self.stem, self.synonym, self.paraphrase)

    def explain(self, candidate: str, references: Sequence[str], *, tokenizer: Tokenizer = "ptb") -> Alignment | None:
        """Shows which words of the candidate were matched with which words of its best reference, and how; printable.

        None without references. Raises `MissingDependencyError` without METEOR's tables.
        """
        from sacrecap.corpus.corpus import tokenize
        from sacrecap.metrics.meteor.alignment import explain
        from sacrecap.metrics.meteor.installed_tables import load

        texts = [" ".join(tokens) for tokens in tokenize([candidate, *references], tokenizer=tokenizer)]
        return explain(self, load(), texts[0], texts[1:])

    def weights(self) -> list[float]:
        """α, β, γ, δ and the weights of the modules, in the order of the native core."""
        return [getattr(self, name) for name in _TASKS["rank"]]
