"""Parts of benchmarks, the metric that ranks, rounded scores"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_KEYS = {"submission_score": ["submission_id", "metric"], "submission_pair": ["a_id", "b_id", "metric"]}


def upgrade() -> None:
    op.add_column("benchmark", sa.Column("rank_by", sa.String(80), nullable=False, server_default=""))
    op.add_column("benchmark", sa.Column("revision", sa.Integer(), nullable=False, server_default="0"))
    for table, key in _KEYS.items():
        with op.batch_alter_table(table) as batch:
            batch.add_column(sa.Column("part", sa.String(10), nullable=False, server_default="all"))
            batch.drop_constraint(op.f(f"pk_{table}"), type_="primary")
            batch.create_primary_key(op.f(f"pk_{table}"), [*key, "part"])
    op.create_table(
        "benchmark_split",
        sa.Column("benchmark_id", sa.Integer(), nullable=False),
        sa.Column("private_sha", sa.String(64), nullable=False),
        sa.Column("private_images", sa.Integer(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["benchmark_id"], ["benchmark.id"], name=op.f("fk_benchmark_split_benchmark_id")),
        sa.ForeignKeyConstraint(["private_sha"], ["blob.sha256"], name=op.f("fk_benchmark_split_private_sha")),
        sa.PrimaryKeyConstraint("benchmark_id", name=op.f("pk_benchmark_split")),
    )
    op.create_table(
        "submission_statistics",
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submission.id"], name=op.f("fk_submission_statistics_submission_id")
        ),
        sa.PrimaryKeyConstraint("submission_id", name=op.f("pk_submission_statistics")),
    )
    _rank_as_before()
    _round()


def _rank_as_before() -> None:
    """Existing benchmarks are still ranked by their first metric, as their teams were told."""
    table = sa.table("benchmark", sa.column("id"), sa.column("metrics"), sa.column("rank_by"))
    connection = op.get_bind()
    for number, metrics in connection.execute(sa.select(table.c.id, table.c.metrics)).all():
        connection.execute(sa.update(table).where(table.c.id == number).values(rank_by=_first(metrics)))


def _first(metrics: str) -> str:
    """The text before the first comma that is not in parentheses."""
    depth = 0
    for place, character in enumerate(metrics):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            return metrics[:place].strip()
    return metrics.strip()


def _round() -> None:
    """Scores have four decimals: more would tell more about the references."""
    numbers: list[sa.ColumnClause[float]] = [sa.column(name) for name in ("value", "lower", "upper")]
    key: list[sa.ColumnClause[str]] = [sa.column(name) for name in _KEYS["submission_score"]]
    table = sa.table("submission_score", *key, *numbers)
    connection = op.get_bind()
    its = [column == sa.bindparam(f"its_{column.name}") for column in (table.c.submission_id, table.c.metric)]
    change = sa.update(table).where(*its)
    change = change.values({name: sa.bindparam(f"new_{name}") for name in ("value", "lower", "upper")})
    rows = [
        {
            "its_submission_id": row.submission_id,
            "its_metric": row.metric,
            **{f"new_{name}": round(getattr(row, name), 4) for name in ("value", "lower", "upper")},
        }
        for row in connection.execute(sa.select(table)).all()
    ]
    if rows:
        connection.execute(change, rows)


def downgrade() -> None:
    op.drop_table("submission_statistics")
    op.drop_table("benchmark_split")
    for table, key in reversed(_KEYS.items()):
        op.execute(sa.text(f"DELETE FROM {table} WHERE part <> 'all'"))  # noqa: S608  (names of ours)
        with op.batch_alter_table(table) as batch:
            batch.drop_constraint(op.f(f"pk_{table}"), type_="primary")
            batch.create_primary_key(op.f(f"pk_{table}"), key)
            batch.drop_column("part")
    with op.batch_alter_table("benchmark") as batch:
        batch.drop_column("revision")
        batch.drop_column("rank_by")
