"""What pip calls to build sacrecap from the sources: maturin, after a look at the compiler, with PyPI's description.

An old cargo fails on the first line that it does not know, and its message does not say what to do.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import maturin
import pypi_readme

get_requires_for_build_editable = maturin.get_requires_for_build_editable
get_requires_for_build_sdist = maturin.get_requires_for_build_sdist
get_requires_for_build_wheel = maturin.get_requires_for_build_wheel


def build_sdist(*arguments: Any, **settings: Any) -> Any:
    """As maturin's."""
    pypi_readme.write()
    return maturin.build_sdist(*arguments, **settings)


def prepare_metadata_for_build_wheel(*arguments: Any, **settings: Any) -> Any:
    """As maturin's."""
    _prepare()
    return maturin.prepare_metadata_for_build_wheel(*arguments, **settings)


def build_wheel(*arguments: Any, **settings: Any) -> Any:
    """As maturin's."""
    _prepare()
    return maturin.build_wheel(*arguments, **settings)


def prepare_metadata_for_build_editable(*arguments: Any, **settings: Any) -> Any:
    """As maturin's."""
    _prepare()
    return maturin.prepare_metadata_for_build_editable(*arguments, **settings)


def build_editable(*arguments: Any, **settings: Any) -> Any:
    """As maturin's."""
    _prepare()
    return maturin.build_editable(*arguments, **settings)


def _prepare() -> None:
    check_compiler()
    pypi_readme.write()


def check_compiler(sources: Path = Path()) -> None:
    """Ends with a message where the compiler is older than `rust-version` in Cargo.toml; without one maturin speaks."""
    needed = re.search(r'^rust-version = "(.*)"', (sources / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)
    compiler = os.environ.get("RUSTC", "rustc")
    try:
        version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return
    number = re.search(r"\d+\.\d+", version.stdout)
    if needed and number and _numbers(number[0]) < _numbers(needed[1]):
        sys.exit(
            f"sacrecap needs Rust {needed[1]} or newer to be built from its sources, and this is Rust {number[0]}.\n"
            "Get a newer one from https://rustup.rs, or install a wheel, which needs no Rust: "
            "pip install --only-binary sacrecap sacrecap"
        )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])
