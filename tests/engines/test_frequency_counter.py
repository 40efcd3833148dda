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
    found = counter.finish()
    assert found.to_bytes() == expected
    assert list(tmp_path.iterdir()) == []
    assert found.count(["a"]) == _core.DocumentFrequency.from_bytes(expected).count(["a"])


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


def test_counts_that_have_ended() -> None:
    counts = _core.LanguageCounts(3, memory=1 << 20)
    counts.finish()
    with pytest.raises(UsageError, match=r"^these counts have ended, by finish\(\) or by an error; make others$"):
        counts.finish()
