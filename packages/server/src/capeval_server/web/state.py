"""Everything that one running server shares between its requests."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from capeval_server.accounts.passwords import new_secret
from capeval_server.boards.cache import BoardCache
from capeval_server.boards.image_ids import ImageIds
from capeval_server.jobs.jobs import Jobs
from capeval_server.store.database import Database
from capeval_server.store.models import KeyValue
from capeval_server.web.format import FILTERS
from capeval_server.web.limits import RateLimits
from capeval_server.web.observability import Meters
from capeval_server.web.settings import ServerSettings

PACKAGE = Path(__file__).parents[1]


class AppState:
    """Made once by `create_app`; handlers reach it as `context.state`."""

    def __init__(self, settings: ServerSettings) -> None:
        settings.check()
        self.settings = settings
        self.database = Database(settings.database)
        self.database.migrate()
        self.secret_key = settings.secret_key or _kept_secret(self.database)
        # The prefix makes browsers refuse the cookie from anywhere but this host, and without HTTPS.
        self.cookie_name = "__Host-capeval" if settings.secure else "capeval"
        self.templates = _templates()
        self.limits = RateLimits()
        self.image_ids = ImageIds()
        self.boards = BoardCache()
        self.meters = Meters()
        self.jobs = Jobs(self.database, settings, self.meters)

    def close(self) -> None:
        """Stops the jobs, which another start runs again, and lets the database go."""
        self.jobs.stop()
        self.database.close()


def _kept_secret(database: Database) -> str:
    with database.write() as session:
        kept = session.get(KeyValue, "secret_key")
        if kept is None:
            kept = KeyValue(name="secret_key", value=new_secret())
            session.add(kept)
        return kept.value


@cache
def _templates() -> Environment:
    """They depend on no setting: the servers of one process share them, compiled once."""
    environment = Environment(
        loader=FileSystemLoader(PACKAGE / "templates"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, auto_reload=False,
    )  # fmt: skip
    environment.filters.update(FILTERS)
    environment.globals["NOTICES"] = NOTICES
    return environment


NOTICES = {
    "registered": "Your account is ready. Sign in with your e-mail address and password.",
    "signed-out": "You are signed out.",
    "saved": "Saved.",
    "rescoring": "All submissions are being scored again.",
    "study-made": "The study is made, and paused. Look at the preview, then open it.",
    "study-deleted": "The study and its answers are deleted.",
    "too-late": "That answer was not saved: it came after the end, or the question had gone to somebody else.",
    "same-file": "Your team has submitted this very file before; this is that submission.",
    "password": "The password is changed, and other browsers are signed out.",
    "revoked": "The token is revoked.",
}
"""Messages that a redirection may show on its target page, by key."""
