"""Submissions that teams choose, quotas of accounts, turns of jobs, and pairs that nobody is told of"""

import datetime as dt

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_TIME = sa.DateTime(timezone=True)
_WITHDRAWN = "Withdrawn by its team."


def upgrade() -> None:
    _choices_instead_of_withdrawals()
    _teams_without_members()
    _quota_of_accounts_too()
    op.add_column("job", sa.Column("share", sa.Integer(), nullable=False, server_default="0"))
    op.create_index("ix_job_kind_share_started", "job", ["kind", "share", "started"])
    _compare_again()


def _choices_instead_of_withdrawals() -> None:
    """What was withdrawn stays off the board, and only the organiser puts it back."""
    op.execute(
        sa.text("UPDATE submission SET disqualified = :why WHERE withdrawn AND disqualified IS NULL").bindparams(
            why=_WITHDRAWN
        )
    )
    op.execute(sa.text("UPDATE submission SET withdrawn = :no").bindparams(sa.bindparam("no", False, sa.Boolean())))
    op.execute("ALTER TABLE submission RENAME COLUMN withdrawn TO chosen")


def _teams_without_members() -> None:
    op.add_column("team", sa.Column("empty_since", _TIME, nullable=True))
    left = "UPDATE team SET empty_since = :now WHERE id NOT IN (SELECT team_id FROM account WHERE team_id IS NOT NULL)"
    of_people = " AND substr(name_key, 1, 9) <> 'BASELINE '"
    moment = sa.bindparam("now", dt.datetime.now(dt.timezone.utc), _TIME)
    op.execute(sa.text(left + of_people).bindparams(moment))


def _quota_of_accounts_too() -> None:
    op.create_table(
        "quota_use",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("benchmark_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=True),
        sa.Column("account_id", sa.Integer(), nullable=True),
        sa.Column("submission_id", sa.Integer(), nullable=True),
        sa.Column("created", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_quota_use_account_id")),
        sa.ForeignKeyConstraint(["benchmark_id"], ["benchmark.id"], name=op.f("fk_quota_use_benchmark_id")),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submission.id"], name=op.f("fk_quota_use_submission_id"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_quota_use_team_id"), ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_quota_use")),
    )
    for column in ("account_id", "benchmark_id", "submission_id", "team_id"):
        op.create_index(op.f(f"ix_quota_use_{column}"), "quota_use", [column])
    op.execute(
        "INSERT INTO quota_use (benchmark_id, team_id, account_id, submission_id, created) "
        "SELECT benchmark_id, team_id, account_id, id, created FROM submission WHERE NOT baseline"
    )
    op.execute(
        "INSERT INTO quota_use (benchmark_id, team_id, created) SELECT benchmark_id, team_id, created "
        "FROM removed_submission"
    )
    op.drop_table("removed_submission")


def _compare_again() -> None:
    """Pairs of before say too much where two submissions differ in few images; boards get theirs anew."""
    op.execute("DELETE FROM submission_pair")
    with op.batch_alter_table("submission_pair") as pairs:
        pairs.alter_column("p", existing_type=sa.Double(), nullable=True)
    moment = sa.bindparam("now", dt.datetime.now(dt.timezone.utc), _TIME)
    op.execute(
        sa.text(
            "INSERT INTO job (kind, subject_id, state, progress, message, attempts, created) "
            "SELECT 'compare', submission_id, 'queued', '', '', 0, :now FROM submission_statistics "
            "ORDER BY submission_id"
        ).bindparams(moment)
    )


def downgrade() -> None:
    op.execute("DELETE FROM submission_pair")
    with op.batch_alter_table("submission_pair") as pairs:
        pairs.alter_column("p", existing_type=sa.Double(), nullable=False)
    op.drop_index("ix_job_kind_share_started", "job")
    op.drop_column("job", "share")
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
    op.execute(
        "INSERT INTO removed_submission (benchmark_id, team_id, created) SELECT benchmark_id, team_id, created "
        "FROM quota_use WHERE submission_id IS NULL AND team_id IS NOT NULL"
    )
    op.drop_table("quota_use")
    op.drop_column("team", "empty_since")
    op.execute("ALTER TABLE submission RENAME COLUMN chosen TO withdrawn")
    op.execute(sa.text("UPDATE submission SET withdrawn = :no").bindparams(sa.bindparam("no", False, sa.Boolean())))
