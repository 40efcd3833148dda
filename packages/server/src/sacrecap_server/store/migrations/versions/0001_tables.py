"""All tables"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    _of_the_server()
    _of_accounts()
    _of_benchmarks()
    _of_studies()


def _of_the_server() -> None:
    op.create_table(
        "kept",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_kept")),
    )
    op.create_table(
        "rate_count",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("ends", _TIME, nullable=False),
        sa.Column("expires", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_rate_count")),
    )
    op.create_index(op.f("ix_rate_count_expires"), "rate_count", ["expires"])
    op.create_table(
        "audit_entry",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", _TIME, nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=True),
        sa.Column("address", sa.String(length=64), nullable=False),
        sa.Column("action", sa.String(length=40), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_entry")),
    )
    op.create_index(op.f("ix_audit_entry_at"), "audit_entry", ["at"])
    op.create_table(
        "blob",
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("sha256", name=op.f("pk_blob")),
    )
    op.create_table(
        "job",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("subject_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("progress", sa.String(length=80), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("runner", sa.String(length=60), nullable=True),
        sa.Column("lease", _TIME, nullable=True),
        sa.Column("created", _TIME, nullable=False),
        sa.Column("started", _TIME, nullable=True),
        sa.Column("finished", _TIME, nullable=True),
        sa.Column("due", _TIME, nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job")),
    )
    op.create_index("ix_job_kind_subject_id", "job", ["kind", "subject_id"])
    op.create_index("ix_job_state_id", "job", ["state", "id"])


def _of_accounts() -> None:
    op.create_table(
        "team",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("name_key", sa.String(length=160), nullable=False),
        sa.Column("affiliation", sa.String(length=160), nullable=False),
        sa.Column("created", _TIME, nullable=False),
        sa.Column("look_key", sa.String(length=160), nullable=False),
        sa.Column("waiting", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_team")),
        sa.UniqueConstraint("name_key", name=op.f("uq_team_name_key")),
    )
    op.create_index(op.f("ix_team_look_key"), "team", ["look_key"])
    op.create_table(
        "account",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("email", sa.String(length=254), nullable=False),
        sa.Column("password", sa.String(length=200), nullable=False),
        sa.Column("role", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=True),
        sa.Column("disabled", sa.Boolean(), nullable=False),
        sa.Column("created", _TIME, nullable=False),
        sa.Column("confirmed", _TIME, nullable=True),
        sa.Column("wanted_team", sa.String(length=80), nullable=False),
        sa.Column("wanted_affiliation", sa.String(length=160), nullable=False),
        sa.Column("joined", _TIME, nullable=True),
        sa.Column("captain", sa.Boolean(), nullable=False),
        sa.Column("off_boards", sa.Boolean(), nullable=False),
        sa.Column("removed", _TIME, nullable=True),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_account_team_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_account")),
        sa.UniqueConstraint("email", name=op.f("uq_account_email")),
    )
    op.create_table(
        "signed_in",
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("created", _TIME, nullable=False),
        sa.Column("expires", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_signed_in_account_id")),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_signed_in")),
    )
    op.create_index(op.f("ix_signed_in_account_id"), "signed_in", ["account_id"])
    op.create_index(op.f("ix_signed_in_expires"), "signed_in", ["expires"])
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
        "api_token",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("hint", sa.String(length=16), nullable=False),
        sa.Column("created", _TIME, nullable=False),
        sa.Column("revoked", _TIME, nullable=True),
        sa.Column("scopes", sa.String(length=60), nullable=False),
        sa.Column("expires", _TIME, nullable=False),
        sa.Column("last_used", _TIME, nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_api_token_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_token")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_api_token_token_hash")),
    )
    op.create_index(op.f("ix_api_token_account_id"), "api_token", ["account_id"])
    op.create_table(
        "invitation",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("code_hash", sa.String(length=64), nullable=False),
        sa.Column("role", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=True),
        sa.Column("created_by", sa.Integer(), nullable=True),
        sa.Column("created", _TIME, nullable=False),
        sa.Column("expires", _TIME, nullable=False),
        sa.Column("used_by", sa.Integer(), nullable=True),
        sa.Column("accepted", _TIME, nullable=True),
        sa.Column("revoked", _TIME, nullable=True),
        sa.ForeignKeyConstraint(["created_by"], ["account.id"], name=op.f("fk_invitation_created_by")),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_invitation_team_id")),
        sa.ForeignKeyConstraint(["used_by"], ["account.id"], name=op.f("fk_invitation_used_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitation")),
        sa.UniqueConstraint("code_hash", name=op.f("uq_invitation_code_hash")),
    )
    op.create_table(
        "one_time_code",
        sa.Column("code_hash", sa.String(length=64), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("purpose", sa.String(length=10), nullable=False),
        sa.Column("expires", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_one_time_code_account_id")),
        sa.PrimaryKeyConstraint("code_hash", name=op.f("pk_one_time_code")),
    )
    op.create_index(op.f("ix_one_time_code_account_id"), "one_time_code", ["account_id"])
    op.create_index(op.f("ix_one_time_code_expires"), "one_time_code", ["expires"])
    op.create_table(
        "letter",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("address", sa.String(length=254), nullable=False),
        sa.Column("subject", sa.String(length=200), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=True),
        sa.Column("purpose", sa.String(length=10), nullable=False),
        sa.Column("created", _TIME, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_letter_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_letter")),
    )
    op.create_index(op.f("ix_letter_account_id"), "letter", ["account_id"])
    op.create_index(op.f("ix_letter_due"), "letter", ["due"])


def _of_benchmarks() -> None:
    op.create_table(
        "benchmark",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("slug", sa.String(length=60), nullable=False),
        sa.Column("title", sa.String(length=120), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("owner_id", sa.Integer(), nullable=False),
        sa.Column("references_sha", sa.String(length=64), nullable=False),
        sa.Column("objects_sha", sa.String(length=64), nullable=True),
        sa.Column("metrics", sa.Text(), nullable=False),
        sa.Column("tokenizer", sa.String(length=20), nullable=False),
        sa.Column("images", sa.Integer(), nullable=False),
        sa.Column("quota_day", sa.Integer(), nullable=False),
        sa.Column("quota_total", sa.Integer(), nullable=False),
        sa.Column("opens", _TIME, nullable=True),
        sa.Column("closes", _TIME, nullable=True),
        sa.Column("board", sa.String(length=10), nullable=False),
        sa.Column("own_scores", sa.Boolean(), nullable=False),
        sa.Column("created", _TIME, nullable=False),
        sa.Column("visibility", sa.String(length=10), nullable=False),
        sa.Column("challenge", sa.String(length=120), nullable=False),
        sa.Column("phase", sa.String(length=60), nullable=False),
        sa.Column("rules", sa.Text(), nullable=False),
        sa.Column("rules_version", sa.Integer(), nullable=False),
        sa.Column("most_degenerate", sa.Integer(), nullable=False),
        sa.Column("most_same", sa.Integer(), nullable=False),
        sa.Column("longest_words", sa.Integer(), nullable=False),
        sa.Column("rank_by", sa.String(length=80), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["objects_sha"], ["blob.sha256"], name=op.f("fk_benchmark_objects_sha")),
        sa.ForeignKeyConstraint(["owner_id"], ["account.id"], name=op.f("fk_benchmark_owner_id")),
        sa.ForeignKeyConstraint(["references_sha"], ["blob.sha256"], name=op.f("fk_benchmark_references_sha")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_benchmark")),
        sa.UniqueConstraint("slug", name=op.f("uq_benchmark_slug")),
    )
    op.create_table(
        "benchmark_split",
        sa.Column("benchmark_id", sa.Integer(), nullable=False),
        sa.Column("private_sha", sa.String(length=64), nullable=False),
        sa.Column("private_images", sa.Integer(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["benchmark_id"], ["benchmark.id"], name=op.f("fk_benchmark_split_benchmark_id")),
        sa.ForeignKeyConstraint(["private_sha"], ["blob.sha256"], name=op.f("fk_benchmark_split_private_sha")),
        sa.PrimaryKeyConstraint("benchmark_id", name=op.f("pk_benchmark_split")),
    )
    op.create_table(
        "rules_acceptance",
        sa.Column("benchmark_id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=True),
        sa.Column("text_sha", sa.String(length=64), nullable=False),
        sa.Column("accepted", _TIME, nullable=False),
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
        "submission",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("benchmark_id", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("file_sha", sa.String(length=64), nullable=False),
        sa.Column("file_name", sa.String(length=200), nullable=False),
        sa.Column("system", sa.String(length=80), nullable=False),
        sa.Column("created", _TIME, nullable=False),
        sa.Column("scored", _TIME, nullable=True),
        sa.Column("baseline", sa.Boolean(), nullable=False),
        sa.Column("withdrawn", sa.Boolean(), nullable=False),
        sa.Column("disqualified", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_submission_account_id")),
        sa.ForeignKeyConstraint(["benchmark_id"], ["benchmark.id"], name=op.f("fk_submission_benchmark_id")),
        sa.ForeignKeyConstraint(["file_sha"], ["blob.sha256"], name=op.f("fk_submission_file_sha")),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_submission_team_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submission")),
        sa.UniqueConstraint(
            "benchmark_id", "team_id", "file_sha", name=op.f("uq_submission_benchmark_id_team_id_file_sha")
        ),
    )
    op.create_index("ix_submission_benchmark_id_created", "submission", ["benchmark_id", "created"])
    op.create_index(op.f("ix_submission_team_id"), "submission", ["team_id"])
    op.create_table(
        "submission_score",
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("metric", sa.String(length=80), nullable=False),
        sa.Column("value", sa.Double(), nullable=False),
        sa.Column("lower", sa.Double(), nullable=False),
        sa.Column("upper", sa.Double(), nullable=False),
        sa.Column("signature", sa.Text(), nullable=False),
        sa.Column("part", sa.String(length=10), nullable=False),
        sa.ForeignKeyConstraint(["submission_id"], ["submission.id"], name=op.f("fk_submission_score_submission_id")),
        sa.PrimaryKeyConstraint("submission_id", "metric", "part", name=op.f("pk_submission_score")),
    )
    op.create_table(
        "submission_pair",
        sa.Column("a_id", sa.Integer(), nullable=False),
        sa.Column("b_id", sa.Integer(), nullable=False),
        sa.Column("metric", sa.String(length=80), nullable=False),
        sa.Column("delta", sa.Double(), nullable=False),
        sa.Column("lower", sa.Double(), nullable=False),
        sa.Column("upper", sa.Double(), nullable=False),
        sa.Column("p", sa.Double(), nullable=False),
        sa.Column("part", sa.String(length=10), nullable=False),
        sa.ForeignKeyConstraint(["a_id"], ["submission.id"], name=op.f("fk_submission_pair_a_id")),
        sa.ForeignKeyConstraint(["b_id"], ["submission.id"], name=op.f("fk_submission_pair_b_id")),
        sa.PrimaryKeyConstraint("a_id", "b_id", "metric", "part", name=op.f("pk_submission_pair")),
    )
    op.create_index(op.f("ix_submission_pair_b_id"), "submission_pair", ["b_id"])
    op.create_table(
        "submission_statistics",
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submission.id"], name=op.f("fk_submission_statistics_submission_id")
        ),
        sa.PrimaryKeyConstraint("submission_id", name=op.f("pk_submission_statistics")),
    )
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
    op.create_table(
        "comparison",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("a_id", sa.Integer(), nullable=False),
        sa.Column("b_id", sa.Integer(), nullable=False),
        sa.Column("created", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["a_id"], ["submission.id"], name=op.f("fk_comparison_a_id")),
        sa.ForeignKeyConstraint(["b_id"], ["submission.id"], name=op.f("fk_comparison_b_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_comparison")),
        sa.UniqueConstraint("a_id", "b_id", name=op.f("uq_comparison_a_id_b_id")),
    )
    op.create_table(
        "webhook",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("benchmark_id", sa.Integer(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("secret", sa.String(length=64), nullable=False),
        sa.Column("created", _TIME, nullable=False),
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
        sa.Column("created", _TIME, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("delivered", _TIME, nullable=True),
        sa.Column("due", _TIME, nullable=True),
        sa.ForeignKeyConstraint(
            ["submission_id"], ["submission.id"], name=op.f("fk_webhook_delivery_submission_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["webhook_id"], ["webhook.id"], name=op.f("fk_webhook_delivery_webhook_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_delivery")),
    )
    op.create_index(op.f("ix_webhook_delivery_submission_id"), "webhook_delivery", ["submission_id"])
    op.create_index(op.f("ix_webhook_delivery_webhook_id"), "webhook_delivery", ["webhook_id"])


def _of_studies() -> None:
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
        sa.Column("created", _TIME, nullable=False),
        sa.Column("closed", _TIME, nullable=True),
        sa.Column("seed", sa.String(length=32), nullable=False),
        sa.Column("wave", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["account.id"], name=op.f("fk_study_owner_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_study")),
        sa.UniqueConstraint("code", name=op.f("uq_study_code")),
    )
    op.create_index(op.f("ix_study_owner_id"), "study", ["owner_id"])
    op.create_table(
        "study_member",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("since", _TIME, nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["account.id"], name=op.f("fk_study_member_account_id")),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_study_member_study_id")),
        sa.PrimaryKeyConstraint("study_id", "account_id", name=op.f("pk_study_member")),
    )
    op.create_index(op.f("ix_study_member_account_id"), "study_member", ["account_id"])
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
        sa.Column("because", sa.Text(), nullable=False),
        sa.Column("image_id", sa.String(length=200), nullable=True),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_study_item_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_study_item")),
    )
    op.create_index("ix_study_item_next", "study_item", ["study_id", "role", "shuffle", "taken", "group"])
    op.create_index("ix_study_item_study_id_image_id", "study_item", ["study_id", "image_id"])
    op.create_index("ix_study_item_study_id_role_number", "study_item", ["study_id", "role", "number"])
    op.create_table(
        "annotator",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("cookie_hash", sa.String(length=64), nullable=True),
        sa.Column("worker", sa.String(length=128), nullable=True),
        sa.Column("platform_study", sa.String(length=128), nullable=False),
        sa.Column("platform_session", sa.String(length=128), nullable=False),
        sa.Column("completion", sa.String(length=24), nullable=False),
        sa.Column("started", _TIME, nullable=False),
        sa.Column("items", sa.Integer(), nullable=False),
        sa.Column("warned", sa.Boolean(), nullable=False),
        sa.Column("excluded", sa.String(length=200), nullable=True),
        sa.Column("pages", sa.Integer(), nullable=False),
        sa.Column("checks", sa.Integer(), nullable=False),
        sa.Column("fast", sa.Integer(), nullable=False),
        sa.Column("repeats", sa.Integer(), nullable=False),
        sa.Column("cautions", sa.String(length=40), nullable=False),
        sa.Column("practised", sa.Boolean(), nullable=False),
        sa.Column("feedback", sa.Text(), nullable=True),
        sa.Column("lean", sa.Integer(), nullable=False),
        sa.Column("check_lean", sa.Integer(), nullable=False),
        sa.Column("wave", sa.Integer(), nullable=False),
        sa.Column("ended", sa.String(length=12), nullable=True),
        sa.Column("ended_at", _TIME, nullable=True),
        sa.Column("platform_return", sa.String(length=200), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_annotator_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_annotator")),
        sa.UniqueConstraint("study_id", "cookie_hash", name=op.f("uq_annotator_study_id_cookie_hash")),
        sa.UniqueConstraint("study_id", "worker", name=op.f("uq_annotator_study_id_worker")),
    )
    op.create_table(
        "assignment",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("annotator_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("shown_order", sa.String(length=400), nullable=False),
        sa.Column("given", _TIME, nullable=False),
        sa.Column("expires", _TIME, nullable=False),
        sa.Column("answered", _TIME, nullable=True),
        sa.Column("active_ms", sa.Integer(), nullable=True),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.Column("correct", sa.Boolean(), nullable=True),
        sa.Column("role", sa.String(length=10), nullable=False),
        sa.Column("group", sa.Integer(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("too_fast", sa.Boolean(), nullable=True),
        sa.Column("repeated", sa.Boolean(), nullable=True),
        sa.Column("fingerprint", sa.String(length=32), nullable=True),
        sa.Column("reason", sa.String(length=200), nullable=False),
        sa.ForeignKeyConstraint(["annotator_id"], ["annotator.id"], name=op.f("fk_assignment_annotator_id")),
        sa.ForeignKeyConstraint(["item_id"], ["study_item.id"], name=op.f("fk_assignment_item_id")),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_assignment_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assignment")),
        sa.UniqueConstraint("item_id", "annotator_id", "round", name=op.f("uq_assignment_item_id_annotator_id_round")),
    )
    op.create_index("ix_assignment_annotator_id_role_group", "assignment", ["annotator_id", "role", "group"])
    op.create_index("ix_assignment_annotator_id_state", "assignment", ["annotator_id", "state"])
    op.create_index("ix_assignment_study_id_answered", "assignment", ["study_id", "answered"])
    op.create_index("ix_assignment_study_id_fingerprint", "assignment", ["study_id", "fingerprint"])
    op.create_index("ix_assignment_study_id_role_state", "assignment", ["study_id", "role", "state"])
    op.create_index("ix_assignment_study_id_state_expires", "assignment", ["study_id", "state", "expires"])
    op.create_table(
        "study_findings",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=120), nullable=False),
        sa.Column("computed", _TIME, nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"], name=op.f("fk_study_findings_study_id")),
        sa.PrimaryKeyConstraint("study_id", name=op.f("pk_study_findings")),
    )


def downgrade() -> None:
    for table in (
        "study_findings",
        "assignment",
        "annotator",
        "study_item",
        "study_image",
        "study_member",
        "study",
        "webhook_delivery",
        "webhook",
        "comparison",
        "removed_submission",
        "submission_statistics",
        "submission_pair",
        "submission_score",
        "submission",
        "rules_acceptance",
        "benchmark_split",
        "benchmark",
        "letter",
        "one_time_code",
        "invitation",
        "api_token",
        "external_identity",
        "signed_in",
        "account",
        "team",
        "job",
        "blob",
        "audit_entry",
        "rate_count",
        "kept",
    ):
        op.drop_table(table)
