"""The engine of a cluster: Ray Data gives the parts to workers, gives them out again where a worker or node is lost."""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import pickle
import socket
import sys
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

from sacrecap import _core
from sacrecap.errors import EngineError, MissingDependencyError, UsageError, at_command_line, option

if TYPE_CHECKING:
    from sacrecap.data.partitioned import Part

Value = TypeVar("Value")

TRIES = 4
"""How often a part is begun, where the worker dies that does it, before the part is taken for the cause."""
TASKS = 1_024
"""Up to here a part is a task of its own. Scheduling one costs the driver about 15 ms, whatever the size of it."""
TASKS_PER_WORKER = 16


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
        # Ray prints what it has to say of dead workers on standard output, where nothing but results belongs.
        self._ends.enter_context(contextlib.redirect_stdout(sys.stderr))
        try:
            self._connect(where)
        except BaseException:
            self._ends.close()
            raise
        self._ends.callback(ray.shutdown)

    def _connect(self, where: str) -> None:
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        if where == "local":
            # A cluster of our own says nothing to anybody: Ray would send statistics of its use otherwise.
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
            options |= {"num_cpus": self._workers, "include_dashboard": False}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self._ray.init(where, **options)
            except (ConnectionError, RuntimeError, ValueError, OSError) as error:
                raise EngineError(f"no Ray cluster at {where}: {_line(error)}") from error

    def share(self, value: Value) -> InStore[Value]:
        """Puts the value into the object store, from where each node copies it once."""
        return InStore(self._ray.put(value))

    def map(
        self, function: Callable[[Part], Value], parts: Sequence[Part], *, gpus: float = 0
    ) -> Iterator[tuple[Part, Value]]:
        """The function's result for each part, once each, as they come; `gpus` is what one call needs of them.

        Raises:
            EngineError: workers have another version of sacrecap or died at one part again and again, or the cluster
                was lost.
            Exception: whatever the function raised first; nothing more is worked on then.
        """
        left = {part.number: part for part in parts}
        with _quiet_ray_data(), contextlib.closing(self._outcomes(function, parts, gpus)) as blocks:
            try:
                while left:
                    for number, failed, value in _rows(next(blocks)):
                        if failed:
                            _fail(pickle.loads(value))  # noqa: S301 - from a worker of ours
                        part = left.pop(number, None)
                        if part is not None:
                            yield part, pickle.loads(value)  # noqa: S301
            except (self._ray.exceptions.RayError, StopIteration) as error:
                again = f"begin again with {option('resume', True)}"
                raise EngineError(f"the Ray cluster was lost ({_line(error)}); {again}") from error

    def _outcomes(
        self, function: Callable[[Part], Any], parts: Sequence[Part], gpus: float
    ) -> Generator[Any, None, None]:
        """Arrow tables of part number, whether it failed, and the result or the exception, pickled."""
        import pyarrow as pa

        ray = self._ray
        resources: dict[str, float] = ray.cluster_resources()
        groups = [
            pa.table({"part": pa.array([pickle.dumps(part) for part in group], pa.large_binary())})
            for group in _groups(parts, self._workers or int(resources.get("CPU", 1)))
        ]
        run = _runner(ray.put(function), _attempts(ray), _core.__version__)
        found = int(resources.get("GPU", 0) / gpus) if gpus else 0
        most = min(self._workers or len(groups), len(groups))
        # An actor keeps its model from part to part, and its GPU to itself.
        workers = ray.data.ActorPoolStrategy(size=min(found, most)) if found else ray.data.TaskPoolStrategy(size=most)
        rows = ray.data.from_arrow(groups).map_batches(
            _as_actor(run) if found else run,
            batch_size=1,
            batch_format="pyarrow",
            num_cpus=1,
            num_gpus=gpus if found else None,
            compute=workers,
        )
        # Each result as soon as it is there: with prefetching, the last one would wait for the next.
        batches = rows.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0)
        blocks: Any = iter(batches)
        with contextlib.closing(blocks):
            yield from blocks

    def close(self) -> None:
        """Leaves the cluster, and ends one that was started here."""
        self._ends.close()


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


def outcomes(function: Any, attempts: Any, parts: Any) -> Iterator[Any]:
    """On a worker: for each part a table of its number, whether it failed, and the result or the exception."""
    import pyarrow as pa
    import ray

    for part in map(pickle.loads, parts.to_pylist()):
        failed = False
        try:
            if ray.get(attempts.begun.remote(part.number)) > TRIES:
                raise EngineError(
                    f"{part.file}: the worker died each of the {TRIES} times that it worked on this part. The usual "
                    f"cause is memory: give each worker more of it, or take fewer ({option('workers')}), and begin "
                    f"again with {option('resume', True)}"
                )
            value = pickle.dumps(fetched(function)(part))
        except Exception as error:  # noqa: BLE001 - the driver raises it
            failed, value = True, portable(error)
        attempts.ended.remote(part.number)
        yield pa.table(
            {
                "number": pa.array([part.number], pa.int64()),
                "failed": pa.array([failed]),
                "value": pa.array([value], pa.large_binary()),
            }
        )


class Attempts:
    """An actor that counts how often each part was begun and not ended: Ray Data itself tries without end."""

    def __init__(self) -> None:
        self._times: dict[int, int] = {}

    def begun(self, number: int) -> int:
        """Notes that a worker begins with the part; how often that was."""
        self._times[number] = self._times.get(number, 0) + 1
        return self._times[number]

    def ended(self, number: int) -> None:
        """Notes that the worker lived to the end of the part."""
        self._times.pop(number, None)


def _attempts(ray: Any) -> Any:
    """The actor, on the driver's node, since the loss of that one ends the work anyway."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=True)
    options = {"num_cpus": 0, "max_restarts": -1, "max_task_retries": -1, "scheduling_strategy": here}
    return ray.remote(Attempts).options(**options).remote()


def portable(error: Exception) -> bytes:
    """The exception and its traceback, pickled; an `EngineError` instead of one that does not survive this."""
    import traceback

    trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    with contextlib.suppress(Exception):
        data = pickle.dumps((error, trace))
        pickle.loads(data)  # noqa: S301
        return data
    return pickle.dumps((EngineError(f"a worker failed: {type(error).__name__}: {_line(error)}"), trace))


class OnWorker(Exception):  # noqa: N818 - it is shown as the cause of one
    """Where on a worker an exception came from: its traceback, as text."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


def _runner(function: Any, attempts: Any, version: str) -> Callable[[Any], Iterator[Any]]:
    """What Ray runs on workers: a function inside a function, which travels as code, so that it can say what they lack.

    Ray would only say that a module is missing, or nothing where the other version happens to work.
    """
    of_command_line = at_command_line()

    def run(parts: Any) -> Iterator[Any]:
        import pickle
        import platform

        import pyarrow as pa

        try:
            from sacrecap import _core
            from sacrecap.engines.ray import outcomes
            from sacrecap.errors import words_of_command_line

            found, same = f"sacrecap {_core.__version__}", _core.__version__ == version
        except ImportError as error:
            found, same = f"no sacrecap that can be imported ({error})", False
        if same:
            with words_of_command_line(of_command_line):
                yield from outcomes(function, attempts, parts.column("part"))
            return
        message = f"a worker on {platform.node()} has {found}, the driver sacrecap {version}: install it on every node"
        yield pa.table({"number": [0], "failed": [True], "value": [pickle.dumps(message)]})

    return run


def _as_actor(run: Callable[[Any], Iterator[Any]]) -> type:
    class Actor:
        def __call__(self, parts: Any) -> Iterator[Any]:
            return run(parts)

    return Actor


def _groups(parts: Sequence[Part], workers: int) -> Iterator[Sequence[Part]]:
    """The parts of each task: one, unless there are so many that giving them out would take longer than the work."""
    tasks = min(len(parts), max(TASKS, TASKS_PER_WORKER * workers))
    for task in range(tasks):
        yield parts[task * len(parts) // tasks : (task + 1) * len(parts) // tasks]


def _fail(found: Any) -> NoReturn:
    if isinstance(found, str):
        raise EngineError(found)
    error, trace = found
    raise error from OnWorker(trace)


def _rows(block: Any) -> Iterator[tuple[int, bool, bytes]]:
    yield from zip(*(block.column(name).to_pylist() for name in ("number", "failed", "value")), strict=True)


@contextlib.contextmanager
def _quiet_ray_data() -> Iterator[None]:
    """Ray Data without lines of its own: what it has to say we say."""
    from ray.data import DataContext

    logger = logging.getLogger("ray.data")
    level, context = logger.level, DataContext.get_current()
    shown = context.enable_progress_bars
    logger.setLevel(logging.CRITICAL)
    context.enable_progress_bars = False
    try:
        yield
    finally:
        context.enable_progress_bars = shown
        logger.setLevel(level)


def _cluster(address: str | None) -> str:
    """HOST:PORT of the cluster to join, or "local" for one of our own; Ray itself looks for minutes where none is."""
    given = address or os.environ.get("RAY_ADDRESS", "")
    if given.startswith("ray://"):
        raise UsageError(
            f"address {given}: Ray's client cannot run Ray Data well; give HOST:PORT on a machine of the cluster "
            "(ray job submit runs a command there)"
        )
    if given in {"", "auto"}:
        # What `ray start` leaves, also when its processes are gone.
        started = Path(os.environ.get("RAY_TMPDIR", "/tmp"), "ray", "ray_current_cluster")  # noqa: S108
        found = started.read_text(encoding="utf-8").strip() if started.is_file() else ""
        return found if found and _unreachable(found) is None else "local"
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
        import ray.data
        import ray.exceptions
    except ImportError as error:
        raise MissingDependencyError("the engine ray", extra="ray") from error
    return ray


def _line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
