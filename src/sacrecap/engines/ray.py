"""The engine of a cluster: the functions of the stream on Ray's workers, again where a worker or node is lost.

The driver reads the captions and hands out pieces of them, so that workers need no files. Tasks of Ray's core, and not
Ray Data, which costs 1.25 times as much.
"""

from __future__ import annotations

import contextlib
import functools
import io
import logging
import os
import platform
import socket
import sys
import warnings
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from sacrecap import _core
from sacrecap.corpus.corpus import WholeCorpus
from sacrecap.engines.passes import RARE, Counters, Counts, Piece, Plan, ScoredPiece, score
from sacrecap.errors import EngineError, MissingDependencyError, UsageError, at_command_line, option, spelled

TRIES = 4
"""How often a piece is begun, where the worker dies that does it, before the piece is taken for the cause."""
SENT = 1.0
"""Seconds in which a piece that was just begun reaches its worker. Ray ends the driver where a task is cancelled on the
way (ray-project/ray, issue 54846).
"""
WAITING = 64
"""Pieces that are given out at once at least, so that a cluster that can grow sees that there is work."""
FAN_IN = 8
"""Counts that a worker adds up at once."""


class RayEngine:
    """Works on pieces on a Ray cluster: that at `address`, HOST:PORT; by default that which `RAY_ADDRESS` names or `ray
    start` began on this machine, else one that is started here and ends with the engine. A connection of `ray.init` is
    used, and stays. A piece that is cut off, by the death of its worker or of the whole node, is done again elsewhere.

    Raises `MissingDependencyError` where Ray is not installed, and `EngineError` where the cluster cannot be reached,
    or a piece's worker dies each of `TRIES` times.
    """

    name = "ray"
    threads = 1

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        try:
            import pyarrow  # noqa: F401
            import ray
            import ray.exceptions
        except ImportError as error:
            raise MissingDependencyError("the engine ray", extra="ray") from error
        self._ray: Any = ray
        self._workers = workers
        self._ends = contextlib.ExitStack()
        if ray.is_initialized():
            return
        where = _cluster(address)
        self._ends.enter_context(contextlib.redirect_stdout(_Diverted()))
        try:
            self._connect(where)
        except BaseException:
            self._ends.close()
            raise
        self._ends.callback(ray.shutdown)

    def _connect(self, where: str) -> None:
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        # Ray would try without end what has too little memory, and log what others raise beside the error that is told.
        os.environ.setdefault("RAY_task_oom_retries", str(TRIES - 1))
        os.environ.setdefault("RAY_IGNORE_UNHANDLED_ERRORS", "1")
        if where == "local":
            # A cluster of our own says nothing to anybody: Ray would send statistics of its use otherwise.
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            options |= {"num_cpus": self._workers, "include_dashboard": False}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self._ray.init(where, **options)
            except Exception as error:  # Ray raises no better one where a node is too slow to start
                if where == "local":
                    raise EngineError(
                        f"Ray did not start on this machine: {_line(error)} Try again when it has less to do, or take "
                        f"{option('engine', 'stream')}"
                    ) from error
                raise EngineError(
                    f"no Ray cluster at {where}: {_line(error)}. If it asks for a token, as one of Ray 2.60 does that "
                    "finds one at its start, set RAY_AUTH_MODE=token, and give what `ray get-auth-token` prints on its "
                    "head in RAY_AUTH_TOKEN or ~/.ray/auth_token"
                ) from error

    def count(self, plan: Plan, pieces: Iterable[Piece], *, minimum: int = RARE) -> Any:
        shared, levels = [self._ray.put(_sent(plan))], defaultdict[int, list[Any]](list)
        begin, merge = self._task("counted"), self._task("merged")
        for counts in self._flow(functools.partial(begin, shared), pieces):
            level = 0
            levels[level].append(counts)
            while len(levels[level]) == FAN_IN:
                full, level = levels.pop(level), level + 1
                levels[level].append(merge(shared, None, *full))
        known = merge(shared, minimum, *(counts for level in sorted(levels) for counts in levels[level]))
        self._ray.wait([known])
        return known

    def fetch(self, known: Any) -> WholeCorpus:
        return self._got(known)  # type: ignore[no-any-return]

    def score(self, plan: Plan, known: Any, pieces: Iterable[Piece]) -> Iterator[ScoredPiece]:
        """What scoring makes of each piece, in their order.

        Raises `EngineError` where workers have another version of sacrecap or died at one piece again and again, or the
        cluster was lost; and whatever scoring raised first: nothing more is worked on then.
        """
        shared, about = [self._ray.put(_sent(plan))], [] if known is None else [known]
        gpus = any("device" in part.needs for metric in plan.metrics for part in metric.parts)
        begin = self._task("scored", gpus=gpus and self._ray.cluster_resources().get("GPU", 0) > 0)
        for result in self._flow(functools.partial(begin, shared, about), pieces):
            yield self._got(result)

    def _flow(self, begin: Callable[[Piece], Any], pieces: Iterable[Piece]) -> Iterator[Any]:
        """References to what is made of the pieces, in order; only so many are worked on at once."""
        most = self._workers or max(2 * int(self._ray.cluster_resources().get("CPU", 1)), WAITING)
        working: list[Any] = []
        order: deque[Any] = deque()
        try:
            for piece in pieces:
                while len(working) >= most:
                    _, working = self._ray.wait(working, num_returns=1)
                result = begin(piece)
                working.append(result)
                order.append(result)
                while order and order[0] not in working:
                    yield order.popleft()
            while order:
                yield order.popleft()
        finally:
            unfinished = list(order)
            with contextlib.suppress(Exception):  # the cluster may be gone
                if unfinished:
                    count = len(unfinished)
                    _, unfinished = self._ray.wait(unfinished, num_returns=count, timeout=SENT, fetch_local=False)
                for result in unfinished:
                    self._ray.cancel(result, force=False)

    def _task(self, name: str, *, gpus: bool = False) -> Callable[..., Any]:
        # A process keeps its network from piece to piece.
        share: dict[str, Any] = {"num_cpus": 1, **({"num_gpus": 1, "max_calls": 0} if gpus else {})}
        task: Callable[..., Any] = self._ray.remote(**share)(_work(name)).options(max_retries=TRIES - 1).remote
        return task

    def _got(self, reference: Any) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(reference)
        except errors.RayTaskError as error:
            cause = error.cause
            if isinstance(cause, ImportError) and cause.name == __name__:
                raise EngineError(str(cause)) from None
            if isinstance(cause, errors.RayError):  # what was raised cannot travel
                raise EngineError(f"a worker failed: {str(cause).strip().rpartition(chr(10))[2]}") from error
            raise cause from OnWorker(str(error))
        except (errors.WorkerCrashedError, errors.OutOfMemoryError) as error:
            raise EngineError(
                f"the worker died each of the {TRIES} times that it worked on a piece. The usual cause is memory: give "
                f"each worker more of it, or take fewer ({spelled(python='workers', command='workers in --engine')})"
            ) from error
        except errors.RayError as error:
            raise EngineError(f"the Ray cluster was lost ({_line(error)}); begin again") from error

    def close(self) -> None:
        """Leaves the cluster, and ends one that was started here."""
        self._ends.close()


def _sent(plan: Plan) -> Plan:
    """What workers get: frequencies of a file as they are, since the file need not be on their machines."""
    frequencies = plan.needs.get("document_frequency")
    if frequencies is None:
        return plan
    return replace(plan, needs=plan.needs.with_({"document_frequency": [source.in_memory() for source in frequencies]}))


class _Diverted(io.TextIOBase):
    """Standard error in the place of standard output, where nothing but results belongs; but what Ray prints of dead
    workers goes nowhere: the engine says what comes of it.
    """

    _of_ray = False

    def write(self, text: str) -> int:
        self._of_ray = "(raylet" in text or (self._of_ray and text == "\n")
        return len(text) if self._of_ray else sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()


@functools.lru_cache(maxsize=3)
def fetched(reference: Any) -> Any:
    """A value of the object store; those that this process used last it keeps."""
    import ray

    return ray.get(reference)


class OnWorker(Exception):  # noqa: N818 - it is shown as the cause of one
    """Where on a worker an exception came from: its traceback, as text."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


def _work(name: str) -> Callable[..., Any]:
    """What Ray runs on workers: a function inside a function, which travels as code, so that it can say what they lack,
    where Ray would say that a module is missing, or nothing where the other version happens to work.
    """
    version, module, of_command_line = _core.__version__, __name__, at_command_line()

    def run(*arguments: Any) -> Any:
        try:
            from importlib import import_module

            from sacrecap import _core
            from sacrecap.errors import words_of_command_line

            lacking = "" if _core.__version__ == version else f"sacrecap {_core.__version__}"
        except ImportError as error:
            lacking = f"no sacrecap that can be imported ({error})"
        if lacking:
            message = (
                f"a worker on {platform.node()} has {lacking}, the driver sacrecap {version}: install it on every node"
            )
            raise ImportError(message, name=module)
        with words_of_command_line(of_command_line):
            return getattr(import_module(module), name)(*arguments)

    return run


def counted(plan: list[Any], piece: Piece) -> Counts:
    """The references of a piece, counted on a worker."""
    counters = Counters(fetched(plan[0]))
    counters.add(piece)
    return counters.finish()


def merged(plan: list[Any], minimum: int | None, *several: Counts) -> Counts | WholeCorpus:
    """What was counted of several pieces; or, with a minimum, what is known of the whole corpus, without n-grams in
    fewer images.
    """
    counters = Counters(fetched(plan[0]))
    for counts in several:
        counters.merge(counts)
    return counters.finish() if minimum is None else counters.known(minimum)


def scored(plan: list[Any], known: list[Any], piece: Piece) -> ScoredPiece:
    """The rows of a piece, made on a worker."""
    return score(fetched(plan[0]), fetched(known[0]) if known else None, piece)


def _cluster(address: str | None) -> str:
    """The cluster to join: HOST:PORT, "auto" for that of this machine, or "local" for one of our own. Ray itself looks
    for minutes where none is.
    """
    address = address or os.environ.get("RAY_ADDRESS", "")
    if address.startswith("ray://"):
        raise UsageError(
            f"address {address}: Ray's client holds no part of the cluster; give HOST:PORT on a machine of the cluster "
            "(ray job submit runs a command there)"
        )
    if address in {"", "auto"}:
        # What `ray start` leaves, also when its processes are gone.
        started = Path(os.environ.get("RAY_TMPDIR", "/tmp"), "ray", "ray_current_cluster")  # noqa: S108
        running = started.read_text(encoding="utf-8").strip() if started.is_file() else ""
        # Ray looks for the token of a cluster that it finds by itself, and of no other.
        return "auto" if running and _unreachable(running) is None else "local"
    reason = None if address == "local" else _unreachable(address)
    if reason is not None:
        raise EngineError(
            f"no Ray cluster answers at {address} ({reason}); give HOST:PORT as `ray start --head` printed it, or no "
            "address to start a cluster on this machine"
        )
    return address


def _unreachable(address: str) -> str | None:
    """Why nothing answers at HOST:PORT; None where something does."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        return "it is not HOST:PORT"
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        return _line(error)
    return None


def _line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
