"""The Ray engine on plain functions: each result once, whatever is killed."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("ray")

from sacrecap.engines import ray as engine_module
from sacrecap.engines.plan import Shuffle
from sacrecap.engines.ray import RayEngine
from sacrecap.errors import DataError, EngineError, UsageError

pytestmark = pytest.mark.ray
MOST_MEMORY = 80 * 2**20


@pytest.fixture(autouse=True)
def connected(cluster: Any) -> None:
    """Every engine here uses the driver's connection to the tests' cluster."""


def parts(count: int) -> list[Any]:
    """Workers cannot import this module, so functions here are nested, and parts are of a class that Python has."""
    return [SimpleNamespace(number=number, file=f"part-{number}.parquet") for number in range(count)]


def marks(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_each_result_comes_once() -> None:
    engine = RayEngine()
    found = [(part.number, result) for part, result in engine.map(lambda part: b"\0" * part.number, parts(9))]
    assert sorted(found) == [(number, b"\0" * number) for number in range(9)]


def test_no_parts_are_no_results() -> None:
    assert list(RayEngine().map(lambda part: 1, [])) == []


def test_a_shared_value_is_unpickled_once_per_process() -> None:
    class Counted:
        loaded = 0

        def __setstate__(self, state: dict[str, Any]) -> None:
            import os

            self.process, self.loads = os.getpid(), type(self).loaded + 1
            type(self).loaded += 1

    value = Counted()
    value.big = b"1" * 10**6
    engine = RayEngine()
    shared = engine.share(value)
    seen = [result for _, result in engine.map(lambda part: (shared.get().process, shared.get().loads), parts(12))]
    assert all(loads == 1 for _, loads in seen)


def test_pieces_of_a_shard_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever parts they come from, and however many: here every three become one."""
    monkeypatch.setattr(engine_module, "FAN_IN", 3)

    def split(part: Any) -> list[Any]:
        return [part.number, [part.number], [-part.number]]

    def together(*pieces: list[int]) -> list[int]:
        return [number for piece in pieces for number in piece]

    def finish(*pieces: list[int]) -> tuple[int, list[int]]:
        return len(pieces), sorted(number for piece in pieces for number in piece)

    engine, shuffle = RayEngine(), Shuffle(2, together, finish)
    assert sorted(number for _, number in engine.map(split, parts(11), shuffle=shuffle)) == list(range(11))
    found = list(engine.gather(shuffle))
    assert [kept.get() for _, kept in found] == [list(range(11)), list(range(-10, 1))]
    assert {told for told, _ in found} == {1 + 0 + 2}  # of nine, of none, of one each of two
    both = engine.call(lambda *shards: (None, together(*shards)), *(kept for _, kept in found))
    assert both.get() == [*range(11), *range(-10, 1)]
    assert list(engine.gather(Shuffle(2, together, finish))) == []


def test_an_error_is_raised_as_it_was_with_its_traceback() -> None:
    def fail(part: Any) -> None:
        from sacrecap.errors import DataError

        if part.number == 2:
            raise DataError("part-2.parquet: damaged")

    with pytest.raises(DataError, match="part-2.parquet: damaged") as caught:
        list(RayEngine().map(fail, parts(4)))
    assert "in fail" in str(caught.value.__cause__)


def test_an_error_that_cannot_travel_says_what_it_said() -> None:
    def fail(part: Any) -> None:
        class LocalError(Exception):
            def __reduce__(self) -> Any:
                raise TypeError

        raise LocalError("it is so")

    with pytest.raises(EngineError, match="LocalError: it is so"):
        list(RayEngine().map(fail, parts(2)))


def test_a_worker_with_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module._core, "__version__", "0.0.1")
    with pytest.raises(EngineError, match="the driver sacrecap 0.0.1: install it on every node"):
        list(RayEngine().map(lambda part: None, parts(2)))


def killing(folder: Path, *, times: int, numbers: tuple[int, ...]) -> Callable[[Any], int]:
    """Kills its worker as often for parts of these numbers, with a mark for each time that a part is begun."""

    def work(part: Any) -> int:
        begun = sum(1 for name in os.listdir(folder) if name.startswith(f"{part.number}-"))
        (folder / f"{part.number}-{begun}").touch()
        if part.number in numbers and begun < times:
            os.kill(os.getpid(), signal.SIGKILL)
        return part.number * 10

    return work


def test_the_part_of_a_killed_worker_is_done_again(tmp_path: Path) -> None:
    work = killing(tmp_path, times=1, numbers=(1, 4))
    found = [(part.number, result) for part, result in RayEngine().map(work, parts(6))]
    assert sorted(found) == [(number, number * 10) for number in range(6)]
    assert {"1-0", "1-1", "4-0", "4-1"} <= set(marks(tmp_path))


def test_a_part_that_always_kills_its_worker_is_named(tmp_path: Path) -> None:
    work = killing(tmp_path, times=99, numbers=(2,))
    with pytest.raises(EngineError, match=r"part-2.parquet: the worker died each of the 4 times .* resume=True"):
        list(RayEngine().map(work, parts(6)))
    assert [name for name in marks(tmp_path) if name.startswith("2-")] == ["2-0", "2-1", "2-2", "2-3"]


@pytest.mark.parametrize(
    ("address", "error", "message"),
    [
        ("ray://head:10001", UsageError, "Ray's client holds no part of the cluster; give HOST:PORT"),
        ("127.0.0.1:1", EngineError, r"no Ray cluster answers at 127\.0\.0\.1:1 \(.*refused\)"),
        ("head", EngineError, r"it is not HOST:PORT"),
    ],
)
def test_an_address_without_cluster(
    address: str, error: type[Exception], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import ray

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(error, match=message):
        RayEngine(address)
    monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises(error, match=message):
        RayEngine()


def test_a_machine_that_is_too_busy_to_start_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    import ray

    def init(*given: Any, **options: Any) -> None:
        raise Exception("The current node timed out during startup. This could happen because")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", init)
    with pytest.raises(EngineError, match=r"Ray did not start on this machine: The current .* engine=\"stream\""):
        RayEngine("local")


def test_the_cluster_that_ray_start_began_is_joined_where_it_lives(
    cluster: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    assert engine_module._cluster(None) == "local"
    (tmp_path / "ray").mkdir()
    for address, expected in ((cluster.address, "auto"), ("127.0.0.1:1", "local")):
        (tmp_path / "ray" / "ray_current_cluster").write_text(address)
        assert engine_module._cluster(None) == expected


def test_what_needs_a_gpu_gets_one_each_and_stays_on_it(cluster: Any, tmp_path: Path) -> None:
    """A worker on a GPU loads its model once; where it is killed, its part is done again, on a GPU."""
    node = cluster.add_node(num_cpus=2, num_gpus=2, object_store_memory=MOST_MEMORY)
    kill = killing(tmp_path, times=1, numbers=(3,))

    class Model:
        """Counts in each process how often it is loaded."""

        def __reduce__(self) -> Any:
            def load() -> Any:
                import os
                import sys

                sys.loads = getattr(sys, "loads", 0) + 1

                def run(part: Any) -> Any:
                    kill(part)
                    return os.getpid(), os.environ["CUDA_VISIBLE_DEVICES"], sys.loads

                return run

            return load, ()

    found = {part.number: result for part, result in RayEngine().map(Model(), parts(8), gpus=1)}
    assert sorted(found) == list(range(8))
    assert {device for _, device, _ in found.values()} <= {"0", "1"}
    assert {loads for *_, loads in found.values()} == {1}
    assert len({process for process, *_ in found.values()}) <= 3
    cluster.remove_node(node)


def test_without_gpus_the_work_is_done_on_cores() -> None:
    assert sorted(result for _, result in RayEngine().map(lambda part: part.number, parts(3), gpus=1)) == [0, 1, 2]


def test_a_lost_node_loses_and_doubles_nothing(cluster: Any, tmp_path: Path) -> None:
    """The node goes while it holds results that the driver has not had, and while it works."""
    import ray

    lost = cluster.add_node(num_cpus=1, object_store_memory=MOST_MEMORY, resources={"lost": 1})
    name, folder = lost.node_id, str(tmp_path)

    def work(part: Any) -> tuple[int, str, bytes]:
        import ray

        node = ray.get_runtime_context().get_node_id()
        open(f"{folder}/{part.number}-{node}", "w").close()
        if node == name and part.number > 4:  # the driver removes the node while this one works
            threading.Event().wait()
        # Else the others could do all before it begins. The first parts do not wait: until Ray knows how large results
        # are, it may work on two at once, and on none there.
        while part.number > 4 and not any(name in other for other in os.listdir(folder)):
            time.sleep(0.01)
        return part.number, node, bytes([part.number]) * 300_000

    engine, found = RayEngine(), {}
    results = engine.map(work, parts(24))
    removed = False
    for part, (number, node, data) in results:
        assert part.number == number
        assert number not in found
        assert data == bytes([number]) * 300_000
        found[number] = node
        if not removed and any(name in path.name for path in tmp_path.iterdir()):
            cluster.remove_node(lost, allow_graceful=False)
            removed = True
    assert removed
    assert sorted(found) == list(range(24))
    while ray.cluster_resources()["CPU"] != 4:  # a node can count a while after its work was done elsewhere
        time.sleep(0.01)


def test_pieces_that_are_lost_with_their_node_are_made_again(cluster: Any, tmp_path: Path) -> None:
    """All parts were done, and the driver has their results; pieces of theirs were on the node alone."""
    lost = cluster.add_node(num_cpus=1, object_store_memory=MOST_MEMORY, resources={"lost": 1})
    name, folder, size = lost.node_id, str(tmp_path), 300_000

    def work(part: Any) -> list[Any]:
        import ray

        node = ray.get_runtime_context().get_node_id()
        open(f"{folder}/{part.number}-{node}", "w").close()
        while part.number > 4 and not any(name in other for other in os.listdir(folder)):
            time.sleep(0.01)
        return [part.number, *(bytes([part.number, shard]) * size for shard in range(2))]

    def finish(*pieces: bytes) -> tuple[list[tuple[int, int, int]], None]:
        return sorted((piece[0], piece[1], len(piece)) for piece in pieces), None

    engine, shuffle = RayEngine(), Shuffle(2, None, finish)
    found = sorted(number for _, number in engine.map(work, parts(12), shuffle=shuffle))
    assert found == list(range(12))
    on_lost = [path for path in tmp_path.iterdir() if name in path.name]
    assert on_lost
    cluster.remove_node(lost, allow_graceful=False)
    told = [own for own, _ in engine.gather(shuffle)]
    assert told == [[(number, shard, 2 * size) for number in range(12)] for shard in range(2)]
    assert len(list(tmp_path.iterdir())) > 12
