"""A server in the process, on each database; people who call it; and a real one in a process of its own."""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from argon2 import PasswordHasher
from sqlalchemy import create_engine
from sqlalchemy.engine.default import DefaultDialect

from environment import browser, pytest_runtest_makereport, pytest_runtest_setup, shared
from sacrecap_server.accounts import passwords
from sacrecap_server.accounts.operate import make_admin
from sacrecap_server.jobs import jobs
from sacrecap_server.store import database as store
from sacrecap_server.store.database import Database
from sacrecap_server_testing import logs, postgres
from sacrecap_server_testing.elsewhere import Elsewhere
from sacrecap_server_testing.in_process import run_here
from sacrecap_server_testing.live import Live
from sacrecap_server_testing.transport import one_event_loop
from sacrecap_server_testing.world import PASSWORD, World

__all__ = ["browser", "pytest_runtest_makereport", "pytest_runtest_setup", "shared"]

_number = itertools.count()


class Site(NamedTuple):
    """A server's address, and the world that shares its database."""

    url: str
    world: World


@pytest.fixture(scope="session", autouse=True)
def _logs_without_secrets() -> Iterator[None]:
    """At the end, no log of any test has a password, a name, an address, a hash or a parameter."""
    with logs.captured() as written:
        yield
    assert not logs.leaks(written.getvalue())
    assert not logs.leaks(logs.of_live_servers())


@pytest.fixture(scope="session", autouse=True)
def _quick() -> Iterator[None]:
    """Requests share an event loop, jobs of this process have no child, and passwords are hashed cheaply here.

    `test_limits` runs children, and the servers of `Live` run everything as an operator's does.
    """
    with one_event_loop(), pytest.MonkeyPatch.context() as patch:
        _compile_statements_once(patch)
        patch.setattr(jobs, "run_child", run_here)
        patch.setattr(passwords, "_hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
        yield


def _compile_statements_once(patch: pytest.MonkeyPatch) -> None:
    """All databases of one kind share SQLAlchemy's compiled statements, which each new one would compile anew."""
    compiled: dict[object, object] = {}
    create = partial(create_engine, execution_options={"compiled_cache": compiled})
    patch.setattr(store, "create_engine", create)
    patch.setattr(DefaultDialect, "__eq__", lambda one, other: type(one) is type(other))
    patch.setattr(DefaultDialect, "__hash__", lambda one: hash(type(one)))


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL cluster; continuous integration has to have one."""
    if postgres.programs() is None:
        if "CI" in os.environ:
            pytest.fail("no PostgreSQL, and CI is set: apt-get install postgresql")
        pytest.skip("no PostgreSQL (apt-get install postgresql)")
    # Nobody needs the data after the machine has failed; what tests kill is the server, not PostgreSQL.
    with postgres.cluster("fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off") as url:
        yield url


@pytest.fixture
def new_postgres(postgres_url: str) -> str:
    """An empty PostgreSQL database."""
    return postgres.create(postgres_url, f"test{os.getpid()}x{next(_number)}")


@pytest.fixture(scope="session")
def _migrated(postgres_url: str) -> str:
    """The name of a PostgreSQL database with the tables, to be copied."""
    database = Database(postgres.create(postgres_url, "migrated"))
    database.migrate()
    database.close()
    return "migrated"


@pytest.fixture(params=["sqlite", "postgresql"])
def database_kind(request: pytest.FixtureRequest) -> str:
    """A test that asks for this, or for what depends on it, runs twice.

    This is for answers that could hang on the database: locks and races, uniqueness, limits, order, types, migrations
    and backups. Whatever else runs many statements runs on the stricter database (`strict_world`), and pages, forms and
    words on SQLite (`world`).
    """
    return str(request.param)


@pytest.fixture
def database_url(database_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind."""
    if database_kind == "sqlite":
        return f"sqlite:///{tmp_path / 'sacrecap.db'}"
    return str(request.getfixturevalue("new_postgres"))


NewWorld = Callable[..., World]


@pytest.fixture
def new_world(tmp_path: Path) -> Iterator[NewWorld]:
    """Makes a server with the settings given, on SQLite or at a URL; it ends with the test."""
    with contextlib.ExitStack() as made:

        def new(url: str | None = None, **settings: Any) -> World:
            world = World(tmp_path, url, **settings)
            made.callback(world.state.close)
            return world

        yield new


@pytest.fixture
def world(new_world: NewWorld) -> World:
    """A server on SQLite."""
    return new_world()


@pytest.fixture(scope="session")
def _used_in_turn(postgres_url: str, _migrated: str) -> str:
    """A PostgreSQL database with the tables, which each test leaves empty for the next."""
    return postgres.create(postgres_url, "used_in_turn", template=_migrated)


@pytest.fixture
def _emptied(_used_in_turn: str) -> Iterator[str]:
    yield _used_in_turn
    postgres.empty(_used_in_turn)


@pytest.fixture
def migrated_url(database_kind: str, request: pytest.FixtureRequest) -> str | None:
    """A database of each kind with the tables; None stands for SQLite, which `World` makes."""
    return None if database_kind == "sqlite" else str(request.getfixturevalue("_emptied"))


@pytest.fixture
def any_world(migrated_url: str | None, new_world: NewWorld) -> World:
    """A server on each kind of database."""
    return new_world(migrated_url)


@pytest.fixture
def _strict_url(request: pytest.FixtureRequest) -> str | None:
    is_absent = postgres.programs() is None and "CI" not in os.environ
    return None if is_absent else str(request.getfixturevalue("_emptied"))


@pytest.fixture
def strict_world(_strict_url: str | None, new_world: NewWorld) -> World:
    """A server on PostgreSQL, which refuses statements and values that SQLite takes; on SQLite if it is not there.

    Continuous integration has to have it.
    """
    return new_world(_strict_url)


@pytest.fixture
def mail_world(tmp_path: Path, new_world: NewWorld) -> World:
    """A server on SQLite that writes its mail into a folder; `mail()` gives it."""
    return new_world(mail=f"file:{tmp_path / 'mail'}")


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `cert.pem`, of localhost and signed by itself, and its `key.pem`."""
    folder = tmp_path_factory.mktemp("certificate")
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run([*command.split(), *names], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def elsewhere() -> Iterator[Elsewhere]:
    """Another site: `localhost`, where the server under test is 127.0.0.1."""
    with Elsewhere() as site:
        yield site


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, elsewhere: Elsewhere) -> Iterator[Site]:
    """A real server for all tests that open pages, with an administrator; each test makes what it shows."""
    folder = tmp_path_factory.mktemp("site")
    world = World(folder)
    make_admin(world.database, "me@example.org", PASSWORD)
    live = Live(folder, world.database.url, "--frame-host", elsewhere.url)
    live.start()
    yield Site(live.url, world)
    live.stop()
    world.state.close()
