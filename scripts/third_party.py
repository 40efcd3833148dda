"""Writes `THIRD-PARTY-LICENSES`: the licences of the crates that are linked into the native core.

usage: third_party.py [--check]

The file goes into the wheels, the sdist and the conda package. `--check` writes nothing, and fails where the file is
not what would be written: a crate came, went, or has another version.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FILE = ROOT / "THIRD-PARTY-LICENSES"
LICENCE = re.compile(r"(licen[cs]e|copying|notice|unlicense)", re.IGNORECASE)


def linked() -> list[dict[str, Any]]:
    """The packages of the registry that are linked on any platform: no build scripts, tests or macros."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    dependencies = {node["id"]: node["deps"] for node in metadata["resolve"]["nodes"]}
    waiting = [package["id"] for package in packages.values() if package["name"] == "sacrecap-py"]
    reached: set[str] = set()
    while waiting:
        package = waiting.pop()
        if package in reached or any("proc-macro" in target["kind"] for target in packages[package]["targets"]):
            continue
        reached.add(package)
        waiting += [
            dependency["pkg"]
            for dependency in dependencies[package]
            if any(kind["kind"] is None for kind in dependency["dep_kinds"])
        ]
    return sorted((packages[package] for package in reached if packages[package]["source"]), key=lambda p: p["name"])


def licences(package: dict[str, Any]) -> list[str]:
    """The texts of a package's licences, of the C sources inside it too; where a folder lets choose, MIT's alone."""
    files = [
        path for path in Path(package["manifest_path"]).parent.rglob("*") if LICENCE.match(path.name) and path.is_file()
    ]
    permissive = {path.parent for path in files if "MIT" in path.name.upper()}
    files = [path for path in files if path.parent not in permissive or "MIT" in path.name.upper()]
    return list(dict.fromkeys(path.read_text(encoding="utf-8").replace("\r\n", "\n").strip() for path in sorted(files)))


def written() -> str:
    """The whole file: each text once, below the crates that have it."""
    crates: defaultdict[str, list[str]] = defaultdict(list)
    for package in linked():
        name = f"{package['name']} {package['version']} ({package['license']}), {package['repository']}"
        for text in licences(package) or ["The crate has no file of its licence; its terms are those named above."]:
            crates[text].append(name)
    parts = ["The native core of sacrecap is linked with these crates, under their licences.\n"]
    for text, names in sorted(crates.items(), key=lambda item: item[1]):
        parts.append("\n".join(["=" * 80, *names, "-" * 80, text, ""]))
    return "\n".join(parts)


def main() -> None:
    """Writes the file, or looks at it."""
    text = written()
    if sys.argv[1:] != ["--check"]:
        FILE.write_text(text, encoding="utf-8")
    elif not FILE.exists() or FILE.read_text(encoding="utf-8") != text:
        sys.exit(f"{FILE.name} is out of date: python scripts/third_party.py writes it")


if __name__ == "__main__":
    main()
