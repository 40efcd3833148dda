"""The pages that belong to no member are run (see `pages`), and all are looked at for links and for what is missing."""

from __future__ import annotations

import ast
import contextlib
import inspect
import re
import shutil
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

import pytest

import pages
import sacrecap
from fake_endpoint import judge_by_words
from pages import DOCS, PAGES, ROOT, RUNNERS, Page, every_page, run_page, runner_of
from sacrecap import data, errors, metrics
from sacrecap.choices import FORMATS as PRINTED_FORMATS
from sacrecap.choices import TOKENIZERS
from sacrecap.cli.main import MEMBERS, cli
from sacrecap.metrics import Metric
from sacrecap.metrics.combine import WeightedMean
from sacrecap.metrics.declared import spell
from sacrecap.metrics.registry import own_metrics
from sacrecap.resources import endpoint
from tiny_checkpoints import write_bert, write_clip

REFERENCE = {page: page.read_text(encoding="utf-8") for page in sorted((DOCS / "reference").rglob("*.md"))}


JUDGE = "http://localhost:8000/v1"
"""The endpoint of pages that ask a judge: readers put the address of theirs."""


@every_page("core")
@pytest.mark.usefixtures("undrawn")
def test_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with contextlib.ExitStack() as running:
        if JUDGE in page.read_text(encoding="utf-8"):
            fake = running.enter_context(judge_by_words())
            monkeypatch.setattr(endpoint, "checked_url", lambda _: fake.url)
            monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        run_page(page, tmp_path, monkeypatch)


@pytest.mark.torch
@every_page("torch")
@pytest.mark.filterwarnings("ignore")  # of trainers and their dependencies
def test_page_that_needs_torch_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "tiny-clip" in page.read_text(encoding="utf-8"):
        write_clip(tmp_path / "tiny-clip", seed=23)  # which tells the images of the example apart
    if "tiny-bert" in page.read_text(encoding="utf-8"):
        write_bert(tmp_path / "tiny-bert")
    run_page(page, tmp_path, monkeypatch)


@pytest.mark.ray
@every_page("ray")
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning:ray", "ignore::FutureWarning:ray")
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_page_that_needs_ray_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On one cluster for all its commands."""
    ray = pytest.importorskip("ray")
    if "pyspark" in page.read_text(encoding="utf-8"):
        if shutil.which("java") is None:
            pytest.skip("Spark needs a Java runtime")
        monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    monkeypatch.setenv("RAY_worker_niceness", "0")
    own = not ray.is_initialized()  # other tests may have connected to theirs
    if own:
        ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
    # Else a command joins whatever cluster began last on this machine, and is lost with it.
    monkeypatch.setenv("RAY_ADDRESS", ray.get_runtime_context().gcs_address)
    try:
        run_page(page, tmp_path, monkeypatch)
    finally:
        if own:
            ray.shutdown()


def test_every_page_is_run_by_one_distribution() -> None:
    """A mark that no runner looks for would leave its page out."""
    assert {runner_of(page) for page in PAGES} == {*RUNNERS}
    for page in PAGES:
        marks = re.findall(r"^<!-- tests:", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert len(marks) == (runner_of(page) != "core"), f"{page}: the mark stands once, in the first line"


def needed_members(page: Path) -> set[str]:
    """The members whose commands or modules the blocks of a page call."""
    members = {"server": "server", "train": "captioning"}  # by the extra that installs each
    needed = set()
    for block in pages.blocks(page):
        if block.language == "console":
            words = [
                command.split() for command, shown, _ in pages.commands(block.text) if shown or "--help" not in command
            ]
            needed |= {
                members[MEMBERS[name]]
                for first, name, *_ in filter(lambda w: len(w) > 1, words)
                if first == "sacrecap" and name in MEMBERS
            }
        elif block.language == "python" and not block.name:
            needed |= {
                member for member in members.values() if re.search(rf"\b(import|from) sacrecap_{member}\b", block.text)
            }
    return needed


@every_page()
def test_the_members_that_a_page_needs_are_installed_where_it_runs(page: Path) -> None:
    """Elsewhere it runs only on a machine of somebody who has installed them by hand."""
    _, installed = RUNNERS[runner_of(page)]
    assert needed_members(page) <= {*installed}, "a runner that has them is named by the mark in the first line"


def test_the_makefile_installs_the_members_of_each_runner() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipes = re.findall(r"^\$\((\w+)\)/\.\w+:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    installs = {name: {*re.findall(r"-e packages/(\w+)", recipe)} for name, recipe in recipes}
    assert all(installs[name] == {*members} for name, members in RUNNERS.values())


def test_a_member_that_is_not_installed_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```console\n$ sacrecap study check a.json\nfine\n```\n\n```python\nimport sacrecap_captioning\n```\n", "utf-8"
    )
    assert needed_members(page) == {"server", "captioning"}


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
    shown = f"^::: {re.escape(name)}$"
    called = f"{name.removeprefix('sacrecap.metrics.')}("  # a metric, on a page of its own
    return any(
        f"`{name}`" in text or f"`{name}(" in text or f"`{called}" in text or re.search(shown, text, re.MULTILINE)
        for text in REFERENCE.values()
    )


@pytest.mark.parametrize("metric", own_metrics(), ids=lambda metric: metric.name)
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
    """Those of a member are looked at by its tests."""
    pages.check_help(*cli.own_commands)
    headings = re.findall(r"^## `sacrecap (.*)`$", REFERENCE[DOCS / "reference" / "command-line.md"], re.MULTILINE)
    assert sorted(headings) == sorted([*cli.own_commands, *MEMBERS])


def public_names() -> Iterator[str]:
    yield from (f"sacrecap.{name}" for name in sacrecap.__all__)
    yield from (f"sacrecap.metrics.{name}" for name in metrics.__all__)
    yield from (f"sacrecap.data.{name}" for name in data.__all__)
    for name, value in vars(errors).items():
        if isinstance(value, type) and issubclass(value, Exception | Warning):
            yield f"{name}"


def test_every_public_name_is_documented() -> None:
    assert [name for name in public_names() if not documented(name)] == []


def with_docstrings() -> Iterator[str]:
    on_pages_of_their_own = {"Combine", *(place.partition(":")[2] for place, _, _ in metrics.METRICS.values())}
    for module in (sacrecap, metrics, data, sacrecap.judgments):
        for name in module.__all__:
            if callable(getattr(module, name)) and name not in on_pages_of_their_own:
                yield f"{module.__name__}.{name}"


def test_every_public_docstring_is_on_a_page() -> None:
    whole = {"sacrecap.SacrecapError": "sacrecap.errors", "sacrecap.SacrecapWarning": "sacrecap.errors"}
    shown = {*re.findall(r"^::: (.*)$", REFERENCE[DOCS / "reference" / "api.md"], re.MULTILINE)}
    assert {whole.get(name, name) for name in with_docstrings()} - shown == set()


def without_docstring(kind: type) -> Iterator[str]:
    """Names of a class' fields, properties and methods that have none, so that the site would leave them out."""
    [whole] = ast.parse(inspect.getsource(kind)).body
    assert isinstance(whole, ast.ClassDef)
    for member, after in pairwise([*whole.body, None]):
        if isinstance(member, ast.FunctionDef):
            name, has_one = member.name, ast.get_docstring(member) is not None
        elif isinstance(member, ast.AnnAssign | ast.Assign):
            name = ast.unparse(member.target if isinstance(member, ast.AnnAssign) else member.targets[0])
            has_one = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        else:
            continue
        if not has_one and not name.startswith("_"):
            yield name


@pytest.mark.parametrize(
    "kind",
    [
        sacrecap.Score,
        sacrecap.Result,
        sacrecap.Comparison,
        sacrecap.Corpus,
        sacrecap.DocumentFrequency,
        sacrecap.CiderDReward,
        sacrecap.SceneGraph,
        sacrecap.References,
        sacrecap.Accumulator,
        sacrecap.Needs,
        sacrecap.Resampling,
        sacrecap.Scorer,
    ],
)
def test_every_public_member_has_a_docstring(kind: type) -> None:
    assert not list(without_docstring(kind))


def test_every_format_and_tokenizer_is_documented() -> None:
    assert [name for name in (*data.FORMATS, *TOKENIZERS, *PRINTED_FORMATS) if not documented(name)] == []


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


@every_page()
def test_every_table_has_a_head(page: Path) -> None:
    """An empty line inside a table makes its last rows a paragraph of bars."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert re.search(r"\A.*\n\|[ :|-]+\n", table), f"no head: {table}"


def test_the_index_has_every_page() -> None:
    assert not {*DOCS.rglob("*.md")} - {*linked(DOCS / "README.md"), *linked(TABLE), DOCS / "README.md"}


TABLE = DOCS / "reference" / "metrics" / "README.md"


def linked(page: Path) -> list[Path]:
    """The pages that one links to, each once."""
    links = re.findall(r"\]\(([^)\s#:]+\.md)\)", page.read_text(encoding="utf-8"))
    return list(dict.fromkeys((page.parent / link).resolve() for link in links))


SITE = "https://sacrecap.github.io/sacrecap/"
FILES = ("https://github.com/sacrecap/sacrecap/blob/main/", "https://raw.githubusercontent.com/sacrecap/sacrecap/main/")


def page_of(url: str) -> Path:
    """The page of the site that stands at this address, without its anchor."""
    path = url.removeprefix(SITE).rstrip("/")
    return next((page for page in (DOCS / f"{path}.md", DOCS / path / "README.md") if page.exists()), DOCS / path)


@every_page()
def test_absolute_links_to_the_project_resolve(page: Path) -> None:
    """Pages that are shown elsewhere too, as those of the members on PyPI, link to the site and the repository."""
    check_project_links(page.read_text(encoding="utf-8"))


def check_project_links(text: str) -> None:
    for url in re.findall(rf"(?:{'|'.join(map(re.escape, (SITE, *FILES)))})[^\s)\"#<>`]*", text):
        base = next((base for base in FILES if url.startswith(base)), None)
        if base is not None:
            assert (ROOT / url.removeprefix(base)).exists(), url
        elif not url.startswith(f"{SITE}example/"):  # written when the site is built
            assert page_of(url).is_file(), url


README = (ROOT / "README.md").read_text(encoding="utf-8")
LINKS = ["".join(link) for link in re.findall(r"\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"", README)]


def test_the_readme_is_short_and_begins_with_what_works_in_a_clone() -> None:
    lines = README.splitlines()
    assert len(lines) <= 120
    first_screen = "\n".join(lines[:40])
    for part in ("sacreBLEU", "docs/pictures/speed-light.svg", "make demo", "make test", "sacrecap score"):
        assert part in first_screen
    assert README.index("make demo") < README.index("pip install")
    [sentence] = re.findall(r"[^.]*pip install[^.]*\.", README)
    assert "From the first release on" in sentence


def test_links_of_the_readme_lead_to_files_of_the_clone() -> None:
    """They work without a network, whatever is published: only names that are not ours lead elsewhere."""
    assert len(LINKS) > 20
    for link in LINKS:
        if re.match(r"[a-z]+:", link):
            assert "sacrecap" not in link, link
        else:
            assert (ROOT / link.partition("#")[0]).is_file(), link


def test_links_of_the_description_on_pypi_are_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts" / "build_backend"))
    import pypi_readme

    (tmp_path / "README.md").write_text(README, encoding="utf-8")
    pypi_readme.write(tmp_path)
    text = (tmp_path / "target" / "README.md").read_text(encoding="utf-8")
    links = ["".join(link) for link in re.findall(r"\]\(([^)\s]+)\)|(?:src|srcset|href)=\"([^\"]+)\"", text)]
    assert len(links) == len(LINKS)
    assert all(link.startswith("https://") for link in links)
    check_project_links(text)
    assert 'readme = "target/README.md"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    given = "[a](docs/README.md) [b](docs/x/README.md#y) [c](docs/x/y.md#z) [d](LICENSE) [e](#f) [g](https://h.i/j.md)"
    found = [SITE, f"{SITE}x/#y", f"{SITE}x/y/#z", f"{FILES[0]}LICENSE", "#f", "https://h.i/j.md"]
    assert re.findall(r"\(([^)]*)\)", pypi_readme.absolute(given)) == found


def test_every_command_of_the_readme_is_run() -> None:
    """`test_page_runs` runs its blocks of `sacrecap` in order, as printed; the others are commands of the clone."""
    known = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    shells = [block for block in pages.blocks(ROOT / "README.md") if block.language not in {"python", "json"}]
    assert [block.language for block in shells] == ["bash", "console"]
    first = [line.partition("#")[0].split() for line in shells[0].text.splitlines()]
    assert first == [["make", "demo"], ["make", "test"], [".", ".venv/bin/activate"]]
    assert {"demo", "test"} <= {*known}
    assert [command.split()[:2] for command, *_ in pages.commands(shells[1].text)] == [
        ["sacrecap", "demo"],
        ["sacrecap", "score"],
        ["sacrecap", "compare"],
    ]


def test_the_readme_claims_no_other_speed_than_was_measured() -> None:
    measured = (DOCS / "howto" / "migrate-from-pycocoevalcap.md").read_text(encoding="utf-8")
    table = re.search(r"<!-- benchmark -->.*<!-- /benchmark -->", measured, re.DOTALL)
    assert table
    claims = re.findall(r"([\d.]+)\s*(?:×|x\b|ms\b|s\b|times\b)", README)
    claims += re.findall(r"(?:pycocoevalcap|sacrecap|intervals) (\d[\d.]+)", README)
    assert len(claims) >= 4
    for number in claims:
        assert re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.])", table[0]) or number == "1.2", number


def test_the_chart_shows_what_was_measured() -> None:
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        import make_pictures
    finally:
        sys.path.pop(0)
    for theme in make_pictures.THEMES:
        drawn = (DOCS / "pictures" / f"speed-{theme}.svg").read_text(encoding="utf-8")
        assert drawn == make_pictures.chart(theme), "the table has changed: make pictures"


# The site


@pytest.mark.parametrize("fault", ["with_help", "subprocess"])
def test_a_build_of_the_site_that_fails_leaves_no_file_in_the_clone(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import build_site

    def fails(*_: object, **__: object) -> NoReturn:
        raise ValueError("a page has a fault")

    shutil.copytree(DOCS, tmp_path / "docs")
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    monkeypatch.setattr(build_site, "ROOT", tmp_path)
    monkeypatch.setattr(build_site, "PAGES", tmp_path / "target" / "pages")
    monkeypatch.setattr(build_site, "with_help", lambda page: page)
    if fault == "subprocess":
        monkeypatch.setattr(build_site.subprocess, "run", fails)
    else:
        monkeypatch.setattr(build_site, fault, fails)
    with pytest.raises(ValueError, match="a page has a fault"):
        build_site.build()
    assert {path.name for path in tmp_path.iterdir()} == {"docs", "mkdocs.yml", "target"}


def test_the_menu_of_the_site_has_every_page_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    from build_site import with_metrics

    text = with_metrics((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    menu = re.findall(r"^ +- (?:[^\n:]+: )?(\S+\.md)$", text.partition("\nnav:\n")[2], re.MULTILINE)
    assert sorted(menu) == sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))


def test_external_links_are_well_formed() -> None:
    """They are not opened: the tests need no network."""
    for page in PAGES:
        for url in re.findall(r"\]\((\w+:[^)]*)\)", page.read_text(encoding="utf-8")):
            parts = urlsplit(url)
            assert parts.scheme in {"https", "mailto"} or parts.hostname in {"127.0.0.1", "localhost"}, f"{page}: {url}"
            host = parts.hostname or "a.b" * (parts.scheme == "mailto")
            assert re.fullmatch(r"[\w-]+(\.[\w-]+)+", host) or host == "localhost", f"{page}: {url}"
