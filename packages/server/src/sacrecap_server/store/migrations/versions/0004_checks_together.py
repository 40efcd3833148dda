"""One rule for all checks of a study, and what tells people who do the work of others"""

import json

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_LUCK = {"diversity": 0.364, "collection": 0.1}
_STRICT = ("note", "warn", "exclude")


def upgrade() -> None:
    for name in ("pasted", "away"):
        op.add_column("annotator", sa.Column(name, sa.Integer(), nullable=False, server_default="0"))
    op.add_column("annotator", sa.Column("place", sa.String(64), nullable=True))
    op.execute("DELETE FROM study_findings")  # they are computed again, with what they have more
    for number, kind, text in op.get_bind().execute(sa.text("SELECT id, kind, settings FROM study")).all():
        size = sa.text("SELECT count(*) FROM study_item WHERE study_id = :number AND role = 'item'")
        settings = {"size": op.get_bind().execute(size, {"number": number}).scalar_one(), **json.loads(text)}
        before = settings["checks"]
        policies = [_STRICT.index(rules["policy"]) for rules in before.values()]
        settings["rule"] = {
            "policy": _STRICT[max(policies, default=0)],
            "honest": 0.9,
            "mistaken": 0.02,
            "luck": _LUCK.get(kind, 0.5),
        }
        settings["checks"] = {role: rules["every"] for role, rules in before.items()}
        change = sa.text("UPDATE study SET settings = :settings WHERE id = :number")
        op.get_bind().execute(change, {"settings": json.dumps(settings), "number": number})


def downgrade() -> None:
    for number, text in op.get_bind().execute(sa.text("SELECT id, settings FROM study")).all():
        settings = json.loads(text)
        policy = settings.pop("rule")["policy"]
        settings["checks"] = {
            role: {"every": every, "policy": policy, "least": 0.7, "after": 3}
            for role, every in settings["checks"].items()
        }
        change = sa.text("UPDATE study SET settings = :settings WHERE id = :number")
        op.get_bind().execute(change, {"settings": json.dumps(settings), "number": number})
    for name in ("pasted", "away", "place"):
        op.drop_column("annotator", name)
