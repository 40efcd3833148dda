"""The engine of a cluster: Ray gives the parts to workers, again where a worker or node is lost, and shuffles.

Tasks of Ray's core, and not Ray Data: that costs the driver many times as much per part, begins a part without end
whose worker dies, and hands results back as rows.
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
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sacrecap import _core
from sacrecap.errors import EngineError, MissingDependencyError, UsageError, at_command_line, engine_option, option

if TYPE_CHECKING:
    from sacrecap.data.partitioned import Part
    from sacrecap.engines.plan import Shuffle

Value = TypeVar("Value")

TRIES = 4
"""How often a part is begun, where the worker dies that does it, before the part is taken for the cause."""
WAITING = 256
"""Parts that are given out at once at least, so that a cluster that can grow sees that there is work."""
FAN_IN = 32
"""Pieces of a shard that are made one before there are more: the driver keeps note of each."""


class RayEngine:
    """Works on parts on a Ray cluster.

    A part that is cut off, by the death of its worker or of the whole node, is done again elsewhere; each part's
    result is given once. A part whose worker dies each of `TRIES` times is an `EngineError` that names its file.

    Args:
        address: ``HOST:PORT`` of the cluster. By default the cluster that `RAY_ADDRESS` names or that `ray start`
            began on this machine, else one that is started here and ends with the engine. Where `ray.init` was called
            before, that connection is used, and stays.
        workers: parts to work on at once; by default as many as the cluster has cores.

    Raises:
        MissingDependencyError: Ray is not installed.
        EngineError: the cluster cannot be reached.
    """

    name = "ray"
    threads = 1
    in_order = False

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        self._ray = ray = _imported()
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

    def share(self, value: Value) -> InStore[Value]:
        """Puts the value into the object store, from where each node copies it once."""
        return InStore(self._ray.put(value))

    def map(
        self,
        function: Callable[[Part], Value],
        parts: Sequence[Part],
        *,
        gpus: float = 0,
        shuffle: Shuffle | None = None,
    ) -> Iterator[tuple[Part, Value]]:
        """The function's result for each part, once each, as they come; `gpus` is what one call needs of them.

        With a shuffle, the function returns its result and a piece for each shard; pieces stay on the cluster.

        Raises:
            EngineError: workers have another version of sacrecap or died at one part again and again, or the cluster
                was lost.
            Exception: whatever the function raised first; nothing more is worked on then.
        """
        returns = 1 if shuffle is None else 1 + shuffle.shards
        free, left = deque(self._slots(function, len(parts), gpus, returns)), deque(parts)
        working: dict[Any, tuple[Part, Any, list[Any]]] = {}
        try:
            while left or working:
                while left and free:
                    slot, part = free.popleft(), left.popleft()
                    made = slot(part)
                    first, *pieces = made if returns > 1 else [made]
                    working[first] = part, slot, pieces
                for done in self._done(list(working)):
                    part, slot, pieces = working.pop(done)
                    free.append(slot)
                    value = self._got(done, part.file)
                    if shuffle is not None:
                        self._keep(shuffle, pieces)
                    yield part, value
        finally:
            for unfinished in working:
                with contextlib.suppress(Exception):  # the cluster may be gone
                    self._ray.cancel(unfinished, force=False)

    def gather(self, shuffle: Shuffle) -> Iterator[tuple[Any, InStore[Any]]]:
        """What the shuffle finishes each shard to, in order: what is told of it, and what stays on the cluster."""
        every = [pieces for level in shuffle.kept for pieces in level]
        finish = self._task(shuffle.finish, 2)
        for told, kept in [finish(*same) for same in zip(*every, strict=True)]:
            yield self._got(told, "a shuffle"), InStore(kept)

    def call(self, function: Callable[..., tuple[Any, Value]], *given: Any) -> InStore[Value]:
        """What the function keeps of these values: a worker calls it, and it stays on the cluster."""
        told, kept = self._task(function, 2)(*(value.reference for value in given))
        self._got(told, "a shuffle")
        return InStore(kept)

    def _keep(self, shuffle: Shuffle, pieces: list[Any], level: int = 0) -> None:
        """Keeps a part's pieces; where there are many, those of each shard become one."""
        while len(shuffle.kept) <= level:
            shuffle.kept.append([])
        shuffle.kept[level].append(pieces)
        if len(shuffle.kept[level]) == FAN_IN:
            full, shuffle.kept[level] = shuffle.kept[level], []
            combine = self._task(shuffle.combine, 1)
            self._keep(shuffle, [combine(*same) for same in zip(*full, strict=True)], level + 1)

    def _slots(self, function: Any, parts: int, gpus: float, returns: int) -> list[Callable[[Part], Any]]:
        """Functions that give out a part each: as many as may be worked on at once."""
        resources: dict[str, float] = self._ray.cluster_resources()
        most = min(self._workers or max(2 * int(resources.get("CPU", 1)), WAITING), parts)
        found = int(resources.get("GPU", 0) / gpus) if gpus else 0
        if not found:
            return [self._task(function, returns)] * most
        # An actor keeps its model from part to part, and its GPU to itself.
        actor = self._ray.remote(_as_actor(_runner(self._ray.put(function))))
        actor = actor.options(num_cpus=1, num_gpus=gpus, max_restarts=-1, max_task_retries=TRIES - 1)
        actors = [actor.remote() for _ in range(min(found, most))]
        return [own.run.options(num_returns=returns).remote for own in actors]

    def _task(self, function: Any, returns: int) -> Callable[..., Any]:
        run = self._ray.remote(_runner(self._ray.put(function)))
        task: Callable[..., Any] = run.options(num_cpus=1, num_returns=returns, max_retries=TRIES - 1).remote
        return task

    def _done(self, working: list[Any]) -> list[Any]:
        """Those that are ready, of which there is one at least."""
        self._ray.wait(working, num_returns=1)
        return self._ray.wait(working, num_returns=len(working), timeout=0)[0]  # type: ignore[no-any-return]

    def _got(self, reference: Any, what: str) -> Any:
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
        except (errors.WorkerCrashedError, errors.OutOfMemoryError, errors.ActorDiedError) as error:
            raise EngineError(
                f"{what}: the worker died each of the {TRIES} times that it worked on this part. The usual cause is "
                f"memory: give each worker more of it, or take fewer ({engine_option('workers')}), and begin again "
                f"with {engine_option('resume', True)}"
            ) from error
        except errors.RayError as error:
            again = f"begin again with {engine_option('resume', True)}"
            raise EngineError(f"the Ray cluster was lost ({_line(error)}); {again}") from error

    def close(self) -> None:
        """Leaves the cluster, and ends one that was started here."""
        self._ends.close()


class _Diverted(io.TextIOBase):
    """Standard error in the place of standard output, where nothing but results belongs.

    What Ray prints of dead workers goes nowhere: the engine says what comes of it.
    """

    _of_ray = False

    def write(self, text: str) -> int:
        """Passes it on."""
        self._of_ray = "(raylet" in text or (self._of_ray and text == "\n")
        return len(text) if self._of_ray else sys.stderr.write(text)

    def flush(self) -> None:
        """Passes it on."""
        sys.stderr.flush()


@dataclass(frozen=True)
class InStore(Generic[Value]):
    """A value in Ray's object store."""

    reference: Any

    def get(self) -> Value:
        """The value: a process unpickles it once."""
        return fetched(self.reference)  # type: ignore[no-any-return]


@functools.lru_cache(maxsize=3)
def fetched(reference: Any) -> Any:
    """A value of the object store; those that this process used last it keeps."""
    import ray

    return ray.get(reference)


class OnWorker(Exception):  # noqa: N818 - it is shown as the cause of one
    """Where on a worker an exception came from: its traceback, as text."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


def _runner(function: Any) -> Callable[..., Any]:
    """What Ray runs on workers: a function inside a function, which travels as code, so that it can say what they lack.

    Ray would only say that a module is missing, or nothing where the other version happens to work.
    """
    version, name, of_command_line = _core.__version__, __name__, at_command_line()

    def run(*given: Any) -> Any:
        try:
            from sacrecap import _core
            from sacrecap.engines.ray import fetched
            from sacrecap.errors import words_of_command_line

            found = "" if _core.__version__ == version else f"sacrecap {_core.__version__}"
        except ImportError as error:
            found = f"no sacrecap that can be imported ({error})"
        if found:
            message = (
                f"a worker on {platform.node()} has {found}, the driver sacrecap {version}: install it on every node"
            )
            raise ImportError(message, name=name)
        with words_of_command_line(of_command_line):
            return fetched(function)(*given)

    return run


def _as_actor(run: Callable[..., Any]) -> type:
    class Actor:
        def run(self, part: Any) -> Any:
            return run(part)

    return Actor


def _cluster(address: str | None) -> str:
    """The cluster to join: HOST:PORT, "auto" for that of this machine, or "local" for one of our own.

    Ray itself looks for minutes where none is.
    """
    given = address or os.environ.get("RAY_ADDRESS", "")
    if given.startswith("ray://"):
        raise UsageError(
            f"address {given}: Ray's client holds no part of the cluster; give HOST:PORT on a machine of the cluster "
            "(ray job submit runs a command there)"
        )
    if given in {"", "auto"}:
        # What `ray start` leaves, also when its processes are gone.
        started = Path(os.environ.get("RAY_TMPDIR", "/tmp"), "ray", "ray_current_cluster")  # noqa: S108
        found = started.read_text(encoding="utf-8").strip() if started.is_file() else ""
        # Ray looks for the token of a cluster that it finds by itself, and of no other.
        return "auto" if found and _unreachable(found) is None else "local"
    reason = None if given == "local" else _unreachable(given)
    if reason is not None:
        raise EngineError(
            f"no Ray cluster answers at {given} ({reason}); give HOST:PORT as `ray start --head` printed it, or no "
            "address to start a cluster on this machine"
        )
    return given


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


def _imported() -> Any:
    try:
        import pyarrow  # noqa: F401
        import ray
        import ray.exceptions
    except ImportError as error:
        raise MissingDependencyError("the engine ray", extra="ray") from error
    return ray


def _line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
