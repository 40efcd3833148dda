"""The pages that belong to no member are run (see `pages`), and all are looked at for links and for what is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import capeval
import pages
from capeval import data, errors, metrics
from capeval.cli.main import cli
from capeval.corpus.corpus import TOKENIZERS
from capeval.metrics import Metric
from capeval.metrics.base import spell
from capeval.metrics.combine import WeightedMean
from capeval.metrics.registry import METRICS
from capeval.report.formats import FORMATS as PRINTED_FORMATS
from pages import DOCS, PAGES, ROOT, RUNNERS, Page, every_page, run_page, runner_of
from tiny_checkpoints import write_bert, write_clip

CHECKPOINT = "tiny-llava"
"""The checkpoint of pages that train one: readers put the name of theirs."""
REFERENCE = {page: page.read_text(encoding="utf-8") for page in sorted((DOCS / "reference").rglob("*.md"))}


@every_page("core")
def test_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_page(page, tmp_path, monkeypatch)


@pytest.mark.torch
@every_page("torch")
@pytest.mark.filterwarnings("ignore")  # of trainers and their dependencies
def test_page_that_needs_torch_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if CHECKPOINT in page.read_text(encoding="utf-8"):
        from tiny_llava import write_tiny_llava

        write_tiny_llava(tmp_path / CHECKPOINT, ["a brown dog runs along the beach", "two cats in city", "child ball"])
    if "tiny-clip" in page.read_text(encoding="utf-8"):
        write_clip(tmp_path / "tiny-clip", seed=23)  # which tells the images of the example apart
    if "tiny-bert" in page.read_text(encoding="utf-8"):
        write_bert(tmp_path / "tiny-bert")
    run_page(page, tmp_path, monkeypatch)


@pytest.mark.ray
@every_page("ray")
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning:ray", "ignore::FutureWarning:ray")
def test_page_that_needs_ray_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On one cluster for all its commands."""
    ray = pytest.importorskip("ray")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
    try:
        run_page(page, tmp_path, monkeypatch)
    finally:
        ray.shutdown()


def test_every_page_is_run_by_one_distribution() -> None:
    """A mark that no runner looks for would leave its page out."""
    assert {runner_of(page) for page in PAGES} == {*RUNNERS}
    for page in PAGES:
        marks = re.findall(r"^<!-- tests:", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert len(marks) == (runner_of(page) != "core"), f"{page}: the mark stands once, in the first line"


def test_the_comparison_can_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "UPDATE", False)
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    assert pages.matches("a [...] d\ne", "a b  c d e")
    assert pages.matches("0.90[...]", "0.9092")
    assert not pages.matches("0.91[...]", "0.9092")
    assert not pages.matches("a b", "a b c")
    assert not pages.matches("a b", "ab")
    assert list(pages.commented_output("print(1)  # 1\nx = 2  # no\nprint(x)\n# 2\n# 3\n\n# no\n")) == ["1", "2", "3"]
    assert list(pages.commands("$ a \\\n  b\nout\nput\n$ c\n")) == [("a \\\n  b", "out\nput\n", 10), ("c", "", 22)]
    rewritten = pages.with_comments("print(1)  # 0\nprint(x)\n# 2\n# no\n", ["1", "3"])
    assert rewritten == "print(1)  # 1\nprint(x)\n# 3\n# no\n"
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1)\n```\n\n```text\n2\n```\n", encoding="utf-8")
    with pytest.raises(BaseException, match="what was printed is"):
        Page(page).run()


# What the pages have to hold


def documented(name: str) -> bool:
    return any(f"`{name}`" in text or f"`{name}(" in text for text in REFERENCE.values())


@pytest.mark.parametrize("metric", [metric for metric, _ in METRICS], ids=lambda metric: metric.name)
def test_every_metric_has_a_page(metric: Metric) -> None:
    folder = DOCS / "reference" / "metrics"
    pages = [text for page, text in REFERENCE.items() if page.parent == folder and f"`{metric.name}`" in text]
    assert pages, f"no page of docs/reference/metrics names `{metric.name}`"
    for p in metric.parameters():
        row = f"| `{p.name}` | `{spell(getattr(metric, p.name))}` |"
        assert any(row in text for text in pages), f"{metric.name}: no row {row}"
        for choice in p.choices or ():
            assert any(f"`{choice}`" in text for text in pages), f"{metric.name}: {p.name} has the choice {choice}"
    # A mean promises what its members do, on their pages.
    for case in () if isinstance(metric, WeightedMean) else metric.nothing:
        assert any(case.lower() in text.lower() for text in pages), f"{metric.name}: nothing about: {case}"


def test_every_command_is_on_the_page_and_no_other() -> None:
    own = {"capeval": cli}
    for name in cli.summaries:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        own |= pages.subcommands(command, "capeval", name)
    pages.check_help(DOCS / "reference" / "command-line.md", own)


def public_names() -> Iterator[str]:
    yield from (f"capeval.{name}" for name in capeval.__all__)
    yield from (f"capeval.metrics.{name}" for name in metrics.__all__)
    yield from (f"capeval.data.{name}" for name in data.__all__)
    for name, value in vars(errors).items():
        if isinstance(value, type) and issubclass(value, Exception | Warning):
            yield f"{name}"


@pytest.mark.parametrize("name", list(public_names()))
def test_every_public_name_is_documented(name: str) -> None:
    assert documented(name), f"no page of docs/reference has `{name}`"


def public_members() -> Iterator[tuple[type, str]]:
    for kind in (
        capeval.Score, capeval.Result, capeval.Comparison, capeval.Corpus, capeval.DocumentFrequency,
        capeval.CiderDReward, capeval.SceneGraph, capeval.References, capeval.Accumulator,
    ):  # fmt: skip
        yield from ((kind, name) for name in vars(kind) if not name.startswith("_"))


@pytest.mark.parametrize(("kind", "name"), list(public_members()))
def test_every_public_member_is_documented(kind: type, name: str) -> None:
    text = REFERENCE[DOCS / "reference" / "python.md"]
    assert re.search(rf"`\.?{name}[`(]", text), f"{kind.__name__}.{name} is not in docs/reference/python.md"


@pytest.mark.parametrize("name", [*data.FORMATS, *TOKENIZERS, *PRINTED_FORMATS])
def test_every_format_and_tokenizer_is_documented(name: str) -> None:
    assert documented(name)


# Links and numbers


def slugs(text: str) -> set[str]:
    """Headings as GitHub turns them into anchors."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@every_page()
def test_links_resolve(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), f"{target} leads nowhere"
        if anchor:
            assert anchor in slugs(linked.read_text(encoding="utf-8")), f"{target}: no such heading"


def test_the_index_has_every_page() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    for page in DOCS.rglob("*.md"):
        assert page == DOCS / "README.md" or f"]({page.relative_to(DOCS).as_posix()})" in index, page


def test_the_readme_begins_with_code_and_claims_no_speed_outside_the_benchmark_table() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "\n```" in "\n".join(text.splitlines()[:10])
    outside = re.sub(r"<!-- benchmark -->.*<!-- /benchmark -->", "", text, flags=re.DOTALL)
    assert outside != text
    assert not re.findall(r"\d\s*(?:×|x\b|ms\b|times\b)", outside)
