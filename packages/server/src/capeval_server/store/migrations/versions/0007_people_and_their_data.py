"""Captains, identities at providers, accounts and submissions that were deleted, invitations revoked, closed studies"""

import datetime as dt

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "external_identity",
        sa.Column("issuer", sa.String(length=255), nullable=False),
        sa.Column("subject", sa.String(length=255), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("created", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_external_identity_account_id")),
        sa.PrimaryKeyConstraint("issuer", "subject", name=op.f("pk_external_identity")),
    )
    op.create_index(op.f("ix_external_identity_account_id"), "external_identity", ["account_id"])
    op.create_table(
        "removed_submission",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("benchmark_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("created", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["benchmark_id"], ["benchmark.id"], name=op.f("fk_removed_submission_benchmark_id")),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_removed_submission_team_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_removed_submission")),
    )
    op.create_index(op.f("ix_removed_submission_benchmark_id"), "removed_submission", ["benchmark_id"])
    op.create_index(op.f("ix_removed_submission_team_id"), "removed_submission", ["team_id"])
    op.add_column("account", sa.Column("joined", _TIME, nullable=True))
    op.add_column("account", sa.Column("captain", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("account", sa.Column("off_boards", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("account", sa.Column("removed", _TIME, nullable=True))
    op.execute("UPDATE account SET joined = created WHERE team_id IS NOT NULL")
    op.add_column("invitation", sa.Column("revoked", _TIME, nullable=True))
    op.add_column("study", sa.Column("closed", _TIME, nullable=True))
    # Nobody noted when: what counts from the closing counts from now.
    study = sa.table("study", sa.column("state", sa.String), sa.column("closed", _TIME))
    closed = study.update().where(study.c.state == "closed").values(closed=dt.datetime.now(dt.timezone.utc))
    op.get_bind().execute(closed)


def downgrade() -> None:
    for table, columns in (
        ("study", ("closed",)),
        ("invitation", ("revoked",)),
        ("account", ("removed", "off_boards", "captain", "joined")),
    ):
        for column in columns:
            op.drop_column(table, column)
    op.drop_table("removed_submission")
    op.drop_table("external_identity")
