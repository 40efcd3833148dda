"""The row scores that FLEUR's authors released, as files for `--scores`.

usage: fleur.py FOLDER OUTPUT

FOLDER holds fleur-flickr8k-expert.txt.gz, fleur-pascal-HC.txt.gz … (the authors' `results`: "caption : …, model score :
…, our score : …"), flickr8k-expert.json.gz and pascal50s-pairs-all.json.gz (their `annotations`, which `sacrecap
agreement` reads). OUTPUT gets flickr8k-scores.jsonl and pascal-scores.jsonl. No licence is stated: for measuring only.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sacrecap.data.source import read_bytes
from sacrecap.judgments import Pairs, read_judgments

_CAPTION = re.compile(r"caption : (.*)\nmodel score : .*\nour score : (.*)")


def scored(path: Path) -> list[tuple[str, float]]:
    """Captions and scores of a text file."""
    return [(caption.strip(), float(score)) for caption, score in _CAPTION.findall(read_bytes(path).decode())]


def flickr8k(folder: Path) -> Iterator[dict[str, Any]]:
    """A row per rated caption."""
    for text in filter(str.strip, read_bytes(folder / "fleur-flickr8k-expert.txt.gz").decode().split("\n\n")):
        [(caption, score)] = [(found[1].strip(), float(found[2])) for found in _CAPTION.finditer(text)]
        image = Path(text.partition("image file : ")[2].partition("\n")[0].strip()).stem
        yield {"image_id": image, "caption": caption, "fleur": score}


def pascal50s(folder: Path) -> Iterator[dict[str, Any]]:
    """A row per pair, in the order of the judgments."""
    pairs = read_judgments(folder / "pascal50s-pairs-all.json.gz")
    assert isinstance(pairs, Pairs)
    scores = [one for name in dict.fromkeys(pairs.categories) for one in scored(folder / f"fleur-pascal-{name}.txt.gz")]
    for place, captions in enumerate(zip(pairs.b, pairs.c, strict=True)):
        (b, of_b), (c, of_c) = scores[2 * place : 2 * place + 2]
        if (b, c) != captions:
            raise SystemExit(f"pair {place}: the scores are of other captions")
        yield {"fleur.b": of_b, "fleur.c": of_c}


def main() -> None:
    folder, output = map(Path, sys.argv[1:])
    for name, rows in (("flickr8k-scores.jsonl", flickr8k(folder)), ("pascal-scores.jsonl", pascal50s(folder))):
        (output / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
