"""SPICE's program as a subprocess: whatever it does, there is an answer or a message, and nothing of it stays."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import recorded_program
from fake_java import FakeJava
from sacrecap.errors import DataError, MissingDependencyError, UsageError
from sacrecap.resources.stanford import StanfordSpice, jars, program
from sacrecap.resources.stanford.batch import BatchError, Runner
from sacrecap.resources.stanford.graph_cache import GraphCache
from sacrecap.resources.stanford.java import Java, find_java, java_version


@pytest.fixture
def java(tmp_path: Path) -> FakeJava:
    return FakeJava(tmp_path / "java")


@pytest.fixture
def spice(tmp_path: Path, java: FakeJava, monkeypatch: pytest.MonkeyPatch) -> StanfordSpice:
    """The program with the fake Java, a cache, and a folder for temporary files that has to be empty in the end."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return StanfordSpice(
        Java(str(java.path), 17), str(tmp_path), cache=GraphCache(str(tmp_path / "c" / "c.sqlite"), "1")
    )


@pytest.fixture(autouse=True)
def nothing_stays(tmp_path: Path) -> object:
    yield
    assert not list((tmp_path / "temporary").glob("*")), "temporary files stay"


def words(*words: str) -> tuple[tuple[str, ...], ...]:
    return tuple((word,) for word in words)


def test_a_graph_for_each_side(spice: StanfordSpice, java: FakeJava) -> None:
    seen: list[tuple[int, int]] = []
    sides = [["a dog"], ["b", "a c"], ["a dog"], [], [""], ["\ud800 é"]]
    got = spice.tuples(sides, progress=lambda done, all_: seen.append((done, all_)))
    assert got[:5] == [words("a", "dog"), words("a", "b", "c"), words("a", "dog"), (), ()]
    assert len(got[5]) == 2
    assert java.calls == [5], "each side is asked for once"
    assert seen == [(5, 5)]


def test_the_second_time_nothing_is_run(spice: StanfordSpice, java: FakeJava) -> None:
    first = spice.tuples([["a dog"], ["b", "a c"], ["é \ud800"]])
    assert spice.tuples([["é \ud800"], ["b", "a c"], ["a dog"]]) == first[::-1]
    assert java.calls == [3]
    spice.tuples([["a c", "b"], ["a dog"]])
    assert java.calls == [3, 1], "another order of captions is another side"


def test_what_the_program_is_given(spice: StanfordSpice, java: FakeJava) -> None:
    spice.runner.run([("a", "b")], 60)
    arguments = json.loads(java.arguments)
    assert {"-Xmx4G", "-Dfile.encoding=UTF-8", "-Duser.language=en", "-detailed", "-subset"} <= {*arguments}
    assert arguments[-2:] == ["-threads", "1"]
    named = arguments[arguments.index("-cp") + 1].split(os.pathsep)
    assert [os.path.basename(jar) for jar in named] == [part.name for part in jars.PARTS]


def test_java_8_does_not_get_what_is_too_new_for_it(spice: StanfordSpice, java: FakeJava) -> None:
    spice = StanfordSpice(Java(str(java.path), 8), "", memory="2048m", threads=3)
    spice.runner.run([("a", "b")], 60)
    arguments = json.loads(java.arguments)
    assert "nashorn" not in arguments[arguments.index("-cp") + 1]
    assert "-Xmx2048m" in arguments
    assert arguments[-1] == "3"


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("crash", "ended with status 3: Exception in thread .* no parse"),
        ("killed", "ended with status -9"),
        ("half", r"wrote no answers that can be read \(KeyError"),
        ("cut", r"wrote no answers that can be read \(JSONDecodeError"),
        ("memory", "left a sentence out with 4G of memory .*length=400"),
    ],
)
def test_the_image_that_breaks_it_is_named_and_nothing_else_is_lost(
    spice: StanfordSpice, java: FakeJava, word: str, reason: str
) -> None:
    sides = [["a 0"], [f"a {word} caption"]]
    with pytest.raises(DataError) as raised:
        spice.tuples(sides, names=["image-0", "image-1"])
    message = str(raised.value)
    assert "fails on 1 image (image-1)" in message
    assert "longest caption has 3 words" in message
    assert re.search(reason, message), message
    assert "\tat" not in message
    before = len(java.calls)
    assert spice.tuples(sides[:1]) == [words("0", "a")]
    assert len(java.calls) == before, "the others are in the cache"


def test_every_image_that_breaks_it_is_named(spice: StanfordSpice) -> None:
    sides = [["a"], ["crash a"], ["b"], ["killed"], ["crash a"]]
    with pytest.raises(DataError, match=r"fails on 3 images \(v, x, y\)"):
        spice.tuples(sides, names=["u", "v", "w", "x", "y"])


def test_a_child_that_is_killed_from_outside_is_started_again(spice: StanfordSpice, java: FakeJava) -> None:
    assert spice.tuples([["once"]]) == [words("once")]
    assert java.calls == [1, 1, 1], "killed, the example, and again"
    (java.folder / "once").unlink()
    with pytest.raises(DataError, match=r"fails on 1 image \(x\)"):
        spice.tuples([["crash"], ["once more"]], names=["x", "y"])
    assert spice.tuples([["once more"]]) == [words("more", "once")], "each has its own second try"


def test_a_program_that_never_works_is_not_halved(spice: StanfordSpice, java: FakeJava) -> None:
    java.path.write_text("#!/bin/sh\necho Error: Could not find or load main class >&2\nexit 1\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"does not work with .*Java 17.*status 1: Error: Could not find.*spice setup"):
        spice.tuples([["a"], ["b"], ["c"]])
    java.path.unlink()
    with pytest.raises(DataError, match=r"does not work.*status 127.*No such file"):
        spice.tuples([["a"], ["b"], ["c"]])


def test_a_hang_ends(spice: StanfordSpice, java: FakeJava) -> None:
    with pytest.raises(BatchError, match="took longer than 0 seconds"):
        spice.runner.run([("hang",)], 0.2)


def test_a_hang_among_others_is_found(spice: StanfordSpice, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a hang is given little time, since a busy machine needs some for what works."""
    run = Runner.run

    def impatient(runner: Runner, sides: list[tuple[str, ...]], seconds: float) -> object:
        return run(runner, sides, 0.2 if ("hang",) in sides else seconds)

    monkeypatch.setattr(Runner, "run", impatient)
    with pytest.raises(DataError, match=r"fails on 1 image \(y\).*took longer than"):
        spice.tuples([["a"], ["hang"]], names=["x", "y"])
    assert spice.tuples([["a"]]) == [words("a")]


def test_what_it_says_is_read_however_much_it_is(spice: StanfordSpice) -> None:
    assert spice.tuples([["chatty"]]) == [words("chatty")]


def test_a_full_disk_is_no_fault_of_a_caption(spice: StanfordSpice, java: FakeJava) -> None:
    with pytest.raises(DataError, match=r"cannot write its files there \(No space left on device\).*TMPDIR"):
        spice.tuples([["a"], ["full"]])
    assert java.calls == [2]


def test_no_place_for_temporary_files(
    spice: StanfordSpice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, java: FakeJava
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match=r"nowhere: SPICE's program cannot write its files there"):
        spice.tuples([["a"]])
    assert java.calls == []


WAITING = """
import sys, tempfile
from sacrecap.cli.interruptible import run
from sacrecap.resources.stanford import StanfordSpice
from sacrecap.resources.stanford.java import Java
spice = StanfordSpice(Java(sys.argv[1], 17), "")
run(lambda: spice.tuples([["hang"]]))
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_child_does_not_outlive_us(java: FakeJava, tmp_path: Path, how: signal.Signals) -> None:
    """Also where we have no time to say goodbye. The fake holds a pipe open, which ends when it does."""
    alive = java.folder / "alive"
    os.mkfifo(alive)
    (tmp_path / "temporary").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", WAITING, java.path],
        env={**os.environ, "TMPDIR": str(tmp_path / "temporary")},
        stderr=subprocess.PIPE,
    )
    with alive.open() as pipe:
        folder = pipe.readline().strip()
        assert Path(folder).is_dir()
        process.send_signal(how)
        assert pipe.read() == "", "the end of the pipe: the child has ended"
    process.communicate()
    keeper_ended(folder)


def keeper_ended(folder: str) -> None:
    """Waits for the folder to go, which is the last thing that the keeper does. The test's time limit ends a hang."""
    while os.path.exists(folder):
        os.sched_yield()


# What is found, and what is not


def test_not_set_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with pytest.raises(MissingDependencyError, match=r"is not set up.*sacrecap spice setup.*parser=native") as raised:
        StanfordSpice.find()
    assert raised.value.extra is None


def test_half_set_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(jars, "PARTS", jars.PARTS[1:4])
    folder = tmp_path / "sacrecap" / "spice"
    folder.mkdir(parents=True)
    for part in jars.PARTS[:2]:
        with (folder / part.name).open("wb") as file:
            file.truncate(part.size)
    (folder / jars.PARTS[2].name).write_bytes(b"cut short")
    with pytest.raises(MissingDependencyError, match=rf"lacks {jars.PARTS[2].name} in {folder}.*sacrecap spice setup"):
        StanfordSpice.find()


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ('java version "1.8.0_392"\nJava(TM) SE', 8),
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('openjdk version "21" 2023-09-19', 21),
        ('openjdk version "25-ea" 2025-09-16', 25),
        ('java version "1.7.0_80"', 7),
        ("The operation couldn't be completed. Unable to locate a Java Runtime.", None),
        ("", None),
    ],
)
def test_versions(java: FakeJava, said: str, version: int | None) -> None:
    java.say_version(said)
    assert java_version(str(java.path)) == version


def test_java_is_that_of_java_home_or_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, path = FakeJava(tmp_path / "home" / "bin", "11.0.1"), FakeJava(tmp_path / "path", "1.8.0_1")
    monkeypatch.setenv("PATH", str(path.folder))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert find_java() == Java(str(path.path), 8)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert find_java() == Java(str(home.path), 11)
    home.say_version('java version "1.7.0_80"')
    assert find_java() == Java(str(path.path), 8)
    path.say_version("nothing")
    with pytest.raises(MissingDependencyError, match=r"of JAVA_HOME is Java 7; .* of PATH does not run; install one"):
        find_java()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingDependencyError, match=r"there is none in JAVA_HOME or PATH.*--java PATH"):
        find_java()


def test_a_java_that_is_named(java: FakeJava, tmp_path: Path) -> None:
    assert find_java(str(java.path)) == Java(str(java.path), 17)
    java.say_version('java version "1.7.0_80"')
    with pytest.raises(DataError, match="is Java 7; SPICE's program needs Java 8 or newer"):
        find_java(str(java.path))
    java.say_version("no")
    with pytest.raises(DataError, match="does not say its version"):
        find_java(str(java.path))
    with pytest.raises(DataError, match="nowhere: is not a program"):
        find_java(str(tmp_path / "nowhere"))


@pytest.mark.parametrize("memory", ["", "4", "4 G", "0G", "800M", "4T", "-4G", "4G -version"])
def test_memory_that_java_would_not_take(memory: str) -> None:
    with pytest.raises(UsageError, match=r"1024M or more, such as 4G"):
        StanfordSpice(Java("java", 17), "", memory=memory)


def test_batches_bound_the_work_and_take_every_item_once() -> None:
    sides = [("a b c " * (number % 50),) * (number % 4) for number in range(3000)]
    batches = list(program._batches(sides))
    assert sorted(number for batch in batches for number in batch) == list(range(3000))
    for batch in batches:
        assert len(batch) == 1 or sum(program.seconds_of(sides[n]) for n in batch) <= 60
    assert len(batches) > 3


# The real program


@pytest.fixture(scope="session")
def real() -> StanfordSpice:
    """The program of this machine's user, without a cache."""
    try:
        found = StanfordSpice.find()
    except MissingDependencyError as error:
        pytest.skip(str(error))
    return StanfordSpice(found.runner.java, found.runner.folder)


@pytest.mark.java
def test_the_real_program(real: StanfordSpice, tmp_path: Path) -> None:
    """An example, synonyms that are merged in a caption and over captions, letters beyond ASCII; and a broken jar."""
    (tmp_path / "temporary").mkdir()
    assert real.try_out() == program.EXAMPLE_GRAPH
    said: dict[tuple[str, ...], object] = {
        ("a painting",): (("painting",),),
        ("there is a photo and a picture",): (("photo/picture",),),
        ("a painting", "there is a photo and a picture"): (("painting",), ("photo/picture",)),
        ("a woman in a café",): (("café",), ("woman",), ("woman", "in", "café")),
        ("",): (),
        (): (),
        **recorded_program.ANSWERS,
    }
    assert real.tuples(list(said)) == list(said.values())  # at once: each start loads the parser anew
    for part in jars.PARTS:
        (tmp_path / part.name).symlink_to(os.path.join(real.runner.folder, part.name))
    (tmp_path / "spice-1.0.jar").unlink()
    (tmp_path / "spice-1.0.jar").write_bytes(b"PK no jar")
    with pytest.raises(DataError, match=r"SPICE's program does not work with .*SpiceScorer.*sacrecap spice setup"):
        StanfordSpice(real.runner.java, str(tmp_path)).tuples([["a dog"]])
