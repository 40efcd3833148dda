"""The row scores that FLEUR's authors released, and the judgments beside them, as files for sacrecap.

usage: fleur.py FOLDER OUTPUT

FOLDER holds fleur-flickr8k-expert.txt.gz, fleur-pascal-HC.txt.gz … (the authors' `results`: "caption : …, model score :
…, our score : …"), flickr8k-expert.json.gz and pascal50s-pairs-all.json.gz (their `annotations`). OUTPUT gets
flickr8k-expert.jsonl and pascal-50s.jsonl, for `sacrecap agreement`, and flickr8k-scores.jsonl and pascal-scores.jsonl,
for `--scores`. No licence is stated: for measuring only.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sacrecap.data.source import read_bytes

_CAPTION = re.compile(r"caption : (.*)\nmodel score : .*\nour score : (.*)")


def scored(path: Path) -> list[tuple[str, float]]:
    """Captions and scores of a text file."""
    return [(caption.strip(), float(score)) for caption, score in _CAPTION.findall(read_bytes(path).decode())]


def flickr8k(folder: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """A rated caption, and its scores."""
    images = json.loads(read_bytes(folder / "flickr8k-expert.json.gz"))
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for image in images.values():
        for one in image["human_judgement"]:
            new = {"image_id": one["image_id"], "caption": one["caption"], "references": image["ground_truth"]}
            rows.setdefault((one["image_id"], one["caption"].strip()), {**new, "rating": []})["rating"].append(
                one["rating"]
            )
    texts = read_bytes(folder / "fleur-flickr8k-expert.txt.gz").decode().split("\n\n")
    for text in filter(str.strip, texts):
        [(caption, score)] = [(found[1].strip(), float(found[2])) for found in _CAPTION.finditer(text)]
        image = Path(text.partition("image file : ")[2].partition("\n")[0].strip()).stem
        yield rows[image, caption], {"image_id": image, "caption": caption, "fleur": score}


def pascal50s(folder: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """A pair, and its scores."""
    for category, pairs in json.loads(read_bytes(folder / "pascal50s-pairs-all.json.gz")).items():
        scores = scored(folder / f"fleur-pascal-{category}.txt.gz")
        for place, pair in enumerate(pairs):
            (b, of_b), (c, of_c) = scores[2 * place : 2 * place + 2]
            if [b, c] != [caption.strip() for caption in pair["captions"]]:
                raise SystemExit(f"{category}, pair {place}: the scores are of other captions")
            winner = "c" if pair["label"] else "b"
            judged = {"image_id": pair["image"], "references": pair["references"], "b": b, "c": c, "winner": winner}
            yield {**judged, "category": category}, {"fleur.b": of_b, "fleur.c": of_c}


def main() -> None:
    folder, output = map(Path, sys.argv[1:])
    for judged, scores, rows in (
        ("flickr8k-expert.jsonl", "flickr8k-scores.jsonl", flickr8k(folder)),
        ("pascal-50s.jsonl", "pascal-scores.jsonl", pascal50s(folder)),
    ):
        for name, lines in zip((judged, scores), zip(*rows, strict=True), strict=True):
            (output / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
