"""The statistics of a submission as bytes: what the metrics counted of each image, metric by metric.

Runs in the child process; imports nothing of the server.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

from sacrecap._core import Statistics


def packed(statistics: Mapping[str, Statistics]) -> bytes:
    """Compressed; a table that several metrics share, as BLEU's, is there once."""
    tables: dict[bytes, int] = {}
    places = {}
    for metric, one in statistics.items():
        values = one.values()
        places[metric] = (tables.setdefault(values, len(tables)), one.width)
    header = json.dumps({"metrics": places, "sizes": [len(table) for table in tables]}).encode()
    return zlib.compress(header + b"\n" + b"".join(tables), 6)


def unpacked(data: bytes, like: Mapping[str, Statistics]) -> dict[str, Statistics]:
    """What was packed, with the formulas of other statistics of the same metrics.

    Metrics that either lacks are left out.
    """
    head, _, rest = zlib.decompress(data).partition(b"\n")
    header = json.loads(head)
    tables, start = [], 0
    for size in header["sizes"]:
        tables.append(rest[start : start + size])
        start += size
    found = {}
    for metric, (place, width) in header["metrics"].items():
        if metric in like and len(tables[place]) == 8 * width * like[metric].rows:
            taken_apart: Any = like[metric].select([]).__reduce__()
            restore, (name, _, _, kind, made_of) = taken_apart
            found[metric] = restore(name, tables[place], width, kind, made_of)
    return found
