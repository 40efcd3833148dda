"""The migrations lead to the tables that the models describe."""

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import select, text

from capeval_server.store.database import Database
from capeval_server.store.models import Annotator, Assignment, Base, Benchmark, Job, Study, Submission, now
from capeval_server.studies.assignment import next_assignment


def test_migrations_make_what_the_models_describe(database_url):
    database = Database(database_url)
    database.migrate()
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
    database.close()


def test_migrating_again_changes_nothing(database_url):
    database = Database(database_url)
    database.migrate()
    revision = database.revision()
    database.migrate()
    assert database.revision() == revision
    database.close()


def test_studies_of_an_older_server_go_on(database_url):
    """0008: secret seeds, roles on assignments, and what was rejected is told from what an exclusion discarded."""
    database = Database(database_url)
    database.migrate("0003")
    with database.changing() as connection:
        for table, its_rows in _STUDIES.items():
            for row in its_rows:
                values = {f"v{place}": value for place, value in enumerate(row)}
                places = ", ".join(f":{name}" for name in values)
                connection.execute(text(f"INSERT INTO {table} VALUES ({places})"), values)  # noqa: S608
    database.migrate()
    with database.read() as session:
        study, other = session.execute(select(Study).order_by(Study.id)).scalars()
        assert len({study.seed, other.seed, ""}) == 3
        assignments = session.execute(select(Assignment).order_by(Assignment.id)).scalars().all()
        assert [(one.state, one.role, one.group, one.round) for one in assignments] == [
            ("answered", "item", 7, 0),
            ("rejected", "gold", 9, 0),
            ("discarded", "item", 7, 0),
        ]
        people = session.execute(select(Annotator).order_by(Annotator.id)).scalars().all()
        assert [(one.pages, one.checks, one.practised, one.cautions) for one in people] == [
            (2, 1, False, ""),
            (1, 0, False, ""),
        ]
    with database.write() as session:
        study = session.get_one(Study, 1)
        person = session.get_one(Annotator, 1)
        assert next_assignment(session, study, person).item_id == 3
    database.close()


_AT = "2026-01-01 00:00:00+00:00"
_STUDIES = {
    "account (id, email, password, role, disabled, created)": [(1, "a", "-", 3, False, _AT)],
    "study": [(n, f"c{n}", 1, "triplet", "t", "open", 3, None, 15, '{"checks": {}}', _AT) for n in (1, 2)],
    "study_item": [
        (1, 1, "item", 1, 7, '{"b": "b", "c": "c"}', None, 2, 1),
        (2, 1, "gold", 2, 9, '{"b": "b", "c": "c"}', '"b"', 2, 2),
        (3, 1, "item", 3, 8, '{"b": "b", "c": "c"}', None, 0, 3),
    ],
    "annotator": [
        (1, 1, None, "W1", "", "", "X", _AT, 1, False, None),
        (2, 1, None, "W2", "", "", "Y", _AT, 1, False, "by the owner"),
    ],
    "assignment": [
        (101, 1, 1, 1, "answered", "[0, 1]", _AT, _AT, _AT, 900, '"b"', None),
        (102, 1, 2, 1, "discarded", "[0, 1]", _AT, _AT, _AT, 900, '"b"', True),
        (103, 1, 1, 2, "discarded", "[0, 1]", _AT, _AT, _AT, 900, '"b"', None),
    ],
}
"""Rows as migration 0003 left the tables."""


def test_what_was_there_before_hosts_got_more_is_public_and_stands(database_url):
    """0005, on tables that hold data."""
    database = Database(database_url)
    database.migrate("0003")
    rows = (
        "team (id, name, name_key, affiliation, created) VALUES (1, 'a', 'a', '', :now)",
        "account (id, email, password, role, team_id, disabled, created) VALUES (1, 'a', '-', 1, 1, false, :now)",
        "blob (sha256, size, data) VALUES ('a', 0, '')",
        """benchmark (id, slug, title, description, owner_id, references_sha, metrics, tokenizer, images, quota_day,
        quota_total, board, own_scores, created)
        VALUES (1, 'a', 'a', '', 1, 'a', 'm', 'ptb', 1, 1, 1, 'public', true, :now)""",
        """submission (id, benchmark_id, team_id, account_id, file_sha, file_name, system, created)
        VALUES (1, 1, 1, 1, 'a', 'a', 'a', :now)""",
        """job (id, kind, subject_id, state, progress, message, attempts, created)
        VALUES (1, 'score', 1, 'queued', '', '', 0, :now)""",
    )
    with database.changing() as connection:
        for row in rows:
            connection.execute(text(f"INSERT INTO {row}"), {"now": now()})
    database.migrate()
    with database.read() as session:
        benchmark = session.execute(select(Benchmark)).scalar_one()
        assert (benchmark.visibility, benchmark.rules, benchmark.rules_version) == ("public", "", 0)
        assert (benchmark.most_degenerate, benchmark.most_same, benchmark.longest_words) == (5, 30, 100)
        submission = session.execute(select(Submission)).scalar_one()
        assert (submission.baseline, submission.withdrawn, submission.disqualified) == (False, False, None)
        assert session.execute(select(Job)).scalar_one().due is None
    database.close()
