"""A contest in a folder: what it declares, which files count, what its board tells before and after the end."""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from runner import Runner
from sacrecap import example
from sacrecap.boards import Contest, contest_board
from sacrecap.errors import DataError, SacrecapError, UsageError
from sacrecap.report.html import render_html

REFERENCES = example.references()
SYSTEMS = example.systems()
IMAGES = list(REFERENCES)
PRIVATE = IMAGES[::3] + IMAGES[1::3][:10]
AFTER = dt.datetime(2100, 1, 1, tzinfo=dt.timezone.utc)
HALF = "ends = 2099-01-01T00:00:00Z\n[private]\nshare = 50"


def cut(name: str, words: int) -> dict[str, str]:
    return {image: " ".join(text.split()[:-words]) for image, text in SYSTEMS[name].items()}


FILES: dict[str, dict[str, dict[str, str]]] = {
    "One": {"001-careful2": cut("careful", 2), "002-careful": SYSTEMS["careful"], "003-careful1": cut("careful", 1)},
    "Two": {"001-plain": SYSTEMS["plain"], "002-template": SYSTEMS["template"]},
    "Three": {"001-mixed": {**SYSTEMS["careful"], **{image: SYSTEMS["template"][image] for image in IMAGES[::2]}}},
}


Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Makes the folder of a contest, with its references beside it."""

    def made(
        declared: str = "",
        sets: Mapping[str, object] = {"c5": REFERENCES},
        files: Mapping[str, Mapping[str, object]] = FILES,
    ) -> Path:
        folder = tmp_path / "contest"
        folder.mkdir(exist_ok=True)
        (tmp_path / "hidden").mkdir(exist_ok=True)
        for name, references in sets.items():
            (tmp_path / f"hidden/{name}.json").write_text(json.dumps(references))
        metrics = "" if "metrics" in declared else "metrics = 'cider-d, bleu-4, rouge-l'\n"
        named = "" if "references" in declared else f"references = {[f'../hidden/{name}.json' for name in sets]}\n"
        (folder / "contest.toml").write_text(f"{metrics}{named}{declared}\n")
        for team, own in files.items():
            for name, captions in own.items():
                add(folder, f"{team}/{name}.json", json.dumps(captions))
        return folder

    return made


def add(folder: Path, name: str, text: str) -> Path:
    path = folder / "submissions" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def rows(folder: Path, now: dt.datetime | None = None) -> list[str]:
    return [row.system for row in Contest.load(folder).board(now).first.rows]


# What is declared.


def test_all_that_can_be_declared(make: Make) -> None:
    contest = Contest.load(
        make(
            """
title = "Ours"
host = "A lab"
rules = "One team each."
starts = 2026-11-01T00:00:00Z
ends = 2027-02-01T23:59:59+01:00
metrics = ["cider-d", "chair-i"]
rank_by = "chair-i"
rows = 2
objects = "../hidden/objects.json"
[quota]
day = 5
month = 60
[private]
share = 50
[limits]
most_same = 20"""
        )
    )
    assert (contest.title, contest.host, contest.rules, contest.metrics) == (
        "Ours",
        "A lab",
        "One team each.",
        "cider-d, chair-i",
    )
    assert (contest.rank_by, contest.rows, contest.private) == ("chair-i", 2, 50)
    assert (contest.quota.day, contest.quota.week, contest.quota.month) == (5, None, 60)
    assert (contest.limits.most_same, contest.limits.most_degenerate) == (20, 5)
    assert contest.starts is not None
    assert contest.ends is not None
    second = dt.timedelta(seconds=1)
    phases = [
        contest.phase(at) for at in (contest.starts - second, contest.starts, contest.ends - second, contest.ends)
    ]
    assert phases == ["before", "open", "open", "over"]
    assert [contest.part(at) for at in (contest.starts, contest.ends)] == ["public", "private"]


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ("ends = 2027-02-01", "ends must be a date and time with its zone"),
        ("ends = 2027-02-01T00:00:00", "ends must be a date and time with its zone"),
        ("ends = '2027-02-01T00:00:00Z'", "without quotes"),
        ("ends = 2027-02-30T00:00:00Z", r"contest\.toml: "),
        ("starts = 2027-02-01T00:00:00Z\nends = 2027-02-01T00:30:00+01:00", "is not after starts"),
        ("[private]\nshare = 50", "has a private part and no ends"),
        ("ends = 2027-02-01T00:00:00Z\n[private]\nshare = 96", r"private\.share must be a whole number from 1 to 95"),
        ("ends = 2027-02-01T00:00:00Z\n[private]", r"\[private\] has no share"),
        (f"rules = {'[' * 5000}", r"contest\.toml: "),
        ("private = 50", "private must be a table of settings, got 50"),
        ("metric = 'cider'", "unknown key metric; did you mean metrics"),
        ("[quota]\nhour = 1", r"unknown key quota\.hour; known are day, week, month"),
        ("[quota]\nday = -1", r"quota\.day must be a whole number from 0"),
        ("rows = 0", "rows must be a whole number from 1"),
        ("rows = true", "rows must be"),
        ("title = ''", "title must be text"),
        ("references = []", "references must be a list of at least 1"),
        ("references = [3]", "references"),
        ("references = ['../hidden/c5.json', '../hidden/old/c5.json']", "references has two files called c5"),
        (
            "references = 'hidden/c5.json'",
            r"references has hidden/c5\.json, which lies in the folder that participants",
        ),
        ("references = '../contest/./c5.json'", r"keep it outside, as \.\./hidden/c5\.json"),
        ("objects = 'objects.json'", "objects has objects.json, which lies in the folder"),
        ("title = ", r"contest\.toml: "),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(make: Make, declared: str, told: str) -> None:
    folder = make(declared)
    with pytest.raises(DataError, match=told) as refused:
        Contest.load(folder)
    assert "\n" not in str(refused.value)
    assert "contest.toml" in str(refused.value)


def test_references_that_a_link_takes_into_the_folder_are_refused(make: Make, tmp_path: Path) -> None:
    folder = make("references = '../hidden/linked.json'")
    (folder / "seen.json").write_text(json.dumps(REFERENCES))
    (tmp_path / "hidden/linked.json").symlink_to(folder / "seen.json")
    with pytest.raises(DataError, match="lies in the folder that participants see"):
        Contest.load(folder)
    (tmp_path / "other").symlink_to(folder)
    (folder / "contest.toml").write_text("references = 'seen.json'")
    with pytest.raises(DataError, match="lies in the folder that participants see"):
        Contest.load(tmp_path / "other")


def test_a_folder_without_a_declaration_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such folder"):
        Contest.load(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"has no contest\.toml"):
        Contest.load(tmp_path)
    (tmp_path / "contest.toml").write_text("title = 'x'")
    with pytest.raises(DataError, match="has no references"):
        Contest.load(tmp_path)


# The board.

RECORDED = json.loads((Path(__file__).parent / "recorded_boards.json").read_text())
"""What the boards of the server that this replaces told of the same files: ranks, attempts, system, score, interval."""


def told(board: Any) -> dict[str, dict[str, list[Any]]]:
    return {
        key: {
            row.team: [
                *(place.first, place.last, place.attempts, row.system.partition("-")[2]),
                *(row.scores[key].value, *row.scores[key].interval),
            ]
            for row in board.rows
            for place in [row.standings[key]]
        }
        for key in board.metrics
    }


def assert_recorded(board: Any, name: str) -> None:
    for key, teams in told(board).items():
        assert teams.keys() == RECORDED[name][key].keys()
        for team, numbers in teams.items():
            # That server rounded before it allowed for attempts.
            assert numbers[:5] == RECORDED[name][key][team][:5]
            assert numbers[5:] == pytest.approx(RECORDED[name][key][team][5:], abs=1.01e-4)


def test_the_numbers_of_both_parts_and_the_choice_are_those_of_the_server(make: Make, tmp_path: Path) -> None:
    folder = make(HALF)
    (tmp_path / "hidden/c5.private.json").write_text(json.dumps({"nonce": "x", "images": PRIVATE}))
    add(folder, "Two/final", "002-template.json\n")
    contest = Contest.load(folder)
    assert_recorded(contest.board().first, "public")
    assert_recorded(contest.board(AFTER).first, "private")


def test_the_numbers_of_two_sets_of_references_are_those_of_the_server(make: Make) -> None:
    second = {image: REFERENCES[image][:2] for image in IMAGES[:40]}
    made = Contest.load(make(sets={"c5": REFERENCES, "c2": second})).board()
    assert list(made.sets) == ["c5", "c2"]
    assert_recorded(made.sets["c5"], "c5")
    assert_recorded(made.sets["c2"], "c2")


def test_what_a_team_is_told_of_a_file_is_what_the_board_tells(make: Make) -> None:
    second = {image: REFERENCES[image][:2] for image in IMAGES[:40]}
    folder = make(HALF, {"c5": REFERENCES, "c2": second}, {"Three": FILES["Three"]})
    contest = Contest.load(folder)
    data = json.dumps(FILES["Three"]["001-mixed"]).encode()
    assert contest.problems(data) == []
    for now, part in ((None, "public"), (AFTER, "private")):
        own, made = contest.told(data, now), contest.board(now)
        assert (own["part"], made.part) == (part, part)
        for name, board in made.sets.items():
            [row] = board.rows
            assert own["sets"][name]["scores"] == {key: score.value for key, score in row.scores.items()}
            assert own["sets"][name]["intervals"] == {key: [*score.interval] for key, score in row.scores.items()}  # type: ignore[misc]
    with pytest.raises(DataError, match="is not part of this contest"):
        contest.told(b'{"elsewhere": "a dog"}')


def test_a_board_shows_so_many_rows_of_a_team_and_its_choice_first(make: Make) -> None:
    folder = make()
    assert rows(folder) == ["One/002-careful", "Three/001-mixed", "Two/001-plain"]
    assert ">Two</text>" in render_html(Contest.load(folder).board())
    (folder / "contest.toml").write_text((folder / "contest.toml").read_text() + "rows = 2\n")
    add(folder, "One/final", "001-careful2.json")
    of_team = [system for system in rows(folder) if system.startswith("One/")]
    assert of_team == ["One/002-careful", "One/001-careful2"]
    page = render_html(Contest.load(folder).board())
    assert all(f">{name}</text>" in page for name in ("One/002-careful", "One/001-careful2", "Two/001-plain"))
    add(folder, "Two/final", "../One/002-careful.json")
    assert Contest.load(folder).board().left_out == [
        "submissions/Two/final: names '../One/002-careful.json', which is no submission; the best counts"
    ]


def test_equal_files_of_a_team_the_earlier_counts_by_its_number(make: Make) -> None:
    files = {f"{number}-{number}": SYSTEMS["plain"] for number in (10, 9, 100)}
    assert rows(make(files={"A": files})) == ["A/9-9"]


def test_private_scores_are_not_told_before_the_end(make: Make, tmp_path: Path) -> None:
    """Whatever references the private images have, all that is written is the same, but for document frequencies."""
    folder = make(f"metrics = 'bleu-4, rouge-l'\n{HALF}")
    (tmp_path / "hidden/c5.private.json").write_text(json.dumps({"nonce": "x", "images": PRIVATE}))
    contest = Contest.load(folder)
    contest.board().write(tmp_path / "site")
    before = {path.name: path.read_bytes() for path in (tmp_path / "site").iterdir()}
    assert before.keys() == {"index.html", "board.json"}
    assert not any(image in before["index.html"].decode() for image in PRIVATE)
    other = {**REFERENCES, **{image: ["something else"] * len(REFERENCES[image]) for image in PRIVATE}}
    (tmp_path / "hidden/c5.json").write_text(json.dumps(other))
    Contest.load(folder).board().write(tmp_path / "site")
    assert {path.name: path.read_bytes() for path in (tmp_path / "site").iterdir()} == before
    Contest.load(folder).board(AFTER).write(tmp_path / "site")
    assert (tmp_path / "site/private.json").read_bytes() == (tmp_path / "hidden/c5.private.json").read_bytes()
    assert json.loads((tmp_path / "site/board.json").read_text())["part"] == "private"


def test_private_scores_never_choose(make: Make, tmp_path: Path) -> None:
    """Of two files, the one that is better on the public images counts, before the end and after it."""
    public, private = (
        {image: SYSTEMS["careful" if (image in PRIVATE) == is_private else "template"][image] for image in IMAGES}
        for is_private in (False, True)
    )
    folder = make(HALF, files={"One": {"001-private": private, "002-public": public}})
    (tmp_path / "hidden/c5.private.json").write_text(json.dumps({"nonce": "x", "images": PRIVATE}))
    contest = Contest.load(folder)
    assert [[row.system for row in contest.board(now).first.rows] for now in (None, AFTER)] == [["One/002-public"]] * 2
    # What was found of the files is of another part, and not remembered.
    others = {"nonce": "x", "images": [image for image in IMAGES if image not in PRIVATE]}
    (tmp_path / "hidden/c5.private.json").write_text(json.dumps(others))
    assert rows(folder) == ["One/001-private"]


def test_the_private_part_is_drawn_once_and_beside_the_references(make: Make, tmp_path: Path) -> None:
    folder = make(HALF)
    drawn: list[bytes] = []
    threads = [threading.Thread(target=lambda: drawn.append(Contest.load(folder).private_part.data)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(drawn) == 8
    assert len(set(drawn)) == 1
    assert sorted(path.name for path in (tmp_path / "hidden").iterdir()) == ["c5.json", "c5.private.json"]
    document = json.loads(drawn[0])
    assert len(document["images"]) == 30
    contest = Contest.load(folder)
    assert set(contest.public_images()) == set(IMAGES) - set(document["images"])
    assert contest.public_images(AFTER) == contest.images() == IMAGES
    checksum = json.loads(json.dumps(contest.board().to_dict()))["private"]["sha256"]
    assert checksum == contest.private_part.checksum
    assert checksum in render_html(contest.board())


def test_whoever_guesses_the_private_images_does_not_see_it_in_the_checksum(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("secrets.randbits", lambda bits: 7)
    folder = make(HALF)
    first = Contest.load(folder).private_part
    (tmp_path / "hidden/c5.private.json").unlink()
    second = Contest.load(folder).private_part
    assert first.images == second.images
    assert first.checksum != second.checksum


def test_a_private_part_of_other_references_is_refused(make: Make, tmp_path: Path) -> None:
    folder = make(HALF)
    path = tmp_path / "hidden/c5.private.json"
    for text in (json.dumps({"images": PRIVATE[:-1]}), json.dumps({"images": [*PRIVATE[:-1], "x"]}), "[]", "{"):
        path.write_text(text)
        with pytest.raises(DataError, match=r"c5\.private\.json: "):
            Contest.load(folder).board()
    path.unlink()
    make(HALF, {"c5": {image: REFERENCES[image] for image in IMAGES[:3]}})
    with pytest.raises(DataError, match="leaves a part without two"):
        Contest.load(folder).board()


def test_a_private_part_of_another_contest_is_refused(make: Make, tmp_path: Path) -> None:
    """Two contests on one set of references: the one that ends first would tell the private images of the other."""
    folder = make(HALF)
    first = Contest.load(folder).private_part
    shutil.copytree(folder, tmp_path / "second")
    with pytest.raises(
        DataError, match=r"c5\.private\.json: was drawn for the contest 'contest', and this is 'second'"
    ):
        Contest.load(tmp_path / "second").board()
    assert Contest.load(folder).private_part == first


def test_contests_of_one_set_of_references_remember_their_files_apart(make: Make, tmp_path: Path) -> None:
    folder = make()
    shutil.copytree(folder, tmp_path / "second")
    for name in ("contest", "second"):
        Contest.load(tmp_path / name).board()
    assert sorted(path.name for path in (tmp_path / "hidden").glob("*.scores.json")) == [
        "contest.scores.json",
        "second.scores.json",
    ]


def test_a_second_set_of_other_images_is_refused(make: Make) -> None:
    with pytest.raises(DataError, match=r"c2\.json: has images that c5\.json lacks: elsewhere"):
        Contest.load(make(sets={"c5": REFERENCES, "c2": {"elsewhere": ["a dog"]}})).board()


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ("metrics = 'ciderr'", "ciderr"),
        ("rank_by = 'spice'", "cannot be ranked by 'spice'"),
        ("tokenizer = 'x'", "tokenizer"),
        ("references = '../hidden/nothing.json'", "no such file"),
        ("metrics = 'chair-i'\nobjects = '../hidden/nothing.json'", "no such file"),
    ],
)
def test_a_check_says_that_no_board_can_be_made(make: Make, declared: str, told: str) -> None:
    Contest.load(make()).check()
    with pytest.raises(SacrecapError, match=told):
        Contest.load(make(declared)).check()


@pytest.mark.parametrize(("changed", "told"), [({IMAGES[0]: []}, IMAGES[0]), (None, "any image")])
def test_references_that_an_image_lacks_are_the_hosts_fault_and_no_teams(make: Make, changed: Any, told: str) -> None:
    """They were told on the board as a problem of each file, with the folder in which they lie."""
    folder = make(sets={"c5": {} if changed is None else {**REFERENCES, **changed}})
    for made in (Contest.load(folder).check, Contest.load(folder).board):
        with pytest.raises(DataError, match=rf"c5\.json: has no reference of {told}"):
            made()


def test_a_contest_without_submissions_has_a_board(make: Make, tmp_path: Path) -> None:
    made = Contest.load(make(HALF, files={})).board()
    assert (made.first.rows, made.first.images) == ([], 30)
    made.write(tmp_path / "site")
    assert "Ranked by" in (tmp_path / "site/index.html").read_text()
    assert "CIDEr-D" in str(made)


def test_what_was_found_of_a_file_is_not_computed_again(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless references or rules have changed; and a file of memory that is no such thing is begun anew."""
    folder = make()
    add(folder, "Bad/001.json", "[3]")
    contest = Contest.load(folder)
    before = contest.board().to_dict()
    stored = json.loads((tmp_path / "hidden/contest.scores.json").read_text())["files"]
    assert list(stored) == sorted(stored)
    assert len(stored) > 5  # so that no order by chance is this one
    examined: list[str] = []
    real = contest_board.ContestScoring.examined

    def counted(self: Any, data: bytes, system: str) -> Any:
        examined.append(system)
        return real(self, data, system)

    monkeypatch.setattr(contest_board.ContestScoring, "examined", counted)
    assert contest.board().to_dict() == before
    assert examined == []
    add(folder, "New/001.json", json.dumps(cut("plain", 1)))
    contest.board()
    assert examined == ["New/001"]
    changed = {**REFERENCES, IMAGES[0]: REFERENCES[IMAGES[1]]}
    for change in (
        lambda: (tmp_path / "hidden/contest.scores.json").write_text("{"),
        lambda: (tmp_path / "hidden/c5.json").write_text(json.dumps(changed)),
        lambda: (folder / "contest.toml").write_text((folder / "contest.toml").read_text() + "[limits]\nmost_same = 9"),
    ):
        change()
        del examined[:]
        Contest.load(folder).board()
        assert len(examined) == 7 + 1


# The folder: what is not followed, and what changes.


def test_links_and_other_things_in_the_folder_are_left_out_with_a_word(make: Make, tmp_path: Path) -> None:
    folder = make()
    hidden = tmp_path / "hidden/c5.json"
    (folder / "submissions/One/004-link.json").symlink_to(hidden)
    (folder / "submissions/Linked").symlink_to(tmp_path / "hidden")
    (folder / "submissions/One/deeper").mkdir()
    add(folder, "alone.json", "{}")
    add(folder, "One/page.html", "<script>")
    add(folder, "One/.tmp-1.json", "{")
    add(folder, "_aside/x.json", "{")
    os.mkfifo(folder / "submissions/One/pipe.json")
    made = Contest.load(folder).board()
    assert len(made.first.rows) == 3
    assert made.first.refused == {}
    assert made.left_out == [
        "submissions/'Linked': a link, which is not followed",
        "submissions/One/'004-link.json': a link, which is not followed",
        "submissions/One/deeper: no file",
        "submissions/One/page.html: names of submissions end in .json, .jsonl, .csv, .tsv, .txt",
        "submissions/One/pipe.json: no file",
        "submissions/alone.json: no folder of a team",
    ]
    (folder / "submissions/Two/final").symlink_to(hidden)
    assert rows(folder)
    (folder / "submissions").rename(tmp_path / "elsewhere")
    (folder / "submissions").symlink_to(tmp_path / "elsewhere")
    assert Contest.load(folder).board().left_out == ["submissions: a link, which is not followed"]


def test_a_file_that_vanishes_is_half_written_or_turns_into_a_link_is_left_out(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make()
    add(folder, "Half/001.json", json.dumps(SYSTEMS["plain"])[:-100])
    contest = Contest.load(folder)
    found = contest.submissions()
    (folder / "submissions/One/002-careful.json").unlink()
    path = folder / "submissions/One/003-careful1.json"
    path.unlink()
    path.symlink_to(tmp_path / "hidden/c5.json")
    monkeypatch.setattr(Contest, "submissions", lambda _: found)
    made = contest.board()
    assert [row.system for row in made.first.rows if row.team == "One"] == ["One/001-careful2"]
    assert list(made.first.refused) == ["Half/001"]
    assert [text.partition(": ")[0] for text in made.left_out] == [
        "submissions/One/002-careful.json",
        "submissions/One/003-careful1.json",
    ]
    assert str(tmp_path) not in render_html(made)


@pytest.mark.parametrize("text", ["", "{", "[3]", '{"a": null}', "PK\x03\x04", "[" * 100_000, "\0", '{"x": "a"}'])
def test_no_file_of_a_team_ends_a_board(make: Make, text: str) -> None:
    folder = make()
    add(folder, "Bad/001.json", text)
    made = Contest.load(folder).board()
    assert list(made.first.refused) == ["Bad/001"]
    assert len(made.first.rows) == 3


def test_names_of_any_kind_are_shown_as_text(make: Make) -> None:
    folder = make(files={"<script>alert(1)</script>": {}, "A b": FILES["Three"]})
    add(folder, "<b>x/=1+1.json", json.dumps(SYSTEMS["plain"]))
    page = render_html(Contest.load(folder).board())
    assert "<b>x" not in page
    assert "&lt;b&gt;x/=1+1" in page


def test_a_name_from_right_to_left_keeps_its_place(make: Make) -> None:
    made = Contest.load(make(files={"مرحبا": FILES["Three"], "B": FILES["Two"]})).board()
    name = "\u2068مرحبا\u2069/\u2068001-mixed\u2069"
    assert render_html(made).count(name) >= 4
    assert {row.system for row in made.first.rows} == {"مرحبا/001-mixed", "B/001-plain"}


def test_problems_are_told_by_rows(make: Make) -> None:
    contest = Contest.load(make())
    entries: list[object] = [{"image_id": image, "caption": text} for image, text in SYSTEMS["plain"].items()]
    assert contest.problems(json.dumps(entries).encode()) == []
    wrong = [*entries[2:], 3, {"image_id": "x", "caption": "a dog"}, {"image_id": IMAGES[5]}]
    told = contest.problems(json.dumps(wrong).encode())
    assert told == [
        'Entry 59: it is not an object {"image_id": …, "caption": "…"}.',
        "Entry 61: its caption must be text, got nothing.",
        f"Image {IMAGES[5]!r} has several captions; give one.",
        "Image 'x' is not part of this contest.",
        f"2 images have no caption: {IMAGES[0]!r}, {IMAGES[1]!r}.",
    ]
    [refused] = contest.problems(json.dumps({**SYSTEMS["plain"], IMAGES[0]: "a dog\0 runs over the beach"}).encode())
    assert "U+0000" in refused or "zero" in refused
    assert contest.problems(b"PK\x03\x04")[0].startswith("This is a zip file.")
    [same] = contest.problems(json.dumps(dict.fromkeys(IMAGES, "a man on a horse")).encode())
    assert "60 of 60 captions are the same" in same


# The command.


def test_the_command_makes_the_site_of_a_folder(make: Make, run: Runner, tmp_path: Path) -> None:
    make(HALF)
    done = run.here("board", "contest", "-o", "site")
    assert (done.status, done.stderr) == (0, "")
    assert "c5, public images: 30 images" in done.stdout
    document = json.loads((tmp_path / "site/board.json").read_text())
    assert document["sets"]["c5"]["systems"]["One/002-careful"]["team"] == "One"
    for name, option in (("--metrics", "rouge-l"), ("--most-same", "9"), ("--title", "x"), ("--objects", "x.json")):
        done = run.here("board", "contest", name, option)
        assert done.status == 2
        assert f"{name} is declared in contest/contest.toml" in done.stderr
    done = run.here("board", "contest", "-o", "hidden")
    assert done.status == 2
    assert "which participants must not see" in done.stderr


@pytest.mark.parametrize("format_", ["json", "csv", "markdown", "latex"])
def test_each_format_has_every_set_and_team(make: Make, run: Runner, format_: str) -> None:
    make(sets={"c5": REFERENCES, "c2": {image: texts[:2] for image, texts in REFERENCES.items()}})
    printed = run.here("board", "contest", "--format", format_).stdout
    assert all(name in printed for name in ("c5", "c2", "One/002-careful", "Two/001-plain"))


@pytest.mark.parametrize("rules", ["", "rules = 'Be fair.'"])
def test_a_page_has_a_tab_for_each_set_of_references(make: Make, rules: str) -> None:
    many = {image: texts[:2] for image, texts in REFERENCES.items()}
    page = render_html(Contest.load(make(rules, {"c5": REFERENCES, "c2": many})).board())
    assert page.count('type="radio"') == 2
    assert page.count(">Ranks</h2>") == 2
    assert ("Be fair." in page) == bool(rules)
    ids = [part.partition('"')[0] for part in page.split(' id="')[1:]]
    assert len(ids) == len(set(ids))
    assert not any(caption in page for texts in REFERENCES.values() for caption in texts)


def test_scores_of_others_and_objects_are_metrics_of_a_contest(make: Make, tmp_path: Path) -> None:
    folder = make("metrics = 'cider-d, chair-i'\nrank_by = 'chair-i'\nobjects = '../hidden/objects.json'")
    (tmp_path / "hidden/objects.json").write_text(json.dumps(example.objects()))
    made = Contest.load(folder).board()
    assert made.first.rank_by == "chair-i"
    (folder / "contest.toml").write_text("references = '../hidden/c5.json'\nmetrics = 'cider-d'\nrank_by = 'meteor'")
    for of in (Contest.board, Contest.check):
        with pytest.raises(UsageError, match="cannot be ranked by 'meteor'"):
            of(Contest.load(folder))
