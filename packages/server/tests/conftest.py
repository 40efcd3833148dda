"""A server in the process, on each database; people who call it; and a real one in a process of its own."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from capeval_server_testing import postgres
from capeval_server_testing.world import World
from environment import browser, pytest_runtest_makereport, pytest_runtest_setup, shared

__all__ = ["browser", "pytest_runtest_makereport", "pytest_runtest_setup", "shared"]

_number = itertools.count()


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL cluster; continuous integration has to have one."""
    if postgres.programs() is None:
        if "CI" in os.environ:
            pytest.fail("no PostgreSQL, and CI is set: apt-get install postgresql")
        pytest.skip("no PostgreSQL (apt-get install postgresql)")
    with postgres.cluster() as url:
        yield url


@pytest.fixture
def new_postgres(postgres_url: str) -> str:
    """An empty PostgreSQL database."""
    return postgres.create(postgres_url, f"test{os.getpid()}x{next(_number)}")


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind: a test that asks for it runs twice."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'capeval.db'}"
    return str(request.getfixturevalue("new_postgres"))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A server on SQLite."""
    world = World(tmp_path)
    yield world
    world.state.close()


@pytest.fixture
def any_world(tmp_path: Path, database_url: str) -> Iterator[World]:
    """A server on each database."""
    world = World(tmp_path, database_url)
    yield world
    world.state.close()
