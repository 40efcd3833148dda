"""Names that are fetched, without a network."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import socket
from collections.abc import Iterator
from email.message import Message
from pathlib import Path
from typing import NoReturn
from urllib.response import addinfourl

import pytest

from sacrecap.errors import DataError
from sacrecap.resources.embeddings import open_embeddings

NAME = "glove-wiki-gigaword-50"
URL = f"https://github.com/piskvorky/gensim-data/releases/download/{NAME}/{NAME}.gz"


@pytest.fixture(autouse=True)
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No socket opens, and the cache folder is the test's own."""

    def refuse(*_: object, **__: object) -> NoReturn:
        raise OSError("no network in tests")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(
        "sacrecap.resources.embeddings.in_cache", lambda *names: str(tmp_path.joinpath("sacrecap", *names))
    )
    monkeypatch.setenv("GENSIM_DATA_DIR", str(tmp_path / "gensim-data"))


def test_offline_the_message_says_what_to_fetch_and_where_to_put_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(DataError) as raised:
        open_embeddings(NAME).find(["cat"])
    place = tmp_path / "sacrecap" / "embeddings" / NAME / f"{NAME}.gz"
    assert f"{NAME}: cannot be fetched" in str(raised.value)
    assert f"fetch {URL} and put it at {place}" in str(raised.value)
    assert capfd.readouterr() == ("", "")


def test_what_is_published_is_fetched_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    published = tmp_path / "published.gz"
    published.write_bytes(gzip.compress(b"1 2\ncat 3 4\n"))
    asked: list[str] = []

    @contextlib.contextmanager
    def opened(url: str) -> Iterator[addinfourl]:
        asked.append(url)
        yield addinfourl(io.BytesIO(published.read_bytes()), Message(), url)

    monkeypatch.setattr("sacrecap.data.testsets.opened", opened)
    for _ in range(2):
        assert open_embeddings(NAME).find(["cat"])[0].tolist() == [[3, 4]]
    assert asked == [URL]
    assert os.listdir(tmp_path / "sacrecap" / "embeddings" / NAME) == [f"{NAME}.gz"]


@pytest.mark.parametrize("folder", ["sacrecap/embeddings", "gensim-data"])
def test_a_file_that_is_there_is_taken(tmp_path: Path, folder: str) -> None:
    place = tmp_path / folder / NAME
    place.mkdir(parents=True)
    (place / f"{NAME}.gz").write_bytes(gzip.compress(b"1 2\ncat 3 4\n"))
    embeddings = open_embeddings(NAME)
    assert embeddings.name == NAME
    assert embeddings.find(["cat"])[0].tolist() == [[3, 4]]


def test_a_file_of_that_name_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(NAME).write_text("cat 5 6\n")
    assert open_embeddings(NAME).find(["cat"])[0].tolist() == [[5, 6]]
