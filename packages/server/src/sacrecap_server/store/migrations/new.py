"""Drafts a migration from how models and tables differ: `python -m sacrecap_server.store.migrations.new "Studies"`.

What it makes has to be read. A column that may not be empty needs a `server_default`, in the model too, or values for
the rows that are there. `batch_alter_table` replaces a table on SQLite where it changes or drops something, and SQLite
refuses to replace one that rows of another table refer to.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from alembic import command

from sacrecap_server.store.database import MIGRATIONS, Database, alembic_config


def draft(message: str) -> None:
    """Writes `versions/NNNN_message.py`."""
    number = len(list((MIGRATIONS / "versions").glob("*.py"))) + 1
    with tempfile.TemporaryDirectory() as folder:
        database = Database(f"sqlite:///{Path(folder) / 'empty.db'}")
        database.migrate()
        with database.engine.execution_options(write=True).begin() as connection:
            command.revision(alembic_config(connection), message, autogenerate=True, rev_id=f"{number:04d}")
        database.close()


if __name__ == "__main__":
    draft(sys.argv[1])
