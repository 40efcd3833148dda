"""What people do with accounts: register, confirm, sign in; and what they find in their mail."""

from __future__ import annotations

import re
from typing import Any

from sacrecap_server_testing.world import PASSWORD, Browser, World

EMAIL = "new@example.org"


def register(
    world: World, email: str = EMAIL, team: str = "New team", *, address: str = "testclient", **fields: Any
) -> Any:
    fields = {"password": PASSWORD, **fields}
    return world.browser(address=address).post("/register", email=email, team=team, **fields)


def signed_in(world: World, email: str = EMAIL, password: str = PASSWORD, **where: str) -> Browser:
    browser = world.browser(**where)
    answer = browser.post("/sign-in", email=email, password=password, next="/account")
    assert (answer.status_code, answer.headers.get("location")) == (303, "/account"), answer.text
    return browser


def link_in(message: Any) -> str:
    """The path of the link with a code."""
    return re.search(r"http://[^/\s]+(/\S+\?code=\S+)", message.get_content())[1]


def code_of(path: str) -> str:
    return path.split("code=")[1]


def confirmed(world: World, email: str = EMAIL, team: str = "New team", **fields: Any) -> Browser:
    """A browser of somebody who registered and opened the link."""
    assert register(world, email, team, **fields).status_code == 303
    path = link_in([message for message in world.mail() if message["To"] == email][-1])
    browser = world.browser()
    assert browser.get(path).status_code == 200
    answer = browser.post("/confirm", code=code_of(path), password=PASSWORD)
    assert answer.headers["location"] == "/account?notice=confirmed", answer.text
    return browser
