"""Tiny checkpoints and images, made once; each test has a cache folder of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from learned.captions import CANDIDATES
from tiny_checkpoints import write_bert, write_clip, write_images, write_roberta, write_siglip


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for features; METEOR's tables stay where they are."""
    monkeypatch.setattr("sacrecap.data.cache.in_cache", lambda name: str(tmp_path / "cache" / name))
    return tmp_path / "cache"


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Networks as small as these spend most of the time of several threads on waiting for each other."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_images(tmp_path_factory.mktemp("images"), CANDIDATES)


@pytest.fixture(scope="session")
def clip(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_clip(tmp_path_factory.mktemp("tiny-clip")))


@pytest.fixture(scope="session")
def long_clip(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_clip(tmp_path_factory.mktemp("long-clip"), positions=100))


@pytest.fixture(scope="session")
def siglip(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_siglip(tmp_path_factory.mktemp("siglip")))


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_bert(tmp_path_factory.mktemp("tiny-bert")))


@pytest.fixture(scope="session")
def roberta(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_roberta(tmp_path_factory.mktemp("roberta")))
