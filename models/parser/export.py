"""Write a trained network and the table of lemmas as the file that the Rust parser reads.

    python -m parser.export CHECKPOINT DATA MODEL [--name english-1]

Weights become 16-bit integers, on a grid of 2^-shift that is as fine as sums of 32 bits allow; activations are
multiples of 1/256. rust/core/src/parse/model.rs describes the file.
"""

from __future__ import annotations

import argparse
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from parser.conll import read
from parser.features import BUCKETS
from parser.lemmas import KINDS, tables
from parser.network import EMBEDDING_STEP, LIMIT

MAGIC = b"sacre\0pm"
FORMAT = 1
ONE = 256  # an activation of 1
LARGEST_SHIFT = 14

Floats = npt.NDArray[np.float64]


class Writer:
    """Little-endian values, one after another."""

    def __init__(self) -> None:
        self.bytes = bytearray()

    def number(self, value: int) -> None:
        """An unsigned number of 32 bits."""
        self.bytes += struct.pack("<I", value)

    def text(self, value: str) -> None:
        """Its length in bytes, then the text."""
        encoded = value.encode()
        self.number(len(encoded))
        self.bytes += encoded

    def texts(self, values: list[str]) -> None:
        """All in one text, a line each."""
        self.text("\n".join(values))

    def integers(self, values: Floats, kind: str) -> None:
        """Numbers rounded to integers of that type, which has to hold them."""
        rounded = np.rint(values)
        limits = np.iinfo(kind)
        if rounded.size and (rounded.min() < limits.min or rounded.max() > limits.max):
            message = f"weights up to {abs(values).max():.3g} do not fit {kind}; train with a smaller rate"
            raise SystemExit(message)
        self.bytes += rounded.astype(np.dtype(kind).newbyteorder("<")).tobytes()

    def vector(self, values: Floats) -> None:
        """Activations."""
        self.integers(np.clip(values, -LIMIT, LIMIT) * ONE, "int16")

    def matrix(self, weight: Floats, bias: Floats, input_limit: int, input_one: int) -> None:
        """Shift, weights, biases. The bias is on the grid of the sums."""
        shift = LARGEST_SHIFT
        while True:
            scaled = np.rint(weight * 2.0**shift)
            offset = np.rint(bias * 2.0**shift * input_one)
            if abs(scaled).max() <= 32767 and (abs(scaled).sum(1) * input_limit + abs(offset)).max() < 2**30:
                break
            shift -= 1
        self.number(shift)
        self.integers(scaled, "int16")
        self.integers(offset, "int32")


def payload(saved: dict[str, Any], data: Path, name: str) -> bytes:
    """All of the file after its header."""
    shape = saved["shape"]
    state = {key: value.double().numpy() for key, value in saved["state"].items()}
    out = Writer()
    out.text(name)
    for key in ("embedding", "width", "message", "centre", "reach", "arc", "label", "distance"):
        out.number(shape[key])
    out.number(BUCKETS)
    out.number(len(shape["shifts"]))
    for near, far in shape["shifts"]:
        out.number(near)
        out.number(far)
    out.texts(saved["tags"])
    out.texts(saved["relations"])
    out.texts(saved["words"])
    out.integers(np.clip(state["table"] / EMBEDDING_STEP, -127, 127), "int8")
    limit = int(LIMIT * ONE)
    embedding_one = round(1 / EMBEDDING_STEP)
    out.matrix(state["window.weight"], state["window.bias"], 9 * 127, embedding_one)
    for number in range(len(shape["shifts"])):
        out.matrix(state[f"layers.{number}.weight"], state[f"layers.{number}.bias"], limit, ONE)
    for part in ("tag", "dependent", "head"):
        out.matrix(state[f"{part}.weight"], state[f"{part}.bias"], limit, ONE)
    out.matrix(state["label_dependent.weight"], state["label_dependent.bias"], limit, ONE)
    out.matrix(state["label_head.weight"], np.zeros(shape["label"]), limit, ONE)
    out.matrix(state["label.weight"], state["label.bias"], limit, ONE)
    for part in ("root", "distance", "label_root", "label_distance"):
        out.vector(state[part])
    lemmas = tables(read(data / "train.conll"))
    for kind in KINDS:
        out.texts([f"{ending}\t{strip}\t{add}" for ending, (strip, add) in sorted(lemmas[kind].items())])
    return bytes(out.bytes)


def main() -> None:
    """Read the arguments, write the model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("data", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--name", default="english-1")
    arguments = parser.parse_args()
    body = payload(torch.load(arguments.checkpoint), arguments.data, arguments.name)
    header = MAGIC + struct.pack("<III", FORMAT, zlib.crc32(body), len(body))
    arguments.model.parent.mkdir(parents=True, exist_ok=True)
    arguments.model.write_bytes(header + body)
    print(f"{arguments.model}: {len(header) + len(body):,} bytes, checksum {zlib.crc32(body):08x}")


if __name__ == "__main__":
    main()
