"""Comparisons asked for"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "comparison",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("a_id", sa.Integer(), nullable=False),
        sa.Column("b_id", sa.Integer(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["a_id"], ["submission.id"], name=op.f("fk_comparison_a_id")),
        sa.ForeignKeyConstraint(["b_id"], ["submission.id"], name=op.f("fk_comparison_b_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_comparison")),
        sa.UniqueConstraint("a_id", "b_id", name=op.f("uq_comparison_a_id_b_id")),
    )


def downgrade() -> None:
    op.drop_table("comparison")
