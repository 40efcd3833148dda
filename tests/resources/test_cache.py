"""A cache of results: several processes, full disks, damaged files. Whatever is wrong, scoring goes on."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import pytest

from sacrecap.data.cache import Cache
from sacrecap.errors import SacrecapWarning

Words = tuple[str, ...]


class KeptWords(Cache[str, Words]):
    """Results that are stored as JSON."""

    what: ClassVar[str] = "words"
    again: ClassVar[str] = "they are asked for again next time"
    table: ClassVar[str] = "words"
    columns: ClassVar[tuple[str, str, str]] = ("program TEXT", "captions TEXT", "words TEXT")

    def stored(self, value: Words) -> str:
        return json.dumps(value)

    def loaded(self, stored: str) -> Words:
        return tuple(json.loads(stored))


WORDS: dict[str, Words] = {
    "a dog": ("dog",),
    "a dog, b": ("b", "dog", "two", "run along"),
    "": (),
    "é\0": ("é", "\ud800"),
}
HERE = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
"""So that other processes find this module."""


@pytest.fixture
def place(tmp_path: Path) -> str:
    return str(tmp_path / "folder" / "cache.sqlite")


def test_what_is_kept_is_found(place: str) -> None:
    cache = KeptWords(place, "1")
    assert cache.find(list(WORDS)) == {}
    assert not os.path.exists(place), "looking makes no file"
    cache.keep(WORDS)
    assert cache.find([*WORDS, "c"]) == WORDS
    assert KeptWords(place, "1").find(["a dog"]) == {"a dog": ("dog",)}
    assert KeptWords(place, "2").find(list(WORDS)) == {}, "another version of the program"
    cache.keep({"a dog": ("other",)})
    assert cache.find(["a dog"]) == {"a dog": ("dog",)}, "what is there stays"
    assert os.listdir(os.path.dirname(place)) == ["cache.sqlite"], "no journal stays"


def test_more_than_a_query_takes(place: str) -> None:
    many = {str(number): (str(number),) for number in range(2001)}
    cache = KeptWords(place, "1")
    cache.keep(many)
    assert cache.find([*many, "x"]) == many


KEEPING = """
import sys
from test_cache import KeptWords
cache, who = KeptWords(sys.argv[1], "1"), sys.argv[2]
print("ready", flush=True)
sys.stdin.read()
for number in range(50):
    cache.keep({f"{who} {number}": (who, str(number)), f"shared {number}": ("shared",)})
assert cache.writable
"""


def test_several_processes_at_once(place: str) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", KEEPING, place, str(who)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=HERE,
        )
        for who in range(3)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
    for process in processes:
        assert process.wait() == 0
        assert process.stdout is not None
        process.stdout.close()
    expected: dict[str, Words] = {
        f"{who} {number}": (str(who), str(number)) for who in range(3) for number in range(50)
    }
    expected |= {f"shared {number}": ("shared",) for number in range(50)}
    assert KeptWords(place, "1").find(list(expected)) == expected


FILLING = """
import resource, sys, warnings
from test_cache import KeptWords
resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
cache = KeptWords(sys.argv[1], "1")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for number in range(20):
        cache.keep({f"{number} {n}": ("word" * 100, ) for n in range(10)})
print(len(caught), str(caught[0].message))
"""


def test_a_full_disk_costs_time_only(place: str) -> None:
    """A process that may write no file longer than 64 KiB: the system refuses as a full disk does."""
    done = subprocess.run([sys.executable, "-c", FILLING, place], capture_output=True, text=True, check=True, env=HERE)
    assert done.stdout.startswith(f"1 {place}: the cache of words cannot be used")
    assert "scores are right" in done.stdout
    assert "free space there" in done.stdout
    sides = [f"{number} {n}" for number in range(20) for n in range(10)]
    kept = KeptWords(place, "1").find(sides)
    assert 10 <= len(kept) < 200
    assert list(kept) == sides[: len(kept)], "what was kept before is still there, whole batches of it"
    assert len(kept) % 10 == 0
    KeptWords(place, "1").keep({"new": ()})
    assert KeptWords(place, "1").find(["new"]) == {"new": ()}


@pytest.mark.parametrize("damage", [b"no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_file_is_left_alone(place: str, damage: bytes) -> None:
    os.mkdir(os.path.dirname(place))
    Path(place).write_bytes(damage)
    cache = KeptWords(place, "1")
    with pytest.warns(SacrecapWarning, match="cannot be used .*the file is damaged, remove it"):
        assert cache.find(list(WORDS)) == {}
    cache.keep(WORDS)  # a second warning would be an error here
    assert cache.find(list(WORDS)) == {}
    assert Path(place).read_bytes() == damage


def test_an_entry_that_cannot_be_read(place: str) -> None:
    cache = KeptWords(place, "1")
    cache.keep(WORDS)
    database = sqlite3.connect(place)
    with database:
        database.execute("UPDATE words SET words = '[[' WHERE captions = 'a dog'")
    database.close()
    with pytest.warns(SacrecapWarning, match="the file is damaged, remove it"):
        assert "a dog" not in cache.find(list(WORDS))


def test_an_empty_file_becomes_a_cache(place: str) -> None:
    os.mkdir(os.path.dirname(place))
    Path(place).touch()
    cache = KeptWords(place, "1")
    assert cache.find(list(WORDS)) == {}
    cache.keep(WORDS)
    assert cache.find(list(WORDS)) == WORDS


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write everywhere")
def test_a_cache_that_may_only_be_read_is_read(place: str) -> None:
    KeptWords(place, "1").keep(WORDS)
    os.chmod(place, 0o400)
    os.chmod(os.path.dirname(place), 0o500)
    try:
        cache = KeptWords(place, "1")
        assert cache.find(list(WORDS)) == WORDS
        with pytest.warns(SacrecapWarning, match="readonly.*make it writable"):
            cache.keep({"new": ()})
        assert cache.find([*WORDS, "new"]) == WORDS
    finally:
        os.chmod(os.path.dirname(place), 0o700)


def test_no_folder_can_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cache = KeptWords(str(tmp_path / "file" / "cache.sqlite"), "1")
    with pytest.warns(SacrecapWarning, match="choose another place by XDG_CACHE_HOME"):
        cache.keep(WORDS)
