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
        for statement in _OLD_STUDY:
            connection.execute(text(statement))
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


_AT = "'2026-01-01 00:00:00+00:00'"
_OLD_STUDY = (
    f"INSERT INTO account (id, email, password, role, disabled, created) VALUES (1, 'a', '-', 3, false, {_AT})",
    *(
        f"INSERT INTO study VALUES ({n}, 'code{n}', 1, 'triplet', 't', 'open', 3, NULL, 15, '{{\"checks\": {{}}}}', {_AT})"
        for n in (1, 2)
    ),
    *(
        f"INSERT INTO study_item VALUES ({n}, 1, '{role}', {n}, {group}, '{{\"b\": \"b\", \"c\": \"c\"}}', NULL, 2, {n})"
        for n, role, group in ((1, "item", 7), (2, "gold", 9), (3, "item", 8))
    ),
    *(
        f"INSERT INTO annotator VALUES ({n}, 1, NULL, 'W{n}', '', '', 'X', {_AT}, 1, false, {excluded})"
        for n, excluded in ((1, "NULL"), (2, "'by the owner'"))
    ),
    *(
        f"INSERT INTO assignment VALUES ({n}, 1, {item}, {person}, '{state}', '[0, 1]', {_AT}, {_AT}, {_AT}, 900, '\"b\"', NULL)"
        for n, item, person, state in ((101, 1, 1, "answered"), (102, 2, 1, "discarded"), (103, 1, 2, "discarded"))
    ),
)


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
