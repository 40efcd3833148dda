"""Joins and duplicates through buckets on disk, against dictionaries."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from sacrecap.data.partitioned import (
    ChosenColumns,
    SeenIds,
    batches,
    bucket_count,
    buckets,
    check_duplicates,
    find_duplicates,
    find_parts,
    join,
    joining,
    text,
)
from sacrecap.errors import DataError

fsspec = pytest.importorskip("fsspec")


@pytest.fixture
def small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts make several runs."""
    monkeypatch.setattr(buckets, "_RUN_BYTES", 3_000)
    monkeypatch.setattr(text, "_BLOCK", 1_000)


def test_buckets_are_even_and_of_the_id_alone() -> None:
    ids = [f"COCO_val2014_{n:012}.jpg" for n in range(4_000)] + [str(n) for n in range(4_000)] + ["", "é", "x" * 500]
    found = buckets.buckets_of(pa.array(ids), 16)
    counts = np.bincount(found, minlength=16)
    assert counts.min() > 400
    assert counts.max() < 600
    order = np.random.default_rng(0).permutation(len(ids))
    shuffled = pa.array([""] * 7 + [ids[n] for n in order], type=pa.large_string()).slice(7)
    assert (buckets.buckets_of(shuffled, 16) == found[order]).all()
    # They must never change: workers of several machines share them.
    assert list(buckets.buckets_of(pa.array(["", "1", "12345678", "123456789"]), 1_000)) == FIXED


FIXED = [0, 895, 246, 526]


def write_rows(folder: Path, name: str, rows: list[dict[str, Any]], files: int) -> str:
    """Writes rows, scattered over files of several formats."""
    (folder / name).mkdir()
    for number in range(files):
        own = rows[number::files]
        (folder / name / f"part-{number}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in own))
    return str(folder / name)


def corpus(seed: int) -> tuple[dict[str, list[str]], dict[str, str]]:
    chance = random.Random(seed)
    images = [str(chance.randrange(10 ** chance.randrange(1, 12))) for _ in range(300)]
    references = {image: [f"reference {image} {n}" for n in range(chance.randrange(1, 7))] for image in images}
    return references, {image: f"candidate {image}" for image in references}


def rows_of(joined: joining.Joined) -> dict[str, tuple[Any, ...]]:
    found: dict[str, tuple[Any, ...]] = {}
    for part in joined.parts:
        for batch in batches(part, joined.columns, rows=50):
            assert not batch.bad
            assert batch.references is not None
            columns = [batch.references.to_pylist(), *(own.to_pylist() for own in batch.captions)]
            for image, *values in zip(batch.image_ids.to_pylist(), *columns, strict=True):
                assert image not in found
                found[image] = tuple(values)
    assert [part.number for part in joined.parts] == list(range(len(joined.parts)))
    return found


@pytest.mark.usefixtures("small_runs")
@pytest.mark.parametrize("count", [1, 7])
@pytest.mark.parametrize("by_caption", [False, True])
def test_a_join_is_that_of_dictionaries(tmp_path: Path, count: int, by_caption: bool) -> None:
    references, candidates = corpus(count)
    if by_caption:
        rows = [{"image_id": int(image), "caption": text} for image, own in references.items() for text in own]
        files = 1  # the order of an image's references is that of files and rows
    else:
        rows = [{"image_id": image, "references": own} for image, own in references.items()]
        files = 5
    described = write_rows(tmp_path, "references", rows, files)
    order = random.Random(1).sample(list(candidates), len(candidates))
    one = write_rows(tmp_path, "one", [{"image_id": image, "caption": candidates[image]} for image in order], 3)
    two = write_rows(tmp_path, "two", [{"image_id": image, "prediction": image} for image in candidates], 2)
    found = join([described], {"one": [one], "two": [two]}, str(tmp_path / "folder"), buckets=count)
    assert rows_of(found) == {image: (own, candidates[image], image) for image, own in references.items()}
    assert found.bad == []
    assert found.left_out == 0
    if count == 7:
        assert len(list((tmp_path / "folder").glob("references-000000-*.arrow"))) > 1


def test_references_scattered_over_files(tmp_path: Path) -> None:
    rows = [{"image_id": n % 10, "caption": f"{n}"} for n in range(50)]
    described = write_rows(tmp_path, "references", rows, 7)
    own = write_rows(tmp_path, "own", [{"image_id": n, "caption": "x"} for n in range(10)], 1)
    found = rows_of(join([described], {"s": [own]}, str(tmp_path / "folder"), buckets=3))
    assert {image: sorted(texts) for image, (texts, _) in found.items()} == {
        str(n): sorted(str(m) for m in range(n, 50, 10)) for n in range(10)
    }


def test_tasks_in_any_order_and_twice_give_the_same(tmp_path: Path) -> None:
    references, candidates = corpus(3)
    described = write_rows(tmp_path, "r", [{"image_id": n, "captions": own} for n, own in references.items()], 4)
    own = write_rows(tmp_path, "c", [{"image_id": n, "caption": own} for n, own in candidates.items()], 4)

    def backwards(function: Any, parts: Any) -> Any:
        """As a cluster does it where workers die: in another order, some twice."""
        for part in parts[::2]:
            function(part)
        for part in parts[::-1]:
            yield part, function(part)

    first = join([described], {"s": [own]}, str(tmp_path / "a"), buckets=4)
    second = join([described], {"s": [own]}, str(tmp_path / "b"), buckets=4, map=backwards)
    assert list(rows_of(first).items()) == list(rows_of(second).items())


def test_a_join_on_a_remote_file_system(tmp_path: Path) -> None:
    fsspec.filesystem("memory").store.clear()
    described = write_rows(tmp_path, "r", [{"image_id": n, "captions": ["x"]} for n in range(20)], 2)
    own = write_rows(tmp_path, "c", [{"image_id": n, "caption": "y"} for n in range(20)], 2)
    found = join([described], {"s": [own]}, "memory://bucket/join", buckets=2)
    assert rows_of(found) == {str(n): (["x"], "y") for n in range(20)}


def both(tmp_path: Path, candidates: list[Any], **options: Any) -> joining.Joined:
    tmp_path = tmp_path / f"{len(list(tmp_path.iterdir()))}"
    tmp_path.mkdir()
    described = write_rows(tmp_path, "r", [{"image_id": n, "references": [f"r{n}"]} for n in range(6)], 2)
    own = write_rows(tmp_path, "c", [{"image_id": n, "caption": f"c{n}"} for n in candidates], 2)
    return join([described], {"s": [own]}, str(tmp_path / "folder"), buckets=3, **options)


def test_images_that_lack_something(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"the candidates: no candidate for 2 images \(.*\); add them, or choose on_m"):
        both(tmp_path, [0, 1, 2, 3])
    found = both(tmp_path, [0, 1, 2, 3], on_missing="skip")
    assert rows_of(found) == {str(n): ([f"r{n}"], f"c{n}") for n in range(4)}
    assert found.left_out == 2
    assert rows_of(both(tmp_path, [0, 1, 2, 3], on_missing="zero")) == {
        str(n): ([f"r{n}"], f"c{n}" if n < 4 else "") for n in range(6)
    }
    with pytest.raises(DataError, match=r"candidate for 2 images \((77, 88|88, 77)\), not in the references; remove"):
        both(tmp_path, [*range(6), 77, 88])
    assert len(rows_of(both(tmp_path, [*range(6), 77, 88], on_extra="skip"))) == 6
    with pytest.raises(DataError, match=r"none of its 2 images is in the references: it has 2 images .*same data set"):
        both(tmp_path, [77, 88])
    with pytest.raises(DataError, match='they match with image_ids="number" of sacrecap.data.read'):
        both(tmp_path, [f"COCO_{n:04}.jpg" for n in range(6)])
    with pytest.raises(DataError, match=r"more than one candidate for 1 image \(3\); keep one per image"):
        both(tmp_path, [*range(6), 3])
    found = both(tmp_path, [*range(6), 3], sets=True)
    assert rows_of(found)["3"] == (["r3"], ["c3", "c3"])


def test_bad_rows_of_a_join(tmp_path: Path) -> None:
    described = write_rows(tmp_path, "r", [{"image_id": 0, "references": ["x"]}, {"image_id": 1, "references": []}], 1)
    own = write_rows(tmp_path, "c", [{"image_id": 0, "caption": "y"}, {"image_id": None, "caption": "z"}], 1)
    found = join([described], {"s": [own]}, str(tmp_path / "folder"))
    assert rows_of(found) == {"0": (["x"], "y")}
    assert [(Path(one.file).parent.name, one.row) for one in found.bad] == [("c", 2), ("r", 2)]


def seen(tmp_path: Path, files: list[list[int]], folder: str, count: int = 5) -> Any:
    for number, ids in enumerate(files):
        parquet.write_table(pa.table({"image_id": ids, "candidate": ["x"] * len(ids)}), tmp_path / f"{number}.parquet")
    parts = find_parts([str(tmp_path)])
    for part in parts:
        own = SeenIds(folder, part.number, count)
        for batch in batches(part, ChosenColumns(references=None), rows=64):
            own.add(batch)
        own.finish()
    return parts, [find_duplicates(folder, bucket) for bucket in range(count)]


@pytest.mark.usefixtures("small_runs")
@pytest.mark.parametrize("folder", ["local", "memory://bucket/seen"])
def test_duplicates_over_files(tmp_path: Path, folder: str) -> None:
    fsspec.filesystem("memory").store.clear()
    folder = str(tmp_path / "seen") if folder == "local" else folder
    parts, found = seen(tmp_path, [[*range(500)], [*range(500, 900), 17], [1000, 3, 17, 1000]], folder)
    assert sum(one.count for one in found) == 3
    assert sorted(one for own in found for one in own.first) == [
        ("1000", [(2, 1), (2, 4)]),
        ("17", [(0, 18), (1, 401), (2, 3)]),
        ("3", [(0, 4), (2, 2)]),
    ]
    with pytest.raises(DataError) as error:
        check_duplicates(found, parts)
    assert str(error.value).startswith(
        "the input has 3 images (3, 17, 1000) several times: 3 in "
        f"{tmp_path}/0.parquet, row 4 and {tmp_path}/2.parquet, row 2; "
    )


def test_skewed_ids_and_none(tmp_path: Path) -> None:
    parts, found = seen(tmp_path, [[7] * 1_000, [7] * 1_000, []], str(tmp_path / "seen"))
    assert sum(one.count for one in found) == 1
    with pytest.raises(
        DataError, match=r"1 image \(7\) several times: 7 in .*, row 1 and .*, row 2 and 1,998 more rows;"
    ):
        check_duplicates(found, parts)
    (tmp_path / "other").mkdir()
    parts, found = seen(tmp_path / "other", [[*range(100)], []], str(tmp_path / "none"))
    check_duplicates(found, parts)
    assert find_duplicates(str(tmp_path / "nowhere"), 0).count == 0


def test_the_number_of_buckets_grows_with_the_input(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"image_id": [1]}), tmp_path / "one.parquet")
    (part,) = find_parts([str(tmp_path / "one.parquet")])
    from dataclasses import replace

    assert bucket_count([part]) == 1
    assert bucket_count([replace(part, bytes=1 << 30)] * 4) == 256
    assert bucket_count([replace(part, bytes=1 << 50)]) == 4096
