"""Groups of images, and what is said of files, on an engine: the same as in memory."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from test_joining import rows_of, write_rows

import sacrecap
from runner import Runner
from sacrecap.engines import EngineOptions, passes
from sacrecap.engines.joining import join
from sacrecap.engines.stream import StreamEngine
from sacrecap.errors import DataError, SacrecapWarning, UsageError
from sacrecap.scoring.intervals import Resampling

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

WORDS = ["dog", "cat", "bus", "tree", "boat", "bird", "red", "a", "the", "runs"]
GROUPS = ["in", "near", "out", None, ""]


def made(seed: int, images: int = 40) -> tuple[dict[str, list[str]], dict[str, str], dict[str, str | None]]:
    """References, candidates and groups."""
    choose = random.Random(seed)

    def caption() -> str:
        return " ".join(choose.choice(WORDS) for _ in range(choose.randint(1, 7)))

    references = {f"i{n}": [caption() for _ in range(choose.randint(1, 3))] for n in range(images)}
    return (
        references,
        {image: caption() for image in references},
        {image: choose.choice(GROUPS) for image in references},
    )


@pytest.mark.filterwarnings("ignore:Intervals of", "ignore:.*looks like a candidate file")
@pytest.mark.parametrize("work", [False, True], ids=["", "resumable"])
@pytest.mark.parametrize("seed", range(3))
def test_groups_are_those_of_all_in_memory(seed: int, work: bool, tmp_path: Path) -> None:
    references, candidates, groups = made(seed)
    rows = {
        "image_id": [*references],
        "references": [*references.values()],
        "candidate": [*candidates.values()],
        "domain": [*groups.values()],
    }
    pq.write_table(pa.table(rows), tmp_path / "rows.parquet", row_group_size=7)
    known = {image: group for image, group in groups.items() if group}
    whole = sacrecap.score(references, candidates, "rouge-l, cider-d", bootstrap="poisson", samples=30)
    engine = EngineOptions("stream", by="domain", work=str(tmp_path / "work") if work else None)
    found = sacrecap.score(str(tmp_path / "rows.parquet"), metrics="rouge-l, cider-d", samples=30, engine=engine)
    assert found.to_dict() == whole.by(known, "domain").to_dict()
    assert found.groups is not None
    assert sum(map(found.groups.images, found.groups.scores)) == len(known)


def coco(rows: list[tuple[str, list[str], Any]]) -> str:
    images = [{"id": image, "domain": group} for image, _, group in rows]
    annotations = [{"image_id": image, "caption": text} for image, own, _ in rows for text in own]
    return json.dumps({"images": images, "annotations": annotations})


def lines(rows: list[tuple[str, list[str], Any]]) -> str:
    return "".join(json.dumps({"image_id": i, "captions": own, "domain": group}) + "\n" for i, own, group in rows)


def commas(rows: list[tuple[str, list[str], Any]]) -> str:
    """A missing group is `nan`, as pandas writes it on request."""
    every = [f"{image},{text},{group or 'nan'}\n" for image, own, group in rows for text in own]
    return "".join(["image_id,caption,domain\n", *every])


@pytest.mark.parametrize("command", ["score", "compare"])
@pytest.mark.parametrize("write", [coco, lines, commas], ids=["coco", "lines", "commas"])
@pytest.mark.parametrize("name", [str, lambda group: None if not group else len(group)], ids=["texts", "numbers"])
def test_groups_in_files_of_references(
    write: Any, name: Callable[[Any], Any], command: str, run: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Resampling, "drawn", lambda self, _: replace(self, bootstrap="poisson"))  # on each engine
    references, candidates, groups = made(5)
    rows = [(image, own, name(groups[image] or "")) for image, own in references.items()]
    (run.folder / "r").write_text(write(rows))
    (run.folder / "c.json").write_text(json.dumps(candidates))
    (run.folder / "d.json").write_text(json.dumps(dict(zip(candidates, reversed(candidates.values()), strict=True))))
    files = ["r", "c.json"] if command == "score" else ["r", "c.json", "d.json", "--test", "bootstrap"]
    how = ["--by", "domain", "--metrics", "rouge-l", "--format", "json", "-q"]
    whole, found = (run.here(command, *files, *how, "--engine", engine) for engine in ("local", "stream"))
    assert found.status == whole.status == 0, found.stderr
    assert json.loads(found.stdout) == json.loads(whole.stdout)
    assert '"groups"' in found.stdout
    assert '"nan"' not in found.stdout


def test_groups_that_cannot_be(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    references, candidates, _ = made(6)
    (run.folder / "r.jsonl").write_text(lines([(image, own, image) for image, own in references.items()]))
    (run.folder / "c.json").write_text(json.dumps(candidates))
    how = ["r.jsonl", "c.json", "--metrics", "rouge-l", "--engine", "stream", "--by"]
    assert "no image that was scored has a value in domains" in run.refused("score", *how, "domains")
    assert "captions is the column of captions" in run.refused("score", *how, "captions")
    monkeypatch.setattr(passes, "MOST_GROUPS", 40)
    assert run.here("score", *how, "domain", "--interval", "none", "--format", "json", "-q").status == 0
    monkeypatch.setattr(passes, "MOST_GROUPS", 39)
    assert "more than 39 different values (i0, …)" in run.refused("score", *how, "domain")


@pytest.mark.parametrize("on_duplicate", ["first", "last", "skip"])
@pytest.mark.parametrize("shards", [1, 5])
def test_a_join_with_repeated_and_extra_candidates(shards: int, on_duplicate: str, tmp_path: Path) -> None:
    choose = random.Random(shards)
    references = {str(n): [f"reference {n}"] for n in range(60)}
    rows = [(str(n), f"{n} {choose.random()}") for n in range(80)] + [
        (str(choose.randrange(80)), f"{choose.random()}") for _ in range(40)
    ]
    choose.shuffle(rows)
    captions: dict[str, list[str]] = {}
    for image, text in rows:
        captions.setdefault(image, []).append(text)
    described = write_rows(tmp_path, "r", [{"image_id": i, "references": own} for i, own in references.items()], 2)
    own = write_rows(tmp_path, "c", [{"image_id": image, "caption": text} for image, text in rows], 1)
    found = join(StreamEngine(), [described], {"s": [own]}, shards=shards, on_extra="skip", on_duplicate=on_duplicate)
    place = {"first": 0, "last": -1, "skip": 0}[on_duplicate]
    assert rows_of(found) == {
        image: (references[image], texts[place])
        for image, texts in captions.items()
        if image in references and (on_duplicate != "skip" or len(texts) == 1)
    }
    with pytest.raises(DataError, match="more than one candidate"):
        join(StreamEngine(), [described], {"s": [own]}, shards=shards, on_extra="skip")
    with pytest.raises(DataError, match="not in the references"):
        join(StreamEngine(), [described], {"s": [own]}, shards=shards, on_duplicate=on_duplicate)


@pytest.mark.filterwarnings("ignore:Intervals of", "ignore:.*looks like a candidate file")
def test_a_part_of_the_ids_that_is_chosen(tmp_path: Path) -> None:
    def score(ids: list[str], image_ids: str, **how: Any) -> Any:
        rows = [{"image_id": image, "caption": f"a {word}"} for image, word in zip(ids, WORDS, strict=False)]
        (tmp_path / "c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (tmp_path / "r.json").write_text(json.dumps({str(n): [f"a {word}"] for n, word in enumerate(WORDS[:3])}))
        engine = EngineOptions("stream", image_ids=image_ids, **how)
        return sacrecap.score(tmp_path / "r.json", tmp_path / "c.jsonl", "rouge-l", samples=20, engine=engine)

    ids = ["a/x_0.jpg", "b/y_1.png", "2"]
    found = score(ids, "number")
    assert found["rouge-l"].value == 1
    assert sorted(found.image_ids) == ["0", "1", "2"]
    assert not found.findings, "nobody guessed"
    with pytest.raises(DataError, match='different image ids are the same by image_ids="number"; .*"stem" or "text"'):
        score(["a/x_0.jpg", "b/x_0.jpg", "1", "2"], "number")
    with pytest.raises(DataError, match=r'row 2 \(image b.jpg\): no number in its id; image_ids="stem"'):
        score(["0", "b.jpg", "1", "2"], "number")
    with pytest.warns(SacrecapWarning, match="1 rows were left out, the first is .*no number in its id"):
        assert score(["0", "b.jpg", "1", "2"], "number", on_bad_row="skip")["rouge-l"].value < 1


def test_options_about_two_files_are_not_for_one(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"image_id": 1, "prediction": "a dog", "references": ["a dog"]}\n')
    for options in ({"image_ids": "stem"}, {"on_extra": "skip"}, {"on_duplicate": "last"}):
        with pytest.raises(UsageError, match=f"{next(iter(options))} is for references and candidates in different"):
            sacrecap.score(tmp_path / "rows.jsonl", metrics="rouge-l", engine=EngineOptions("stream", **options))
    with pytest.raises(UsageError, match="by is for the scores of single captions; leave it out"):
        sacrecap.diversity(str(tmp_path / "rows.jsonl"), engine=EngineOptions("stream", by="domain"))
    with pytest.raises(UsageError, match="on_duplicate is for one caption per image, and a caption set has several"):
        sacrecap.diversity({"a": "a.jsonl"}, "refs.jsonl", engine=EngineOptions("stream", on_duplicate="first"))
    with pytest.raises(UsageError, match="on_extra must be one of error, skip"):
        EngineOptions("stream", on_extra="leave")


@pytest.mark.parametrize("engine", ["local", "stream"])
def test_pictures_are_no_ids(engine: str, run: Runner) -> None:
    """Another column of ids is taken instead, unless that of the pictures is named."""
    pictures = {f"q{n}": chr(97 + n) * 600 for n in range(3)}
    rows = [{"image": picture, "id": name, "references": ["a dog"]} for name, picture in pictures.items()]
    (run.folder / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (run.folder / "c.json").write_text(json.dumps(dict.fromkeys(pictures, "a dog")))
    how = ["r.jsonl", "c.json", "--metrics", "rouge-l", "--engine", engine, "--interval", "none", "--format", "json"]
    assert json.loads(run.here("score", *how, "-q").stdout)["images"] == 3
    assert "the column image holds no image ids but long texts" in run.refused("score", *how, "--id-column", "image")
