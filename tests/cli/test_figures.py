"""How scores are written: --percent and --digits, and what papers print."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sacrecap
from runner import Runner
from sacrecap import example

DATA = Path(example.__file__).parent
REFERENCES, SETS = DATA / "references.json", DATA / "sets"
CAREFUL, PLAIN = DATA / "systems/careful.json", DATA / "systems/plain.json"
SCORE = ("score", REFERENCES, CAREFUL, "--metrics", "cider-d", "--interval", "none")


@pytest.fixture(scope="module")
def value() -> float:
    return sacrecap.score(REFERENCES, CAREFUL, "cider-d", interval=None)["cider-d"].value


@pytest.mark.parametrize(
    ("options", "factor", "digits"),
    [
        ((), 1, 4),
        (("--percent",), 100, 1),
        (("--percent", "--digits", "3"), 100, 3),
        (("--digits", "0"), 1, 0),
        (("--format", "markdown"), 1, 4),
        (("--format", "markdown", "--percent"), 100, 1),
        (("--format", "latex"), 100, 1),
        (("--format", "latex", "--no-percent"), 1, 4),
        (("--format", "latex", "--digits", "2"), 100, 2),
    ],
)
def test_scores_in_tables(run: Runner, value: float, options: tuple[str, ...], factor: int, digits: int) -> None:
    printed = run.ok(*SCORE, *options)
    cells = printed.replace("&", " ").replace("|", " ").split()
    assert f"{factor * value:.{digits}f}" in cells
    said = "cores × 100" in printed or r"Scores $\times$ 100." in printed
    assert said == (factor == 100)


def test_intervals_bars_and_differences_follow(run: Runner) -> None:
    result = sacrecap.score(REFERENCES, CAREFUL, "cider-d", samples=50)["cider-d"]
    assert result.interval is not None
    low, high = result.interval
    shown = run.ok("score", REFERENCES, CAREFUL, "--metrics", "cider-d", "--samples", "50", "--percent")
    assert f"{100 * low:.1f} – {100 * high:.1f}" in shown
    assert " 1000" in shown
    compared = sacrecap.compare(REFERENCES, {"careful": CAREFUL, "plain": PLAIN}, "cider-d", samples=50, interval=None)
    delta = compared.pairs[0].delta
    options = ("--metrics", "cider-d", "--samples", "50", "--interval", "none", "-q")
    assert f"{100 * delta:+.1f}" in run.ok("compare", REFERENCES, CAREFUL, PLAIN, *options, "--percent")
    assert f"{100 * compared['plain']['cider-d'].value:.1f}" in run.ok(
        "compare", REFERENCES, CAREFUL, PLAIN, *options, "--format", "latex"
    )


def test_caption_sets_are_printed_as_their_papers_do_unless_asked_for(run: Runner) -> None:
    sets = ("diversity", SETS / "safe.json", "--metrics", "div-1", "--interval", "none")
    div = sacrecap.diversity({"safe": SETS / "safe.json"}, metrics="div-1", interval=None)["safe"]["div-1"].value
    assert f"{div:.4f}" in run.ok(*sets, "--format", "latex")
    assert f"{100 * div:.1f}" in run.ok(*sets, "--percent")
    assert "208" in run.ok(*sets, "--percent")  # the vocabulary is a count


@pytest.mark.parametrize("format_", ["json", "csv"])
def test_formats_for_programs_have_scores_as_they_are(run: Runner, format_: str) -> None:
    message = run.refused(*SCORE, "--format", format_, "--percent")
    assert message.endswith(f"--format {format_} has unscaled scores in full precision")


def test_metrics_may_be_repeated(run: Runner) -> None:
    several = ("--metrics", "CIDEr", "--metrics", "Bleu_4, rouge-l", "--metrics", "cider-d")
    found = json.loads(run.ok("score", REFERENCES, CAREFUL, *several, "--interval", "none", "--format", "json"))
    assert list(found["scores"]) == ["cider-d", "bleu-4", "rouge-l"]


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        (("score", "a", "b", "--metrics", "cid"), ["cider-paper", "cider-d"]),
        (("score", "a", "b", "--metrics", "bleu-4,ROUGE_L"), ["bleu-4,rouge-l"]),
        (("score", "a", "b", "--metrics", "bleu-4, fid"), ["bleu-4, fidelity"]),
        (("score", "a", "b", "--metrics", "spice,self"), []),
        (("diversity", "a", "--metrics", "div-1,self"), ["div-1,self-cider"]),
        (("diversity", "a", "--accuracy", "cider-"), ["cider-paper", "cider-d"]),
    ],
)
def test_names_of_metrics_complete_in_the_shell(
    run: Runner, monkeypatch: pytest.MonkeyPatch, typed: tuple[str, ...], completed: list[str]
) -> None:
    words = " ".join(f"'{word}'" for word in ("sacrecap", *typed))
    monkeypatch.setenv("_SACRECAP_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(typed)))
    ended = run.here()
    assert [line.removeprefix("plain,") for line in ended.stdout.split("\n") if line] == completed
