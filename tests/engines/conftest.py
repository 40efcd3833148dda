"""A Ray cluster of several nodes on this machine, which tests may hurt."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from command_line import run

__all__ = ["run"]

MOST_MEMORY = 80 * 2**20
"""Of a node's object store: Ray takes no less than 75 MiB."""

LOST_AFTER = {"health_check_period_ms": 500, "health_check_timeout_ms": 5_000, "health_check_failure_threshold": 4}
"""A node whose process is gone does not answer at all: 2 s, instead of 15, until it counts as lost."""

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
# Ray's 15 leaves a worker next to nothing of a machine that is busy.
os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 - as Ray spells it


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Ray leaves sockets and files to the collector, and its own deprecated settings to its own initialisers."""
    for item in items:
        if item.get_closest_marker("ray"):
            for warning in ("ResourceWarning", "pytest.PytestUnraisableExceptionWarning"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore::{warning}"))
            for warning in ("DeprecationWarning", "FutureWarning", "UserWarning"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore::{warning}:ray"))


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """A head without a core, and two nodes that say they have two cores each; the driver is connected."""
    import ray
    from ray.cluster_utils import Cluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster = Cluster()
        cluster.add_node(
            num_cpus=0, object_store_memory=MOST_MEMORY, include_dashboard=False, _system_config=LOST_AFTER
        )
        for _ in range(2):
            cluster.add_node(num_cpus=2, object_store_memory=MOST_MEMORY)
        ray.init(address=cluster.address, logging_level="error", log_to_driver=False)
    yield cluster
    ray.shutdown()
    with contextlib.suppress(Exception):
        cluster.shutdown()
