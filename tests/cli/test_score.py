"""`sacrecap score`: what it prints and writes in every format is the result that the library gives."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import sacrecap
from runner import Runner
from sacrecap import example
from sacrecap.choices import OWN_TOKENIZERS
from sacrecap.metrics.registry import groups, own_metrics

Write = Callable[[str, object], str]

COCO = ["bleu-1", "bleu-2", "bleu-3", "bleu-4", "meteor", "rouge-l", "cider-d"]
LABELS = ["BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "METEOR", "ROUGE-L", "CIDEr-D"]
TABLE = """\
60 images, 5 references each, tokenizer ptb
metric     score      95% interval   range
BLEU-1    0.9092   0.8898 – 0.9276   0 to 1
BLEU-2    0.7879   0.7573 – 0.8169   0 to 1
BLEU-3    0.6422   0.6011 – 0.6824   0 to 1
BLEU-4    0.5073   0.4569 – 0.5570   0 to 1
METEOR    0.3697   0.3457 – 0.3932   0 to 1
ROUGE-L   0.6447   0.6140 – 0.6782   0 to 1
CIDEr-D   1.8334   1.7373 – 1.9258   0 to 10
"""
NOTE = (
    "CIDEr-D: words are weighed by these 60 images. On more images the score falls, often below its interval; to "
    "compare with other sets, take --df coco-train, or a file of sacrecap df build."
)
SIGNATURES = "".join(
    f"{key}|images:60/60|refs:5@ac46d984|caps:af9c7323|{own}tok:ptb|interval:percentile(0.95,1000,0)|"
    f"sacrecap:{sacrecap.__version__}\n"
    for key in COCO
    for own in [{"cider-d": "df:corpus(60)|", "meteor": "tables:02383ffe|"}.get(key, "")]
)


@pytest.fixture(scope="module")
def result() -> sacrecap.Result:
    return sacrecap.score(example.references(), example.systems()["careful"])


@pytest.fixture
def scored(run: Runner, references: str, candidates: str) -> Callable[..., dict[str, dict[str, float]]]:
    """The JSON document of a run with these options."""

    def scored(*options: object, files: tuple[str, str] = (references, candidates), stdin: str = "") -> dict:  # type: ignore[type-arg]
        given = {"stdin": stdin} if stdin else {}
        document = json.loads(run.ok("score", *files, "--format", "json", *options, **given))
        assert isinstance(document, dict)
        return document

    return scored


# Formats


def test_table(run: Runner, references: str, candidates: str) -> None:
    assert run.ok("score", references, candidates) == f"{TABLE}note: {NOTE}\n{SIGNATURES}"
    coloured = run.ok("score", references, candidates, colours=True)
    assert "\x1b[1m60 images" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == f"{TABLE}note: {NOTE}\n{SIGNATURES}"
    run.ok("score", references, candidates, "-o", "table.txt", colours=True)
    assert (run.folder / "table.txt").read_text(encoding="utf-8") == f"{TABLE}note: {NOTE}\n{SIGNATURES}"
    run.ok("df", "build", references, "-o", "own.df")
    assert run.ok("score", references, candidates, "--df", "own.df").startswith(f"{TABLE}bleu-1|")
    plain = run.ok("score", references, candidates, "--interval", "none").splitlines()
    assert plain[1] == "metric     score   range"
    assert plain[2] == "BLEU-1    0.9092   0 to 1"


def test_json(run: Runner, references: str, candidates: str, result: sacrecap.Result) -> None:
    printed = run.ok("score", references, candidates, "--format", "json")
    document = json.loads(printed)
    assert list(document) == ["sacrecap", "images", "scores", "intervals", "signatures", "findings", "notes"]
    assert document["notes"] == [NOTE]
    for part in ("scores", "intervals", "signatures"):
        assert list(document[part]) == COCO
    assert document == json.loads(json.dumps(result.to_dict()))
    version = sacrecap.__version__
    assert document["signatures"]["cider-d"] == (
        "cider-d|images:60/60|refs:5@ac46d984|caps:af9c7323|df:corpus(60)|tok:ptb|"
        f"interval:percentile(0.95,1000,0)|sacrecap:{version}"
    )


def test_csv(run: Runner, references: str, candidates: str, result: sacrecap.Result) -> None:
    rows = list(csv.DictReader(io.StringIO(run.ok("score", references, candidates, "--format", "csv"))))
    assert list(rows[0]) == ["metric", "score", "lower", "upper", "signature"]
    assert [row["metric"] for row in rows] == COCO
    for row in rows:
        score = result[row["metric"]]
        assert (float(row["score"]), row["signature"]) == (score.value, score.signature)
        assert (float(row["lower"]), float(row["upper"])) == score.interval
    bare = list(
        csv.DictReader(io.StringIO(run.ok("score", references, candidates, "--format", "csv", "--interval", "none")))
    )
    assert [(row["lower"], row["upper"]) for row in bare] == [("", "")] * len(COCO)


def test_markdown(run: Runner, references: str, candidates: str) -> None:
    lines = run.ok("score", references, candidates, "--format", "markdown").splitlines()
    assert lines[:2] == ["| metric | score | 95% interval |", "| --- | ---: | ---: |"]
    assert lines[2] == "| BLEU-1 | 0.9092 | 0.8898 to 0.9276 |"
    assert [line.split(" | ")[0].removeprefix("| ") for line in lines[2:9]] == LABELS
    assert lines[9:13] == ["", f"- note: {NOTE}", "", "```text"]
    assert [line.partition("|")[0] for line in lines[13:]] == [*COCO, "```"]
    bare = run.ok("score", references, candidates, "--format", "markdown", "--interval", "none").splitlines()
    assert bare[:3] == ["| metric | score |", "| --- | ---: |", "| BLEU-1 | 0.9092 |"]


def test_latex(run: Runner, references: str, candidates: str) -> None:
    text = run.ok("score", references, candidates, "--format", "latex")
    note, *lines = text.splitlines()
    assert note == f"% note: {NOTE}".replace("--", "-{}-")
    assert [line.partition("|")[0] for line in lines[:7]] == [f"% {key}" for key in COCO]
    assert lines[7:9] == [r"\begin{table}", r"\centering"]
    assert lines[9:11] == [r"\caption{Scores $\times$ 100.}", r"\label{tab:scores}"]
    assert lines[-1] == r"\end{table}"
    lines = lines[11:-1]
    assert lines[:4] == [r"\begin{tabular}{lrr}", r"\toprule", r"Metric & Score & 95\% interval \\", r"\midrule"]
    assert lines[4] == r"BLEU-1 & 90.9 & [89.0, 92.8] \\"
    assert lines[-2:] == [r"\bottomrule", r"\end{tabular}"]
    assert all(line.endswith(r" \\") and line.count("&") == 2 for line in lines[4:-2])
    assert not re.search(r"(?<!\\)[%_#$]", "\n".join(lines))
    assert r"\begin{tabular}{lr}" in run.ok("score", references, candidates, "--format", "latex", "--interval", "none")


def test_the_jackknife(
    run: Runner, references: str, candidates: str, scored: Callable[..., dict[str, dict[str, float]]]
) -> None:
    given = scored("--metrics", "rouge-l", "--interval", "jackknife")
    assert given["interval_method"] == "jackknife"
    usual = scored("--metrics", "rouge-l")
    assert "interval_method" not in usual
    assert given["intervals"]["rouge-l"] == pytest.approx(usual["intervals"]["rouge-l"], abs=0.01)
    assert (
        given["intervals"]
        == scored("--metrics", "rouge-l", "--interval", "jackknife(0.95)", "--seed", "7")["intervals"]
    )
    assert given["intervals"] != usual["intervals"]
    assert scored("--metrics", "rouge-l", "--interval", "jackknife(0.5)")["intervals"] != given["intervals"]
    for text in ("bca", "jackknife(2)", "jackknife(", "jackknife()"):
        message = run.refused("score", references, candidates, "--interval", text)
        assert f"{text!r} is neither a confidence level between 0 and 1 (such as 0.95), nor jackknife" in message
    assert "are of bootstrap samples alone" in run.refused("agreement", references, "--interval", "jackknife")


# Per-image scores and the report


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_per_image(run: Runner, references: str, candidates: str, result: sacrecap.Result, suffix: str) -> None:
    path = run.folder / f"scores.{suffix}"
    run.ok("score", references, candidates, "--per-image", path)
    rows: list[dict[str, object]]
    if suffix in {"csv", "tsv"}:
        read = csv.DictReader(path.read_text().splitlines(), delimiter="\t" if suffix == "tsv" else ",")
        rows = [{k: v if k == "image_id" else float(v) for k, v in row.items()} for row in read]
    elif suffix == "jsonl":
        rows = list(map(json.loads, path.read_text().splitlines()))
    else:
        rows = pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist()
    assert [list(row) for row in rows] == [["image_id", *COCO]] * 60
    assert [row["image_id"] for row in rows] == result.image_ids
    for key in COCO:
        assert [row[key] for row in rows] == result[key].per_image.tolist()


def test_per_image_on_standard_output(run: Runner, references: str, candidates: str) -> None:
    run.ok("score", references, candidates, "--per-image", "scores.csv")
    printed = run.ok("score", references, candidates, "--per-image", "-", "-o", "table.txt")
    assert printed == (run.folder / "scores.csv").read_text()
    assert (run.folder / "table.txt").read_text(encoding="utf-8") == f"{TABLE}note: {NOTE}\n{SIGNATURES}"


@pytest.mark.parametrize(
    ("name", "format_"),
    [
        ("out.json", "json"),
        ("out.JSON", "json"),
        ("out.csv", "csv"),
        ("out.md", "markdown"),
        ("out.tex", "latex"),
        ("out.txt", "table"),
        ("json", "table"),
    ],
)
def test_the_suffix_of_the_output_gives_the_format(
    run: Runner, references: str, candidates: str, name: str, format_: str
) -> None:
    score = ("score", references, candidates, "--metrics", "rouge-l", "--interval", "none")
    expected = run.ok(*score, "--format", format_)
    for options in (("-o", name), ("--threads", 1, "-o", name)):
        assert run.ok(*score, *options) == ""
        assert (run.folder / name).read_text(encoding="utf-8") == expected
    run.ok(*score, "--format", "csv", "-o", name)
    csv_ = run.ok(*score, "--format", "csv")
    assert (run.folder / name).read_text(encoding="utf-8") == csv_, "--format says otherwise"


def test_report(run: Runner, references: str, candidates: str) -> None:
    assert run.ok("score", references, candidates, "--report", "page.html") == f"{TABLE}note: {NOTE}\n{SIGNATURES}"
    page = (run.folder / "page.html").read_text(encoding="utf-8")
    assert "<h1>careful</h1>" in page
    assert NOTE in page
    assert run.ok("score", references, candidates, "--report", "-", "-o", "t.txt").startswith("<!doctype html>")


# Options


def test_metrics(scored: Callable[..., dict[str, dict[str, float]]], result: sacrecap.Result) -> None:
    scores = scored("--metrics", "cider-d(sigma=5, n=4), bleu-4,coco", "--interval", "none")["scores"]
    assert list(scores) == ["cider-d(sigma=5)", "bleu-4", "bleu-1", "bleu-2", "bleu-3", "meteor", "rouge-l", "cider-d"]
    assert scores["cider-d(sigma=5)"] != scores["cider-d"] == result["cider-d"].value
    objects = ("--objects", example.objects_path())
    every = scored("--metrics", "consensus,long,fidelity", "--interval", "none", *objects)
    of_captions = {metric.name for metric in own_metrics() if not metric.scores_sets} - {"judge", "rubric"}
    assert {*every["scores"]} == of_captions - {*groups()["learned"]}
    assert {*groups()["all"]} == of_captions
    consensus = scored("--metrics", "consensus", "--interval", "none")
    assert list(consensus["scores"]) == [*groups()["consensus"]]
    assert consensus["scores"].items() <= every["scores"].items()


def test_intervals(scored: Callable[..., dict[str, dict[str, float]]]) -> None:
    assert scored("--interval", "none")["intervals"] == {}
    wide, narrow = (scored("--interval", level)["intervals"]["cider-d"] for level in ("0.99", "0.5"))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]  # type: ignore[index]
    few = scored("--samples", "50")["intervals"]
    assert (
        few
        == scored("--samples", "50", "--seed", "0")["intervals"]
        != scored("--samples", "50", "--seed", "1")["intervals"]
    )


def test_threads_do_not_change_a_byte(run: Runner, references: str, candidates: str) -> None:
    one, three = (
        run.ok("score", references, candidates, "--format", "json", "--threads", n, "--per-image", f"{n}.csv")
        for n in (1, 3)
    )
    assert one == three
    assert (run.folder / "1.csv").read_bytes() == (run.folder / "3.csv").read_bytes()


def test_tokenizers(scored: Callable[..., dict[str, dict[str, float]]]) -> None:
    by_name = {name: scored("--tokenizer", name, "--interval", "none") for name in OWN_TOKENIZERS}
    assert by_name["whitespace"]["scores"] == by_name["none"]["scores"] != by_name["ptb"]["scores"]
    assert by_name["blanks"]["scores"] == by_name["none"]["scores"]  # no caption there has two blanks side by side
    for name, document in by_name.items():
        assert all(f"|tok:{name}|" in str(signature) for signature in document["signatures"].values())


def test_document_frequencies(run: Runner, scored: Callable[..., dict[str, dict[str, float]]]) -> None:
    own = scored("--interval", "none")
    run.ok("df", "build", "references.json", "-o", "own.df")
    given = scored("--interval", "none", "--df", "own.df")
    assert given["scores"] == own["scores"]
    assert re.search(r"\|df:[0-9a-f]{8}\(60\)\|", str(given["signatures"]["cider-d"]))
    assert given["signatures"]["bleu-1"] == own["signatures"]["bleu-1"]


def test_missing_candidates(
    scored: Callable[..., dict[str, dict[str, float]]], write: Write, result: sacrecap.Result
) -> None:
    captions = example.systems()["careful"]
    dropped = dict(list(captions.items())[1:])
    files = ("references.json", write("dropped.json", dropped))
    skipped = scored("--on-missing", "skip", files=files)
    zero = scored("--on-missing", "zero", "-q", files=files)
    assert (skipped["images"], zero["images"]) == (59, 60)
    expected = sacrecap.score({i: c for i, c in example.references().items() if i in dropped}, dropped)
    assert skipped["scores"] == {key: score.value for key, score in expected.items()}
    assert zero["scores"]["rouge-l"] == pytest.approx(result["rouge-l"].value - result["rouge-l"].per_image[0] / 60)


# Files


def test_standard_input(scored: Callable[..., dict[str, dict[str, float]]], result: sacrecap.Result) -> None:
    expected = {key: score.value for key, score in result.items()}
    files = (example.references_path(), example.system_path("careful"))
    assert scored(files=("references.json", "-"), stdin=files[1].read_text())["scores"] == expected
    assert scored(files=("-", "careful.json"), stdin=files[0].read_text())["scores"] == expected


KARPATHY = {
    "images": [
        {"cocoid": 1, "split": "test", "sentences": [{"raw": "A dog runs."}, {"raw": "a dog running"}]},
        {"cocoid": 2, "split": "train", "sentences": [{"raw": "A cat."}, {"raw": "the cat"}]},
        {"cocoid": 3, "split": "test", "sentences": [{"raw": "Two men."}, {"raw": "men on a bench"}]},
    ]
}


def test_splits(run: Runner, scored: Callable[..., dict[str, dict[str, float]]], write: Write) -> None:
    files = (write("dataset.json", KARPATHY), write("test.csv", "image_id,caption\n1,a dog\n3,two men on a bench\n"))
    assert scored("--split", "test", files=files)["images"] == 2
    assert scored("--split", "test", "--reference-format", "karpathy", files=files)["images"] == 2
    message = run.refused("score", *files, "--split", "val")
    assert "dataset.json: " in message
    assert "val" in message
    assert "the splits are test, train" in message
    assert run.refused("score", *files).startswith("test.csv: no candidate for 1 image (2); add them")


def test_numbers_and_digits_are_the_same_image(
    scored: Callable[..., dict[str, dict[str, float]]], write: Write
) -> None:
    numbers = [{"image_id": i, "caption": c} for i in (1, 2) for c in ("a dog runs", f"dog number {i}")]
    references = write("numbers.json", numbers)
    documents = [
        scored("--interval", "none", files=(references, write(name, content)))
        for name, content in [
            ("text.json", {"1": "a dog", "2": "dog number 2"}),
            ("number.json", [{"image_id": 1, "caption": "a dog"}, {"image_id": 2, "caption": "dog number 2"}]),
            ("lines.jsonl", '{"image_id": "1", "caption": "a dog"}\n{"image_id": 2, "caption": "dog number 2"}\n'),
            ("table.tsv", "image_id\tcaption\n1\ta dog\n2\tdog number 2\n"),
        ]
    ]
    assert documents[0]["images"] == 2
    assert documents == [documents[0]] * 4


def test_a_device_is_written_too(run: Runner, references: str, candidates: str) -> None:
    if Path("/dev/null").exists():
        assert run.ok("score", references, candidates, "-o", "/dev/null") == ""


def test_explain(run: Runner, references: str, candidates: str) -> None:
    text = run.ok("score", references, candidates, "--metrics", "meteor", "--explain", "beach-dog")
    drawn = text.split("\n\n")[-1].splitlines()
    assert drawn[0] == "beach-dog"
    assert drawn[1].startswith("candidate  ")
    assert drawn[-1].startswith("score      0.")
    document = json.loads(
        run.ok("score", references, candidates, "--metrics", "meteor", "--explain", "beach-dog", "--format", "json")
    )
    assert document["alignments"]["beach-dog"]["links"][0]["module"] in ("exact", "stem", "synonym", "paraphrase")
    refused = run.refused("score", references, candidates, "--explain", "beach-dog", "--format", "csv")
    assert "explained images are shown with --format table or json, not csv" in refused
    assert "no image 'x' among the 60 scored ones" in run.refused("score", references, candidates, "--explain", "x")
