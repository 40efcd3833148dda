"""Requests per second of a server's pages, answers and submissions, and the processor time that each costs it.

    python benchmarks/server_speed.py                                # this checkout
    python benchmarks/server_speed.py --against OTHER_CHECKOUT       # and another one, turn by turn in one run

Each round asks each server for each page in turn, over keep-alive connections, so that a busy machine is busy for
both. Processor time is that of the server's process alone. Prints one JSON document.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx2 as httpx

HERE = Path(__file__).parents[1]
TEAMS, EACH = 12, 2
_SEED = """
import json, sys
from pathlib import Path
from sacrecap_server_testing import benchmark
from sacrecap_server_testing.world import World
from sacrecap_server.accounts.access import Role, new_token, sign_in
from sacrecap_server.store.models import Account, Team
from sacrecap_server.studies import repository
from sacrecap_studies.design import read_design
world = World(Path(sys.argv[1]), job_seconds=600)
benchmark.make(world, metrics="coco", quota_day=1000, quota_total=1000)
with world.database.write() as session:
    team = Team(name="Load", name_key="load"); session.add(team); session.flush()
    account = Account(email="load@example.org", role=Role.ADMIN, team_id=team.id); account.password = "-"
    session.add(account); session.flush()
    if hasattr(Account, "confirmed"): account.confirmed = account.created
    owner = account.id
    items = [{"image_id": n, "references": ["a dog"] * 5, "b": f"a dog {n}", "c": f"a cat {n}"} for n in range(400)]
    design = {"study": "triplet", "judgments": 3, "items": items}
    study = repository.make(session, owner, read_design(json.dumps(design).encode()))
    study.state = "open"
    print(json.dumps({"token": new_token(session, owner, "load"), "study": study.code}))
with world.database.write() as session:
    from sacrecap_server.store.models import Benchmark, Blob, Job, Submission, SubmissionScore, now
    from sqlalchemy import select
    from sacrecap_server.boards.board import metrics_of
    ours = session.execute(select(Benchmark)).scalars().one()
    metrics = metrics_of(ours)
    for number in range(int(sys.argv[2])):
        team = Team(name=f"Team {number}", name_key=f"team {number}"); session.add(team); session.flush()
        for each in range(int(sys.argv[3])):
            sha = f"{number:032d}{each:032d}"
            session.add(Blob(sha256=sha, size=2, data=b"[]")); session.flush()
            one = Submission(benchmark_id=ours.id, team_id=team.id, account_id=owner, file_sha=sha, file_name="a.json",
                             system="A system", created=now(), scored=now())
            session.add(one); session.flush()
            session.add(Job(kind="score", subject_id=one.id, state="done"))
            for metric in metrics:
                value = 0.5 + 0.01 * number + 0.001 * each
                session.add(SubmissionScore(submission_id=one.id, metric=metric, value=value, lower=value - 0.02,
                                            upper=value + 0.02, signature=f"metric:{metric}"))
world.state.close()
"""


class Served:
    """A server of one checkout, in a process of its own."""

    def __init__(self, tree: Path, folder: Path, port: int, options: argparse.Namespace) -> None:
        members = (tree / "src", *sorted((tree / "packages").glob("*/src")))
        self.environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, members))}
        self.url = f"http://127.0.0.1:{port}"
        seeded = subprocess.run(
            [sys.executable, "-c", _SEED, str(folder), str(options.teams), str(options.each)],
            env=self.environment,
            check=True,
            capture_output=True,
            text=True,
        )
        self.keys = json.loads(seeded.stdout.splitlines()[0])
        run = "from sacrecap.cli.start import script; script()"
        arguments = ["serve", "--database", f"sqlite:///{folder / 'sacrecap.db'}", "--port", str(port)]
        with open(folder / "log", "wb") as log:
            self.process = subprocess.Popen([sys.executable, "-c", run, *arguments], env=self.environment, stderr=log)
        for _ in range(300):
            with contextlib.suppress(httpx.HTTPError):
                if httpx.get(self.url + "/healthz").status_code == 200:
                    return
            time.sleep(0.1)
        raise TimeoutError((folder / "log").read_text())

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()

    def cpu(self) -> float:
        """Seconds of processor time that the server's process has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def _pages(served: Served, path: str, seconds: float, connections: int) -> int:
    """How many answers came in this time, over so many connections; raises where one was not right."""
    ends = time.monotonic() + seconds
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
    port = int(served.url.rpartition(":")[2])

    async def connection() -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        count = 0
        while time.monotonic() < ends:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 200"):
                raise RuntimeError(f"{path}: {head[:200]!r}")
            length = int(re.search(rb"content-length: (\d+)", head.lower())[1])
            await reader.readexactly(length)
            count += 1
        writer.close()
        return count

    return sum(await asyncio.gather(*(connection() for _ in range(connections))))


async def _answers(served: Served, seconds: float) -> int:
    """Answers of one new person, each with the next page."""
    path, count, ends = f"/s/{served.keys['study']}", 0, time.monotonic() + seconds
    async with httpx.AsyncClient(base_url=served.url, follow_redirects=True, timeout=60) as client:
        page = await client.get(path)
        fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', page.text))
        page = await client.post(path + "/begin", data=fields)
        while time.monotonic() < ends:
            fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page.text))
            choice = re.search(r'name="choice" value="(\w+)"', page.text)
            if choice is None:
                raise RuntimeError(f"no question: {page.text[:2000]}")
            page = await client.post(path + "/answer", data={**fields, "choice": choice[1], "active": "4000"})
            page.raise_for_status()
            count += 1
    return count


async def _submissions(served: Served, seconds: float, turn: int) -> int:
    """Uploads through the API, one after the other; scoring them is not part of it."""
    from sacrecap import example

    captions = json.loads(example.system_path("careful").read_bytes())
    count, ends = 0, time.monotonic() + seconds
    headers = {"Authorization": f"Bearer {served.keys['token']}"}
    async with httpx.AsyncClient(base_url=served.url, headers=headers, timeout=60) as client:
        while time.monotonic() < ends and count < 6:  # of twenty a minute that an account may send
            data = json.dumps({**captions, next(iter(captions)): f"a man at turn {turn} number {count}"})
            answer = await client.post("/api/v1/benchmarks/ours/submissions?system=x", content=data)
            answer.raise_for_status()
            count += 1
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, help="another checkout, whose native module is built")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each page in each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--teams", type=int, default=TEAMS)
    parser.add_argument("--each", type=int, default=EACH, help="submissions of each team")
    parser.add_argument("--port", type=int, default=8700)
    options = parser.parse_args()
    trees = {"here": HERE, **({"other": options.against} if options.against else {})}
    found: dict[str, dict[str, list[tuple[float, float]]]] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as ending:
        servers = {}
        for number, (name, tree) in enumerate(trees.items()):
            own = Path(folder) / name
            own.mkdir()
            servers[name] = Served(tree.resolve(), own, options.port + number, options)
            ending.callback(servers[name].stop)
        work = {
            **{
                path: (lambda served, _, path=path: _pages(served, path, options.seconds, 8))
                for path in (
                    "/static/site.css",
                    "/healthz",
                    "/",
                    "/benchmarks/ours",
                    "/api/v1/benchmarks/ours/board",
                    "/benchmarks/ours/history",
                )
            },
            "an answer and the next page": lambda served, _: _answers(served, options.seconds),
            "a submission accepted": lambda served, turn: _submissions(served, options.seconds, turn),
        }
        for turn in range(options.rounds):
            for what, run in work.items():
                for name, served in servers.items():
                    cpu, began = served.cpu(), time.monotonic()
                    count = asyncio.run(run(served, turn))
                    took, cost = time.monotonic() - began, served.cpu() - cpu
                    found.setdefault(what, {}).setdefault(name, []).append((count / took, 1000 * cost / count))
    report = {
        what: {
            name: {
                "per_second": round(statistics.median(rate for rate, _ in rounds), 1),
                "cpu_ms": round(statistics.median(cost for _, cost in rounds), 2),
            }
            for name, rounds in by_server.items()
        }
        for what, by_server in found.items()
    }
    size = {"teams": options.teams, "submissions": options.teams * options.each}
    print(json.dumps({**size, "results": report}, indent=2))


if __name__ == "__main__":
    main()
