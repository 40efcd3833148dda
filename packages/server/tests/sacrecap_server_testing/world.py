"""A server of studies in the process, and browsers that fill in forms."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from httpx2 import Client

from sacrecap_server.app import create_app
from sacrecap_server.settings import ServerSettings
from sacrecap_server.store.database import Database
from sacrecap_server.web.context import AppState, Role, csrf_token, new_secret, sign_in
from sacrecap_server_testing.transport import InProcess

TOKEN = "correct horse battery of the owner"  # noqa: S105
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
        name = f"{state.cookie_name}-study" if path.startswith("/s/") else state.cookie_name
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
    """The application on a database, which is a new one in `folder` unless there is one."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        place = folder / "sacrecap.db"
        if not place.exists():
            place.write_bytes(_prepared())
        self.settings = ServerSettings(**{"database": str(place), "owner_token": TOKEN, **settings})
        self.app = create_app(self.settings)
        self.state: AppState = self.app.state.server
        self.database = self.state.database

    def browser(self, role: Role = Role.ANYONE, address: str = "testclient") -> Browser:
        """A new browser at an address, signed in if it is the owner's."""
        browser = Browser(self, address)
        if role is Role.OWNER:
            with self.database.write() as session:
                browser.client.cookies.set(self.state.cookie_name, sign_in(session), domain="localhost.local")
        return browser

    def client(self, address: str = "testclient") -> Client:
        """A client that nobody is signed in with; it follows no redirection."""
        return Client(transport=InProcess(self.app, address), base_url=ORIGIN)

    def api(self, role: Role = Role.ANYONE) -> Client:
        """A client that shows the owner's token, if it is the owner's."""
        client = self.client()
        if role is Role.OWNER:
            client.headers["Authorization"] = f"Bearer {TOKEN}"
        return client

    def run_jobs(self) -> None:
        """Waits until all answers are counted that were to be counted."""
        self.state.counting._pool.submit(lambda: None).result()


@cache
def _prepared() -> bytes:
    """An empty database: making one takes many times as long as copying it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "prepared.db"
        database = Database(str(path))
        database.prepare()
        database.close()
        return path.read_bytes()
