"""Human studies"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "study",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("code", sa.String(length=24), nullable=False),
        sa.Column("owner_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("title", sa.String(length=120), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("judgments", sa.Integer(), nullable=False),
        sa.Column("most_per_person", sa.Integer(), nullable=True),
        sa.Column("minutes", sa.Integer(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["account.id"], name=op.f("fk_study_owner_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_study")),
        sa.UniqueConstraint("code", name=op.f("uq_study_code")),
    )
    with op.batch_alter_table("study", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_study_owner_id"), ["owner_id"], unique=False)

    op.create_table(
        "annotator",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("cookie_hash", sa.String(length=64), nullable=True),
        sa.Column("worker", sa.String(length=128), nullable=True),
        sa.Column("platform_study", sa.String(length=128), nullable=False),
        sa.Column("platform_session", sa.String(length=128), nullable=False),
        sa.Column("completion", sa.String(length=24), nullable=False),
        sa.Column("started", sa.DateTime(timezone=True), nullable=False),
        sa.Column("items", sa.Integer(), nullable=False),
        sa.Column("warned", sa.Boolean(), nullable=False),
        sa.Column("excluded", sa.String(length=200), nullable=True),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_annotator_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_annotator")),
        sa.UniqueConstraint("study_id", "cookie_hash", name=op.f("uq_annotator_study_id_cookie_hash")),
        sa.UniqueConstraint("study_id", "worker", name=op.f("uq_annotator_study_id_worker")),
    )
    op.create_table(
        "study_image",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("image_id", sa.String(length=200), nullable=False),
        sa.Column("code", sa.String(length=24), nullable=False),
        sa.Column("url", sa.Text(), nullable=True),
        sa.Column("blob_sha", sa.String(length=64), nullable=True),
        sa.Column("media_type", sa.String(length=20), nullable=True),
        sa.ForeignKeyConstraint(["blob_sha"], ["blob.sha256"], name=op.f("fk_study_image_blob_sha")),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_study_image_study_id")),
        sa.PrimaryKeyConstraint("study_id", "image_id", name=op.f("pk_study_image")),
        sa.UniqueConstraint("code", name=op.f("uq_study_image_code")),
    )
    op.create_table(
        "study_item",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(length=10), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("group", sa.Integer(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.Column("taken", sa.Integer(), nullable=False),
        sa.Column("shuffle", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_study_item_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_study_item")),
    )
    with op.batch_alter_table("study_item", schema=None) as batch_op:
        batch_op.create_index("ix_study_item_next", ["study_id", "role", "taken", "shuffle"], unique=False)

    op.create_table(
        "assignment",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("annotator_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("shown_order", sa.String(length=400), nullable=False),
        sa.Column("given", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires", sa.DateTime(timezone=True), nullable=False),
        sa.Column("answered", sa.DateTime(timezone=True), nullable=True),
        sa.Column("active_ms", sa.Integer(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.Column("correct", sa.Boolean(), nullable=True),
        sa.ForeignKeyConstraint(["annotator_id"], ["annotator.id"], name=op.f("fk_assignment_annotator_id")),
        sa.ForeignKeyConstraint(["item_id"], ["study_item.id"], name=op.f("fk_assignment_item_id")),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_assignment_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assignment")),
        sa.UniqueConstraint("item_id", "annotator_id", name=op.f("uq_assignment_item_id_annotator_id")),
    )
    with op.batch_alter_table("assignment", schema=None) as batch_op:
        batch_op.create_index("ix_assignment_annotator_id_state", ["annotator_id", "state"], unique=False)
        batch_op.create_index("ix_assignment_study_id_state_expires", ["study_id", "state", "expires"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("assignment", schema=None) as batch_op:
        batch_op.drop_index("ix_assignment_study_id_state_expires")
        batch_op.drop_index("ix_assignment_annotator_id_state")

    op.drop_table("assignment")
    with op.batch_alter_table("study_item", schema=None) as batch_op:
        batch_op.drop_index("ix_study_item_next")

    op.drop_table("study_item")
    op.drop_table("study_image")
    op.drop_table("annotator")
    with op.batch_alter_table("study", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_study_owner_id"))

    op.drop_table("study")
