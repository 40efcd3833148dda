"""A second set of references of a benchmark"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "second_references",
        sa.Column("benchmark_id", sa.Integer(), nullable=False),
        sa.Column("references_sha", sa.String(length=64), nullable=False),
        sa.Column("part", sa.String(length=10), nullable=False),
        sa.ForeignKeyConstraint(["benchmark_id"], ["benchmark.id"], name=op.f("fk_second_references_benchmark_id")),
        sa.ForeignKeyConstraint(["references_sha"], ["blob.sha256"], name=op.f("fk_second_references_references_sha")),
        sa.PrimaryKeyConstraint("benchmark_id", name=op.f("pk_second_references")),
    )


def downgrade() -> None:
    """Forgets the second sets, and what was scored against them."""
    op.execute("DELETE FROM submission_score WHERE part NOT IN ('all', 'public', 'private')")
    op.execute("DELETE FROM submission_pair WHERE part NOT IN ('all', 'public', 'private')")
    op.drop_table("second_references")
