"""A random corpus, in memory and in files."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

WORDS = [f"w{number}" for number in range(120)] + ["dog", "dogs", "run", "running", "a", "the", "red", "bus"]


class Made:
    """Images with one to five references, and two systems."""

    def __init__(self, seed: int, images: int) -> None:
        self._random = choose = random.Random(seed)
        self.references = {
            f"image {number}": [self._caption() for _ in range(choose.randint(1, 5))] for number in range(images)
        }
        self.a = {image: choose.choice([*own, self._caption()]) for image, own in self.references.items()}
        self.b = {image: choose.choice([own[0], self._caption()]) for image, own in self.references.items()}
        self.systems = {"a": self.a, "b": self.b}

    def _caption(self) -> str:
        most = self._random.choice([8, 40, len(WORDS)])
        return " ".join(self._random.choice(WORDS[:most]) for _ in range(self._random.randint(1, 9)))

    def write(self, folder: Path, *, files: int, row_group: int) -> str:
        """The corpus in Parquet files, in its order; the last has no row."""
        images = list(self.references)
        folder.mkdir()
        size = -(-len(images) // max(files - 1, 1))
        for number in range(files):
            own = images[number * size : (number + 1) * size]
            write(folder / f"{number}.parquet", own, {"references": self.references, **self.systems}, row_group)
        return str(folder)


def write(path: Path, images: Sequence[str], columns: Mapping[str, Mapping[str, Any]], row_group: int = 100) -> None:
    """A Parquet file of these images."""
    kinds = {"references": pa.list_(pa.string())}
    made = {name: pa.array([own[one] for one in images], kinds.get(name, pa.string())) for name, own in columns.items()}
    pq.write_table(pa.table({"image_id": pa.array(images, pa.string()), **made}), path, row_group_size=row_group)


def two_inputs(corpus: Made, folder: Path) -> tuple[str, str]:
    """References in a row per caption, over several files, and candidates in another order."""
    rows = [{"image_id": image, "caption": one} for image, own in corpus.references.items() for one in own]
    for number in range(3):
        lines = "".join(json.dumps(row) + "\n" for row in rows[number * len(rows) // 3 : (number + 1) * len(rows) // 3])
        (folder / f"references-{number}.jsonl").write_text(lines)
    write(folder / "a.parquet", list(corpus.a)[::-1], {"candidate": corpus.a})
    return str(folder / "references-*.jsonl"), str(folder / "a.parquet")
