"""Studies that count: secret seeds, waves, checks that come again, practice, times, repeated sentences"""

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def _number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), nullable=False, server_default="0")


def upgrade() -> None:
    # Not in batches, but where it must be: SQLite cannot replace a table that rows of another refer to.
    op.add_column("study", sa.Column("seed", sa.String(length=32), nullable=False, server_default=""))
    op.add_column("study", _number("wave"))
    op.add_column("study_item", sa.Column("because", sa.Text(), nullable=False, server_default=""))
    op.drop_index("ix_study_item_next", "study_item")
    op.create_index("ix_study_item_next", "study_item", ["study_id", "role", "shuffle", "taken", "group"])
    for name in ("pages", "checks", "fast", "repeats"):
        op.add_column("annotator", _number(name))
    op.add_column("annotator", sa.Column("cautions", sa.String(length=40), nullable=False, server_default=""))
    op.add_column("annotator", sa.Column("practised", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("annotator", sa.Column("feedback", sa.Text(), nullable=True))
    for name in ("lean", "check_lean", "wave"):
        op.add_column("annotator", _number(name))
    with op.batch_alter_table("assignment") as table:
        table.add_column(sa.Column("role", sa.String(length=10), nullable=False, server_default="item"))
        for name in ("group", "round"):
            table.add_column(_number(name))
        for name in ("too_fast", "repeated"):
            table.add_column(sa.Column(name, sa.Boolean(), nullable=True))
        table.add_column(sa.Column("fingerprint", sa.String(length=32), nullable=True))
        table.drop_constraint("uq_assignment_item_id_annotator_id", type_="unique")
        table.create_unique_constraint("uq_assignment_item_id_annotator_id_round", ["item_id", "annotator_id", "round"])
        table.create_index("ix_assignment_annotator_id_role_group", ["annotator_id", "role", "group"])
        table.create_index("ix_assignment_study_id_fingerprint", ["study_id", "fingerprint"])
    _fill()


def _fill() -> None:
    """Fills the new columns of existing rows."""
    connection = op.get_bind()
    for (study_id,) in connection.execute(sa.text("SELECT id FROM study")).all():
        connection.execute(
            sa.text("UPDATE study SET seed = :seed WHERE id = :id"), {"seed": secrets.token_hex(16), "id": study_id}
        )
    op.execute(
        "UPDATE assignment SET role = (SELECT role FROM study_item WHERE study_item.id = assignment.item_id), "
        '"group" = (SELECT study_item."group" FROM study_item WHERE study_item.id = assignment.item_id)'
    )
    op.execute(
        "UPDATE annotator SET pages = (SELECT count(*) FROM assignment WHERE annotator_id = annotator.id "
        "AND answered IS NOT NULL), checks = (SELECT count(*) FROM assignment WHERE annotator_id = annotator.id "
        "AND role IN ('gold', 'attention'))"
    )
    # Nothing but an exclusion discards answers now: what the owner rejected one by one is told from that.
    op.execute(
        "UPDATE assignment SET state = 'rejected' WHERE state = 'discarded' AND annotator_id IN "
        "(SELECT id FROM annotator WHERE excluded IS NULL)"
    )


def downgrade() -> None:
    op.execute("UPDATE assignment SET state = 'discarded' WHERE state = 'rejected'")
    op.execute("DELETE FROM assignment WHERE round > 0 OR role = 'practice'")
    op.execute("DELETE FROM study_item WHERE role = 'practice'")
    with op.batch_alter_table("assignment") as table:
        table.drop_index("ix_assignment_study_id_fingerprint")
        table.drop_index("ix_assignment_annotator_id_role_group")
        table.drop_constraint("uq_assignment_item_id_annotator_id_round", type_="unique")
        table.create_unique_constraint("uq_assignment_item_id_annotator_id", ["item_id", "annotator_id"])
        for name in ("fingerprint", "repeated", "too_fast", "round", "group", "role"):
            table.drop_column(name)
    for name in (
        "wave", "check_lean", "lean", "feedback", "practised", "cautions", "repeats", "fast", "checks", "pages",
    ):  # fmt: skip
        op.drop_column("annotator", name)
    op.drop_index("ix_study_item_next", "study_item")
    op.create_index("ix_study_item_next", "study_item", ["study_id", "role", "taken", "shuffle"])
    op.drop_column("study_item", "because")
    op.drop_column("study", "wave")
    op.drop_column("study", "seed")
