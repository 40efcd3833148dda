"""A PostgreSQL cluster of the tests' own, in a temporary folder."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg

from sacrecap_server_testing.ports import free_port


def programs() -> Path | None:
    """The folder of `initdb` and `postgres`; Debian keeps them out of the PATH."""
    found = shutil.which("initdb")
    candidates = [Path(found).resolve().parent] if found else []
    candidates += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in candidates if (folder / "initdb").exists()), None)


class PostgresServer:
    """A PostgreSQL server of one's own: `url` without the name of a database, `start` and `stop`."""

    def __init__(self, home: Path, *settings: str) -> None:
        folder = programs()
        if folder is None:
            raise FileNotFoundError("no PostgreSQL: apt-get install postgresql")
        # PostgreSQL refuses to run as root.
        user = next(name for name in ("postgres", "nobody") if _exists(name)) if os.getuid() == 0 else None
        if user is not None:
            shutil.chown(home, user)
        data, port = home / "data", free_port()
        self._run = {"user": user, "cwd": home, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(
            [folder / "initdb", "-D", data, "-U", "sacrecap", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"],
            check=True,
            **self._run,
        )
        options = [part for setting in settings for part in ("-c", setting)]
        self._command = [folder / "postgres", "-D", data, "-p", str(port), "-k", home, "-h", "127.0.0.1", *options]
        self.url = f"postgresql://sacrecap@127.0.0.1:{port}/"
        self.start()

    def start(self) -> None:
        """Returns once it takes connections."""
        self._server = subprocess.Popen(self._command, **self._run)
        _wait(self.url + "postgres", self._server)

    def stop(self) -> None:
        """Ends it and every connection to it; SIGTERM would wait for the clients."""
        self._server.send_signal(signal.SIGINT)
        self._server.wait()

    def throw_away(self) -> None:
        """Ends it without writing down what nobody will read, which takes half a minute on a busy disk."""
        self._server.send_signal(signal.SIGQUIT)
        self._server.wait()


@contextlib.contextmanager
def server(*settings: str) -> Iterator[PostgresServer]:
    """A running server in a temporary folder. Settings are as `fsync=off`."""
    with tempfile.TemporaryDirectory(prefix="sacrecap-pg-", ignore_cleanup_errors=True) as home:
        running = PostgresServer(Path(home), *settings)
        try:
            yield running
        finally:
            running.throw_away()


@contextlib.contextmanager
def cluster(*settings: str) -> Iterator[str]:
    """The URL of a running server, without the name of a database: `postgresql://…/`."""
    with server(*settings) as running:
        yield running.url


def create(url: str, name: str, template: str = "template1") -> str:
    """A new database of the cluster: a copy of the template, which is empty by default."""
    with psycopg.connect(url + "postgres", autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    return url + name


def empty(url: str) -> None:
    """Takes every row out of a database, and every connection to it: a tenth of the work of copying one."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        connection.execute("SET session_replication_role = replica")  # in any order, whatever refers to what
        tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'alembic_version'"
        for (table,) in connection.execute(tables).fetchall():
            connection.execute(f'DELETE FROM "{table}"')  # noqa: S608  (a name that PostgreSQL gave)
        for (sequence,) in connection.execute(
            "SELECT sequencename FROM pg_sequences WHERE last_value IS NOT NULL"
        ).fetchall():
            connection.execute(f'ALTER SEQUENCE "{sequence}" RESTART')


def _wait(url: str, server: subprocess.Popen[bytes]) -> None:
    """Until it takes connections."""
    while server.poll() is None:
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            time.sleep(0.02)
        else:
            return
    raise RuntimeError(f"PostgreSQL ended with status {server.returncode}")


def _exists(name: str) -> bool:
    with contextlib.suppress(KeyError):
        return bool(pwd.getpwnam(name))
    return False
