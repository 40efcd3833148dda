"""Every route, called by every role: who may, gets through; who may not, is refused before anything happens."""

from __future__ import annotations

import pytest
from study_world import make, triplet_file

from sacrecap_server.web.context import Role
from sacrecap_server_testing.routes import every_route
from sacrecap_server_testing.world import World

SAMPLES = {"number": "1", "code": "none", "image": "none", "study_id": "1", "annotator_id": "1", "assignment_id": "1"}
"""A value for each path parameter; nothing needs to exist under it."""

# One test walks all routes: a test of its own for each would cost more than the request does.
ROUTES = [
    (method, route.path_format, guard, route)
    for route, guard in every_route()
    for method in sorted(route.methods - {"HEAD"})
]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("roles"))
    yield world
    world.state.close()


class Caller:
    """Calls paths as pages and programs of a role do; what changes something has a sign-in of its own, to be ended."""

    def __init__(self, world, role):
        self.world, self.role = world, role
        self.reading = {True: world.api(role), False: world.browser(role).client}

    def __call__(self, method, path, guard):
        if method == "GET":
            return self.reading[guard.api].get(path)
        browser = self.world.browser(self.role)
        client = self.world.api(self.role) if guard.api else browser.client
        return client.request(method, path, headers={"X-CSRF-Token": browser.csrf(path)})


def got_through(answer, path):
    signs_in = answer.headers.get("location", "").startswith("/sign-in?next")
    return (answer.status_code not in (401, 403) or path == "/sign-in") and not signs_in


def was_refused(answer, role, guard):
    if role is Role.ANYONE and not guard.api:
        return answer.status_code == 303 and answer.headers["location"].startswith("/sign-in?next")
    return answer.status_code == 401


@pytest.mark.parametrize("role", list(Role))
def test_only_the_roles_allowed_get_through(world, role):
    wrong, call = [], Caller(world, role)
    for method, path, guard, _ in ROUTES:
        answer = call(method, path.format_map(SAMPLES), guard)
        right = got_through(answer, path) if role >= guard.role else was_refused(answer, role, guard)
        if answer.status_code >= 500 or not right:
            wrong.append(f"{method} {path}: {answer.status_code}")
    assert wrong == []


def test_forms_without_the_csrf_token_are_refused(world):
    browsers = {role: world.browser(role).client for role in Role}
    # Anybody's API call changes nothing that a cookie guards.
    forms = [each for each in ROUTES if each[0] != "GET" and not (each[2].api and each[2].role is Role.ANYONE)]
    assert len(forms) > 15
    for method, path, guard, _ in forms:
        for headers in ({}, {"X-CSRF-Token": "0" * 64}):
            answer = browsers[guard.role].request(method, path.format_map(SAMPLES), headers=headers)
            assert answer.status_code == 403, (method, path, headers)


def test_the_owners_token_opens_the_api_and_no_page(world):
    client = world.browser().client
    headers = {"Authorization": f"Bearer {world.state.settings.owner_token}"}
    assert client.get("/api/v1/studies", headers=headers).status_code == 200
    answer = client.get("/studies", headers=headers, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?next=/studies")


def test_every_route_says_who_may_call_it():
    assert ROUTES
    assert all(isinstance(guard.role, Role) for _, _, guard, _ in ROUTES)


def test_the_api_describes_a_token_for_every_call_that_needs_one(world):
    paths = world.app.openapi()["paths"]
    for method, path, guard, route in ROUTES:
        if guard.api and route.include_in_schema:
            described = paths[route.path_format][method.lower()]
            needs_token = guard.role is not Role.ANYONE
            assert ("security" in described, "401" in described["responses"]) == (needs_token, needs_token), path


NUMBERED = [each for each in ROUTES if "_id}" in each[1]]


def numbered(number):
    return {name: number if name.endswith("_id") else value for name, value in SAMPLES.items()}


def test_numbers_that_no_row_has_are_not_found(world):
    """All routes read numbers in the one way, so one of them shows which numbers it takes."""
    ways = {type(way) for *_, route in NUMBERED for name, way in route.param_convertors.items() if name.endswith("_id")}
    assert len(ways) == 1
    assert len(NUMBERED) > 15
    call = Caller(world, Role.OWNER)
    for method, path, guard, _ in NUMBERED:
        answer = call(method, path.format_map(numbered("9" * 30)), guard)
        assert answer.status_code == 404, (method, path)
    browser = world.browser(Role.OWNER)
    for number in (str(2**31), "-1", "٣", "-" + "9" * 20, "9" * 20 + ".0", "+" + "9" * 20, "1.0"):
        assert browser.get(f"/studies/{number}").status_code == 404, number
    assert browser.get(f"/studies/{make(world, triplet_file()).id}").status_code == 200


def test_numbers_that_no_row_has_are_not_found_in_queries_either(world):
    browser = world.browser(Role.OWNER)
    for path in ("/studies/1/preview?page=", "/studies/1/answers?page="):
        for number in ("9" * 30, str(2**31), "-1", "x"):
            assert browser.get(path + number).status_code in (404, 422), (path, number)
