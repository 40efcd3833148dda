"""What pip calls to build sacrecap from the sources: maturin, after a look at the compiler, with PyPI's description.

An old cargo fails on the first line that it does not know, and its message does not say what to do.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import maturin
import pypi_readme


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


def _described(hook: Callable[..., Any], *checks: Callable[[], None]) -> Callable[..., Any]:
    """The hook, after the checks, with the description on PyPI."""

    def call(*arguments: Any, **settings: Any) -> Any:
        for check in checks:
            check()
        pypi_readme.write()
        return hook(*arguments, **settings)

    return call


get_requires_for_build_editable = maturin.get_requires_for_build_editable
get_requires_for_build_sdist = maturin.get_requires_for_build_sdist
get_requires_for_build_wheel = maturin.get_requires_for_build_wheel
build_sdist = _described(maturin.build_sdist)
build_wheel = _described(maturin.build_wheel, check_compiler)
build_editable = _described(maturin.build_editable, check_compiler)
prepare_metadata_for_build_wheel = _described(maturin.prepare_metadata_for_build_wheel, check_compiler)
prepare_metadata_for_build_editable = _described(maturin.prepare_metadata_for_build_editable, check_compiler)
