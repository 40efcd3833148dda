"""The documentation is run: its code, its commands, their output, its links, and whether anything is missing.

Blocks of one page run in order, in one empty folder, and Python blocks share their names.

- ```` ```json references.json ```` writes the block to that file.
- ```` ```python ```` runs. What it prints is compared with the ```` ```text ```` block that follows at once; without
  one, with the comments on and below its `print` lines, if there are any.
- ```` ```console ```` runs the lines that begin `$ capeval` (or `$ python`, `$ cat`, `$ echo`), which must succeed, and
  compares the output that is shown. Other commands are for the reader.

The amount of blank space is not compared, and `[...]` stands for anything. `CAPEVAL_UPDATE_DOCS=1 pytest
tests/test_docs.py` writes what was printed into the pages, except where the shown output has a `[...]`.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

import capeval
from capeval import data, errors, metrics
from capeval.cli.main import cli
from capeval.corpus.corpus import TOKENIZERS
from capeval.metrics import Metric
from capeval.metrics.base import spell
from capeval.metrics.registry import METRICS
from capeval.report.formats import FORMATS as PRINTED_FORMATS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]
REFERENCE = {page: page.read_text(encoding="utf-8") for page in sorted((DOCS / "reference").rglob("*.md"))}

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())

UPDATE = "CAPEVAL_UPDATE_DOCS" in os.environ
ELISION = "[...]"


@dataclass
class Block:
    """A fenced block: what follows the fence, its text, and where that text is in the page."""

    language: str
    name: str
    text: str
    start: int
    line: int
    follows_at_once: bool


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found, end = [], 0
    for match in re.finditer(r"^```(\w*)(?: +(\S+))?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        at_once = not text[end : match.start()].strip()
        line = text.count("\n", 0, match.start(3))
        found.append(Block(match[1], match[2] or "", match[3], match.start(3), line, at_once))
        end = match.end()
    assert text.count("```") == 2 * len(found), f"{page}: a fence without partner"
    return found


# Running a page


class Page:
    """A page being run; `rewritten` holds the new text of places that were out of date."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.names: dict[str, object] = {"__name__": "__main__"}
        self.rewritten: list[tuple[int, int, str]] = []

    def run(self) -> None:
        found = blocks(self.path)
        for block, after in zip(found, [*found, None][1:], strict=True):
            if block.name:
                Path(block.name).write_text(block.text, encoding="utf-8")
            elif block.language == "python":
                self.run_python(block, after if after and after.follows_at_once else None)
            elif block.language == "console":
                self.run_console(block)

    def run_python(self, block: Block, after: Block | None) -> None:
        code = compile("\n" * block.line + block.text, str(self.path), "exec", dont_inherit=True)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, self.names)  # noqa: S102
        if after is not None and after.language == "text" and not after.name:
            self.compare(block, after.text, printed.getvalue(), after.start)
        elif shown := "\n".join(commented_output(block.text)):
            if UPDATE and ELISION not in shown and not matches(shown, printed.getvalue()):
                new = with_comments(block.text, printed.getvalue().splitlines())
                self.rewritten.append((block.start, block.start + len(block.text), new))
                return
            self.compare(block, shown, printed.getvalue(), None)

    def run_console(self, block: Block) -> None:
        for command, shown, offset in commands(block.text):
            if re.match(r"(capeval|python|cat|echo) ", command):
                done = run(command)
                where = f"{self.path.relative_to(ROOT)}: $ {command}"
                assert done.returncode == 0, f"{where}\nends with status {done.returncode}:\n{done.stdout}"
                if shown:
                    self.compare(block, shown, done.stdout, block.start + offset)

    def compare(self, block: Block, shown: str, printed: str, place: int | None) -> None:
        if matches(shown, printed):
            return
        if UPDATE and place is not None and ELISION not in shown:
            new = "\n".join(line.rstrip() for line in printed.splitlines()).strip("\n")
            self.rewritten.append((place, place + len(shown), new + "\n"))
            return
        where = f"{self.path.relative_to(ROOT)}, block at line {block.line}"
        pytest.fail(f"{where}: the page shows\n\n{shown}\n\nand what was printed is\n\n{printed}", pytrace=False)

    def rewrite(self) -> None:
        text = self.path.read_text(encoding="utf-8")
        for start, end, new in sorted(self.rewritten, reverse=True):
            text = text[:start] + new + text[end:]
        self.path.write_text(text, encoding="utf-8")


def commented_output(code: str) -> Iterator[str]:
    """The comments behind `print(…)`, and those on the lines right below it."""
    below = False
    for line in code.splitlines():
        if line.startswith("print("):
            below = True
            if "  # " in line:
                yield line.rpartition("  # ")[2]
        elif below and line.startswith("# "):
            yield line.removeprefix("# ")
        else:
            below = False


def with_comments(code: str, printed: list[str]) -> str:
    """The code with one line of output in each such comment."""
    lines, outputs, below = [], iter(printed), False
    for line in code.splitlines():
        if line.startswith("print(") and "  # " in line:
            lines.append(f"{line.rpartition('  # ')[0]}  # {next(outputs)}")
        else:
            lines.append(f"# {next(outputs)}" if below and line.startswith("# ") else line)
        below = line.startswith("print(")
    return "\n".join(lines) + "\n"


def commands(text: str) -> Iterator[tuple[str, str, int]]:
    """Each command, what is shown below it, and where that begins."""
    for match in re.finditer(r"^\$ ((?:.*\\\n)*.*\n)((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
        yield match[1].strip(), match[2], match.start(2)


def run(command: str) -> subprocess.CompletedProcess[str]:
    scripts = str(Path(sys.executable).parent)
    environment = {
        **os.environ, "PATH": scripts + os.pathsep + os.environ["PATH"], "COLUMNS": "80", "PYTHONUTF8": "1",
        "LC_ALL": "C.UTF-8",
    }  # fmt: skip
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", timeout=60, env=environment, check=False,
    )  # fmt: skip


def matches(shown: str, printed: str) -> bool:
    pieces = " ".join(shown.split()).split(ELISION)
    pattern = ".*?".join(r"\s+".join(map(re.escape, piece.strip().split(" "))) for piece in pieces)
    return re.fullmatch(pattern, " ".join(printed.split()), re.DOTALL) is not None


@every_page
def test_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user-data"))
    running = Page(page)
    running.run()
    running.rewrite()


def test_the_comparison_can_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "UPDATE", False)
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    assert matches("a [...] d\ne", "a b  c d e")
    assert matches("0.90[...]", "0.9092")
    assert not matches("0.91[...]", "0.9092")
    assert not matches("a b", "a b c")
    assert not matches("a b", "ab")
    assert list(commented_output("print(1)  # 1\nx = 2  # no\nprint(x)\n# 2\n# 3\n\n# no\n")) == ["1", "2", "3"]
    assert list(commands("$ a \\\n  b\nout\nput\n$ c\n")) == [("a \\\n  b", "out\nput\n", 10), ("c", "", 22)]
    assert with_comments("print(1)  # 0\nprint(x)\n# 2\n# no\n", ["1", "3"]) == "print(1)  # 1\nprint(x)\n# 3\n# no\n"
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
    for case in metric.nothing:
        assert any(case.lower() in text.lower() for text in pages), f"{metric.name}: nothing about: {case}"


def subcommands(group: click.Group, above: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield f"{above} {name}", command
        if isinstance(command, click.Group):
            yield from subcommands(command, f"{above} {name}")


@pytest.mark.parametrize(("name", "command"), [("capeval", cli), *subcommands(cli, "capeval")])
def test_every_subcommand_shows_its_help(name: str, command: click.Command) -> None:
    page = (DOCS / "reference" / "command-line.md").read_text(encoding="utf-8")
    assert f"$ {name} --help\n" in page
    for parameter in command.params:
        for option in parameter.opts:
            assert option in page or not option.startswith("--"), option


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
        capeval.CiderDReward,
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


@every_page
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
