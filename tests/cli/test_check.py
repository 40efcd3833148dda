"""`sacrecap check`: bounds, and a baseline that no system may fall behind."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sacrecap
from runner import Ended, Runner
from sacrecap import example
from sacrecap.errors import SacrecapWarning
from sacrecap.metrics.registry import parse_metrics
from sacrecap.scoring.check import Checked, check, read_baseline, write_baseline
from sacrecap.scoring.intervals import Resampling
from sacrecap.scoring.ranks import holm

Write = Callable[[str, object], str]
CAREFUL, PLAIN = example.systems()["careful"], example.systems()["plain"]
METRICS = "cider-d, bleu-4, meteor"


@pytest.fixture
def baseline(run: Runner, references: str, write: Write) -> str:
    """The careful system, by three metrics."""
    write("careful.json", CAREFUL)
    run.ok("score", references, "careful.json", "--metrics", METRICS, "--interval", "none", "--baseline", "base.json")
    return "base.json"


def rows(ended: Ended) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(ended.stdout)))


def changed(run: Runner, file: str, change: Callable[[dict[str, Any]], None]) -> str:
    """The baseline with a change, in a file of its own."""
    document = json.loads((run.folder / file).read_text("utf-8"))
    change(document)
    (run.folder / "changed.json").write_text(json.dumps(document), "utf-8")
    return "changed.json"


@pytest.mark.parametrize(
    ("options", "status"),
    [
        (("--min", "CIDEr=1.83"), 0),
        (("--min", "cider-d=1.84"), 3),
        (("--max", "bleu-4=0.51"), 0),
        (("--max", "bleu-4=0.5"), 3),
        (("--min", "rouge-l=0.6", "--min", "cider-d(sigma=5)=9"), 3),
        (("--min", "rouge-l=0.6", "--max", "rouge-l=0.7"), 0),
    ],
)
def test_bounds(run: Runner, references: str, write: Write, options: tuple[str, ...], status: int) -> None:
    write("careful.json", CAREFUL)
    ended = run.here("check", references, "careful.json", *options, "--format", "json")
    assert ended.status == status
    document = json.loads(ended.stdout)
    assert document["passed"] == (status == 0)
    assert [one["passed"] for one in document["checks"]].count(False) == (status != 0)
    assert ("failed" in ended.stderr) == (status != 0)


def test_a_bound_that_is_met_exactly_passes(run: Runner, references: str, write: Write) -> None:
    value = sacrecap.score(example.references(), CAREFUL, "cider-d", interval=None)["cider-d"].value
    file = write("careful.json", CAREFUL)
    assert run.here("check", references, file, "--min", f"cider-d={value!r}", "--max", f"cider-d={value!r}").status == 0


def test_a_worse_system_is_a_regression_by_the_paired_test(
    run: Runner, references: str, write: Write, baseline: str
) -> None:
    ended = run.here("check", references, write("plain.json", PLAIN), "--against", baseline, "--format", "csv", "-q")
    assert ended.status == 3
    assert ended.stderr.startswith("sacrecap: 3 of 3 checks failed: worse than the baseline by CIDEr-D, BLEU-4, METEOR")
    compared = sacrecap.compare(example.references(), {"now": PLAIN, "then": CAREFUL}, METRICS, correction="none")
    found = rows(ended)
    assert [row["metric"] for row in found] == ["cider-d", "bleu-4", "meteor"]
    p = holm([compared.pair("now", "then", row["metric"]).p for row in found])
    for row, corrected in zip(found, p, strict=True):
        pair = compared.pair("now", "then", row["metric"])
        assert float(row["delta"]) == pytest.approx(pair.delta)
        assert float(row["p"]) == pytest.approx(corrected)
        assert row["passed"] == "no"


def test_a_fall_by_chance_is_no_regression(run: Runner, references: str, write: Write, baseline: str) -> None:
    """One caption of sixty is worse: a lower score, and no evidence."""
    file = write("now.json", {**CAREFUL, next(iter(CAREFUL)): "something"})
    ended = run.here("check", references, file, "--against", baseline, "--format", "csv")
    assert ended.status == 0
    assert all(float(row["p"]) > 0.05 for row in rows(ended))
    assert {row["metric"] for row in rows(ended) if float(row["delta"]) < 0} >= {"cider-d", "meteor"}
    # Scores alone cannot be tested, so any fall counts.
    scores_alone = changed(run, baseline, lambda document: document.pop("captions"))
    ended = run.here("check", references, file, "--against", scores_alone, "--format", "csv")
    assert ended.status == 3
    assert "scores without captions: nothing can be tested" in ended.stderr
    assert {row["p"] for row in rows(ended)} == {""}
    assert run.here("check", references, "careful.json", "--against", scores_alone).status == 0


def test_too_few_samples_are_warned_of(run: Runner, references: str, write: Write, baseline: str) -> None:
    """Three metrics, and the least p of 40 samples is 1/41: a regression could not be told."""
    ended = run.here(
        "check",
        references,
        write("plain.json", PLAIN),
        "--against",
        baseline,
        "--test",
        "permutation",
        "--samples",
        "40",
    )
    assert ended.status == 0
    assert "with 40 samples no p, corrected over 3 metrics, is below 0.073: nothing can be a regression" in ended.stderr
    assert run.here("check", references, "plain.json", "--against", baseline, "--samples", "1").status == 3


def held_against(baseline: str, captions: Any, metrics: str, **how: Any) -> list[Checked]:
    """The checks of captions of two images or more, against the baseline at this path."""
    return check(
        REFERENCES,
        captions,
        [],
        read_baseline(baseline),
        parse_metrics(metrics),
        **how,  # type: ignore[arg-type]
    ).checks


REFERENCES = {str(number): [f"a red dog {number}"] for number in range(6)}


def kept(tmp_path: Path, captions: Any, metrics: str) -> str:
    path = str(tmp_path / "kept.json")
    write_baseline(sacrecap.score(REFERENCES, captions, metrics, interval=None), path)
    return path


def test_a_score_that_is_lost_is_a_regression(tmp_path: Path) -> None:
    """Of references without a colour there is no score of colours, and the baseline had one."""
    metric, references = "spice(category=color)", {image: ["a dog"] for image in REFERENCES}
    path = kept(tmp_path, REFERENCES, metric)
    document = json.loads(Path(path).read_text("utf-8"))
    of_these = sacrecap.score(references, dict.fromkeys(references, "a dog"), metric, interval=None)
    document["signatures"] = {metric: of_these[metric].signature}
    for scores, passed in (({metric: 0.0}, False), ({metric: None}, True)):
        Path(path).write_text(json.dumps({**document, "scores": scores, "captions": None}), "utf-8")
        with pytest.warns(SacrecapWarning, match="scores without captions"):
            [one] = check(references, references, [], read_baseline(path), parse_metrics(metric)).checks
        assert math.isnan(one.score)
        assert one.passed == passed


def test_a_p_of_alpha_is_a_regression(tmp_path: Path) -> None:
    path = kept(tmp_path, {image: own[0] for image, own in REFERENCES.items()}, "rouge-l")
    worse = dict.fromkeys(REFERENCES, "a dog")
    [one] = held_against(path, worse, "rouge-l", alpha=0.5)
    assert one.p == pytest.approx(2 / 2**6)
    assert not held_against(path, worse, "rouge-l", alpha=one.p)[0].passed
    assert held_against(path, worse, "rouge-l", alpha=0.99 * one.p)[0].passed


def test_as_many_samples_as_a_regression_needs_are_enough(tmp_path: Path) -> None:
    """The least p of 59 samples is 1/60: times three metrics, 0.05."""
    metrics = "rouge-l, bleu-1, bleu-2"
    captions = {image: own[0] for image, own in REFERENCES.items()}
    path = kept(tmp_path, captions, metrics)
    held_against(path, captions, metrics, test="permutation", resampling=Resampling(None, samples=59))
    with pytest.warns(SacrecapWarning, match="take 59 samples"):
        held_against(path, captions, metrics, test="permutation", resampling=Resampling(None, samples=58))


def test_the_json_of_score_is_a_baseline_without_captions(run: Runner, references: str, write: Write) -> None:
    write("careful.json", CAREFUL)
    run.ok("score", references, "careful.json", "--format", "json", "-o", "scores.json")
    ended = run.here("check", references, "careful.json", "--against", "scores.json")
    assert (ended.status, ended.stderr.count("scores without captions")) == (0, 1)


def test_metrics_choose_what_is_compared(run: Runner, references: str, baseline: str) -> None:
    options = ("--against", baseline, "--metrics", "CIDEr", "--min", "rouge-l=0.1", "--format", "csv")
    found = rows(run.here("check", references, "careful.json", *options))
    assert [(row["metric"], row["kind"]) for row in found] == [("rouge-l", "min"), ("cider-d", "baseline")]


def test_a_metric_that_the_baseline_lacks(run: Runner, references: str, baseline: str) -> None:
    message = run.refused("check", references, "careful.json", "--against", baseline, "--metrics", "rouge-l")
    assert "base.json has no rouge-l; it has: cider-d, bleu-4, meteor; write the baseline again" in message


def test_another_way_of_scoring_is_refused(run: Runner, references: str, write: Write, baseline: str) -> None:
    careful = ("check", references, "careful.json", "--against", baseline)
    assert "cider-d was scored with tok:ptb, and here with tok:whitespace" in run.refused(
        *careful, "--tokenizer", "whitespace"
    )
    fewer = write("fewer.json", {image: captions[:4] for image, captions in example.references().items()})
    assert "and here with refs:4@" in run.refused("check", fewer, "careful.json", "--against", baseline)


def test_other_references_of_the_same_shape_are_refused(
    run: Runner, references: str, write: Write, baseline: str
) -> None:
    others = {image: [*captions[::-1][:-1], "something else"] for image, captions in example.references().items()}
    message = run.refused("check", write("others.json", others), "careful.json", "--against", baseline)
    assert "cider-d was scored with refs:5@" in message
    assert "; write the baseline again" in message


def test_a_score_that_changed_by_little_is_refused(run: Runner, references: str, baseline: str) -> None:
    """Scores are the same to nine digits on any machine, so what differs in the seventh was scored otherwise."""
    for change, refused in ((1e-7, True), (1e-11, False)):

        def nearly(document: dict[str, Any], change: float = change) -> None:
            document["scores"]["meteor"] *= 1 + change

        against = ("check", references, "careful.json", "--against", changed(run, baseline, nearly))
        if refused:
            assert "its captions have meteor" in run.refused(*against)
        else:
            run.ok(*against)


def test_other_images_are_refused(run: Runner, references: str, write: Write, baseline: str) -> None:
    some = dict(list(CAREFUL.items())[:50])
    message = run.refused("check", references, write("some.json", some), "--against", baseline, "--on-missing", "skip")
    assert "10 images (" in message
    assert "are not scored here" in message


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "it is no JSON: "),
        ([1], "it is no JSON object"),
        ({"1": "a dog"}, 'its "scores" and "signatures" are not those of the same metrics'),
        ({"scores": {"bleu-1": True}, "signatures": {"bleu-1": ""}}, 'its "scores" and "signatures" are not'),
        ({"scores": {"bleu-1": 1}, "signatures": {"bleu-1": ""}, "captions": [1]}, 'its "captions" are not texts'),
    ],
)
def test_a_file_that_is_no_baseline(run: Runner, references: str, write: Write, content: object, why: str) -> None:
    write("careful.json", CAREFUL)
    message = run.refused("check", references, "careful.json", "--against", write("b.json", content))
    assert f"b.json: {why}" in message
    assert message.endswith("a baseline is what sacrecap score REFERENCES CANDIDATES --baseline FILE writes")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "nothing to check; give --min METRIC=SCORE"),
        (("--min", "cider-d"), "--min takes METRIC=SCORE, such as cider-d=1.1, got 'cider-d'"),
        (("--max", "cider-d=nan"), "--max takes METRIC=SCORE, such as cider-d=1.1, got 'cider-d=nan'"),
        (("--min", "coco=1"), "--min takes one metric, and 'coco' is 7; repeat the option for each"),
        (("--min", "cider-e=1"), "unknown metric 'cider-e'"),
        (("--min", "cider-d=1", "--metrics", "meteor"), "--metrics chooses what to compare with --against FILE.json"),
        (("--against", "none.json"), "none.json: cannot be read: No such file or directory"),
    ],
)
def test_bad_usage(run: Runner, references: str, write: Write, options: tuple[str, ...], message: str) -> None:
    assert message in run.refused("check", references, write("careful.json", CAREFUL), *options)


@pytest.mark.parametrize("format_", ["table", "markdown", "latex"])
def test_tables(run: Runner, references: str, write: Write, baseline: str, format_: str) -> None:
    write("plain.json", PLAIN)
    options = ["--against", baseline, "--format", format_, "--min", "CIDEr=0.5"]
    shown = run.here("check", references, "plain.json", *options)
    assert shown.status == 3
    assert "regression" in shown.stdout
    assert ("at least 50.0" if format_ == "latex" else "at least 0.5000") in shown.stdout
    assert "paired exact sign-flip permutation test, Holm over metrics" in shown.stdout


def test_a_baseline_is_no_output_over_an_input(run: Runner, references: str, write: Write) -> None:
    file = write("careful.json", CAREFUL)
    assert "would overwrite an input" in run.refused("score", references, file, "--baseline", file)
    assert json.loads(Path(run.folder / file).read_text("utf-8")) == CAREFUL


def test_a_score_that_was_none_when_the_baseline_was_written(run: Runner, references: str, baseline: str) -> None:
    file = changed(run, baseline, lambda document: document["scores"].update({"meteor": None}))
    ended = run.here("check", references, "careful.json", "--against", file)
    assert ended.status == 2
    assert f"{file}: its captions have meteor 0.3" in ended.stderr
    assert "here, and nan when it was written" in ended.stderr
