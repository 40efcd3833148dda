"""The vectors inside the package."""

from __future__ import annotations

import hashlib
import io
import json
from importlib.resources import files
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from sacrecap import example
from sacrecap.resources.embeddings import open_embeddings

FOLDER = files("sacrecap.resources.embeddings")
ROOT = Path(__file__).parents[2]
VOC = """aeroplane bicycle bird boat bottle bus car cat chair cow diningtable dog horse motorbike person pottedplant
    sheep sofa train tvmonitor"""
DEFAULT = open_embeddings("default")


def test_the_file_is_the_one_that_was_made() -> None:
    content = FOLDER.joinpath("default.npz").read_bytes()
    assert len(content) <= 3_000_000
    assert DEFAULT.checksum == hashlib.sha256(content).hexdigest()[:12]
    assert DEFAULT.dimension == 100
    with np.load(io.BytesIO(content)) as arrays:
        assert bytes(arrays["words"]).count(b"\n") >= 20_000


def test_the_licence_is_beside_it() -> None:
    licence = FOLDER.joinpath("WORDNET-LICENSE")
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in licence.read_text(encoding="utf-8")
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert '"src/sacrecap/resources/embeddings/WORDNET-LICENSE"' in settings


def test_vectors_have_length_1() -> None:
    vectors, known = DEFAULT.find(["cat", "skateboard", "wearing"])
    assert known.all()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)


@pytest.mark.parametrize("source", ["example", "coco", "voc"])
def test_every_object_label_is_known(source: str, request: pytest.FixtureRequest) -> None:
    if source == "example":
        labels = sorted(set(chain.from_iterable(image["objects"] for image in example.objects())))
    elif source == "voc":
        labels = VOC.split()
    else:
        labels = objects_of_coco(request.getfixturevalue("shared"))
    known = DEFAULT.find(labels)[1]
    assert [label for label, is_known in zip(labels, known, strict=True) if not is_known] == []


def objects_of_coco(shared: Path) -> list[str]:
    rows = json.loads((shared / "data/coco-val2017/objects.json").read_text(encoding="utf-8"))
    return sorted(set(chain.from_iterable(row["objects"] for row in rows)))


@pytest.mark.parametrize(
    ("word", "near", "far"),
    [
        ("cat", "kitten", "bus"),
        ("dog", "puppy", "table"),
        ("man", "woman", "pizza"),
        ("car", "truck", "cat"),
        ("beach", "ocean", "kitchen"),
        ("sofa", "couch", "horse"),
        ("surfboard", "surfing", "kitchen"),
        ("wine glass", "cup", "skateboard"),
        ("riding", "horse", "spoon"),
    ],
)
def test_words_of_one_kind_are_nearer(word: str, near: str, far: str) -> None:
    a, b, c = DEFAULT.find([word, near, far])[0]
    assert a @ b > a @ c + 0.1
