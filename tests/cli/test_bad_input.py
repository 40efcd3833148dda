"""Whatever is wrong gets exit status 2 and one line that says where and what to do; nothing half-written stays."""

from __future__ import annotations

import json
import os
import pickle
import re
import resource
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from runner import Ended, Runner
from sacrecap import __version__, example
from sacrecap.cli import main as entry
from sacrecap.cli.metrics import metrics_command as metrics
from sacrecap.data import read_candidates
from sacrecap.errors import DataError

Write = Callable[[str, object], str]

REFERENCES = example.references()
CANDIDATES = example.systems()["careful"]
IMAGE = "beach-dog"
ROWS = [{"image_id": image, "caption": caption} for image, caption in CANDIDATES.items()]

ACCEPTED = 'accepted are coco ({"images"'

BROKEN: dict[str, tuple[object, list[str]]] = {
    "cut off": (json.dumps(CANDIDATES)[:1000], ["line 1, column ", "the JSON ends early", "download it again"]),
    "number": (7, ['found a text that begins "7"', ACCEPTED]),
    "nesting": ("[" * 200_000, ["is JSON that is nested too deeply"]),
    "control character": (
        {**CANDIDATES, IMAGE: "a\u0001b"},
        [f"image '{IMAGE}': a caption with the control character U+0001", "remove it"],
    ),
    "a megabyte": (
        {**CANDIDATES, IMAGE: "x" * 1_000_000},
        [f"image '{IMAGE}': a caption of 1000000 bytes", "up to 100000", "shorten it"],
    ),
}


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("part", ["references", "candidates"])
def test_a_broken_file(run: Runner, write: Write, references: str, candidates: str, case: str, part: str) -> None:
    content, said = BROKEN[case]
    if part == "references" and isinstance(content, dict):
        content = {image: [caption, "a dog"] for image, caption in content.items()}
    broken = write("broken.json", content)
    files = [broken, candidates] if part == "references" else [references, broken]
    message = run.refused("score", *files, "--output", "out.txt", "--per-image", "scores.csv", "--report", "page.html")
    assert message.startswith("broken.json: ")
    for piece in said:
        assert piece in message


UNFIT: dict[str, tuple[object, list[str]]] = {
    "unknown image": (
        {**CANDIDATES, "moon": "a rock"},
        ["c.json: candidate for 1 image (moon), not in references.json", "remove such candidates"],
    ),
    "image without candidate": (
        ROWS[1:],
        [f"c.json: no candidate for 1 image ({IMAGE})", "add them, or choose --on-missing skip"],
    ),
    "duplicate": ([*ROWS, ROWS[0]], [f"c.json: 1 image has more than one candidate: {IMAGE}", "keep one"]),
    "empty list": (
        {**CANDIDATES, IMAGE: []},
        [f"c.json: no candidate for 1 image ({IMAGE})", "add them, or choose --on-missing skip"],
    ),
    "other data set": (
        {str(number): "a dog" for number in range(60)},
        ["c.json: none of its 60 images is in references.json", "0, 1, 2", IMAGE, "of the same data set?"],
    ),
    "nothing": ({}, ["c.json: no candidate for 60 images (beach-dog, ", "…)", "--on-missing"]),
    "an id of two lines": ({**CANDIDATES, "a\n\u001b[31mb": "x"}, [r"candidate for 1 image (a\n\x1b[31mb)"]),
}


@pytest.mark.parametrize("case", UNFIT)
def test_candidates_that_do_not_fit(run: Runner, write: Write, references: str, case: str) -> None:
    content, said = UNFIT[case]
    message = run.refused("score", references, write("c.json", content))
    for piece in said:
        assert piece in message


def test_an_image_without_reference(run: Runner, write: Write, candidates: str) -> None:
    message = run.refused("score", write("r.json", {**REFERENCES, IMAGE: []}), candidates)
    assert message.startswith(f"r.json: no reference for 1 image ({IMAGE}), but a candidate in careful.json; add refer")
    lacking = {image: captions for image, captions in REFERENCES.items() if image != IMAGE}
    message = run.refused("score", write("r.json", lacking), candidates)
    assert message.startswith(f"careful.json: candidate for 1 image ({IMAGE}), not in r.json; remove such candidates")


def test_missing_files(run: Runner, references: str, candidates: str) -> None:
    absent = "no such file; did you mean"
    assert run.refused("score", "reference.json", candidates) == f"reference.json: {absent} 'references.json'?"
    assert run.refused("score", references, "carefull.json") == f"carefull.json: {absent} 'careful.json'?"
    assert run.refused("score", references, candidates, "--df", "carefl.json").startswith(f"carefl.json: {absent}")
    assert run.refused("df", "info", "absent.df") == "absent.df: no such file"
    assert run.refused("df", "import", "absent.p", "-o", "x.df") == "absent.p: no such file"
    assert "there is no folder 'no' either" in run.refused("df", "build", "no/references.json", "-o", "x.df")
    assert run.refused("score", ".", candidates).startswith(".: has no files to read; their names end in .parquet")


def test_swapped_files_get_one_message(run: Runner, references: str, candidates: str) -> None:
    message = run.refused("score", candidates, references)
    assert message.startswith("references.json: looks like a reference file: 5 captions per image")
    assert "give references first and candidates second" in message


def test_standard_input_for_both(run: Runner, references: str, candidates: str) -> None:
    message = run.refused("score", "-", "-", stdin=json.dumps(REFERENCES))
    assert message == "references and candidates cannot both be standard input; name a file for one of them"
    assert run.refused("score", references, "-", stdin="").startswith("<stdin>: the file is empty; accepted are coco")


USAGE: dict[str, tuple[list[str], list[str]]] = {
    "negative n": (["--metrics", "cider-d(n=-1)"], ["CIDEr-D: n must be a whole number from 1 to 4, got -1"]),
    "metric": (["--metrics", "cidre-d"], ["unknown metric 'cidre-d' (did you mean 'cider-d'?); all names: "]),
    "no metric": (["--metrics", ","], ["no metric given; for example: coco, or bleu-4, cider-d; all names: "]),
    "parenthesis": (["--metrics", "cider-d(n=2"], ["unknown metric 'cider-d(n=2' (did you mean 'cider-d'?)"]),
    "parameter": (["--metrics", "cider-d(tau=2)"], ["cider-d: no parameter 'tau'; its parameters: n, sigma"]),
    "signature": (["--metrics", "cider-d|tok:ptb|sacrecap:0.1.0"], ["; a signature is checked by sacrecap verify SIG"]),
    "transposed": (["--metrics", "cidre"], ["unknown metric 'cidre' (did you mean 'cider'?); all names: "]),
    "tokenizer": (
        ["--tokenizer", "moses"],
        ["'--tokenizer': 'moses' is not one of the 55 names in the help (see sacrecap score --help-all)"],
    ),
    "near tokenizer": (["--tokenizer", "13b"], ["in the help (did you mean '13a'?)"]),
    "interval": (
        ["--interval", "95"],
        ["'95' is neither a confidence level between 0 and 1 (such as 0.95)", "nor none (did you mean 0.95?)"],
    ),
    "interval of all": (["--interval", "1"], ["'1' is neither a confidence level between 0 and 1", "nor none (see"]),
    "interval of too much": (["--interval", "250"], ["'250' is neither a confidence level", "nor none (see"]),
    "interval of none": (["--interval", "jackknife(0)"], ["'jackknife(0)' is neither a confidence level"]),
    "interval text": (["--interval", "nan"], ["'nan' is neither a confidence level"]),
    "samples": (["--samples", "0"], ["'--samples': 0 is not in the range x>=1"]),
    "seed": (["--seed", "-1"], ["'--seed': -1 is not in the range"]),
    "threads": (["--threads", "-1"], ["'--threads': -1 is not in the range x>=0"]),
    "threads text": (["--threads", "two"], ["'--threads': 'two' is not a whole number (see"]),
    "threshold text": (["--threshold", "low"], ["'--threshold': 'low' is not a number (see"]),
    "format": (["--format", "xml"], ["'--format': 'xml' is not one of 'table', 'json', 'csv', 'markdown', 'latex'"]),
    "on missing": (["--on-missing", "ignore"], ["'--on-missing': 'ignore' is not one of 'error', 'skip', 'zero'"]),
    "near format": (["--format", "jsn"], ["'markdown', 'latex' (did you mean 'json'?) (see"]),
    "option": (["--metric", "coco"], ["no option '--metric' (did you mean '--metrics'?) (see sacrecap score --help"]),
    "begun option": (["--out", "x.csv"], ["no option '--out' (did you mean '--output'?) (see"]),
    "option of others": (["--alpha", "0.01"], ["no option '--alpha': that is an option of compare, check (see"]),
    "suffix of output": (["-o", "x.docx"], ["'--output': 'x.docx' has none of the suffixes .json, .csv, .md, .tex"]),
    "suffix": (["--per-image", "x.xls"], ["x.xls: per-image scores", "end the name in .csv, .tsv, .jsonl, .parquet"]),
    "no suffix": (["--per-image", "x"], ["x: per-image scores", "end the name in .csv, .tsv, .jsonl, .parquet, or"]),
    "both to stdout": (["--per-image", "-"], ["--output and --per-image both write standard output; give each a file"]),
    "split": (["--split", "test"], ["references.json: has no column split, and so no splits"]),
    "reference format": (["--reference-format", "list"], ["references.json: is not of format list, which is [{"]),
    "candidate format": (["--candidate-format", "csv"], ["careful.json: is not of format csv, which is a header line"]),
    "one place twice": (["-o", "x.csv", "--per-image", "./x.csv"], ["--output and --per-image both write ./x.csv"]),
    "output twice": (["--report", "-"], ["--output and --report both write standard output; give each a file"]),
}


@pytest.mark.parametrize("case", USAGE)
def test_bad_usage(run: Runner, references: str, candidates: str, case: str) -> None:
    options, said = USAGE[case]
    message = run.refused("score", references, candidates, *options)
    for piece in said:
        assert piece in message


def test_unknown_commands_and_missing_arguments(run: Runner) -> None:
    assert run.refused("scor").startswith("no command 'scor' (did you mean 'score'?); commands: demo, score, ")
    assert run.refused("df", "merg").startswith("no command 'merg' (did you mean 'merge'?); commands: build, import")
    assert run.refused("frobnicate").startswith("no command 'frobnicate'; commands: demo")
    assert "'--frobnicate'" in run.refused("--frobnicate")
    assert "Missing argument 'REFERENCES'" in run.refused("score")
    assert "unknown metric 'cidr'" in run.refused("metrics", "cidr")


@pytest.mark.parametrize("command", [[], ["df"]])
def test_no_command_shows_the_help(run: Runner, command: list[str]) -> None:
    ended = run.here(*command)
    assert (ended.status, ended.stdout) == (2, "")
    assert ended.stderr == run.ok(*command, "--help")


@pytest.mark.parametrize("option", ["--output", "--per-image", "--report"])
@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("absent/x.csv", "absent/x.csv: cannot be written: there is no folder 'absent'; make it first"),
        ("folder.csv", "folder.csv: cannot be written: it is a directory; name a file in it"),
        ("new.csv/", "new.csv/: cannot be written: it is a directory; name a file in it"),
        ("careful.json/x.csv", "careful.json/x.csv: cannot be written: 'careful.json' is not a folder"),
    ],
)
def test_places_that_cannot_be_written_are_told_before_anything_is_read(
    run: Runner, candidates: str, option: str, place: str, said: str
) -> None:
    (run.folder / "folder.csv").mkdir()
    if option == "--per-image" and place.endswith("/"):
        said = (
            "new.csv/: per-image scores: the suffix gives the format; end the name in .csv, .tsv, .jsonl, .parquet, or "
            "give - for CSV on standard output"
        )
    assert run.refused("score", "there-is-no-such-file.json", candidates, option, place) == said


def test_other_commands_check_their_output_first_too(run: Runner) -> None:
    said = "absent/x: cannot be written: there is no folder 'absent'; make it first"
    for command in (["df", "build", "none.json"], ["df", "import", "none.p"], ["df", "merge", "none.df"], ["demo"]):
        assert run.refused(*command, "--output", "absent/x") == said


def test_a_full_disk(run: Runner, references: str, candidates: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    assert "/dev/full: cannot be written: no space is left" in run.refused(
        "score", references, candidates, "-o", "/dev/full"
    )
    with open("/dev/full", "w") as full:
        command = run.command("score", references, candidates)
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, cwd=run.folder, check=False, text=True)
        assert done.returncode == 2
        assert done.stderr.startswith("sacrecap: <stdout>: cannot be written: no space is left; free some")
        assert len(done.stderr.splitlines()) == 1
        done = subprocess.run(
            [*run.command("score", "--help")],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=run.folder,
            check=False,
            text=True,
        )
        assert (done.returncode, done.stderr) == (2, "sacrecap: cannot write the output: No space left on device\n")


def test_closed_streams(run: Runner, references: str, candidates: str) -> None:
    """A scheduler may start a program without standard streams: files are whole, and what must be said is an error."""

    def shell(redirected: str, *arguments: str) -> tuple[int, str]:
        command = f"{shlex.join(run.command('score', *arguments, '--metrics', 'rouge-l', '--interval', 'none', '-q'))}"
        done = subprocess.run(
            ["sh", "-c", f"{command} {redirected}"], capture_output=True, cwd=run.folder, check=False, text=True
        )
        return done.returncode, done.stdout + done.stderr

    assert shell("", references, candidates, "-o", "table.csv") == (0, "")
    whole = (run.folder / "table.csv").read_text()
    for redirected in (">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"):
        (run.folder / "table.csv").unlink()
        assert shell(redirected, references, candidates, "-o", "table.csv") == (0, ""), redirected
        assert (run.folder / "table.csv").read_text() == whole
    closed = "sacrecap: <stdout>: cannot be written: it is closed; name a file with --output\n"
    assert shell(">&-", references, candidates) == (2, closed)
    status, said = shell("<&-", references, "-")
    assert (status, said.count("\n")) == (2, 1)
    assert said.startswith("sacrecap: <stdin>: ")
    assert shell("2>&-", references, "there-is-no-such-file.json") == (2, "")


# Document frequencies


def test_an_output_that_is_an_input_is_refused(run: Runner, write: Write, references: str, candidates: str) -> None:
    run.ok("df", "build", references, "-o", "a.df")
    write("b.json", CANDIDATES)
    os.symlink(references, run.folder / "link.json")
    os.link(run.folder / candidates, run.folder / "hard.json")
    (run.folder / "folder").mkdir()
    score = ["score", references, candidates, "--metrics", "rouge-l"]
    for command, option, file in (
        (["df", "build", references, "-o", references], "--output", references),
        (["df", "build", references, "-o", "link.json"], "--output", "link.json"),
        (["df", "build", "link.json", "-o", f"folder/../{references}"], "--output", f"folder/../{references}"),
        (["df", "import", "b.json", "-o", "b.json"], "--output", "b.json"),
        (["df", "merge", "a.df", "a.df", "-o", "a.df"], "--output", "a.df"),
        ([*score, "-o", candidates], "--output", candidates),
        ([*score, "--report", candidates], "--report", candidates),
        ([*score, "--output", "hard.json"], "--output", "hard.json"),
        (["graph", candidates, "-o", "hard.json"], "--output", "hard.json"),
        (["detect", "convert", candidates, "-o", "hard.json"], "--output", "hard.json"),
        ([*score, "--df", "a.df", "-o", "a.df", "--format", "csv"], "--output", "a.df"),
        (["compare", references, candidates, "b=b.json", "-o", "b.json"], "--output", "b.json"),
        (["compare", references, candidates, "b.json", "--report", references], "--report", references),
        (["diversity", references, "--training", "b.json", "-o", "b.json"], "--output", "b.json"),
        (["score", references, "--rank", "all", "-o", references], "--output", references),
        (["agreement", "b.json", "--scores", candidates, "-o", candidates], "--output", candidates),
    ):
        assert run.refused(*command) == f"{option} {file} would overwrite an input of this command; name another file"


def test_an_earlier_output_is_overwritten(run: Runner, references: str) -> None:
    for _ in range(2):
        run.ok("df", "build", references, "-o", "again.df")


def test_several_systems_are_for_compare(run: Runner, references: str, candidates: str) -> None:
    assert run.refused("score", references, candidates, "b.json", "c.json").startswith(
        "score takes the captions of one system, got 3 files; compare several systems with sacrecap compare"
    )


def test_a_pickle_that_runs_code_is_refused_and_does_not_run(run: Runner, write: Write) -> None:
    touched = run.folder / "touched"

    class Command:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.system, (f"touch '{touched}'",)

    data = pickle.dumps({"document_frequency": {("a",): 1}, "ref_len": Command()})
    message = run.refused("df", "import", write("evil.p", data), "-o", "out.df")
    assert message.startswith("evil.p: ")
    assert "nothing in it was executed" in message
    assert not touched.exists()
    pickle.loads(data)
    assert touched.exists(), "the pickle of this test should be a dangerous one"


def test_damaged_and_foreign_document_frequencies(run: Runner, write: Write, references: str, candidates: str) -> None:
    run.ok("df", "build", references, "-o", "whole.df")
    data = (run.folder / "whole.df").read_bytes()
    cut, changed = write("cut.df", data[:3000]), write("changed.df", data[:-9] + b"x" + data[-8:])
    for damaged in (cut, changed):
        for command in (["df", "info", damaged], ["score", references, candidates, "--df", damaged]):
            message = run.refused(*command)
            assert message.startswith(f"{damaged}: damaged document-frequency file")
            assert "build it again with `sacrecap df build`" in message
    for command in (["df", "merge", "whole.df", references, "-o", "x.df"], ["df", "info", references]):
        message = run.refused(*command)
        assert message.startswith("references.json: not a document-frequency file of sacrecap; make one with")
    assert run.refused("df", "import", references, "-o", "x.df").startswith("references.json: not a Python pickle")
    assert run.refused("df", "build", write("e.json", "{}"), "-o", "x.df") == "e.json: no caption in it"


def test_document_frequencies_of_something_else(run: Runner, references: str, candidates: str) -> None:
    run.ok("df", "build", references, "-o", "forms.df")
    run.ok("df", "build", references, "--stem", "-o", "stems.df")
    run.ok("df", "build", references, "--n", "2", "-o", "short.df")
    score = ["score", references, candidates, "--metrics"]
    assert run.refused(*score, "cider-d", "--df", "stems.df") == (
        "cider-d needs document frequencies of word forms, these are of stems; build them with sacrecap df build"
    )
    assert run.refused(*score, "cider-paper", "--df", "forms.df").endswith("build them with sacrecap df build --stem")
    assert "these go up to 2; build them with sacrecap df build --n 4" in run.refused(
        *score, "cider-d", "--df", "short.df"
    )
    none = run.refused(*score, "cider-d", "--df", "stems.df", "--df", "short.df")
    assert none.startswith("stems.df: cider-d needs document frequencies of word forms, these are of stems")
    assert "; short.df: cider-d needs document frequencies of n-grams up to 4" in none
    assert run.refused(*score, "cider-d", "--df", "forms.df", "--df", "forms.df") == (
        "cider-d could take any of these document frequencies: forms.df, forms.df; give one of a kind"
    )
    assert run.refused(*score, "cider-d", "--df", "forms.df", "--df", "corpus").startswith(
        "document_frequency takes 'corpus' alone, or one or several files or names"
    )
    assert "tokens (tokenizer ptb) cannot be added to those of stems (tokenizer ptb)" in run.refused(
        "df", "merge", "forms.df", "stems.df", "-o", "both.df"
    )


# Warnings


def test_warnings_are_a_line_each_and_quiet_hides_them(run: Runner, write: Write) -> None:
    one = [write("one.json", {IMAGE: REFERENCES[IMAGE]}), write("caption.json", {IMAGE: CANDIDATES[IMAGE]})]
    single = write("single.json", {image: captions[:1] for image, captions in REFERENCES.items()})
    run.ok("df", "build", single, "--tokenizer", "whitespace", "-o", "blanks.df", "-q")
    for arguments, said in [
        (one, "one image is a corpus in which every n-gram is in every document"),
        ([*one, "--df", "blanks.df"], "the document frequencies are of whitespace tokens, the captions are cut by ptb"),
    ]:
        ended = run.here("score", *arguments, "--interval", "none")
        assert ended.status == 0
        assert ended.stderr.startswith(f"sacrecap: warning: {said}")
        assert len(ended.stderr.splitlines()) == 1
        assert run.ok("score", *arguments, "--interval", "none", "--quiet") == ended.stdout
    # One reference for each image is ordinary: many data sets have no more.
    assert run.ok("score", single, write("all.json", CANDIDATES), "--interval", "none")


# Ends before the end


class Panic(BaseException):
    """As a panic of the native code, which is no `Exception`."""


@pytest.mark.parametrize("error", [RuntimeError, OSError, Panic, KeyError])
def test_an_unexpected_failure_asks_for_a_report(
    error: type[BaseException], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise error("something nobody thought of")

    monkeypatch.setattr(entry.OpenGroup, "get_command", fail)
    monkeypatch.setattr(sys, "argv", ["sacrecap", "metrics"])
    monkeypatch.setattr("warnings.showwarning", None)
    with pytest.raises(SystemExit) as left:
        entry.main()
    assert left.value.code == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "something nobody thought of" in printed.err
    assert printed.err.splitlines()[-1] == (
        f"sacrecap: a bug in sacrecap {__version__}; please report it with the lines above: {entry.ISSUES}"
    )


def test_memory_that_is_full_is_no_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(entry.OpenGroup, "get_command", fail)
    monkeypatch.setattr(sys, "argv", ["sacrecap", "metrics"])
    monkeypatch.setattr("warnings.showwarning", None)
    with pytest.raises(SystemExit) as left:
        entry.main()
    assert left.value.code == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(
        "sacrecap: what the files hold does not fit into the memory of this process; --engine stream"
    )
    (tmp_path / "c.json").write_text("{}")
    monkeypatch.setattr("sacrecap.data.source.open", fail, raising=False)
    with pytest.raises(DataError, match="c.json: does not fit into the memory that this process may have; write it as"):
        read_candidates(tmp_path / "c.json")


def processor_seconds(process: int) -> float:
    """What a running process has used, in all its threads."""
    user, system = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def finished_processes_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc to see the processor time of others in")
def test_ctrl_c_ends_native_code_at_once(run: Runner, write: Write) -> None:
    captions = {str(number): f"a dog and {number} cats run on the beach" for number in range(2000)}
    files = [write("r.json", {image: [caption, "a dog"] for image, caption in captions.items()})]
    files.append(write("c.json", captions))
    before = run.files()
    process = run.start(
        "score", *files, "--samples", 100_000_000, "-o", "out.txt", "--per-image", "p.csv", "--report", "r.html"
    )
    try:
        # Starting and reading take less than this processor time; the samples would take an hour.
        while (used := processor_seconds(process.pid)) < 0.8:
            assert process.poll() is None
            time.sleep(0.02)
        others = finished_processes_seconds()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        assert finished_processes_seconds() - others < used + (os.cpu_count() or 1)  # within a second of each core
    finally:
        process.kill()
    assert process.returncode == 130
    assert (out, err) == (b"", b"sacrecap: interrupted\n")
    assert run.files() == before


def test_a_command_that_was_told_to_stop_is_interrupted(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """click raises `Abort` for Ctrl-C that it heard, and for a question that nobody answers."""

    def stopped(**_: object) -> None:
        raise click.Abort

    monkeypatch.setattr(metrics, "callback", stopped)
    assert run.here("metrics") == Ended(130, "", "sacrecap: interrupted\n")


def test_a_reader_that_leaves_is_no_error(run: Runner, references: str, candidates: str) -> None:
    for command in (["score", references, candidates], ["--help"]):
        read, written = os.pipe()
        os.close(read)
        try:
            done = subprocess.run(
                run.command(*command), stdout=written, stderr=subprocess.PIPE, cwd=run.folder, check=False
            )
        finally:
            os.close(written)
        assert done.stderr == b"", command
        assert done.returncode == 1


def test_output_is_utf_8_whatever_the_locale(run: Runner, references: str, candidates: str) -> None:
    plain = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"}
    for command in (["metrics", "cider-d"], ["score", references, candidates]):
        assert run.ok(*command, env=plain) == run.ok(*command)


def test_a_file_name_that_is_no_text(run: Runner, references: str, candidates: str) -> None:
    run.ok("df", "build", references, "-o", b"\xff.df")
    document = json.loads(run.ok("score", references, candidates, "--df", b"\xff.df", "--format", "json"))
    assert re.search(r"\|df:[0-9a-f]{8}\(60\)\|", document["signatures"]["cider-d"])
    assert run.refused("df", "info", b"\xfe.df").endswith(".df: no such file; did you mean '\\udcff.df'?")
