"""What the loads of `contest.py` and `server.py` share: calls that wait out a restart, kills, and what is told."""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import time
from collections.abc import Coroutine, Iterable
from typing import Any, Protocol

import httpx2 as httpx


class Server(Protocol):
    """A process that serves; `start` returns once it listens."""

    def start(self) -> None: ...
    def kill(self) -> None: ...


class Load:
    """People at a server, how long they waited for pages, and what they did not expect."""

    def __init__(self, server: Server, options: argparse.Namespace) -> None:
        self.server, self.options = server, options
        self.milliseconds: list[float] = []
        self.slowest: dict[str, float] = {}
        self.wrong: list[str] = []
        self._kills = 0
        self._serves = asyncio.Event()

    async def call(
        self, client: httpx.AsyncClient, method: str, path: str, *, page: bool, **how: Any
    ) -> httpx.Response | None:
        """The answer, whose time counts where it is a `page`; None where a kill took it: the server is back then."""
        await self._serves.wait()
        began, kills = time.monotonic(), self._kills
        try:
            answer = await client.request(method, path, **how)
        except httpx.HTTPError as error:
            if self._kills == kills:
                self.wrong.append(f"{method} {path}: {type(error).__name__}")
            await asyncio.sleep(0.2)
            return None
        if page:
            took = 1000 * (time.monotonic() - began)
            self.milliseconds.append(took)
            self.slowest[path] = max(took, self.slowest.get(path, 0))
        if answer.status_code >= 400 and answer.status_code != 429:
            self.wrong.append(f"{method} {path}: {answer.status_code}")
        return answer

    async def run(self, people: Iterable[Coroutine[Any, Any, None]], ends: float) -> None:
        """Lets people come to a server that was started, and kills it meanwhile."""
        self._serves.set()
        await asyncio.gather(self._kill(ends), *people)

    async def _kill(self, ends: float) -> None:
        for left in range(self.options.kills, 0, -1):
            await asyncio.sleep(max(0.0, (ends - time.monotonic()) / left * random.uniform(0.4, 1.0)))
            self._kills += 1
            self._serves.clear()
            self.server.kill()
            await asyncio.to_thread(self.server.start)
            self._serves.set()

    def tell(self, acknowledged: int, lost: list[str], **more: object) -> int:
        """Prints one JSON document; the exit status is 1 where something was lost, or an answer was wrong."""
        times = sorted(self.milliseconds)
        document = {
            "seconds": self.options.seconds,
            "kills": self.options.kills,
            "pages": len(times),
            "pages_per_second": round(len(times) / self.options.seconds, 1),
            "median_ms": round(statistics.median(times), 1),
            "p99_ms": round(times[int(len(times) * 0.99)], 1),
            **more,
            "acknowledged": acknowledged,
            "lost": lost,
            "wrong": self.wrong[:10],
        }
        print(json.dumps(document, indent=2))
        return 1 if lost or self.wrong else 0


def options(description: str | None, **numbers: tuple[float, str]) -> argparse.Namespace:
    """Seconds and kills, and options that a load has besides, each with its default and what it is."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--kills", type=int, default=0)
    for name, (default, what) in numbers.items():
        parser.add_argument(f"--{name}", type=type(default), default=default, help=what)
    return parser.parse_args()
