"""Joins through a shuffle, against dictionaries."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from sacrecap.data.image_ids import same_images
from sacrecap.data.partitioned import batches
from sacrecap.engines.joining import Joined, join
from sacrecap.engines.stream import StreamEngine
from sacrecap.errors import DataError

pytest.importorskip("pyarrow")


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


def rows_of(joined: Joined) -> dict[str, tuple[Any, ...]]:
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
    found = join(StreamEngine(), [described], {"one": [one], "two": [two]}, shards=count)
    assert rows_of(found) == {image: (own, candidates[image], image) for image, own in references.items()}
    assert found.bad == []
    assert found.left_out == 0


def test_references_scattered_over_files(tmp_path: Path) -> None:
    rows = [{"image_id": n % 10, "caption": f"{n}"} for n in range(50)]
    described = write_rows(tmp_path, "references", rows, 7)
    own = write_rows(tmp_path, "own", [{"image_id": n, "caption": "x"} for n in range(10)], 1)
    found = rows_of(join(StreamEngine(), [described], {"s": [own]}, shards=3))
    assert {image: sorted(texts) for image, (texts, _) in found.items()} == {
        str(n): sorted(str(m) for m in range(n, 50, 10)) for n in range(10)
    }


class Backwards(StreamEngine):
    """As a cluster does it where workers die: in another order, some twice."""

    def map(self, function: Any, parts: Any, **options: Any) -> Any:
        for part in parts[::2]:
            function(part)
        yield from super().map(function, parts[::-1], **options)


def test_tasks_in_any_order_and_twice_give_the_same(tmp_path: Path) -> None:
    references, candidates = corpus(3)
    described = write_rows(tmp_path, "r", [{"image_id": n, "captions": own} for n, own in references.items()], 4)
    own = write_rows(tmp_path, "c", [{"image_id": n, "caption": own} for n, own in candidates.items()], 4)
    first = join(StreamEngine(), [described], {"s": [own]}, shards=4)
    second = join(Backwards(), [described], {"s": [own]}, shards=4)
    assert list(rows_of(first).items()) == list(rows_of(second).items())


def both(tmp_path: Path, candidates: list[Any], **options: Any) -> Joined:
    tmp_path = tmp_path / f"{len(list(tmp_path.iterdir()))}"
    tmp_path.mkdir()
    described = write_rows(tmp_path, "r", [{"image_id": n, "references": [f"r{n}"]} for n in range(6)], 2)
    own = write_rows(tmp_path, "c", [{"image_id": n, "caption": f"c{n}"} for n in candidates], 2)
    return join(StreamEngine(), [described], {"s": [own]}, shards=3, **options)


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
    with pytest.raises(DataError, match=r"none of its 2 images is in the references: it has 2 images .*same data set"):
        both(tmp_path, [77, 88])
    with pytest.raises(DataError, match='they match with image_ids="number" of sacrecap.data.read'):
        both(tmp_path, [f"{'COCO' if n % 2 else 'VG'}_{n:04}.jpg" for n in range(6)])
    with pytest.raises(DataError, match=r"more than one candidate for 1 image \(3\); keep one per image"):
        both(tmp_path, [*range(6), 3])
    found = both(tmp_path, [*range(6), 3], sets=True)
    assert rows_of(found)["3"] == (["r3"], ["c3", "c3"])


SPELLED = {
    "numbers of files": ([str(7 * n) for n in range(9)], [f"val/COCO_{7 * n:012}.jpg" for n in range(9)]),
    "stems of files": ([f"dog-{n}" for n in range(9)], [f"a/dog-{n}.png" for n in range(9)]),
    "files against numbers": ([f"COCO_{n:04}.jpg" for n in range(9)], [str(n) for n in range(8)]),
    "two files of a number": ([str(n) for n in range(3)], [f"{folder}/1.jpg" for folder in "abc"]),
    "several beginnings": ([str(n) for n in range(3)], ["dog-0", "cat-1", "dog-2"]),
    "no numbers on either side": (["dog-1", "dog-2"], ["cat-1", "cat-2"]),
    "one too many": ([str(n) for n in range(3)], [f"x{n}.jpg" for n in range(4)]),
    "other images": (["1", "2"], ["3", "4"]),
}


@pytest.mark.parametrize(("described", "captioned"), SPELLED.values(), ids=[*SPELLED])
def test_ids_that_are_spelled_otherwise_meet_as_in_memory(
    tmp_path: Path, described: list[str], captioned: list[str]
) -> None:
    references = write_rows(tmp_path, "r", [{"image_id": one, "references": [f"r {one}"]} for one in described], 2)
    own = write_rows(tmp_path, "c", [{"image_id": one, "caption": f"c {one}"} for one in captioned], 2)
    same = same_images(described, captioned)
    if same is None:
        with pytest.raises(DataError, match=r"none of its \d images is in the references"):
            join(StreamEngine(), [references], {"s": [own]}, on_missing="skip", shards=3)
        return
    found = join(StreamEngine(), [references], {"s": [own]}, on_missing="skip", shards=3)
    how, meant = same
    assert rows_of(found) == {image: ([f"r {image}"], f"c {one}") for one, image in meant.items()}
    least = min(meant.values())
    assert found.matched == (how, least, next(one for one, image in meant.items() if image == least))


def test_other_columns_of_ids(tmp_path: Path) -> None:
    references = write_rows(
        tmp_path, "r", [{"file_name": f"{n}.jpg", "id": f"row {n}", "references": [f"r{n}"]} for n in range(5)], 2
    )
    own = write_rows(
        tmp_path, "c", [{"image": "x", "key": n, "id": f"row {n}", "caption": f"c{n}"} for n in range(5)], 2
    )
    found = join(
        StreamEngine(),
        [references],
        {"s": [write_rows(tmp_path, "n", [{"id": "0.jpg", "caption": "c"}], 1)]},
        on_missing="skip",
    )
    assert rows_of(found) == {"0.jpg": (["r0"], "c")}
    named = join(StreamEngine(), [references], {"s": [own]}, image_id="id")
    assert rows_of(named) == {f"row {n}": ([f"r{n}"], f"c{n}") for n in range(5)}
    both = write_rows(tmp_path, "b", [{"image": "x", "id": f"{n}.jpg", "caption": f"c{n}"} for n in range(5)], 2)
    found = join(StreamEngine(), [references], {"s": [both]})
    assert rows_of(found) == {f"{n}.jpg": ([f"r{n}"], f"c{n}") for n in range(5)}
    assert found.matched is None


def test_bad_rows_of_a_join(tmp_path: Path) -> None:
    described = write_rows(tmp_path, "r", [{"image_id": 0, "references": ["x"]}, {"image_id": 1, "references": []}], 1)
    own = write_rows(tmp_path, "c", [{"image_id": 0, "caption": "y"}, {"image_id": None, "caption": "z"}], 1)
    found = join(StreamEngine(), [described], {"s": [own]})
    assert rows_of(found) == {"0": (["x"], "y")}
    assert [(Path(one.file).parent.name, one.row) for one in found.bad] == [("c", 2)]
