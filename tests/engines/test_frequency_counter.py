"""Document frequencies of parts of a corpus, whatever memory there is, are those of the whole."""

from __future__ import annotations

import pickle
import random
from pathlib import Path

import pytest

from sacrecap import _core
from sacrecap.errors import DataError, UsageError

WORDS = ["a", "dog", "dogs", "runs", "running", "été", "on", "grass", "the"]


def references(images: dict[str, list[str]], tokenizer: str = "ptb") -> _core.References:
    return _core.References(_core.Captions.from_dict(images), range(len(images)), tokenizer)


def random_images(draw: random.Random) -> dict[str, list[str]]:
    def sentence() -> str:
        return " ".join(draw.choices(WORDS, k=draw.randrange(12)))

    return {f"{image}": [sentence() for _ in range(draw.randrange(4))] for image in range(30)}


@pytest.mark.parametrize("memory", [0, 20_000, 100_000, 1 << 24])
@pytest.mark.parametrize("stem", [False, True])
def test_any_parts_and_any_memory(memory: int, stem: bool, tmp_path: Path) -> None:
    draw = random.Random(memory + stem)
    images = random_images(draw)
    n = draw.randrange(1, 5)
    expected = _core.DocumentFrequency.build(references(images), stem, n).to_bytes()
    order = draw.sample(list(images), len(images))
    cuts = [0, *sorted(draw.choices(range(30), k=3)), 30]
    counter = _core.FrequencyCounter(n, stem, "ptb", memory=memory, folder=str(tmp_path))
    for place in range(4):
        part = references({image: images[image] for image in order[cuts[place] : cuts[place + 1]]})
        if place % 2:
            counter.merge(_core.DocumentFrequency.build(part, stem, n))
        else:
            counter.add(part, 2)
    assert counter.documents == 30
    if memory == 0:
        assert list(tmp_path.iterdir())
    path = str(tmp_path / "counts.df") if stem else None
    found = counter.finish(path=path)
    assert found.to_bytes() == expected
    if path is not None:
        assert Path(path).read_bytes() == expected
    assert [file.name for file in tmp_path.iterdir()] == (["counts.df"] if stem else [])
    assert found.count(["a"]) == _core.DocumentFrequency.from_bytes(expected).count(["a"])


@pytest.mark.parametrize("pieces", [1, 3, 40])
def test_pieces_merged_in_any_order_are_the_whole(pieces: int, tmp_path: Path) -> None:
    """Those of two corpora, of which each worker has those of one number, are those of both."""
    draw = random.Random(pieces)
    both = [random_images(draw), {f"{image} again": own for image, own in random_images(draw).items()}]
    expected = _core.DocumentFrequency.build(references({**both[0], **both[1]}), False, 4)
    parts = [_core.DocumentFrequency.build(references(images), False, 4).split(pieces) for images in both]
    whole = _core.FrequencyCounter(4, False, "ptb", memory=1 << 20, folder=str(tmp_path))
    seen: list[int] = []
    for same in draw.sample(list(zip(*parts, strict=True)), pieces):
        counter = _core.FrequencyCounter(4, False, "ptb", memory=1 << 20, folder=str(tmp_path))
        for piece in same:
            counter.merge(pickle.loads(pickle.dumps(piece, protocol=5)))
        found = counter.finish()
        seen.append(found.ngrams)
        whole.merge(found)
    assert sum(seen) == expected.ngrams  # none is in two of them
    assert whole.finish().to_bytes() == expected.to_bytes()


def test_processes_share_the_bytes() -> None:
    """Pickled with protocol 5, the bytes are beside the pickle, and used in place."""
    counted = _core.DocumentFrequency.build(references({"1": ["a dog runs"], "2": ["a dog"]}), False, 4)
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(counted, protocol=5, buffer_callback=buffers.append)
    assert len(data) < 200
    (shared,) = [memoryview(buffer) for buffer in buffers]
    assert pickle.loads(data, buffers=[shared]) == counted
    writable = bytearray(shared)
    copied = _core.DocumentFrequency.from_bytes(writable)
    writable[:] = bytes(len(writable))
    assert copied == counted
    with pytest.raises(DataError, match="not a document-frequency file"):
        _core.DocumentFrequency.from_bytes(b"")


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    part = references({"1": ["a dog"]})
    counter = _core.FrequencyCounter(4, False, "ptb", memory=1 << 20, folder=str(tmp_path))
    with pytest.raises(UsageError, match=r"tokens \(tokenizer ptb\) cannot be added to those of .*whitespace\)"):
        counter.add(references({"1": ["a dog"]}, "whitespace"))
    with pytest.raises(UsageError, match="build both with the same n"):
        counter.merge(_core.DocumentFrequency.build(part, False, 3))
    counter.add(part)
    assert counter.finish().to_bytes() == _core.DocumentFrequency.build(part, False, 4).to_bytes()
    with pytest.raises(UsageError, match="has ended"):
        counter.finish()
    with pytest.raises(UsageError, match="1 to 4 words, not 5"):
        _core.FrequencyCounter(5, False, "ptb", memory=0, folder=str(tmp_path))


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    counter = _core.FrequencyCounter(4, False, "ptb", memory=0, folder=str(tmp_path / "file"))
    with pytest.raises(DataError, match="cannot be put on disk: .* more memory"):
        counter.add(references({"1": ["a dog"]}))
    with pytest.raises(UsageError, match="has ended"):
        counter.add(references({"1": ["a dog"]}))
