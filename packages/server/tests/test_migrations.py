"""The migrations lead to the tables that the models describe, and a database with data takes part in an upgrade."""

import contextlib
import shutil
import subprocess
import sys

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import inspect, select, text

from sacrecap.errors import DataError
from sacrecap_server.store import database as database_module
from sacrecap_server.store.backup import back_up, restore
from sacrecap_server.store.database import MIGRATIONS, Database, alembic_config
from sacrecap_server.store.models import Account, Base, Team


@pytest.fixture
def database(database_url):
    """An empty one of each kind, without tables."""
    database = Database(database_url)
    yield database
    database.close()


def differences(database):
    with database.engine.connect() as connection:
        options = {"compare_type": True, "compare_server_default": True}
        context = MigrationContext.configure(connection, opts=options)
        return compare_metadata(context, Base.metadata)


def test_migrations_lead_up_to_what_the_models_describe_and_down(database):
    """Migrating again changes nothing."""
    database.migrate()
    assert differences(database) == []
    revision = database.revision()
    database.migrate()
    assert database.revision() == revision
    tables = set(inspect(database.engine).get_table_names())
    with database.changing() as connection:
        command.downgrade(alembic_config(connection), "base")
    assert (database.revision(), inspect(database.engine).get_table_names()) == (None, ["alembic_version"])
    database.migrate()
    assert set(inspect(database.engine).get_table_names()) == tables
    assert differences(database) == []


START = """
import sys
from sacrecap_server.store.database import Database

print("ready", flush=True)
sys.stdin.readline()
database = Database(sys.argv[1])
database.migrate()
print(database.revision())
database.close()
"""


def test_servers_that_start_at_once_make_the_tables_once(database):
    servers = [
        subprocess.Popen(
            [sys.executable, "-c", START, database.engine.url.render_as_string(hide_password=False)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    assert [server.stdout.readline() for server in servers] == ["ready\n"] * 2
    for server in servers:
        server.stdin.write("go\n")
        server.stdin.flush()
    ended = [(*server.communicate(), server.returncode) for server in servers]
    assert ended == [("0004\n", "", 0)] * 2
    assert differences(database) == []


LATER = '''
"""A colour for each team"""

import sqlalchemy as sa
from alembic import op

revision = "9999"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("team", sa.Column("colour", sa.String(length=10), nullable=False, server_default="grey"))


def downgrade() -> None:
    op.drop_column("team", "colour")
'''


@pytest.fixture
def later_release(monkeypatch, tmp_path):
    """A context in which a later release is installed, whose tables have one column more."""

    @contextlib.contextmanager
    def installed():
        with monkeypatch.context() as patch:
            patch.setattr(database_module, "MIGRATIONS", folder)
            yield

    folder = copy_of_migrations(tmp_path)
    (folder / "versions" / "9999_colours.py").write_text(LATER)
    return installed


def copy_of_migrations(tmp_path):
    return shutil.copytree(MIGRATIONS, tmp_path / "migrations", ignore=shutil.ignore_patterns("__pycache__"))


def fill(database):
    database.migrate()
    with database.write() as session:
        session.add(Team(name="Ours", name_key="ours"))
        session.flush()
        session.add(Account(email="me@example.org", password="-", role=1, team_id=1))  # noqa: S106


def colours(database):
    with database.engine.connect() as connection:
        return connection.execute(text("SELECT name, colour FROM team")).all()


def test_a_later_release_takes_the_data_over_and_this_one_refuses_them_then(database, later_release, tmp_path):
    """Also a backup of them."""
    fill(database)
    with later_release():
        database.migrate()
    assert (database.revision(), colours(database)) == ("9999", [("Ours", "grey")])
    with database.read() as session:
        assert session.execute(select(Account.team_id)).scalar_one() == 1
    with pytest.raises(DataError, match=r"newer version of sacrecap has made its tables \(revision 9999;"):
        database.migrate()
    assert colours(database) == [("Ours", "grey")]
    back_up(database, tmp_path / "backup.gz")
    other = Database(f"sqlite:///{tmp_path / 'other.db'}")
    with pytest.raises(DataError, match=r"backup.gz: a newer version of sacrecap has made its tables \(revision 9999;"):
        restore(other, tmp_path / "backup.gz", replace=False)
    assert other.revision() is None
    other.close()


def test_a_later_release_takes_a_backup_over_into_an_empty_database_only(database, later_release, tmp_path):
    fill(database)
    back_up(database, tmp_path / "backup.gz")
    later = Database(f"sqlite:///{tmp_path / 'later.db'}")
    with later_release():
        restore(later, tmp_path / "backup.gz", replace=False)
        assert (later.revision(), colours(later)) == ("9999", [("Ours", "grey")])
        with pytest.raises(DataError, match="made at revision 0004 of the tables, and this database is at 9999"):
            restore(later, tmp_path / "backup.gz", replace=True)
    assert colours(later) == [("Ours", "grey")]
    later.close()


def test_tables_from_before_the_first_release_are_refused(database):
    fill(database)
    with database.changing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0003'"))
    with pytest.raises(DataError, match=r"before the first release has made its tables \(revision 0003, .* changelog"):
        database.migrate()
