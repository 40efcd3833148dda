"""A server of studies in the process, and a real one in a process of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from sqlalchemy import create_engine
from sqlalchemy.engine.default import DefaultDialect

from environment import browser, pytest_runtest_makereport, pytest_runtest_setup, shared
from sacrecap_server.store import database as store
from sacrecap_server.studies import results
from sacrecap_server_testing import logs
from sacrecap_server_testing.elsewhere import Elsewhere
from sacrecap_server_testing.in_process import run_here
from sacrecap_server_testing.live import Live
from sacrecap_server_testing.transport import one_event_loop
from sacrecap_server_testing.world import World

__all__ = ["browser", "pytest_runtest_makereport", "pytest_runtest_setup", "shared"]


class Site(NamedTuple):
    """A server's address, and the world that shares its database."""

    url: str
    world: World


@pytest.fixture(scope="session", autouse=True)
def _logs_without_secrets() -> Iterator[None]:
    """At the end, no log of any test has a token, a name, an address, a hash or a parameter."""
    with logs.captured() as written:
        yield
    assert not logs.leaks(written.getvalue())
    assert not logs.leaks(logs.of_live_servers())


@pytest.fixture(scope="session", autouse=True)
def _quick() -> Iterator[None]:
    """Requests share an event loop, and answers are counted without a child process.

    The servers of `Live` run everything as an owner's does.
    """
    with one_event_loop(), pytest.MonkeyPatch.context() as patch:
        _compile_statements_once(patch)
        patch.setattr(results, "run_child", run_here)
        yield


def _compile_statements_once(patch: pytest.MonkeyPatch) -> None:
    """All databases share SQLAlchemy's compiled statements, which each new one would compile anew."""
    compiled: dict[object, object] = {}
    create = partial(create_engine, execution_options={"compiled_cache": compiled})
    patch.setattr(store, "create_engine", create)
    patch.setattr(DefaultDialect, "__eq__", lambda one, other: type(one) is type(other))
    patch.setattr(DefaultDialect, "__hash__", lambda one: hash(type(one)))


NewWorld = Callable[..., World]


@pytest.fixture
def new_world(tmp_path: Path) -> Iterator[NewWorld]:
    """Makes a server with the settings given; it ends with the test."""
    with contextlib.ExitStack() as made:

        def new(**settings: Any) -> World:
            world = World(tmp_path, **settings)
            made.callback(world.state.close)
            return world

        yield new


@pytest.fixture
def world(new_world: NewWorld) -> World:
    """A server of studies."""
    return new_world()


@pytest.fixture(scope="session")
def elsewhere() -> Iterator[Elsewhere]:
    """Another site: `localhost`, where the server under test is 127.0.0.1."""
    with Elsewhere() as site:
        yield site


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, elsewhere: Elsewhere) -> Iterator[Site]:
    """A real server for all tests that open pages; each test makes what it shows."""
    folder = tmp_path_factory.mktemp("site")
    world = World(folder, frame_hosts=(elsewhere.url,))
    live = Live.of_studies(folder, world.settings)
    live.start()
    yield Site(live.url, world)
    live.stop()
    world.state.close()
