"""The tables of `benchmarks/agreement` are made of the JSON of `sacrecap meta`.

`SACRECAP_UPDATE_DOCS=1` writes them, with intervals and p; without it their figures are compared, without a bootstrap.
"""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from pages import UPDATE
from runner import Runner

FOLDER = Path(__file__).parents[2] / "benchmarks" / "agreement"
METRICS = {
    "Sentence": "sentence",
    "CIDEr-paper": "cider-paper",
    "WMD": "wmd",
    "WMD(pool=mean, p=1)": "wmd(pool=mean, p=1)",
    "SPICE": "spice",
    "CIDEr-D": "cider-d",
    "METEOR": "meteor",
    "BLEU-1": "bleu-1",
    "ROUGE-L": "rouge-l",
    "BLEU-4": "bleu-4",
    "CHAIR-i": "chair-i(gold=references)",
    "Fluency": "fluency",
}
BEST = METRICS["Sentence"]
TOLD_BY_DRAWING = {"rated": (1, 2), "chosen": (3, 4, 10)}
"""Cells of intervals and p, counted from the first after the name."""


def number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}".replace("-", "−")


def bounds(entry: dict[str, Any], statistic: str) -> str:
    own = entry["interval"].get(statistic)
    return "" if own is None else f"{number(own[0])} to {number(own[1])}"


def p_of(document: dict[str, Any], key: str, statistic: str) -> str:
    """That of the difference from the best metric."""
    for one in document["comparisons"]:
        if {one["a"], one["b"]} == {key, BEST} and one["statistic"] == statistic and one["p"] is not None:
            return f"{one['p']:.3f}"
    return ""


def entry_of(document: dict[str, Any], key: str) -> dict[str, Any]:
    entry: dict[str, Any] = document["people"] if key == "people" else document["metrics"][key]
    return entry


def rated(datasets: dict[str, Any], key: str) -> list[str]:
    document = datasets["flickr8k-expert"]
    own = entry_of(document, key)
    found = [number(own["kendall_c"]), bounds(own, "kendall_c"), p_of(document, key, "kendall_c")]
    return [*found, *(number(value) for value in (own["kendall_b"], own["pearson"], own["in_image"]["kendall_b"]))]


def chosen(datasets: dict[str, Any], key: str) -> list[str]:
    (abstract, of_abstract), (_, of_pascal) = (
        (document, entry_of(document, key)) for document in (datasets["abstract-50s"], datasets["pascal-50s"])
    )
    found = [number(of_abstract["accuracy"][name]) for name in ("HC", "HI", "all")]
    found += [bounds(of_abstract, "all"), p_of(abstract, key, "all")]
    found += [number(of_pascal["accuracy"][name]) for name in ("HC", "HI", "HM", "MM", "all")]
    return [*found, bounds(of_pascal, "all")]


def table_of(name: str, datasets: dict[str, Any]) -> list[list[str]]:
    make = {"rated": rated, "chosen": chosen}[name]
    labels = METRICS | {"people": "people"}
    return [[label, *make(datasets, key)] for label, key in labels.items()]


def without_drawn(row: list[str], name: str) -> list[str]:
    label, *cells = row
    return [label, *(cell for place, cell in enumerate(cells) if place not in TOLD_BY_DRAWING[name])]


@pytest.mark.soak
def test_tables_are_those_of_meta(shared: Path, tmp_path: Path) -> None:
    data = shared / "data"
    judgments = (data / "flickr8k", data / "abstract50s" / "triplets.csv", data / "pascal50s")
    drawn = ("--samples", "1000") if UPDATE else ("--interval", "none")
    text = Runner(tmp_path).ok(
        "meta", *judgments, "--metrics", ",".join(METRICS.values()), *drawn, "--format", "json", "--quiet"
    )
    datasets = json.loads(text)["datasets"]
    for name in TOLD_BY_DRAWING:
        path = FOLDER / f"{name}.csv"
        head, *rows = csv.reader(path.read_text(encoding="utf-8").splitlines())
        made = table_of(name, datasets)
        if UPDATE:
            written = io.StringIO()
            csv.writer(written, lineterminator="\n").writerows([head, *made])
            path.write_text(written.getvalue(), encoding="utf-8")
            continue
        assert [without_drawn(row, name) for row in rows] == [without_drawn(row, name) for row in made]


def test_the_page_shows_figures_of_the_tables() -> None:
    """The first table of the page: Flickr8k Expert, with three decimals."""
    text = (FOLDER.parents[1] / "docs" / "explanation" / "which-metric.md").read_text(encoding="utf-8")
    with (FOLDER / "rated.csv").open(encoding="utf-8", newline="") as file:
        agreement = {row["metric"]: float(row["τ-c"].replace("−", "-")) for row in csv.DictReader(file)}
    shown = re.findall(r"^\| ([\w-]+) \| \**(0\.\d{3})\** \|", text, re.MULTILINE)
    assert len(shown) > 5
    for metric, figure in shown:
        assert abs(float(figure) - agreement[metric]) < 0.00051, metric
