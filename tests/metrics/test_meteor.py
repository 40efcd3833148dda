"""METEOR equals the original program, and neither hangs nor explodes."""

from __future__ import annotations

import csv
import gzip
import json
import math
import os
import random
import shutil
import subprocess
import sys
import time
import warnings
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import ModuleSpec
from itertools import cycle, islice
from pathlib import Path

import pytest

import sacrecap
import sacrecap_meteor
from oracle.meteor import Original
from sacrecap import SacrecapWarning, _core, example
from sacrecap.data.source import in_cache
from sacrecap.errors import DataError, MissingDependencyError, UsageError
from sacrecap.judgments import rank_references
from sacrecap.metrics import Meteor
from sacrecap.metrics.meteor import meteor as meteor_tables
from sacrecap.report.html import render_html
from sacrecap.report.score_formats import render

GOLDENS = Path(__file__).parents[1] / "goldens"
Package = Callable[[str, bytes], Path]
CAPTIONS = [caption for captions in example.references().values() for caption in captions]


@pytest.mark.java
def test_random_pairs_against_the_original() -> None:
    """Ten seconds of processor time: the program reads its five million paraphrases."""
    chance = random.Random(0)
    tokens = [" ".join(words) for words in sacrecap.tokenize(CAPTIONS)]
    references, candidates = {}, {}
    for number in range(120):
        candidates[str(number)] = _edited(chance, chance.choice(tokens))
        references[str(number)] = [*chance.sample(tokens, chance.randint(1, 4)), chance.choice(tokens)]
    [score] = sacrecap.score(references, candidates, "meteor", tokenizer="none", interval=None).values()
    with Original() as original:
        segments, corpus = original.scores(
            [original.statistics(candidates[image], references[image]) for image in references]
        )
    assert score.per_image.tolist() == pytest.approx(segments, abs=1e-12)
    assert score.value == pytest.approx(corpus, abs=1e-12)


def test_scores_of_the_original_that_were_recorded() -> None:
    """With its own paraphrases."""
    for line in (GOLDENS / "meteor-batches.jsonl").read_text(encoding="utf-8").splitlines():
        batch = json.loads(line)
        items = {str(number): item for number, item in enumerate(batch["items"])}
        references = {image: item["refs"] for image, item in items.items()}
        candidates = {image: item["hyp"] for image, item in items.items()}
        score = sacrecap.score(references, candidates, "meteor", tokenizer="none", interval=None)["meteor"]
        assert score.per_image.tolist() == pytest.approx(batch["scores"], abs=1e-12)
        assert score.value == pytest.approx(batch["corpus"], abs=1e-12)


def _loop(text: str, words: int) -> str:
    """A caption of a model that does not end."""
    return " ".join(list(islice(cycle(text.split()), words)))


@pytest.mark.parametrize(
    ("candidate", "references", "original"),
    [
        (_loop("a dog runs on the beach", 2_000), ["a dog runs on the beach", "a dog is running"], 0.01141993566837861),
        (_loop("the", 2_800), ["the dog of the man", "a cat sits"], 0.0018706886472582718),
        (
            _loop("a big dog and a small cat", 2_100),
            [_loop("the large dog and the little cat", 500)],
            0.30247332056012555,
        ),
    ],
    ids=["sentence", "word", "both"],
)
def test_a_caption_that_does_not_end_has_the_originals_score(
    candidate: str, references: list[str], original: float
) -> None:
    score = sacrecap.score([references, ["a cat"]], [candidate, "a cat"], "meteor", tokenizer="none", interval=None)
    assert score["meteor"].per_image.tolist() == pytest.approx([original, 1], abs=1e-12)


@pytest.mark.java
def test_long_texts_against_the_original() -> None:
    chance = random.Random(0)
    tokens = [word for words in sacrecap.tokenize(CAPTIONS) for word in words]

    def text(words: int) -> str:
        return " ".join(chance.choices(tokens, k=words))

    lengths = [(2_100, 12), (2_500, 300), (12, 2_500), (300, 300), (2_050, 700)]
    pairs = [(text(candidate), text(reference)) for candidate, reference in lengths]
    pairs += [(_loop(text(candidate % 7 + 1), candidate), text(reference)) for candidate, reference in lengths]
    references = {str(number): [reference] for number, (_, reference) in enumerate(pairs)}
    candidates = {str(number): candidate for number, (candidate, _) in enumerate(pairs)}
    score = sacrecap.score(references, candidates, "meteor", tokenizer="none", interval=None)["meteor"]
    with Original() as original:
        segments, _ = original.scores([original.statistics(candidate, [reference]) for candidate, reference in pairs])
    assert score.per_image.tolist() == pytest.approx(segments, abs=1e-12)


def _edited(chance: random.Random, caption: str) -> str:
    words = caption.split()
    for _ in range(chance.randint(0, 4)):
        place = chance.randrange(len(words))
        match chance.randrange(4):
            case 0:
                words.insert(place, chance.choice(words))
            case 1 if len(words) > 1:
                del words[place]
            case 2:
                chance.shuffle(words)
            case _:
                words[place] = chance.choice(chance.choice(CAPTIONS).lower().rstrip(".").split())
    return " ".join(words)


@pytest.mark.parametrize(
    ("candidate", "references"),
    [
        ("dog " * 500, ["dog " * 500]),
        ("dog " * 500, ["a dog runs"] * 40),
        ("dog " * 12_000, ["dog " * 12_000]),
        ("a big dog runs along the beach " * 70, ["the large dog is running on a beach " * 60] * 5),
        ("", ["a dog"]),
        ("... !!! ???", [". , ;"]),
        ("собака 狗 كلب dog 🐕 ÄÖÜ ﬁ", ["dog собака", "狗 كلب"]),
    ],
    ids=["one word", "forty references", "endless", "long", "empty", "punctuation", "scripts"],
)
def test_adversarial_captions_take_their_processor_time(candidate: str, references: list[str]) -> None:
    started = time.process_time()
    value = sacrecap.score({"1": references}, {"1": candidate}, "meteor", interval=None)["meteor"].value
    assert 0 <= value <= 1
    assert time.process_time() - started < 20  # the slowest takes a tenth; a search without bounds takes hours


@pytest.mark.parametrize("named", [None, "", " ", "here", "/somewhere/else"])
def test_the_cache_folder_is_the_one_of_platformdirs(named: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    from platformdirs import user_cache_dir

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    if named is not None:
        monkeypatch.setenv("XDG_CACHE_HOME", named)
    assert in_cache() == user_cache_dir("sacrecap")


def test_tasks_and_parameters() -> None:
    assert Meteor() == Meteor(task="rank", alpha=0.85)
    assert Meteor(task="adq").alpha == 0.75
    assert Meteor(task="adq").key == "meteor(task=adq)"
    assert Meteor(alpha=0.5).key == "meteor(alpha=0.5)"
    changed = sacrecap.score(
        {"1": ["a guy rides a horse"]}, {"1": "a man is riding a horse"}, "meteor,meteor(stem=0),meteor(task=adq)"
    )
    values = [score.value for score in changed.values()]
    assert len({*values}) == 3


def test_an_alignment_is_drawn() -> None:
    alignment = Meteor().explain("A man is riding a horse.", ["two birds", "a guy rides a horse"])
    assert alignment is not None
    assert alignment.number == 1
    assert alignment.score == pytest.approx(0.29131423334096984)
    assert str(alignment).splitlines() == [
        "candidate  [1 a] man is [2 riding a horse]",
        "reference  [1 a] guy [2 rides a horse]",
        "exact      a, a, horse",
        "stem       riding = rides",
        "score      0.2913 = F 0.6099 · (1 − penalty 0.5223);  P 0.5667, R 0.6182, 2 chunks",
    ]
    result = sacrecap.score({"1": ["a guy rides a horse"]}, {"1": "a man rides"}, "meteor,bleu-1", interval=None)
    assert result.alignment("1") == Meteor().explain("a man rides", ["a guy rides a horse"])
    with pytest.raises(UsageError, match="no image '2' among the 1 scored ones"):
        result.alignment("2")
    without = sacrecap.score({"1": ["a"]}, {"1": "a"}, "bleu-1", interval=None)
    with pytest.raises(UsageError, match="alignments are METEOR's, which was not scored; scored: bleu-1"):
        without.alignment("1")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that copies are written to: its own for the test, which begins with no tables open. However long the
    test takes, every copy is too new for a note.
    """
    monkeypatch.setattr(meteor_tables, "_open", {})
    monkeypatch.setattr(meteor_tables, "_TICK", math.inf)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "sacrecap"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Package:
    """Makes an installation of sacrecap-meteor with this file of English tables, and puts it in the place of the real
    one.
    """

    def make(name: str, tables: bytes) -> Path:
        folder = tmp_path / name / "sacrecap_meteor"
        shutil.copytree(Path(sacrecap_meteor.__file__).parent, folder, ignore=shutil.ignore_patterns("*.gz"))
        (folder / "data" / meteor_tables.FILE).write_bytes(gzip.compress(tables, 1, mtime=0))
        spec = ModuleSpec("sacrecap_meteor", None, is_package=True)
        spec.submodule_search_locations = [str(folder)]
        monkeypatch.setattr(meteor_tables, "find_spec", lambda name: spec)
        meteor_tables._open.clear()  # as in a process that comes later
        return folder

    return make


@pytest.fixture
def small() -> bytes:
    """Tables of a few words, where two birds are a pair."""
    return (GOLDENS / "meteor-small.tables").read_bytes()


@pytest.fixture
def other(small: bytes) -> bytes:
    """Tables of as many bytes, where two birds are a pear."""
    changed = small[16:].replace(b"pair", b"pear")
    return small[:12] + zlib.crc32(changed).to_bytes(4, "little") + changed


def test_environments_with_one_content_share_a_copy(cache: Path, package: Package, small: bytes) -> None:
    package("first environment", small)
    assert meteor_tables.load().to_bytes() == small
    [copy] = cache.iterdir()
    assert copy.read_bytes() == small
    before = copy.stat()
    folder = package("second environment", small)
    os.utime(folder / "data" / meteor_tables.FILE, (0, 0))
    assert meteor_tables.load().to_bytes() == small
    assert list(cache.iterdir()) == [copy]
    assert (copy.stat().st_ino, copy.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_new_copy_takes_the_place_of_the_old_and_of_nothing_else(
    cache: Path, package: Package, small: bytes, other: bytes
) -> None:
    version = _core.MeteorTables.VERSION
    cache.mkdir(parents=True)
    goes = [
        f"meteor-{version}-{'0' * 16}.tables",  # of another content
        f"meteor-{version - 1}-{'1' * 16}.tables",  # of an older format
    ]
    stays = [
        f"meteor-{version + 1}-{'2' * 16}.tables",  # of a newer sacrecap, which would write it again
        f"meteor-{version}-{'5' * 15}.tables",  # other names
        f"meteor-{version}-{'5' * 16}.tables.bak",
        "words-0123456789abcdef.index",
    ]
    for name in goes + stays:
        (cache / name).write_bytes(small)
    foreign = cache / f"meteor-{version}-{'6' * 16}.tables"
    foreign.write_text("somebody's notes")
    folder = cache / f"meteor-{version}-{'7' * 16}.tables"
    folder.mkdir()
    kept = {*stays, foreign.name, folder.name}
    if os.name == "posix":
        link = cache / f"meteor-{version}-{'8' * 16}.tables"
        link.symlink_to(cache / stays[-1])
        kept.add(link.name)
    package("first environment", small)
    meteor_tables.load()
    meteor_tables._open.clear()
    mapped = meteor_tables.load()  # from the copy
    [own] = {file.name for file in cache.iterdir()} - kept
    package("upgraded environment", other)
    assert meteor_tables.load().to_bytes() == other
    [new] = {file.name for file in cache.iterdir()} - kept
    assert new != own
    assert mapped.to_bytes() == small  # a process that has the old copy keeps it
    assert foreign.read_text() == "somebody's notes"


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "another format", "no tables"])
def test_a_damaged_copy_is_made_again(cache: Path, package: Package, small: bytes, damage: str) -> None:
    package("environment", small)
    meteor_tables.load()
    [copy] = cache.iterdir()
    copy.write_bytes(
        {
            "cut": small[:-1],
            "changed": small[:-9] + bytes([small[-9] ^ 1]) + small[-8:],
            "empty": b"",
            "another format": small[:8] + bytes([small[8] + 1]) + small[9:],
            "no tables": b"notes" * 100,
        }[damage]
    )
    meteor_tables._open.clear()
    with pytest.warns(SacrecapWarning, match="METEOR's tables are made again"):
        assert meteor_tables.load().to_bytes() == small
    assert list(cache.iterdir()) == [copy]
    assert copy.read_bytes() == small


@pytest.fixture
def checked(cache: Path, package: Package, small: bytes, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy that was checked, with a note of it."""
    monkeypatch.setattr(meteor_tables, "_TICK", -math.inf)
    package("environment", small)
    meteor_tables.load()
    [copy] = cache.iterdir()
    meteor_tables._open.clear()
    meteor_tables.load()
    meteor_tables._open.clear()
    assert sorted(cache.iterdir()) == [copy, copy.with_name(copy.name + ".checked")]
    return copy


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each mapping of a file, whether the file was read whole."""
    mapped: list[bool] = []
    was_checked = meteor_tables._was_checked

    def recorded(copy: str, status: os.stat_result) -> bool:
        mapped.append(not was_checked(copy, status))
        return not mapped[-1]

    monkeypatch.setattr(meteor_tables, "_was_checked", recorded)
    return mapped


def test_a_copy_is_read_whole_once_a_day(checked: Path, whole: list[bool], small: bytes) -> None:
    tables = meteor_tables.load()
    assert (whole, tables.checksum) == ([False], int.from_bytes(small[12:16], "little"))
    note = checked.with_name(checked.name + ".checked")
    os.utime(note, (0, 0))
    for _ in range(2):
        meteor_tables._open.clear()
        meteor_tables.load()
    assert whole == [False, True, False]


def test_what_uses_a_copy_all_day_long_reads_it_whole_on_the_next(checked: Path, whole: list[bool]) -> None:
    note = checked.with_name(checked.name + ".checked")
    morning = int(time.time()) - 20 * 60 * 60
    os.utime(note, (morning, morning))
    meteor_tables.load()
    assert (whole, note.stat().st_mtime) == ([False], morning), "the note stays as old as the check"


def test_a_copy_that_just_changed_is_not_noted_as_good(
    checked: Path, whole: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meteor_tables, "_TICK", math.inf)
    checked.with_name(checked.name + ".checked").unlink()
    for _ in range(2):
        meteor_tables._open.clear()
        meteor_tables.load()
    assert whole == [True, True]


@pytest.mark.parametrize("note", ["", "1 2 3 4\n", "\xff"])
def test_a_note_of_another_state_does_not_count(checked: Path, whole: list[bool], note: str) -> None:
    checked.with_name(checked.name + ".checked").write_text(note, encoding="latin-1")
    meteor_tables.load()
    assert whole == [True]


@pytest.mark.parametrize("damage", ["cut", "changed", "replaced"])
def test_a_checked_copy_that_is_damaged_is_made_again(checked: Path, small: bytes, damage: str) -> None:
    before = checked.stat()
    changed = small[:-9] + bytes([small[-9] ^ 1]) + small[-8:]
    if damage == "replaced":
        checked.with_name("new").write_bytes(changed)
        os.replace(checked.with_name("new"), checked)
    else:
        checked.write_bytes(small[:-1] if damage == "cut" else changed)
    os.utime(checked, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.warns(SacrecapWarning, match="METEOR's tables are made again"):
        assert meteor_tables.load().to_bytes() == small
    assert checked.read_bytes() == small


def test_the_note_goes_with_its_copy(cache: Path, checked: Path, package: Package, other: bytes) -> None:
    package("upgraded environment", other)
    meteor_tables.load()
    [new] = cache.iterdir()
    assert new != checked


def test_shipped_tables_of_another_format_are_refused_and_not_kept(cache: Path, package: Package, small: bytes) -> None:
    version = small[8]
    package("environment", small[:8] + bytes([version + 1]) + small[9:])
    with pytest.raises(
        DataError,
        match=rf"{meteor_tables.FILE}: a file of METEOR's tables of format version {version + 1}, but this sacrecap "
        rf"reads version {version}; install sacrecap and sacrecap-meteor again",
    ):
        meteor_tables.load()
    assert not cache.exists()


@pytest.mark.parametrize("damage", [lambda packed: packed[:-100], lambda packed: b"x" + packed[1:], lambda _: b""])
def test_a_damaged_package_is_named(
    cache: Path, package: Package, small: bytes, damage: Callable[[bytes], bytes]
) -> None:
    file = package("environment", small) / "data" / meteor_tables.FILE
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(DataError, match=r"METEOR's tables cannot be read: .*; install them again"):
        meteor_tables.load()
    file.unlink()
    with pytest.raises(DataError, match=r"METEOR's tables cannot be read: .*; install them again"):
        meteor_tables.load()
    assert not cache.exists()


START = """
import sys
sys.stdin.read(1)
from sacrecap.metrics.meteor import meteor
print(meteor.load().checksum)
"""


def test_two_processes_start_at_once(cache: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", START],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in processes:
        assert process.stdin
        process.stdin.write("x")
        process.stdin.flush()
    answers = [process.communicate() for process in processes]
    assert answers == [(f"{meteor_tables.load().checksum}\n", "")] * 2
    assert len(list(cache.iterdir())) == 1


def test_tables_are_opened_once_a_process_until_their_file_changes(
    cache: Path, package: Package, small: bytes, other: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    read = meteor_tables._copied
    monkeypatch.setattr(meteor_tables, "_copied", lambda path: opened.append(path) or read(path))
    captions = {"1": ["x two birds fly"]}, {"1": "x a pair fly"}
    file = package("environment", small) / "data" / meteor_tables.FILE
    for _ in range(3):
        result = sacrecap.score(*captions, "meteor", interval=None)
        result.alignment("1")
        Meteor().explain("a pair", ["two birds"])
    assert len(opened) == 1
    file.write_bytes(gzip.compress(other, 1, mtime=0))
    os.utime(file, (0, 0))
    changed = sacrecap.score(*captions, "meteor", interval=None)
    assert changed["meteor"].value < result["meteor"].value
    assert len(opened) == 2
    assert len(meteor_tables._open) == 1


def test_tables_are_opened_by_threads_at_once(cache: Path, package: Package, small: bytes) -> None:
    package("environment", small)
    meteor_tables.load()
    meteor_tables._open.clear()
    with ThreadPoolExecutor(8) as threads:
        opened = list(threads.map(lambda _: meteor_tables.load().checksum, range(32)))
    assert len(set(opened)) == 1


@pytest.mark.parametrize("obstacle", ["a file where the folder should be", "a folder where the copy should be"])
def test_where_nothing_can_be_written_tables_are_made_in_memory(
    cache: Path, package: Package, small: bytes, obstacle: str
) -> None:
    package("environment", small)
    if obstacle.startswith("a file"):
        cache.parent.mkdir()
        cache.write_text("notes")
    else:
        meteor_tables.load()
        [copy] = cache.iterdir()
        copy.unlink()
        copy.mkdir()
        meteor_tables._open.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it costs a third of a second, so nobody needs to know
        assert meteor_tables.load().to_bytes() == small
    assert cache.read_text() == "notes" if cache.is_file() else all(copy.is_dir() for copy in cache.iterdir())


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine without the package of tables."""
    monkeypatch.setattr(meteor_tables, "find_spec", lambda name: None)


TWO = {"1": ["a dog runs"], "2": ["a cat"]}, {"1": "a dog ran", "2": "a cat"}
NOT_INSTALLED = "its tables are not installed; pip install 'sacrecap[meteor]'"


@pytest.mark.usefixtures("nothing_installed")
def test_without_tables_a_group_has_the_row_that_says_so() -> None:
    result = sacrecap.score(*TWO, "coco", interval=0.9, samples=20)
    assert list(result) == ["bleu-1", "bleu-2", "bleu-3", "bleu-4", "meteor", "rouge-l", "cider-d"]
    score = result["meteor"]
    assert math.isnan(score.value)
    assert score.interval is None
    assert all(map(math.isnan, score.per_image))
    assert score.label == "METEOR"
    [note] = [note for note in result.notes if "METEOR" in note]
    assert note.startswith(f"METEOR has no score: {NOT_INSTALLED}")
    with_tables_elsewhere = sacrecap.score(*TWO, "bleu-4, rouge-l", interval=0.9, samples=20)
    assert all(result[key].interval == with_tables_elsewhere[key].interval for key in with_tables_elsewhere)

    assert any(line.split() == ["METEOR", "–"] for line in str(result).splitlines())
    assert note in str(result)
    document = json.loads(render(result, "json"))
    assert document["scores"]["meteor"] is None
    assert note in document["notes"]
    assert f"|not scored:{NOT_INSTALLED}" in document["signatures"]["meteor"]
    [row] = [row for row in csv.DictReader(render(result, "csv").splitlines()) if row["metric"] == "meteor"]
    assert (row["score"], row["lower"], "|not scored:" in row["signature"]) == ("", "", True)
    assert "| METEOR | – |" in render(result, "markdown")
    assert "METEOR has no score" in render(result, "latex")
    assert "METEOR has no score" in render_html(result, title="a")

    compared = sacrecap.compare(TWO[0], {"a": TWO[1], "b": {"1": "a dog", "2": "cats"}}, samples=20)
    assert math.isnan(compared.pair("a", "b", "meteor").delta)
    assert not compared.pair("a", "b", "meteor").significant
    assert note in compared.notes


@pytest.mark.usefixtures("nothing_installed")
def test_without_tables_a_name_is_refused_and_agreement_leaves_meteor_out() -> None:
    with pytest.raises(MissingDependencyError, match=r"pip install 'sacrecap\[meteor\]'"):
        sacrecap.score(*TWO, "meteor")
    with pytest.warns(SacrecapWarning, match=r"METEOR is left out: its tables are not installed"):
        ranking = rank_references({"1": ["a dog runs", "a dog ran", "cats"]}, ["1"], "coco")
    assert "METEOR" not in str(ranking)


def test_no_warning_with_tables() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "meteor" in sacrecap.score({"1": ["a"], "2": ["b"]}, {"1": "a", "2": "b"}, "coco", interval=None)


def test_the_largest_score_is_the_largest_weight_of_a_module() -> None:
    assert Meteor().largest == 1
    assert Meteor(exact=0.3, stem=0.6, synonym=0.8, paraphrase=0.5).largest == 0.8
