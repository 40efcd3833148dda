"""The migrations lead to the tables that the models describe."""

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import select, text

from capeval_server.store.database import Database
from capeval_server.store.models import Base, Benchmark, Job, Submission, now


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
