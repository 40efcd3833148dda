"""`sacrecap detect`: the detector that it brings over generated images, and the files around it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from runner import Runner

Write = Callable[[str, object], str]

A = [{"image_id": 1, "objects": {"dog": 2, "cat": 1}}, {"image_id": 2, "objects": {}}]
B = [{"image_id": 1, "detections": [{"label": "dog", "score": 0.9}, {"label": "sofa", "score": 0.5}]}]


@pytest.fixture
def pictures(tmp_path: Path) -> str:
    image = pytest.importorskip("PIL.Image")
    (tmp_path / "convert").mkdir()
    for number in range(3):
        image.new("RGB", (50, 40), (90 * number, 60, 20)).save(tmp_path / "convert" / f"{number}.jpg")
    return "./convert"


def test_a_folder_of_images(run: Runner, pictures: str) -> None:
    few = ["--threshold", "0.06", "--image-ids", "stem", "--batch", "2"]
    assert run.ok("detect", pictures, "-o", "found.json", *few) == ""
    found = json.loads((run.folder / "found.json").read_text())
    assert [row["image_id"] for row in found] == ["0", "1", "2"]
    assert all(set(one) == {"label", "score", "box"} for row in found for one in row["detections"])
    assert json.loads(run.ok("detect", "info", "found.json", "--format", "json"))["images"] == 3
    run.ok("detect", "convert/0.jpg", "convert/1.jpg", "convert/2.jpg", "-o", "again.json", *few, "--threads", "3")
    assert (run.folder / "again.json").read_bytes() == (run.folder / "found.json").read_bytes()


def test_bad_images_and_detectors(run: Runner, pictures: str) -> None:
    assert "did you mean 'nanodet-g'" in run.refused("detect", pictures, "-o", "o.json", "--detector", "nanodet")
    assert "no such file" in run.refused("detect", "images", "-o", "o.json")
    assert "no folder" in run.refused("detect", pictures, "-o", "none/o.json")
    (run.folder / "empty").mkdir()
    assert "empty: holds no image" in run.refused("detect", "empty", "-o", "o.json")
    (run.folder / "convert" / "1.jpg").write_bytes(b"nonsense")
    message = run.refused("detect", pictures, "-o", "o.json")
    assert message.endswith(
        "1.jpg: cannot be read: no image of a known format; repair or remove it, or give --on-corrupt skip"
    )
    ended = run.here("detect", "run", pictures, "-o", "o.json", "--on-corrupt", "skip")
    assert (ended.status, ended.stdout) == (0, "")
    assert ended.stderr == "sacrecap: warning: left out, because they cannot be read: 1 image (1.jpg)\n"


@pytest.mark.parametrize("threshold", ["-0.1", "1.5"])
def test_a_confidence_is_from_0_to_1(run: Runner, write: Write, threshold: str) -> None:
    message = f"'--threshold': {threshold} is not in the range 0<=x<=1"
    assert message in run.refused("detect", "images", "-o", "o.json", "--threshold", threshold)


def test_convert(run: Runner, write: Write) -> None:
    run.ok("detect", "convert", write("b.json", B), "-o", "all.json")
    run.ok("detect", "convert", "b.json", "-o", "sure.json", "--threshold", "0.6")
    assert json.loads((run.folder / "all.json").read_text()) == [{"image_id": "1", "objects": {"dog": 1, "sofa": 1}}]
    assert json.loads((run.folder / "sure.json").read_text()) == [{"image_id": "1", "objects": {"dog": 1}}]
    assert "a number from 0 to 1" in run.refused(
        "detect", "convert", "-", "-o", "o", stdin='[{"image_id": 1, "detections": [{"label": "a", "score": 7}]}]'
    )


def test_union(run: Runner, write: Write) -> None:
    ended = run.here("detect", "union", write("a.json", A), write("b.json", B), "-o", "-")
    assert ended.status == 0
    assert ended.stderr == ("sacrecap: warning: not in every file, and counted as without objects there: 1 image (2)\n")
    assert json.loads(ended.stdout) == [
        {"image_id": "1", "objects": ["dog", "cat", "sofa"]},
        {"image_id": "2", "objects": []},
    ]
    assert "a union needs two files or more" in run.refused("detect", "union", "a.json", "-o", "c.json")


@pytest.mark.parametrize(
    ("one", "other", "united"),
    [
        (["dog", "sports ball"], ["Dog", "SPORTS_BALL", "Tree"], ["dog", "sports ball", "Tree"]),
        (
            ["tv", "cell phone"],
            ["Television", "Mobile phone", "Computer mouse"],
            ["tv", "cell phone", "Computer mouse"],
        ),
        (["Cattle"], ["cow", "teddy-bear"], ["Cattle", "teddy-bear"]),
        (["aeroplane", "diningtable"], ["airplane", "Kitchen & dining room table"], ["aeroplane", "diningtable"]),
        (["cat"], ["hat"], ["cat", "hat"]),
    ],
)
def test_labels_of_one_thing_meet(
    run: Runner, write: Write, one: list[str], other: list[str], united: list[str]
) -> None:
    """By the name of the first file; so does the conversion of both in one."""
    files = [write(name, {"1": own}) for name, own in (("a.json", one), ("b.json", other))]
    assert json.loads(run.ok("detect", "union", *files, "-o", "-"))[0]["objects"] == united
    both = json.loads(run.ok("detect", "convert", write("c.json", {"1": one + other}), "-o", "-"))
    assert list(both[0]["objects"]) == united
    assert sum(both[0]["objects"].values()) == len(one + other)


def test_info(run: Runner, write: Write) -> None:
    assert json.loads(run.ok("detect", "info", write("a.json", A), "--format", "json")) == {
        "images": 2,
        "images without objects": 1,
        "labels": 2,
        "objects": 3,
        "mean labels per image": 1.0,
        "mean objects per image": 1.5,
        "counts": {"dog": 2, "cat": 1},
    }
    assert run.ok("detect", "info", "a.json").splitlines()[-2:] == [
        "  dog                      2",
        "  cat                      1",
    ]


def test_without_what_extras_bring(run: Runner, pictures: str) -> None:
    """The extra is named, and the detector that sacrecap brings needs no torch."""
    for name in ("torch", "sacrecap_detector"):
        (run.folder / f"{name}.py").write_text("raise ImportError")
    first = os.pathsep.join([str(run.folder), os.environ.get("PYTHONPATH", "")])
    environment = {"PYTHONPATH": first, "PYTHONDONTWRITEBYTECODE": "1"}  # nothing may be left beside it
    message = run.refused("detect", pictures, "-o", "o.json", env=environment)
    assert message == "detecting objects needs the extra 'detect': pip install 'sacrecap[detect]'"
    message = run.refused("detect", pictures, "-o", "o.json", "--detector", "a/b", env=environment)
    assert message == "a detector of transformers needs the extra 'learned': pip install 'sacrecap[learned]'"
