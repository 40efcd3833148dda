"""Finds a Java runtime."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass

from sacrecap.errors import DataError, MissingDependencyError

LEAST = 8
_WITHOUT_JAVASCRIPT = 15
"""The first Java without a JavaScript engine, which the program needs."""
_PATIENCE = 120
"""Seconds that `java -version` may take."""


@dataclass(frozen=True)
class Java:
    """A Java runtime: the path of its `java`, and its version, such as 8 or 17."""

    path: str
    version: int

    @property
    def lacks_javascript(self) -> bool:
        return self.version >= _WITHOUT_JAVASCRIPT


def find_java(named: str | None = None) -> Java:
    """The Java to run the program with: the named one, else the first in JAVA_HOME and PATH that is new enough.

    Raises:
        DataError: the named one is not Java, or is too old.
        MissingDependencyError: none was named, and none was found.
    """
    if named is not None:
        path = shutil.which(named)
        if path is None:
            raise DataError(f"--java {named}: is not a program; name the file called java of a Java runtime")
        version = java_version(path)
        if version is None or version < LEAST:
            what = "does not say its version as Java does" if version is None else f"is Java {version}"
            raise DataError(f"--java {named}: {what}; SPICE's program needs Java {LEAST} or newer")
        return Java(os.path.abspath(path), version)
    seen = []
    for source, path in (("JAVA_HOME", _of_home()), ("PATH", shutil.which("java"))):
        version = java_version(path) if path is not None else None
        if path is not None and version is not None and version >= LEAST:
            return Java(path, version)
        if path is not None:
            seen.append(f"{path} of {source} " + ("does not run" if version is None else f"is Java {version}"))
    found = "; ".join(seen) if seen else "there is none in JAVA_HOME or PATH"
    raise MissingDependencyError(
        f"SPICE's program needs Java {LEAST} or newer: {found}; install one (Debian: apt install default-jre-headless; "
        "conda: openjdk), or name one: sacrecap spice setup --java PATH"
    )


def java_version(path: str) -> int | None:
    """The version of the `java` at that path, such as 8 for 1.8.0; None if it does not run or states no version."""
    try:
        done = subprocess.run(
            [path, "-version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    said = (done.stderr + done.stdout).decode("utf-8", "replace")
    match = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(match[1]) if match and done.returncode == 0 else None


def _of_home() -> str | None:
    home = os.environ.get("JAVA_HOME")
    return shutil.which(os.path.join(home, "bin", "java")) if home else None
