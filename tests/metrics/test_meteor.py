"""METEOR equals the original program, and neither hangs nor explodes."""

from __future__ import annotations

import csv
import gzip
import importlib.metadata
import json
import math
import os
import random
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import ModuleSpec
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import numpy as np
import pytest

import sacrecap
import sacrecap_meteor
from oracle.meteor import INSTALLED, METEOR_JAR, SUITE, Original
from sacrecap import SacrecapWarning, _core, example
from sacrecap.errors import DataError, MissingDependencyError, UsageError
from sacrecap.judgments import rank_references
from sacrecap.metrics import Meteor
from sacrecap.metrics.meteor import language_tables as meteor_tables
from sacrecap.metrics.meteor import sources
from sacrecap.report.html import render_html
from sacrecap.report.score_formats import render

GOLDENS = Path(__file__).parents[1] / "goldens"
Package = Callable[[str, bytes], Path]
CAPTIONS = [caption for captions in example.references().values() for caption in captions]


@pytest.mark.java
def test_random_pairs_against_the_original(release: Path, cache: Path) -> None:
    """With paraphrases made up for the purpose: the program takes half a minute to read its own five million."""
    chance = random.Random(0)
    tokens = [" ".join(words) for words in sacrecap.tokenize(CAPTIONS)]
    references, candidates = {}, {}
    for number in range(120):
        candidates[str(number)] = _edited(chance, chance.choice(tokens))
        references[str(number)] = [*chance.sample(tokens, chance.randint(1, 4)), chance.choice(tokens)]
    table = release / "data" / "paraphrase-en.gz"
    table.write_bytes(gzip.compress("".join(_paraphrase(chance, tokens) for _ in range(1000)).encode()))
    score, without = sacrecap.score(
        references,
        candidates,
        "meteor,meteor(paraphrase=0)",
        tokenizer="none",
        interval=None,
        meteor_resources=str(release),
    ).values()
    with Original(*SUITE, "-a", str(table)) as original:
        segments, corpus = original.scores(
            [original.statistics(candidates[image], references[image]) for image in references]
        )
    assert score.per_image.tolist() == pytest.approx(segments, abs=1e-12)
    assert score.value == pytest.approx(corpus, abs=1e-12)
    assert np.mean(score.per_image != without.per_image) > 0.2


def _paraphrase(chance: random.Random, sentences: list[str]) -> str:
    """An entry of a table: a probability and two phrases of one to three words."""
    phrases = []
    for _ in range(2):
        words = chance.choice(sentences).split()
        start = chance.randrange(len(words))
        phrases.append(" ".join(words[start : start + chance.randint(1, 3)]))
    return "\n".join((str(chance.random()), *phrases)) + "\n"


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
        ("a big dog runs along the beach " * 70, ["the large dog is running on a beach " * 60] * 5),
        ("", ["a dog"]),
        ("... !!! ???", [". , ;"]),
        ("собака 狗 كلب dog 🐕 ÄÖÜ ﬁ", ["dog собака", "狗 كلب"]),
    ],
    ids=["one word", "forty references", "long", "empty", "punctuation", "scripts"],
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
    assert meteor_tables.cache_folder() == user_cache_dir("sacrecap")


def test_a_sentence_too_long_to_align_is_refused() -> None:
    with pytest.raises(DataError, match=r"image '7': a sentence of 2,001 words; METEOR takes up to 2,000"):
        sacrecap.score({"7": ["a dog"]}, {"7": "dog " * 2001}, "meteor")


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


def test_other_languages(cache: Path, release: Path) -> None:
    german = {"1": ["Der Hund läuft am Strand."], "2": ["Zwei Männer warten."]}
    with pytest.warns(SacrecapWarning, match="no paraphrase table of de in it; METEOR matches words of language de"):
        result = sacrecap.score(
            german,
            {"1": "Die Hunde laufen am Strand.", "2": "Zwei Männer warten."},
            "meteor(language=de)",
            meteor_resources=str(release),
            interval=None,
        )
    [score] = result.values()
    assert score.per_image[1] == 1
    assert "|language:de|task:rank|alpha:0.95|" in score.signature
    assert "|modules:exact+stem|" in score.signature
    assert Meteor(language="tr").task == "li"
    with pytest.raises(UsageError, match="METEOR: tr has no task 'rank'; its tasks: li"):
        Meteor(language="tr", task="rank")


def test_two_languages_are_counted_each_with_its_own_tables(cache: Path, release: Path) -> None:
    references, candidates = {"1": ["Der Hund läuft."], "2": ["Zwei Männer."]}, {"1": "Die Hunde laufen.", "2": "Zwei"}

    def score(metrics: str) -> sacrecap.Result:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SacrecapWarning)  # of the German paraphrases that the release lacks
            return sacrecap.score(references, candidates, metrics, meteor_resources=str(release), interval=None)

    both = score("meteor,meteor(language=de)")
    for key, one in both.items():
        assert one.per_image.tolist() == score(key)[key].per_image.tolist()
        assert one.signature == score(key)[key].signature
    [mean] = score("combine(meteor, meteor(language=de))").values()
    english, german = both.values()
    assert mean.per_image == pytest.approx((english.per_image + german.per_image) / 2)


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


def small_release(folder: Path, paraphrase: str = "two birds\na pair") -> Path:
    """A METEOR release: the real jar, a paraphrase table of one pair."""
    (folder / "data").mkdir(parents=True)
    shutil.copy(INSTALLED / METEOR_JAR, folder)
    (folder / "data" / "paraphrase-en.gz").write_bytes(f"0.5\n{paraphrase}\n".encode())
    return folder


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A small METEOR release of the test's own."""
    return small_release(tmp_path / "meteor-1.5")


def test_the_tables_of_a_release_are_built_once_and_again_when_damaged_or_changed(cache: Path, release: Path) -> None:
    shares: list[float] = []
    first = meteor_tables.load(release, progress=shares.append)
    assert shares
    assert shares == sorted(shares)
    [file] = cache.iterdir()
    again: list[float] = []
    assert meteor_tables.load(release, progress=again.append).checksum == first.checksum
    assert not again
    meteor_tables._open.clear()  # as in a process that comes later
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.warns(SacrecapWarning, match="METEOR's tables are made again"):
        assert meteor_tables.load(release).checksum == first.checksum
    (release / "data" / "paraphrase-en.gz").write_bytes(b"0.5\ntwo birds\nsome pair\n")
    assert meteor_tables.load(release).checksum != first.checksum
    [changed] = cache.iterdir()
    assert changed != file


def test_one_copy_serves_the_releases_of_one_content(cache: Path, release: Path, tmp_path: Path) -> None:
    first = meteor_tables.load(release)
    elsewhere = shutil.copytree(release, tmp_path / "elsewhere", copy_function=shutil.copyfile)  # with other times
    [before] = [(file, file.stat().st_mtime_ns) for file in cache.iterdir()]
    shares: list[float] = []
    assert meteor_tables.load(elsewhere, progress=shares.append).checksum == first.checksum
    assert not shares
    assert [(file, file.stat().st_mtime_ns) for file in cache.iterdir()] == [before]
    (elsewhere / "data" / "paraphrase-en.gz").write_bytes(b"0.5\ntwo birds\na pear\n")  # as long as the other
    assert meteor_tables.load(elsewhere).checksum != first.checksum


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Package:
    """Makes an installation of sacrecap-meteor with this file of English tables, and puts it in the place of the real
    one.
    """

    def make(name: str, tables: bytes) -> Path:
        folder = tmp_path / name / "sacrecap_meteor"
        shutil.copytree(Path(sacrecap_meteor.__file__).parent, folder, ignore=shutil.ignore_patterns("*.gz"))
        (folder / "data" / sources.ENGLISH).write_bytes(gzip.compress(tables, 1, mtime=0))
        spec = ModuleSpec("sacrecap_meteor", None, is_package=True)
        spec.submodule_search_locations = [str(folder)]
        monkeypatch.setattr(sources, "find_spec", lambda name: spec)
        meteor_tables._open.clear()  # as in a process that comes later
        return folder

    return make


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """English tables with one pair of paraphrases."""
    return built(small_release(tmp_path_factory.mktemp("small")))


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """English tables with another pair."""
    return built(small_release(tmp_path_factory.mktemp("other"), "two cats\na pair"))


def built(release: Path) -> bytes:
    return meteor_tables.build(sources.ReleaseFolder(release), "en", lambda _: None).to_bytes()


def test_environments_with_one_content_share_a_copy(cache: Path, package: Package, small: bytes) -> None:
    package("first environment", small)
    assert meteor_tables.load().to_bytes() == small
    [copy] = cache.iterdir()
    assert copy.read_bytes() == small
    before = copy.stat()
    folder = package("second environment", small)
    os.utime(folder / "data" / sources.ENGLISH, (0, 0))
    assert meteor_tables.load().to_bytes() == small
    assert list(cache.iterdir()) == [copy]
    assert (copy.stat().st_ino, copy.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_the_shipped_tables_show_no_progress(cache: Path, package: Package, small: bytes) -> None:
    package("environment", small)
    shares: list[float] = []
    meteor_tables.load(progress=shares.append)
    with pytest.warns(SacrecapWarning, match="without paraphrases"):
        meteor_tables.load(language="de", progress=shares.append)
    assert not shares


def test_a_new_copy_takes_the_place_of_the_old_and_of_nothing_else(
    cache: Path, package: Package, small: bytes, other: bytes
) -> None:
    version = _core.MeteorTables.VERSION
    cache.mkdir(parents=True)
    goes = [
        f"meteor-en-{version}-shipped-{'0' * 16}.tables",  # of another content
        f"meteor-en-{version - 1}-shipped-{'1' * 16}.tables",  # of an older format
    ]
    stays = [
        f"meteor-en-{version + 1}-shipped-{'2' * 16}.tables",  # of a newer sacrecap, which would write it again
        f"meteor-en-{version}-built-{'3' * 16}.tables",  # of a release
        f"meteor-de-{version}-built-{'4' * 16}.tables",  # of another language
        f"meteor-en-{version}-shipped-{'5' * 15}.tables",  # other names
        f"meteor-en-{version}-shipped-{'5' * 16}.tables.bak",
        "words-0123456789abcdef.index",
    ]
    for name in goes + stays:
        (cache / name).write_bytes(small)
    foreign = cache / f"meteor-en-{version}-shipped-{'6' * 16}.tables"
    foreign.write_text("somebody's notes")
    folder = cache / f"meteor-en-{version}-shipped-{'7' * 16}.tables"
    folder.mkdir()
    kept = {*stays, foreign.name, folder.name}
    if os.name == "posix":
        link = cache / f"meteor-en-{version}-shipped-{'8' * 16}.tables"
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


def test_a_copy_is_read_whole_once_a_day(checked: Path, whole: list[bool]) -> None:
    tables = meteor_tables.load()
    assert (whole, tables.modules) == ([False], ["exact", "stem", "synonym", "paraphrase"])
    note = checked.with_name(checked.name + ".checked")
    os.utime(note, (0, 0))
    for _ in range(2):
        meteor_tables._open.clear()
        meteor_tables.load()
    assert whole == [False, True, False]


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
        match=rf"sacrecap_meteor: a file of METEOR's tables of format version {version + 1}, but this sacrecap reads "
        rf"version {version}; install sacrecap and sacrecap-meteor again",
    ):
        meteor_tables.load()
    assert not cache.exists()


@pytest.mark.parametrize("damage", [lambda packed: packed[:-100], lambda packed: b"x" + packed[1:], lambda _: b""])
def test_a_damaged_package_is_named(
    cache: Path, package: Package, small: bytes, damage: Callable[[bytes], bytes]
) -> None:
    file = package("environment", small) / "data" / sources.ENGLISH
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(DataError, match=r"METEOR's tables cannot be read: .*; install them again"):
        meteor_tables.load()
    file.unlink()
    with pytest.raises(DataError, match=r"METEOR's tables cannot be read: .*; install them again"):
        meteor_tables.load()
    assert not cache.exists()


START = """
import os, sys
sys.stdin.read(1)
from sacrecap.metrics.meteor import language_tables
print(language_tables.load(%r).checksum)
"""


def test_two_processes_start_at_once(cache: Path, release: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", START % str(release)],
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
    assert answers == [(f"{meteor_tables.load(release).checksum}\n", "")] * 2
    assert len(list(cache.iterdir())) == 1


def test_tables_are_opened_once_a_process_until_their_files_change(
    cache: Path, release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    read = meteor_tables._copied
    monkeypatch.setattr(meteor_tables, "_copied", lambda path: opened.append(path) or read(path))
    captions = {"1": ["x two birds fly"]}, {"1": "x a pair fly"}
    for _ in range(3):
        result = sacrecap.score(*captions, "meteor", meteor_resources=str(release), interval=None)
        result.alignment("1")
        Meteor().explain("a pair", ["two birds"], resources=str(release))
    assert len(opened) == 1
    (release / "data" / "paraphrase-en.gz").write_bytes(b"0.5\ntwo birds\nsome pair\n")
    changed = sacrecap.score(*captions, "meteor", meteor_resources=str(release), interval=None)
    assert changed["meteor"].value < result["meteor"].value
    assert len(opened) == 2
    with pytest.warns(SacrecapWarning, match="without paraphrases"):
        meteor_tables.load(release, "de")
    meteor_tables.load(release)
    assert len(opened) == 3
    assert len(meteor_tables._open) == 2


def test_tables_are_opened_by_threads_at_once(cache: Path, release: Path) -> None:
    meteor_tables.load(release)
    meteor_tables._open.clear()
    with ThreadPoolExecutor(8) as threads:
        opened = list(threads.map(lambda _: meteor_tables.load(release).checksum, range(32)))
    assert len(set(opened)) == 1


@pytest.mark.parametrize("obstacle", ["a file where the folder should be", "a folder where the copy should be"])
def test_where_nothing_can_be_written_tables_are_made_in_memory(
    cache: Path, release: Path, package: Package, small: bytes, obstacle: str
) -> None:
    package("environment", small)
    if obstacle.startswith("a file"):
        cache.parent.mkdir()
        cache.write_text("notes")
    else:
        meteor_tables.load()
        meteor_tables.load(release)
        for copy in list(cache.iterdir()):
            copy.unlink()
            copy.mkdir()
        meteor_tables._open.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it costs a third of a second, so nobody needs to know
        assert meteor_tables.load().to_bytes() == small
    with pytest.warns(SacrecapWarning, match="are not kept, so each process spends seconds on them") as warned:
        assert meteor_tables.load(release).to_bytes() == small
    assert len(warned) == 1
    assert cache.read_text() == "notes" if cache.is_file() else all(copy.is_dir() for copy in cache.iterdir())


def test_a_release_is_used_for_scores(cache: Path, release: Path) -> None:
    references, candidates = {"1": ["x two birds fly"]}, {"1": "x a pair fly"}
    with_table, without = sacrecap.score(
        references, candidates, "meteor, meteor(paraphrase=0)", meteor_resources=str(release), interval=None
    ).values()
    assert with_table.value > without.value


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine with neither the package of tables nor pycocoevalcap."""

    def distribution(name: str) -> NoReturn:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(sources, "find_spec", lambda name: None)
    monkeypatch.setattr(importlib.metadata, "distribution", distribution)


TWO = {"1": ["a dog runs"], "2": ["a cat"]}, {"1": "a dog ran", "2": "a cat"}
NOT_INSTALLED = "its tables are not installed; pip install 'sacrecap[meteor]', or give the folder of a METEOR"


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
    assert document["signatures"]["meteor"].startswith(f"meteor|not scored: {NOT_INSTALLED}")
    [row] = [row for row in csv.DictReader(render(result, "csv").splitlines()) if row["metric"] == "meteor"]
    assert (row["score"], row["lower"], row["signature"][:18]) == ("", "", "meteor|not scored:")
    assert "| METEOR | – |" in render(result, "markdown")
    assert "METEOR has no score" in render(result, "latex")
    assert "METEOR has no score" in render_html(result, title="a")

    compared = sacrecap.compare(TWO[0], {"a": TWO[1], "b": {"1": "a dog", "2": "cats"}}, samples=20)
    assert math.isnan(compared.pair("a", "b", "meteor").delta)
    assert not compared.pair("a", "b", "meteor").significant
    assert note in compared.notes


@pytest.mark.usefixtures("nothing_installed")
def test_without_tables_a_name_is_refused_and_agreement_leaves_meteor_out(tmp_path: Path) -> None:
    with pytest.raises(MissingDependencyError, match=r"pip install 'sacrecap\[meteor\]'"):
        sacrecap.score(*TWO, "meteor")
    with pytest.raises(DataError, match=r"no meteor-1.5.jar in it; METEOR's tables are in the package sacrecap-meteor"):
        sacrecap.score(*TWO, "meteor", meteor_resources=str(tmp_path))
    with pytest.warns(SacrecapWarning, match=r"METEOR is left out: its tables are not installed"):
        ranking = rank_references({"1": ["a dog runs", "a dog ran", "cats"]}, ["1"], "coco")
    assert "METEOR" not in str(ranking)


@pytest.mark.soak
def test_the_package_has_the_english_tables_of_the_release_byte_for_byte() -> None:
    """METEOR 1.5 does not change any more; a small release is built by the other tests."""
    package = sources.find()
    assert isinstance(package, sources.Package)
    assert package.english() == meteor_tables.build(sources.ReleaseFolder(INSTALLED), "en", lambda _: None).to_bytes()


def test_the_package_has_the_lists_of_the_release() -> None:
    package, release = sources.find(), sources.ReleaseFolder(INSTALLED)
    assert isinstance(package, sources.Package)
    data = Path(sacrecap_meteor.__file__).parent / "data"
    lists = {path.relative_to(data).as_posix() for path in data.rglob("*") if path.is_file()} - {sources.ENGLISH}
    for name in lists:
        assert package.text(name) == release.text(name)
    needed = {prefixes for code, prefixes, *_ in _core.METEOR_LANGUAGES if prefixes and code != "en"}
    assert lists == {meteor_tables.FUNCTION_WORDS, *(f"nonbreaking/{prefixes}.prefixes" for prefixes in needed)}


def test_the_package_comes_first_and_then_the_installed_pycocoevalcap(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(sources.find(), sources.Package)
    assert isinstance(sources.find(INSTALLED), sources.ReleaseFolder)
    monkeypatch.setattr(sources, "find_spec", lambda name: None)
    # Modules put under that name, as sacrecap.compat does, are not the installation.
    monkeypatch.setitem(sys.modules, "pycocoevalcap", ModuleType("pycocoevalcap"))
    assert str(sources.find()) == os.path.realpath(INSTALLED)


def test_a_broken_release_is_named(cache: Path, release: Path) -> None:
    (release / METEOR_JAR).write_bytes(b"no jar")
    with pytest.raises(DataError, match=r"meteor-1.5: METEOR's tables cannot be read: .*; install them again"):
        meteor_tables.load(release)


def test_no_warning_with_tables() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "meteor" in sacrecap.score({"1": ["a"], "2": ["b"]}, {"1": "a", "2": "b"}, "coco", interval=None)


def test_the_largest_score_is_the_largest_weight_of_a_module() -> None:
    assert Meteor().largest == 1
    assert Meteor(exact=0.3, stem=0.6, synonym=0.8, paraphrase=0.5).largest == 0.8
