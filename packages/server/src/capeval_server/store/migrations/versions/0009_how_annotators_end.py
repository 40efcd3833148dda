"""How annotators end"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    with op.batch_alter_table("annotator") as table:
        table.add_column(sa.Column("ended", sa.String(12), nullable=True))
        table.add_column(sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True))
        table.add_column(sa.Column("platform_return", sa.String(200), nullable=False, server_default=""))


def downgrade() -> None:
    with op.batch_alter_table("annotator") as table:
        for name in ("platform_return", "ended_at", "ended"):
            table.drop_column(name)
