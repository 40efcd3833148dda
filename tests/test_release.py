"""What releases are made of names only what exists: make targets, scripts, extras, options of the action."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from unittest.mock import MagicMock

import click
import pytest
import yaml

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # pytest's

from pages import PAGES, ROOT
from sacrecap.cli.check import check_command as check

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
OPTIONAL = PROJECT.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
GROUPS = re.findall(r"^([a-z-]+) = \[", PROJECT.partition("[dependency-groups]")[2].partition("\n[")[0], re.MULTILINE)
EXTRAS = set(re.findall(r"^([a-z-]+) = \[", OPTIONAL, re.MULTILINE))
TARGETS = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_run_targets_of_the_makefile(workflow: Path) -> None:
    text = workflow.read_text(encoding="utf-8")
    lists = re.findall(r"tests: \[([^\]]*)\]", text)
    words = [word for line in re.findall(r"run: make (.*)", text) for word in line.split()]
    asked = [word for word in words if re.fullmatch(r"[a-z-]+", word)]
    asked += [word.strip() for line in lists for word in line.split(",")]
    assert asked
    assert set(asked) <= TARGETS


def test_no_job_compiles_what_another_has_compiled() -> None:
    """Jobs take the wheel that one made for their system, or have a cache of crates for what they compile."""
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))["jobs"]
    for name, job in jobs.items():
        runs = [
            step["run"] for step in job["steps"] if re.match(r"make|python -m pip (install|wheel)", step.get("run", ""))
        ]
        used = " ".join(step.get("uses", "") for step in job["steps"])
        if "Swatinem/rust-cache@" not in used:
            assert "actions/download-artifact@" in used, name
            assert all("dist/*.whl" in run or "packages/meteor" in run for run in runs if " pytest " not in run), name
        assert ("dist/*.whl" in " ".join(runs)) == (job.get("needs") == "wheel"), name


@pytest.mark.parametrize("workflow", [*WORKFLOWS, ROOT / "action.yml"], ids=lambda path: path.name)
def test_actions_are_pinned_by_commit(workflow: Path) -> None:
    for used in re.findall(r"uses: (.*)", workflow.read_text(encoding="utf-8")):
        assert re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v[0-9.]+", used), used


@pytest.mark.parametrize("name", ["Makefile"])
def test_the_scripts_that_are_named_exist(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    for script in re.findall(r"scripts/[\w/]+\.(?:sh|py)", text):
        assert (ROOT / script).is_file(), script


def sources() -> list[Path]:
    return [*PAGES, *(path for folder in ("src", "packages") for path in (ROOT / folder).rglob("*.py"))]


def test_every_extra_that_is_named_exists() -> None:
    for path in sources():
        for named in re.findall(r"\bsacrecap\[([a-z,-]+)\]", path.read_text(encoding="utf-8")):
            unknown = set(named.split(",")) - EXTRAS - {"extra"}
            assert not unknown, f"{path} names {unknown}"
        for extra in re.findall(r"""extra=["']([\w-]+)["']""", path.read_text(encoding="utf-8")):
            assert extra in EXTRAS, f"{path} names {extra!r}"


def test_every_group_that_is_named_exists_and_is_used() -> None:
    workflows = "".join(path.read_text(encoding="utf-8") for path in WORKFLOWS)
    named = re.findall(r"--group ([a-z-]+)(?![\w./-])", MAKEFILE + workflows)
    included = re.findall(r'include-group = "([a-z-]+)"', PROJECT)
    assert {*named, *included} == {*GROUPS}


def test_every_extra_is_documented() -> None:
    page = (ROOT / "docs" / "howto" / "install.md").read_text(encoding="utf-8")
    assert {extra for extra in EXTRAS if f"`{extra}`" not in page} == set()


def test_the_action_gives_options_that_sacrecap_check_has() -> None:
    script = (ROOT / "action.yml").read_text(encoding="utf-8").partition("options=()")[2]
    has = {name for option in check.params if isinstance(option, click.Option) for name in option.opts}
    assert set(re.findall(r"--[a-z]+", script)) <= has
    assert set(re.findall(r"--[a-z]+", script)) >= {"--min", "--max", "--against", "--output"}


def spaced(requirement: str) -> str:
    """As conda writes it, which does not ask for the version of Python."""
    return requirement.partition(";")[0].replace(">", " >", 1)


def test_the_recipe_says_what_the_projects_say() -> None:
    """Where their sources are, what they run with, what builds them, and the licences."""
    recipe = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8"))
    data = ("meteor", "detector")
    projects = {**{f"sacrecap-{name}": ROOT / "packages" / name for name in data}, "sacrecap": ROOT}
    assert [output["package"]["name"] for output in recipe["outputs"]] == [*projects]
    extra = re.findall(r'^meteor = \["(.*)"\]$', PROJECT, re.MULTILINE)  # conda knows no extras
    for output, folder in zip(recipe["outputs"], projects.values(), strict=True):
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
        name = output["package"]["name"]
        assert f"/source/{name[0]}/{name}/{name.replace('-', '_')}-" in output["source"]["url"]
        built = [spaced(item) for item in project["build-system"]["requires"]]
        described = project["project"]
        needed = [*described.get("dependencies", []), *(extra if folder == ROOT else [])]
        assert output["requirements"]["run"][1:] == [spaced(item) for item in needed]
        assert output["requirements"]["host"][2:] == built
        assert output["about"]["license_file"] == described["license-files"]
        assert output["about"]["license"] == described["license"]
    for name in data:
        module = projects[f"sacrecap-{name}"] / "src" / f"sacrecap_{name}" / "__init__.py"
        versions = re.findall(r'^__version__ = "(.*)"$', module.read_text("utf-8"), re.MULTILINE)
        assert [recipe["context"][f"{name}_version"]] == versions


def test_the_licences_of_linked_crates_are_of_the_locked_versions() -> None:
    """`make lint` compares the whole file with what the crates have."""
    text = (ROOT / "THIRD-PARTY-LICENSES").read_text(encoding="utf-8")
    crates = set(re.findall(r"^([\w-]+) (\d[\w.+-]*) \(.*\), https?://", text, re.MULTILINE))
    locked = re.findall(r'name = "(.*)"\nversion = "(.*)"', (ROOT / "Cargo.lock").read_text(encoding="utf-8"))
    assert len(crates) > 20
    assert crates <= {*locked}


@pytest.mark.skipif(shutil.which("bash") is None or os.name == "nt", reason="the script of the action is bash's")
@pytest.mark.parametrize(
    ("least", "status", "passed", "told"),
    [
        ("rouge-l=0.9", 0, "true", ""),
        ("rouge-l=0.9\nbleu-1=2", 3, "false", "::error title=sacrecap: a check failed::sacrecap: 1 of 2 checks failed"),
        ("rouge-l=high", 2, "", "::error title=sacrecap: nothing was checked::sacrecap: --min takes METRIC=SCORE"),
    ],
    ids=["passes", "fails", "cannot be checked"],
)
def test_the_script_of_the_action(least: str, status: int, passed: str, told: str, tmp_path: Path) -> None:
    """As GitHub runs it: inputs are environment variables; outputs and the summary are files."""
    (tmp_path / "the references.json").write_text('{"1": ["a dog runs on the beach"]}', encoding="utf-8")
    (tmp_path / "captions.json").write_text('{"1": "a dog runs on the beach"}', encoding="utf-8")
    inputs = {"references": "the references.json", "candidates": "captions.json", "min": least}
    ran = run_step_of_the_action(-1, inputs, tmp_path)
    assert ran.returncode == status, ran.stderr
    assert ran.stdout.startswith(told)
    assert bool(ran.stdout) == bool(told)
    assert (tmp_path / "output.txt").read_text(encoding="utf-8") == f"passed={passed}\n"
    shown = "Nothing was checked: sacrecap: --min takes" if status == 2 else "| ROUGE-L |"
    assert shown in (tmp_path / "summary.md").read_text(encoding="utf-8")


@pytest.mark.skipif(shutil.which("bash") is None or os.name == "nt", reason="the script of the action is bash's")
def test_the_action_refuses_an_empty_version(tmp_path: Path) -> None:
    ran = run_step_of_the_action(1, {"extras": "meteor"}, tmp_path)
    assert (ran.returncode, ran.stderr) == (2, "")
    assert ran.stdout.startswith("::error title=sacrecap::the input version is empty; name the version")


def run_step_of_the_action(number: int, inputs: Mapping[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs it as GitHub does."""
    step = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"][number]
    given = {name: inputs.get(re.findall(r"inputs\.([\w-]+)", value)[0], "") for name, value in step["env"].items()} | {
        "GITHUB_OUTPUT": "output.txt",
        "GITHUB_STEP_SUMMARY": "summary.md",
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env={**os.environ, **given, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_version_is_one() -> None:
    version = re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert version is not None
    for name, line in {"CITATION.cff": "version: {}\n", "recipe/recipe.yaml": "version: {}\n"}.items():
        assert line.format(version[1]) in (ROOT / name).read_text(encoding="utf-8"), name


@pytest.mark.parametrize(("version", "accepted"), [("1.63.0", False), ("1.88.0", True), ("2.1.0", True)])
def test_an_old_compiler_is_told_what_to_do(
    version: str, accepted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts" / "build_backend"))
    monkeypatch.setitem(sys.modules, "maturin", MagicMock())
    monkeypatch.delitem(sys.modules, "sacrecap_build", raising=False)
    build = importlib.import_module("sacrecap_build")
    said = subprocess.CompletedProcess([], 0, stdout=f"rustc {version} (abc 2022-01-01)")
    monkeypatch.setattr(build.subprocess, "run", lambda *_, **__: said)
    if accepted:
        build.check_compiler(ROOT)
    else:
        with pytest.raises(SystemExit, match=r"needs Rust 1\.88 or newer .* Rust 1\.63[^~]*https://rustup.rs"):
            build.check_compiler(ROOT)
