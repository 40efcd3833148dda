"""Judges on the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fake_endpoint import FakeEndpoint, always, judge_by_words
from runner import Runner
from sacrecap import example
from sacrecap.metrics.judge import ASKED, prompt

SECRET = "sk-of-nobody-0123456789"  # noqa: S105


@pytest.fixture
def judge() -> Iterator[FakeEndpoint]:
    with judge_by_words() as fake:
        yield fake


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture
def files(run: Runner) -> list[str]:
    """References, and two systems' captions, of twenty images: each caption costs a request."""
    for name, captions in {"references": example.references(), **example.systems()}.items():
        (run.folder / f"{name}.json").write_text(json.dumps(dict(list(captions.items())[:20])))
    return ["references.json", "careful.json", "template.json"]


def of(fake: FakeEndpoint, *more: str) -> list[str]:
    return ["--metrics", "judge(rating)", "--judge-url", fake.url, "--judge-model", "m", *more]


def test_scores_are_kept_and_told(run: Runner, judge: FakeEndpoint, files: list[str]) -> None:
    priced = of(judge, "--judge-settings", "price=1,2", "--format", "json")
    dry = json.loads(run.ok("score", *files[:2], *priced, "--judge-settings", "dry-run=yes"))
    assert (dry["scores"], dry["judge"]["dry_run"], dry["judge"]["asked"]) == ({"judge(rating)": None}, True, 20)
    assert not judge.requests
    first = json.loads(run.ok("score", *files[:2], *priced, "--judge-settings", "budget=1"))
    assert 0.8 < first["scores"]["judge(rating)"] < 1
    assert first["judge"]["money"] == pytest.approx(20 * (100 * 1 + 10 * 2) / 1e6)
    again = json.loads(run.ok("score", *files[:2], *priced, "--engine", "stream"))
    assert again["scores"] == first["scores"]
    assert again["signatures"] == first["signatures"]
    assert (again["judge"]["asked"], again["judge"]["kept"]) == (0, 20)
    table = run.ok("score", *files[:2], *of(judge))
    assert "note: judge: 0 requests, 0 tokens in, 0 out; 20 answers were there from before" in table
    assert len(judge.requests) == 20


def test_a_budget_ends_the_command_and_the_next_one_goes_on(run: Runner, judge: FakeEndpoint, files: list[str]) -> None:
    message = run.refused("score", *files[:2], *of(judge, "--judge-settings", "budget=1000 tokens"))
    assert "the budget of 1000 tokens has no room for another request" in message
    assert "give a larger one to go on" in message
    asked = len(judge.requests)
    assert 0 < asked < 20
    run.ok("score", *files[:2], *of(judge))
    assert len(judge.requests) == 20


def test_the_key_is_in_no_output_and_no_file(
    run: Runner, judge: FakeEndpoint, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (run.folder / "references.json").write_text('{"1": ["a dog runs"], "2": ["a red bus"]}')
    (run.folder / "captions.json").write_text('{"1": "a dog", "2": "a bus"}')
    monkeypatch.setenv("MINE", SECRET)
    monkeypatch.setenv("OPENAI_LOG", "debug")
    told = run(
        "score", "references.json", "captions.json", *of(judge, "--judge-key-env", "MINE", "--report", "report.html")
    )
    assert judge.requests[0].headers["authorization"] == f"Bearer {SECRET}"
    assert SECRET not in told.stdout + told.stderr
    files = [file for folder in (run.folder, cache) for file in folder.rglob("*") if file.is_file()]
    assert {"report.html", "answers.sqlite"} <= {file.name for file in files}
    assert not [file for file in files if SECRET.encode() in file.read_bytes()]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--judge-url", "http://localhost:1/v1"], "give both --judge-url URL and --judge-model NAME"),
        (["--judge-model", "m"], "give both --judge-url URL and --judge-model NAME"),
        (["--judge-settings", "dry-run=yes"], "--judge-settings dry-run is for a judge"),
        (["--judge-settings", "budget=5"], "--judge-settings budget is for a judge"),
        (["--judge-key-env", "MINE"], "--judge-key-env is for a judge"),
        ([], "at your cost: give --judge-url URL --judge-model NAME"),
        (["--judge-url", "ftp://x", "--judge-model", "m"], "begins with http:// or https://"),
        (["--judge-url", "http://10.0.0.1/v1", "--judge-model", "m", "--judge-key-env", "MINE"], "over plain http"),
        (["--judge-url", "https://a.invalid/v1", "--judge-model", "m", "--judge-key-env", "NOT_SET"], "is not set"),
    ],
)
def test_what_is_missing_is_named(
    run: Runner, files: list[str], monkeypatch: pytest.MonkeyPatch, more: list[str], message: str
) -> None:
    monkeypatch.setenv("MINE", SECRET)
    refused = run.refused("score", *files[:2], "--metrics", "judge", *more)
    assert message in refused
    assert SECRET not in refused


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("price=1", "price is the prices of a million tokens in and of a million out, such as 0.15,0.6, got '1'"),
        ("price=1,-2", "got '1,-2'"),
        ("price=1,inf", "got '1,inf'"),
        ("price=nan,1", "got 'nan,1'"),
        ("requests=0", "requests is a number of requests at the same time, 1 to 1024, got '0'"),
        ("requests=1025", "1 to 1024, got '1025'"),
        ("unanswered=1.5", "0 to 1, got '1.5'"),
        ("dry-run=1", "dry-run is yes or no, got '1'"),
        ("per-minute=0", "per-minute is a number of requests in a minute, got '0'"),
        ("extra=low", 'an object of JSON, such as {"reasoning_effort": "low"}, got'),
        ("image-size=3", "the longest side of an image in pixels, 16 to 65535, got '3'"),
        ("rubric=", "rubric is the file of each image's items, got ''"),
        ("key-env=MINE", "key-env is not a setting; give --judge-key-env"),
        (
            "prise=1,2",
            "one of price, budget, requests, per-minute, extra, image-size, unanswered, dry-run, prompt, rubric, got",
        ),
        ("5,price=1,2", "takes FILE or KEY=VALUE,…, got '5,price=1,2'"),
        ("", "takes FILE or KEY=VALUE,…, got ''"),
    ],
)
def test_settings_that_are_refused(run: Runner, files: list[str], given: str, message: str) -> None:
    refused = run.refused("score", *files[:2], "--judge-settings", given)
    assert refused.startswith("--judge-settings")
    assert message in refused


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "judge.json",
            '{"price": [1, 2], "budget": "1000 tokens", "requests": 1, "dry-run": false, "unanswered": 0.5}',
        ),
        ("a=b.json", '{"price": [1, 2], "budget": "1000 tokens", "unanswered": 0.5}'),
        ("judge.toml", 'price = [1, 2]\nbudget = "1000 tokens"\nrequests = 1\ndry-run = false\nunanswered = 0.5\n'),
    ],
)
def test_settings_of_a_file(run: Runner, judge: FakeEndpoint, files: list[str], name: str, text: str) -> None:
    if name.endswith("toml") and sys.version_info < (3, 11):
        pytest.skip("Python 3.10 reads no TOML")
    (run.folder / name).write_text(text)
    assert "the budget of 1000 tokens" in run.refused("score", *files[:2], *of(judge, "--judge-settings", name))
    more = ["--judge-settings", name, "--judge-settings", "budget=2", "--format", "json"]
    document = json.loads(run.ok("score", *files[:2], *of(judge, *more)))
    assert document["judge"]["money"] > 0, "the last one counts, and the price is that of the file"
    (run.folder / name).write_text(text.replace("1000 tokens", "free"))
    assert "a budget is money" in run.refused("score", *files[:2], *of(judge, "--judge-settings", name))
    (run.folder / name).write_text(text.replace("0.5", "5"))
    refused = run.refused("score", *files[:2], *of(judge, "--judge-settings", name))
    assert refused == f"{name}: unanswered is the largest share of captions without an answer, 0 to 1, got '5'"
    (run.folder / name).write_text(text[:-3] + "'")
    assert run.refused("score", *files[:2], *of(judge, "--judge-settings", name)).startswith(
        f"{name}: neither JSON nor"
    )


def test_parameters_of_the_server(run: Runner, judge: FakeEndpoint, files: list[str]) -> None:
    """They stand in the signature, which reads back from a file of settings and from the command line alike."""
    extra = {"reasoning_effort": "low", "chat_template_kwargs": {"enable_thinking": False}}
    (run.folder / "judge.json").write_text(json.dumps({"extra": extra, "per-minute": 60_000}))
    for settings in ("judge.json", f"per-minute=60000,extra={json.dumps(extra)}"):
        document = json.loads(run.ok("score", *files[:2], *of(judge, "--judge-settings", settings, "--format", "json")))
        told = document["signatures"]["judge(rating)"].partition("|extra:")[2].partition("|tok:")[0]
        assert json.loads(told.strip('"').replace('""', '"')) == extra
    assert len(judge.requests) == 20
    assert judge.requests[0].body["chat_template_kwargs"] == {"enable_thinking": False}


def test_compare_in_pairs(run: Runner, judge: FakeEndpoint, files: list[str]) -> None:
    endpoint = ["--judge-url", judge.url, "--judge-model", "m"]
    document = json.loads(
        run.ok("compare", *files, "--metrics", "judge(pairwise), rouge-l", *endpoint, "--format", "json", "-q")
    )
    assert document["systems"]["careful"]["scores"]["judge(pairwise)"] > 0.8
    assert document["judge"]["asked"] == len(judge.requests)
    assert any("the order alone decided" in note for note in document["notes"])
    refused = run.refused("score", *files[:2], "--metrics", "judge(pairwise)", *endpoint)
    assert "compares the captions of several systems: sacrecap compare" in refused


def test_a_wrong_judge_ends_the_command(run: Runner, files: list[str]) -> None:
    with always("I like it.") as fake:
        refused = run.refused("score", *files[:2], *of(fake))
    assert "20 of 20 captions" in refused
    assert "the judge said 'I like it.'" in refused
    assert "--judge-settings unanswered=SHARE" in refused


@pytest.mark.parametrize("asked", ASKED)
def test_prompts_are_printed(run: Runner, asked: str) -> None:
    assert run.ok("metrics", "judge", "--prompt", asked) == prompt(asked, "default").text  # type: ignore[arg-type]


def test_a_prompt_is_of_judge(run: Runner) -> None:
    for names in ([], ["cider-d"], ["judge", "cider-d"]):
        refused = run.refused("metrics", *names, "--prompt", "rating")
        assert refused.startswith("--prompt is of judge: sacrecap metrics judge --prompt rating")


def test_a_rubric_from_a_file(run: Runner, files: list[str]) -> None:
    images = json.loads((run.folder / files[1]).read_text())
    rubric = {image: ["a dog", "a beach"] for image in images}
    (run.folder / "rubric.json").write_text(json.dumps(rubric))
    with always('{"answers": ["yes", "no"]}') as fake:
        endpoint = ["--metrics", "judge(rubric)", "--judge-url", fake.url, "--judge-model", "m"]
        command = ["score", *files[:2]]
        document = json.loads(run.ok(*command, *endpoint, "--judge-settings", "rubric=rubric.json", "--format", "json"))
        assert document["scores"] == {"judge(rubric)": 0.5}
        assert "look" in run.refused(*command, *endpoint)
