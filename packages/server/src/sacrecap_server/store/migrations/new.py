"""Drafts a migration from how models and tables differ: `python -m capeval_server.store.migrations.new "Studies"`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from alembic import command

from capeval_server.store.database import MIGRATIONS, Database, alembic_config


def draft(message: str) -> None:
    """Writes `versions/NNNN_message.py`; read it before it is committed."""
    number = len(list((MIGRATIONS / "versions").glob("*.py"))) + 1
    with tempfile.TemporaryDirectory() as folder:
        database = Database(f"sqlite:///{Path(folder) / 'empty.db'}")
        database.migrate()
        with database.engine.execution_options(write=True).begin() as connection:
            command.revision(alembic_config(connection), message, autogenerate=True, rev_id=f"{number:04d}")
        database.close()


if __name__ == "__main__":
    draft(sys.argv[1])
