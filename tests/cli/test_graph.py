"""`sacrecap graph`: a line per caption, in the order of the file, from any format of captions."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

import sacrecap
from runner import Runner
from sacrecap.cli import from_captions
from scenes import CANDIDATES, GRAPHS, REFERENCES, give

Write = Callable[[str, object], str]


@pytest.fixture(autouse=True)
def _given(monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, GRAPHS)


@pytest.mark.parametrize("batch", [10_000, 1, 2])
@pytest.mark.parametrize("captions", [REFERENCES, CANDIDATES])
def test_a_line_per_caption(
    run: Runner, write: Write, monkeypatch: pytest.MonkeyPatch, captions: dict[str, object], batch: int
) -> None:
    monkeypatch.setattr(from_captions, "BATCH", batch)
    assert run.ok("graph", write("captions.json", captions), "-o", "graphs.jsonl", "--threads", "2") == ""
    lines = [json.loads(line) for line in (run.folder / "graphs.jsonl").read_text().splitlines()]
    several = [[own] if isinstance(own, str) else own for own in captions.values()]
    expected = [(image, one) for image, own in zip(captions, several, strict=True) for one in own]  # type: ignore[union-attr]
    assert [(line["image_id"], line["caption"]) for line in lines] == expected
    for line in lines:
        assert line["graph"] == json.loads(json.dumps(sacrecap.scene_graph(line["caption"]).to_dict()))
    assert lines[0]["graph"]["objects"][0]["name"] == "dog"


def test_text_to_read(run: Runner, write: Write) -> None:
    shown = run.ok("graph", write("c.json", {"street": "A red bus\non a road."}), "--format", "text")
    assert shown == "street: A red bus on a road.\n  bus\n  road\n  bus – red\n  bus – on – road\n"


def test_other_tokenizers_take_tokens_as_they_are(run: Runner, write: Write) -> None:
    shown = run.ok("graph", write("c.json", {"1": "A red bus on a road"}), "--tokenizer", "whitespace")
    assert json.loads(shown)["graph"]["tokens"] == ["A", "red", "bus", "on", "a", "road"]


def test_no_captions_is_no_line(run: Runner, write: Write) -> None:
    assert run.ok("graph", write("c.json", {"1": []})) == ""


def test_what_is_refused(run: Runner, write: Write) -> None:
    captions = write("c.json", CANDIDATES)
    assert "absent.json" in run.refused("graph", "absent.json")
    assert "--output" in run.refused("graph", captions, "-o", captions)
    assert "no folder" in run.refused("graph", captions, "-o", "absent/graphs.jsonl")
    assert "split" in run.refused("graph", captions, "--split", "test")
