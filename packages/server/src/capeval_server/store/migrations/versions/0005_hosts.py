"""What hosts expect: drafts, phases, rules to accept, limits of captions, baselines, webhooks"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    for column in (
        sa.Column("visibility", sa.String(length=10), nullable=False, server_default="public"),
        sa.Column("challenge", sa.String(length=120), nullable=False, server_default=""),
        sa.Column("phase", sa.String(length=60), nullable=False, server_default=""),
        sa.Column("rules", sa.Text(), nullable=False, server_default=""),
        sa.Column("rules_version", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("most_degenerate", sa.Integer(), nullable=False, server_default="5"),
        sa.Column("most_same", sa.Integer(), nullable=False, server_default="30"),
        sa.Column("longest_words", sa.Integer(), nullable=False, server_default="100"),
    ):
        op.add_column("benchmark", column)
    for column in (
        sa.Column("baseline", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("withdrawn", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("disqualified", sa.Text(), nullable=True),
    ):
        op.add_column("submission", column)
    op.add_column("job", sa.Column("due", _MOMENT, nullable=True))
    op.create_table(
        "rules_acceptance",
        sa.Column("benchmark_id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=True),
        sa.Column("text_sha", sa.String(length=64), nullable=False),
        sa.Column("accepted", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["account.id"], name=op.f("fk_rules_acceptance_account_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["benchmark_id"], ["benchmark.id"], name=op.f("fk_rules_acceptance_benchmark_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["team_id"], ["team.id"], name=op.f("fk_rules_acceptance_team_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["text_sha"], ["blob.sha256"], name=op.f("fk_rules_acceptance_text_sha")),
        sa.PrimaryKeyConstraint("benchmark_id", "account_id", "version", name=op.f("pk_rules_acceptance")),
    )
    op.create_table(
        "webhook",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("benchmark_id", sa.Integer(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("secret", sa.String(length=64), nullable=False),
        sa.Column("created", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["benchmark_id"], ["benchmark.id"], name=op.f("fk_webhook_benchmark_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook")),
    )
    op.create_index(op.f("ix_webhook_benchmark_id"), "webhook", ["benchmark_id"])
    op.create_table(
        "webhook_delivery",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("webhook_id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Integer(), nullable=True),
        sa.Column("created", _MOMENT, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("delivered", _MOMENT, nullable=True),
        sa.Column("due", _MOMENT, nullable=True),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submission.id"], name=op.f("fk_webhook_delivery_submission_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["webhook_id"], ["webhook.id"], name=op.f("fk_webhook_delivery_webhook_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_delivery")),
    )
    op.create_index(op.f("ix_webhook_delivery_webhook_id"), "webhook_delivery", ["webhook_id"])
    op.create_index(op.f("ix_webhook_delivery_submission_id"), "webhook_delivery", ["submission_id"])


def downgrade() -> None:
    for table in ("webhook_delivery", "webhook", "rules_acceptance"):
        op.drop_table(table)
    for table, columns in (
        ("job", ("due",)),
        ("submission", ("disqualified", "withdrawn", "baseline")),
        (
            "benchmark",
            (
                "longest_words", "most_same", "most_degenerate", "rules_version", "rules", "phase", "challenge",
                "visibility",
            ),
        ),
    ):  # fmt: skip
        for column in columns:
            op.drop_column(table, column)
