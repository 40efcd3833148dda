"""Agreement against the number of references, as a picture."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sacrecap.data.atomic import atomic_write
from sacrecap.errors import MissingDependencyError, UsageError, spelled
from sacrecap.judgments.correlation import LABELS
from sacrecap.judgments.judged_rows import Pairs
from sacrecap.judgments.result import band

if TYPE_CHECKING:
    from sacrecap.judgments.result import Agreement, Measured

SUFFIXES = (".svg", ".png", ".pdf")


def check_plot(path: str, references: Sequence[int] | None) -> None:
    """Raises `UsageError` if there is no curve to draw, or the file's suffix is unknown."""
    if os.path.splitext(path)[1] not in SUFFIXES:
        raise UsageError(f"{path}: the suffix gives the format; end the name in {', '.join(SUFFIXES)}")
    if len(set(references or ())) < 2:
        raise UsageError(
            "a curve needs at least two numbers of references; name them, such as "
            + spelled(python="references=[1, 5, 48]", command="--references 1,5,48")
        )


def draw(agreement: Agreement, path: str) -> None:
    """Draws one line per metric: the mean over draws with the band that holds 95% of them, or the first references.

    Raises `MissingDependencyError` without matplotlib, `DataError` if the file cannot be written.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependencyError("drawing curves", extra="plots") from None
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    lines: dict[str, list[Measured]] = {}
    for measured in agreement.measured:
        lines.setdefault(measured.name, []).append(measured)
    for name, points in lines.items():
        points.sort(key=lambda measured: measured.references or 0)
        counts = [measured.references or 0 for measured in points]
        spread = [_band(measured, agreement.primary) for measured in points]
        [line] = axes.plot(counts, [mean for mean, _, _ in spread], marker="o", markersize=3, label=name)
        low, high = [low for _, low, _ in spread], [high for _, _, high in spread]
        axes.fill_between(counts, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
    what = "accuracy" if isinstance(agreement.judgments, Pairs) else LABELS[agreement.primary]
    axes.set(xlabel="references", ylabel=f"{what} ({agreement.judgments.dataset})", xscale="log")
    ticks = sorted({measured.references or 0 for measured in agreement.measured})
    axes.set_xticks(ticks, [str(tick) for tick in ticks], minor=False)
    axes.set_xticks([], minor=True)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", frameon=False)
    with atomic_write(path, "wb") as file:
        figure.savefig(file, format=os.path.splitext(path)[1][1:], dpi=150)


def _band(measured: Measured, statistic: str) -> tuple[float, float, float]:
    value = measured.statistics[statistic].value
    mean, low, high = band(measured.draws[statistic]) if measured.draws else (value, value, value)
    return (mean, low, high) if math.isfinite(mean) else (value, value, value)
