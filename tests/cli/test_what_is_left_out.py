"""What was left out stands beside every number: in the first line, in captions of tables, JSON, reports and checks."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import sacrecap
from command_line import run, write
from runner import Runner

__all__ = ["run", "write"]

Write = Callable[[str, object], str]
REFERENCES = {str(image): [f"a dog runs in room {image}", "a dog"] for image in range(1, 11)}
SAID = "left out: 8 images without candidate, 1 candidate of images without references, 2 references that are blank"
COUNTS = {"no candidate": 8, "extra candidate": 1, "blank reference": 2}
OPTIONS = ("--on-missing", "skip", "--on-extra", "skip")


@pytest.fixture
def files(write: Write) -> tuple[str, str]:
    """References of ten images, two of them with a blank one, and captions of two of these and of another image."""
    references = {**REFERENCES, "3": ["a cat", ""], "4": ["a bus", " "]}
    return write("r.json", references), write("c.json", {"1": "a dog", "2": "a dog runs", "77": "a car"})


def test_every_output_of_score_says_it(run: Runner, files: tuple[str, str]) -> None:
    """The first line of the terminal, the captions of tables for papers, JSON, and the report."""
    command = ("score", *files, *OPTIONS, "--metrics", "rouge-l,bleu-1", "-q")
    table = run.ok(*command, "--report", "report.html")
    assert table.splitlines()[0] == f"2 of 10 images, 2 references each, tokenizer ptb; {SAID}"
    assert f"2 of 10 images; {SAID}." in run.ok(*command, "--format", "markdown")
    latex = run.ok(*command, "--format", "latex")
    assert f"2 of 10 images; {SAID}." in latex
    document = json.loads(run.ok(*command, "--format", "json"))
    assert (document["images"], document["given"], document["left_out"]) == (2, 10, COUNTS)
    report = (run.folder / "report.html").read_text(encoding="utf-8")
    assert "2 of 10" in report
    assert SAID in report


def test_nothing_is_said_where_all_is_scored(run: Runner, write: Write) -> None:
    """Neither in the first line nor in JSON."""
    files = write("r.json", REFERENCES), write("c.json", dict.fromkeys(REFERENCES, "a dog"))
    assert run.ok("score", *files, "--metrics", "rouge-l", "-q").startswith("10 images, 2 references each, tokenizer")
    document = json.loads(run.ok("score", *files, "--metrics", "rouge-l", "-q", "--format", "json"))
    assert not {"given", "left_out", "scored_as_empty"} & document.keys()


def test_compare_says_of_which_system(run: Runner, files: tuple[str, str], write: Write) -> None:
    """What all systems share is said once."""
    other = write("d.json", {"1": "a dog", "2": "a bus"})
    table = run.ok("compare", *files, other, *OPTIONS, "--metrics", "rouge-l", "-q")
    assert table.splitlines()[0] == (
        "2 of 10 images, 2 references each, tokenizer ptb; left out: 8 images without candidate, 1 candidate of images "
        "without references (c), 2 references that are blank"
    )
    systems = json.loads(run.ok("compare", *files, other, *OPTIONS, "--metrics", "rouge-l", "-q", "--format", "json"))
    assert systems["systems"]["c"]["left_out"] == COUNTS
    assert systems["systems"]["d"]["left_out"] == {"no candidate": 8, "blank reference": 2}
    assert systems["systems"]["d"]["given"] == 10


def test_diversity_says_it(run: Runner, write: Write) -> None:
    """Of caption sets, with references and without."""
    one = write("one.json", {"1": ["a", "b c"], "2": ["d", "e"]})
    two = write("two.json", {"1": ["a", "b c"], "2": ["d", "e"], "3": ["f", "g"]})
    command = ("diversity", one, two, "--on-missing", "skip", "--metrics", "distinct", "-q")
    assert run.ok(*command).splitlines()[0].startswith("2 of 3 images, tokenizer ptb; ")
    assert run.ok(*command).splitlines()[0].endswith("left out: 1 image without candidate")
    document = json.loads(run.ok(*command, "--format", "json"))
    assert document["systems"]["one"]["left_out"] == document["systems"]["two"]["left_out"] == {"no candidate": 1}
    filled = json.loads(run.ok(*command[:3], "--on-missing", "zero", *command[5:], "--format", "json"))
    assert filled["systems"]["one"]["scored_as_empty"] == 1
    assert "scored_as_empty" not in filled["systems"]["two"]


def test_an_image_of_several_candidates_is_left_out_of_every_system(run: Runner, write: Write) -> None:
    """Also of the systems that have one candidate of it."""
    references = write("r.json", REFERENCES)
    once = dict.fromkeys(REFERENCES, "a dog")
    rows = [{"image_id": image, "caption": text} for image, text in [*once.items(), ("1", "a cat")]]
    files = write("a.json", rows), write("b.json", once)
    table = run.ok("compare", references, *files, "--on-duplicate", "skip", "--metrics", "rouge-l", "-q")
    assert table.startswith("9 of 10 images, 2 references each, tokenizer ptb; left out: 1 image with several cand")


@pytest.mark.parametrize(
    ("options", "status"),
    [((), 3), (("--allow-missing", "0.8"), 0), (("--allow-missing", "0.79"), 3), (("--allow-missing", "1"), 0)],
)
@pytest.mark.parametrize("on_missing", ["skip", "zero"])
def test_a_check_fails_above_a_share(
    run: Runner, files: tuple[str, str], options: tuple[str, ...], status: int, on_missing: str
) -> None:
    """Of images without candidate, however they are treated; the default lets few pass."""
    command = ("check", *files, "--on-missing", on_missing, "--on-extra", "skip", "--min", "rouge-l=0", *options)
    ended = run.here(*command)
    assert ended.status == status
    assert ("8 of 10 images (0.8) have no candidate, and at most" in ended.stderr) == (status == 3)
    document = json.loads(run.here(*command, "--format", "json").stdout)
    assert document["passed"] == (status == 0)
    assert document["given"] == 10


def test_a_check_of_whole_captions_passes(run: Runner, write: Write) -> None:
    """Also where nothing may be missing."""
    files = write("r.json", REFERENCES), write("c.json", dict.fromkeys(REFERENCES, "a dog"))
    assert run.here("check", *files, "--min", "rouge-l=0", "--allow-missing", "0").status == 0


@pytest.mark.filterwarnings("ignore::sacrecap.errors.SacrecapWarning")
def test_missing_captions_that_improve_a_metric_are_told() -> None:
    """Of CHAIR an empty caption is the best one."""
    captions: dict[str, Any] = {"1": "a dog and a car"}
    objects = {image: ["dog"] for image in REFERENCES}

    def notes(**options: Any) -> list[str]:
        result = sacrecap.score(REFERENCES, captions, "chair-s, rouge-l", objects=objects, interval=None, **options)
        return [note for note in result.notes if "lower is better" in note]

    [note] = notes(on_missing="zero")
    assert note.startswith("CHAIR-s: lower is better, and 9 images without candidate, scored as an empty caption, can")
    assert notes(on_missing="skip") == []
    captions.update(dict.fromkeys(REFERENCES, "a dog"))
    assert notes(on_missing="zero") == []
