"""What SPICE's original program gave to captions: the F of each, and which captions they are."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "goldens" / "spice-original.json.gz"

References = dict[str, list[str]]
Candidates = dict[str, str]


def read() -> dict[str, dict[str, float]]:
    """F by corpus and image."""
    found: dict[str, dict[str, float]] = json.loads(gzip.decompress(FILE.read_bytes()))
    return found


def corpora(data: Path) -> dict[str, tuple[References, Candidates]]:
    """References and candidates of each corpus; `data` is the folder of research data.

    `table-1` is that of *Describing like humans*, the original against each modification; `table-4` that of VIFIDEL.
    """
    return {
        "table-1": (example("diversity", "table-1", "modified"), example("diversity", "table-1", "original")),
        "table-4": (example("vifidel", "references"), example("vifidel", "captions")),
        "pascal50s": pascal50s(data, 5),
        "pascal50s-1": pascal50s(data, 1),
        "coco-val2017": coco_val2017(data),
    }


def example(*place: str) -> Any:
    """Captions that the papers print."""
    *folders, name = place
    file = files("sacrecap.example").joinpath("papers", *folders, f"{name}.json")
    return json.loads(file.read_text("utf-8"))


def pairs(data: Path) -> Iterator[dict[str, Any]]:
    """The 4,000 pairs of PASCAL-50S."""
    for part in sorted((data / "pascal50s").glob("*.jsonl")):
        yield from map(json.loads, part.read_text("utf-8").splitlines())


def pascal50s(data: Path, number: int) -> tuple[References, Candidates]:
    """Both captions of each pair, `17B` and `17C`, against the first references."""
    references: References = {}
    candidates: Candidates = {}
    for pair in pairs(data):
        for letter in "BC":
            references[f"{pair['pair']}{letter}"] = pair["references"][:number]
            candidates[f"{pair['pair']}{letter}"] = pair[letter]
    return references, candidates


def coco_val2017(data: Path) -> tuple[References, Candidates]:
    """The captions of Wu et al. 2016 for COCO val2017."""
    folder = data / "coco-val2017"
    references: References = {}
    for row in json.loads((folder / "captions_val2017.json").read_text("utf-8"))["annotations"]:
        references.setdefault(str(row["image_id"]), []).append(row["caption"])
    rows = json.loads((folder / "systems" / "Wu-et-al-2016.json").read_text("utf-8"))
    return references, {str(row["image_id"]): row["caption"] for row in rows}


def agreement(data: Path, scores: dict[str, float]) -> dict[str, float]:
    """The share of PASCAL-50S' pairs whose preferred caption has the higher score, by category; a tie is a half."""
    right: dict[str, list[float]] = {}
    for pair in pairs(data):
        b, c = (round(scores[f"{pair['pair']}{letter}"], 6) for letter in "BC")
        won = 0.5 if b == c else float((c > b) == (pair["consensus_preferred"] == "C"))
        for category in (pair["category"], "all"):
            right.setdefault(category, []).append(won)
    return {category: sum(won) / len(won) for category, won in right.items()}
