"""`sacrecap diversity`."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import sacrecap
from runner import Runner
from sacrecap import example

SETS = [str(example.caption_set_path(name)) for name in example.CAPTION_SETS]
REFERENCES = str(example.references_path())


def test_the_table_has_a_column_a_system(run: Runner) -> None:
    lines = run.ok("diversity", *SETS, "--references", REFERENCES).splitlines()
    assert lines[0] == "60 images, tokenizer ptb; 95% intervals over images"
    assert lines[1].split() == ["varied", "safe", "wild", "human"]
    labels = [line[:12].strip() for line in lines[2:17]]
    assert labels[0] == "Self-CIDEr"
    assert "Vocabulary" in labels
    assert "paired exact sign-flip permutation test, p corrected (Holm)" in lines


def test_findings_are_told_everywhere(run: Runner, tmp_path: Path) -> None:
    varied, safe = (dict(list(example.caption_sets()[name].items())[:12]) for name in ("varied", "safe"))
    sets = {image: [*captions[:4], f"{captions[4]} <unk>"] for image, captions in varied.items()}
    (tmp_path / "odd.json").write_text(json.dumps(sets))
    (tmp_path / "safe.json").write_text(json.dumps(safe))
    given = ("diversity", "odd.json", "safe.json", "--references", REFERENCES, "--interval", "none")
    report = tmp_path / "report.html"
    ended = run.here(*given, "--strict", "token", "--format", "json", "--report", str(report))
    assert ended.status == 3
    told = "found, token: odd: 12 of 60 candidates (20 %) hold tokens of a model"
    assert told in ended.stderr
    assert "found, token: odd: 12 of 60 candidates" in report.read_text(encoding="utf-8")
    references = {image: captions for image, captions in example.references().items() if image in sets}
    result = sacrecap.diversity({"odd": sets, "safe": safe}, references, interval=None)
    assert json.loads(ended.stdout)["findings"] == [one.to_dict() for one in result.findings]
    assert [(one.kind, one.count, one.systems) for one in result.findings] == [("token", 12, ("odd",))]
    assert result["safe"].findings == []
    assert told in run.here(*given, "-q").stdout
    [alone] = sacrecap.diversity(sets, interval=None).findings
    assert (alone.kind, alone.count) == ("token", 12)


def test_pairs_are_tested_as_they_are_asked_to_be(run: Runner) -> None:
    shown = json.loads(run.ok("diversity", *SETS, "--test", "bootstrap", "--df", "corpus", "--format", "json", "-q"))
    assert shown["test"] == {"name": "bootstrap", "samples": 1000, "seed": shown["test"]["seed"]}
    assert min(pair["p"] for pair in shown["pairs"]) == pytest.approx(1 / 1001)


def test_json_is_what_python_gives(run: Runner) -> None:
    shown = json.loads(run.ok("diversity", *SETS, "--references", REFERENCES, "--format", "json"))
    assert shown == json.loads(json.dumps(sacrecap.diversity(example.caption_sets(), example.references()).to_dict()))


@pytest.mark.parametrize("format_", ["csv", "markdown", "latex"])
def test_other_formats_hold_every_system(run: Runner, format_: str) -> None:
    shown = run.ok("diversity", *SETS, "--references", REFERENCES, "--format", format_, "--interval", "none")
    for name in (*example.CAPTION_SETS, "human"):
        assert name in shown
    if format_ == "csv":
        rows = list(csv.DictReader(io.StringIO(shown)))
        assert {row["metric"] for row in rows if row["system"] == "safe"} >= {"self-cider", "f", "vocabulary"}


def test_per_image_files(run: Runner, tmp_path: Path) -> None:
    one, all_of_them = tmp_path / "one.csv", tmp_path / "all.jsonl"
    run.ok("diversity", SETS[0], "--references", REFERENCES, "--per-image", str(one), "--interval", "none")
    rows = list(csv.DictReader(io.StringIO(one.read_text(encoding="utf8"))))
    assert list(rows[0])[:2] == ["image_id", "self-cider"]
    result = sacrecap.diversity(example.caption_sets()["varied"], example.references(), interval=None)
    assert [float(row["f"]) for row in rows] == result["sets"]["f"].per_image.tolist()
    run.ok("diversity", *SETS, "--references", REFERENCES, "--per-image", str(all_of_them), "--interval", "none")
    lines = [json.loads(line) for line in all_of_them.read_text(encoding="utf8").splitlines()]
    assert [line["system"] for line in lines] == [name for name in example.CAPTION_SETS for _ in range(60)]


def test_parquet(run: Runner, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "all.parquet"
    run.ok("diversity", *SETS, "--df", "corpus", "--per-image", str(path), "--interval", "none", "--quiet")
    assert parquet.read_table(path).column_names[:3] == ["system", "image_id", "self-cider"]


SHAPES = {
    "sets": lambda sets: json.dumps([{"image_id": image, "captions": captions} for image, captions in sets.items()]),
    "results": lambda sets: json.dumps(
        [{"image_id": image, "caption": caption} for image, captions in sets.items() for caption in captions]
    ),
    "mapping": json.dumps,
    "lines": lambda sets: "\n".join(json.dumps({"image_id": i, "captions": captions}) for i, captions in sets.items()),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_file_gives_the_same(run: Runner, tmp_path: Path, shape: str) -> None:
    sets = example.caption_sets()["varied"]
    path = tmp_path / "varied.json"
    path.write_text(SHAPES[shape](sets), encoding="utf8")
    arguments = ("--format", "json", "--interval", "none")
    assert run.ok("diversity", str(path), *arguments) == run.ok("diversity", SETS[0], *arguments)


def test_document_frequencies_from_a_file(run: Runner, tmp_path: Path) -> None:
    df = str(tmp_path / "df")
    run.ok("df", "build", REFERENCES, "-o", df)
    arguments = ("--format", "json", "--interval", "none")
    given = json.loads(run.ok("diversity", SETS[0], "--df", df, *arguments))["systems"]["varied"]
    counted = json.loads(run.ok("diversity", SETS[0], "--references", REFERENCES, *arguments))["systems"]["varied"]
    assert given["self-cider"] == pytest.approx(counted["self-cider"])
    assert f"|df:{sacrecap.DocumentFrequency.load(df).checksum}(60)|" in given["signatures"]["self-cider"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([f"x={SETS[0]}", f"x={SETS[1]}"], "two systems are called 'x'; give each a name of its own: NAME=FILE"),
        (["-", "-"], "only one of the files can be standard input"),
        ([SETS[0], "--top", "3"], "top needs references"),
        ([SETS[0], "--metrics", "bleu-4"], "scores one caption, not a caption set"),
        ([SETS[0], "--per-image", "x.txt"], "per-image scores: the suffix gives the format"),
        ([SETS[0], "--references", "nowhere.json"], "nowhere.json: no such file"),
        ([SETS[0], "--beta2", "-1"], "beta2 must be a number above 0"),
        ([], "Missing argument 'SETS...'"),
    ],
)
def test_bad_usage_is_one_line(run: Runner, arguments: list[str], message: str) -> None:
    assert message in run.refused("diversity", *arguments)


def test_systems_are_named_as_compare_names_them(run: Runner) -> None:
    ended = run.here("diversity", SETS[0], SETS[0], f"ours={SETS[1]}", "--metrics", "div-1", "--format", "json")
    assert ended.stderr == f"sacrecap: warning: {SETS[0]} is given twice, as two systems\n"
    assert list(json.loads(ended.stdout)["systems"]) == ["varied", "varied 2", "ours"]


def test_score_refuses_metrics_of_sets(run: Runner) -> None:
    candidates = str(example.system_path("plain"))
    assert "use sacrecap diversity" in run.refused("score", REFERENCES, candidates, "--metrics", "self-cider")


def test_a_split_is_of_the_references_or_of_sets_alone(run: Runner, tmp_path: Path) -> None:
    captions = ["a dog runs", "a brown dog", "the dog on grass"]
    rows = [
        {"imgid": number, "split": split, "sentences": [{"raw": text} for text in captions]}
        for number, split in enumerate(["train", "test", "test"])
    ]
    file = tmp_path / "dataset.json"
    file.write_text(json.dumps({"images": rows}), encoding="utf-8")
    sets = tmp_path / "sets.json"
    sets.write_text(json.dumps({str(number): captions for number in (1, 2)}), encoding="utf-8")
    given = ("--split", "test", "--interval", "none", "--format", "json", "-q")
    for files in ([str(file)], [str(sets), "--references", str(file)]):
        [shown] = json.loads(run.ok("diversity", *files, *given))["systems"].values()
        assert shown["images"] == 2
    assert "split" in run.refused("diversity", str(sets), *given)
