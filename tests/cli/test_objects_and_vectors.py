"""`sacrecap score` with objects and word vectors."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from runner import Runner

Write = Callable[[str, object], str]
REFERENCES = {"1": ["a dog on a beach", "the dog"], "2": ["a cat", "two cats"]}
OBJECTS = [{"image_id": 1, "objects": {"dog": 2, "person": 1}}, {"image_id": 2, "objects": ["cat"]}]
VECTORS = "dog 1 0 0\ncat 0 1 0\nbeach 0.6 0 0.8\n"


@pytest.fixture
def files(write: Write) -> list[str]:
    return [
        write("references.json", REFERENCES),
        write("captions.json", {"1": "A dog at the beach.", "2": "A cat."}),
        "--objects",
        write("objects.json", OBJECTS),
        "--embeddings",
        write("vectors.txt", VECTORS),
        "--interval",
        "none",
    ]


def test_scores_coverage_and_signature(run: Runner, files: list[str]) -> None:
    ended = run.here("score", *files, "--metrics", "vifidel, wmd, vifidel(variant=released)", "--format", "json")
    assert ended.status == 0
    document = json.loads(ended.stdout)
    assert document["coverage"]["wmd"] == 1
    # Of image 1: dog, person; dog, beach; dog, beach, dog. Of image 2: cat; cat; cat, cats.
    assert document["coverage"]["vifidel"] == pytest.approx(10 / 11)
    assert re.search(r"\|embeddings:[0-9a-f]{8}\|objects:[0-9a-f]{8}\|", document["signatures"]["vifidel"])
    assert 0 < document["scores"]["vifidel"] <= 1


def test_explanations(run: Runner, files: list[str]) -> None:
    ended = run.here("score", *files, "--metrics", "vifidel", "--explain", "2", "--format", "json")
    document = json.loads(ended.stdout)
    [found] = document["explanations"].values()
    assert (found["objects"], found["words"], found["plan"]) == (["cat"], ["cat"], [[1.0]])
    assert "alignments" not in document
    shown = run.here("score", *files, "--metrics", "vifidel", "--explain", "1").stdout
    assert "objects    dog    share 1.0000" in shown
    assert "VIFIDEL: 90.9% of the content words and labels have a vector" in shown


def test_refusals(run: Runner, files: list[str], write: Write) -> None:
    captions, objects, vectors = files[:2], files[2:4], files[4:6]
    assert "VIFIDEL needs the objects of each image: give --objects FILE" in run.refused(
        "score", *captions, *vectors, "--metrics", "vifidel"
    )
    assert "--threshold is for the detections of --objects FILE" in run.refused(
        "score", *captions, "--threshold", "0.5"
    )
    other = write("others.json", {"1": "A dog.", "2": "A bird."})
    assert "--threshold is for the detections of --objects FILE" in run.refused(
        "compare", *captions, other, "--threshold", "0.5"
    )
    assert (
        "only METEOR, VIFIDEL, SPICE, CHAIR, coverage, precision and rubric explain an image, and none of them was "
        "scored" in run.refused("score", *captions, "--metrics", "bleu-1", "--explain", "1")
    )
    truncated = write("truncated.bin", b"2 3\ndog " + bytes(12) + b"cat " + bytes(5))
    assert "truncated.bin" in run.refused(
        "score", *captions, *objects, "--metrics", "vifidel", "--embeddings", truncated
    )
    assert "no-such" in run.refused("score", *captions, "--metrics", "wmd", "--embeddings", "no-such.txt")


def test_a_group_without_objects(run: Runner, files: list[str]) -> None:
    ended = run.here("score", *files[:2], *files[4:], "--metrics", "fidelity", "--format", "json")
    assert ended.status == 0
    assert "VIFIDEL is left out of group fidelity: it needs the objects of each image" in ended.stderr
    assert "vifidel" not in json.loads(ended.stdout)["scores"]


def test_objects_are_found_in_images(run: Runner, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """With references and without, of one system and several; as those of `sacrecap detect`, and kept."""
    image = pytest.importorskip("PIL.Image")
    monkeypatch.setenv("XDG_CACHE_HOME", str(run.folder / "cache"))
    (run.folder / "photos").mkdir()
    for number in (1, 2):
        image.effect_mandelbrot((90 + number, 60), (-2, -1, 1, 1), 50).save(run.folder / "photos" / f"{number}.png")
    files = [
        write("captions.json", {"1": "A dog.", "2": "A cat."}),
        write("others.json", {"1": "A bus.", "2": "A tie."}),
    ]
    found = [
        "--images",
        "photos",
        "--threshold",
        "0.06",
        "--metrics",
        "chair-recall(gold=objects), chair-i(gold=objects)",
    ]
    run.ok("detect", "photos", "-o", "objects.json", "--threshold", "0.06", "--image-ids", "stem")
    given = ["--objects", "objects.json", *found[4:]]
    for command in (
        ["score", files[0]],
        ["compare", *files],
        ["score", write("references.json", REFERENCES), files[0]],
    ):
        shown = run.ok(*command, *found, "--interval", "none")
        assert "|detector:nanodet-g@.06|" in shown
        assert shown.replace("|detector:nanodet-g@.06|", "|") == run.ok(*command, *given, "--interval", "none")
    assert [file.name for file in (run.folder / "cache").rglob("*.sqlite")] == ["objects.sqlite"]
