"""Two studies of the same pairs: what is human-like, by triplets, and what humans like (CIDEr, appendix III)."""

from __future__ import annotations

import json
from typing import Any

from sacrecap.data.source import read_bytes
from sacrecap.errors import DataError
from sacrecap_studies.clustered_intervals import wilson


def compare_winners(triplets: str, choices: str) -> tuple[str, list[dict[str, Any]]]:
    """Joins two exports by the ids of their pairs.

    Returns a table, with a line per category: pairs that both studies have decided, how many have the same winner, and
    the share with its interval of 95 % (Wilson); and the joined pairs.

    Raises `DataError` if a file cannot be read, or no pair is in both.
    """
    other_side = {"b": "c", "c": "b"}
    likes, joined = _by_pair(choices), list[dict[str, Any]]()
    for pair, line in _by_pair(triplets).items():
        if pair in likes:
            liked = likes[pair]["winner"]
            if line["b"] != likes[pair]["b"]:  # as B and C stand in the first study
                liked = other_side.get(liked, liked)
            columns: dict[str, Any] = {
                name: line[name] for name in ("pair", "image_id", "b", "c", "category") if name in line
            }
            joined.append({**columns, "human_like": line["winner"], "humans_like": liked})
    if not joined:
        raise DataError(
            f"{triplets} and {choices} have no pair in common; make both studies with the "
            "same --seed, --systems and --categories"
        )
    rows = [("", "pairs", "same winner", "share")]
    for category in (*dict.fromkeys(row.get("category", "") for row in joined), "all"):
        of_it = [row for row in joined if category in ("all", row.get("category", ""))]
        decided = [row for row in of_it if "tie" not in (row["human_like"], row["humans_like"])]
        same = sum(row["human_like"] == row["humans_like"] for row in decided)
        low, high = wilson(same, len(decided)) if decided else (0.0, 1.0)
        share = f"{same / len(decided):.3f} [{low:.3f}, {high:.3f}]" if decided else "–"
        rows.append((category, str(len(decided)), str(same), share))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join(padded), joined


def _by_pair(path: str) -> dict[str, dict[str, Any]]:
    joined = {}
    for number, line in enumerate(read_bytes(path).splitlines(), 1):
        try:
            pair = json.loads(line) if line.strip() else {}
        except ValueError as error:
            raise DataError(f"{path}: line {number}: not JSON ({error})") from None
        if isinstance(pair, dict) and "pair" in pair:
            if not all(isinstance(pair.get(name), str) for name in ("pair", "b", "c", "winner")):
                raise DataError(f"{path}: line {number}: pair, b, c and winner must be text")
            joined[pair["pair"]] = pair
    if not joined:
        raise DataError(f"{path}: no line has a pair; sacrecap study make gives each pair its id")
    return joined
