"""Backups: of either database into either database, whole or not at all."""

from __future__ import annotations

import gzip
import re

import pytest
from sqlalchemy import func, select

from sacrecap.errors import DataError
from sacrecap_server.accounts.access import Role
from sacrecap_server.store.backup import _tables, back_up, restore
from sacrecap_server.store.database import Database
from sacrecap_server_testing.benchmark import make, submitted
from sacrecap_server_testing.world import World


def content(database):
    with database.engine.connect() as connection:
        return {table.name: sorted(map(repr, connection.execute(select(table)).all())) for table in _tables(connection)}


def rows(database):
    with database.engine.connect() as connection:
        return sum(
            connection.execute(select(func.count()).select_from(table)).scalar_one() for table in _tables(connection)
        )


@pytest.fixture
def filled(any_world):
    make(any_world)
    submitted(any_world, "careful")
    any_world.run_jobs()
    return any_world


def test_a_backup_restores_everything(filled, tmp_path):
    path = tmp_path / "backup.gz"
    assert back_up(filled.database, path) == rows(filled.database)
    other = Database(f"sqlite:///{tmp_path / 'other.db'}")
    restore(other, path, replace=False, keep_sign_ins=True)
    assert rows(other) == rows(filled.database)
    again = World(tmp_path, other.url)
    again.accounts = filled.accounts
    board = [world.api().get("/api/v1/benchmarks/ours/board").json() for world in (filled, again)]
    assert board[0] == board[1]
    assert submitted(again, "plain") > 1
    again.state.close()
    other.close()


def test_a_backup_moves_to_postgresql(world, new_postgres, tmp_path):
    make(world)
    submitted(world, "careful")
    back_up(world.database, tmp_path / "backup.gz")
    other = Database(new_postgres)
    restore(other, tmp_path / "backup.gz", replace=False)
    moved = World(tmp_path, new_postgres)
    moved.accounts = dict(world.accounts)
    moved.run_jobs()
    assert len(moved.api().get("/api/v1/benchmarks/ours/board").json()["rows"]) == 1
    assert submitted(moved, "plain") == 2
    moved.state.close()
    other.close()


def test_restoring_replaces_under_a_running_server(filled, tmp_path):
    path = tmp_path / "backup.gz"
    back_up(filled.database, path)
    before = content(filled.database)
    submitted(filled, "plain")
    with pytest.raises(DataError, match="holds data already"):
        restore(filled.database, path, replace=False)
    restore(filled.database, path, replace=True)
    after = content(filled.database)
    assert {**before, "signed_in": []} == after
    assert filled.browser(Role.MEMBER).get("/submissions/1").status_code == 200


def test_a_restored_backup_lets_nobody_in_again(strict_world, tmp_path):
    """Tokens, sign-ins and invitations of the backup end when it is restored, unless they are kept on purpose."""
    path = tmp_path / "backup.gz"
    api, browser = strict_world.api(Role.MEMBER), strict_world.browser(Role.MEMBER)
    page = strict_world.browser(Role.ADMIN).post("/admin/invitations", role=2).text
    link = re.search(r"/register\?invitation=[\w-]+", page)[0]
    back_up(strict_world.database, path)
    restore(strict_world.database, path, replace=True, keep_sign_ins=True)
    assert api.get("/api/v1/submissions").status_code == browser.get("/account").status_code == 200
    assert strict_world.browser().get(link).status_code == 200
    restore(strict_world.database, path, replace=True)
    assert api.get("/api/v1/submissions").status_code == 401
    assert browser.get("/account").status_code == 303
    assert strict_world.browser().get(link).status_code == 403
    assert strict_world.api(Role.MEMBER).get("/api/v1/submissions").status_code == 200


@pytest.mark.parametrize("damage", ["cut", "no backup", "row missing"])
def test_a_damaged_backup_changes_nothing(world, tmp_path, damage):
    make(world)
    path = tmp_path / "backup.gz"
    back_up(world.database, path)
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-40])
    elif damage == "no backup":
        path.write_bytes(b"something else")
    else:
        path.write_bytes(gzip.compress(b"".join(lines[:3] + lines[4:])))
    before = content(world.database)
    with pytest.raises(DataError):
        restore(world.database, path, replace=True)
    assert content(world.database) == before
