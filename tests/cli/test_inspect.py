"""`sacrecap inspect`, and --strict of score and compare."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from runner import Runner
from sacrecap import example
from sacrecap.choices import FINDINGS

REFERENCES, CAPTIONS = str(example.references_path()), str(example.system_path("careful"))
SETS = {"1": ["a dog runs", "a brown dog"], "2": ["two men", "men play chess"]}


@pytest.fixture
def odd(tmp_path: Path) -> str:
    """Captions of which each has a token of a model."""
    captions = {image: f"<s> {text}" for image, text in example.systems()["careful"].items()}
    file = tmp_path / "odd.json"
    file.write_text(json.dumps(captions))
    return str(file)


def test_a_file_is_described(run: Runner) -> None:
    document = json.loads(run.ok("inspect", CAPTIONS, "--format", "json"))
    assert document["format"] == "mapping"
    assert document["rows"] == document["captions"]["images"] == 60
    assert document["captions"]["captions_per_image"] == [1, 1]
    assert document["lengths"]["captions"]["least"] <= document["lengths"]["captions"]["median"]
    assert document["findings"] == []
    assert document["use"] == f"sacrecap score REFERENCES {CAPTIONS}"
    table = run.ok("inspect", REFERENCES)
    assert "found: nothing that looks wrong" in table
    assert "CANDIDATES" in table


def test_the_command_that_is_proposed_has_what_was_given_and_runs(run: Runner, tmp_path: Path) -> None:
    given = ["--id-column", "key", "--caption-column", "said by", "--caption-format", "csv(separator=|||)"]
    file = tmp_path / "the captions.csv"
    file.write_text("key,said by\n" + "".join(f"{image},{' ||| '.join(own)}\n" for image, own in SETS.items()))
    document = json.loads(run.ok("inspect", str(file), *given, "--format", "json"))
    told = "--set-format 'csv(separator=|||)' --id-column key --caption-column 'said by'"
    score, diversity = document["use"].split(", or ")
    assert score == f"sacrecap score '{file}' CANDIDATES {told}".replace("--set-", "--reference-")
    assert diversity == f"sacrecap diversity '{file}' {told} for caption sets"
    run.ok(*shlex.split(diversity.removesuffix(" for caption sets"))[1:], "--metrics", "div-1")
    file.write_text("key,said by\n1,a dog\n")
    document = json.loads(run.ok("inspect", str(file), *given[:4], "--caption-format", "csv", "--format", "json"))
    rest = "--candidate-format csv --id-column key --caption-column 'said by'"
    assert document["use"] == f"sacrecap score REFERENCES '{file}' {rest}"


def test_rows_with_both_are_described_as_both(run: Runner, tmp_path: Path) -> None:
    captions, references = example.systems()["careful"], example.references()
    rows = [{"id": image, "prediction": captions[image], "references": references[image]} for image in captions]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    document = json.loads(run.ok("inspect", str(file), "--format", "json"))
    assert (document["format"], document["rows"]) == ("rows", 60)
    assert document["columns"] == ["id", "prediction", "references"]
    assert document["candidates"]["captions"] == 60 < document["references"]["captions"]
    assert set(document["lengths"]) == {"candidates", "references"}


def test_odd_captions_are_told(run: Runner, odd: str) -> None:
    [token] = json.loads(run.ok("inspect", odd, "--format", "json"))["findings"]
    assert (token["kind"], token["count"]) == ("token", 60)
    assert "found, token: 60 of 60 captions" in run.ok("inspect", odd)


def test_a_file_of_no_known_format_is_one_message(run: Runner, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("pictured,text\n1,a dog\n")
    assert "has the columns pictured, text" in run.refused("inspect", file)


def test_findings_are_lines_on_standard_error_and_in_what_is_printed(run: Runner, odd: str) -> None:
    for format_ in ("table", "json", "markdown"):
        told = run.here("score", REFERENCES, odd, "--metrics", "rouge-l", "--format", format_)
        assert "sacrecap: found, token: 60 of 60 candidates (100 %)" in told.stderr
        assert "60 of 60 candidates (100 %)" in told.stdout
        quiet = run.here("score", REFERENCES, odd, "--metrics", "rouge-l", "--format", format_, "-q")
        assert (quiet.stdout, quiet.stderr) == (told.stdout, "")


def test_strict_findings_fail_after_the_result_is_written(run: Runner, odd: str, tmp_path: Path) -> None:
    score = ["score", REFERENCES, odd, "--metrics", "rouge-l", "--interval", "none", "--format", "json"]
    assert run.here(*score, "--strict", "length,empty", "--strict", "wrong-image").status == 0
    failed = run.here(*score, "--strict", "length, token")
    assert failed.status == 3
    assert json.loads(failed.stdout)["findings"][0]["kind"] == "token"
    assert failed.stderr.splitlines()[-1] == "sacrecap: found what --strict names: token"
    output = tmp_path / "result.json"
    compared = run.here("compare", REFERENCES, CAPTIONS, odd, "--strict", "token", "-q", "-o", str(output))
    assert (compared.status, compared.stderr) == (3, "sacrecap: found what --strict names: token\n")
    assert json.loads(output.read_text())["findings"][0]["systems"] == ["odd"]


def test_unknown_kinds_are_refused_before_anything(run: Runner) -> None:
    refused = run.refused("score", "nosuch.json", "nosuch.json", "--strict", "tokens")
    assert f"one of {', '.join(FINDINGS)}, got 'tokens' (did you mean 'token'?)" in refused
