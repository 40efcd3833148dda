"""All tables, as the models describe them

Nothing was released before, so there are no older tables to come from. Before the first change after a release, this
file writes out the tables of that release (`alembic.command.revision` with `autogenerate` drafts them for an empty
database), and the change is a migration of its own.
"""

from alembic import op

from sacrecap_server.store.models import Base

revision = "0004"
down_revision = None


def upgrade() -> None:
    Base.metadata.create_all(op.get_bind())


def downgrade() -> None:
    Base.metadata.drop_all(op.get_bind())
