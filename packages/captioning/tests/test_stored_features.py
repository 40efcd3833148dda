"""Features written as they come: memory does not grow with images, and what was cut off goes on to the same bytes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from sacrecap.errors import DataError
from sacrecap_captioning.data.features import StoredFeatures, cached_features
from sacrecap_captioning.data.images import CaptionedImages
from sacrecap_captioning.data.scenes import write_scenes
from sacrecap_captioning.encoders.encoder import Encoder

SIDE, WIDTH, BATCH = 8, 4096, 4


class Wide(nn.Module):
    """Many numbers of few pixels: 1 MB of features per image."""

    def __init__(self, factor: float = 1.0) -> None:
        super().__init__()
        self.factor = nn.Parameter(torch.tensor(factor), requires_grad=False)
        self.images = 0

    def forward(self, pixels: Tensor) -> Tensor:
        self.images += len(pixels)
        return self.factor * pixels[:, :1].repeat(1, WIDTH, 1, 1)  # (B, WIDTH, SIDE, SIDE)


def wide(factor: float = 1.0) -> tuple[Encoder, Wide]:
    body = Wide(factor)
    encoder = Encoder("wide/of tests", body, SIDE)
    body.images = 0
    return encoder, body


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scenes")
    write_scenes(folder, 50)
    return folder


CUT_OFF = """
import os, resource, signal, sys
sys.path.insert(0, sys.argv[1])
from test_stored_features import *
encoder, _ = wide()
peaks = {}
def progress(done):
    peaks[done] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if done >= 42:
        print(peaks[done] - peaks[8], flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
cached_features(CaptionedImages.read(sys.argv[2]), encoder, sys.argv[3], batch=BATCH, progress=progress)
"""


def test_memory_stays_and_a_killed_computation_goes_on_to_the_same_bytes(scenes: Path, tmp_path: Path) -> None:
    images = CaptionedImages.read(scenes)
    place = tmp_path / "cut"
    command = [sys.executable, "-c", CUT_OFF, str(Path(__file__).parent), str(scenes), str(place)]
    alone = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=alone)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert int(done.stdout) < 10_000  # kilobytes, where the features of these 36 images are 36,000
    [part] = place.iterdir()
    assert part.name.endswith(".npy.part")
    with open(part, "ab") as file:
        file.write(b"\1" * 700_000)  # as of an image whose writing was cut off

    encoder, body = wide()
    told: list[int] = []
    stored = cached_features(images, encoder, place, batch=BATCH, progress=told.append)
    assert told == [48, 50]
    assert body.images == 6  # the 44 of whole batches were not computed again
    [whole] = place.iterdir()
    cached_features(images, wide()[0], tmp_path / "unbroken", batch=BATCH)
    [unbroken] = (tmp_path / "unbroken").iterdir()
    assert whole.name == unbroken.name
    assert whole.read_bytes() == unbroken.read_bytes()
    found = stored.rows(torch.tensor([49, 3]))
    assert found.pooled.shape == (2, WIDTH)
    assert torch.equal(found.grid[1], encoder(pixels(images, 3)).grid[0])


def pixels(images: CaptionedImages, number: int) -> Tensor:
    from sacrecap_captioning.data.features import read_pixels

    return read_pixels(images, [images[number]], SIDE)


def test_a_file_cut_off_anywhere_is_not_taken_for_whole(scenes: Path, tmp_path: Path) -> None:
    images = CaptionedImages.read(scenes)[:6]
    cached_features(images, wide()[0], tmp_path / "whole", batch=2)
    [whole] = (tmp_path / "whole").iterdir()
    content = whole.read_bytes()
    for number, length in enumerate([0, 5, 100, 128, len(content) // 2, len(content) - 1, len(content)]):
        place = tmp_path / str(number)
        place.mkdir()
        (place / f"{whole.name}.part").write_bytes(content[:length])
        encoder, body = wide()
        cached_features(images, encoder, place, batch=2)
        assert (place / whole.name).read_bytes() == content
        assert body.images == (6 if length <= 128 else {len(content) // 2: 4, len(content) - 1: 2}.get(length, 0))
        assert [path.name for path in place.iterdir()] == [whole.name]


def test_half_precision_is_declared_and_takes_half_the_disk(scenes: Path, tmp_path: Path) -> None:
    images = CaptionedImages.read(scenes)[:4]
    full, half = (cached_features(images, wide()[0], tmp_path, dtype=dtype) for dtype in ("float32", "float16"))
    sizes = sorted(path.stat().st_size for path in tmp_path.iterdir())
    assert sizes[1] == pytest.approx(2 * sizes[0], abs=200)
    assert half.array.dtype == np.float16
    rows = torch.arange(4)
    assert half.rows(rows).grid.dtype == torch.float32
    torch.testing.assert_close(half.rows(rows).grid, full.rows(rows).grid, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize(("factor", "dtype"), [(1e6, "float16"), (float("nan"), "float32")])
def test_features_that_do_not_fit_are_told(scenes: Path, tmp_path: Path, factor: float, dtype: str) -> None:
    images = CaptionedImages.read(scenes)[:2]
    with pytest.raises(DataError, match=rf"{images[0].file}\): wide/of tests gives features that {dtype} does not"):
        cached_features(images, wide(factor)[0], tmp_path, dtype=dtype)
    assert not list(tmp_path.glob("*.npy"))


def test_what_another_process_has_finished_meanwhile_is_taken(
    scenes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock is got when the other process is done: nothing is computed then."""
    from sacrecap_captioning.data import features

    images = CaptionedImages.read(scenes)[:4]
    cached_features(images, wide()[0], tmp_path / "other", batch=2)
    [other] = (tmp_path / "other").iterdir()

    def wait(file: object, *, wait: bool) -> None:
        (tmp_path / "here" / other.name).write_bytes(other.read_bytes())

    monkeypatch.setattr(features, "lock", wait)
    encoder, body = wide()
    cached_features(images, encoder, tmp_path / "here", batch=2)
    assert body.images == 0
    assert [path.name for path in (tmp_path / "here").iterdir()] == [other.name]


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        StoredFeatures(tmp_path / "nothing.npy")
