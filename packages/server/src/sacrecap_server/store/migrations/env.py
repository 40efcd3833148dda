"""Runs the migrations on the connection that `Database.migrate` gives; Alembic executes this file."""

from typing import Any, Literal

from alembic import context

from sacrecap_server.store.models import Base
from sacrecap_server.store.models.declarative_base import UtcDateTime


def _render(kind: str, item: Any, _: Any) -> str | Literal[False]:
    """Migrations import no models: they must mean the same when the models have changed."""
    return "sa.DateTime(timezone=True)" if kind == "type" and isinstance(item, UtcDateTime) else False


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
    compare_type=True,
    compare_server_default=True,
    render_item=_render,
)
with context.begin_transaction():
    context.run_migrations()
