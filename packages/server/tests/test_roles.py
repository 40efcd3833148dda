"""Every route, called by every role: who may, gets through; who may not, is refused before anything happens."""

from __future__ import annotations

import pytest

from sacrecap_server.accounts.access import Role
from sacrecap_server.app import every_route
from sacrecap_server_testing.world import World

SAMPLES = {"token_id": "1", "slug": "none", "name": "none", "number": "1", "submission_id": "1", "account_id": "99"}
"""A value for each path parameter; nothing needs to exist under it."""
SAMPLES |= {"invitation_id": "99", "team_id": "99", "job_id": "99"}
SAMPLES |= {"code": "none", "image": "none", "study_id": "1", "annotator_id": "1", "assignment_id": "1"}
SAMPLES |= {"webhook_id": "1"}

ROUTES = [
    pytest.param(method, route.path_format, guard, id=f"{method} {route.path_format}")
    for route, guard in every_route()
    for method in sorted(route.methods - {"HEAD"})
]


def _path(template: str) -> str:
    return template.format_map(SAMPLES)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("roles"))
    yield world
    world.state.close()


@pytest.mark.parametrize(("method", "path", "guard"), ROUTES)
@pytest.mark.parametrize("role", list(Role))
def test_only_the_roles_allowed_get_through(world, method, path, guard, role):
    browser = world.browser(role)
    headers = {} if method == "GET" else {"X-CSRF-Token": browser.csrf(path)}
    client = world.api(role) if guard.api else browser.client
    answer = client.request(method, _path(path), headers=headers)
    assert answer.status_code < 500
    if role >= guard.role:
        assert answer.status_code not in (401, 403) or path == "/sign-in"
        assert not answer.headers.get("location", "").startswith("/sign-in?next")
    elif role is Role.ANYONE and not guard.api:
        assert answer.status_code == 303
        assert answer.headers["location"].startswith("/sign-in?next")
    else:
        assert answer.status_code == (401 if role is Role.ANYONE else 403)


@pytest.mark.parametrize(("method", "path", "guard"), [each for each in ROUTES if each.values[0] != "GET"])
def test_forms_without_the_csrf_token_are_refused(world, method, path, guard):
    browser = world.browser(guard.role)
    if guard.api and guard.role is Role.ANYONE:
        pytest.skip("anybody's API call changes nothing that a cookie guards")
    assert browser.client.request(method, _path(path)).status_code == 403
    assert browser.client.request(method, _path(path), headers={"X-CSRF-Token": "0" * 64}).status_code == 403


def test_every_route_says_who_may_call_it():
    assert ROUTES
    for parameters in ROUTES:
        assert isinstance(parameters.values[2].role, Role)


@pytest.mark.parametrize(
    "number", [str(2**31), "9" * 30, "-1", "٣", "-" + "9" * 20, "9" * 20 + ".0", "+" + "9" * 20, "1.0"]
)
@pytest.mark.parametrize(("method", "path", "guard"), [each for each in ROUTES if "_id}" in each.values[1]])
def test_numbers_that_no_row_has_are_not_found(world, method, path, guard, number):
    browser = world.browser(Role.ADMIN)
    client = world.api(Role.ADMIN) if guard.api else browser.client
    headers = {} if method == "GET" else {"X-CSRF-Token": browser.csrf(path)}
    wrong = path.format_map({name: number if name.endswith("_id") else value for name, value in SAMPLES.items()})
    assert client.request(method, wrong, headers=headers, data={"role": "1"}).status_code in (404, 422)


@pytest.mark.parametrize(
    "path",
    [
        "/admin/audit?page=",
        "/studies/1/preview?page=",
        "/studies/1/answers?page=",
        "/studies/1/people?page=",
        "/benchmarks/none/compare?a=1&b=",
    ],
)
def test_numbers_that_no_row_has_are_not_found_in_queries_either(world, path):
    for number in ("9" * 30, str(2**31), "-1", "x"):
        assert world.browser(Role.ADMIN).get(path + number).status_code in (404, 422)
