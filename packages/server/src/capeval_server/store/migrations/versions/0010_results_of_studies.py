"""Results of studies: answers found by image, reasons of rejections, members, statistics that are kept"""

import json

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
_BATCH = 2000


def upgrade() -> None:
    with op.batch_alter_table("study_item") as table:
        table.add_column(sa.Column("image_id", sa.String(length=200), nullable=True))
        table.create_index("ix_study_item_study_id_role_number", ["study_id", "role", "number"])
        table.create_index("ix_study_item_study_id_image_id", ["study_id", "image_id"])
    with op.batch_alter_table("assignment") as table:
        table.add_column(sa.Column("reason", sa.String(length=200), nullable=False, server_default=""))
        table.create_index("ix_assignment_study_id_answered", ["study_id", "answered"])
        table.create_index("ix_assignment_study_id_role_state", ["study_id", "role", "state"])
    op.create_table(
        "study_member",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_study_member_study_id")),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_study_member_account_id")),
        sa.PrimaryKeyConstraint("study_id", "account_id", name=op.f("pk_study_member")),
    )
    op.create_index(op.f("ix_study_member_account_id"), "study_member", ["account_id"])
    op.create_table(
        "study_findings",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=120), nullable=False),
        sa.Column("computed", sa.DateTime(timezone=True), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_study_findings_study_id")),
        sa.PrimaryKeyConstraint("study_id", name=op.f("pk_study_findings")),
    )
    _fill()


def _fill() -> None:
    """Fills in the images of existing pages."""
    connection, last = op.get_bind(), 0
    query = sa.text("SELECT id, content FROM study_item WHERE id > :last ORDER BY id LIMIT :batch")
    change = sa.text("UPDATE study_item SET image_id = :image WHERE id = :id")
    while rows := connection.execute(query, {"last": last, "batch": _BATCH}).all():
        last = rows[-1][0]
        images = [(number, json.loads(content).get("image_id")) for number, content in rows]
        values = [{"id": number, "image": image} for number, image in images if image is not None]
        if values:
            connection.execute(change, values)


def downgrade() -> None:
    op.drop_table("study_findings")
    op.drop_table("study_member")
    with op.batch_alter_table("assignment") as table:
        table.drop_index("ix_assignment_study_id_role_state")
        table.drop_index("ix_assignment_study_id_answered")
        table.drop_column("reason")
    with op.batch_alter_table("study_item") as table:
        table.drop_index("ix_study_item_study_id_image_id")
        table.drop_index("ix_study_item_study_id_role_number")
        table.drop_column("image_id")
