"""Whose server it is, on its pages; and where an error page leads."""

from __future__ import annotations


def test_the_name_and_the_contact_of_the_host(new_world):
    browser = new_world(site_name="Lab <of> Images", contact="host@example.org").browser()
    for path in ("/sign-in", "/nothing"):
        page = browser.get(path).text
        assert "Lab &lt;of&gt; Images" in page
        assert "mailto:host@example.org" in page


def test_error_pages_lead_on(world):
    page = world.browser().get("/nothing").text
    for path in ("/", "/sign-in"):
        assert f'href="{path}"' in page
