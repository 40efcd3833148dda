"""The Ray engine: each piece once, whatever is killed; what is wrong is said in words."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray")

from made_rows import Made

import sacrecap
from sacrecap.engines import EngineOptions, sources
from sacrecap.engines import ray as engine_module
from sacrecap.engines.ray import RayEngine
from sacrecap.errors import DataError, EngineError, UsageError

pytestmark = pytest.mark.ray
MOST_MEMORY = 80 * 2**20
CORPUS = Made(8, 60)


@pytest.fixture(autouse=True)
def connected(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every engine here uses the driver's connection to the tests' cluster, and pieces of ten images."""
    monkeypatch.setattr(sources, "ROWS", 10)


def doing(work: Callable[[int], None], **declared: Any) -> Any:
    """A metric that does this for each piece, given its number, on its worker. Workers cannot import this module, so
    functions here are nested.
    """

    def touched(captions: list[str], images: list[str]) -> list[float]:
        work(int(images[0].split()[1]) // 10)
        return [float(len(caption)) for caption in captions]

    class Doing(sacrecap.metrics.PythonMetric):
        title = summary = equation = source = "doing"
        upper = None
        nothing = {"empty caption": "0"}  # noqa: RUF012
        needs = declared.get("needs", ("references",))

        def statistics(self, corpus: Any, ready: Any) -> Any:
            return [
                (score, 1.0) for score in touched([corpus.captions(i)[0] for i in corpus.image_ids], corpus.image_ids)
            ]

    return Doing()


def scored(metric: Any, **options: Any) -> sacrecap.Result:
    return sacrecap.score(CORPUS.references, CORPUS.a, [metric], samples=20, engine=EngineOptions("ray", **options))


def expected() -> list[float]:
    return [float(len(caption)) for caption in CORPUS.a.values()]


def test_a_piece_of_a_killed_worker_is_done_again(tmp_path: Path) -> None:
    folder = str(tmp_path)

    def work(piece: int) -> None:
        import os
        import signal

        begun = sum(1 for name in os.listdir(folder) if name.startswith(f"{piece}-"))
        open(f"{folder}/{piece}-{begun}", "w").close()
        if piece in (1, 4) and begun < 1:
            os.kill(os.getpid(), signal.SIGKILL)

    assert scored(doing(work))["doing"].per_image.tolist() == expected()
    assert {"1-0", "1-1", "4-0", "4-1"} <= set(os.listdir(folder))


def test_a_piece_that_always_kills_its_worker(tmp_path: Path) -> None:
    folder = str(tmp_path)

    def work(piece: int) -> None:
        import os
        import signal

        begun = sum(1 for name in os.listdir(folder) if name.startswith(f"{piece}-"))
        open(f"{folder}/{piece}-{begun}", "w").close()
        if piece == 2:
            os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(EngineError, match=r"the worker died each of the 4 times .* take fewer"):
        scored(doing(work))
    assert sorted(name for name in os.listdir(folder) if name.startswith("2-")) == ["2-0", "2-1", "2-2", "2-3"]


def test_an_error_is_raised_as_it_was_with_its_traceback() -> None:
    def work(piece: int) -> None:
        from sacrecap.errors import DataError

        if piece == 2:
            raise DataError("image 20: damaged")

    with pytest.raises(DataError, match="image 20: damaged") as caught:
        scored(doing(work))
    assert "in work" in str(caught.value.__cause__)


def test_a_worker_with_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module._core, "__version__", "0.0.1")
    for metrics in ("rouge-l", "cider-d"):
        with pytest.raises(EngineError, match="the driver sacrecap 0.0.1: install it on every node"):
            sacrecap.score(CORPUS.references, CORPUS.a, metrics, engine="ray")


def test_a_lost_node_loses_and_doubles_nothing(cluster: Any, tmp_path: Path) -> None:
    """The node goes while it works."""
    import ray

    lost = cluster.add_node(num_cpus=1, object_store_memory=MOST_MEMORY, resources={"lost": 1})
    name, folder = lost.node_id, str(tmp_path)

    def work(piece: int) -> None:
        import os
        import threading
        import time

        import ray

        node = ray.get_runtime_context().get_node_id()
        open(f"{folder}/{piece}-{node}", "w").close()
        if node == name and piece > 0:
            threading.Event().wait()
        while piece > 0 and not any(name in other for other in os.listdir(folder)):
            time.sleep(0.01)

    def remove() -> None:
        while not any(name in path.name and not path.name.startswith("0-") for path in tmp_path.iterdir()):
            time.sleep(0.01)
        cluster.remove_node(lost, allow_graceful=False)

    remover = threading.Thread(target=remove)
    remover.start()
    found = scored(doing(work))
    remover.join()
    assert found["doing"].per_image.tolist() == expected()
    while ray.cluster_resources()["CPU"] != 4:  # a node can count a while after its work was done elsewhere
        time.sleep(0.01)


@pytest.mark.parametrize("workers", [1, 3])
def test_any_number_of_workers(workers: int) -> None:
    engine = EngineOptions("ray", workers=workers)
    found = sacrecap.score(CORPUS.references, CORPUS.a, "bleu-4, cider-d", samples=20, engine=engine)
    assert found.to_dict() == sacrecap.score(CORPUS.references, CORPUS.a, "bleu-4, cider-d", samples=20).to_dict()


def test_many_counts_are_added_up_by_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "ROWS", 2)
    monkeypatch.setattr(engine_module, "FAN_IN", 3)
    found = sacrecap.score(CORPUS.references, CORPUS.a, "cider-d, fluency(n=2)", samples=20, engine="ray")
    assert found.to_dict() == sacrecap.score(CORPUS.references, CORPUS.a, "cider-d, fluency(n=2)", samples=20).to_dict()


def test_what_needs_a_gpu_gets_one(cluster: Any, tmp_path: Path) -> None:
    """And keeps its process, which has the network; without any, cores do the work."""
    folder = str(tmp_path)

    def work(piece: int) -> None:
        import os

        open(f"{folder}/{piece} {os.getpid()} {os.environ.get('CUDA_VISIBLE_DEVICES', 'none')}", "w").close()

    metric = doing(work, needs=("references", "device"))
    assert scored(metric)["doing"].per_image.tolist() == expected()
    node = cluster.add_node(num_cpus=2, num_gpus=2, object_store_memory=MOST_MEMORY)
    for path in tmp_path.iterdir():
        path.unlink()
    assert scored(metric)["doing"].per_image.tolist() == expected()
    seen = [path.name.split(" ") for path in tmp_path.iterdir()]
    assert {device for *_, device in seen} <= {"0", "1"}
    assert len({process for _, process, _ in seen}) <= 3
    cluster.remove_node(node)


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
