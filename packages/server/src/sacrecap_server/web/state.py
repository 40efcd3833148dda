"""Everything that one running server shares between its requests."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from jinja2 import Environment

from sacrecap.errors import DataError
from sacrecap_server.settings import ServerSettings
from sacrecap_server.store.database import Database
from sacrecap_server.store.schema import KeyValue
from sacrecap_server.studies.answer_statistics import Counting
from sacrecap_server.studies.links import ProlificSignatures
from sacrecap_server.web.format import templates
from sacrecap_server.web.language import install
from sacrecap_server.web.limits import RateLimit
from sacrecap_server.web.owner import new_secret, set_token

PACKAGE = Path(__file__).parents[1]
_EMAIL = re.compile(r"[^@\s<>\"',;:()\[\]?&%]+@[A-Za-z0-9.-]+")


class AppState:
    """Made once by `create_app`; handlers reach it as `context.state`."""

    def __init__(self, settings: ServerSettings) -> None:
        settings.check()
        self.settings = settings
        self.database = Database(settings.database)
        self.database.prepare()
        with self.database.write() as session:
            key = session.get(KeyValue, "secret_key") or KeyValue(name="secret_key", value=new_secret())
            session.add(key)
            set_token(session, settings.owner_token)
        self.secret_key = key.value
        # The prefix makes browsers refuse the cookie from anywhere but this host, and without HTTPS.
        self.cookie_name = "__Host-sacrecap" if settings.secure else "sacrecap"
        self.templates = _templates()
        self.privacy_text = ""
        """The owner's own text for /privacy."""
        if settings.privacy_file is not None:
            try:
                self.privacy_text = Path(settings.privacy_file).read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise DataError(f"--privacy-file {settings.privacy_file}: cannot be read: {error}") from None
        self.sign_ins = RateLimit(60, 600)
        """Attempts to sign in, by address."""
        self.beginnings = RateLimit(60, 3600)
        """People who begin a study, by address."""
        self.prolific = ProlificSignatures()
        self.counting = Counting(self.database)

    def close(self) -> None:
        """Ends what is being counted, and lets the database go."""
        self.counting.stop()
        self.database.close()


@cache
def _templates() -> Environment:
    environment = templates(PACKAGE / "templates")
    environment.globals.update(NOTICES=NOTICES)
    environment.tests["email_address"] = lambda text: _EMAIL.fullmatch(text) is not None
    install(environment)
    return environment


NOTICES = {
    "saved": "Saved.",
    "study-made": "The study is made, and paused. Look at the preview, then open it.",
    "study-deleted": "The study and its answers are deleted.",
    "too-late": "That answer was not saved: it came too late, or somebody else has the question now.",
    "deleted": "Deleted.",
}
"""Messages that a redirection may show on its target page, by key."""
