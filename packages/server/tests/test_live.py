"""A server of studies as its owner starts it: refused settings, trouble with the database, one line for each."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sqlite3
import sys

import pytest
from study_world import triplet_file

from command_line import run
from runner import Ended, Runner
from sacrecap_server.cli.study import serve as command
from sacrecap_server.store.database import Database

__all__ = ["run"]


@pytest.fixture
def serve(run: Runner, monkeypatch):
    """`sacrecap study serve study.json` in this process, whose umask and log stay as they are."""
    monkeypatch.setattr("sacrecap_server.app.log_to_stderr", lambda: None)
    (run.folder / "study.json").write_text(json.dumps(triplet_file()), encoding="utf-8")
    umask = os.umask(0o022)

    def serve(*arguments: object) -> Ended:
        return run.here("study", "serve", "study.json", *arguments)

    yield serve
    os.umask(umask)


@pytest.mark.parametrize(
    ("arguments", "environment", "expected"),
    [
        (["--host", "192.0.2.7"], {}, "needs a proxy that has TLS"),
        (["--host", "192.0.2.7", "--public-url", "https://x.org"], {}, "needs a proxy that has TLS"),
        (["--behind-proxy", "127.0.0.1"], {}, "--public-url"),
        (["--behind-proxy", "127.0.0.1", "--public-url", "http://x.org"], {}, "--public-url"),
        (["--public-url", "ftp://x.org"], {}, "must begin with https://"),
        ([], {"SACRECAP_STUDY_TOKEN": "short"}, "has 5 characters and needs 32"),
        ([], {"SACRECAP_STUDY_TOKEN_FILE": "/no/such/file"}, "SACRECAP_STUDY_TOKEN_FILE: /no/such/file cannot be read"),
        ([], {"SACRECAP_STUDY_TOKEN_FILE": "/dev/null", "SACRECAP_STUDY_TOKEN": "x" * 32}, "are both set"),
        (["--database", "/no/such/folder/x.db"], {"SACRECAP_STUDY_TOKEN": "x" * 32}, "cannot be opened"),
        (["--privacy-file", "none.txt"], {}, "none.txt: cannot be read"),
    ],
)
def test_dangerous_or_wrong_settings_are_refused(serve, monkeypatch, arguments, environment, expected):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    done = serve(*arguments)
    assert (done.status, done.stdout) == (2, "")
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("trouble", ["newer", "another program's", "no database", "locked", "read-only folder"])
def test_trouble_with_the_database_is_one_line(serve, run, monkeypatch, trouble):
    file = run.folder / "study.db"
    monkeypatch.setenv("SACRECAP_STUDY_TOKEN", "x" * 32)
    with contextlib.closing(Database(str(file))) as database:
        database.prepare()
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as connection:
        if trouble == "newer":
            connection.execute("PRAGMA user_version = 99")
        elif trouble == "another program's":
            connection.execute("PRAGMA user_version = 0")
        elif trouble == "locked":
            monkeypatch.setattr("sacrecap_server.store.database._BUSY_SECONDS", 0.1)
            connection.execute("BEGIN IMMEDIATE")
        elif trouble == "no database":
            file = run.folder / "text.db"
            file.write_bytes(b"this is no database, but a text " * 100)
        else:
            file = run.folder / "none" / "study.db"
        done = serve("--database", str(file))
    assert (done.status, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith("sacrecap: --database ")
    if trouble == "newer":
        assert "another version of sacrecap, or another program, has made its tables (version 99" in done.stderr


def test_a_port_that_is_taken_is_one_line(serve):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = serve("--port", port)
    assert (done.status, done.stdout) == (2, "")
    last = f"sacrecap: --host 127.0.0.1 --port {port}: cannot listen there: Address already in use"
    assert done.stderr.splitlines()[-1] == last


def test_every_option_can_come_from_the_environment(serve, monkeypatch, tmp_path):
    """With the token in a file, as containers have it."""
    options = [one for one in command.params if one.name not in ("help", "database", "files")]
    variables = {option.opts[0]: option.envvar for option in options}
    assert variables == {name: f"SACRECAP_{name.removeprefix('--').upper().replace('-', '_')}" for name in variables}
    assert all(option.show_envvar for option in options)
    seen = []
    monkeypatch.setattr("sacrecap_server.app.serve_app", lambda _, settings: seen.append(settings) or 0)
    (tmp_path / "token").write_text("k" * 40 + "\n")
    monkeypatch.setenv("SACRECAP_STUDY_TOKEN_FILE", str(tmp_path / "token"))
    given = {"host": "0.0.0.0", "port": 81, "public_url": "https://x.org", "behind_proxy": "10.0.0.1"}  # noqa: S104
    for name, value in given.items():
        monkeypatch.setenv(f"SACRECAP_{name.upper()}", str(value))
    assert serve().status == 0
    assert {name: getattr(seen[0], name) for name in given} == given
    assert seen[0].owner_token == "k" * 40
    assert "kkk" not in repr(seen[0])


def test_a_missing_extra_says_its_name(serve, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastapi", None)
    done = serve()
    assert done.status == 2
    assert done.stderr == "sacrecap: sacrecap study serve needs the extra 'server': pip install 'sacrecap[server]'\n"
