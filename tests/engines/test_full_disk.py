"""A disk that becomes full while the scores of images are written to it, and has room again later."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_stream import Made

from runner import Runner

FULL = """
mount -t tmpfs -o size=64k none "$1" && cd "$1" && shift || exit 1
"$@" --engine "$FIRST"; echo "status $?"
ls scores/_manifest.json 2>/dev/null
mount -o remount,size=8m .; cd .
"$@" --engine "$AGAIN"; echo "status $?"
ls scores/_manifest.json
"""


def can_be_apart() -> bool:
    return (
        shutil.which("unshare") is not None
        and subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0
    )


@pytest.mark.parametrize("engine", ["stream", pytest.param("ray", marks=pytest.mark.ray)])
@pytest.mark.skipif(not can_be_apart(), reason="this machine gives nobody a mount namespace (unshare -m)")
def test_nothing_is_half_written_and_the_rest_is_done_later(engine: str, tmp_path: Path, run: Runner) -> None:
    if engine == "ray":
        pytest.importorskip("ray")
    rows = Made(8, 2000, single=True).write(tmp_path / "rows", files=6, row_group=200)
    command = [sys.executable, "-m", "sacrecap", "score", rows, "--caption-column", "a", "--metrics", "bleu-4, rouge-l"]
    command += ["--samples", "20", "--format", "json"]
    expected = run.here(*command[3:], "--engine", "stream").stdout
    begun, again = (
        ("stream", "stream(resume=yes)")
        if engine == "stream"
        else ("ray(workers=2, address=local)", "ray(workers=2, address=local, resume=yes)")
    )
    disk = tmp_path / "disk"
    disk.mkdir()
    whole = ["unshare", "-m", "sh", "-c", FULL, "sh", str(disk), *command, "--per-image", "scores"]
    done = subprocess.run(
        whole, capture_output=True, text=True, check=False, env={**os.environ, "FIRST": begun, "AGAIN": again}
    )
    first, status, rest = done.stdout.partition("status 2\n")
    assert (first, status) == ("", "status 2\n"), done.stderr
    assert re.search("(?i)no space (is )?left", done.stderr)
    found, _, manifest = rest.partition("status 0\n")
    assert (json.loads(found), manifest) == (json.loads(expected), "scores/_manifest.json\n")
