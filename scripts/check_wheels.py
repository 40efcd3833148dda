"""Installs what is in dist/ as a user does, and runs it: `make check-wheels` and `make check-sdist`.

Each archive gets an environment of its own, with nothing but Python on the PATH: no Rust, no compiler. Its dependencies
come from PyPI. The demo and `sacrecap score` have to run there.

    python check_wheels.py dist [--sdist] [--python PYTHON ...]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

LARGEST = 6.0
"""MB of a wheel without the model and the tables of SPICE, and the vectors of Sentence."""
TABLES = ("sacrecap/resources/english/", "sacrecap/resources/sentence/")
LICENCES = 7
"""As many as `license-files` in pyproject.toml name."""


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dist", type=Path)
    parser.add_argument("--sdist", action="store_true", help="build the sdist, with the Rust that is on the PATH")
    parser.add_argument("--python", action="append", help="an interpreter; may be repeated (this one)")
    arguments = parser.parse_args()
    dist = arguments.dist.resolve()
    archives = sorted(dist.glob("sacrecap-*.tar.gz" if arguments.sdist else "sacrecap-*.whl"))
    if not archives:
        kind = "sdist" if arguments.sdist else "wheels"
        sys.exit(f"{dist}: none of sacrecap's {kind} is there; make {kind}")
    installed = 0
    for archive in archives:
        print(f"{archive.name}: {archive.stat().st_size / 1e6:.2f} MB", flush=True)
        if arguments.sdist:
            check_sdist_contents(archive)
        else:
            check_wheel_contents(archive)
        for python in arguments.python or [sys.executable]:
            if not arguments.sdist and not fits(archive, python):
                print(f"  not run: no {python} for {archive.stem.split('-', 2)[2]} here")
                continue
            check_installed(archive, python, rust=arguments.sdist)
            installed += 1
    if not installed:
        sys.exit(f"{dist}: no wheel there is for {' or '.join(arguments.python or [sys.executable])} on this machine")


def check_wheel_contents(wheel: Path) -> None:
    """Size, licences and tag."""
    with zipfile.ZipFile(wheel) as archive:
        entries = archive.infolist()
    tables = sum(entry.compress_size for entry in entries if entry.filename.startswith(TABLES)) / 1e6
    size = wheel.stat().st_size / 1e6 - tables
    print(f"  {size:.2f} MB and {tables:.2f} MB of tables")
    if size > LARGEST:
        sys.exit(f"{wheel.name}: {size:.2f} MB without its tables; at most {LARGEST}")
    licences = [entry.filename for entry in entries if ".dist-info/licenses/" in entry.filename and not entry.is_dir()]
    if len(licences) != LICENCES:
        sys.exit(f"{wheel.name}: {len(licences)} licence files, expected {LICENCES}: {licences}")
    if "linux" in wheel.name and not re.search(r"manylinux2014|manylinux_2_17|musllinux_1_2", wheel.name):
        sys.exit(f"{wheel.name}: its tag leaves out older systems; expected manylinux2014 or musllinux_1_2")


def check_sdist_contents(sdist: Path) -> None:
    """What builds and tests the core."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for needed in ("LICENSE", "Cargo.lock", "rust/core/Cargo.toml", "src/sacrecap/__init__.py", "tests/conftest.py"):
        if needed not in names:
            sys.exit(f"{sdist.name}: {needed} is missing")


def fits(wheel: Path, python: str) -> bool:
    """Whether pip of this interpreter would take the wheel."""
    command = [python, "-m", "pip", "download", "--quiet", "--no-deps", "--no-index", str(wheel)]
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run([*command, "--dest", folder], capture_output=True, check=False).returncode == 0


def check_installed(archive: Path, python: str, *, rust: bool) -> None:
    """Installs the archive in a new environment of this interpreter, and runs it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([python, "-m", "venv", str(folder / "venv")], check=True)
        scripts = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL"))}
        # Windows finds its own libraries by the PATH.
        clean["PATH"] = os.pathsep.join([str(scripts), *([os.environ["PATH"]] if rust or os.name == "nt" else [])])

        def run(*command: str) -> str:
            program = str(scripts / command[0])
            ran = subprocess.run(
                [program, *command[1:]], cwd=folder, env=clean, capture_output=True, text=True, check=False
            )
            if ran.returncode:
                sys.exit(f"{archive.name}: {' '.join(command)} failed:\n{ran.stdout}{ran.stderr}")
            return ran.stdout

        run("python", "-m", "pip", "install", "--quiet", str(archive))
        run("sacrecap", "demo", "--output", "report.html")
        (folder / "references.json").write_text('{"1": ["a dog runs", "a brown dog runs"], "2": ["two cats sleep"]}')
        (folder / "captions.json").write_text('{"1": "a dog runs", "2": "two cats sleep"}')
        metrics = ["--metrics", "bleu-4,cider-d,spice"]
        run("sacrecap", "score", "references.json", "captions.json", *metrics, "--output", "scores.json")
        json.loads((folder / "scores.json").read_text(encoding="utf-8"))
        version = run("python", "-c", "import platform; print(platform.python_version())").strip()
        print(f"  Python {version}: installed {'with' if rust else 'without'} Rust, demo and score run", flush=True)


if __name__ == "__main__":
    main()
