"""Where images come from, what of them is kept, and what is said of those that cannot be used."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)
from PIL import Image

import sacrecap
from learned.captions import CANDIDATES, REFERENCES
from sacrecap.data.cache import KeptFeatures
from sacrecap.errors import DataError, SacrecapWarning, UsageError
from sacrecap.resources.networks import Clip

pytestmark = pytest.mark.torch


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Numbers of images that the model was shown, call by call."""
    shown: list[int] = []
    original = Clip.images

    def images(self: Clip, pictures: Any) -> Any:
        shown.append(len(pictures))
        return original(self, pictures)

    monkeypatch.setattr(Clip, "images", images)
    return shown


def score(clip: str, images: Any, **options: Any) -> list[float]:
    metric = f"clipscore(model={clip})"
    scores: list[float] = sacrecap.score(REFERENCES, CANDIDATES, metric, images=images, interval=None, **options)[
        metric
    ].per_image.tolist()
    return scores


def test_images_in_any_form_give_the_same(clip: str, images: Path, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "images.tar", "w") as tar:
        tar.add(images, "photos")
    files = {image: images / f"{image}.png" for image in CANDIDATES}
    forms: list[Any] = [
        str(tmp_path / "images.tar"),
        f"{images}/{{image_id}}.png",
        files,
        {image: file.read_bytes() for image, file in files.items()},
        {image: {"bytes": file.read_bytes(), "path": None} for image, file in files.items()},
        {image: {"bytes": None, "path": str(file)} for image, file in files.items()},
        {int(image): Image.open(file) for image, file in files.items()},
    ]
    wanted = score(clip, images)
    assert sum(wanted) > 1
    for form in forms:
        assert score(clip, form) == wanted


def test_an_image_is_looked_at_once(clip: str, images: Path, looked: list[int], cache: Path) -> None:
    first = score(clip, images)
    assert looked == [6]
    assert score(clip, images) == first
    assert looked == [6, 0], "what is in the cache is not looked at again"
    database = sqlite3.connect(cache / "features.sqlite")
    with database:
        names = [row[0] for row in database.execute("SELECT digest FROM features ORDER BY digest")]
        database.execute("UPDATE features SET vector = x'00' WHERE digest = ?", (names[0],))
        [[vector]] = database.execute("SELECT vector FROM features WHERE digest = ?", (names[1],))
        changed = vector[:40] + bytes([vector[40] ^ 1]) + vector[41:]
        database.execute("UPDATE features SET vector = ? WHERE digest = ?", (changed, names[1]))
    database.close()
    assert score(clip, images) == first
    assert looked[2:] == [2], "damaged entries are made again"
    assert score(clip, images) == first
    assert looked[3:] == [0], "and kept"


def test_another_model_and_another_precision_have_features_of_their_own(
    clip: str, long_clip: str, images: Path, looked: list[int]
) -> None:
    for model in (clip, f"{clip}, precision=bfloat16", long_clip):
        sacrecap.score(REFERENCES, CANDIDATES, f"clipscore(model={model})", images=images, interval=None)
    assert looked == [6, 6, 6]


def test_metrics_of_one_call_look_once(clip: str, images: Path, looked: list[int]) -> None:
    needs = sacrecap.Needs({"images": str(images)})
    names = [f"clipscore(model={clip})", f"refclipscore(model={clip})", f"clipscore(model={clip}, w=1)"]
    sacrecap.compare(REFERENCES, {"a": CANDIDATES, "b": CANDIDATES}, names, needs=needs, interval=None, samples=50)
    assert looked == [6]


def test_a_damaged_database_costs_time_only(clip: str, images: Path, cache: Path) -> None:
    wanted = score(clip, images)
    (cache / "features.sqlite").write_bytes(b"no database at all" * 100)
    with pytest.warns(SacrecapWarning, match="the cache of networks' results cannot be used .* remove it"):
        assert score(clip, images) == wanted


KEEPING = """
import sys
import numpy as np
from sacrecap.data.cache import KeptFeatures
cache = KeptFeatures(sys.argv[1], "scope")
for number in range(50):
    cache.keep({b"%d" % number: np.full(8, number, dtype=np.float32)})
assert cache.writable
"""


def test_several_processes_may_keep_the_same(tmp_path: Path) -> None:
    path = str(tmp_path / "features.sqlite")
    processes = [subprocess.Popen([sys.executable, "-c", KEEPING, path]) for _ in range(2)]
    assert [process.wait() for process in processes] == [0, 0]
    found = KeptFeatures(path, "scope").find([b"%d" % number for number in range(51)])
    assert {key: vector.tolist() for key, vector in found.items()} == {
        b"%d" % number: [float(number)] * 8 for number in range(50)
    }


def test_a_run_that_was_interrupted_goes_on(
    clip: str, images: Path, looked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sacrecap.resources.networks._IMAGES_AT_ONCE", 2)
    told: list[tuple[float, str]] = []

    def stop(share: float) -> None:
        if share > 0:  # it is told of the beginning of each step, too
            told.append((float(share), share.what))  # type: ignore[attr-defined]
        if len(told) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        score(clip, images, progress=stop)
    assert told == [(2 / 6, "looking at images"), (4 / 6, "looking at images")]
    score(clip, images)
    assert looked == [2, 2, 0, 0, 2]


def test_images_that_cannot_be_used(clip: str, images: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"CLIPScore.* needs the images: give images=DIR"):
        score(clip, None)
    with pytest.raises(DataError, match="no file was found for any of the 6 images; looked for '1'"):
        score(clip, tmp_path)
    some = {image: images / f"{image}.png" for image in ("1", "2", "4")}
    with pytest.raises(DataError, match=r"no file was found for 3 images \(3, 5, 6\).*or leave their captions out"):
        score(clip, some)
    with pytest.raises(UsageError, match="loads no images from the network; give a folder"):
        score(clip, "https://example.org/{image_id}.jpg")
    with pytest.raises(DataError, match="image 1 is of type int; accepted are a path, the bytes"):
        score(clip, {"1": 7})
    broken = {image: images / f"{image}.png" for image in CANDIDATES} | {"4": b"no image"}
    with pytest.raises(DataError, match="image 4: cannot be read: no image of a known format"):
        score(clip, broken)
