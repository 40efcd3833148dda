"""Generation that was cut off goes on to the same bytes, with the same settings and no others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import speakers
import torch

from sacrecap.errors import DataError, UsageError
from sacrecap_captioning.data.captioned_images import CaptionedImages
from sacrecap_captioning.data.scenes import write_scenes
from sacrecap_captioning.decoding.generation import generate, make_sets
from sacrecap_captioning.decoding.journal import Journal
from sacrecap_captioning.decoding.methods import set_method
from sacrecap_captioning.decoding.speaker import TrainedSpeaker
from sacrecap_captioning.settings import Settings
from sacrecap_captioning.training.training import train

DECIDES = {"method": "rs", "seed": 1, "limit": None}


class CutOffError(Exception):
    """Where a generation is cut off."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    write_scenes(folder / "scenes", 100, seed=1)
    settings = Settings(
        str(folder / "scenes"),
        hidden=16,
        embedding=8,
        batch=8,
        captions=2,
        steps=2,
        least=1,
        side=32,
        device="cpu",
        rate=0.01,
    )
    train(settings, folder / "run", cache=folder / "features")
    return folder


def made(world: Path, **changes: Any) -> dict[str, list[str]]:
    values: dict[str, Any] = {"captions": 3, "seed": 1, "batch": 4, "device": "cpu", "cache": world / "features"}
    return generate(world / "run", **{**values, **changes})


def cut_off(after: int) -> Any:
    def progress(what: str, done: int, images: int) -> None:
        if what == "captioning" and done >= after:
            raise CutOffError

    return progress


def test_what_was_cut_off_goes_on_to_the_same_captions(
    world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = tmp_path / "sets.json.part.jsonl"
    whole = made(world)
    assert made(world, journal=tmp_path / "whole.jsonl") == whole
    with pytest.raises(CutOffError):
        made(world, journal=journal, progress=cut_off(8))
    lines = journal.read_bytes().splitlines(keepends=True)
    assert len(lines) == 9
    journal.write_bytes(b"".join(lines[:7]) + lines[7][:20])  # cut off inside the second batch
    drawn: list[int] = []
    sample = TrainedSpeaker.sample

    def counted(self: TrainedSpeaker, seen: Any, chances: Any, *rest: Any, **named: Any) -> list[list[str]]:
        drawn.append(len(chances))
        return sample(self, seen, chances, *rest, **named)

    monkeypatch.setattr(TrainedSpeaker, "sample", counted)
    assert made(world, journal=journal) == whole
    assert drawn == [4, 2]  # of ten images; the first batch was whole
    assert journal.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 2}, "seed: 1 there, 2 now"),
        ({"method": "rs(temperature=0.5)"}, r"method: 'rs' there, 'rs\(temperature=0.5\)' now"),
        ({"captions": 4}, "captions: 3 there, 4 now"),
        ({"split": "val"}, "split: 'test' there, 'val' now"),
        ({"limit": 3}, "limit: None there, 3 now"),
    ],
)
def test_other_settings_are_told(world: Path, tmp_path: Path, change: dict[str, Any], message: str) -> None:
    made(world, journal=tmp_path / "x.jsonl")
    with pytest.raises(UsageError, match=rf"x.jsonl: holds captions that were made otherwise .*{message}.*remove"):
        made(world, journal=tmp_path / "x.jsonl", **change)


def test_another_captioner_and_other_images_are_told(world: Path, tmp_path: Path) -> None:
    made(world, journal=tmp_path / "x.jsonl")
    write_scenes(tmp_path / "others", 100, seed=2)
    with pytest.raises(UsageError, match="made otherwise .images: "):
        made(world, journal=tmp_path / "x.jsonl", data=tmp_path / "others")
    best = world / "run" / "best.pt"
    before = best.read_bytes()
    content = torch.load(best, weights_only=True)
    content["model"]["embed.weight"] += 1
    torch.save(content, best)
    with pytest.raises(UsageError, match="made otherwise .captioner: "):
        made(world, journal=tmp_path / "x.jsonl")
    best.write_bytes(before)


def test_a_batch_is_whole_or_made_again(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    first = Journal(path, DECIDES, batch=2)
    first.keep({"a": ["one"], "b": ["two\nlines"]})
    first.keep({"c": ["é"]})
    with pytest.raises(DataError, match="another sacrecap is writing it"):
        Journal(path, DECIDES, batch=2)
    first.close()
    again = Journal(path, DECIDES, batch=2)
    assert again.sets == {"a": ["one"], "b": ["two\nlines"]}
    again.close()
    assert len(path.read_text().splitlines()) == 3


@pytest.mark.parametrize("content", ["[1]\n", "{}\n[3]\n", "nothing\n"])
def test_what_is_no_journal(content: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(content)
    with pytest.raises(DataError, match="is not a journal of captions; remove it"):
        Journal(path, DECIDES, batch=2)
    assert path.read_text() == content
    path.write_text('{"cut off')
    Journal(path, DECIDES, batch=2).close()
    assert json.loads(path.read_text()) == DECIDES


def test_sets_go_on_behind_those_that_are_there(tmp_path: Path) -> None:
    images: CaptionedImages = speakers.scenes(tmp_path)[:5]
    speaker, method = speakers.speaker(images), set_method("rs")
    whole = make_sets(method, speaker, images, captions=2, batch=2)
    journal = Journal(tmp_path / "x.jsonl", DECIDES, batch=2)
    journal.keep(dict(list(whole.items())[:2]))
    done: list[int] = []
    assert make_sets(method, speaker, images, captions=2, batch=2, journal=journal, progress=done.append) == whole
    assert done == [4, 5]
    assert journal.sets == whole
    journal.close()
