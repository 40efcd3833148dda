"""A server in the process, with an account of each role, and browsers that fill in forms."""

from __future__ import annotations

import tempfile
from email import message_from_bytes, policy
from email.message import EmailMessage
from functools import cache
from pathlib import Path
from typing import Any

from httpx2 import Client

from sacrecap_server.accounts.access import Role, csrf_token, new_token, sign_in
from sacrecap_server.accounts.passwords import new_secret
from sacrecap_server.accounts.teams import make_team
from sacrecap_server.app import create_app
from sacrecap_server.settings.server import ServerSettings
from sacrecap_server.settings.ways import Folder
from sacrecap_server.store.database import Database
from sacrecap_server.store.models import Account, now
from sacrecap_server.web.state import AppState
from sacrecap_server_testing.transport import InProcess

PASSWORD = "correct horse battery"  # noqa: S105
ORIGIN = "http://localhost"


class Browser:
    """Cookies, and forms with their CSRF token."""

    def __init__(self, world: World, address: str = "testclient") -> None:
        self.client = world.client(address)
        self.world = world

    def get(self, path: str, **options: Any) -> Any:
        return self.client.get(path, **options)

    def csrf(self, path: str = "/") -> str:
        """The token that this browser's forms to the path carry.

        A new browser is given the cookie that the token belongs to, as the page with the form would give it.
        """
        state = self.world.state
        name = state.annotator_cookie_name if path.startswith("/s/") else state.cookie_name
        if name not in self.client.cookies:
            self.client.cookies.set(name, new_secret(), domain="localhost.local")
        return csrf_token(state.secret_key, self.client.cookies[name])

    def post(self, path: str, files: Any = None, csrf: str | None = None, **fields: Any) -> Any:
        """Sends a form, as a page would."""
        return self.client.post(path, data={"csrf": csrf or self.csrf(path), **fields}, files=files)

    @property
    def cookie(self) -> str:
        return self.client.cookies[self.world.state.cookie_name]


class World:
    """The application on a database, which is a new one in `folder` unless a URL is given."""

    def __init__(self, folder: Path, url: str | None = None, **settings: Any) -> None:
        if url is None:
            url = f"sqlite:///{folder / 'sacrecap.db'}"
            (folder / "sacrecap.db").write_bytes(_migrated())
        self.app = create_app(ServerSettings(database=url, **{"workers": 0, **settings}))
        self.state: AppState = self.app.state.server
        self.database = self.state.database
        self.accounts: dict[Role, int] = {}

    def account(self, role: Role) -> int:
        """The account of this role, in a team of its own; made on first use. Its password is not a hash, for speed."""
        if role not in self.accounts:
            with self.database.write() as session:
                team = make_team(session, f"Team {role.name}", "")
                account = Account(email=f"{role.name.lower()}@example.org", role=role, team_id=team.id)
                account.password, account.confirmed = "-", now()
                session.add(account)
                session.flush()
                self.accounts[role] = account.id
        return self.accounts[role]

    def browser(self, role: Role = Role.ANYONE, address: str = "testclient") -> Browser:
        """A new browser at an address, signed in with the role's account."""
        browser = Browser(self, address)
        if role is not Role.ANYONE:
            account = self.account(role)
            with self.database.write() as session:
                browser.client.cookies.set(self.state.cookie_name, sign_in(session, account), domain="localhost.local")
        return browser

    def client(self, address: str = "testclient") -> Client:
        """A client that nobody is signed in with; it follows no redirection."""
        return Client(transport=InProcess(self.app, address), base_url=ORIGIN)

    def api(self, role: Role = Role.ANYONE) -> Client:
        """A client that shows the role's API token."""
        client = self.client()
        if role is not Role.ANYONE:
            account = self.account(role)
            with self.database.write() as session:
                client.headers["Authorization"] = f"Bearer {new_token(session, account, 'test')}"
        return client

    def mail(self) -> list[EmailMessage]:
        """Sends what is queued, here and now; gives all messages so far. The world has `mail=f"file:{folder}"`."""
        while self.state.post.run_one():
            pass
        assert isinstance(self.state.post.way, Folder)
        files = sorted(self.state.post.way.folder.glob("*.eml"))
        return [message_from_bytes(file.read_bytes(), policy=policy.default) for file in files]

    def run_jobs(self) -> None:
        """Runs what is queued, here and now."""
        while self.state.jobs.run_one():
            pass


@cache
def _migrated() -> bytes:
    """An empty SQLite database: migrating one takes many times as long as copying it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "migrated.db"
        database = Database(f"sqlite:///{path}")
        database.migrate()
        database.close()
        return path.read_bytes()
