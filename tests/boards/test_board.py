"""A board: ranks by what is told, nothing told that hangs on single images."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import sacrecap
from runner import Runner
from sacrecap import example
from sacrecap.boards import Board, CaptionLimits
from sacrecap.boards import board as board_of
from sacrecap.boards.examination import degenerate
from sacrecap.boards.scored import standings
from sacrecap.errors import DataError, UsageError
from sacrecap.report.html import render_html

REFERENCES = example.references()
SYSTEMS = example.systems()
IMAGES = list(REFERENCES)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """References and the example's three systems."""
    (tmp_path / "systems").mkdir()
    (tmp_path / "references.json").write_text(json.dumps(REFERENCES))
    for name, captions in SYSTEMS.items():
        add(tmp_path, name, captions)
    return tmp_path


def add(folder: Path, name: str, captions: dict[str, str]) -> None:
    path = folder / "systems" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(captions))


def board(folder: Path, *metrics: str, **how: Any) -> Board:
    """Each file is a system of a team of its own; those of a folder are one team's."""
    inside = folder / "systems"
    teams: dict[str, dict[str, Path]] = {}
    for path in sorted(inside.rglob("*.*")):
        name = path.relative_to(inside).with_suffix("").as_posix()
        teams.setdefault(name.partition("/")[0], {})[name] = path
    return board_of(folder / "references.json", teams, *metrics, **how)


def shorter(captions: dict[str, str], words: int, images: int = 60) -> dict[str, str]:
    """The captions, those of the first images without their last words."""
    cut = set(IMAGES[:images])
    return {image: " ".join(text.split()[:-words]) if image in cut else text for image, text in captions.items()}


def test_ranks_scores_and_intervals_are_those_of_compare(folder: Path) -> None:
    made = board(folder, "cider-d, bleu-4, rouge-l")
    comparison = sacrecap.compare(REFERENCES, SYSTEMS, "cider-d, bleu-4, rouge-l")
    assert [row.system for row in made.rows] == comparison.ranking("cider-d")
    for key in made.metrics:
        assert made.ranks(key) == comparison.ranks(key)
        for row in made.rows:
            score = comparison[row.system][key]
            assert row.scores[key].value == round(score.value, 4)
            assert row.scores[key].interval == pytest.approx(score.interval, abs=5e-5)
    for told in made.pairs:
        pair = comparison.pair(told.a, told.b, told.metric)
        assert told.difference == pytest.approx(pair.delta, abs=1.01e-4)
        assert told.p is None or told.p.startswith("≥") or pair.p < float(told.p.removeprefix("< "))
        assert (told.better is not None) == pair.significant


def test_no_digit_beyond_the_fourth_leaves(folder: Path) -> None:
    def numbers(value: object) -> list[float]:
        if isinstance(value, dict):
            return [each for own in value.values() for each in numbers(own)]
        if isinstance(value, list):
            return [each for own in value for each in numbers(own)]
        return [value] if isinstance(value, float) else []

    found = numbers(board(folder).to_dict())
    assert len(found) > 50
    assert found == [round(number, 4) for number in found]


def test_a_score_that_hangs_on_one_image_is_0_and_so_is_one_of_nothing(folder: Path) -> None:
    """The attack: all other captions match nothing, so the score says whether the guess is right."""
    nonsense = {image: f"qq{place} ww rr tt{place} yy" for place, image in enumerate(IMAGES)}
    for guess in (REFERENCES[IMAGES[7]][0], "zz xx cc vv bb nn"):
        add(folder, "probe", {**nonsense, IMAGES[7]: guess})
        made = board(folder, "cider-d, bleu-4, bleu-1, rouge-l, meteor")
        [row] = [row for row in made.rows if row.system == "probe"]
        assert {(score.value, score.interval) for score in row.scores.values()} == {(0.0, (0.0, 0.0))}


def test_nothing_is_said_of_a_pair_that_differs_in_few_images(folder: Path) -> None:
    """The attack: two files that differ in one image, whose p would say whether a word is in its references."""
    one = SYSTEMS["plain"]
    ends = set()
    for guess in (REFERENCES[IMAGES[7]][0], "zz xx cc vv bb nn"):
        add(folder, "probe", {**one, IMAGES[7]: guess})
        [pair] = [pair for pair in board(folder, "cider-d").pairs if {pair.a, pair.b} == {"plain", "probe"}]
        ends.add((pair.interval, pair.p, pair.better))
    assert ends == {(None, None, None)}


def test_the_best_of_a_team_is_ranked_and_pays_for_its_attempts(folder: Path) -> None:
    for words in (3, 1, 2):
        add(folder, f"team/cut{words}", shorter(SYSTEMS["careful"], words))
    made = board(folder, "cider-d")
    [row] = [row for row in made.rows if row.team == "team"]
    alone = {**SYSTEMS, "team/cut1": shorter(SYSTEMS["careful"], 1)}
    several = sacrecap.compare(REFERENCES, alone, "cider-d", attempts={"team/cut1": 3})
    assert (row.system, row.standings["cider-d"].attempts) == ("team/cut1", 3)
    assert row.scores["cider-d"].interval == pytest.approx(several["team/cut1"]["cider-d"].interval, abs=5e-5)
    assert made.ranks() == several.ranks("cider-d")
    assert [row.team for row in made.rows if row.system.startswith("team/")] == ["team"]


def test_lower_is_better_ranks_the_lower_first(folder: Path) -> None:
    made = board(folder, "chair-i, cider-d", rank_by="chair-i", needs={"objects": example.objects()})
    comparison = sacrecap.compare(REFERENCES, SYSTEMS, "chair-i", objects=example.objects())
    assert [row.system for row in made.rows] == comparison.ranking("chair-i")
    assert made.ranks() == comparison.ranks("chair-i")


def test_equal_systems_share_all_ranks(tmp_path: Path) -> None:
    (tmp_path / "references.json").write_text(json.dumps(REFERENCES))
    for name in "ba":
        add(tmp_path, name, SYSTEMS["plain"])
    made = board(tmp_path, "cider-d")
    assert made.ranks() == {"a": (1, 2), "b": (1, 2)}
    assert [row.system for row in made.rows] == ["a", "b"]


def test_one_system_is_a_board(folder: Path) -> None:
    for name in ("plain", "template"):
        (folder / "systems" / f"{name}.json").unlink()
    made = board(folder, "cider-d")
    assert made.ranks() == {"careful": (1, 1)}
    assert made.pairs == []
    assert made.rows[0].standings["cider-d"].explanation == "the only one"
    assert made.rows[0].scores["cider-d"].interval is not None
    assert "careful" in render_html(made)


@pytest.mark.parametrize(
    ("captions", "told"),
    [
        (dict.fromkeys(IMAGES, "a man"), "60 of 60 captions are degenerate"),
        (dict.fromkeys(IMAGES, "a man on a horse"), "60 of 60 captions are the same"),
        ({IMAGES[0]: "a man on a horse"}, "No caption for 59 of 60 images: "),
        (dict.fromkeys(IMAGES, 3), "bad.json"),
    ],
    ids=["degenerate", "same", "missing", "unreadable"],
)
def test_a_file_that_breaks_the_rules_is_named_with_the_reason_and_others_are_ranked(
    folder: Path, captions: dict[str, str], told: str
) -> None:
    add(folder, "bad", captions)
    made = board(folder, "cider-d, bleu-4")
    assert list(made.refused) == ["bad"]
    assert told in " ".join(made.refused["bad"])
    assert str(folder) not in " ".join(made.refused["bad"])
    assert len(made.rows) == len(SYSTEMS)
    assert "bad" in render_html(made)


def test_limits_can_be_moved(folder: Path) -> None:
    add(folder, "same", dict.fromkeys(IMAGES, "a man on a horse"))
    assert "same" in board(folder, "cider-d").refused
    assert board(folder, "cider-d", limits=CaptionLimits(most_same=100)).refused == {}


def test_what_a_board_lacks_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no system can be scored"):
        board_of(REFERENCES, {})
    (tmp_path / "references.json").write_text(json.dumps(REFERENCES))
    add(tmp_path, "bad", {IMAGES[0]: "a man on a horse"})
    with pytest.raises(DataError, match="no system can be scored: bad: No caption for 59"):
        board(tmp_path)
    with pytest.raises(UsageError, match="cannot be ranked by 'meteor'; its metrics are cider-d"):
        board(tmp_path, "cider-d", rank_by="meteor")
    with pytest.raises(UsageError, match="two teams have a system called 'x'"):
        board_of(REFERENCES, {team: {"x": SYSTEMS["plain"]} for team in "ab"})


def test_the_command_writes_the_same_site_twice_and_from_another_place(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, run: Runner
) -> None:
    """Once in this process, once in another."""
    sites = []
    for how in (Runner.here, Runner.__call__):
        there = tmp_path_factory.mktemp("place")
        shutil.copytree(folder, there / "contest")
        add(there / "contest", "bad", {IMAGES[0]: "a man on a horse"})
        options = ("-o", "site", "--metrics", "cider-d, bleu-4", "--title", "Our board")
        done = how(Runner(there), "board", "contest/references.json", "contest/systems", *options)
        assert (done.status, done.stderr) == (0, "")
        assert "careful" in done.stdout
        sites.append({path.name: path.read_bytes() for path in (there / "site").iterdir()})
    assert sites[0] == sites[1]
    assert set(sites[0]) == {"board.json", "index.html"}
    document = json.loads(sites[0]["board.json"])
    assert document["systems"]["careful"]["ranks"] == {"cider-d": [1, 1], "bleu-4": [1, 1]}
    page = sites[0]["index.html"].decode()
    assert "Our board" in page
    assert not any(caption in page for texts in REFERENCES.values() for caption in texts)


def test_the_site_is_not_where_the_references_are(folder: Path, run: Runner) -> None:
    done = run.here("board", "references.json", "systems", "--metrics", "cider-d", "-o", ".")
    assert done.status == 2
    assert "holds references.json, which participants must not see" in done.stderr
    assert not (folder / "index.html").exists()


@pytest.mark.parametrize("format_", ["json", "csv", "markdown", "latex"])
def test_each_format_has_every_system(folder: Path, run: Runner, format_: str) -> None:
    printed = run.ok("board", "references.json", "systems", "--metrics", "cider-d", "--format", format_)
    assert all(system in printed for system in SYSTEMS)


def test_the_page_says_who_is_better_than_whom(folder: Path) -> None:
    page = render_html(board(folder, "cider-d"))
    assert "careful is better than template, p &lt; 0.001 before the correction" in page
    assert page.count('class="chart ') == 1
    assert "<noscript>" not in page


def test_a_board_prints_itself(folder: Path) -> None:
    made = board(folder, "cider-d")
    assert isinstance(made, Board)
    assert "careful" in str(made)
    assert "<table" in made._repr_html_()


ASKING = {image: f"zz{place} qq{place} ww{place} rr{place}" for place, image in enumerate(IMAGES)}
KNOWN, ONE_WITH = [image for image in IMAGES[1:] if "man" in " ".join(REFERENCES[image]).lower().split()][:2]
ONE_WITHOUT = next(image for image in IMAGES[1:] if "man" not in " ".join(REFERENCES[image]).lower())
ATTACKS = {
    "words": {"asking": {**ASKING, IMAGES[0]: "zz man qq ww"}},
    "a pair": {"neither": ASKING, "asking": {**ASKING, IMAGES[0]: "man", KNOWN: "man"}},
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_what_comes_out_is_the_same_whatever_references_an_image_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, attack: dict[str, dict[str, str]]
) -> None:
    """Page, picture, JSON and table of the command."""
    for name, captions in attack.items():
        add(tmp_path, name, captions)

    def told(other: str) -> list[str]:
        (tmp_path / "references.json").write_text(json.dumps({**REFERENCES, IMAGES[0]: REFERENCES[other]}))
        done = Runner(tmp_path).here(
            "board",
            "references.json",
            *sorted(map(str, (tmp_path / "systems").iterdir())),
            "-o",
            "site",
            "--metrics",
            "bleu-4, rouge-l, cider-d",
        )
        assert done.status == 0
        return [done.stdout, *(path.read_text() for path in sorted((tmp_path / "site").iterdir()))]

    assert told(ONE_WITH) == told(ONE_WITHOUT)
    # Without the rule, they say which references it has.
    monkeypatch.setattr("sacrecap.boards.scored.hangs_on_few", lambda _: False)
    assert told(ONE_WITH) != told(ONE_WITHOUT)


def test_systems_that_differ_in_few_of_many_images_are_not_separated() -> None:
    """However small p is: 12 of 300 images, on all of which one is better."""
    many = {f"{copy} {image}": texts for copy in range(5) for image, texts in REFERENCES.items()}
    plain = {f"{copy} {image}": text for copy in range(5) for image, text in SYSTEMS["plain"].items()}
    better = {**plain, **{image: many[image][0] for image in list(many)[:12]}}
    made = board_of(many, {"plain": {"plain": plain}, "better": {"better": better}}, "cider-d")
    compared = sacrecap.compare(many, {"plain": plain, "better": better}, "cider-d")
    assert compared.pair("better", "plain", "cider-d").significant
    assert made.ranks() == {"better": (1, 2), "plain": (1, 2)}
    assert [(pair.p, pair.interval, pair.better) for pair in made.pairs] == [(None, None, None)]


def test_no_ranks_by_a_metric_that_does_not_bear_the_lengths() -> None:
    padded = {image: " ".join([text] * 4) for image, text in SYSTEMS["careful"].items()}
    systems = {"careful": SYSTEMS["careful"], "padded": padded}
    compared = sacrecap.compare(REFERENCES, systems, "cider-d").pair("careful", "padded", "cider-d")
    assert compared.p_corrected < 0.001
    assert not compared.significant
    made = board_of(REFERENCES, {name: {name: own} for name, own in systems.items()}, "cider-d")
    assert made.ranks() == {"careful": (1, 2), "padded": (1, 2)}


@pytest.mark.parametrize(("attempts", "separated"), [({}, True), ({1: 2}, True), ({1: 3}, False), ({2: 100}, True)])
def test_p_is_times_the_attempts_of_the_better_system(attempts: dict[int, int], separated: bool) -> None:
    places, pairs = standings([1, 2], {(1, 2): 0.02}, attempts)
    assert (pairs == {(1, 2)}) is separated
    assert places[1].rank == ("1" if separated else "1–2")


def test_what_is_not_tested_and_what_scores_deny_finds_nothing() -> None:
    places, pairs = standings(["a", "b", "c"], {("b", "a"): 1e-6, ("a", "c"): 1e-6}, {})
    assert pairs == {("a", "c")}
    assert places["b"].explanation == "not separated from 2"


def judged(**columns: list[float]) -> dict[str, list[Any]]:
    """Scores of all captions of the systems by others."""
    keys = [(image, system) for system in SYSTEMS for image in IMAGES]
    names: dict[str, list[Any]] = {"image_id": [image for image, _ in keys], "system": [name for _, name in keys]}
    return names | columns


JUDGED = [(7 * number) % 50 / 10 + place for place in range(3) for number in range(60)]
WORDS = [float(len(captions[image].split())) for captions in SYSTEMS.values() for image in IMAGES]


def test_columns_of_others_are_metrics_of_a_board(folder: Path) -> None:
    scores = judged(llm=JUDGED, words=WORDS)
    metrics = "cider-d, llm(range=0..7), words(better=lower)"
    made = board(folder, metrics, needs={"scores": scores}, rank_by="words(better=lower)")
    comparison = sacrecap.compare(REFERENCES, SYSTEMS, metrics, scores=scores)
    assert [row.system for row in made.rows] == comparison.ranking("words(better=lower)")
    for row in made.rows:
        for key in made.metrics:
            assert row.scores[key].value == round(comparison[row.system][key].value, 4)
    assert list(board(folder, "cider-d", needs={"scores": scores}).metrics) == ["cider-d", "llm", "words"]


def test_where_scores_are_missing_systems_stand_by_the_images_that_both_have(folder: Path) -> None:
    easy, hard = range(30), range(30)
    first = [*(None for _ in easy), *(3 + n % 3 / 10 for n in hard)]
    second = [*(6 + n % 3 / 10 for n in easy), *(2 + n % 3 / 10 for n in hard)]
    made = board(folder, "llm", needs={"scores": judged(llm=[*first, *second, *(0.5 for _ in IMAGES)])})
    assert [row.system for row in made.rows] == [*SYSTEMS]
    values = [row.scores["llm"].value for row in made.rows]
    assert values[0] < values[1]


def test_the_signature_tells_direction_and_range_but_no_score_of_an_image(folder: Path) -> None:
    scores = judged(llm=JUDGED, words=WORDS)
    made = board(folder, "llm(range=0..7), words(better=lower)", needs={"scores": scores})
    whole = sacrecap.compare(REFERENCES, SYSTEMS, "words", scores=scores)["plain"]["words"].signature
    assert re.search(r"\|scores:[0-9a-f]{8}\|", whole)
    assert made.signatures["words(better=lower)"].startswith("words(better=lower)|interval:")
    assert made.signatures["llm(range=0..7)"].startswith("llm(range=0..7)|interval:")
    page = render_html(made)
    for signature in made.signatures.values():
        assert f">{signature}</span>" in page


def test_a_score_of_others_that_hangs_on_few_images_is_not_told(folder: Path) -> None:
    few = [float(number == 3) for _ in SYSTEMS for number in range(60)]
    [row, *_] = board(folder, "cider-d, llm", needs={"scores": judged(llm=few)}).rows
    assert row.scores["llm"].value == 0
    assert row.scores["llm"].interval == (0, 0)


def test_a_system_that_nobody_judged_is_not_on_the_board(folder: Path, tmp_path: Path) -> None:
    scores = judged(llm=JUDGED)
    path = tmp_path / "judged.csv"
    rows = zip(*scores.values(), strict=True)
    path.write_text("\n".join(",".join(map(str, row)) for row in [tuple(scores), *rows] if row[1] != "plain") + "\n")
    made = board(folder, "llm", needs={"scores": path})
    assert {row.system for row in made.rows} == {"careful", "template"}
    assert made.refused == {"plain": ["judged.csv: no row of the system 'plain'; it has careful, template"]}
    with pytest.raises(UsageError, match=r"needs the mean and the deviation .*--standard|standard="):
        board(folder, "combine(z(cider-d), z(llm))", needs={"scores": path})


def test_a_word_that_is_half_of_a_caption_is_no_fault() -> None:
    limits = CaptionLimits(most_degenerate=0, most_same=100)
    assert degenerate(["a b a c a d"], limits) == []
    [found] = degenerate(["a b a c a a"], limits)
    assert "1 of which one word is more than half" in found
