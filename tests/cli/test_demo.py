"""`capeval demo` does the main job, needing nothing but the package."""

from __future__ import annotations

import capeval
from capeval import example
from runner import Runner


def test_three_tables_best_first(run: Runner) -> None:
    printed = run.ok("demo")
    assert run.files() == {}
    lines = printed.splitlines()
    assert [line for line in lines if line in example.SYSTEMS] == list(example.SYSTEMS)
    assert lines.count("60 images, 5 references each, tokenizer ptb") == 3
    for captions in example.systems().values():
        assert str(capeval.score(example.references(), captions)) in printed


def test_the_report(run: Runner) -> None:
    printed = run.ok("demo", "--output", "report.html", "--threads", "2")
    assert printed == run.ok("demo") + "\nReport of careful: report.html\n"
    assert "<h1>capeval demo: careful</h1>" in (run.folder / "report.html").read_text(encoding="utf-8")
    assert list(run.files()) == ["report.html"]
