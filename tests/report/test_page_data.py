"""What pages carry is what `tools/js/data.d.ts` declares, against which tsc checks their scripts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from opened import data_of

import sacrecap
from sacrecap import example
from sacrecap.judgments import Agreement, Pairs, Ratings, agreement
from sacrecap.judgments.judged_rows import Row
from sacrecap.report.html import render_html

DECLARED = Path(__file__).parents[2] / "tools" / "js" / "data.d.ts"
OF_EVERY_PAGE = {"drawings", "boxes"}
IDS = list(example.references())[:20]


INTERFACES = {
    name: dict(re.findall(r"(\w+): ([^;]+);", body))
    for name, body in re.findall(r"^interface (\w+) \{$(.*?)^\}$", DECLARED.read_text(), re.MULTILINE | re.DOTALL)
}


def difference(value: Any, kind: str, where: str) -> str | None:
    """Where a value is not of its declared type, first; None where it is."""
    if kind.endswith(" | null"):
        return None if value is None else difference(value, kind.removesuffix(" | null"), where)
    fields = INTERFACES.get(kind) or (dict(re.findall(r"(\w+): ([^,}]+)", kind)) if kind.startswith("{") else None)
    parts: list[tuple[str, Any, str]] = []
    if kind.endswith("[]") and isinstance(value, list):
        inner = kind[:-2].removeprefix("(").removesuffix(")")
        parts = [(f"[{place}]", part, inner) for place, part in enumerate(value)]
    elif kind.startswith("Record<number, ") and isinstance(value, dict):
        inner = kind.removeprefix("Record<number, ").removesuffix(">")
        parts = [(f"[{int(key)}]", part, inner) for key, part in value.items()]
    elif kind == "[number, number]" and isinstance(value, list) and len(value) == 2:
        parts = [(f"[{place}]", part, "number") for place, part in enumerate(value)]
    elif fields and isinstance(value, dict):
        if set(value) != set(fields):
            return f"{where}: {sorted(value)} are not the fields of {kind}, {sorted(fields)}"
        parts = [(f".{name}", value[name], type_) for name, type_ in fields.items()]
    elif type(value) not in {"string": (str,), "boolean": (bool,), "number": (int, float)}.get(kind, ()):
        return f"{where}: {value!r} is not {kind}"
    return next(filter(None, (difference(part, inner, f"{where}{at}") for at, part, inner in parts)), None)


def judged(kind: str) -> Agreement:
    careful, plain = ([example.systems()[name][image] for image in IDS] for name in ("careful", "plain"))
    rows = [Row(image, example.references()[image], number) for number, image in enumerate(IDS)]
    if kind == "ratings":
        ratings: list[tuple[float, ...]] = [(float(number % 5), 1.0) for number in range(len(IDS))]
        return agreement(Ratings("ratings", "test", rows, careful, ratings, len(IDS)), "rouge-l", interval=None)
    preferred = [(1, -1)[number % 2] for number in range(len(IDS))]
    pairs = Pairs("pairs", "test", rows, careful, plain, preferred, ["HM"] * len(IDS), len(IDS))
    return agreement(pairs, "rouge-l, bleu-4", interval=None)


def result(page: str, kind: str) -> Any:
    references = {image: example.references()[image] for image in IDS}
    systems = {name: {image: system[image] for image in IDS} for name, system in example.systems().items()}
    if page == "ScorePage":
        # One caption is missing, so its score is null.
        return sacrecap.score(references, {**systems["careful"], IDS[0]: None}, "rouge-l, bleu-4", on_missing="skip")
    if page == "ComparisonPage":
        return sacrecap.compare(references, systems, "rouge-l", samples=50)
    if page == "AgreementPage":
        return judged(kind)
    sets = {name: {image: captions[image] for image in IDS} for name, captions in example.caption_sets().items()}
    return sacrecap.diversity(sets, references, samples=50)


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        ("ScorePage", ""),
        ("ComparisonPage", ""),
        ("SetsPage", ""),
        ("AgreementPage", "pairs"),
        ("AgreementPage", "ratings"),
    ],
)
def test_pages_carry_what_is_declared(page: str, kind: str) -> None:
    every = data_of(render_html(result(page, kind)))
    data = {key: value for key, value in every.items() if key not in OF_EVERY_PAGE}
    assert data["images"]
    assert difference(data, page, page) is None


def test_differences_are_found() -> None:
    image = {"id": "1", "candidates": ["a", None], "references": ["b"], "photo": None}
    assert difference(image, "PageImage", "image") is None
    assert "are not the fields" in str(difference({**image, "more": 1}, "PageImage", "image"))
    assert difference({**image, "candidates": ["a", 1]}, "PageImage", "image") == "image.candidates[1]: 1 is not string"
    assert difference([1, True], "[number, number]", "pair") == "pair[1]: True is not number"
    assert len(INTERFACES) == DECLARED.read_text().count("interface ")
