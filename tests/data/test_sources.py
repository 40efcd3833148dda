"""Compressed files, files behind URLs, folders of data sets, and spreadsheets."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError

import pytest

from sacrecap.data import read_candidates, read_references
from sacrecap.data.source import is_remote, read_bytes, system_name
from sacrecap.errors import DataError, MissingDependencyError, UsageError

CANDIDATES = {"1": ["a dog"], "2": ["a cat" * 5000]}
DATA = json.dumps(CANDIDATES).encode()


def zstd(data: bytes) -> bytes:
    pyarrow = pytest.importorskip("pyarrow")
    return bytes(pyarrow.Codec("zstd").compress(data))


COMPRESSED: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstd,
}
KINDS = {"gz": "gzip", "bz2": "bzip2", "xz": "xz", "zst": "zstd"}


@pytest.mark.parametrize("suffix", COMPRESSED)
def test_compression_is_undone_whatever_the_file_is_called(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(COMPRESSED[suffix](DATA))
    assert read_candidates(path).to_dict() == CANDIDATES
    half = len(DATA) // 2
    path.write_bytes(COMPRESSED[suffix](DATA[:half]) + COMPRESSED[suffix](DATA[half:]))
    assert read_candidates(path).to_dict() == CANDIDATES, "of several streams, one after the other"
    assert system_name(f"folder/a.json.{suffix}") == "a"
    assert system_name(f"a.b.{suffix}") == "a"


@pytest.mark.parametrize("suffix", COMPRESSED)
def test_broken_compressed_data_is_told(suffix: str, tmp_path: Path) -> None:
    path, packed = tmp_path / "a.json", COMPRESSED[suffix](DATA)
    for end in (12, len(packed) // 2, len(packed) - 1):
        path.write_bytes(packed[:end])
        with pytest.raises(DataError, match=f"{KINDS[suffix]} data.*; write or download the file again$"):
            read_bytes(path)
        path.write_bytes(packed + packed[:end])
        with pytest.raises(DataError, match=f"{KINDS[suffix]} data.*; write or download the file again$"):
            read_bytes(path)


def test_a_text_that_begins_as_bzip2_does(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"BZh is no word")
    assert read_bytes(tmp_path / "a") == b"BZh is no word"


def test_zstd_without_a_package_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(zstd(DATA))
    monkeypatch.setitem(sys.modules, "compression", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match="^reading files compressed by zstd needs the extra 'files': pip"):
        read_bytes(tmp_path / "a")


# URLs


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        content = {"/a.json": DATA, "/a.json.gz?x=1": gzip.compress(DATA)}.get(self.path)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where the files are."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_file_behind_a_url(url: str) -> None:
    assert read_candidates(f"{url}/a.json").to_dict() == CANDIDATES
    assert read_candidates(f"{url}/a.json.gz?x=1").to_dict() == CANDIDATES
    assert system_name(f"{url}/a.json.gz?x=1") == "a"
    message = f"^{url}/b.json: cannot be fetched \\(404 Not Found\\); check the address"
    with pytest.raises(DataError, match=message) as caught:
        read_candidates(f"{url}/b.json")
    refusal = caught.value.__context__
    assert isinstance(refusal, HTTPError)
    assert refusal.fp.closed, "no connection stays open"
    with pytest.raises(DataError, match=r"^http://127.0.0.1:1/a: cannot be fetched \(.*Connection refused\); check"):
        read_candidates("http://127.0.0.1:1/a")


def test_what_fsspec_knows() -> None:
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open("memory://captions.json", "wb") as file:
        file.write(DATA)
    assert read_candidates("memory://captions.json").to_dict() == CANDIDATES
    with pytest.raises(DataError, match=r"^memory://other\.json: no such file$"):
        read_candidates("memory://other.json")
    with pytest.raises(DataError, match=r"^nothing://a: cannot be read: Protocol not known: nothing$"):
        read_candidates("nothing://a")
    with pytest.raises(DataError, match=r"^memory://: is a directory; name a file in it$"):
        read_bytes("memory://")


def test_what_pyarrow_knows_and_fsspec_cannot_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec = pytest.importorskip("fsspec")
    pytest.importorskip("pyarrow")

    def lacking(_: str) -> None:
        raise ImportError("Install s3fs")

    monkeypatch.setattr(fsspec, "url_to_fs", lacking)
    monkeypatch.delattr(fsspec, "implementations", raising=False)
    with pytest.raises(MissingDependencyError, match=r"^nothing://a: cannot be read: Install s3fs"):
        read_candidates("nothing://a")
    (tmp_path / "a.json").write_bytes(DATA)
    assert read_candidates((tmp_path / "a.json").as_uri()).to_dict() == CANDIDATES


def test_without_fsspec_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingDependencyError) as raised:
        read_candidates("hf://datasets/a/b/c.parquet")
    assert str(raised.value) == "reading hf:// files needs the extra 'files': pip install 'sacrecap[files]'"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes")
def test_a_pipe_is_read_once_and_whole(tmp_path: Path) -> None:
    """COCO's annotations in a file are mapped, which a pipe cannot be."""
    annotations = [{"image_id": 1, "caption": "a dog"}, {"image_id": 2, "caption": "a cat"}]
    text = json.dumps({"images": [{"id": 1}, {"id": 2}], "annotations": annotations})
    file, pipe = tmp_path / "file.json", tmp_path / "pipe"
    file.write_text(text)
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_text, args=(text,), daemon=True).start()
    assert read_candidates(pipe).to_dict() == read_candidates(file).to_dict() == {"1": ["a dog"], "2": ["a cat"]}


def test_what_is_remote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for text in ("https://a/b", "hf://a", "simplecache::s3://a/b", "zip://a.json::https://a/b.zip"):
        assert is_remote(text)
    for text in ("a.json", "a:b", "C:\\a", "c://a", "/a//b", Path("https://a"), "-"):
        assert not is_remote(text)
    (tmp_path / "http:").mkdir()
    (tmp_path / "http:" / "a").touch()
    assert not is_remote("http://a"), "there is such a file"


# Folders


def test_the_folder_of_a_data_set(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"has no files to read; their names end in \.parquet, .*, and \.gz"):
        read_references(tmp_path)
    for split, text in (("train", "a dog"), ("test", "a cat")):
        (tmp_path / split).mkdir()
        (tmp_path / split / "metadata.csv").write_text(f"file_name,text\n1.jpg,{text}\n")
    assert read_references(tmp_path / "train").to_dict() == {"1.jpg": ["a dog"]}
    assert read_references(tmp_path, split="test").to_dict() == {"1.jpg": ["a cat"]}
    with pytest.raises(UsageError, match="the splits are test, train: choose by split of the readers in sac"):
        read_references(tmp_path)
    with pytest.raises(UsageError, match="no split is called 'val'; the splits are test, train"):
        read_references(tmp_path, split="val")
    (tmp_path / "metadata.jsonl").write_text('{"file_name": "2.jpg", "text": "a cow"}\n')
    assert read_references(tmp_path).to_dict() == {"2.jpg": ["a cow"]}


def test_parquet_of_the_hub(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    (tmp_path / "data").mkdir()
    for number in range(2):
        rows = {
            "image": [{"bytes": b"\xff" * 1000, "path": f"{number}.jpg"}],
            "caption": [["a dog", "dogs"]],
            "split": ["val"],
        }
        parquet.write_table(pyarrow.table(rows), tmp_path / "data" / f"test-0000{number}-of-00002.parquet")
    whole = {"0.jpg": ["a dog", "dogs"], "1.jpg": ["a dog", "dogs"]}
    assert read_references(tmp_path).to_dict() == whole
    assert read_references(tmp_path, split="test").to_dict() == whole
    assert read_references(tmp_path, split="val").to_dict() == whole
    one = tmp_path / "data" / "test-00000-of-00002.parquet"
    assert read_references(one, format="rows").to_dict() == {"0.jpg": whole["0.jpg"]}
    assert read_references(one, id_column="image.path", caption_column="caption").to_dict() == {"0.jpg": whole["0.jpg"]}
    with pytest.raises(UsageError, match="no image is in the split 'train'; the splits are val$"):
        read_references(tmp_path, split="train")
    parquet.write_table(pyarrow.table({"filename": ["a"], "caption": [["x", "y"]], "split": ["test"]}), one)
    assert read_references(one, split="test").to_dict() == {"a": ["x", "y"]}


def test_parquet_of_other_shapes(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "a.parquet"
    table = pyarrow.table({"image_id": [1.0, None, 3.0], "caption": ["a", "b", "c"]})
    parquet.write_table(table, path)
    with pytest.raises(DataError, match="the image id of row 2 is None; image ids must be strings or whole numbers"):
        read_candidates(path)
    parquet.write_table(table.slice(2), path)
    assert read_candidates(path).to_dict() == {"3": ["c"]}, "pandas makes floats of ids where one is missing"


# Spreadsheets


def test_excel(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["index", "answer", "prediction", None], [0, "['a', 'b']", "c"], [None] * 3, [1, "d", None]):
        book.active.append(row)
    book.save(path := tmp_path / "model_COCO_VAL.xlsx")
    assert read_references(path).to_dict() == {"0": ["a", "b"], "1": ["d"]}
    assert read_candidates(path).to_dict() == {"0": ["c"], "1": [""]}


def test_a_zip_is_of_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import zipfile

    def zipped(*names: str) -> Path:
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            for name in names:
                archive.writestr(name, DATA)
        return tmp_path / "a.zip"

    assert read_candidates(zipped("in/", "in/a.json", "__MACOSX/a.json")).to_dict() == CANDIDATES
    with pytest.raises(DataError, match=r"a.zip: is a zip of 2 files \(a.json, b.json\), where one is read; unpack it"):
        read_candidates(zipped("a.json", "b.json"))
    path = zipped("a.json")
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(DataError, match=r"a.zip: broken zip \(.*\); write or download the file again"):
        read_candidates(path)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingDependencyError, match="reading Excel files needs the extra 'files'"):
        read_candidates(zipped("[Content_Types].xml"))
