"""Signing in at an identity provider: a real one on the loopback address, and one that lies."""

from __future__ import annotations

import re
import warnings
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest
from people import register, signed_in
from sqlalchemy import select

from sacrecap.errors import UsageError
from sacrecap_server.accounts.access import Role
from sacrecap_server.accounts.provider import Journey, Pending, opened, sealed
from sacrecap_server.errors import Refused
from sacrecap_server.settings.server import ServerSettings
from sacrecap_server.store.models import Account, AuditEntry, ExternalIdentity, now
from sacrecap_server_testing.world import PASSWORD

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the provider's own, of the library it uses


@pytest.fixture(scope="module")
def provider():
    """The provider's address; `put` gives a person's claims, of which those of the token itself make it lie."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setenv("AUTHLIB_INSECURE_TRANSPORT", "1")
        from oidc_provider_mock import run_server_in_thread

        with run_server_in_thread() as server:
            yield f"http://localhost:{server.server_port}"


@pytest.fixture
def world(new_world, provider):
    return new_world(oidc_issuer=provider, oidc_client_id="sacrecap", oidc_client_secret="secret")  # noqa: S106


def put(provider, subject, **claims):
    httpx2.put(f"{provider}/users/{subject}", json=claims).raise_for_status()


def verified(provider, subject, email, **claims):
    put(provider, subject, email=email, email_verified=True, **claims)


def leave(browser, path="/sign-in/provider?next=/account"):
    answer = browser.get(path)
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def at_provider(address, subject):
    """What the provider's page sends the browser back to."""
    answer = httpx2.post(address, data={"sub": subject})
    assert answer.status_code == 302, answer.text
    back = urlsplit(answer.headers["location"])
    return f"{back.path}?{back.query}"


def come(browser, subject, path="/sign-in/provider?next=/account"):
    return browser.get(at_provider(leave(browser, path), subject))


def emails(world):
    with world.database.read() as session:
        return session.execute(select(Account.email).order_by(Account.id)).scalars().all()


def test_a_person_comes_by_the_provider_and_comes_back(world, provider):
    verified(provider, "anna", "Anna@Example.org")
    browser = world.browser()
    assert "Sign in with your institution" in browser.get("/sign-in").text
    answer = come(browser, "anna")
    assert (answer.status_code, answer.headers["location"]) == (303, "/account"), answer.text
    assert "anna@example.org" in browser.get("/account").text
    # The provider knows her by another address now; she is who she was.
    verified(provider, "anna", "anna@elsewhere.org")
    again = world.browser()
    assert come(again, "anna").status_code == 303
    assert "anna@example.org" in again.get("/account").text
    assert emails(world) == ["anna@example.org"]
    assert world.browser().post("/sign-in", email="anna@example.org", password="").status_code == 403
    assert again.post("/account/delete", email="anna@example.org").status_code == 303
    with world.database.read() as session:
        assert session.execute(select(ExternalIdentity)).first() is None


def test_the_request_has_pkce_state_and_nonce_and_the_cookie_no_secret(world):
    browser = world.browser()
    query = dict(parse_qsl(urlsplit(leave(browser)).query))
    assert query["code_challenge_method"] == "S256"
    assert {"state", "nonce", "code_challenge"} <= set(query)
    assert (query["response_type"], query["scope"]) == ("code", "openid email")
    assert query["redirect_uri"].endswith("/sign-in/provider/done")
    cookie = next(cookie for cookie in browser.client.cookies.jar if cookie.name.endswith("-provider"))
    assert cookie.has_nonstandard_attr("HttpOnly")


@pytest.mark.parametrize(
    "lie",
    [
        {"nonce": "another"},
        {"aud": "another"},
        {"aud": "another", "azp": "sacrecap"},
        {"aud": ["sacrecap", "another"]},
        {"aud": ["sacrecap", "another"], "azp": "another"},
        {"iss": "http://localhost:1"},
        {"exp": 1_000_000_000},
        {"iat": "yesterday"},
        {"at_hash": "wrong"},
    ],
    ids=str,
)
def test_a_token_that_is_not_right_lets_nobody_in(world, provider, lie):
    verified(provider, "liar", "liar@example.org", **lie)
    answer = come(world.browser(), "liar")
    assert (answer.status_code, "could not be verified" in answer.text) == (403, True)
    assert emails(world) == []


def test_a_token_signed_by_somebody_else_lets_nobody_in(world, provider, monkeypatch):
    from joserfc.jwk import KeySet, RSAKey

    verified(provider, "anna", "anna@example.org")
    keys = KeySet([RSAKey.generate_key(2048)])
    monkeypatch.setattr(world.state.provider._published, "_keys", lambda *_, **__: keys)
    assert come(world.browser(), "anna").status_code == 403
    assert emails(world) == []


def test_an_answer_to_another_question_lets_nobody_in(world, provider):
    """Of another browser, of another attempt, with a code of somebody else's, or used twice."""
    verified(provider, "anna", "anna@example.org")
    victim, thief = world.browser(), world.browser()
    path = at_provider(leave(victim), "anna")
    assert thief.get(path).status_code == 403
    leave(thief)
    assert thief.get(path).status_code == 403
    own = dict(parse_qsl(urlsplit(leave(thief)).query))["state"]
    stolen = re.sub(r"state=[^&]*", f"state={own}", path)
    # The code belongs to another nonce, whatever the provider makes of the code verifier.
    assert thief.get(stolen).status_code == 403
    path = at_provider(leave(victim), "anna")
    assert victim.get(path + "x").status_code == 403
    assert victim.get(path + "&iss=http%3A%2F%2Fevil.example").status_code == 403
    assert victim.get(path).status_code == 303
    assert victim.get(path).status_code == 403
    assert victim.get("/sign-in/provider/done?error=access_denied").status_code == 403
    assert emails(world) == ["anna@example.org"]


def test_only_a_verified_address_tells_whose_account_it_is(world, provider):
    register(world, "known@example.org")
    for subject, claims in (
        ("a", {"email": "known@example.org"}),
        ("b", {"email": "known@example.org", "email_verified": False}),
        ("c", {"email": "known@example.org", "email_verified": "true"}),
        ("d", {"email_verified": True}),
        ("e", {"email": "new@example.org"}),
    ):
        put(provider, subject, **claims)
        answer = come(world.browser(), subject)
        assert (answer.status_code, "verified" in answer.text) == (403, True)
    assert emails(world) == ["known@example.org"]


def test_an_account_with_a_password_is_linked_after_its_password(world, provider):
    """Nobody has shown that the address is theirs: whoever registered with it first is not let in with its owner."""
    register(world, "known@example.org")
    verified(provider, "known", "known@example.org")
    browser = world.browser()
    page = come(browser, "known")
    assert "Is this your account?" in page.text
    assert browser.get("/account").status_code == 303
    assert browser.post("/sign-in/provider/link", password="wrong").status_code == 403  # noqa: S106
    assert world.browser().post("/sign-in/provider/link", password=PASSWORD).status_code == 403
    assert browser.post("/sign-in/provider/link", password=PASSWORD).headers["location"] == "/account?notice=linked"
    again = world.browser()
    assert come(again, "known").headers["location"] == "/account"
    signed_in(world, "known@example.org")
    # The provider has given the address to somebody else.
    verified(provider, "successor", "known@example.org")
    assert come(world.browser(), "successor").status_code == 403
    assert emails(world) == ["known@example.org"]


@pytest.fixture
def mail_world(tmp_path, provider, new_world):
    """People who register have to confirm their address, which the provider does for those it verifies."""
    settings = {"oidc_issuer": provider, "oidc_client_id": "sacrecap", "oidc_client_secret": "secret"}
    return new_world(mail=f"file:{tmp_path / 'mail'}", **settings)


def test_an_address_that_the_provider_verified_needs_no_other_confirmation(mail_world, provider):
    verified(provider, "anna", "anna@example.org")
    browser = mail_world.browser()
    come(browser, "anna")
    assert "Confirm your address" not in browser.get("/account").text
    assert "This account has no password" in browser.get("/account").text
    assert browser.post("/account/team", team="Team of Anna").status_code == 303
    register(mail_world, "ben@example.org", "Team of Ben")
    verified(provider, "ben", "ben@example.org")
    browser = mail_world.browser()
    assert "Is this your account?" in come(browser, "ben").text
    assert browser.post("/sign-in/provider/link", password=PASSWORD).headers["location"] == "/account?notice=linked"
    assert "Team of Ben" in browser.get("/account").text
    assert browser.post("/account/tokens", name="laptop").status_code == 200


def test_a_confirmed_account_with_a_password_is_not_linked_without_it(mail_world, provider):
    """It may have been confirmed on trust, while the server sent no mail."""
    register(mail_world, "known@example.org")
    with mail_world.database.write() as session:
        session.execute(select(Account)).scalar_one().confirmed = now()
    verified(provider, "known", "known@example.org")
    assert "Is this your account?" in come(mail_world.browser(), "known").text


def test_a_password_cannot_be_guessed_where_an_account_is_linked(world, provider):
    """The limits are those of the sign-in."""
    register(world, "known@example.org")
    verified(provider, "known", "known@example.org")
    browser = world.browser()
    come(browser, "known")
    for status in [403] * 5 + [429]:
        assert browser.post("/sign-in/provider/link", password="wrong").status_code == status  # noqa: S106
    assert world.browser().post("/sign-in", email="known@example.org", password=PASSWORD).status_code == 429


@pytest.mark.parametrize("email", ["a" * 260 + "@example.org", "not an address", "a\0b@example.org", ["a@example.org"]])
def test_an_address_that_is_none_is_not_taken_from_the_provider(world, provider, email):
    """Addresses that are too long, malformed or not even text are refused."""
    verified(provider, "odd", email)
    assert come(world.browser(), "odd").status_code == 403
    assert emails(world) == []


def test_a_disabled_account_stays_out(world, provider):
    verified(provider, "anna", "anna@example.org")
    come(world.browser(), "anna")
    with world.database.write() as session:
        session.execute(select(Account)).scalar_one().disabled = True
    assert come(world.browser(), "anna").status_code == 403


def test_where_registration_needs_an_invitation_a_new_account_does(new_world, provider):
    settings = {"oidc_issuer": provider, "oidc_client_id": "sacrecap", "oidc_client_secret": "secret"}
    world = new_world(registration="invitation", **settings)
    verified(provider, "new", "new@example.org")
    assert come(world.browser(), "new").status_code == 403
    page = world.browser(Role.ADMIN).post("/admin/invitations", role=2).text
    code = re.search(r"invitation=([\w-]+)", page)[1]
    link = f"/sign-in/provider?next=/account&invitation={code}"
    assert f"invitation={code}" in world.browser().get(f"/register?invitation={code}").text
    assert come(world.browser(), "new", link).status_code == 303
    verified(provider, "second", "second@example.org")
    assert come(world.browser(), "second", link).status_code == 403
    with world.database.read() as session:
        assert session.execute(select(Account.role).where(Account.email == "new@example.org")).scalar_one() == 2


def test_a_provider_that_is_away_is_said_and_passwords_go_on(new_world):
    world = new_world(oidc_issuer="http://127.0.0.1:9", oidc_client_id="sacrecap")
    answer = world.browser().get("/sign-in/provider")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "60")
    assert "cannot be reached" in answer.text
    register(world)
    signed_in(world)


def test_without_provider_there_is_no_such_page(new_world):
    world = new_world()
    assert world.browser().get("/sign-in/provider").status_code == 404
    assert "/sign-in/provider" not in world.browser().get("/sign-in").text


def test_a_sealed_value_is_opened_by_whoever_made_it_as_what_it_was_in_time():
    value = Pending("i", "s", "e@example.org", "/", 2e10)
    text = sealed("key", value)
    assert opened("key", Pending, text) == value
    late = sealed("key", Journey("a", "b", "c", "/", "", 1.0))
    for key, kind, given in (
        ("other", Pending, text),
        ("key", Journey, text),
        ("key", Pending, "x" + text),
        ("key", Journey, late),
        ("key", Pending, ""),
        ("key", Pending, "é.é"),
    ):
        with pytest.raises(Refused):
            opened(key, kind, given)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"oidc_issuer": "http://login.example.org", "oidc_client_id": "x"}, "--oidc-issuer must begin with https://"),
        ({"oidc_issuer": "https://login.example.org"}, "--oidc-issuer needs --oidc-client-id"),
        ({"oidc_client_id": "x"}, "need --oidc-issuer"),
    ],
)
def test_settings_of_the_provider_are_checked(settings, problem):
    with pytest.raises(UsageError, match=problem):
        ServerSettings(**settings).check()


def test_the_audit_log_says_who_came_how(world, provider):
    verified(provider, "anna", "anna@example.org")
    come(world.browser(), "anna")
    with world.database.read() as session:
        actions = session.execute(select(AuditEntry.action)).scalars().all()
    assert {"account.made", "identity.linked", "sign-in"} <= set(actions)
