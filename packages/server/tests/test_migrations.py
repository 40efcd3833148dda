"""The migrations lead to the tables that the models describe."""

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from capeval_server.store.database import Database
from capeval_server.store.models import Base


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
