"""Whose server it is: name, logo, words and contact of the host, on its pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from sacrecap.errors import UsageError
from sacrecap_server.settings.server import ServerSettings
from sacrecap_server_testing.world import World

LOGO = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>'


def test_the_first_page_says_what_the_server_is_for(world):
    page = world.browser().get("/").text
    assert "references that stay hidden" in page
    assert 'href="/register"' in page
    assert "No benchmark takes submissions now." in page


def test_the_hosts_name_logo_words_and_contact(tmp_path: Path):
    (tmp_path / "logo.svg").write_bytes(LOGO)
    world = World(
        tmp_path,
        site_name="Lab <of> Images",
        site_logo=str(tmp_path / "logo.svg"),
        site_about="We describe.",
        contact="host@example.org",
    )
    browser = world.browser()
    for path in ("/", "/benchmarks", "/nothing"):
        page = browser.get(path).text
        assert "Lab &lt;of&gt; Images" in page
        assert 'src="/logo"' in page
        assert "mailto:host@example.org" in page
    assert "We describe." in browser.get("/").text
    logo = browser.get("/logo")
    assert (logo.content, logo.headers["content-type"]) == (LOGO, "image/svg+xml")
    world.state.close()


def test_without_a_logo_there_is_none(world):
    assert world.browser().get("/logo").status_code == 404


@pytest.mark.parametrize(("name", "reason"), [("logo.gif", "must be an SVG or PNG"), ("none.svg", "no such file")])
def test_a_wrong_logo_is_refused_at_the_start(tmp_path: Path, name: str, reason: str):
    (tmp_path / "logo.gif").write_bytes(b"GIF89a")
    with pytest.raises(UsageError, match=reason):
        ServerSettings(site_logo=str(tmp_path / name)).check()


def test_error_pages_lead_on(world):
    page = world.browser().get("/nothing").text
    for path in ("/", "/benchmarks", "/sign-in"):
        assert f'href="{path}"' in page
