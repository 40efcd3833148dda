"""The migrations lead to the tables that the models describe, and a database with data takes part in an upgrade."""

import contextlib
import datetime as dt
import json
import shutil
import subprocess
import sys

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Column, Integer, MetaData, Table, insert, inspect, select, text

from sacrecap.errors import DataError
from sacrecap_server.accounts.access import Caller
from sacrecap_server.boards import quota
from sacrecap_server.boards.board import best_ids
from sacrecap_server.store import database as database_module
from sacrecap_server.store.backup import back_up, restore
from sacrecap_server.store.database import MIGRATIONS, Database, alembic_config
from sacrecap_server.store.migrations import new
from sacrecap_server.store.models import Account, Base, Benchmark, Job, Study, Submission, SubmissionPair, Team, now
from sacrecap_server.studies.repository import every_of, rule_of
from sacrecap_studies.checks import Rule


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


def test_migrations_make_what_the_models_describe(database):
    database.migrate()
    assert differences(database) == []


def test_migrating_again_changes_nothing(database):
    database.migrate()
    revision = database.revision()
    database.migrate()
    assert database.revision() == revision


def test_migrations_lead_up_and_down(database):
    database.migrate()
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
        for _ in range(3)
    ]
    assert [server.stdout.readline() for server in servers] == ["ready\n"] * 3
    for server in servers:
        server.stdin.write("go\n")
        server.stdin.flush()
    ended = [(*server.communicate(), server.returncode) for server in servers]
    assert ended == [("0004\n", "", 0)] * 3
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


def test_a_later_release_takes_the_data_over(database, later_release):
    fill(database)
    with later_release():
        database.migrate()
    assert (database.revision(), colours(database)) == ("9999", [("Ours", "grey")])
    with database.read() as session:
        assert session.execute(select(Account.team_id)).scalar_one() == 1


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


def test_what_a_later_release_made_is_refused(database, later_release):
    fill(database)
    with later_release():
        database.migrate()
    with pytest.raises(DataError, match=r"newer version of sacrecap has made its tables \(revision 9999;"):
        database.migrate()
    assert colours(database) == [("Ours", "grey")]


BLANK = {bool: False, int: 9, float: 0.0, str: "", bytes: b"", dt.datetime: now()}
"""Of each type of a column, what stands in it where the test does not care."""


def fill_as_of_0001(database):
    """A closed benchmark of three teams: one has withdrawn its best, one deleted a submission, one has nobody left."""
    database.migrate("0001")
    tables = MetaData()
    with database.changing() as connection:
        tables.reflect(connection)

        def add(of, /, **values):
            needed = [column for column in tables.tables[of].c if not column.nullable and column.name not in values]
            blank = {column.name: BLANK[column.type.python_type] for column in needed if column.name != "id"}
            connection.execute(insert(tables.tables[of]).values({**blank, **values}))

        for number in range(6):
            add("blob", sha256=f"{number}")
        for number, name in ((1, "a"), (2, "b"), (3, "left"), (4, "BASELINE 1 f")):
            add("team", id=number, name=name, name_key=name)
        for number in (1, 2):
            add("account", id=number, email=f"{number}", role=1, team_id=number)
        add("benchmark", id=1, owner_id=1, references_sha="0", rank_by="cider-d", closes=now())
        for number, team, value in ((1, 1, 0.9), (2, 1, 0.5), (3, 2, 0.7), (4, 3, 0.1), (5, 4, 0.2)):
            given = {"account_id": min(team, 2), "withdrawn": number == 1, "baseline": team == 4, "scored": now()}
            add("submission", id=number, benchmark_id=1, team_id=team, file_sha=f"{number}", **given)
            add("submission_score", submission_id=number, metric="cider-d", part="all", value=value)
            add("submission_statistics", submission_id=number)
        add("submission_pair", a_id=2, b_id=3, metric="cider-d", part="all", delta=-0.2, p=1 / 10_001)
        add("removed_submission", benchmark_id=1, team_id=2)
        rules = {"every": 10, "policy": "exclude", "least": 0.7, "after": 3}
        settings = {"checks": {"gold": rules, "attention": {**rules, "policy": "warn"}}}
        add("study", id=1, owner_id=1, kind="triplet", settings=json.dumps(settings))


CALLERS = ((1, 1), (3, 2), (3, 3), (2, None))


def test_boards_of_before_keep_what_counts_and_are_compared_again(database):
    """What was withdrawn stays away, quotas count as before, and pairs of before are made anew."""
    fill_as_of_0001(database)
    database.migrate()
    assert differences(database) == []
    with database.read() as session:
        benchmark = session.execute(select(Benchmark)).scalar_one()
        assert sorted(best_ids(session, benchmark)) == [2, 3, 4, 5]
        first = session.get_one(Submission, 1)
        assert (first.disqualified, first.chosen) == ("Withdrawn by its team.", False)
        # Of the second account, one for a team that it has left.
        left = [quota.left(session, Caller(account_id=account, team_id=team), benchmark) for account, team in CALLERS]
        assert [in_all for _, in_all in left] == [7, 7, 8, 7]
        assert session.execute(select(Team.id).where(Team.empty_since.is_not(None))).scalars().all() == [3]
        assert session.execute(select(SubmissionPair)).all() == []
        study = session.get_one(Study, 1)
        assert (every_of(study), rule_of(study)) == ({"gold": 10, "attention": 10}, Rule("exclude"))
        waiting = session.execute(select(Job.kind, Job.subject_id, Job.state).order_by(Job.id)).all()
        assert waiting == [("compare", number, "queued") for number in range(1, 6)]


def test_a_draft_has_the_next_number_and_what_the_models_have_more(monkeypatch, tmp_path):
    folder = copy_of_migrations(tmp_path)
    for module in (database_module, new):
        monkeypatch.setattr(module, "MIGRATIONS", folder)
    more = Table("colour", Base.metadata, Column("id", Integer, primary_key=True))
    try:
        new.draft("Colours of teams")
    finally:
        Base.metadata.remove(more)
    text = (folder / "versions" / "0005_colours_of_teams.py").read_text()
    assert "revision = '0005'\ndown_revision = '0004'" in text
    assert text.count("op.create_table(") == text.count("op.drop_table(") == 1
