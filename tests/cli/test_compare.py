"""`sacrecap compare`: what it prints in every format is the comparison that the library gives."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sacrecap
from runner import Runner
from sacrecap import example
from sacrecap.cli.system_names import named

Write = Callable[[str, object], str]

TABLE = """\
60 images, 5 references each, tokenizer ptb
score, 95% interval           BLEU-4          CIDEr-D
careful                   1  0.5073*       1  1.8334*
                      0.4569–0.5570    1.7373–1.9258
plain                     2  0.2568†       2  0.9142†
                      0.2001–0.3126    0.8046–1.0370
template                  3  0.1541†       3  0.2823†
                      0.0932–0.2122    0.1851–0.3901

difference, p          BLEU-4    CIDEr-D
careful – plain      +0.2505    +0.9192
                      <0.001!    <0.001!
careful – template   +0.3532    +1.5511
                      <0.001!    <0.001!
plain – template     +0.1027    +0.6319
                      <0.001!    <0.001!

* best   † significantly worse than the best   before each score: the ranks it may have
p: paired exact sign-flip permutation test, Holm over 3 pairs per metric; ! significant, p ≤ 0.05
note: CIDEr-D: words are weighed by these 60 images. On more images the score falls, often below its interval; \
to compare with other sets, take --df coco-train, or a file of sacrecap df build.
"""
SIGNATURES = "".join(
    f"{key}|images:60/60|refs:5@ac46d984|caps:af9c7323,dd8f6a21,76600eee|{own}tok:ptb|"
    f"interval:percentile(0.95,1000,0)|sacrecap:{sacrecap.__version__}\n"
    for key, own in (("bleu-4", ""), ("cider-d", "df:corpus(60)|"))
)


@pytest.fixture
def systems(run: Runner, references: str) -> list[str]:
    """The example's systems, as files in the folder."""
    for name in example.SYSTEMS:
        (run.folder / f"{name}.json").write_bytes(example.system_path(name).read_bytes())
    return [references, *(f"{name}.json" for name in example.SYSTEMS)]


@pytest.fixture(scope="module")
def compared() -> sacrecap.Comparison:
    return sacrecap.compare(example.references(), example.systems(), "bleu-4, cider-d")


METRICS = ("--metrics", "bleu-4,cider-d")


def test_table(run: Runner, systems: list[str]) -> None:
    assert run.ok("compare", *systems, *METRICS) == TABLE + SIGNATURES
    bare = run.ok("compare", *systems, *METRICS, "--interval", "none")
    assert "0.5073*" in bare
    assert "0.4581" not in bare


def test_intervals_by_the_jackknife(run: Runner, systems: list[str]) -> None:
    command = ["compare", *systems, *METRICS, "--interval", "jackknife"]
    document = json.loads(run.ok(*command, "--format", "json"))
    assert document["interval_method"] == "jackknife"
    tested = json.loads(run.ok(*command, "--format", "json", "--test", "bootstrap"))
    intervals = [[pair["interval"] for pair in one["pairs"]] for one in (document, tested)]
    assert intervals[0] == intervals[1], "the test draws samples, the intervals do not"


def test_json(run: Runner, systems: list[str], compared: sacrecap.Comparison) -> None:
    document = json.loads(run.ok("compare", *systems, *METRICS, "--format", "json"))
    assert document == json.loads(json.dumps(compared.to_dict()))
    assert list(document) == ["sacrecap", "images", "test", "systems", "pairs", "findings", "notes"]
    assert list(document["systems"]["plain"]) == ["scores", "intervals", "signatures", "ranks"]
    assert list(document["pairs"][0]) == ["a", "b", "metric", "delta", "interval", "p", "p_corrected", "significant"]
    bare = json.loads(run.ok("compare", *systems, *METRICS, "--format", "json", "--interval", "none"))
    assert bare["systems"]["plain"]["intervals"] == {}
    assert bare["pairs"][0]["interval"] is None


def test_csv(run: Runner, systems: list[str], compared: sacrecap.Comparison) -> None:
    found = list(csv.DictReader(io.StringIO(run.ok("compare", *systems, *METRICS, "--format", "csv"))))
    assert len(found) == len(compared.pairs)
    for row, pair in zip(found, compared.pairs, strict=True):
        assert (row["a"], row["b"], row["metric"]) == (pair.a, pair.b, pair.metric)
        numbers = ("delta", "lower", "upper", "p", "p_corrected")
        assert [float(row[name]) for name in numbers] == [pair.delta, *(pair.interval or ()), pair.p, pair.p_corrected]
        assert float(row["score_a"]) - float(row["score_b"]) == pair.delta
        assert row["significant"] == ("yes" if pair.significant else "no")


def test_markdown_and_latex(run: Runner, systems: list[str]) -> None:
    lines = run.ok("compare", *systems, *METRICS, "--format", "markdown").splitlines()
    assert lines[:4] == [
        "| system | BLEU-4 | CIDEr-D |",
        "| --- | ---: | ---: |",
        "| careful | **0.5073** (0.4569 to 0.5570) | **1.8334** (1.7373 to 1.9258) |",
        "| plain | 0.2568† (0.2001 to 0.3126) | 0.9142† (0.8046 to 1.0370) |",
    ]
    said = (
        "**Bold**: best. †: worse than the best, p ≤ 0.05 (paired exact sign-flip permutation test, Holm over 3 pairs"
    )
    assert any(line.startswith(said) for line in lines)
    assert [line.partition("|")[0] for line in lines[-5:]] == ["", "```text", "bleu-4", "cider-d", "```"]
    assert lines[-6].startswith("- note: CIDEr-D: words are weighed by these 60 images.")
    text = run.ok("compare", *systems, *METRICS, "--format", "latex")
    lines = text.splitlines()
    assert lines[0].startswith("% note: CIDEr-D: words are weighed by these 60 images.")
    assert [line.partition("|")[0] for line in lines[1:3]] == ["% bleu-4", "% cider-d"]
    assert lines[3:5] == [r"\begin{table}", r"\centering"]
    assert lines[5].startswith(r"\caption{Bold: best.")
    assert lines[6] == r"\label{tab:scores}"
    assert lines[7:10] == [r"\begin{tabular}{lrr}", r"\toprule", r"System & BLEU-4 & CIDEr-D \\"]
    assert lines[11:14] == [
        r"careful & \textbf{50.7} & \textbf{183.3} \\",
        r"& {\scriptsize [45.7, 55.7]} & {\scriptsize [173.7, 192.6]} \\",
        r"plain & 25.7$^{\dagger}$ & 91.4$^{\dagger}$ \\",
    ]
    assert lines[-3:] == [r"\bottomrule", r"\end{tabular}", r"\end{table}"]


def test_options(run: Runner, systems: list[str]) -> None:
    def pairs(*options: object) -> list[dict[str, float]]:
        printed = run.ok("compare", *systems, "--metrics", "rouge-l", "--format", "json", *options)
        found: list[dict[str, float]] = json.loads(printed)["pairs"]
        return found

    expected = sacrecap.compare(
        example.references(),
        example.systems(),
        "rouge-l",
        test="bootstrap",
        samples=200,
        alpha=0.01,
        correction="none",
        interval=0.9,
        seed=3,
    )
    given = ("--test", "bootstrap", "--samples", 200, "--alpha", 0.01, "--correction", "none", "--interval", 0.9)
    assert pairs(*given, "--seed", 3) == json.loads(json.dumps(expected.to_dict()["pairs"]))
    assert pairs() == pairs("--test", "exact", "--alpha", 0.05, "--correction", "holm", "--attempts", 1)
    assert pairs("--test", "permutation") != pairs("--test", "permutation", "--seed", 1)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_per_image(run: Runner, systems: list[str], compared: sacrecap.Comparison, suffix: str) -> None:
    path = run.folder / f"scores.{suffix}"
    run.ok("compare", *systems, *METRICS, "--per-image", path)
    rows: list[dict[str, object]]
    if suffix == "csv":
        rows = list(csv.DictReader(path.read_text().splitlines()))  # type: ignore[arg-type]
    elif suffix == "jsonl":
        rows = list(map(json.loads, path.read_text().splitlines()))
    else:
        rows = pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist()
    assert [list(row) for row in rows] == [["image_id", "system", "bleu-4", "cider-d"]] * 180
    for number, (name, result) in enumerate(compared.items()):
        part = rows[60 * number : 60 * number + 60]
        assert [row["image_id"] for row in part] == result.image_ids
        assert {row["system"] for row in part} == {name}
        assert [float(str(row["bleu-4"])) for row in part] == result["bleu-4"].per_image.tolist()


def test_report(run: Runner, systems: list[str]) -> None:
    assert run.ok("compare", *systems, *METRICS, "--report", "page.html") == TABLE + SIGNATURES
    assert "<h1>3 systems on 60 images</h1>" in (run.folder / "page.html").read_text(encoding="utf-8")
    assert run.ok("compare", *systems[:3], "--report", "-", "-o", "t.txt").startswith("<!doctype html>")
    assert "end the name in" in run.refused("compare", *systems, "--per-image", "scores.xls")


# Names of systems


def test_systems_are_called_after_their_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert named(["a.json", "x/b.jsonl"]) == {"a": "a.json", "b": "x/b.jsonl"}
    assert named(["x/a.json", "y/a.json"]) == {"x/a": "x/a.json", "y/a": "y/a.json"}
    assert named(["x/z/a.json", "y/z/a.json", "b.json"]) == {
        "x/z/a": "x/z/a.json",
        "y/z/a": "y/z/a.json",
        "b": "b.json",
    }
    assert named(["a.json", "a.csv"]) == {"a.json": "a.json", "a.csv": "a.csv"}
    assert named(["a.json.gz", "b.tar.json"]) == {"a": "a.json.gz", "b.tar": "b.tar.json"}
    assert named(["ours=x/a.json", "a.json"]) == {"ours": "x/a.json", "a": "a.json"}
    assert named(["-", "a.json"]) == {"standard input": "-", "a": "a.json"}
    (tmp_path / "lr=1.json").touch()
    assert named(["lr=1.json", "b.json"]) == {"lr=1": "lr=1.json", "b": "b.json"}


def test_a_file_given_twice(run: Runner, systems: list[str]) -> None:
    twice = (systems[0], "plain.json", "plain.json")
    ended = run.here("compare", *twice, "--metrics", "rouge-l", "--format", "json")
    assert ended.stderr == "sacrecap: warning: plain.json is given twice, as two systems\n"
    document = json.loads(ended.stdout)
    assert list(document["systems"]) == ["plain", "plain 2"]
    assert document["pairs"][0]["p"] == 1
    assert run.ok("compare", *twice, "--metrics", "rouge-l", "--quiet")


def test_bad_usage(run: Runner, systems: list[str], write: Write) -> None:
    assert "takes two systems or more, one system was given" in run.refused("compare", *systems[:2])
    assert "two systems are called 'x'; give each a name" in run.refused(
        "compare", *systems[:1], "x=plain.json", "x=careful.json"
    )
    assert "standard input can be read once" in run.refused("compare", "-", "-", "plain.json")
    assert "0<x<1" in run.refused("compare", *systems, "--alpha", "5")
    assert "no such file" in run.refused("compare", *systems, "nowhere.json").lower()
    few = dict(list(example.systems()["plain"].items())[1:])
    refused = run.refused("compare", *systems, write("few.json", few))
    assert re.match(r"few.json: no candidate for 1 image \(.*\); add them, or choose --on-missing skip", refused)
    document = json.loads(
        run.ok("compare", *systems, "few.json", "--on-missing", "skip", "--metrics", "rouge-l", "--format", "json")
    )
    assert document["images"] == 59


def test_standard_input(run: Runner, systems: list[str]) -> None:
    given = ("compare", systems[0], "-", "plain.json", "--metrics", "rouge-l", "--format", "json")
    document = json.loads(run.ok(*given, stdin=example.system_path("careful").read_bytes()))
    assert list(document["systems"]) == ["standard input", "plain"]


def test_attempts(run: Runner, systems: list[str]) -> None:
    def attempts(*given: object) -> object:
        command = ("compare", *systems, "--metrics", "rouge-l", "--interval", "none", "--format", "json")
        return json.loads(run.ok(*command, *given))["test"].get("attempts")

    assert attempts() is None
    assert attempts("--attempts", 3) == {"careful": 3, "plain": 3, "template": 3}
    assert attempts("--attempts", "plain=2", "--attempts", "careful=5") == {"careful": 5, "plain": 2}
    assert "the best of 3 attempts on these images" in run.ok("compare", *systems, *METRICS, "--attempts", 3)
    for given in ("0", "plain=x", "plain=0"):
        assert "whole number of at least 1" in run.refused("compare", *systems, "--attempts", given)
    assert "give one number, or NAME=N" in run.refused("compare", *systems, "--attempts", "3", "--attempts", "4")
    assert "attempts names 'other'" in run.refused("compare", *systems, "--attempts", "other=2")


METRICS_ALONE = ["--metrics", "chair-i(gold=objects), vifidel(references=no)", "--objects", str(example.objects_path())]


@pytest.fixture
def alone(run: Runner) -> Callable[..., Any]:
    """Compares files of the example by metrics that need no references."""
    for name, captions in example.systems().items():
        (run.folder / f"{name}.json").write_text(json.dumps(captions))
    (run.folder / "references.json").write_text(json.dumps(example.references()))

    def compared(*arguments: str, **how: Any) -> Any:
        return json.loads(run.ok("compare", *arguments, *METRICS_ALONE, "--format", "json", "-q", **how))

    return compared


def test_what_a_file_is_taken_for_is_said_before_what_it_is_called(run: Runner, alone: Callable[..., Any]) -> None:
    del alone  # which writes the files
    ended = run.here("compare", "careful.json", "careful.json", "plain.json", *METRICS_ALONE, "--samples", "5")
    first, second = (line for line in ended.stderr.splitlines() if "warning" in line)
    assert "no metric needs references: it is compared as a system" in first
    assert "careful.json is given twice" in second


def test_systems_without_references(run: Runner, alone: Callable[..., Any]) -> None:
    """Where no metric needs references, all files are systems; the numbers are those beside references."""
    systems = ["careful.json", "plain.json", "template.json"]
    beside = alone("references.json", *systems)
    for files in (systems, ["careful=careful.json", *systems[1:]]):
        compared = alone(*files)
        assert compared["pairs"] == beside["pairs"]
        assert [system["scores"] for system in compared["systems"].values()] == [
            system["scores"] for system in beside["systems"].values()
        ]
    assert "careful.json: has no more than one caption" in run.here("compare", *systems, *METRICS_ALONE).stderr
    assert run.here("compare", *systems[:2], *METRICS_ALONE).stderr == ""
    assert "engine local alone" in run.refused("compare", *systems[::2], *METRICS_ALONE, "--engine", "stream")
    assert "two systems or more" in run.refused("compare", *systems[:2], "--metrics", "rouge-l")
    few = {image: captions[:2] for image, captions in example.references().items()}
    (run.folder / "two.json").write_text(json.dumps(few))
    assert alone("two.json", *systems)["pairs"] == beside["pairs"]
    rows = [
        {"image_id": image, "references": few[image], "x": example.systems()["careful"][image], "y": caption}
        for image, caption in example.systems()["plain"].items()
    ]
    (run.folder / "rows" / "test").mkdir(parents=True)
    (run.folder / "rows" / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    of_columns = ("--caption-column", "x", "--caption-column", "y")
    assert [*alone("rows", *of_columns)["systems"]] == ["x", "y"]
    (run.folder / "systems").mkdir()
    assert "one system was given" in run.refused("compare", "references.json", systems[0], *METRICS_ALONE)
    for name in systems[:2]:
        (run.folder / name).rename(run.folder / "systems" / name)
    assert [*alone("systems")["systems"]] == ["careful", "plain"]
    assert [*alone("references.json", "systems")["systems"]] == ["careful", "plain"]


def test_systems_without_references_lack_images(run: Runner, alone: Callable[..., Any]) -> None:
    """The images are those of the first file; a system that says nothing of one lacks it, also as an empty list."""
    less = dict(list(example.systems()["plain"].items())[1:])
    for hole in ({}, {next(iter(example.systems()["plain"])): []}):
        (run.folder / "plain.json").write_text(json.dumps({**hole, **less}))
        for order in (["careful.json", "plain.json"], ["plain.json", "careful.json"]):
            if order[0] == "plain.json" and not hole:
                assert "careful.json: candidate for 1 image" in run.refused("compare", *order, *METRICS_ALONE)
                assert alone(*order, "--on-extra", "skip")["images"] == 59
                continue
            assert "plain.json: no candidate for 1 image" in run.refused("compare", *order, *METRICS_ALONE)
            assert alone(*order, "--on-missing", "skip")["images"] == 59
            assert alone(*order, "--on-missing", "zero")["images"] == 60


def test_standard_input_is_looked_at_and_read(run: Runner, alone: Callable[..., Any]) -> None:
    """As references, or as a system where none are needed: what a file is must be known before it is read."""
    systems = ["careful.json", "plain.json"]
    references, careful = ((run.folder / f"{name}.json").read_text() for name in ("references", "careful"))
    pairs = alone(*systems)["pairs"]
    assert alone("-", *systems, stdin=references)["pairs"] == pairs
    assert [pair["delta"] for pair in alone("-", systems[1], stdin=careful)["pairs"]] == [p["delta"] for p in pairs]
    assert [pair["delta"] for pair in alone(systems[1], "-", stdin=careful)["pairs"]] == [-p["delta"] for p in pairs]
    assert "CHAIR" in run.ok("score", "-", *METRICS_ALONE, stdin=careful)


def test_systems_without_references_in_python() -> None:
    systems = {name: dict(captions) for name, captions in example.systems().items()}
    objects = example.objects_path()
    alone = sacrecap.compare(None, systems, "chair-i(gold=objects)", objects=objects)
    beside = sacrecap.compare(example.references(), systems, "chair-i(gold=objects)", objects=objects)
    assert [pair.p for pair in alone.pairs] == [pair.p for pair in beside.pairs]
    with pytest.raises(sacrecap.errors.UsageError, match="ROUGE-L needs references"):
        sacrecap.compare(None, systems, "rouge-l")
