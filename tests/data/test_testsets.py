"""Named test sets, fetched from a local server that has a small registry's files."""

from __future__ import annotations

import hashlib
import io
import json
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import sacrecap
from command_line import run
from runner import Runner
from sacrecap.data import read_references, testsets
from sacrecap.data.testsets import FOLDER, PublishedFile, TestSet
from sacrecap.errors import DataError, SacrecapWarning

__all__ = ["run"]

REFERENCES = {"1.jpg": ["a dog", "dogs"], "2.jpg": ["a cat", "cats"]}
SPLITS = {
    "images": [
        {"split": split, "filename": image, "sentences": [{"raw": caption} for caption in captions]}
        for split, (image, captions) in zip(("test", "val"), REFERENCES.items(), strict=True)
    ]
}
COCO = [{"image_id": image, "caption": caption} for image, captions in REFERENCES.items() for caption in captions]


def packed(files: dict[str, object]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, json.dumps(content))
    return data.getvalue()


CONTENT = {
    "/splits.zip": packed({"a/dataset.json": SPLITS, "other.json": []}),
    "/whole.json": json.dumps({"annotations": COCO}).encode(),
}


class Handler(BaseHTTPRequestHandler):
    requests: list[tuple[str, str, str | None]] = []  # noqa: RUF012 - the fixture empties it

    def log_message(self, *_: object) -> None: ...

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, *, body: bool) -> None:
        self.requests.append(self.path)
        content = CONTENT.get(self.path)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if body:
            self.wfile.write(content)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Handler]]:
    """A registry whose files a local server has."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    Handler.requests.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        splits = CONTENT["/splits.zip"]
        source = PublishedFile(f"{url}/splits.zip", hashlib.sha256(splits).hexdigest())
        unknown = PublishedFile(f"{url}/whole.json")
        registry = (
            TestSet("small-test", "the test split", source, 1, member="dataset.json", split="test"),
            TestSet("small-val", "the other", source, 1, member="dataset.json", split="val"),
            TestSet("whole", "without checksum", unknown, 2),
            TestSet("gone", "not there", PublishedFile(f"{url}/gone.json", ""), 2),
            TestSet("empty", "no such member", source, 1, member="no.json"),
            TestSet("short", "of other length", unknown, 3),
        )
        monkeypatch.setattr(testsets, "TEST_SETS", {one.name: one for one in registry})
        yield Handler
        server.shutdown()
        thread.join()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the environment names, which is not there yet."""
    monkeypatch.setenv(FOLDER, str(tmp_path / "sets"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "sets"


def test_a_test_set_is_fetched_once(server: type[Handler], folder: Path) -> None:
    assert read_references("small-test").to_dict() == {"1.jpg": REFERENCES["1.jpg"]}
    assert read_references("small-test").to_dict() == {"1.jpg": REFERENCES["1.jpg"]}
    assert read_references("small-val").to_dict() == {"2.jpg": REFERENCES["2.jpg"]}
    assert server.requests == ["/splits.zip"], "once, for both"
    assert {path.name for path in folder.iterdir()} == {"splits.zip", "small-test.json", "small-val.json"}
    (folder / "splits.zip").unlink()
    assert read_references("small-test").to_dict() == {"1.jpg": REFERENCES["1.jpg"]}, "the references are enough"
    assert len(server.requests) == 1


def test_progress_is_told(server: type[Handler], folder: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    assert testsets.find("small-test", lambda *told: seen.append(told)) is not None
    size = len(CONTENT["/splits.zip"])
    assert seen == [("splits.zip", size, size)]


def test_a_folder_serves_without_the_network(server: type[Handler], folder: Path) -> None:
    folder.mkdir()
    (folder / "dataset.json").write_text(json.dumps(SPLITS))
    assert testsets.describe(testsets.named("small-test"))["here"]
    assert read_references("small-test").to_dict() == {"1.jpg": REFERENCES["1.jpg"]}
    assert server.requests == []


def test_another_file_is_not_taken(server: type[Handler], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CONTENT, "/splits.zip", b"?" * len(CONTENT["/splits.zip"]))
    with pytest.raises(DataError, match=r"it is not the published file: .* by SACRECAP_TEST_SETS=DIR$"):
        read_references("small-test")
    assert list(folder.iterdir()) == []


def test_without_a_checksum_that_of_the_first_download_counts(
    server: type[Handler], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = hashlib.sha256(CONTENT["/whole.json"]).hexdigest()
    with pytest.warns(SacrecapWarning, match=f"nobody has published a checksum of it; that of this .*{digest}, is"):
        assert read_references("whole").to_dict() == REFERENCES
    assert (folder / "whole.json.sha256").read_text() == f"{digest}  whole.json\n"
    for name in ("whole.json", "whole.json"):
        (folder / name).unlink(missing_ok=True)
    monkeypatch.setitem(CONTENT, "/whole.json", CONTENT["/whole.json"].replace(b"cat", b"cow"))
    with pytest.raises(DataError, match=f"it is not the published file: .*, not {digest}"):
        read_references("whole")


def test_what_cannot_be_had(server: type[Handler], folder: Path) -> None:
    with pytest.raises(
        DataError, match=r"gone.json: cannot be fetched \(HTTP Error 404: Not Found\); .* folder by SACRECAP_TEST_SETS"
    ):
        read_references("gone")
    with pytest.raises(DataError, match="splits.zip: has no file no.json; remove it; then it is fetched again$"):
        read_references("empty")
    with pytest.warns(SacrecapWarning), pytest.raises(DataError, match="2 images of short, where there should be 3"):
        read_references("short")
    (folder / "splits.zip").write_bytes(b"PK\x03\x04 no zip")
    with pytest.raises(DataError, match=r"splits.zip: cannot be unpacked \(.*\); remove it; then it is fetched again$"):
        read_references("small-test")
    with pytest.raises(DataError, match="^smal-test: no such file; the test set is called small-test$"):
        read_references("smal-test")
    with pytest.raises(DataError, match="^nothing: no such file$"):
        read_references("nothing")


def test_a_file_of_that_name_comes_first(server: type[Handler], folder: Path) -> None:
    Path("small-test").write_text(json.dumps(REFERENCES))
    assert read_references("small-test").to_dict() == REFERENCES
    assert server.requests == []


def test_the_command_line(server: type[Handler], folder: Path, run: Runner) -> None:
    listed = json.loads(run.ok("testsets", "--format", "json"))
    assert [one["here"] for one in listed] == [False] * 6
    assert [one["checksum"] for one in listed[:3]] == ["published", "published", "of the first download"]
    (run.folder / "c.json").write_text(json.dumps({"1.jpg": "a dog"}))
    score = ["score", "small-test", "c.json", "--metrics", "rouge-l", "--interval", "none", "--format", "json"]
    assert json.loads(run.ok(*score))["images"] == 1
    assert "small-test        1   yes    the test split" in run.ok("testsets")
    fetched = run.ok("testsets", "small-val", "--format", "json")
    assert [(one["name"], one["here"]) for one in json.loads(fetched)] == [("small-val", True)]
    assert sacrecap.score("small-test", {"1.jpg": "a dog"}, "rouge-l", interval=None)["rouge-l"].value == 1
    assert run.refused("testsets", "small-tst") == (
        "no test set is called 'small-tst' (did you mean 'small-test'?); sacrecap testsets lists them"
    )


def test_sizes_are_those_that_papers_name() -> None:
    """Karpathy and Fei-Fei (2015), Agrawal et al. (2019), Vedantam et al. (2015), and COCO's pages."""
    assert {name: one.images for name, one in testsets.TEST_SETS.items()} == {
        "coco-karpathy-test": 5_000,
        "coco-karpathy-val": 5_000,
        "flickr8k-karpathy-test": 1_000,
        "flickr8k-karpathy-val": 1_000,
        "flickr30k-karpathy-test": 1_000,
        "flickr30k-karpathy-val": 1_014,
        "coco-val2014": 40_504,
        "coco-val2017": 5_000,
        "nocaps-val": 4_500,
        "pascal-50s": 1_000,
        "abstract-50s": 500,
        "coco-train": 113_287,
        "coco-train-stems": 113_287,
        "coco-val-df": 40_504,
    }


def test_the_registry_invents_nothing() -> None:
    """Each set has its own name; a checksum has the form of one, or is not there."""
    for name, one in testsets.TEST_SETS.items():
        assert (one.name, one.images > 0) == (name, True)
        assert one.source.sha256 is None or len(bytes.fromhex(one.source.sha256)) == 32
        assert one.member is not None or not one.source.name.endswith(".zip")


def test_another_form_of_a_published_file_may_lie_in_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    rows = [{"image_id": f"{number}.jpg", "caption": text} for number in range(1_000) for text in ("a dog", "dogs")]
    (tmp_path / "pascal50S.json").write_text(json.dumps(rows), encoding="utf-8")
    assert read_references("pascal-50s").captions("999.jpg") == ["a dog", "dogs"]
