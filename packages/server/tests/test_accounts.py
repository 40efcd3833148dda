"""Registering, signing in and out, tokens, invitations, and who learns what from refusals."""

from __future__ import annotations

import datetime as dt
import re
from importlib.util import find_spec, module_from_spec

import pytest
from argon2 import extract_parameters
from argon2.exceptions import VerifyMismatchError
from people import register, signed_in
from sqlalchemy import select, update

from sacrecap_server.accounts import passwords
from sacrecap_server.accounts.access import TOKEN_PREFIX, Role
from sacrecap_server.store.database import Database
from sacrecap_server.store.models import Account, ApiToken, AuditEntry, Invitation, LoginSession, now
from sacrecap_server_testing.benchmark import SYSTEMS, make
from sacrecap_server_testing.world import PASSWORD


def test_register_sign_in_sign_out(strict_world):
    answer = register(strict_world)
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in?notice=registered")
    browser = signed_in(strict_world)
    assert "New team" in browser.get("/account").text
    stolen = browser.cookie
    assert browser.post("/sign-out").status_code == 303
    assert browser.get("/account").status_code == 303
    thief = strict_world.browser()
    thief.client.cookies.set(strict_world.state.cookie_name, stolen, domain="localhost.local")
    assert thief.get("/account").status_code == 303


def test_nothing_secret_is_stored(world):
    register(world)
    browser = signed_in(world)
    token = re.search(r"sacrecap_[\w-]{20,}", browser.post("/account/tokens", name="laptop").text)[0]
    with world.database.read() as session:
        columns = (Account.password, ApiToken.token_hash, LoginSession.token_hash, AuditEntry.subject)
        stored = [value for column in columns for value in session.execute(select(column)).scalars()]
    assert stored[0].startswith("$argon2id$")
    for secret in (PASSWORD, token, browser.cookie):
        assert not any(secret in value for value in stored)
    assert token not in browser.get("/account").text


def test_a_token_works_until_it_is_revoked(world):
    register(world)
    browser = signed_in(world)
    token = re.search(r"sacrecap_[\w-]{20,}", browser.post("/account/tokens", name="laptop").text)[0]
    api = world.api()
    api.headers["Authorization"] = f"Bearer {token}"
    assert api.get("/api/v1/submissions").status_code == 200
    assert world.browser(Role.MEMBER).post("/account/tokens/1/revoke").status_code == 404
    assert browser.post("/account/tokens/1/revoke").status_code == 303
    assert api.get("/api/v1/submissions").status_code == 401


def token_of(browser, **fields):
    return re.search(r"sacrecap_[\w-]{20,}", browser.post("/account/tokens", name="x", **fields).text)[0]


def api_with(world, token):
    api = world.client()
    api.headers["Authorization"] = f"Bearer {token}"
    return api


def test_a_token_does_what_its_scopes_say_and_no_more(world):
    make(world)
    submission = "/api/v1/benchmarks/ours/submissions?system=x"
    member = world.browser(Role.MEMBER)
    reads, submits = (api_with(world, token_of(member, scopes=[each])) for each in ("read", "submit"))
    assert reads.get("/api/v1/submissions").status_code == 200
    refused = reads.post(submission, content=SYSTEMS["careful"])
    assert refused.status_code == 403
    assert "needs the scope submit" in refused.json()["error"]["message"]
    assert submits.post(submission, content=SYSTEMS["careful"]).status_code == 201
    assert submits.get("/api/v1/submissions").status_code == 403
    metrics = api_with(world, token_of(world.browser(Role.ADMIN), scopes=["metrics"]))
    assert metrics.get("/metrics").status_code == 200
    assert metrics.get("/api/v1/submissions").status_code == 403
    assert metrics.get("/api/v1/studies/1/export").status_code == 403
    everything_else = api_with(world, token_of(world.browser(Role.ADMIN), scopes=["read", "submit", "studies"]))
    assert everything_else.get("/metrics").status_code == 403
    assert everything_else.get("/api/v1/studies/1/export").status_code == 404


def test_a_token_has_no_scope_that_its_account_has_no_use_for(world):
    wrong = [(Role.MEMBER, "metrics"), (Role.MEMBER, "studies"), (Role.ORGANISER, "metrics"), (Role.ADMIN, "x")]
    for role, scope in wrong:
        assert world.browser(role).post("/account/tokens", name="x", scopes=[scope]).status_code == 422
    assert world.browser(Role.ADMIN).post("/account/tokens", name="x", days=36500).status_code == 422


def test_a_token_is_recognised_by_six_characters_and_not_stored(world):
    browser = world.browser(Role.MEMBER)
    token = token_of(browser)
    begins = token[: len(TOKEN_PREFIX) + 6]
    with world.database.read() as session:
        assert session.execute(select(ApiToken.hint)).scalar_one() == begins
    page = browser.get("/account").text
    assert begins in page
    assert token[: len(begins) + 1] not in page


def test_a_token_ends(strict_world):
    """A token is good for the days chosen, or for a year, and is refused afterwards."""
    browser = strict_world.browser(Role.MEMBER)
    api = api_with(strict_world, token_of(browser, days=30))
    token_of(browser)
    with strict_world.database.read() as session:
        ends = session.execute(select(ApiToken.expires).order_by(ApiToken.id)).scalars()
        left = [each - now() for each in ends]
    assert [round(each.total_seconds() / 86400) for each in left] == [30, 365]
    assert api.get("/api/v1/submissions").status_code == 200
    with strict_world.database.write() as session:
        session.execute(update(ApiToken).values(expires=now()))
    assert api.get("/api/v1/submissions").status_code == 401
    assert "expired" in browser.get("/account").text


def test_the_last_use_of_a_token_is_noted_to_the_hour(world, monkeypatch):
    browser = world.browser(Role.MEMBER)
    api = api_with(world, token_of(browser))
    assert "never" in browser.get("/account").text
    writes = []
    began = Database.write
    monkeypatch.setattr(Database, "write", lambda self: writes.append(1) or began(self))
    for _ in range(3):
        api.get("/api/v1/submissions")
    assert len(writes) == 1
    assert "never" not in browser.get("/account").text
    with world.database.write() as session:
        session.execute(update(ApiToken).values(last_used=now() - dt.timedelta(hours=2)))
    writes.clear()
    api.get("/api/v1/submissions")
    assert len(writes) == 1


def test_a_new_password_ends_the_tokens(world):
    register(world)
    browser = signed_in(world)
    api = api_with(world, token_of(browser))
    assert browser.post("/account/password", old=PASSWORD, new="another password").status_code == 303
    assert api.get("/api/v1/submissions").status_code == 401
    assert "revoked" in browser.get("/account").text
    with world.database.read() as session:
        ended = session.scalars(select(ApiToken.revoked)).all()
    assert browser.post("/account/password", old="another password", new="a third password").status_code == 303
    with world.database.read() as session:
        assert session.scalars(select(ApiToken.revoked)).all() == ended


def test_nobody_learns_who_has_an_account(world):
    """Wrong password and unknown address, taken and free address: the same status, headers and words."""
    register(world, "known@example.org")
    answers = [
        world.browser().post("/sign-in", email=email, password="wrong password")  # noqa: S106
        for email in ("known@example.org", "unknown@example.org")
    ]
    texts = [re.sub(r'value="[^"]*"', "", answer.text) for answer in answers]
    assert answers[0].status_code == answers[1].status_code == 403
    assert texts[0] == texts[1]
    taken, free = register(world, "known@example.org", "Team A"), register(world, "free@example.org", "Team B")
    assert (taken.status_code, taken.headers["location"]) == (free.status_code, free.headers["location"])
    assert taken.text == free.text
    signed_in(world, "known@example.org")


def test_checking_the_password_of_nobody_costs_what_checking_another_does():
    nobodys = passwords._nobodys()
    assert extract_parameters(nobodys) == extract_parameters(passwords.hash_password(PASSWORD))
    with pytest.raises(VerifyMismatchError):
        passwords._hasher.verify(nobodys, PASSWORD)
    assert not passwords.verify_password(None, PASSWORD)


def test_hashing_is_costly_where_no_test_makes_it_cheap():
    spec = find_spec("sacrecap_server.accounts.passwords")
    untouched = module_from_spec(spec)
    spec.loader.exec_module(untouched)
    stored = untouched.hash_password(PASSWORD)
    parameters = extract_parameters(stored)
    assert parameters.memory_cost >= 64 * 1024
    assert parameters.time_cost >= 3
    assert untouched.verify_password(stored, PASSWORD)


def test_a_wrong_form_lists_its_problems(world):
    answer = world.browser().post("/register", email="no address", password="short", team="x")  # noqa: S106
    assert answer.status_code == 422
    for part in ("e-mail address must look", "at least 10 characters", "2 to 80 characters"):
        assert part in answer.text


def test_signing_in_changes_the_cookie_and_a_used_csrf_token_ends_with_it(world):
    register(world)
    browser = world.browser()
    before, old_token = browser.csrf(), None
    old_token, old_cookie = before, browser.cookie
    browser.post("/sign-in", email="new@example.org", password=PASSWORD)
    assert browser.cookie != old_cookie
    assert browser.post("/account/tokens", csrf=old_token, name="x").status_code == 403
    mine = browser.csrf()
    browser.post("/sign-out")
    browser.post("/sign-in", email="new@example.org", password=PASSWORD)
    assert browser.post("/account/tokens", csrf=mine, name="x").status_code == 403
    assert browser.post("/account/tokens", name="x").status_code == 200


def test_a_new_password_ends_other_sign_ins(world):
    register(world)
    here, there = signed_in(world), signed_in(world)
    assert here.post("/account/password", old="wrong", new="another password").status_code == 422
    assert here.post("/account/password", old=PASSWORD, new="another password").status_code == 303
    assert here.get("/account").status_code == 200
    assert there.get("/account").status_code == 303
    signed_in(world, password="another password")  # noqa: S106


@pytest.mark.parametrize("role", [Role.MEMBER, Role.ORGANISER])
def test_an_invitation_makes_one_account(new_world, role):
    world = new_world(registration="invitation")
    assert register(world).status_code == 403
    page = world.browser(Role.ADMIN).post("/admin/invitations", role=int(role)).text
    code = re.search(r"invitation=([\w-]+)", page)[1]
    assert register(world, invitation=code).status_code == 303
    assert register(world, "second@example.org", "Second", invitation=code).status_code == 403
    with world.database.read() as session:
        account = session.execute(select(Account).where(Account.email == "new@example.org")).scalar_one()
        assert account.role == role
        assert session.execute(select(Invitation.code_hash)).scalar_one() != code


def test_a_colleague_joins_the_team(world):
    page = world.browser(Role.MEMBER).post("/account/invite").text
    code = re.search(r"invitation=([\w-]+)", page)[1]
    assert "Team MEMBER" in world.browser().get(f"/register?invitation={code}").text
    register(world, team="", invitation=code)
    assert "Team MEMBER" in signed_in(world).get("/account").text


def test_a_disabled_account_is_out_at_once(world):
    register(world)
    browser = signed_in(world)
    with world.database.read() as session:
        account = session.execute(select(Account.id).where(Account.email == "new@example.org")).scalar_one()
    admin = world.browser(Role.ADMIN)
    assert admin.post(f"/admin/accounts/{account}", role=1, disabled="yes").status_code == 303
    assert browser.get("/account").status_code == 303
    assert world.browser().post("/sign-in", email="new@example.org", password=PASSWORD).status_code == 403
    assert admin.post(f"/admin/accounts/{account}", role=1).status_code == 303
    assert browser.get("/account").status_code == 303
    log = admin.get("/admin/audit").text
    assert "account.changed" in log
    assert "sign-in.refused" in log


def test_disabling_an_account_ends_its_api_tokens(strict_world):
    api = strict_world.api(Role.MEMBER)
    assert api.get("/api/v1/submissions").status_code == 200
    path = f"/admin/accounts/{strict_world.account(Role.MEMBER)}"
    admin = strict_world.browser(Role.ADMIN)
    assert admin.post(path, role=1, disabled="yes").status_code == 303
    assert api.get("/api/v1/submissions").status_code == 401
    assert admin.post(path, role=1).status_code == 303
    assert api.get("/api/v1/submissions").status_code == 401
    assert strict_world.api(Role.MEMBER).get("/api/v1/submissions").status_code == 200


def test_a_token_that_was_not_revoked_does_not_open_a_disabled_account(strict_world):
    """As one made by a request that was under way when the account was disabled."""
    api = strict_world.api(Role.MEMBER)
    with strict_world.database.write() as session:
        session.execute(update(Account).where(Account.id == strict_world.account(Role.MEMBER)).values(disabled=True))
    assert api.get("/api/v1/submissions").status_code == 401


def test_signing_in_leads_nowhere_else(world):
    register(world)
    for target in ("//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)"):
        answer = world.browser().post("/sign-in", email="new@example.org", password=PASSWORD, next=target)
        assert answer.headers["location"] == "/"
