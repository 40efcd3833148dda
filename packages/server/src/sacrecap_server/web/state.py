"""Everything that one running server shares between its requests."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from sacrecap.errors import DataError
from sacrecap_server.accounts import retention
from sacrecap_server.accounts.limits import RateLimits
from sacrecap_server.accounts.passwords import new_secret
from sacrecap_server.accounts.provider import Provider
from sacrecap_server.boards.board_cache import BoardCache, ImageIds
from sacrecap_server.jobs.chores import CHORES
from sacrecap_server.jobs.jobs import Jobs
from sacrecap_server.mail.post import Post
from sacrecap_server.observability import Meters
from sacrecap_server.settings.server import ServerSettings
from sacrecap_server.store.database import Database
from sacrecap_server.store.models import KeyValue
from sacrecap_server.studies.links import ProlificSignatures
from sacrecap_server.web.format import FILTERS, difference, interval
from sacrecap_server.web.language import install, translated
from sacrecap_server.web.readiness import Readiness
from sacrecap_server.web.receive import UploadRoom
from sacrecap_server.web.static import VersionedLinks

PACKAGE = Path(__file__).parents[1]
assert retention.KIND in CHORES  # imported for what it registers
_EMAIL = re.compile(r"[^@\s<>\"',;:()\[\]?&%]+@[A-Za-z0-9.-]+")


class AppState:
    """Made once by `create_app`; handlers reach it as `context.state`."""

    def __init__(self, settings: ServerSettings) -> None:
        settings.check()
        self.settings = settings
        self.database = Database(settings.database)
        with self.database.in_words():
            self.database.migrate()
            self.secret_key = settings.secret_key or _kept_secret(self.database)
        # The prefix makes browsers refuse the cookie from anywhere but this host, and without HTTPS.
        self.cookie_name = "__Host-sacrecap" if settings.secure else "sacrecap"
        self.annotator_cookie_name = f"{self.cookie_name}-study"
        self.templates = _templates()
        self.translated = translated(self.templates)
        self.limits = RateLimits(self.database)
        self.image_ids = ImageIds()
        self.uploads = UploadRoom()
        self.boards = BoardCache()
        self.meters = Meters()
        self.jobs = Jobs(self.database, settings, self.meters)
        self.readiness = Readiness(self.database, self.jobs)
        self.post = Post(self.database, settings, self.meters)
        self.privacy_text = _text_of(settings.privacy_file)
        self.prolific = ProlificSignatures()
        self.provider = Provider(settings) if settings.oidc_issuer is not None else None

    def close(self) -> None:
        """Stops the jobs and the mail, which another start goes on with, and lets the database go."""
        self.jobs.stop()
        self.post.stop()
        self.database.close()


def _text_of(path: str | None) -> str:
    """The operator's own text; empty without a file. Raises `DataError` if it cannot be read."""
    if path is None:
        return ""
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"--privacy-file {path}: cannot be read: {error}") from None


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
        loader=FileSystemLoader(PACKAGE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        extensions=[VersionedLinks],
    )
    environment.filters.update(FILTERS)
    environment.globals.update(NOTICES=NOTICES, interval=interval, difference=difference)
    environment.tests["email_address"] = lambda text: _EMAIL.fullmatch(text) is not None
    install(environment)
    return environment


NOTICES = {
    "registered": "Your account is ready. Sign in with your e-mail address and password.",
    "registered-mail": "Look into your mail: a message says how to continue.",
    "confirmed": "Your address is confirmed.",
    "confirmed-taken": "Your address is confirmed. Meanwhile another team took that name: choose another below.",
    "confirm-sent": "A new link is on its way to you.",
    "reset-sent": "If this address has an account here, a link that sets a new password is on its way to it.",
    "reset-done": "The new password is set. All other sign-ins and all API tokens have ended.",
    "team-made": "Your team is made.",
    "joined": "You have joined the team.",
    "team-approved": "The team is approved.",
    "team-refused": "The team is refused.",
    "signed-out": "You are signed out.",
    "saved": "Saved.",
    "benchmark-made": "The benchmark is made.",
    "published": "The benchmark is published.",
    "rules-accepted": "The rules are accepted.",
    "webhook-test": "A test message is on its way. Reload the page to see the result.",
    "rescoring": "All submissions are being scored again.",
    "study-made": "The study is made, and paused. Look at the preview, then open it.",
    "study-deleted": "The study and its answers are deleted.",
    "too-late": "That answer was not saved: it came too late, or somebody else has the question now.",
    "same-file": "Your team has submitted this very file before; this is that submission.",
    "password": "The password is changed. Other browsers are signed out, and API tokens are revoked.",
    "revoked": "The token is revoked.",
    "deleted": "Deleted.",
    "account-deleted": "Your account is deleted.",
    "left": "You have left the team.",
    "linked": "From now on you can sign in at your provider too.",
}
"""Messages that a redirection may show on its target page, by key."""
