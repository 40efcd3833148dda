"""`sacrecap demo` does the main job, needing nothing but the package."""

from __future__ import annotations

import re
from fnmatch import fnmatch

import sacrecap
from runner import Runner
from sacrecap import example
from sacrecap.errors import words_of_command_line


def test_three_tables_best_first(run: Runner) -> None:
    printed = run.ok("demo")
    assert run.files() == {}
    lines = printed.splitlines()
    assert [line for line in lines if line in example.SYSTEMS] == list(example.SYSTEMS)
    assert lines.count("60 images, 5 references each, tokenizer ptb") == 3
    for captions in example.systems().values():
        result = sacrecap.score(example.references(), captions)
        with words_of_command_line():  # the notes below the table name options
            assert str(result) in printed


def test_the_report(run: Runner) -> None:
    printed = run.ok("demo", "--output", "report.html", "--threads", "2")
    assert printed == run.ok("demo") + "\nReport of careful: report.html\n"
    assert "<h1>sacrecap demo: careful</h1>" in (run.folder / "report.html").read_text(encoding="utf-8")
    assert list(run.files()) == ["report.html"]


# --files


def test_the_files_and_the_commands_that_are_printed(run: Runner) -> None:
    printed = run.ok("demo", "--files", ".")
    assert {*run.files()} == {"references.json", "captions.json", "a.json", "b.json"}
    commands = [line.strip() for line in printed.split("Try:\n")[1].splitlines()]
    assert commands == [
        "sacrecap score references.json captions.json --report report.html",
        "sacrecap compare references.json a.json b.json",
    ]
    scored, compared = (run.ok(*command.split()[1:]) for command in commands)
    assert "60 images, 5 references each" in scored
    assert "<h1>captions</h1>" in (run.folder / "report.html").read_text(encoding="utf-8")
    assert "<0.001!" in compared


def test_files_go_to_a_new_folder_and_stay_if_they_are_equal(run: Runner) -> None:
    printed = run.ok("demo", "--files", "some folder/new")
    assert "sacrecap compare 'some folder/new/references.json' 'some folder/new/a.json'" in printed
    before = run.files()
    assert run.ok("demo", "--files", "some folder/new/") == printed
    assert run.files() == before
    (run.folder / "some folder" / "new" / "b.json").unlink()
    run.ok("demo", "--files", "some folder/new")
    assert run.files() == before


def test_files_of_others_are_never_overwritten(run: Runner) -> None:
    (run.folder / "captions.json").write_text("{}")
    (run.folder / "b.json").mkdir()
    message = "this would overwrite captions.json, b.json; name another folder, or move what is there out of the way"
    assert run.refused("demo", "--files", ".") == message
    (run.folder / "a.json").symlink_to("nothing")
    assert "would overwrite captions.json, a.json, b.json;" in run.refused("demo", "--files", ".")
    assert run.refused("demo", "--files", "captions.json/x").startswith("captions.json/x: this folder cannot be made: ")
    assert "give one of them" in run.refused("demo", "--files", "new", "-o", "report.html")


# --papers


def test_what_the_papers_print_is_copied_with_a_readme_that_names_every_folder(run: Runner) -> None:
    assert run.ok("demo", "--papers", "papers") == "papers: 26 files; README.md there says what each holds\n"
    copied = [path.relative_to(run.folder / "papers").as_posix() for path in run.folder.rglob("*.json*")]
    named = re.findall(r"`([a-z]+/[^`]*)`", (run.folder / "papers" / "README.md").read_text(encoding="utf-8"))
    assert [place for place in copied if not any(fnmatch(place, f"{name}*") for name in named)] == []
    assert "give one of them" in run.refused("demo", "--papers", "papers", "--files", "files")
