"""VIFIDEL's transport plan of one image, for inspection: which object moves to which word, at what cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from sacrecap.metrics.vifidel.vifidel import Vifidel
    from sacrecap.resources.vectors import EmbeddedCorpus

    Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Explanation:
    """How VIFIDEL scored an image and its caption, for n known objects and m known words. `print` shows it."""

    objects: tuple[str, ...]
    """Labels with a vector."""
    words: tuple[str, ...]
    """The caption's distinct content words with a vector."""
    reference_words: tuple[tuple[str, ...], ...]
    """The same of each reference."""
    object_weights: Numbers
    """Shares of the objects, shape (n,), summing to 1."""
    word_weights: Numbers
    """Shares of the words, shape (m,), summing to 1."""
    object_importance: Numbers
    """ρ of the objects, shape (n,): near 0 if every reference mentions it; 1 without references."""
    word_importance: Numbers
    """ρ of the words, shape (m,)."""
    cost: Numbers
    """‖ρ_i x_i − ρ_j x_j‖^p, shape (n, m)."""
    plan: Numbers
    """Mass moved from object to word, shape (n, m)."""
    distance: float
    """The optimal value: the sum of plan × cost."""
    score: float
    """The score that the metric computes from the distance."""
    coverage: float
    """Share of the content words and labels that have a vector."""

    @property
    def flows(self) -> list[tuple[int, int, float, float]]:
        """Moves as (object, word, share, cost), the most expensive first."""
        moved = [
            (i, j, float(self.plan[i, j]), float(self.cost[i, j])) for i, j in zip(*self.plan.nonzero(), strict=True)
        ]
        return sorted(((int(i), int(j), share, cost) for i, j, share, cost in moved), key=lambda f: -f[2] * f[3])

    def __str__(self) -> str:
        width = max((len(name) for name in (*self.objects, *self.words)), default=0)
        lines = _bag("objects", self.objects, self.object_weights, self.object_importance, width)
        lines += _bag("words", self.words, self.word_weights, self.word_importance, width)
        for number, (i, j, share, cost) in enumerate(self.flows):
            head = "flow" if number == 0 else ""
            arrow = f"{self.objects[i]:<{width}}  →  {self.words[j]:<{width}}"
            lines.append(f"{head:<10} {arrow}  share {share:.4f} × cost {cost:.4f} = {share * cost:.4f}")
        lines += [
            f"distance   {self.distance:.4f}",
            f"score      {self.score:.4f}",
            f"coverage   {self.coverage:.0%} of the content words and labels have a vector",
        ]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """All fields, as JSON."""
        return {
            name: value if isinstance(value, (tuple, float)) else value.tolist() for name, value in vars(self).items()
        }


def _bag(title: str, names: tuple[str, ...], weights: Numbers, importance: Numbers, width: int) -> list[str]:
    """A line per object or word: its share and its ρ."""
    if not names:
        return [f"{title:<10} none known"]
    return [
        f"{title if number == 0 else '':<10} {name:<{width}}  share {weight:.4f}  ρ {rho:.4f}"
        for number, (name, weight, rho) in enumerate(zip(names, weights, importance, strict=True))
    ]


def explain(metric: Vifidel, view: EmbeddedCorpus, image: int) -> Explanation:
    """The plan for the image of this number."""
    import numpy as np

    plan = view.embedded.explain_vifidel(view.corpus, metric.kernel_parameters(), image)
    labels = view.labels[image] if view.labels is not None else ()
    shape = (len(plan["objects"]), len(plan["words"]))
    known_words, total = plan["coverage"]
    numbers: dict[str, Any] = {
        name: np.frombuffer(plan[name]).copy()
        for name in ("object_weights", "word_weights", "object_importance", "word_importance", "cost", "plan")
    }
    numbers |= {name: numbers[name].reshape(shape) for name in ("cost", "plan")}
    return Explanation(
        objects=tuple(labels[number] for number in plan["objects"]),
        words=view.spell(plan["words"]),
        reference_words=tuple(map(view.spell, plan["reference_words"])),
        distance=plan["distance"],
        score=plan["score"],
        coverage=known_words / total if total else 1.0,
        **numbers,
    )
