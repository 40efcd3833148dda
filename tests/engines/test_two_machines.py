"""Two machines that have no folder in common but the input, and a token, as `ray start` makes them."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("ray")

from made_rows import Made, two_inputs

from pages import ROOT

pytestmark = pytest.mark.ray
RAY = [sys.executable, "-m", "ray.scripts.scripts", "start", "--object-store-memory=80000000", "--disable-usage-stats"]
APART = """
temporary=$1 seen=$2
shift 2
mount -t tmpfs none /mnt || exit 1
echo "$seen" | while read -r folder; do mkdir -p "/mnt$folder" && mount --bind "$folder" "/mnt$folder" || exit 1; done
mount -t tmpfs none "$temporary" || exit 1
echo "$seen" | while read -r folder; do mkdir -p "$folder" && mount --bind "/mnt$folder" "$folder" || exit 1; done
exec "$@"
"""
"""A folder for temporary files of its own, in which the folders that both machines see are where they are elsewhere."""


def can_be_apart() -> bool:
    return (
        shutil.which("unshare") is not None
        and subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0
    )


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, str]]]:
    """A folder of the input, and the environment of the head, which has no core: the other machine does the work."""
    if not can_be_apart():
        pytest.skip("this machine gives nobody a mount namespace (unshare -m)")
    folder, short = tmp_path_factory.mktemp("input"), tempfile.mkdtemp(prefix="ray-")  # a socket's path is short
    temporary = next(parent for parent in folder.parents if parent.parent == Path("/"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    environment = {**os.environ, "RAY_AUTH_TOKEN": secrets.token_hex(16), "RAY_TMPDIR": short}
    for name in ("RAY_AUTH_MODE", "RAY_ADDRESS"):
        environment.pop(name, None)
    head = [*RAY, "--head", f"--port={address.rpartition(':')[2]}", "--num-cpus=0", "--include-dashboard=false"]
    other = [*RAY, f"--address={address}", "--num-cpus=2"]
    programs = {Path(place).resolve() for place in (sys.prefix, sys.base_prefix, ROOT)}  # a clone may be there, too
    seen = [folder, *(place for place in programs if place.is_relative_to(temporary))]
    apart = ["unshare", "-m", "sh", "-c", APART, "sh", str(temporary), "\n".join(map(str, seen))]
    log = folder / "log"
    with contextlib.ExitStack() as ends:
        ends.callback(shutil.rmtree, short, ignore_errors=True)
        file = ends.enter_context(log.open("wb"))

        def start(command: list[str], environment: dict[str, str]) -> None:
            """Starts a node, and waits for it; it ends with the block."""
            begun = log.read_bytes().count(b"Ray runtime started")
            node = subprocess.Popen([*command, "--block"], env=environment, stdout=file, stderr=file)
            ends.callback(node.wait)
            ends.callback(node.terminate)
            while log.read_bytes().count(b"Ray runtime started") == begun:
                assert node.poll() is None, log.read_text()
                time.sleep(0.05)

        start(head, environment)
        start([*apart, *other], {**environment, "RAY_AUTH_MODE": "token"})
        yield folder, environment


def scored(environment: dict[str, str], *arguments: str) -> dict[str, object]:
    command = [sys.executable, "-m", "sacrecap", "score", *arguments, "--format", "json", "--samples", "20"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def test_workers_need_none_of_the_files(machines: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    """The input is where the other machine does not see it."""
    _, environment = machines
    rows = Made(5, 120).write(tmp_path / "rows", files=6, row_group=9)
    given = (rows, "--caption-column", "a", "--metrics", "bleu-4, rouge-l, cider-d, cider-paper")
    assert scored(environment, *given, "--engine", "ray") == scored(environment, *given, "--engine", "local")
    references, candidates = two_inputs(Made(6, 80), tmp_path)
    two = (references, candidates, "--metrics", "rouge-l, cider-d")
    assert scored(environment, *two, "--engine", "ray") == scored(environment, *two, "--engine", "local")


def test_a_cluster_whose_token_is_not_given(machines: tuple[Path, dict[str, str]]) -> None:
    folder, environment = machines
    found = Path(environment["RAY_TMPDIR"], "ray", "ray_current_cluster").read_text()
    rows = Made(7, 9).write(folder / "few", files=2, row_group=9)
    command = [sys.executable, "-m", "sacrecap", "score", rows, "--caption-column", "a", "--metrics", "rouge-l"]
    command += ["--engine", f"ray:{found.strip()}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "set RAY_AUTH_MODE=token, and give what `ray get-auth-token` prints" in done.stderr
