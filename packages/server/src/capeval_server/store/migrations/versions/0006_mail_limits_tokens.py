"""Confirmed addresses, letters, one-time codes, shared limits, scopes and ends of tokens, names that look alike"""

import datetime as dt

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_TIME = sa.DateTime(timezone=True)
_SCOPES = "read,submit,studies,metrics"
_TOKEN_DAYS = 365


def upgrade() -> None:
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
        "rate_count",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("ends", _TIME, nullable=False),
        sa.Column("expires", _TIME, nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_rate_count")),
    )
    op.create_index(op.f("ix_rate_count_expires"), "rate_count", ["expires"])
    op.add_column("account", sa.Column("confirmed", _TIME, nullable=True))
    op.add_column("account", sa.Column("wanted_team", sa.String(length=80), nullable=False, server_default=""))
    op.add_column("account", sa.Column("wanted_affiliation", sa.String(length=160), nullable=False, server_default=""))
    op.execute("UPDATE account SET confirmed = created")
    op.add_column("invitation", sa.Column("accepted", _TIME, nullable=True))
    op.execute("UPDATE invitation SET accepted = created WHERE used_by IS NOT NULL")
    op.add_column("team", sa.Column("look_key", sa.String(length=160), nullable=False, server_default=""))
    op.add_column("team", sa.Column("waiting", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_index(op.f("ix_team_look_key"), "team", ["look_key"])
    op.add_column("api_token", sa.Column("scopes", sa.String(length=60), nullable=False, server_default=_SCOPES))
    op.add_column("api_token", sa.Column("expires", _TIME, nullable=True))
    op.add_column("api_token", sa.Column("last_used", _TIME, nullable=True))
    _fill()
    with op.batch_alter_table("api_token") as batch_op:
        batch_op.alter_column("expires", existing_type=_TIME, nullable=False)


def _fill() -> None:
    """Computes the keys of existing names, and gives existing tokens one year."""
    # The keys have to be those that the server compares new names with, whatever it computes.
    from capeval_server.accounts.names import keys

    connection = op.get_bind()
    token = sa.table("api_token", sa.column("expires", _TIME))
    ends = dt.datetime.now(dt.timezone.utc) + dt.timedelta(days=_TOKEN_DAYS)
    connection.execute(token.update().values(expires=ends))
    team = sa.table("team", sa.column("id"), sa.column("name"), sa.column("name_key"), sa.column("look_key"))
    seen: set[str] = set()
    rows = []
    for number, name in connection.execute(sa.select(team.c.id, team.c.name).order_by(team.c.id)).all():
        name_key, look_key = keys(name)
        # Of two that look alike already, both stay; the oldest has the key.
        unique = f"{name_key[:140]} #{number}" if name_key in seen else name_key
        seen.add(unique)
        rows.append((number, unique, look_key))
    # In two steps: a new key of one may be an old key of another.
    connection.execute(team.update().values(name_key=sa.literal("#") + sa.cast(team.c.id, sa.String)))
    for number, name_key, look_key in rows:
        connection.execute(team.update().where(team.c.id == number).values(name_key=name_key, look_key=look_key))


def downgrade() -> None:
    for table, columns in (
        ("api_token", ("scopes", "expires", "last_used")), ("invitation", ("accepted",)),
        ("account", ("confirmed", "wanted_team", "wanted_affiliation")),
    ):  # fmt: skip
        for column in columns:
            op.drop_column(table, column)
    op.drop_index(op.f("ix_team_look_key"), "team")
    op.drop_column("team", "look_key")
    op.drop_column("team", "waiting")
    op.drop_table("rate_count")
    op.drop_table("one_time_code")
    op.drop_table("letter")
